//! `DiskSim` ASCII: `time device block size flags`, separated by blanks or tabs.
//!
//! - time: milliseconds, decimal (`--time-unit` names another unit). device: a number; each has its own address space.
//! - block and size: sectors of 512 bytes.
//! - flags: hexadecimal; bit 0 set = read, clear = write. Others (0x2 time-critical, 0x4 time-limited, 0x80
//!   synchronous, 0x100 asynchronous) are not used.
//!
//! Simulators after `DiskSim` kept the five columns and changed the units: see ssdsim, mqsim and flashsim. A file whose
//! device is always 0 does not show whether its sizes are sectors (disksim) or pages (flashsim): name the format.
//! - Written by `--to disksim`: reads and writes of whole sectors, times in ms from the first request, exact to the ns.
//!
//! Source: `DiskSim` 4.0 manual 4.1.1; `disksim_iotrace.c`.

use std::io::Write as _;

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::export::{Export, Lost, is_read, whole_sectors};
use crate::five::sniff_milliseconds;
use crate::registry::{Format, Parser, WithUnit};
use crate::row::{Extra, Field, Row, TraceRecord};
use crate::unit::TimeUnit;
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "disksim",
    title: "DiskSim ASCII (milliseconds, sectors)",
    extensions: &["trace", "ascii"],
    extra: Extra::NONE,
    write: Some(|| Box::<Writer>::default()),
    sniff: |head| sniff_milliseconds(head, false),
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Milliseconds, line))),
};

fn line(line: &[u8], unit: TimeUnit) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    let at = c.time("time", unit)?;
    let device = c.device(Field::device("device"))?;
    let lba = c.uint(Field::lba("block"))?;
    let sectors = c.uint(Field::sectors("size"))?;
    let flags = c.hex(Field::new("flags", "hexadecimal; bit 0 = read", u32::MAX as u64))?;
    c.end("5 columns")?;
    let op = if flags & 1 == 1 { HostOp::Read } else { HostOp::Write };
    Ok(Row::sectors(at, device, op, lba, sectors))
}

/// Writes the five columns. Times count from the first request, in milliseconds with six decimals: they are exact.
#[derive(Default)]
pub(crate) struct Writer;

impl Export for Writer {
    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, _: &mut Lost) -> Result<(), String> {
        let (lba, sectors) = whole_sectors(record)?;
        let (device, op) = (record.device, u8::from(is_read(record)?));
        let (ms, ns) = (at / 1_000_000, at % 1_000_000);
        writeln!(out, "{ms}.{ns:06} {device} {lba} {sectors} {op}").map_err(|error| error.to_string())
    }
}
