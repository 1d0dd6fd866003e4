//! What a format is, and what its detection sees.

use crate::buffer::{Buffer, Failure};
use crate::cursor::Parse;
use crate::event::Events;
use crate::export::Export;
pub(crate) use crate::lines::LineParser;
use crate::names::Names;
use crate::options::Options;
use crate::row::{Extra, Row};
pub(crate) use crate::text::{columns, is_decimal, is_read_write, is_rw, is_uint, uint};
use crate::unit::TimeUnit;

/// Reads lines whose times are in a unit that the format does not fix.
pub(crate) struct WithUnit<F> {
    unit: TimeUnit,
    parse: F,
}

impl<F: FnMut(&[u8], TimeUnit) -> Parse<Row> + Send> WithUnit<F> {
    /// `unit`: what is assumed when the user says nothing.
    pub(crate) fn new(unit: TimeUnit, parse: F) -> Self {
        Self { unit, parse }
    }
}

impl<F: FnMut(&[u8], TimeUnit) -> Parse<Row> + Send> LineParser for WithUnit<F> {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        (self.parse)(line, self.unit)
    }
    fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        Some(&mut self.unit)
    }
}

impl<F: FnMut(&[u8]) -> Parse<Row> + Send> LineParser for F {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        self(line)
    }
}

/// Reads the records of a binary format.
pub(crate) trait BinaryParser: Send {
    /// The next record, or `None` at the end.
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<Row>, Failure>;
    /// As for text.
    fn events(&mut self) -> Option<&mut Events> {
        None
    }
    /// As for text.
    fn told(&mut self, _: &Options) {}
    /// As for text.
    fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        None
    }
    /// As for text.
    fn time_is_told(&self) -> bool {
        false
    }
    /// As for text.
    fn has_objects(&self) -> bool {
        false
    }
}

/// How a format is read.
pub(crate) enum Parser {
    /// Line by line.
    Text(Box<dyn LineParser>),
    /// Record by record.
    Binary(Box<dyn BinaryParser>),
    /// Column by column, from a file that can be read at any place.
    Columns,
}

/// What the beginning of a file says about a format. A reason is a clause that begins with "because".
pub(crate) enum Sniff {
    /// It is not this format.
    No,
    /// It looks like it, but another format looks the same.
    Maybe(String),
    /// It is this format.
    Yes(String),
    /// It says itself that it is this format, whatever its rows look like.
    Certain(String),
}

/// A format.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) extensions: &'static [&'static str],
    /// What its requests carry besides the rest; those of our own forms say so themselves.
    pub(crate) extra: Extra,
    /// Writes it, if other tools are to read it.
    pub(crate) write: Option<fn() -> Box<dyn Export>>,
    pub(crate) sniff: fn(&Head) -> Sniff,
    pub(crate) parser: fn(&Names) -> Parser,
}

/// The beginning of a file, for detection.
pub(crate) struct Head<'a> {
    /// Up to 64 KiB.
    pub(crate) bytes: &'a [u8],
    /// The first complete lines that are not blank, at most 64.
    pub(crate) lines: Vec<&'a [u8]>,
}

impl<'a> Head<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').take(65).collect();
        if lines.len() > 1 {
            lines.pop(); // it may be cut
        }
        let lines = lines.into_iter().map(<[u8]>::trim_ascii).filter(|l| !l.is_empty()).collect();
        Self { bytes, lines }
    }

    /// True if all lines have the shape but one (a header) or a quarter (traces may begin with garbage).
    pub(crate) fn most(&self, shape: impl Fn(&[u8]) -> bool) -> bool {
        let good = self.lines.iter().filter(|line| shape(line)).count();
        good > 0 && self.lines.len() - good <= (self.lines.len() / 4).max(1)
    }
    /// Yes for this reason, a clause that begins with "because", if most rows look so.
    pub(crate) fn yes_if_most(&self, shape: impl Fn(&[u8]) -> bool, reason: &str) -> Sniff {
        if self.most(shape) { Sniff::Yes(reason.to_owned()) } else { Sniff::No }
    }
}
