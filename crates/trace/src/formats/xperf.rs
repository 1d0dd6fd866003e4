//! xperf csv (Microsoft Production Server and Enterprise traces): events of Windows, each kind with columns of its own.
//!
//! - Between `BeginHeader` and `EndHeader` a line for each kind of event names its columns, as in `DiskRead, TimeStamp,
//!   Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, ...`. Columns are found by these
//!   names, because releases differ (some have a column CPU).
//! - `DiskRead`, `DiskWrite`: requests. `DiskFlush`: a flush. All other events (`DiskReadInit`, processes, ...) ask for
//!   nothing.
//! - `TimeStamp`: microseconds; as Windows logs a request when it completes, so is the time, and rows are in order of
//!   completion. `ElapsedTime`, if it is there and not blank: the latency, microseconds; it is not taken off the time.
//!   `ByteOffset` and `IOSize`: bytes, hexadecimal. `DiskNum`: the device.
//!
//! Source: SNIA IOTTA sets 130 and 158 (Kavalanekar et al., IISWC 2008); the header of their files.

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns};
use crate::row::{Extra, Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "xperf",
    title: "xperf csv (MS Production Server, Enterprise)",
    extensions: &["csv"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::<Xperf>::default()),
};

fn sniff(head: &Head) -> Sniff {
    if head.lines.first().is_some_and(|line| *line == b"BeginHeader") {
        return Sniff::Yes("because it begins with the line `BeginHeader` of xperf".to_owned());
    }
    Sniff::No
}

/// What is read of an event, in this order; a flush has the first two of the four that must be there.
const USED: [&str; 5] = ["TimeStamp", "DiskNum", "ByteOffset", "IOSize", "ElapsedTime"];
const LATENCY: usize = 4;

/// An event and where its columns lie, once the header is read.
struct Kind {
    name: &'static [u8],
    op: HostOp,
    places: Option<[usize; USED.len()]>,
}

/// Where we are in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    Header,
    Rows,
}

struct Xperf {
    part: Part,
    kinds: [Kind; 3],
}

impl Default for Xperf {
    fn default() -> Self {
        let kind = |name, op| Kind { name, op, places: None };
        let kinds =
            [kind(b"DiskRead", HostOp::Read), kind(b"DiskWrite", HostOp::Write), kind(b"DiskFlush", HostOp::Flush)];
        Self { part: Part::Before, kinds }
    }
}

impl Xperf {
    fn header(&mut self, line: &[u8]) -> Parse<Row> {
        let names = columns(line, b',');
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.name == names[0]) {
            let needed = if kind.op == HostOp::Flush { 2 } else { LATENCY };
            let find = |name: &str| names.iter().position(|column| *column == name.as_bytes());
            let mut places = [usize::MAX; USED.len()];
            places[LATENCY] = find(USED[LATENCY]).unwrap_or(usize::MAX);
            for (place, name) in places.iter_mut().zip(USED).take(needed) {
                *place = find(name).ok_or_else(|| {
                    BadRow::new(
                        name,
                        line,
                        Problem::Missing,
                        "a header that names TimeStamp, ByteOffset, IOSize, DiskNum",
                    )
                })?;
            }
            kind.places = Some(places);
        }
        Ok(Row::Other)
    }

    fn row(&self, line: &[u8]) -> Parse<Row> {
        let name = line[..line.iter().position(|byte| *byte == b',').unwrap_or(line.len())].trim_ascii();
        let Some(kind) = self.kinds.iter().find(|kind| kind.name == name) else { return Ok(Row::Other) };
        let unnamed = || BadRow::new("event", name, Problem::Unknown, "an event whose columns the header names");
        let places = kind.places.ok_or_else(unnamed)?;
        let mut found = [&line[..0]; USED.len()];
        for (index, column) in line.split(|byte| *byte == b',').enumerate() {
            if let Some(used) = places.iter().position(|place| *place == index) {
                found[used] = column.trim_ascii();
            }
        }
        let [time, disk, offset, size, elapsed] = found.map(Cursor::<b','>::new);
        let at = { time }.decimal(Field::time("TimeStamp", "microseconds, 0 to 18446744073709551"), 3)?;
        let disk = { disk }.device(Field::device("DiskNum"))?;
        let latency = match found[LATENCY] {
            [] => 0,
            _ => { elapsed }.decimal(Field::time("ElapsedTime", "microseconds, 0 to 18446744073709551"), 3)?,
        };
        if kind.op == HostOp::Flush {
            return Ok(Row::sectors(at, disk, kind.op, 0, 0).after(latency));
        }
        let offset = { offset }.hex(Field::offset("ByteOffset"))?;
        let size = { size }.hex(Field::length("IOSize"))?;
        Ok(Row::bytes(at, disk, kind.op, offset, size).after(latency))
    }
}

impl LineParser for Xperf {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        match (self.part, line.trim_ascii()) {
            (Part::Before, b"BeginHeader") => self.part = Part::Header,
            (Part::Before, other) => {
                return Err(BadRow::new("header", other, Problem::Missing, "the line `BeginHeader`"));
            }
            (Part::Header, b"EndHeader") => self.part = Part::Rows,
            (Part::Header, names) => return self.header(names),
            (Part::Rows, row) => return self.row(row),
        }
        Ok(Row::Other)
    }

    fn end(&mut self) -> Parse<()> {
        if self.part == Part::Rows {
            return Ok(());
        }
        Err(BadRow::new("header", &[], Problem::Missing, "a header between the lines `BeginHeader` and `EndHeader`"))
    }
}
