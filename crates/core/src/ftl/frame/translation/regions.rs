//! Regions: the pages of a range of translation pages on one die have blocks of their own and are collected together.
//!
//! Collecting a region writes its valid pages in LPN order into fresh blocks, rewrites the translation pages of its range
//! (one read and one program each) and erases all its old blocks, the open one too. Afterwards its pages lie on lines.
//! The region is taken that costs the fewest copies for the blocks it gives back; a translation block is taken when it is
//! cheaper still.
//!
//! There is always room: a region takes no more than the blocks that its range fills, which are in reserve beyond the
//! three of [`super`], and if none gave a block back, all would lie in the fewest blocks, which
//! [`crate::ftl::frame::space::validate`] counted as needed.

use super::{MapCache, Translation};
use crate::flash::{Flash, Ticket};
use crate::ftl::frame::space::Space;
use crate::ledger::Cause;
use crate::types::{Lpn, Ppn};

/// What is collected next.
pub(super) enum Best {
    /// The region with this data frontier.
    Region(u32),
    /// A translation block.
    Map,
}

impl Translation {
    /// The cheapest way to gain pages in a group of blocks.
    pub(super) fn best_in_group(&mut self, flash: &Flash, group: u32) -> Best {
        let pages = self.space.pages_per_block();
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        held.resize(self.space.regions() as usize, (0, 0));
        let mut map = None;
        for (pbn, region) in self.space.collectable(group) {
            let valid = flash.valid_pages(pbn);
            match region {
                Some(number) => {
                    let (blocks, pages) = &mut held[number as usize];
                    *blocks += 1;
                    *pages += valid;
                }
                None => map = Some(map.unwrap_or(pages).min(valid)),
            }
        }
        // Copies and the pages that they gain; a division would not be exact.
        let gains = held.iter().enumerate().filter_map(|(number, (blocks, valid))| {
            let gained = blocks.saturating_sub(valid.div_ceil(pages)) * pages;
            (gained > 0).then_some((u64::from(*valid), u64::from(gained), Best::Region(number as u32)))
        });
        let map = map.filter(|valid| *valid < pages);
        let map = map.map(|valid| (u64::from(valid), u64::from(pages - valid), Best::Map));
        let best = gains.chain(map).reduce(|a, b| if b.0 * a.1 < a.0 * b.1 { b } else { a });
        self.held = held;
        best.expect("something gains a page when space runs out").2
    }

    /// Collects a region.
    pub(super) fn collect_region(&mut self, flash: &mut Flash, cache: &mut impl MapCache, number: u32, after: Ticket) {
        let to = Space::region_frontier(number);
        let blocks = self.space.take_region(number);
        let mut moved = std::mem::take(&mut self.moved);
        for pbn in &blocks {
            let mut from = 0;
            while let Some(source) = flash.next_valid(*pbn, from) {
                from = flash.geometry().page_in_block(source) + 1;
                moved.push((Lpn(flash.number(source)), source));
            }
        }
        moved.sort_unstable();
        let mut done = after;
        for (lpn, page) in &mut moved {
            if self.space.tail(to) == 0 {
                self.space.open(flash, to);
            }
            let target = self.space.append(to);
            let ticket = flash.copy(*page, target, Cause::Gc, after);
            done = flash.clock.join(done, ticket);
            cache.moved(*lpn, target);
            *page = target;
        }
        let done = self.update(flash, cache, &mut moved, after, done);
        self.moved = moved;
        for pbn in blocks {
            self.space.release(flash, pbn, Cause::Gc, done);
        }
    }

    /// Writes moved pages to their translation pages, one rewrite each; resolves with the last one and `done`.
    pub(super) fn update(
        &mut self,
        flash: &mut Flash,
        cache: &mut impl MapCache,
        moved: &mut Vec<(Lpn, Ppn)>,
        after: Ticket,
        mut done: Ticket,
    ) -> Ticket {
        moved.sort_unstable();
        let entries = self.entries;
        for part in moved.chunk_by(|a, b| a.0.0 / entries == b.0.0 / entries) {
            let tp = self.tp(part[0].0);
            for (lpn, target) in part {
                self.content.set(lpn.index(), *target);
            }
            // Without a TP on flash this is preconditioning or recovery, which write all TPs at their end.
            if self.exists(tp) {
                let read = self.fetch(flash, tp, Cause::MapUpdate, after);
                let ticket = self.rewrite(flash, cache, tp, Cause::MapUpdate, read);
                done = flash.clock.join(done, ticket);
            }
        }
        moved.clear();
        done
    }
}
