//! Tools that change traces, request by request and with constant memory (except for `remap` of pages, which remembers
//! one number a page). What each does in detail is the text of its file.

use std::collections::BTreeMap;

use nandlab::registry::module_text;

pub use cut::Cut;
pub use filter::Filter;
pub use merge::Merge;
pub use remap::Remap;
pub use sample::{Sample, SampleBy};
pub use scale::{Ratio, Scale, Span};
pub use split::{Split, SplitBy};

use crate::error::TraceError;
use crate::records::Records;
use crate::row::{Extra, TraceRecord};
use crate::times::Timed;

macro_rules! tools {
    ($($name:ident,)+) => {
        $(mod $name;)+
        /// Every tool: its name and the text of its file.
        const SOURCES: &[(&str, &str)] = &[$((stringify!($name), include_str!(concat!(stringify!($name), ".rs")))),+];
    };
}

tools! {
    cut,
    sample,
    filter,
    scale,
    remap,
    merge,
    split,
}

/// What a user should know about a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToolInfo {
    /// Its name: `nandlab trace NAME`.
    pub name: &'static str,
    /// One line.
    pub title: String,
    /// What it does in detail.
    pub manual: String,
}

/// Every tool, with its manual.
pub fn trace_tools() -> Vec<ToolInfo> {
    let info = |(name, source): &(&'static str, &str)| {
        let text = module_text(source);
        let (first, manual) = text.split_once('\n').unwrap_or((&text, ""));
        let title = first.split_once(" - ").map_or(first, |(_, title)| title).to_owned();
        ToolInfo { name, title, manual: manual.trim().to_owned() }
    };
    SOURCES.iter().map(info).collect()
}

/// What a tool did, by kind.
pub type Counts = BTreeMap<String, u64>;

/// Whether a tool wants more requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// It does.
    More,
    /// What follows would be dropped: no need to read it.
    End,
}

/// Changes requests one by one.
pub trait Tool {
    /// Takes a request and adds to `out` what becomes of it: nothing, one request or several.
    ///
    /// # Errors
    /// The request cannot be changed as asked: why, and what to do.
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String>;
    /// What it did so far.
    fn counts(&self) -> Counts;
    /// What the requests carry after it that they need not have carried before.
    fn adds(&self) -> Extra {
        Extra::NONE
    }
}

/// The names and numbers of counts, without those that are zero.
fn counts<const N: usize>(pairs: [(&str, u64); N]) -> Counts {
    pairs.into_iter().filter(|(_, n)| *n > 0).map(|(name, n)| (name.to_owned(), n)).collect()
}

/// The requests that a tool makes of a trace. Ends after the first error.
pub struct Applied<T> {
    rows: Timed,
    tool: T,
    /// Requests that may still be read.
    left: u64,
    read: u64,
    written: u64,
    out: Vec<TraceRecord>,
    given: usize,
}

impl<T: Tool> Applied<T> {
    /// Applies a tool to the first `limit` requests, or to all.
    pub fn new(rows: Timed, tool: T, limit: Option<u64>) -> Self {
        let left = limit.unwrap_or(u64::MAX);
        Self { rows, tool, left, read: 0, written: 0, out: Vec::new(), given: 0 }
    }

    /// The trace that is read.
    pub fn records(&self) -> &Records {
        self.rows.records()
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        let mut all = self.tool.counts();
        let (times, seen) = (self.rows.counts(), self.records().seen());
        all.extend(counts([
            ("requests_read", self.read),
            ("requests_written", self.written),
            ("bad_rows_skipped", seen.bad_rows),
            ("files_without_last_line_break", seen.open_ends),
            ("clock_jumps_removed", times.clock_jumps),
            ("rows_late_for_sorting", times.late),
            ("gaps_shortened", times.gaps_capped),
            ("gaps_shortened_by_ns", times.gaps_capped_ns),
        ]));
        all
    }

    /// Text has the tables of its call stacks and files after its last row: whoever stops before it reads on to them.
    /// What is wrong with rows that nobody asked for is no matter.
    fn read_tables(&mut self) {
        if self.records().extra().origin && self.records().recording().is_empty() {
            while self.rows.next().is_some_and(|row| row.is_ok()) {}
        }
    }

    fn advance(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        while self.given == self.out.len() {
            self.out.clear();
            self.given = 0;
            if self.left == 0 {
                self.read_tables();
                return None;
            }
            let record = match self.rows.next()? {
                Ok(record) => record,
                Err(error) => return Some(Err(error)),
            };
            self.left -= 1;
            self.read += 1;
            match self.tool.feed(&record, &mut self.out) {
                Ok(Flow::More) => {}
                Ok(Flow::End) => self.left = 0,
                Err(problem) => {
                    let (name, place) = self.rows.whereabouts();
                    return Some(Err(TraceError::Tool { name, place, problem }));
                }
            }
        }
        self.given += 1;
        self.written += 1;
        Some(Ok(self.out[self.given - 1]))
    }
}

impl<T: Tool> Iterator for Applied<T> {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if matches!(next, Some(Err(_))) {
            self.out.clear();
            (self.left, self.given) = (0, 0);
        }
        next
    }
}

/// Leaves every request as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep;

impl Tool for Keep {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        out.push(*record);
        Ok(Flow::More)
    }
    fn counts(&self) -> Counts {
        Counts::new()
    }
}
