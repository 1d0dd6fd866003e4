//! A fully associative log: pages of any logical block share its blocks (FAST's random-write log; a partition of LAST's).

use std::collections::VecDeque;

use crate::flash::{Flash, Ticket};
use crate::ftl::PageWrite;
use crate::ftl::log::merge::Merger;
use crate::ftl::log::report::{LogOrder, Merge, Reclaimed, merged};
use crate::ledger::BlockKind;
use crate::types::{Lbn, Lpn, Pbn};

/// A fully associative log: log blocks, oldest first, that pages of any logical block share. The data blocks are next
/// to it in a [`Merger`].
#[derive(Debug)]
pub struct RandomLog {
    limit: u32,
    /// Oldest first; the last one is written.
    logs: VecDeque<Pbn>,
}

impl RandomLog {
    /// An empty log of at most `limit` blocks.
    pub fn new(limit: u32) -> Self {
        Self { limit, logs: VecDeque::with_capacity(limit as usize) }
    }
    /// Forgets all blocks.
    pub fn clear(&mut self) {
        self.logs.clear();
    }
    /// Blocks it may have.
    pub const fn limit(&self) -> u32 {
        self.limit
    }
    /// Its blocks, oldest first.
    pub fn logs(&self) -> impl Iterator<Item = Pbn> + '_ {
        self.logs.iter().copied()
    }

    #[inline]
    fn is_open(&self, flash: &Flash) -> bool {
        self.logs.back().is_some_and(|pbn| flash.next_page(*pbn) < flash.geometry().pages_per_block)
    }
    /// True if a block must be reclaimed before the next page is appended.
    #[inline]
    pub fn is_full(&self, flash: &Flash) -> bool {
        self.logs.len() as u32 == self.limit && !self.is_open(flash)
    }

    /// Appends a page.
    ///
    /// # Panics
    /// If the log is full.
    #[inline]
    pub fn append(
        &mut self,
        blocks: &mut Merger,
        flash: &mut Flash,
        page: &PageWrite,
        data: &[u8],
        after: Ticket,
    ) -> Ticket {
        assert!(!self.is_full(flash), "the log is full");
        if !self.is_open(flash) {
            self.logs.push_back(blocks.take());
        }
        let log = self.logs[self.logs.len() - 1];
        let place = flash.geometry().page(log, flash.next_page(log));
        blocks.log(flash, place, page, data, after)
    }

    /// Empties log block `index` (0 = oldest) and erases it. `merge` merges one logical block that has a valid page in
    /// it, and returns 1 for a full merge, else 0, and when it is done. Returns the logical blocks that had a valid page,
    /// and when the erase is done.
    pub fn reclaim(
        &mut self,
        index: usize,
        blocks: &mut Merger,
        flash: &mut Flash,
        after: Ticket,
        mut merge: impl FnMut(&mut Merger, &mut Flash, Lbn) -> (u32, Ticket),
    ) -> (u32, Ticket) {
        let log = self.logs.remove(index).expect("the log has this block");
        let reclaimed = Reclaimed { order: LogOrder::Arrival, blocks: 1, pages: flash.next_page(log) };
        let (mut owners, mut rewritten) = (0, 0);
        let mut done = after;
        while let Some(page) = flash.next_valid(log, 0) {
            let lbn = blocks.geometry().lbn(Lpn(flash.number(page)));
            let (full, ticket) = merge(blocks, flash, lbn);
            owners += 1;
            rewritten += full;
            done = flash.clock.join(done, ticket);
        }
        let merge = if owners > 0 { Merge::Full { data_blocks: rewritten, log: reclaimed } } else { Merge::Dead };
        merged(flash, merge);
        (owners, blocks.retire(flash, log, BlockKind::Log, done))
    }
}
