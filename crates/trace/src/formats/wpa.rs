//! Windows Performance Analyzer, table of disk usage exported as csv: `;` between columns, decimal comma, dots between
//! thousands, one header line.
//!
//! - Columns are found by their names in the header; these are used: IO Type (Read, Write or Flush), Init Time (s), Size
//!   (B), Min Offset (bytes, hexadecimal) and, if they are there, Disk (its number; else 0) and Complete Time (s), which less
//!   Init Time is the latency; blank or before it: not recorded. Others may be there or not.
//! - Init Time: when the request began, seconds of the recording. `1.795,900` is 1795.9.
//! - A flush has size 0 and offset 0xFFFFFFFFFFFFFFFF; both are not used.
//!
//! Source: header line of the exports of Windows Performance Analyzer; data.

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns};
use crate::row::{Extra, Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "wpa",
    title: "Windows Performance Analyzer csv (disk usage)",
    extensions: &["csv"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::<Wpa>::default()),
};

/// What is read, in this order.
const USED: [&str; 6] = ["IO Type", "Init Time (s)", "Size (B)", "Min Offset", "Disk", "Complete Time (s)"];
const DISK: usize = 4;
const COMPLETE: usize = 5;
const SECONDS: &str = "seconds, 0 to 18446744073, with a decimal comma";
const NAMED: &str = "a header line that names the columns IO Type; Init Time (s); Size (B); Min Offset";

/// Places of the used columns; those but the disk must be there.
fn places(line: &[u8]) -> Option<[usize; USED.len()]> {
    let names = columns(line, b';');
    let place = |name: &str| names.iter().position(|c| *c == name.as_bytes()).unwrap_or(usize::MAX);
    let places = USED.map(place);
    places[..DISK].iter().all(|place| *place < usize::MAX).then_some(places)
}

fn sniff(head: &Head) -> Sniff {
    if head.lines.first().is_some_and(|line| places(line).is_some()) {
        return Sniff::Yes(
            "because its header line names the columns of Windows Performance Analyzer, with `;`".into(),
        );
    }
    Sniff::No
}

#[derive(Default)]
struct Wpa {
    places: Option<[usize; USED.len()]>,
}

/// A number with dots between thousands and a decimal comma, times 10^`scale`.
fn number(text: &[u8], field: Field, scale: u32) -> Parse<u64> {
    let (mut plain, mut length) = ([0u8; 40], 0);
    for &byte in text.iter().filter(|byte| **byte != b'.') {
        if length == plain.len() {
            return Err(BadRow::new(field.name, text, Problem::TooLarge, field.allowed));
        }
        plain[length] = if byte == b',' { b'.' } else { byte };
        length += 1;
    }
    let mut cursor = Cursor::<b';'>::new(&plain[..length]);
    cursor.decimal(field, scale).map_err(|bad| BadRow::new(field.name, text, bad.problem, field.allowed))
}

impl LineParser for Wpa {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        let Some(places) = self.places else {
            self.places = places(line);
            let missing = || BadRow::new("header", line, Problem::Missing, NAMED);
            return self.places.map(|_| Row::Other).ok_or_else(missing);
        };
        let mut found = [None; USED.len()];
        for (index, column) in line.split(|byte| *byte == b';').enumerate() {
            if let Some(used) = places.iter().position(|place| *place == index) {
                found[used] = Some(column.trim_ascii());
            }
        }
        let column = |used: usize| {
            found[used]
                .ok_or_else(|| BadRow::new(USED[used], &[], Problem::Missing, "as many columns as the header names"))
        };
        let op = match column(0)? {
            b"Read" => HostOp::Read,
            b"Write" => HostOp::Write,
            b"Flush" => HostOp::Flush,
            other => return Err(BadRow::new("IO Type", other, Problem::Unknown, "Read, Write or Flush")),
        };
        let time = |used| number(column(used)?, Field::time(USED[used], SECONDS), 9);
        let at = time(1)?;
        let disk = match places[DISK] {
            usize::MAX => 0,
            _ => number(column(DISK)?, Field::device("Disk"), 0)? as u32,
        };
        let latency = if found[COMPLETE].is_none_or(<[u8]>::is_empty) { 0 } else { time(COMPLETE)?.saturating_sub(at) };
        if op == HostOp::Flush {
            return Ok(Row::sectors(at, disk, op, 0, 0).after(latency));
        }
        let size = number(column(2)?, Field::length("Size (B)"), 0)?;
        let offset = Cursor::<b';'>::new(column(3)?).hex(Field::offset("Min Offset"))?;
        Ok(Row::bytes(at, disk, op, offset, size).after(latency))
    }

    fn end(&mut self) -> Parse<()> {
        self.places.map(|_| ()).ok_or_else(|| BadRow::new("header", &[], Problem::Missing, NAMED))
    }
}
