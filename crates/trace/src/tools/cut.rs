//! cut - A window of a trace, by time or by number
//!
//! Times count from the first request of the trace. Requests are in the window if `from <= time < to`; of those the
//! first `skip` are dropped and at most `take` follow. Rows that are recorded out of order are judged by their own times.

use super::{Counts, Flow, Tool, counts};
use crate::row::TraceRecord;

/// The `cut` tool: keeps a window of a trace, by time (ns) or by number of requests.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Beginning of the window in ns from the first request.
    pub from_ns: u64,
    /// End of the window (not in it) in ns from the first request.
    pub to_ns: Option<u64>,
    /// Requests of the window to drop.
    pub skip: u64,
    /// Requests to keep at most.
    pub take: Option<u64>,
    origin_ns: Option<u64>,
    outside: u64,
    seen: u64,
}

impl Cut {
    /// A window.
    pub fn new(from_ns: u64, to_ns: Option<u64>, skip: u64, take: Option<u64>) -> Self {
        Self { from_ns, to_ns, skip, take, origin_ns: None, outside: 0, seen: 0 }
    }
}

impl Tool for Cut {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        let now = record.at.0;
        let origin = *self.origin_ns.get_or_insert(now);
        // A row before the first request lies before every window.
        let inside = now.checked_sub(origin).is_some_and(|t| t >= self.from_ns && self.to_ns.is_none_or(|to| t < to));
        if !inside {
            self.outside += 1;
            return Ok(Flow::More);
        }
        self.seen += 1;
        if self.seen <= self.skip {
            return Ok(Flow::More);
        }
        let kept = self.seen - self.skip;
        if self.take.is_none_or(|take| kept <= take) {
            out.push(*record);
        }
        Ok(if self.take.is_some_and(|take| kept >= take) { Flow::End } else { Flow::More })
    }

    fn counts(&self) -> Counts {
        counts([("outside_window", self.outside), ("skipped", self.seen.min(self.skip))])
    }
}
