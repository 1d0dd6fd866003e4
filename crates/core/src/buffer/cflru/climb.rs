//! Hill climbing of CFLRU's window by what the buffer's reads and writes cost (ours: the rule of the original could not be
//! read).
//!
//! A period that cost more than the one before turns the direction; then the window moves by one step.

use super::Params;
use crate::buffer::BufferShape;
use crate::ledger::{Ledger, since};

/// Hill climbing of CFLRU's window: the step moves on while the cost of a period falls, and turns when it rises.
#[derive(Debug)]
pub(super) struct Climb {
    period: u32,
    step: Option<u32>,
    cost_read: f64,
    cost_write: f64,
    /// Page accesses of this period.
    accesses: u32,
    widens: bool,
    /// Cost of the period before.
    cost: f64,
    /// Pages read and written when the period began.
    start: [u64; 2],
}

impl Climb {
    /// Starts by widening the window.
    pub fn new(params: &Params, shape: &BufferShape) -> Self {
        let Params { period, step, cost_read, cost_write, .. } = *params;
        let cost_read = cost_read.unwrap_or(shape.times.read.0 as f64);
        let cost_write = cost_write.unwrap_or(shape.times.program.0 as f64);
        let cost = f64::INFINITY;
        Self { period, step, cost_read, cost_write, accesses: 0, widens: true, cost, start: [0; 2] }
    }
    /// Counts a page access; at the end of a period the pages by which the window of a buffer of `frames` grows.
    #[inline]
    pub fn count(&mut self, frames: u32, ledger: &Ledger) -> Option<i64> {
        self.accesses += 1;
        if self.accesses < self.period {
            return None;
        }
        self.accesses = 0;
        let now = [ledger.buffer_read_pages, ledger.buffer_write_pages];
        let [reads, writes] = since(now, self.start).map(|pages| pages as f64);
        let cost = self.cost_read * reads + self.cost_write * writes;
        self.widens ^= cost > self.cost;
        (self.cost, self.start) = (cost, now);
        let step = i64::from(self.step.unwrap_or((frames / 20).max(1)));
        Some(if self.widens { step } else { -step })
    }
}
