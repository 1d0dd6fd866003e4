//! model - By HitStat's model, from what merges cost lately; never on an FTL without log blocks
//!
//! # Source
//! HitStat, equations 3 to 5: the manual page of the buffer `hitstat` names the thesis.
//!
//! # What it does
//! Pages of a block that are written back either replace the whole block, padded, or fill a part of a log block and cost
//! their share of its merge later. `B_w` is the number of pages for which both cost the same. It follows three averages
//! over the last merges of the FTL (64, or `pad_window` of `hitstat`); reads cost nothing.
//!
//! # Deviations and chosen readings
//! - A merge counts if it frees log blocks to which pages are appended as they come: chains of BAST, RW blocks of FAST, not
//!   its SW block.
//! - A padded block that frees a chain counts as a full merge of that chain with the unpadded pages logged (HitStat 3.5); its
//!   log blocks are those of the chain so extended.

use std::collections::VecDeque;

use super::{Follow, PaddingRule, Start};
use crate::buffer::BufferShape;
use crate::ledger::{Ledger, MergeKind, since};

pub(super) const RULE: PaddingRule = PaddingRule {
    start: |setting| match Model::new(setting.window, setting.shape) {
        Some(model) => Start { share: model.start(), follows: Some(Box::new(model)) },
        None => Start::fixed(1.0),
    },
    ..super::FIXED
};

/// Averages over merges that the model needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MergeCost {
    /// Data blocks reclaimed per merge, `R_DB`.
    pub data_blocks: f64,
    /// Log blocks reclaimed per merge, `R_LB`.
    pub log_blocks: f64,
    /// Share of the pages of those log blocks that were programmed, `U_LB`.
    pub log_use: f64,
}

/// `B_w` in pages (equation 3): padding a block costs no more than logging it from this many of its pages on. `erase` and
/// `program` are times in any one unit.
pub fn break_even_pages(cost: MergeCost, pages_per_block: u32, erase: f64, program: f64) -> f64 {
    let MergeCost { data_blocks, log_blocks, log_use } = cost;
    let whole_block = f64::from(pages_per_block) * program;
    let merge = (log_blocks + data_blocks) * erase + (log_blocks * log_use + data_blocks) * whole_block;
    log_blocks * f64::from(pages_per_block) * log_use * (erase + whole_block) / merge
}

/// Measured averages with what is known beforehand in their place: equations 4 and 5, else 3 with every average measured.
const fn corrected(merges: MergeKind, measured: MergeCost) -> MergeCost {
    match merges {
        MergeKind::OneDataBlock => MergeCost { data_blocks: 1.0, ..measured },
        MergeKind::OneFullLogBlock => MergeCost { log_blocks: 1.0, log_use: 1.0, ..measured },
        MergeKind::Measured => measured,
    }
}

/// Merges, log blocks, data blocks, pages of log blocks counted so far.
type Seen = [u64; 4];

fn seen(ledger: &Ledger) -> Seen {
    [ledger.padding_merges, ledger.padding_log_blocks, ledger.padding_data_blocks, ledger.padding_log_pages]
}

/// The model at work on one device.
#[derive(Clone, Debug)]
pub(super) struct Model {
    merges: MergeKind,
    pages_per_block: u32,
    erase_us: f64,
    program_us: f64,
    /// Merges that the averages cover.
    window: u64,
    /// What was seen after each of the last merges, oldest first; the first entry is where the window starts.
    looks: VecDeque<Seen>,
}

impl Model {
    /// The model over `window` merges, or `None` where the FTL has none to model.
    pub fn new(window: u32, shape: &BufferShape) -> Option<Self> {
        let merges = shape.merges?;
        Some(Self {
            merges,
            pages_per_block: shape.pages_per_block,
            erase_us: shape.times.erase.as_us(),
            program_us: shape.times.program.as_us(),
            window: u64::from(window),
            looks: VecDeque::new(),
        })
    }
    /// `B_w` before the first merge, as a share of a block (thesis).
    pub const fn start(&self) -> f64 {
        if matches!(self.merges, MergeKind::OneFullLogBlock) { 0.33 } else { 1.0 }
    }
}

impl Follow for Model {
    /// `B_w` in pages after the merges so far, or `None` if none came since the last look.
    fn look(&mut self, ledger: &Ledger) -> Option<f64> {
        let now = seen(ledger);
        let last = self.looks.back().copied().unwrap_or_default();
        if now[0] == last[0] {
            return None;
        }
        if self.looks.is_empty() {
            self.looks.push_back(Seen::default());
        }
        self.looks.push_back(now);
        while self.looks.len() > 2 && now[0] - self.looks[1][0] >= self.window {
            self.looks.pop_front();
        }
        let [merges, log_blocks, data_blocks, log_pages] = since(now, self.looks[0]).map(|count| count as f64);
        if merges == 0.0 || log_blocks == 0.0 {
            return None;
        }
        let cost = corrected(
            self.merges,
            MergeCost {
                data_blocks: data_blocks / merges,
                log_blocks: log_blocks / merges,
                log_use: log_pages / (log_blocks * f64::from(self.pages_per_block)),
            },
        );
        Some(break_even_pages(cost, self.pages_per_block, self.erase_us, self.program_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::tools::padding::tests::shape;

    fn merge(ledger: &mut Ledger, data_blocks: u64) {
        ledger.padding_merges += 1;
        ledger.padding_log_blocks += 1;
        ledger.padding_data_blocks += data_blocks;
        ledger.padding_log_pages += 8;
    }

    #[test]
    fn average_covers_the_last_merges_only() {
        let mut model = Model::new(4, &shape(Some(MergeKind::OneFullLogBlock))).unwrap();
        let mut ledger = Ledger::default();
        assert_eq!(model.look(&ledger), None);
        for (data_blocks, mean) in
            [(1, 1.0), (1, 1.0), (3, 5.0 / 3.0), (7, 3.0), (1, 3.0), (1, 3.0), (1, 2.5), (1, 1.0)]
        {
            merge(&mut ledger, data_blocks);
            let threshold = model.look(&ledger).unwrap();
            assert!((threshold - 8.0 / (mean + 1.0)).abs() < 1e-9, "{data_blocks}");
            assert_eq!(model.look(&ledger), None);
        }
    }

    #[test]
    fn model_starts_from_what_is_known_about_merges() {
        let start = |merges| Model::new(4, &shape(merges)).map(|model| model.start());
        let known = [MergeKind::OneDataBlock, MergeKind::OneFullLogBlock, MergeKind::Measured];
        assert_eq!(known.map(|merges| start(Some(merges))), [Some(1.0), Some(0.33), Some(1.0)]);
        assert_eq!(start(None), None);
    }
}
