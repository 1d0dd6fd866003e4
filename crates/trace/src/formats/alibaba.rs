//! Alibaba block traces 2020, `io_traces.csv`: `device_id,opcode,offset,length,timestamp`.
//!
//! - `device_id`: the virtual disk, 0 to 999. opcode: R or W. offset and length: bytes.
//! - timestamp: microseconds since 1970, a whole number.
//!
//! Source: README of alibaba/block-traces. No data of it was at hand.

use crate::cursor::{Cursor, Parse};
use crate::formats::columns::{Role, is_header};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_rw, is_uint};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

const COLUMNS: [Option<(Role, u64)>; 5] = [
    Some((Role::Device, 0)),
    Some((Role::Op, 0)),
    Some((Role::Offset, 1)),
    Some((Role::Size, 1)),
    Some((Role::Time, 0)),
];

pub(crate) const FORMAT: Format = Format {
    name: "alibaba",
    title: "Alibaba block traces 2020 csv",
    extensions: &["csv"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        c.len() == 5 && is_rw(c[1]) && [0, 2, 3, 4].iter().all(|&i| is_uint(c[i]))
    };
    head.yes_if_most(shape, "because its rows have 5 columns, and R or W is the 2nd")
}

fn line(line: &[u8]) -> Parse<Row> {
    if is_header(line, &COLUMNS, TimeUnit::Microseconds) {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<b','>::new(line);
    let device = c.device(Field::device("device_id"))?;
    let op = c.op("opcode")?;
    let offset = c.uint(Field::offset("offset"))?;
    let length = c.uint(Field::length("length"))?;
    let time_us = Field::new("timestamp", "microseconds, 0 to 18446744073709551", u64::MAX / 1_000);
    let at = c.uint(time_us)? * 1_000;
    c.end("5 columns")?;
    Ok(Row::bytes(at, device, op, offset, length))
}
