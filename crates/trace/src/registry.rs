//! What a format is, how it is found by name or by content, and helpers to look at the first lines.

use std::sync::LazyLock;

use crate::buffer::{Buffer, Failure};
use crate::cursor::Parse;
use crate::error::{Candidate, Proposal, TraceError, excerpt};
use crate::event::Events;
use crate::export::Export;
use crate::formats::columns::{self as columns_format, guess, numbered_lines, propose};
use crate::formats::{FORMATS, SOURCES};
use crate::lines::Ahead;
use crate::names::Names;
use crate::options::Options;
use crate::provenance::About;
use crate::row::{Extra, Row, TraceRecord};
use crate::unit::TimeUnit;

/// Reads the rows of a text format; it may keep state between rows.
pub(crate) trait LineParser: Send {
    /// One line, without its line end and never blank.
    fn line(&mut self, line: &[u8]) -> Parse<Row>;
    /// Parses lines into requests, until there are `most`, no line is left, or one is no request: then what it is.
    ///
    /// It is called once for many lines; written here, it is compiled into the code of each format.
    fn run(&mut self, lines: &mut Ahead<'_>, requests: &mut Vec<TraceRecord>, most: usize) -> Option<Parse<Row>> {
        while requests.len() < most {
            match self.line(lines.next()?) {
                Ok(Row::Request(record)) => requests.push(record),
                other => return Some(other),
            }
        }
        None
    }
    /// Takes what the user chose.
    fn told(&mut self, _: &Options) {}
    /// Looks at the beginning of the file (up to 64 KiB) before the first line.
    fn begin(&mut self, _head: &[u8]) {}
    /// What the file has said about itself so far.
    fn about(&self) -> &About {
        About::NOTHING
    }
    /// # Errors
    /// The file lacks something, now that it has ended.
    fn end(&mut self) -> Parse<()> {
        Ok(())
    }
    /// The choice of event, if rows are events of which a request has several.
    fn events(&mut self) -> Option<&mut Events> {
        None
    }
    /// The unit of times, if the user may correct it.
    fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        None
    }
    /// The unit is no guess: the user or the file itself said it.
    fn time_is_told(&self) -> bool {
        false
    }
}

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
}

/// A format.
pub(crate) struct Format {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) extensions: &'static [&'static str],
    /// What its requests carry beside the rest; those of our own forms say so themselves.
    pub(crate) extra: Extra,
    /// Writes it, if other tools are to read it.
    pub(crate) write: Option<fn() -> Box<dyn Export>>,
    pub(crate) sniff: fn(&Head) -> Sniff,
    pub(crate) parser: fn(&Names) -> Parser,
}

/// What a user should know about a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatInfo {
    /// Name to give as the format.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Columns, units and source.
    pub manual: String,
    /// Usual file name endings, without the dot; they are not used to detect anything.
    pub extensions: &'static [&'static str],
}

/// The readable formats, with their manuals.
pub fn formats() -> &'static [FormatInfo] {
    static INFOS: LazyLock<Vec<FormatInfo>> = LazyLock::new(|| {
        let manual = |source: &str| -> String {
            let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
            lines
                .flat_map(|line| {
                    [
                        line.strip_prefix(' ').unwrap_or(line),
                        "
",
                    ]
                })
                .collect()
        };
        let info = |(f, source): (&&Format, &&str)| FormatInfo {
            name: f.name,
            title: f.title,
            manual: manual(source),
            extensions: f.extensions,
        };
        FORMATS.iter().zip(SOURCES).map(info).collect()
    });
    &INFOS
}

fn names() -> String {
    FORMATS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
}

/// The format that the user names.
pub(crate) fn by_name(name: &str) -> Result<&'static Format, TraceError> {
    let found = FORMATS.iter().find(|f| f.name.eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| TraceError::Option { option: "format", value: name.to_owned(), allowed: names() })
}

/// The format that the content shows, and why: "because ...".
pub(crate) fn detect(name: &str, bytes: &[u8]) -> Result<(&'static Format, String), TraceError> {
    let head = Head::new(bytes);
    let (mut yes, mut maybe) = (Vec::new(), Vec::new());
    for &format in FORMATS {
        match (format.sniff)(&head) {
            Sniff::No => {}
            Sniff::Maybe(reason) => maybe.push((format, reason)),
            Sniff::Yes(reason) => yes.push((format, reason)),
        }
    }
    if yes.len() == 1 {
        return Ok(yes.remove(0));
    }
    yes.append(&mut maybe);
    if yes.is_empty() {
        if let Some(guess) = guess(&head) {
            return Ok((&columns_format::FORMAT, guess.reason));
        }
        let hint = if bytes.get(257..262) == Some(b"ustar") {
            "It is a tar archive: unpack it first (tar -xf), or pipe one member: tar -xOf. "
        } else if bytes.contains(&0) {
            "It is a binary file. "
        } else {
            ""
        };
        let text = !bytes.contains(&0) && head.lines.iter().any(|line| line.iter().any(u8::is_ascii_digit));
        let proposal = text.then(|| {
            Box::new(Proposal { lines: numbered_lines(&head), columns: propose(&head).map(|spec| spec.to_string()) })
        });
        let (name, head) = (name.to_owned(), excerpt(bytes));
        return Err(TraceError::NotRecognised { name, head, hint, known: names(), proposal });
    }
    let candidates = yes.into_iter().map(|(f, reason)| Candidate { format: f.name, reason }).collect();
    Err(TraceError::Ambiguous { name: name.to_owned(), candidates })
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
}

/// The columns of a line, trimmed; runs of blanks separate if `separator` is a blank.
pub(crate) fn columns(line: &[u8], separator: u8) -> Vec<&[u8]> {
    if separator == b' ' {
        return line.split(|b| matches!(b, b' ' | b'\t')).filter(|c| !c.is_empty()).collect();
    }
    line.split(|&b| b == separator).map(<[u8]>::trim_ascii).collect()
}

/// Digits only.
pub(crate) fn is_uint(column: &[u8]) -> bool {
    !column.is_empty() && column.iter().all(u8::is_ascii_digit)
}

/// Digits with at most one point.
pub(crate) fn is_decimal(column: &[u8]) -> bool {
    let point = column.iter().position(|b| *b == b'.').unwrap_or(column.len());
    let (whole, fraction) = (&column[..point], column.get(point + 1..).unwrap_or(&[]));
    (is_uint(whole) || is_uint(fraction)) && [whole, fraction].iter().all(|part| part.iter().all(u8::is_ascii_digit))
}

/// The whole number in a column, if it is one.
pub(crate) fn uint(column: &[u8]) -> Option<u64> {
    std::str::from_utf8(column).ok().filter(|_| is_uint(column))?.parse().ok()
}

/// `R` or `W` in any case.
pub(crate) fn is_rw(column: &[u8]) -> bool {
    matches!(column, b"R" | b"r" | b"W" | b"w")
}

/// `Read` or `Write` in any case.
pub(crate) fn is_read_write(column: &[u8]) -> bool {
    column.eq_ignore_ascii_case(b"read") || column.eq_ignore_ascii_case(b"write")
}
