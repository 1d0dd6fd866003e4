//! AALRU's threshold of padding: equations 4 and 6 of its paper.
//!
//! The more the FTL writes on its own account, the more it pays to hand it whole blocks: the write amplification `Wf` of
//! a period sets the number of pages `Th` from which on a block is padded.

use serde::{Deserialize, Serialize};

use super::Follow;
use crate::ledger::{Ledger, since};

/// AALRU's line from the write amplification `Wf` to its threshold `Th`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThLine {
    /// Equation 6 as printed.
    #[default]
    Eq6,
    /// The line through (1, B) and (beta, 0).
    Continuous,
}

impl ThLine {
    /// Th in pages of a block of `pages_per_block`.
    pub fn th(self, wf: f64, beta: f64, pages_per_block: u32) -> f64 {
        let whole = f64::from(pages_per_block);
        match self {
            _ if wf <= 1.0 => whole,
            _ if wf >= beta => 0.0,
            Self::Eq6 => whole - whole / beta * wf,
            Self::Continuous => whole * (beta - wf) / (beta - 1.0),
        }
    }
}

/// `Wf` (equation 4) from the pages that the FTL programmed on its own account, `GC_w`, and those it programmed for the
/// buffer, `Bf_w`; `None` without any of the buffer.
pub fn write_amplification(gc: u64, buffer: u64) -> Option<f64> {
    (buffer > 0).then(|| (gc + buffer) as f64 / buffer as f64)
}

/// The threshold for policies other than AALRU, followed from one eviction to the next with the paper's constants.
#[derive(Clone, Debug)]
pub(super) struct Amplification {
    pages_per_block: u32,
    /// Page accesses, `GC_w`, `Bf_w` when the period began.
    start: [u64; 3],
}

impl Amplification {
    /// AALRU's T, page accesses; a period ends with the first eviction after them.
    const PERIOD: u64 = 8192;
    /// AALRU's beta.
    const BETA: f64 = 5.0;

    pub const fn new(pages_per_block: u32) -> Self {
        Self { pages_per_block, start: [0; 3] }
    }
}

impl Follow for Amplification {
    /// Th in pages if a period is over.
    fn look(&mut self, ledger: &Ledger) -> Option<f64> {
        let accesses = ledger.host_page_reads + ledger.host_page_writes;
        if accesses < self.start[0] + Self::PERIOD {
            return None;
        }
        let now = [accesses, ledger.programs_from_below(), ledger.programs_from_above()];
        let [_, gc, buffer] = since(now, self.start);
        self.start = now;
        write_amplification(gc, buffer).map(|wf| ThLine::Eq6.th(wf, Self::BETA, self.pages_per_block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::{Cause, Op};

    #[test]
    fn threshold_follows_the_previous_period() {
        let mut follows = Amplification::new(100);
        let mut ledger = Ledger::default();
        assert_eq!(follows.look(&ledger), None);
        for (gc, th) in [(0, 100.0), (100, 60.0), (300, 20.0), (400, 0.0), (0, 100.0)] {
            ledger.host_page_writes += Amplification::PERIOD - 1;
            assert_eq!(follows.look(&ledger), None, "the period is not over");
            ledger.host_page_reads += 1;
            (0..gc).for_each(|_| ledger.add(Op::Program, Cause::Gc, 1));
            (0..100).for_each(|_| ledger.add(Op::Program, Cause::Host, 1));
            assert_eq!(follows.look(&ledger), Some(th), "{gc} programs below");
        }
        ledger.host_page_writes += Amplification::PERIOD;
        assert_eq!(follows.look(&ledger), None, "nothing was written");
    }
}
