//! The rows of a trace as recorded: before any policy for times, devices and addresses.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::errors::ParquetError;

use crate::buffer::{Buffer, Failure};
use crate::columns::Columns;
use crate::error::{BadRow, Place, TraceError};
use crate::input::{Compression, Input};
use crate::options::Options;
use crate::provenance::{About, Step};
use crate::registry::{BinaryParser, Format, LineParser, Parser, by_name, detect};
use crate::row::{Row, TraceRecord};

/// Where rows come from.
enum Rows {
    Lines(Box<dyn LineParser>, Buffer),
    Binary(Box<dyn BinaryParser>, Buffer),
    Columns(Box<Columns>),
}

/// Requests as the trace records them, in file order, with recorded times. Ends after the first error.
pub struct Records {
    name: Arc<str>,
    format: &'static Format,
    reason: String,
    rows: Rows,
    compression: Option<Compression>,
    taken: Arc<AtomicU64>,
    total: Option<u64>,
    skip_bad: u64,
    place: Place,
    done: bool,
    pub(crate) requests: u64,
    pub(crate) other_rows: u64,
    pub(crate) bad_rows: u64,
    pub(crate) first_bad: Option<String>,
}

impl Records {
    /// Opens a trace; `-` is standard input.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is unknown.
    pub fn open(path: &str, options: &Options) -> Result<Self, TraceError> {
        Self::new(Input::open(path)?, options)
    }

    /// Reads a trace from any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`Records::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &Options) -> Result<Self, TraceError> {
        Self::new(Input::new(name, Box::new(reader), None)?, options)
    }

    fn new(input: Input, options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        let named = options.format.as_deref().map(by_name).transpose()?;
        let Input { name, reader, compression, taken, total } = input;
        let mut buffer = Buffer::new(reader);
        let head = buffer.peek().map_err(|error| broken(&name, compression, Place::Byte(0), error.into()))?;
        if head.is_empty() {
            return Err(TraceError::Empty { name: name.to_string() });
        }
        let (format, reason) = match named {
            Some(format) => (format, "because you named it".to_owned()),
            None => detect(&name, head)?,
        };
        let (rows, place) = match (format.parser)() {
            Parser::Text(mut parser) => {
                let marked = head.starts_with(b"\xEF\xBB\xBF");
                parser.begin(&head[if marked { 3 } else { 0 }..]);
                if marked {
                    let _byte_order_mark = buffer.record(3, "byte order mark");
                }
                (Rows::Lines(parser, buffer), Place::Line(0))
            }
            Parser::Binary(parser) => (Rows::Binary(parser, buffer), Place::Byte(0)),
            Parser::Columns if compression.is_some() || total.is_none() => {
                return Err(TraceError::NeedsFile { name: name.to_string() });
            }
            Parser::Columns => {
                let file = File::open(&*name).map_err(|source| TraceError::Open { name: name.to_string(), source })?;
                let columns = Columns::open(file, Arc::clone(&taken));
                let columns = columns.map_err(|error| broken(&name, None, Place::Row(0), error))?;
                (Rows::Columns(Box::new(columns)), Place::Row(0))
            }
        };
        Ok(Self {
            name,
            format,
            reason,
            rows,
            compression,
            taken,
            total,
            skip_bad: options.skip_bad.unwrap_or(0),
            place,
            done: false,
            requests: 0,
            other_rows: 0,
            bad_rows: 0,
            first_bad: None,
        })
    }

    /// Path, or `<stdin>`.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.format.name
    }
    /// Why this format: a clause that begins with "because".
    pub fn reason(&self) -> &str {
        &self.reason
    }
    fn about(&self) -> Option<&About> {
        match &self.rows {
            Rows::Lines(parser, _) => Some(parser.about()),
            Rows::Binary(..) => None,
            Rows::Columns(columns) => Some(columns.about()),
        }
    }
    /// The tools that made the trace, as far as it says. Text that comes through a pipe says what the tools counted
    /// after its last row only: then this changes at the end.
    pub fn steps(&self) -> &[Step] {
        self.about().map_or(&[], |about| &about.steps)
    }
    /// Requests carry what the host tells.
    pub fn has_hints(&self) -> bool {
        self.about().is_some_and(|about| about.hints)
    }
    /// Where the last row was.
    pub fn place(&self) -> Place {
        self.place
    }
    /// Bytes read from the source so far (compressed, if it is).
    pub fn bytes_read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
    /// Bytes of the source, if it is a file.
    pub fn bytes_total(&self) -> Option<u64> {
        self.total
    }

    #[cold]
    fn bad(&mut self, row: Box<BadRow>) -> Result<(), TraceError> {
        if self.bad_rows < self.skip_bad {
            self.bad_rows += 1;
            if self.first_bad.is_none() {
                self.first_bad = Some(format!("{}: {row}", self.place));
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
        match &mut self.rows {
            Rows::Lines(parser, buffer) => {
                let line = match buffer.line() {
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
            Rows::Binary(parser, buffer) => {
                self.place = Place::Byte(buffer.offset());
                parser.next(buffer)
            }
            Rows::Columns(columns) => {
                let next = columns.next();
                if let (Ok(Some(_)) | Err(Failure::Bad(_)), Place::Row(row)) = (&next, &mut self.place) {
                    *row += 1;
                }
                Ok(next?.map(Row::Request))
            }
        }
    }
}

impl Iterator for Records {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.done {
            let failed = match self.step() {
                Ok(Some(Row::Request(record))) => {
                    self.requests += 1;
                    return Some(Ok(record));
                }
                Ok(Some(Row::Other)) => {
                    self.other_rows += 1;
                    continue;
                }
                Ok(None) => {
                    self.done = true;
                    return None;
                }
                Err(Failure::Bad(row)) => self.bad(row),
                Err(failure) => Err(broken(&self.name, self.compression, self.place, failure)),
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
fn broken(name: &str, compression: Option<Compression>, place: Place, failure: Failure) -> TraceError {
    let name = name.to_owned();
    let source = match failure {
        Failure::Bad(row) => return TraceError::Row { name, place, row },
        Failure::NoTrace(problem) => return TraceError::NoTrace { name, problem },
        Failure::Columns(ParquetError::External(source)) => match source.downcast::<io::Error>() {
            // What a decompressor says has no number of the system.
            Ok(source) if source.raw_os_error().is_some() => *source,
            Ok(source) => return TraceError::DamagedColumns { name, place, problem: source.to_string() },
            Err(other) => return TraceError::DamagedColumns { name, place, problem: other.to_string() },
        },
        Failure::Columns(error) => return TraceError::DamagedColumns { name, place, problem: error.to_string() },
        Failure::Io(source) => source,
    };
    match compression.map(Compression::name) {
        None => TraceError::Read { name, place, source },
        Some(compression) if source.kind() == io::ErrorKind::UnexpectedEof => {
            TraceError::CutOff { name, compression, place }
        }
        Some(compression) => TraceError::Corrupt { name, compression, place, source },
    }
}
