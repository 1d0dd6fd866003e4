//! The rows of a text trace: parsed many lines at a time, given one by one.

use crate::buffer::{Buffer, Failure, without_cr};
use crate::cursor::Parse;
use crate::event::Events;
use crate::options::Options;
use crate::provenance::About;
use crate::row::{Row, TraceRecord};
use crate::unit::TimeUnit;

/// Most requests parsed ahead: 14 KiB, so that they are still in the nearest cache when they are given.
const RUN: usize = 256;

/// Reads the rows of a text format; it may keep state between rows.
pub(crate) trait LineParser: Send {
    /// One line, without its line end and never blank.
    fn line(&mut self, line: &[u8]) -> Parse<Row>;
    /// Parses lines into requests, until there are `most`, no line is left, or one is not a request: then what it is.
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
    /// The unit is not a guess: the user or the file itself said it.
    fn time_is_told(&self) -> bool {
        false
    }
    /// Rows name objects whose places are open.
    fn has_objects(&self) -> bool {
        false
    }
}

/// A text trace.
///
/// Requests on lines that follow each other are parsed in one call, a run, out of what the buffer holds: nothing is read
/// for it. The line that ends a run because it is not a request is kept until its turn comes, and lines that only a
/// parser with a memory may see in their turn (comments) are not parsed ahead at all. So places, counts and errors are
/// those of a reader that goes line by line, however the bytes arrive.
pub(crate) struct Lines {
    pub(crate) parser: Box<dyn LineParser>,
    buffer: Buffer,
    run: Vec<TraceRecord>,
    /// Requests of the run that were given.
    given: usize,
    /// The line after the run, if it is not a request.
    after: Option<Parse<Row>>,
    run_max: usize,
    /// The last line given, counted from 1.
    number: u64,
    ended: bool,
    /// The last request is on a line without a line break.
    open_end: bool,
}

impl Lines {
    pub(crate) fn new(parser: Box<dyn LineParser>, buffer: Buffer) -> Self {
        let run = Vec::new();
        Self { parser, buffer, run, given: 0, after: None, run_max: RUN, number: 0, ended: false, open_end: false }
    }

    /// Parses no line before its turn, because what the parser learns it shares with other files.
    pub(crate) fn one_by_one(&mut self) {
        self.run_max = 1;
    }

    /// The last line given, counted from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
    /// The file ended with a request and without a line break.
    pub(crate) fn has_open_end(&self) -> bool {
        self.open_end
    }

    /// The next request that was parsed ahead.
    #[inline]
    pub(crate) fn ahead(&mut self) -> Option<TraceRecord> {
        let record = *self.run.get(self.given)?;
        self.given += 1;
        self.number += 1;
        Some(record)
    }

    /// The next row, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, Failure> {
        if self.given == self.run.len() && self.after.is_none() {
            self.parse();
        }
        if let Some(record) = self.ahead() {
            return Ok(Some(Row::Request(record)));
        }
        match self.after.take() {
            Some(after) => {
                self.number += 1;
                Ok(Some(after?))
            }
            None => self.line(),
        }
    }

    /// Parses the next run.
    fn parse(&mut self) {
        self.run.clear();
        self.given = 0;
        let mut lines = Ahead { text: self.buffer.window(), at: 0 };
        self.after = self.parser.run(&mut lines, &mut self.run, self.run_max);
        let parsed = lines.at;
        self.buffer.skip(parsed);
    }

    /// The row of a line that is not parsed ahead: one that is not in the buffer yet, is blank, a comment, too long, or
    /// has no end.
    fn line(&mut self) -> Result<Option<Row>, Failure> {
        if self.ended {
            return Ok(None);
        }
        let line = match self.buffer.line() {
            Ok(Some(line)) => line,
            Ok(None) => {
                self.ended = true;
                self.parser.end()?;
                return Ok(None);
            }
            Err(failure) => {
                self.number += u64::from(matches!(failure, Failure::Bad(_)));
                return Err(failure);
            }
        };
        self.number += 1;
        if line.trim_ascii().is_empty() {
            return Ok(Some(Row::Other));
        }
        let row = self.parser.line(line)?;
        self.open_end = matches!(row, Row::Request(_)) && self.buffer.has_open_end();
        Ok(Some(row))
    }
}

/// Complete lines that may be parsed ahead; it ends before the first that may not.
pub(crate) struct Ahead<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Ahead<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.text[self.at..];
        let length = memchr::memchr(b'\n', rest)?;
        let line = without_cr(&rest[..length]);
        let comment_or_blank = match line.first() {
            None | Some(b'#') => true,
            Some(first) => first.is_ascii_whitespace() && line.trim_ascii().is_empty(),
        };
        if comment_or_blank || length > crate::LINE_BYTES_MAX {
            return None;
        }
        self.at += length + 1;
        Some(line)
    }
}
