//! Times of a trace, corrected on request: clock jumps, disorder and long gaps. Nothing happens unless it is asked for,
//! and everything that happens is counted.
//!
//! The policies work in this order, each on what the one before leaves:
//!
//! 1. **rebase**: a row whose recorded time differs from that of the row before (in file order) by more than the bound, to
//!    either side, is a jump of the clock: logs put together, a restart, a clock that was set. It takes the time of the row
//!    before, and all rows after it are moved with it. Differences up to the bound stay, so that mere disorder is left to
//!    the sort. (A single row with a wild time makes two jumps, there and back, and harms nothing.)
//! 2. **sort window** of N rows: of the next N rows the earliest comes first; of equal times the first in file order. A
//!    row that should have come before one that is already delivered is late: it comes at once and keeps its time.
//! 3. **cap gap**: when a row comes later than the latest before it by more than the bound, it and all rows after it are
//!    moved forward so that the gap is the bound. A row that comes too late is moved as one of its time: inside a gap that was
//!    shortened, it keeps its distance from the end of the gap up to the bound.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nandlab::types::Nanos;

use crate::error::{Place, TraceError};
use crate::options::Options;
use crate::records::{Locus, Records};
use crate::row::TraceRecord;

/// A row that waits for its turn. The earliest is the greatest; of equal times the first in file order is.
struct Waiting {
    key: Reverse<(u64, u64)>,
    record: TraceRecord,
    locus: Locus,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// What was done to the times so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TimeCounts {
    /// Rows recorded earlier than the row before.
    pub out_of_order: u64,
    /// Clock jumps taken out.
    pub clock_jumps: u64,
    /// Rows that came too late for the window of the sort.
    pub late: u64,
    /// Gaps shortened.
    pub gaps_capped: u64,
    /// By how much in all, in ns.
    pub gaps_capped_ns: u64,
}

/// The rows of a trace after the time policies of its options.
pub struct Timed {
    records: Records,
    rebase_ns: Option<u64>,
    window: usize,
    cap_ns: Option<u64>,
    counts: TimeCounts,
    /// Recorded time of the row before, in file order.
    recorded_ns: Option<u64>,
    /// What rebasing adds to recorded times.
    shift_ns: i128,
    waiting: BinaryHeap<Waiting>,
    /// Rows read so far.
    read: u64,
    /// Latest time delivered, before gaps are shortened.
    latest_ns: Option<u64>,
    /// Beginning and end of the gaps that were shortened.
    gaps: Vec<(u64, u64)>,
    /// Of the last row, if rows are sorted.
    locus: Option<Locus>,
    /// An error, once the rows before it are delivered.
    error: Option<TraceError>,
}

impl Timed {
    /// Applies the time policies of the options to the rows of a trace.
    pub fn new(records: Records, options: &Options) -> Self {
        Self {
            records,
            rebase_ns: options.rebase.map(|bound| bound.0),
            window: options.sort_window.unwrap_or(0) as usize,
            cap_ns: options.cap_gap.map(|bound| bound.0),
            counts: TimeCounts::default(),
            recorded_ns: None,
            shift_ns: 0,
            waiting: BinaryHeap::new(),
            read: 0,
            latest_ns: None,
            gaps: Vec::new(),
            locus: None,
            error: None,
        }
    }

    /// The rows below.
    pub fn records(&self) -> &Records {
        &self.records
    }
    /// What was done to the times so far.
    pub fn counts(&self) -> TimeCounts {
        self.counts
    }
    /// The file of the last row, as it is shown, and the place in it.
    pub fn whereabouts(&self) -> (String, Place) {
        let locus = self.locus();
        (self.records.file_of(locus).to_owned(), locus.place)
    }
    /// File and place of the last row.
    pub(crate) fn locus(&self) -> Locus {
        self.locus.unwrap_or_else(|| self.records.locus())
    }

    /// The next row, rebased.
    #[inline]
    fn read(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        let mut next = self.records.next();
        if let Some(Ok(record)) = &mut next {
            let now = record.at.0;
            let before = self.recorded_ns.replace(now).unwrap_or(now);
            self.counts.out_of_order += u64::from(now < before);
            if let Some(bound) = self.rebase_ns {
                if now.abs_diff(before) > bound {
                    self.counts.clock_jumps += 1;
                    self.shift_ns += i128::from(before) - i128::from(now);
                }
                // Small steps back after a jump may lead below zero.
                record.at = Nanos((i128::from(now) + self.shift_ns).clamp(0, i128::from(u64::MAX)) as u64);
            }
        }
        next
    }

    fn sorted(&mut self) -> Option<Result<TraceRecord, TraceError>> {
        while self.waiting.len() < self.window && self.error.is_none() {
            match self.read() {
                Some(Ok(record)) => {
                    let locus = self.records.locus();
                    self.waiting.push(Waiting { key: Reverse((record.at.0, self.read)), record, locus });
                    self.read += 1;
                }
                Some(Err(error)) => self.error = Some(error),
                None => break,
            }
        }
        let Some(first) = self.waiting.pop() else {
            self.locus = None;
            return self.error.take().map(Err);
        };
        self.counts.late += u64::from(self.latest_ns.is_some_and(|latest| first.record.at.0 < latest));
        self.locus = Some(first.locus);
        Some(Ok(first.record))
    }

    #[inline]
    fn cap(&mut self, record: &mut TraceRecord) {
        let now = record.at.0;
        let latest = self.latest_ns.unwrap_or(now);
        self.latest_ns = Some(latest.max(now));
        if let Some(bound) = self.cap_ns {
            if now > latest && now - latest > bound {
                self.counts.gaps_capped += 1;
                self.counts.gaps_capped_ns += now - latest - bound;
                self.gaps.push((latest, now));
            }
            // A row that should have come earlier is not moved for gaps that end after it.
            let after = self.gaps.iter().rev().take_while(|(_, end)| now < *end);
            let not_yet: u64 =
                after.map(|(begin, end)| (end - begin - bound).saturating_sub(now.saturating_sub(*begin))).sum();
            record.at = Nanos(now - (self.counts.gaps_capped_ns - not_yet));
        }
    }
}

impl Iterator for Timed {
    type Item = Result<TraceRecord, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut next = if self.window > 0 { self.sorted() } else { self.read() };
        if let Some(Ok(record)) = &mut next {
            self.cap(record);
        }
        next
    }
}
