//! The whole map at once: preconditioning, recovery, checks.

use super::{MapCache, Translation};
use crate::flash::{Flash, Oob, Ticket};
use crate::ftl::Batch;
use crate::ftl::blocks::recover::Winners;
use crate::ledger::Cause;
use crate::types::{Lpn, Pbn, Ppn};

impl Translation {
    /// Preconditioning: writes pages without mapping work, into an FTL that holds no mapping in RAM.
    pub fn fill(&mut self, flash: &mut Flash, cache: &mut impl MapCache, batch: Batch<'_>) {
        let now = Ticket::at(flash.now());
        for (page, data) in batch.iter() {
            let (to, now) = self.room_for_data(flash, cache, page, now, now);
            let target = self.space.append_new(to);
            flash.program(target, Oob::data(page.lpn, page.version), data, page.cause, now);
            let old = self.content.replace(page.lpn.index(), target);
            if old.is_some() {
                self.space.drop_copy(flash, old);
            }
        }
    }

    /// Writes every translation page that holds a mapping, ascending.
    pub fn write_all(&mut self, flash: &mut Flash, cache: &mut impl MapCache, cause: Cause) {
        let now = Ticket::at(flash.now());
        for tp in 0..self.pages() {
            if self.range(tp).any(|lpn| self.content.at(lpn as usize).is_some()) {
                self.room_for_map(flash, cache, tp, now);
                self.rewrite(flash, cache, tp, cause, now);
            }
        }
    }

    /// After a power cut: takes the winners of the scan, erases all translation blocks (data pages tell every mapping)
    /// and rewrites the translation pages. The erased translation blocks make room for them; should the group have
    /// fewer, data blocks are collected first, which needs no translation pages as long as there are none.
    ///
    /// `cache` is empty, or (with 0 copies) holds the winners.
    pub fn rebuild(&mut self, flash: &mut Flash, cache: &mut impl MapCache, winners: &Winners) {
        self.lag.forget();
        self.write_buffer.forget();
        self.content.clear();
        self.directory.fill(Ppn::NONE);
        for (lpn, ppn) in winners.mapped() {
            flash.mark_valid(ppn);
            if self.copies > 0 {
                self.content.set(lpn.index(), ppn);
            }
        }
        self.space.recover(flash, winners);
        let now = Ticket::at(flash.now());
        let groups = self.space.groups();
        let pages = self.copies * self.pages().div_ceil(groups);
        let wanted = self.space.reserve() + pages.div_ceil(self.space.pages_per_block());
        for group in 0..groups {
            for turn in 0.. {
                if self.space.free(group) >= wanted {
                    break;
                }
                assert!(turn <= 2 * flash.geometry().pages(), "recovery finds no room for translation pages");
                let victim = self.space.pick_fewest_valid(flash, group).expect("used blocks are closed");
                self.collect_data(flash, cache, victim, Cause::Recover, now);
            }
        }
        self.write_all(flash, cache, Cause::Recover);
    }

    /// Checks blocks, directory and valid pages against the newest mapping of every page; panics on a violation.
    pub fn check(&self, flash: &Flash, newest: impl Fn(Lpn) -> Ppn, logical_pages: u32) {
        self.space.check(flash);
        let geometry = flash.geometry();
        let mut mapped = vec![0; geometry.blocks() as usize];
        for lpn in (0..logical_pages).map(Lpn) {
            let ppn = newest(lpn);
            if ppn.is_some() {
                assert!(flash.is_valid(ppn), "lpn {} maps to an invalid page", lpn.0);
                assert_eq!(flash.oob(ppn), Oob::data(lpn, flash.oob(ppn).version), "OOB of the page of lpn {}", lpn.0);
                assert!(!self.space.holds_map(geometry.pbn(ppn)), "data in a translation block");
                mapped[geometry.pbn(ppn).index()] += 1;
            }
        }
        for tp in (0..self.pages()).filter(|tp| self.exists(*tp)) {
            for (copy, ppn) in self.copies(tp).iter().enumerate() {
                assert!(flash.is_valid(*ppn), "copy {copy} of translation page {tp} is invalid");
                assert_eq!(flash.oob(*ppn), Oob::map(tp), "OOB of copy {copy} of translation page {tp}");
                assert_eq!(
                    self.space.group_of(geometry.pbn(*ppn)),
                    (tp + copy as u32) % self.space.groups(),
                    "channel of a copy"
                );
                assert!(self.space.holds_map(geometry.pbn(*ppn)), "translation page in a data block");
                mapped[geometry.pbn(*ppn).index()] += 1;
            }
        }
        for (pbn, count) in mapped.iter().enumerate() {
            assert_eq!(flash.valid_pages(Pbn(pbn as u32)), *count, "valid pages of block {pbn}");
        }
    }
}
