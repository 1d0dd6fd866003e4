//! Which free block is taken next: the allocation rules of all FTLs, one file and one line each.

use std::collections::VecDeque;

use crate::flash::Flash;
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
    /// Chooses among the free blocks, of which there is one at least: its place among them.
    pick: fn(&FreeBlocks<'_>) -> usize,
}

impl AllocRule {
    /// Place of the block that is taken of `free`, in the order in which they became free. It is one that is `wanted` (for
    /// example on a given die), or any if there is none.
    ///
    /// # Panics
    /// If no block is free.
    pub fn place(self, free: &VecDeque<Pbn>, flash: &Flash, wanted: &dyn Fn(Pbn) -> bool) -> usize {
        assert!(!free.is_empty(), "no free block: the reserve was used up");
        let any = !free.iter().any(|pbn| wanted(*pbn));
        (self.pick)(&FreeBlocks { free, flash, wanted, any })
    }
}

impl rules::Rule for AllocRule {
    const KIND: &'static str = "allocation";
    const ALL: &'static [Plugin<Self>] = ALLOCATIONS;
    const KEY: &'static str = "ftl.alloc";
    const CHOSEN_BY: &'static str = "all FTLs with blocks of their own";
}

/// An allocation rule, as a configuration names it.
pub type Alloc = Choice<AllocRule>;

/// The free blocks that may be taken, as an allocation rule sees them. There is one at least.
pub struct FreeBlocks<'a> {
    free: &'a VecDeque<Pbn>,
    flash: &'a Flash,
    wanted: &'a dyn Fn(Pbn) -> bool,
    /// No free block is wanted, so that any will do.
    any: bool,
}

impl FreeBlocks<'_> {
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.free.len()).filter(|place| self.any || (self.wanted)(self.free[*place]))
    }
    /// The block that has been free longest.
    pub fn longest_free(&self) -> usize {
        self.places().next().expect("one block at least may be taken")
    }
    /// The block with the least key, made of (number, erases); ties go to the one that has been free longest.
    pub fn least<K: Ord>(&self, key: impl Fn(Pbn, u32) -> K) -> usize {
        let key = |place: &usize| key(self.free[*place], self.flash.erase_count(self.free[*place]));
        self.places().min_by_key(key).expect("one block at least may be taken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Clock, ClockTimes, Geometry, Media, ProgramOrder, Ticket, TimingModel};
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
        let free: VecDeque<Pbn> = [1, 3, 2, 4, 0].map(Pbn).into();
        let taken = |rule: &str, wanted: &[u32]| {
            let place = Alloc::named(rule).rule().place(&free, &flash, &|pbn: Pbn| wanted.contains(&pbn.0));
            free[place].0
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
