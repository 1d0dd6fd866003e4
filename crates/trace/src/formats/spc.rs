//! SPC trace: `ASU,LBA,Size,Opcode,Timestamp[,optional...]`, one request per line.
//!
//! - ASU: application-specific unit, from 0; each is an address space of its own.
//! - LBA: first block inside the ASU, in blocks of 512 bytes.
//! - Size: bytes; 0 is legal (counted, and asks for nothing); not always a multiple of 512.
//! - Opcode: R, r, W or w.
//! - Timestamp: seconds, decimal; the first need not be 0.
//! - Further columns are optional, may vary from row to row, and are ignored.
//! - Written by `nandlab trace convert --to spc`: reads and writes, times in s from the first request, exact to the ns.
//!
//! Source: SPC Trace File Format Specification 1.0.1, Storage Performance Council, 2002. The `UMass` repository
//! (Financial1, Financial2, `WebSearch`) uses it.

use std::io::Write as _;

use crate::cursor::{Cursor, Parse};
use crate::export::{Export, Lost, is_read};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_decimal, is_rw, is_uint};
use crate::row::{Extra, Field, Row, TraceRecord};

pub(crate) const FORMAT: Format = Format {
    name: "spc",
    title: "SPC trace file (UMass Financial, WebSearch)",
    extensions: &["spc"],
    extra: Extra::NONE,
    write: Some(|| Box::<Writer>::default()),
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        c.len() >= 5 && c[..3].iter().all(|c| is_uint(c)) && is_rw(c[3]) && is_decimal(c[4])
    };
    head.yes_if_most(shape, "because its rows are three whole numbers, R or W, and seconds, with commas between")
}

fn line(line: &[u8]) -> Parse<Row> {
    let mut c = Cursor::<b','>::new(line);
    let device = c.device(Field::device("ASU"))?;
    let lba = c.uint(Field::lba("LBA"))?;
    let bytes = c.uint(Field::length("Size"))?;
    let op = c.op("Opcode")?;
    let at = c.decimal(Field::time("Timestamp", "seconds, 0 to 18446744073"), 9)?;
    Ok(Row::bytes(at, device, op, lba * 512, bytes))
}

/// Writes the five columns. Times count from the first request and are exact.
#[derive(Default)]
pub(crate) struct Writer;

impl Export for Writer {
    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, _: &mut Lost) -> Result<(), String> {
        if !record.offset.is_multiple_of(512) {
            let offset = record.offset;
            return Err(format!("offset {offset} is inside a sector; widen requests: nandlab trace remap --align 512"));
        }
        let op = if is_read(record)? { 'r' } else { 'w' };
        let (device, lba, length) = (record.device, record.offset / 512, record.length);
        let (s, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        writeln!(out, "{device},{lba},{length},{op},{s}.{ns:09}").map_err(|error| error.to_string())
    }
}
