//! SYSTOR '17 csv: `Timestamp,Response,IOType,LUN,Offset,Size`, with a header line or without.
//!
//! - Timestamp: seconds since 1970, decimal, exact to the microsecond. Response: seconds, may be empty; kept.
//! - `IOType`: R or W. It is blank where the answer was not seen, so that nobody knows which: such rows are passed over and
//!   counted. LUN: the volume, a number. Offset and Size: bytes.
//!
//! Source: README of the SNIA IOTTA distribution (Lee et al., SYSTOR 2017). No data of it was at hand.

use crate::cursor::{Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_decimal, is_rw, is_uint};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "systor",
    title: "SYSTOR '17 csv (VDI)",
    extensions: &["csv"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

const HEADER: &[u8] = b"Timestamp,Response,IOType,";

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        c.len() == 6
            && is_decimal(c[0])
            && (c[1].is_empty() || is_decimal(c[1]))
            && (c[2].is_empty() || is_rw(c[2]))
            && c[3..].iter().all(|c| is_uint(c))
    };
    let header = head.lines.first().is_some_and(|line| line.starts_with(HEADER));
    if !head.most(shape) && !header {
        return Sniff::No;
    }
    if header {
        return Sniff::Yes("because of its header line, `Timestamp,Response,IOType,LUN,Offset,Size`".to_owned());
    }
    Sniff::Yes("because its rows have 6 columns, and R, W or nothing is the 3rd".to_owned())
}

fn line(line: &[u8]) -> Parse<Row> {
    if line.starts_with(HEADER) {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<b','>::new(line);
    let at = c.decimal(Field::time("Timestamp", "seconds, 0 to 18446744073"), 9)?;
    let latency = if c.is_blank() { 0 } else { c.time("Response", TimeUnit::Seconds)? };
    let op = if c.is_blank() { None } else { Some(c.op("IOType")?) };
    let device = c.device(Field::device("LUN"))?;
    let offset = c.uint(Field::offset("Offset"))?;
    let size = c.uint(Field::length("Size"))?;
    c.end("6 columns")?;
    Ok(op.map_or(Row::Blank, |op| Row::bytes(at, device, op, offset, size).after(latency)))
}
