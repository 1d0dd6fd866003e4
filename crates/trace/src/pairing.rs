//! Logs with several events a request: its completion may come many rows later, in the log of another processor. Rows wait
//! until they are complete, so that each carries the latency of the recorded device, from issue to completion.

use std::collections::{BTreeSet, VecDeque};

use crate::row::TraceRecord;
use nandlab::types::HostOp;

/// In place of a latency: this row says that a request was issued to the driver, and is no request itself.
pub(crate) const ISSUED: u64 = u64::MAX - 1;
/// The same: that a request, or a part of it, was completed.
pub(crate) const COMPLETED: u64 = u64::MAX;

/// Rows that wait at most: when there are more, the first one goes on without a latency. About 8 MiB.
const WAITING_MAX: usize = 1 << 16;

/// What was found, besides requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PairCounts {
    /// Rows that were no requests.
    pub(crate) marks: u64,
    /// Completions among them.
    pub(crate) completions: u64,
    /// Completions that belong to no request that was read.
    pub(crate) without_request: u64,
    /// Requests that went on without their completion.
    pub(crate) without_completion: u64,
}

/// A request that waits for its completion.
struct Waiting<L> {
    record: TraceRecord,
    /// Where it was read.
    locus: L,
    /// When it, or the first part of it, was issued, ns.
    issued: Option<u64>,
    /// Bytes that are not completed yet.
    left: u64,
    complete: bool,
}

/// The requests from the oldest that is not complete on. Memory is what is in flight and what came after the oldest of it.
pub(crate) struct Pairing<L> {
    rows: VecDeque<Waiting<L>>,
    /// Rows that left.
    gone: u64,
    /// Device, first byte and number of the rows that are not complete.
    open: BTreeSet<(u32, u64, u64)>,
    /// Bytes of the largest request so far.
    largest: u64,
    counts: PairCounts,
}

impl<L> Default for Pairing<L> {
    fn default() -> Self {
        let (rows, open, counts) = (VecDeque::new(), BTreeSet::new(), PairCounts::default());
        Self { rows, gone: 0, open, largest: 0, counts }
    }
}

impl<L> Pairing<L> {
    pub(crate) fn counts(&self) -> PairCounts {
        self.counts
    }

    /// Takes the next row; `issues`: a request is read at its issue, and needs no other row to tell it.
    pub(crate) fn take(&mut self, record: TraceRecord, locus: L, issues: bool) {
        match record.latency_ns {
            ISSUED => {
                self.counts.marks += 1;
                self.match_mark(&record, Self::issue);
            }
            COMPLETED => {
                self.counts.marks += 1;
                self.counts.completions += 1;
                let found = self.match_mark(&record, Self::complete);
                self.counts.without_request += u64::from(!found);
            }
            _ => {
                let left = u64::from(record.length);
                self.largest = self.largest.max(left);
                self.open.insert((record.device, record.offset, self.gone + self.rows.len() as u64));
                let issued = issues.then_some(record.at.0);
                self.rows.push_back(Waiting { record, locus, issued, left, complete: false });
            }
        }
    }

    /// The oldest request, if it is complete, or waits for too long, or nothing more comes (`ended`).
    pub(crate) fn next(&mut self, ended: bool) -> Option<(TraceRecord, L)> {
        let first = self.rows.front()?;
        if !(first.complete || ended || self.rows.len() > WAITING_MAX) {
            return None;
        }
        let Waiting { record, locus, complete, .. } = self.rows.pop_front()?;
        if !complete {
            self.counts.without_completion += 1;
            self.open.remove(&(record.device, record.offset, self.gone));
        }
        self.gone += 1;
        Some((record, locus))
    }

    /// Applies a mark to the oldest row of the same range, or else to all that share bytes with it: requests that were
    /// merged, or a request that was split. False if there is none.
    fn match_mark(&mut self, mark: &TraceRecord, apply: fn(&mut Waiting<L>, &TraceRecord) -> bool) -> bool {
        let (first, end) = (mark.offset, mark.offset + u64::from(mark.length));
        let from = (mark.device, first.saturating_sub(self.largest), 0);
        let candidates = self.open.range(from..=(mark.device, end, u64::MAX)).copied();
        let is_same = |row: &TraceRecord| row.offset == first && row.length == mark.length;
        let shares = |row: &TraceRecord| row.offset < end && first < row.offset + u64::from(row.length);
        let (mut same, mut sharing) = (None, Vec::new());
        for (_, _, number) in candidates {
            let row = &self.rows[(number - self.gone) as usize].record;
            if row.op != mark.op {
                continue;
            }
            if is_same(row) {
                same = Some(same.map_or(number, |oldest: u64| oldest.min(number)));
                sharing.push(number);
            } else if mark.op != HostOp::Flush && shares(row) {
                sharing.push(number);
            }
        }
        sharing.sort_unstable_by_key(|number| (Some(*number) != same, *number));
        let mut found = false;
        for number in sharing {
            let row = &mut self.rows[(number - self.gone) as usize];
            let exact = is_same(&row.record);
            if (found && exact) || !apply(row, mark) {
                continue;
            }
            found = true;
            if row.complete {
                self.open.remove(&(row.record.device, row.record.offset, number));
            }
            if exact {
                break;
            }
        }
        found
    }

    fn issue(row: &mut Waiting<L>, mark: &TraceRecord) -> bool {
        let is_first = row.issued.is_none();
        row.issued = row.issued.or(Some(mark.at.0));
        is_first
    }

    fn complete(row: &mut Waiting<L>, mark: &TraceRecord) -> bool {
        // A completion before the issue belongs to another request: logs put together, or a request issued before the log.
        let Some(issued) = row.issued.filter(|issued| *issued <= mark.at.0) else { return false };
        let end = |record: &TraceRecord| record.offset + u64::from(record.length);
        let shared = end(&row.record).min(end(mark)).saturating_sub(row.record.offset.max(mark.offset));
        row.left = row.left.saturating_sub(shared);
        if row.left == 0 {
            row.complete = true;
            row.record.latency_ns = mark.at.0 - issued;
        }
        true
    }
}
