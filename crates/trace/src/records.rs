//! The rows of a trace as recorded: before any policy for times, devices and addresses.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::buffer::{Buffer, Failure};
use crate::error::{BadRow, Place, TraceError};
use crate::generators;
use crate::input::{Compression, Input};
use crate::options::Options;
use crate::registry::{Format, Parser, Sniff, by_name, detect};
use crate::row::{Row, TraceRecord};

/// What a generator has instead of a format.
static MADE: Format = Format {
    name: "generator",
    title: "made by rule, see `nandlab list generators`",
    extensions: &[],
    sniff: |_| Sniff::No,
    parser: || Parser::Made(Box::new(std::iter::empty())),
};

/// Requests as the trace records them, in file order, with recorded times. Ends after the first error.
pub struct Records {
    name: Arc<str>,
    format: &'static Format,
    reason: String,
    parser: Parser,
    buffer: Buffer,
    compression: Option<Compression>,
    taken: Arc<AtomicU64>,
    total: Option<u64>,
    requests_total: Option<u64>,
    skip_bad: u64,
    place: Place,
    done: bool,
    pub(crate) requests: u64,
    pub(crate) other_rows: u64,
    pub(crate) bad_rows: u64,
    pub(crate) first_bad: Option<String>,
}

impl Records {
    /// Opens a trace; `-` is standard input, and `make:NAME...` is a generator (see [`crate::generators`]), which makes as
    /// many requests as the limit of the options says or, without one, as belong to it.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or its format is unknown; there is no such generator.
    pub fn open(path: &str, options: &Options) -> Result<Self, TraceError> {
        match path.strip_prefix(generators::PREFIX) {
            Some(spec) => Self::make(path, spec, options),
            None => Self::new(Input::open(path)?, options),
        }
    }

    fn make(path: &str, spec: &str, options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        if let Some(format) = &options.format {
            let allowed = "nothing: a generator has no format".to_owned();
            return Err(TraceError::Option { option: "format", value: format.clone(), allowed });
        }
        let made = generators::make(spec, generators::Context::of(options)).map_err(TraceError::Generator)?;
        let requests = options.limit.unwrap_or(made.requests);
        let input = Input::new(path, Box::new(io::empty()), None)?;
        let parser = Parser::Made(Box::new(made.records.take(requests as usize)));
        let buffer = Buffer::new(Box::new(io::empty()));
        let reason = "because you named a generator".to_owned();
        let mut records = Self::with(&input, buffer, (&MADE, reason, parser), options);
        records.requests_total = Some(requests);
        Ok(records)
    }

    /// Reads a trace from any reader; `name` is for messages.
    ///
    /// # Errors
    /// As [`Records::open`].
    pub fn from_reader(name: &str, reader: impl Read + Send + 'static, options: &Options) -> Result<Self, TraceError> {
        Self::new(Input::new(name, Box::new(reader), None)?, options)
    }

    fn new(mut input: Input, options: &Options) -> Result<Self, TraceError> {
        options.check()?;
        let named = options.format.as_deref().map(by_name).transpose()?;
        let (name, compression) = (Arc::clone(&input.name), input.compression);
        let mut buffer = Buffer::new(std::mem::replace(&mut input.reader, Box::new(io::empty())));
        let head = buffer.peek().map_err(|error| broken(&name, compression, Place::Byte(0), error))?;
        if head.is_empty() {
            return Err(TraceError::Empty { name: name.to_string() });
        }
        let (format, reason) = match named {
            Some(format) => (format, "because you named it".to_owned()),
            None => detect(&name, head)?,
        };
        let parser = (format.parser)();
        if matches!(parser, Parser::Text(_)) && head.starts_with(b"\xEF\xBB\xBF") {
            let _byte_order_mark = buffer.record(3, "byte order mark");
        }
        Ok(Self::with(&input, buffer, (format, reason, parser), options))
    }

    fn with(
        input: &Input,
        buffer: Buffer,
        (format, reason, parser): (&'static Format, String, Parser),
        options: &Options,
    ) -> Self {
        let place = if matches!(parser, Parser::Text(_)) { Place::Line(0) } else { Place::Byte(0) };
        Self {
            name: Arc::clone(&input.name),
            format,
            reason,
            parser,
            buffer,
            compression: input.compression,
            taken: Arc::clone(&input.taken),
            total: input.total,
            requests_total: None,
            skip_bad: options.skip_bad.unwrap_or(0),
            place,
            done: false,
            requests: 0,
            other_rows: 0,
            bad_rows: 0,
            first_bad: None,
        }
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
    /// Where the last row was.
    pub fn place(&self) -> Place {
        self.place
    }
    /// Bytes read from the source so far (compressed, if it is).
    pub fn bytes_read(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
    /// Requests that there will be, if that is known before: of a generator.
    pub fn requests_total(&self) -> Option<u64> {
        self.requests_total
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
            Parser::Made(records) => Ok(records.next().map(Row::Request)),
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
