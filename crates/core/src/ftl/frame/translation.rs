//! Translation pages on flash, in one or more copies, and garbage collection of data and translation blocks together.
//!
//! Translation page (TP) `t` holds the mappings of the logical pages `t * entries .. (t + 1) * entries`. What it holds
//! is kept here as simulation state (`content`), apart from what an FTL has in RAM: a mapping that the RAM does not
//! hold is known only by [`Translation::fetch`], which reads the page. Copy `i` of TP `t` lies in group `(t + i) mod
//! groups`, and a rewritten or moved copy stays there. With 0 copies there are no translation pages: the map is in RAM.
//!
//! # Why there is always room
//! Let a group have `X = free blocks + translation blocks beyond the fewest that hold its valid TPs`. Collecting a data
//! block takes at most one free block for its pages and gives one back; rewriting TPs turns free blocks into
//! translation blocks and back and leaves `X` as it is. So `X >= reserve >= 3` at the start of every collection and
//! `X >= 2` while TPs are rewritten. When a translation frontier is full and at most one block is free, there is a
//! surplus translation block, hence a closed one with an invalid page, and that one is compacted first (free 1 -> 0 ->
//! 1); when there is no surplus, two blocks are free and one is taken. At the start of a collection with fewer than two
//! free blocks a translation block is compacted instead. Capacity (checked by [`crate::ftl::frame::space::validate`]) leaves a
//! closed block with an invalid page whenever a group asks for room, so every collection gains at least one page.
//!
//! A collection in slices (`gc_slice`) holds at most one block that it has not given back: its copies go to a frontier of
//! their own, and a victim is not larger than a block. A group keeps one block more in reserve for it, so that the above
//! holds at the start of every slice.

mod collect;
mod lag;
mod regions;
mod upkeep;
mod whole;
mod write_buffer;

use crate::flash::{Flash, Oob, Ticket};
use crate::ledger::Cause;
use crate::sparse::SparseTable;
use crate::types::{Lpn, Ppn};

use crate::ftl::Shape;
use crate::ftl::frame::space::{Layout, Space};
use collect::Goal;
use lag::Lag;
use write_buffer::WriteBuffer;

/// Most copies of a translation page.
pub const MAX_COPIES: usize = 16;

/// Where the mapping of a page was changed that garbage collection moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moved {
    /// In RAM, where it is dirty now (lazy copying).
    InRam,
    /// Not yet: it is not in RAM, and the translation page must be rewritten.
    Nowhere,
    /// In RAM and, at no cost, on flash (FlashSim).
    Everywhere,
}

/// What collection asks of the mappings that an FTL holds in RAM.
pub trait MapCache: Send {
    /// The whole map is in RAM, and nothing but the map: no translation page takes a block. Collection then ends as soon
    /// as the host's frontier has room, which may be the rest of a block that it opened for its copies, and a victim is
    /// erased after its last copy; else a block more than the reserve must be free, and all its copies be there. Groups do
    /// not take blocks from each other, so that they collect in idle time side by side.
    const RESIDENT: bool = false;
    /// Garbage collection moved a page.
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved;
    /// A translation page is being programmed, so that all its mappings are known at no cost.
    fn rewritten(&mut self, tp: u32, map: &Translation) {
        let _ = (tp, map);
    }
}

/// The blocks of a device, and the translation pages that some of them hold.
#[derive(Debug)]
pub struct Translation {
    /// Blocks.
    pub space: Space,
    entries: u32,
    copies: u32,
    /// By LPN: what the translation page on flash holds.
    content: SparseTable<Ppn>,
    /// Global translation directory: the copies of every TP, [`Ppn::NONE`] when it was never written.
    directory: Vec<Ppn>,
    /// Scratch of a collection: pages whose mapping is not in RAM.
    moved: Vec<(Lpn, Ppn)>,
    /// Scratch of the choice of a region: blocks and valid pages of each.
    held: Vec<(u32, u32)>,
    lag: Lag,
    write_buffer: WriteBuffer,
}

impl Translation {
    /// Nothing written yet.
    pub fn new(layout: Layout, shape: &Shape, entries: u32, copies: u32, write_buffer: u32) -> Self {
        assert!(copies as usize <= MAX_COPIES);
        let map_pages = shape.logical_pages.div_ceil(entries);
        let space = Space::new(layout, shape, map_pages, copies);
        Self {
            lag: Lag::new(layout.upkeep.gc_lag, space.groups()),
            space,
            entries,
            copies,
            content: SparseTable::new(if copies == 0 { 0 } else { shape.logical_pages as usize }),
            directory: vec![Ppn::NONE; (map_pages * copies) as usize],
            moved: Vec::with_capacity(shape.geometry.pages_per_block as usize),
            held: Vec::new(),
            write_buffer: WriteBuffer::new(if copies == 0 { 0 } else { write_buffer }, shape.geometry.page_bytes),
        }
    }

    /// Translation page of a logical page.
    #[inline]
    pub const fn tp(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries
    }
    /// Logical pages of a translation page.
    pub fn range(&self, tp: u32) -> std::ops::Range<u32> {
        tp * self.entries..((tp + 1) * self.entries).min(self.content.len() as u32)
    }
    /// Translation pages.
    pub fn pages(&self) -> u32 {
        self.directory.len() as u32 / self.copies.max(1)
    }
    /// RAM besides the cache, bytes: 4 for every copy of a translation page, pages that are written back, and how hot pages are.
    pub const fn ram_bytes(&self) -> u64 {
        4 * self.directory.len() as u64 + self.write_buffer.bytes() + self.space.heat_bytes()
    }
    /// What the translation page on flash says about a page. Only what was fetched may be used.
    #[inline]
    pub fn content(&self, lpn: Lpn) -> Ppn {
        self.content.at(lpn.index())
    }
    /// The TP of the page will hold this when it is programmed next: for the closure of [`Self::write_back`].
    #[inline]
    pub fn patch(&mut self, lpn: Lpn, ppn: Ppn) {
        self.content.set(lpn.index(), ppn);
    }
    /// Copies of a translation page; [`Ppn::NONE`] when it was never written.
    #[inline]
    pub fn copies(&self, tp: u32) -> &[Ppn] {
        &self.directory[(tp * self.copies) as usize..][..self.copies as usize]
    }
    /// True if there are translation pages.
    pub const fn is_on_flash(&self) -> bool {
        self.copies > 0
    }
    /// True if the translation page is on flash.
    #[inline]
    pub fn exists(&self, tp: u32) -> bool {
        self.copies > 0 && self.directory[(tp * self.copies) as usize].is_some()
    }

    /// Reads a translation page, if it exists: of its copies that of an idle channel, and another when that one turns
    /// out to be unreadable. A page that no copy tells is counted as lost; here its mappings stay known, as if
    /// they had been put together from the OOB of all data pages at no cost.
    #[inline]
    pub fn fetch(&self, flash: &mut Flash, tp: u32, cause: Cause, after: Ticket) -> Ticket {
        if !self.exists(tp) {
            return after;
        }
        match self.copies(tp) {
            several if flash.ages() => Self::fetch_readable(flash, several, cause, after),
            [only] => flash.read(*only, cause, after),
            several => flash.read_any(several, cause, after).0,
        }
    }

    fn fetch_readable(flash: &mut Flash, copies: &[Ppn], cause: Cause, after: Ticket) -> Ticket {
        let mut left = [Ppn::NONE; MAX_COPIES];
        left[..copies.len()].copy_from_slice(copies);
        let mut ready = after;
        for count in (1..=copies.len()).rev() {
            let (read, chosen) = flash.read_any(&left[..count], cause, ready);
            if flash.is_map_readable(left[chosen]) {
                return read;
            }
            ready = read;
            flash.ledger.map_unreadable += 1;
            left[chosen..count].rotate_left(1);
        }
        flash.ledger.map_lost += 1;
        ready
    }

    /// Programs all copies of a translation page with what was patched; resolves with the slowest.
    fn rewrite<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        tp: u32,
        cause: Cause,
        after: Ticket,
    ) -> Ticket {
        let mut done = after;
        for copy in 0..self.copies {
            let group = (tp + copy) % self.space.groups();
            let target = self.map_page(flash, group, after);
            let ticket = flash.program(target, Oob::map(tp), &[], cause, after);
            done = if self.copies == 1 { ticket } else { flash.clock.join(done, ticket) };
            let old = std::mem::replace(&mut self.directory[(tp * self.copies + copy) as usize], target);
            if old.is_some() {
                self.space.drop_map_copy(flash, old);
            }
        }
        cache.rewritten(tp, self);
        done
    }

    /// Writes dirty mappings of a translation page back: makes room, reads the page unless RAM holds all of it, and
    /// programs it with what `patch` tells [`Self::patch`]. What is evicted must still be in the cache before, because
    /// making room may move its pages. Resolves when the look-up that evicts may go on.
    pub fn write_back<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        tp: u32,
        all_in_ram: bool,
        patch: impl FnOnce(&mut C, &mut Self),
        after: Ticket,
    ) -> Ticket {
        self.room_for_map(flash, cache, tp, after);
        let read = if all_in_ram { after } else { self.fetch(flash, tp, Cause::MapEvict, after) };
        patch(cache, self);
        let done = self.rewrite(flash, cache, tp, Cause::MapEvict, read);
        self.write_buffer.page(flash, done, after)
    }

    /// The next page of a group's translation frontier.
    #[inline]
    fn map_page(&mut self, flash: &mut Flash, group: u32, after: Ticket) -> Ppn {
        let to = self.space.map_frontier(group);
        if self.space.tail(to) == 0 {
            let victim = if self.space.free(group) <= 1 { self.space.pick_map_victim(flash, group) } else { None };
            self.space.open(flash, to);
            if let Some(victim) = victim {
                flash.ledger.gc_runs += 1;
                self.collect_map(flash, victim, Cause::MapGc, after);
                self.space.pick_cold(flash, victim, false);
            }
        }
        self.space.append(to)
    }

    /// Makes sure that all copies of a TP can be written without collecting.
    pub fn room_for_map(&mut self, flash: &mut Flash, cache: &mut impl MapCache, tp: u32, after: Ticket) {
        // Making room in one group may use up the frontier of another, once for every collection.
        for _ in 0..=2 * flash.geometry().pages() {
            let Some((group, wanted)) = self.short_of(tp) else { return };
            self.collect_until(flash, cache, Goal { group, wanted, room_in: None }, after);
        }
        panic!("no room for the copies of a translation page");
    }

    /// A group without room for its copies of a TP, and the free blocks that it needs.
    fn short_of(&self, tp: u32) -> Option<(u32, u32)> {
        let groups = self.space.groups();
        let each = self.copies.div_ceil(groups);
        let short = |copy| {
            let group = (tp + copy) % groups;
            let missing = each.saturating_sub(self.space.tail(self.space.map_frontier(group)));
            let wanted = self.space.reserve() + missing.div_ceil(self.space.pages_per_block());
            (missing > 0 && self.space.free(group) < wanted).then_some((group, wanted))
        };
        (0..self.copies.min(groups)).find_map(short)
    }
}
