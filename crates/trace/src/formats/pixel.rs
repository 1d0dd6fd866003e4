//! Pixel 6a csv: header `proces,device,rw_flag,sector,size,timestamp`, then one request per line.
//!
//! - proces (so spelt): name and thread id; used only to know discards. device: kernel number (8388608 = 8,0).
//! - `rw_flag`: R or W. sector and size: sectors of 512 bytes. timestamp: seconds since the phone started, decimal; it
//!   jumps between sessions.
//! - R includes discards: rows of a process `f2fs_discard...`, and R rows of more than 512 KiB, are read as discards (an
//!   inference from the data: no write exceeds 512 KiB, such R rows reach 43 MiB).
//!
//! Source: README of `MobileBlockIOTraces` (Technion, SYSTOR 2024, doi 10.1145/3688351.3689157), and its data.

use crate::cursor::{Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, uint};
use crate::row::{Extra, Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "pixel",
    title: "Pixel 6a csv (MobileBlockIOTraces)",
    extensions: &["csv"],
    extra: Extra::PROCESS,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

const READ_SECTORS_MAX: u64 = 1024;

fn sniff(head: &Head) -> Sniff {
    match head.lines.first() {
        Some(line) if line.starts_with(b"proces,device,rw_flag") => {
            Sniff::Yes("because of its header line, which begins with `proces,device,rw_flag`".to_owned())
        }
        _ => Sniff::No,
    }
}

fn line(line: &[u8]) -> Parse<Row> {
    if line.starts_with(b"proces,device,") {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<b','>::new(line);
    let process = c.word("proces")?;
    let discards = process.starts_with(b"f2fs_discard");
    let thread = process.rsplit(|b| *b == b'-').next().and_then(uint).unwrap_or(0);
    let device = c.device(Field::device("device"))?;
    let op = c.op("rw_flag")?;
    let lba = c.uint(Field::lba("sector"))?;
    let sectors = c.uint(Field::sectors("size"))?;
    let at = c.decimal(Field::time("timestamp", "seconds, 0 to 18446744073"), 9)?;
    c.end("6 columns")?;
    let discard = op == HostOp::Read && (discards || sectors > READ_SECTORS_MAX);
    Ok(Row::sectors(at, device, if discard { HostOp::Trim } else { op }, lba, sectors).of(thread))
}
