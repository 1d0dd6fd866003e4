//! All blocks at once: recovery and checks.

use super::Space;
use crate::flash::{Flash, PageKind, Ticket};
use crate::ftl::blocks::recover::Winners;
use crate::ledger::Cause;
use crate::types::{Lpn, Pbn};

impl Space {
    /// After a power cut: blocks without a winner are erased (all translation blocks among them), the others are
    /// closed. Blocks that were open are not appended to, because they may hold a torn page.
    pub fn recover(&mut self, flash: &mut Flash, winners: &Winners) {
        self.forget();
        for pool in &mut self.pools {
            pool.keep_free(flash, |pbn| !flash.is_block_used(pbn));
        }
        let now = Ticket::at(flash.now());
        for pbn in (0..self.geometry.blocks()).map(Pbn).filter(|pbn| flash.is_block_used(*pbn)).collect::<Vec<_>>() {
            let (group, slc) = (self.group_of(pbn), flash.is_slc(pbn));
            if slc {
                self.slc.add(group);
            }
            if winners.in_block(pbn) == 0 {
                let mut pages = (0..self.geometry.pages_per_block).map(|offset| self.geometry.page(pbn, offset));
                let readable = pages.find(|ppn| flash.is_programmed(*ppn));
                self.holds_map[pbn.index()] = readable.is_some_and(|ppn| flash.oob(ppn).kind == PageKind::Map);
                self.release(flash, pbn, Cause::Recover, now);
                continue;
            }
            self.close(group, pbn, slc);
            (0..winners.in_block(pbn)).for_each(|_| self.dies.add(group));
            if !self.home.is_empty() {
                let page = flash.next_valid(pbn, 0).expect("winners are valid");
                let lpn = Lpn(flash.number(page));
                let home =
                    if self.dies.is_by_number() { self.data_frontier(&flash.clock, lpn, 0) } else { self.die(pbn) };
                self.home[pbn.index()] = home;
            }
        }
    }

    /// The SLC cache has no more blocks than it may have, and knows those that are closed.
    fn check_slc(&self, flash: &Flash) {
        for group in 0..self.pools.len() {
            let blocks = (0..self.geometry.blocks()).map(Pbn).filter(|pbn| self.group_of(*pbn) as usize == group);
            let slc: Vec<Pbn> = blocks.filter(|pbn| flash.is_slc(*pbn)).collect();
            assert_eq!(self.slc.used(group), slc.len() as u32, "SLC cache of group {group}");
            assert!(
                slc.len() as u32 <= self.layout.slc_blocks(&self.geometry),
                "SLC cache of group {group} is too large"
            );
        }
    }

    /// Checks that every block is in exactly one state, free blocks are erased and the reserve is there; panics on a
    /// violation. For tests.
    pub fn check(&self, flash: &Flash) {
        let mut uses = vec![0; self.geometry.blocks() as usize];
        let mut valid = vec![0; self.dies.valid().len()];
        for (group, pool) in self.pools.iter().enumerate() {
            let free = pool.free_count();
            assert!(!self.is_short(group as u32), "{free} free blocks in group {group}, reserve {}", self.reserve);
            for pbn in pool.free_blocks() {
                assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
                uses[pbn.index()] += 1;
            }
        }
        for frontier in self.frontiers.iter().filter(|f| f.next < f.end) {
            assert_eq!(flash.next_page(frontier.pbn), frontier.next, "open block {}", frontier.pbn.0);
            assert_eq!(flash.capacity(frontier.pbn), frontier.end, "pages of open block {}", frontier.pbn.0);
            uses[frontier.pbn.index()] += 1;
        }
        for job in self.sliced.iter().flatten() {
            uses[job.victim.index()] += 1;
        }
        for pbn in self.slc.closed() {
            assert!(flash.is_slc(pbn), "closed block {} of the SLC cache", pbn.0);
            uses[pbn.index()] += u32::from(!self.slc.is_shared());
        }
        for pbn in (0..self.geometry.blocks()).map(Pbn) {
            let group = self.group_of(pbn) as usize;
            uses[pbn.index()] += u32::from(self.pools[group].is_closed(pbn));
            assert_eq!(
                uses[pbn.index()],
                1,
                "block {} is not in exactly one of free, open, closed, in collection",
                pbn.0
            );
            if let Some(valid) = valid.get_mut(group).filter(|_| !self.holds_map(pbn)) {
                *valid += flash.valid_pages(pbn);
            }
        }
        assert_eq!(valid, self.dies.valid(), "valid pages of the host by group");
        self.check_slc(flash);
    }
}
