//! SYSTOR '17 csv: `Timestamp,Response,IOType,LUN,Offset,Size`, with a header line or without.
//!
//! - Timestamp: seconds, decimal. Response: seconds, may be empty; not used.
//! - `IOType`: R or W. LUN: the volume, a number. Offset and Size: bytes.
//!
//! Source: `SystorTraceReader` of the caffeine simulator; SNIA IOTTA set 4928. No data of it was at hand.

use crate::cursor::Cursor;
use crate::registry::{Format, Head, Parser, Sniff, columns, is_decimal, is_rw, is_uint};
use crate::row::{Field, Row};

pub(crate) const FORMAT: Format =
    Format { name: "systor", title: "SYSTOR '17 csv (VDI)", extensions: &["csv"], sniff, parser };

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        c.len() == 6
            && is_decimal(c[0])
            && (c[1].is_empty() || is_decimal(c[1]))
            && is_rw(c[2])
            && c[3..].iter().all(|c| is_uint(c))
    };
    if !head.most(shape) {
        return Sniff::No;
    }
    Sniff::Yes("because its rows have 6 columns, and R or W is the 3rd".to_owned())
}

fn parser() -> Parser {
    Parser::Text(Box::new(|line: &[u8]| {
        if line.starts_with(b"Timestamp,") {
            return Ok(Row::Other);
        }
        let mut c = Cursor::<b','>::new(line);
        let at = c.decimal(Field::time("Timestamp", "seconds, 0 to 18446744073"), 9)?;
        c.word("Response")?;
        let op = c.op("IOType")?;
        let device = c.device(Field::device("LUN"))?;
        let offset = c.uint(Field::offset("Offset"))?;
        let size = c.uint(Field::length("Size"))?;
        c.end("6 columns")?;
        Ok(Row::bytes(at, device, op, offset, size))
    }))
}
