//! Any delimited text: which column is what is said with `--columns`, or told by the names in its header line.
//!
//! - `--columns time=2:us,op=4,offset=5:512,size=6`: columns are numbered from 1. A unit may follow: of times ns,
//!   us, ms, s (seconds, the default), filetime (100 ns) or date (`2016-02-22 10:00:00.5`, UTC unless an offset such as
//!   `+02:00` follows; `01:00:00 PM`), of offset and size the bytes of one, as in 512 or 4KiB. A decimal number of
//!   units must be a whole number of bytes.
//! - `offset=N` or `object=N` must be there, N up to 64. An object of a cache trace gets a range of 4 KiB pages of
//!   its own when it first appears (a longer one later); `object=N:512` takes its number for an address in units of
//!   512 bytes instead. Words are objects by a hash of 64 bits.
//! - `op=N`: R, W, read, write, rd, wr, get, put, set, D, trim, discard, flush, sync and the letters of blkparse in
//!   any case. 0 and 1 mean different things in different traces: `op=N:w=1` says that 1 is a write and the other
//!   number a read (a third number is an error); further words are `r=WORD`, `w=WORD`, `d=WORD` (discard), `f=WORD`
//!   (flush). `op=read` or `op=write`: all requests.
//! - `size=N`, or `size=fixed:4096` for all requests. `time=N` may be missing: then there are no times.
//! - `device=N`: a number, or a name (numbered in order of appearance). `latency=N:us`: how long the recorded
//!   device took. `pid=N`: the process. `skip=N`: header lines. `sep=;`: the separator (comma, semicolon, tab, pipe
//!   or space); it is found by itself when this is absent.
//! - Numbers may be hexadecimal (0x...), in quotes, or decimal. Lines that begin with `#` or `//` are comments. A
//!   row that leaves its operation blank is passed over and counted.
//! - Without `--columns` the header line is read: time, timestamp, ts, offset, lba, sector, `obj_id`, size, length,
//!   op, type, rw, device, disk, latency, pid and the like, with units at their end (`time_us`, `size_kb`), which hold.
//!   Where no unit is named, sizes are bytes; if they are small and most no multiples of 512, they are sectors, or pages
//!   next to addresses in pages, and a warning says so. What was guessed is said.
//!
//! Source: this project.

mod date;
mod guess;
mod objects;
mod propose;
pub(crate) mod spec;
mod values;

use std::sync::Arc;

use nandlab::types::HostOp;

use crate::cursor::Parse;
use crate::error::{BadRow, Problem};
use crate::names::Names;
use crate::options::Options;
use crate::provenance::About;
use crate::registry::{Format, Head, LineParser, Parser, Sniff};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

pub(crate) use guess::{Role, guess, is_header, numbered_lines};
pub(crate) use objects::Objects;
pub(crate) use propose::propose;
pub use spec::ColumnSpec;
use spec::{Address, Length, Times};

pub(crate) const FORMAT: Format = Format {
    name: "columns",
    title: "any delimited text (--columns, or a header line that tells)",
    extensions: &["csv", "tsv", "txt"],
    extra: Extra::NONE,
    write: None,
    // Asked last, when no other format knows the file: see `detect`.
    sniff: |_| Sniff::No,
    parser: |names| Parser::Text(Box::new(Delimited::new(names.clone()))),
};

/// Most columns of a row that are looked at.
const COLUMNS_MAX: usize = 64;

struct Delimited {
    spec: Option<Arc<ColumnSpec>>,
    separator: u8,
    /// Lines seen.
    lines: u64,
    /// A request was read: what is not a number from now on is an error, not a header.
    began: bool,
    unit: Option<TimeUnit>,
    /// The operation that is not named in `op=N:w=1`, once it was seen.
    other: Option<u64>,
    names: Names,
    /// Devices have names, once the first is seen.
    named_devices: Option<bool>,
    objects: Objects,
    about: About,
}

impl Delimited {
    fn new(names: Names) -> Self {
        Self {
            spec: None,
            separator: 0,
            lines: 0,
            began: false,
            unit: None,
            other: None,
            names,
            named_devices: None,
            objects: Objects::default(),
            about: About::default(),
        }
    }

    fn device(&mut self, text: &[u8]) -> Parse<u32> {
        let number = values::whole(text).filter(|number| *number <= Field::DEVICE.max);
        let named = *self.named_devices.get_or_insert(number.is_none());
        let found = if named { self.names.number(text) } else { number.map(|number| number as u32) };
        found.ok_or_else(|| BadRow::new("device", text, Problem::Unknown, "a number, or one of at most 4096 names"))
    }

    fn row(&mut self, line: &[u8], spec: &ColumnSpec) -> Parse<Row> {
        let mut fields = [&line[..0]; COLUMNS_MAX];
        let there = values::split(line, self.separator, &mut fields[..spec.columns()]);
        let field = |name: &'static str, column: usize| {
            if column <= there {
                return Ok(fields[column - 1]);
            }
            Err(BadRow::new(name, &[], Problem::Missing, format!("{} columns; here are {there}", spec.columns())))
        };
        let (name, column) = spec.address.named();
        let address = field(name, column)?;
        let op = match spec.op {
            spec::Op::All(op) => Some(op),
            spec::Op::Column(column) => match field("op", column)? {
                [] => None,
                word => Some(spec.operation(word, &mut self.other)?),
            },
        };
        let at = match (&spec.time, self.unit) {
            (None, _) => 0,
            (Some(Times { column, .. }), unit) => values::time("time", field("time", *column)?, unit)?,
        };
        let flush = op == Some(HostOp::Flush);
        let length = match spec.size {
            _ if flush => 0,
            Length::Fixed(bytes) => bytes,
            Length::Column(column, unit) => values::bytes("size", field("size", column)?, unit, Field::LENGTH)?,
        };
        let device = match spec.device {
            Some(column) => self.device(field("device", column)?)?,
            None => 0,
        };
        let offset = match spec.address {
            _ if flush => 0,
            Address::Bytes(_, unit) | Address::Object(_, Some(unit)) => {
                values::bytes(name, address, unit, Field::OFFSET)?
            }
            Address::Object(_, None) => self.objects.place(values::object(address)?, length)?,
        };
        let latency = match spec.latency {
            Some((column, unit)) => values::latency(field("latency", column)?, unit)?,
            None => 0,
        };
        let process = match spec.process {
            Some(column) => values::whole(field("pid", column)?).unwrap_or(0),
            None => 0,
        };
        self.began = true;
        Ok(op.map_or(Row::Blank, |op| Row::bytes(at, device, op, offset, length).after(latency).of(process)))
    }
}

impl LineParser for Delimited {
    fn told(&mut self, options: &Options) {
        self.spec.clone_from(&options.columns);
        self.objects = Objects::new(options.object_unit);
    }

    fn begin(&mut self, head: &[u8]) {
        let head = Head::new(head);
        if self.spec.is_none()
            && let Some(guess) = guess(&head)
        {
            self.spec = Some(Arc::new(guess.spec));
            self.about.assumed = guess.assumed;
        }
        if let Some(spec) = &self.spec {
            self.separator = spec.separator.unwrap_or_else(|| guess::separator(&head));
            self.unit = spec.time.as_ref().and_then(|times| times.unit);
            let (latency, process) = (spec.latency.is_some(), spec.process.is_some());
            self.about.extra = Extra { latency, process, ..Extra::NONE };
        }
    }

    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        self.lines += 1;
        let Some(spec) = self.spec.clone() else {
            let allowed = "--columns time=N:us,op=N,offset=N:512,size=N: the header does not tell what the columns are";
            return Err(BadRow::new("columns", line, Problem::Unknown, allowed));
        };
        if self.lines <= spec.skip || line.starts_with(b"#") || line.starts_with(b"//") {
            return Ok(Row::Other);
        }
        let row = self.row(line, &spec);
        // One header line needs no `skip`.
        if row.is_err() && !self.began && self.lines == spec.skip + 1 && values::is_header(line, self.separator) {
            return Ok(Row::Other);
        }
        row
    }

    fn about(&self) -> &About {
        &self.about
    }
    fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        self.unit.as_mut()
    }
    fn has_objects(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| matches!(spec.address, Address::Object(_, None)))
    }
    fn time_is_told(&self) -> bool {
        self.spec.as_ref().is_some_and(|spec| spec.time.as_ref().is_none_or(|times| times.told))
    }
}
