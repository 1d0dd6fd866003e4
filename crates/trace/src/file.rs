//! One file of a trace: its rows as recorded.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::buffer::{Buffer, Failure};
use crate::error::{BadRow, Place, TraceError};
use crate::event::Events;
use crate::input::{Compression, Input};
use crate::names::Names;
use crate::options::Options;
use crate::registry::{Format, Parser, by_name, detect};
use crate::row::{Row, TraceRecord};

/// What the files of a trace have in common.
pub(crate) struct Common {
    pub(crate) options: Options,
    /// Format of the first file.
    pub(crate) format: Option<&'static Format>,
    /// Bad rows that may still be skipped.
    pub(crate) bad_left: Arc<AtomicU64>,
    pub(crate) names: Names,
}

impl Common {
    pub(crate) fn new(options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        let bad_left = Arc::new(AtomicU64::new(options.skip_bad.unwrap_or(0)));
        Ok(Self { options: options.clone(), format: None, bad_left, names: Names::default() })
    }

    /// The format of a file, and why.
    fn detect(&self, name: &str, head: &[u8]) -> Result<(&'static Format, String), TraceError> {
        if let Some(named) = &self.options.format {
            return Ok((by_name(named)?, "because you named it".to_owned()));
        }
        let same = |format: &'static Format| (format, format!("because the first file is {}", format.name));
        match (detect(name, head), self.format) {
            (Err(TraceError::Ambiguous { candidates, .. }), Some(first))
                if candidates.iter().any(|candidate| candidate.format == first.name) =>
            {
                Ok(same(first))
            }
            (Ok((format, _)), Some(first)) if format.name != first.name => {
                Err(TraceError::FormatsDiffer { name: name.to_owned(), format: format.name, first: first.name })
            }
            (found, _) => found,
        }
    }
}

/// What was seen in a file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) requests: u64,
    pub(crate) other_rows: u64,
    pub(crate) bad_rows: u64,
    pub(crate) first_bad: Option<String>,
}

impl Seen {
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.other_rows += other.other_rows;
        self.bad_rows += other.bad_rows;
        self.first_bad = self.first_bad.take().or_else(|| other.first_bad.clone());
    }
}

/// Requests as a file records them, in file order. Ends after the first error.
pub(crate) struct RecordFile {
    name: Arc<str>,
    pub(crate) format: &'static Format,
    pub(crate) reason: String,
    parser: Parser,
    buffer: Buffer,
    compression: Option<Compression>,
    taken: Arc<AtomicU64>,
    skip_bad: u64,
    bad_left: Arc<AtomicU64>,
    place: Place,
    done: bool,
    seen: Seen,
}

impl RecordFile {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is unknown.
    pub(crate) fn open(path: &str, common: &Common) -> Result<Self, TraceError> {
        Self::new(Input::open(path)?, common)
    }

    /// Reads any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`RecordFile::open`].
    pub(crate) fn from_reader(
        name: &str,
        reader: impl Read + Send + 'static,
        common: &Common,
    ) -> Result<Self, TraceError> {
        Self::new(Input::new(name, Box::new(reader))?, common)
    }

    fn new(input: Input, common: &Common) -> Result<Self, TraceError> {
        let Input { name, reader, compression, taken } = input;
        let mut buffer = Buffer::new(reader);
        let head = buffer.peek().map_err(|error| broken(&name, compression, Place::Byte(0), error))?;
        if head.is_empty() {
            return Err(TraceError::Empty { name: name.to_string() });
        }
        let (format, mut reason) = common.detect(&name, head)?;
        let mut parser = (format.parser)();
        match (parser.events(), common.options.event) {
            (Some(events), chosen) => {
                events.chosen = chosen.unwrap_or_default();
                let Events { chosen, .. } = *events;
                reason = format!("{reason}; its events {} ({}) are read", chosen.letter(), chosen.title());
            }
            (None, Some(event)) => {
                return Err(TraceError::NoEvents {
                    name: name.to_string(),
                    format: format.name,
                    event: event.letter(),
                });
            }
            (None, None) => {}
        }
        let text = matches!(parser, Parser::Text(_));
        if text && head.starts_with(b"\xEF\xBB\xBF") {
            let _byte_order_mark = buffer.record(3, "byte order mark");
        }
        if let Parser::Text(parser) = &mut parser {
            parser.share(&common.names);
        }
        Ok(Self {
            name,
            format,
            reason,
            parser,
            buffer,
            compression,
            taken,
            skip_bad: common.options.skip_bad.unwrap_or(0),
            bad_left: Arc::clone(&common.bad_left),
            place: if text { Place::Line(0) } else { Place::Byte(0) },
            done: false,
            seen: Seen::default(),
        })
    }

    /// Where the last row was.
    pub(crate) fn place(&self) -> Place {
        self.place
    }
    /// Bytes read from the source so far (compressed, if it is).
    pub(crate) fn bytes_read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
    /// What was seen so far; `named`: places name the file too.
    pub(crate) fn seen(&self, named: bool) -> Seen {
        let first_bad = self.seen.first_bad.as_ref();
        let first_bad = first_bad.map(|bad| if named { format!("{}: {bad}", self.name) } else { bad.clone() });
        Seen { first_bad, ..self.seen }
    }
    /// The events seen so far, if rows are events.
    pub(crate) fn events(&mut self) -> Option<Events> {
        self.parser.events().copied()
    }

    #[cold]
    fn bad(&mut self, row: Box<BadRow>) -> Result<(), TraceError> {
        // The allowance is that of all files together.
        let left = self.bad_left.load(Ordering::Relaxed);
        if left > 0 {
            self.bad_left.store(left - 1, Ordering::Relaxed);
            self.seen.bad_rows += 1;
            if self.seen.first_bad.is_none() {
                self.seen.first_bad = Some(format!("{}: {row}", self.place));
            }
            return Ok(());
        }
        let (name, place, allowed) = (self.name.to_string(), self.place, self.skip_bad);
        Err(if allowed == 0 {
            TraceError::Row { name, place, row }
        } else {
            TraceError::TooManyBad { name, place, row, allowed }
        })
    }

    #[inline]
    fn step(&mut self) -> Result<Option<Row>, Failure> {
        match &mut self.parser {
            Parser::Text(parser) => {
                let line = match self.buffer.line() {
                    Ok(Some(line)) => line,
                    Ok(None) => {
                        self.done = true;
                        parser.end()?;
                        return Ok(None);
                    }
                    Err(failure) => {
                        if let (Failure::Bad(_), Place::Line(n)) = (&failure, &mut self.place) {
                            *n += 1;
                        }
                        return Err(failure);
                    }
                };
                if let Place::Line(n) = &mut self.place {
                    *n += 1;
                }
                if line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty() {
                    return Ok(Some(Row::Other));
                }
                Ok(Some(parser.line(line)?))
            }
            Parser::Binary(parser) => {
                self.place = Place::Byte(self.buffer.offset());
                parser.next(&mut self.buffer)
            }
        }
    }
}

impl Iterator for RecordFile {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let failed = match self.step() {
                Ok(Some(Row::Request(record))) => {
                    self.seen.requests += 1;
                    return Some(Ok(record));
                }
                Ok(Some(Row::Other)) => {
                    self.seen.other_rows += 1;
                    continue;
                }
                Ok(None) => {
                    self.done = true;
                    return None;
                }
                Err(Failure::Bad(row)) => self.bad(row),
                Err(Failure::Io(error)) => Err(broken(&self.name, self.compression, self.place, error)),
            };
            if let Err(error) = failed {
                self.done = true;
                return Some(Err(error));
            }
        }
        None
    }
}

#[cold]
fn broken(name: &str, compression: Option<Compression>, place: Place, source: io::Error) -> TraceError {
    let name = name.to_owned();
    match compression.map(Compression::name) {
        None => TraceError::Read { name, place, source },
        Some(compression) if source.kind() == io::ErrorKind::UnexpectedEof => {
            TraceError::CutOff { name, compression, place }
        }
        Some(compression) => TraceError::Corrupt { name, compression, place, source },
    }
}
