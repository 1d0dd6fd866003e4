//! Lines and fixed-size records out of a byte stream, with bounded memory and without copies.

use std::io::{self, Read};

use parquet::errors::ParquetError;

use crate::error::{BadRow, Problem};

/// Longest line that is read, in bytes.
pub const LINE_BYTES_MAX: usize = 64 << 10;
const CAPACITY: usize = 4 * LINE_BYTES_MAX;

/// Why the next row cannot be given.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The row is bad; the next one may be good.
    Bad(Box<BadRow>),
    /// The stream is broken.
    Io(io::Error),
    /// It is a Parquet file, but no trace: why.
    NoTrace(String),
    /// A Parquet file is damaged, or cannot be read.
    Columns(ParquetError),
    /// A Parquet file of ours does not hold what was written: what differs.
    Altered(String),
}

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        Self::Columns(error)
    }
}
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
impl From<Box<BadRow>> for Failure {
    fn from(bad: Box<BadRow>) -> Self {
        Self::Bad(bad)
    }
}

/// A window over the stream.
pub(crate) struct Buffer {
    reader: Box<dyn Read + Send>,
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes after `start` that hold no newline.
    scanned: usize,
    /// Stream offset of `bytes[start]`.
    offset: u64,
    eof: bool,
    /// The rest of a line that was too long is still to be dropped.
    dropping: bool,
    /// The last line had no line break.
    open_end: bool,
    /// What broke the stream behind the bytes that are here.
    broken: Option<io::Error>,
}

impl Buffer {
    pub(crate) fn new(reader: Box<dyn Read + Send>) -> Self {
        let bytes = vec![0; CAPACITY].into_boxed_slice();
        Self {
            reader,
            bytes,
            start: 0,
            end: 0,
            scanned: 0,
            offset: 0,
            eof: false,
            dropping: false,
            open_end: false,
            broken: None,
        }
    }

    /// Offset of the next byte in the (decompressed) stream.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The last line that was given ended with the stream and not with a line break.
    pub(crate) fn has_open_end(&self) -> bool {
        self.open_end
    }

    /// Up to [`LINE_BYTES_MAX`] bytes from here on, which stay in the stream. What breaks it behind them comes in its turn.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        while self.end - self.start < LINE_BYTES_MAX && !self.eof && self.broken.is_none() {
            match self.fill() {
                Err(error) if self.end > self.start => self.broken = Some(error),
                filled => filled?,
            }
        }
        Ok(&self.bytes[self.start..self.end.min(self.start + LINE_BYTES_MAX)])
    }

    /// What is here already of the stream from here on.
    pub(crate) fn window(&self) -> &[u8] {
        if self.dropping { &[] } else { &self.bytes[self.start..self.end] }
    }

    /// Passes over whole lines at the beginning of the window.
    pub(crate) fn skip(&mut self, n: usize) {
        assert!(n <= self.end - self.start, "only what is in the window can be passed over");
        if n > 0 {
            self.scanned = 0;
            self.advance(n);
        }
    }

    /// The next line without its line end (LF or CR LF), or `None` at the end.
    pub(crate) fn line(&mut self) -> Result<Option<&[u8]>, Failure> {
        loop {
            let from = self.start + self.scanned;
            let newline = memchr::memchr(b'\n', &self.bytes[from..self.end]);
            let length = newline.map_or(self.end - self.start, |n| self.scanned + n);
            let ended = newline.is_some() || self.eof;
            let step = length + usize::from(newline.is_some());
            if self.dropping {
                self.advance(step);
                self.dropping = !ended;
            } else if length > LINE_BYTES_MAX {
                let bad = BadRow::new(
                    "line",
                    &self.bytes[self.start..self.start + length],
                    Problem::TooLong,
                    format!("at most {LINE_BYTES_MAX} bytes"),
                );
                self.advance(step);
                self.scanned = 0;
                self.dropping = !ended;
                return Err(bad.into());
            } else if newline.is_some() || (self.eof && length > 0) {
                let start = self.start;
                self.advance(step);
                self.scanned = 0;
                self.open_end = newline.is_none();
                return Ok(Some(without_cr(&self.bytes[start..start + length])));
            } else if self.eof {
                return Ok(None);
            }
            if newline.is_none() && !self.eof {
                self.scanned = self.end - self.start;
                self.fill()?;
            } else {
                self.scanned = 0;
            }
        }
    }

    /// The next `n` (at most [`LINE_BYTES_MAX`]) bytes, or `None` at the end.
    ///
    /// # Errors
    /// The stream ends inside the record, or breaks.
    pub(crate) fn record(&mut self, n: usize, field: &'static str) -> Result<Option<&[u8]>, Failure> {
        assert!(n <= LINE_BYTES_MAX);
        while self.end - self.start < n && !self.eof {
            self.fill()?;
        }
        let have = self.end - self.start;
        if have == 0 && n > 0 {
            return Ok(None);
        }
        let start = self.start;
        self.advance(have.min(n));
        if have < n {
            let allowed = format!("a record of {n} bytes; here are {have}");
            return Err(BadRow::new(field, &[], Problem::CutOff, allowed).into());
        }
        Ok(Some(&self.bytes[start..start + n]))
    }

    #[inline]
    fn advance(&mut self, n: usize) {
        self.start += n;
        self.offset += n as u64;
    }

    /// What broke the stream while its beginning was looked at.
    pub(crate) fn take_broken(&mut self) -> Option<io::Error> {
        self.broken.take()
    }

    fn fill(&mut self) -> io::Result<()> {
        if let Some(error) = self.take_broken() {
            return Err(error);
        }
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.reader.read(&mut self.bytes[self.end..]) {
                Ok(n) => {
                    self.end += n;
                    self.eof = n == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

/// A line without the CR of its line end.
#[inline]
pub(crate) fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
