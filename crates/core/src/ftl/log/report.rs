//! Merges as the FTLs with log blocks report them, and all that is counted of each.
//!
//! An FTL says what happened, in facts ([`Merge`]). Every count of merges follows from them here, those of HitStat's padding
//! model too: an FTL that reports its merges gets the model right and knows nothing of it.

use crate::flash::Flash;
use crate::ledger::Ledger;

/// What happened in a merge.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Merge {
    /// A log block that holds a whole logical block in order became its data block as it was.
    Switch,
    /// A whole logical block came from the buffer and went to a fresh block, which became its data block.
    Bypass {
        /// Pages of it that the buffer wrote back without padding.
        unpadded: u32,
        /// Log blocks of this logical block, which were freed.
        log: Reclaimed,
    },
    /// A log block that holds the first pages of a logical block in order was completed and became its data block.
    Partial,
    /// Valid pages were copied out of log blocks, which were freed.
    Full {
        /// Logical blocks that were rewritten, each into a fresh data block.
        data_blocks: u32,
        /// The log blocks.
        log: Reclaimed,
    },
    /// A log block without a valid page was erased.
    Dead,
    /// A data block was rewritten where there is no log.
    Replace,
}

/// Log blocks that a merge freed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reclaimed {
    /// In which order their pages stand.
    pub order: LogOrder,
    /// How many.
    pub blocks: u32,
    /// Pages programmed in them.
    pub pages: u32,
}

impl Reclaimed {
    /// No log block.
    pub const NONE: Self = Self { order: LogOrder::Arrival, blocks: 0, pages: 0 };
}

/// In which order the pages of a log block stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogOrder {
    /// Appended as they come, whatever their offsets are.
    Arrival,
    /// Offsets 0, 1, 2, ... of one logical block: a page that does not fit goes elsewhere.
    Offset,
}

/// Counts a merge.
pub(crate) fn merged(flash: &mut Flash, merge: Merge) {
    let pages_per_block = flash.geometry().pages_per_block;
    let ledger = &mut flash.ledger;
    match merge {
        Merge::Switch => ledger.merges_switch += 1,
        Merge::Bypass { unpadded, log } => {
            ledger.merges_switch += 1;
            if log.blocks > 0 {
                // HitStat 3.5: as if the unpadded pages had been logged too, and all of that merged in full.
                let pages = log.pages + unpadded;
                model(ledger, 1, Reclaimed { blocks: pages.div_ceil(pages_per_block), pages, ..log });
            }
        }
        Merge::Partial => ledger.merges_partial += 1,
        Merge::Full { data_blocks, log } => {
            ledger.merges_full += 1;
            ledger.merges_full_lbns += u64::from(data_blocks);
            ledger.merges_full_log_blocks += u64::from(log.blocks);
            ledger.merges_full_log_pages += u64::from(log.pages);
            model(ledger, data_blocks, log);
        }
        Merge::Dead => ledger.merges_dead += 1,
        Merge::Replace => ledger.merges_replace += 1,
    }
}

/// HitStat's padding model: what it costs to merge a page that was logged instead of padded with its block. Such a page goes
/// where pages are appended as they come; a merge that freed no such block says nothing of it.
fn model(ledger: &mut Ledger, data_blocks: u32, log: Reclaimed) {
    if log.blocks == 0 || log.order == LogOrder::Offset {
        return;
    }
    ledger.padding_merges += 1;
    ledger.padding_log_blocks += u64::from(log.blocks);
    ledger.padding_data_blocks += u64::from(data_blocks);
    ledger.padding_log_pages += u64::from(log.pages);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Clock, ClockTimes, Geometry, Media, ProgramOrder, TimingModel};
    use crate::types::Nanos;

    /// What is counted of a merge on blocks of 4 pages: the padding model's merges, log blocks, data blocks and log pages, and
    /// switch, partial, full, dead merges and replacements.
    fn counted(merge: Merge) -> ([u64; 4], [u64; 5]) {
        let clock = Clock::new(TimingModel::named("serial"), ClockTimes::cells(Nanos(1), Nanos(1), Nanos(1)), 1, 1);
        let mut flash = Flash::new(Geometry::single_die(4, 4, 512), ProgramOrder::Ascending, Media::None, clock);
        merged(&mut flash, merge);
        let l = &flash.ledger;
        let model = [l.padding_merges, l.padding_log_blocks, l.padding_data_blocks, l.padding_log_pages];
        (model, [l.merges_switch, l.merges_partial, l.merges_full, l.merges_dead, l.merges_replace])
    }

    #[test]
    fn padding_model_counts_what_frees_appended_log_blocks() {
        let log = |order, blocks, pages| Reclaimed { order, blocks, pages };
        for (merge, model, merges) in [
            (Merge::Switch, [0; 4], [1, 0, 0, 0, 0]),
            (Merge::Partial, [0; 4], [0, 1, 0, 0, 0]),
            (Merge::Full { data_blocks: 3, log: log(LogOrder::Arrival, 1, 4) }, [1, 1, 3, 4], [0, 0, 1, 0, 0]),
            (Merge::Full { data_blocks: 1, log: log(LogOrder::Offset, 1, 4) }, [0; 4], [0, 0, 1, 0, 0]),
            (Merge::Full { data_blocks: 0, log: Reclaimed::NONE }, [0; 4], [0, 0, 1, 0, 0]),
            (Merge::Bypass { unpadded: 2, log: log(LogOrder::Arrival, 2, 6) }, [1, 2, 1, 8], [1, 0, 0, 0, 0]),
            (Merge::Bypass { unpadded: 3, log: log(LogOrder::Arrival, 2, 6) }, [1, 3, 1, 9], [1, 0, 0, 0, 0]),
            (Merge::Bypass { unpadded: 3, log: log(LogOrder::Offset, 1, 2) }, [0; 4], [1, 0, 0, 0, 0]),
            (Merge::Bypass { unpadded: 3, log: Reclaimed::NONE }, [0; 4], [1, 0, 0, 0, 0]),
            (Merge::Dead, [0; 4], [0, 0, 0, 1, 0]),
            (Merge::Replace, [0; 4], [0, 0, 0, 0, 1]),
        ] {
            assert_eq!(counted(merge), (model, merges), "{merge:?}");
        }
    }
}
