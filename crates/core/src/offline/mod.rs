//! What a buffer could reach at best, if it knew the future.
//!
//! A [`History`] is the sequence of page accesses that buffers see. [`belady`] is the exact optimum of hits; [`Segments`]
//! gives a lower bound of what any buffer pays for read misses and write-backs, and [`schedule`] a sequence of decisions
//! that comes close to it. [`LruCurve`] is what LRU does at every size, from one pass. The definitions, the proof that the
//! bound is one, and what it leaves out are in docs/bounds.md.

mod cache;
mod curve;
mod history;
mod min;
mod order;
mod prices;
mod schedule;
mod segments;

use serde::Serialize;

use crate::ledger::Ledger;
pub use curve::LruCurve;
pub use history::{EVENTS_MAX, History, HistoryError};
pub use min::belady;
pub use prices::{LowerBound, ROUNDS, lower_bound};
pub use schedule::schedule;
pub use segments::Segments;

/// Greatest cost of a page read or a page write.
pub const COST_MAX: u64 = 1_000_000;

/// What a buffer pays, in whole units of whatever kind; at most [`COST_MAX`] each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Costs {
    /// Of a page read from flash.
    pub read: u64,
    /// Of a page written to flash.
    pub write: u64,
}

/// What a buffer did for a sequence of page accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct AccessCounts {
    /// Page reads of the host.
    pub reads: u64,
    /// Page writes of the host.
    pub writes: u64,
    /// Reads that found their page.
    pub read_hits: u64,
    /// Writes that found their page.
    pub write_hits: u64,
    /// Pages read from flash: read misses and what was prefetched. A write that misses reads nothing.
    pub pages_in: u64,
    /// Pages written to flash: write-backs, writes that bypassed the buffer, and the pages that are dirty at the end.
    pub pages_out: u64,
}

impl AccessCounts {
    /// The same of an online policy, in a device or without one; `dirty` pages are in the buffer at the end. Pages that
    /// padding adds, and reads that complete partly written pages, are not counted.
    pub const fn of(ledger: &Ledger, dirty: u64) -> Self {
        Self {
            reads: ledger.host_page_reads,
            writes: ledger.host_page_writes,
            read_hits: ledger.buffer_read_hits,
            write_hits: ledger.buffer_write_hits,
            pages_in: ledger.host_page_reads - ledger.buffer_read_hits + ledger.prefetched_pages,
            pages_out: ledger.buffer_write_pages - ledger.padded_pages + dirty,
        }
    }
    /// Accesses that found their page.
    pub const fn hits(&self) -> u64 {
        self.read_hits + self.write_hits
    }
    /// Hits / accesses, 0 to 1; 0 without accesses.
    pub fn hit_ratio(&self) -> f64 {
        crate::ledger::ratio(self.hits(), self.reads + self.writes)
    }
    /// `read` x pages in + `write` x pages out.
    pub const fn cost(&self, costs: Costs) -> u64 {
        costs.read * self.pages_in + costs.write * self.pages_out
    }
}
