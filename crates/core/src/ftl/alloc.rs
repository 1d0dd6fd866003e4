//! Which free block is taken next: the allocation rules of all FTLs, one file and one line each.

use crate::registry::Plugin;
use crate::registry::rules::{self, Choice, rules};
use crate::types::Pbn;

rules! {
    /// All allocation rules; the first is the default.
    ALLOCATIONS: AllocRule, "alloc";
    fifo,
    min_erase,
}

/// An allocation rule: which free block is taken.
#[derive(Clone, Copy, Debug)]
pub struct AllocRule {
    /// Rank of a free block, of its number and of how often it was erased: the block with the least one is taken, of equals the
    /// one that has been free longest.
    pub rank: fn(Pbn, u32) -> u64,
}

impl rules::Rule for AllocRule {
    const KIND: &'static str = "allocation";
    const ALL: &'static [Plugin<Self>] = ALLOCATIONS;
    const KEY: &'static str = "ftl.alloc";
    const CHOSEN_BY: &'static str = "all FTLs with blocks of their own";
}

/// An allocation rule, as a configuration names it.
pub type Alloc = Choice<AllocRule>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel};
    use crate::ftl::blocks::pool::Pool;
    use crate::ftl::victim::Victim;
    use crate::ledger::{BlockKind, Cause};
    use crate::types::Nanos;

    #[test]
    fn rule_takes_a_wanted_block_if_there_is_one() {
        let clock = Clock::new(TimingModel::named("serial"), ClockTimes::cells(Nanos(1), Nanos(1), Nanos(1)), 1, 1);
        let mut flash = Flash::new(Geometry::single_die(5, 4, 512), ProgramOrder::Strict, Media::None, clock);
        // Erases by block: 0, 2, 1, 1, 0.
        for block in [1, 1, 2, 3] {
            flash.erase(Pbn(block), BlockKind::Data, Cause::Gc, Ticket::at(Nanos(0)));
        }
        let taken = |rule: &str, wanted: &[u32]| {
            let mut pool = Pool::new(0, 1, 5, Alloc::named(rule), Victim::named("fifo"), 0);
            (0..5).for_each(|_| _ = pool.take());
            for block in [1, 3, 2, 4, 0] {
                pool.give_back(&flash, Pbn(block));
            }
            pool.take_near(|pbn| wanted.contains(&pbn.0)).0
        };
        let all = [0, 1, 2, 3, 4];
        for (rule, wanted, block) in [
            ("fifo", &all[..], 1),
            ("fifo", &[4, 2], 2),
            ("fifo", &[], 1),
            ("min_erase", &all, 0),
            ("min_erase", &[1, 2, 3], 2),
            ("min_erase", &[1], 1),
            ("min_erase", &[], 0),
        ] {
            assert_eq!(taken(rule, wanted), block, "{rule} of {wanted:?}");
        }
    }
}
