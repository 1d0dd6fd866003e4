//! Tencent CBS: `Timestamp,Offset,Size,IOType,VolumeID`, five whole numbers.
//!
//! - Timestamp: seconds since 1970, so that many rows share their time.
//! - Offset and Size: sectors of 512 bytes. `IOType`: 0 = read, 1 = write (the reverse of `DiskSim`).
//! - `VolumeID`: the virtual disk, a number.
//!
//! Source: README of SNIA IOTTA set 28064. No data of it was at hand.

use crate::cursor::{Cursor, Parse};
use crate::formats::columns::{Role, is_header};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_uint};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

const COLUMNS: [Option<(Role, u64)>; 5] = [
    Some((Role::Time, 0)),
    Some((Role::Offset, 512)),
    Some((Role::Size, 512)),
    Some((Role::Op, 0)),
    Some((Role::Device, 0)),
];

pub(crate) const FORMAT: Format = Format {
    name: "tencent",
    title: "Tencent CBS csv",
    extensions: &["csv", "tgz"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        c.len() == 5 && c.iter().all(|c| is_uint(c)) && matches!(c[3], b"0" | b"1")
    };
    head.yes_if_most(shape, "because its rows are five whole numbers with commas between, and the 4th is 0 or 1")
}

fn line(line: &[u8]) -> Parse<Row> {
    if is_header(line, &COLUMNS, TimeUnit::Seconds) {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<b','>::new(line);
    let seconds = Field::new("Timestamp", "seconds, 0 to 18446744073", u64::MAX / 1_000_000_000);
    let at = c.uint(seconds)? * 1_000_000_000;
    let lba = c.uint(Field::lba("Offset"))?;
    let sectors = c.uint(Field::sectors("Size"))?;
    let op = c.bit_op(Field::new("IOType", "0 = read, 1 = write", 1), 0)?;
    let device = c.device(Field::device("VolumeID"))?;
    c.end("5 columns")?;
    Ok(Row::sectors(at, device, op, lba, sectors))
}
