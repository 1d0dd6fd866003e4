//! superblock - Superblock FTL (reconstruction)
//!
//! # Source
//! Jeong-Uk Kang, Heeseung Jo, Jin-Soo Kim and Joonwon Lee, "A superblock-based flash translation layer for NAND flash
//! memory", EMSOFT 2006. The original text was not available; this is a reconstruction from its abstract and lecture
//! notes. Numbers from it must not be published under the paper's name.
//!
//! # What it does
//! Adjacent logical blocks form a superblock. It owns as many data blocks as it has logical ones and some update blocks,
//! and inside it pages are mapped one by one: a write is appended to the superblock's current block, whatever its
//! logical block. When the current block is full and no update block may be added, the block of the superblock with the
//! fewest valid pages (ties: the oldest) is collected into a fresh block, which becomes the current one. A superblock
//! without update blocks takes one from the superblock written least recently, which is compacted until it returns one.
//!
//! # Parameters
//! RAM: `4 * (logical_blocks + update_blocks * superblocks)` bytes for the block tables, and `4 * logical_pages` bytes
//! for all page mappings or `8 * cache_entries` for some of them. Needs one block beyond data and update blocks.
//!
//! # Deviations and chosen readings
//! - The global, middle and page maps of the original are one map; a look-up that misses reads the spare area of the page
//!   itself, and only page mappings are cached, in LRU order. Updates of the map cost nothing: they are programmed with
//!   the data.
//! - Collection runs one block at a time; pages that do not fit into the current block go to a fresh one. A current block
//!   that is not full is not a victim.
//! - A collected block counts as a full merge, one without valid pages as a switch; both count as collected victims.
//! - One block is kept for collection outside the free list, and taken only when that list is empty, so that the free
//!   blocks that golden files count are the others. It is also what a collection cut short by a power cut leaves erased.
//! - After a power cut open blocks are not appended to; superblocks count as written in the order of their addresses.
//! - Trim invalidates only. A write that has to collect first waits for that. `write_block` writes page by page. There is
//!   no log to merge at the end of a run.
//!
//! # Known ambiguities
//! - S, K and the way in which update blocks are shared are from memory of the original; so is the victim rule.

use super::{Batch, Found, Ftl, PageRead, PageWrite, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::blocks::pool::Pool;
use crate::ftl::cache::cmt::{Cmt, CmtOrder};
use crate::ftl::cache::slab::Mappings;
use crate::ftl::frame::Purpose;
use crate::ftl::log::copies::Copies;
use crate::ftl::log::report::{Merge, Reclaimed, merged};
use crate::ftl::log::ring::Ring;
use crate::ftl::victim::Victim;
use crate::ledger::{BlockKind, Cause, MergeKind};
use crate::types::{Lpn, Pbn, Ppn};

crate::params! {
    pub struct Params {
        /// Logical blocks of a superblock, S.
        superblock_blocks: u32 = 8, in 1.., "blocks";
        /// Update blocks that one superblock may have, K.
        update_blocks: u32 = 8, in 1.., "blocks";
        /// Update blocks of all superblocks together.
        update_blocks_total: Option<u32> = None, in 1.., "blocks", absent "all besides data blocks and the reserve of one";
        /// Page mappings that the map cache holds. The map itself is in spare areas; a look-up that misses costs one flash
        /// read (counted as a map read).
        cache_entries: Option<u32> = None, in 1.., "entries of 8 bytes", absent "all mappings, in RAM";
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
    }
}

/// Blocks of a superblock.
#[derive(Clone, Debug)]
struct Group {
    /// Oldest first.
    blocks: Vec<Pbn>,
    /// The one that is written, or none.
    current: Pbn,
}

const EMPTY: Group = Group { blocks: Vec::new(), current: Pbn::NONE };

/// Superblock FTL (reconstruction): adjacent logical blocks that share data and update blocks.
#[derive(Debug)]
pub struct Superblock {
    params: Params,
    shape: Shape,
    /// Update blocks of all superblocks together: the most there may be, and how many there are.
    update_limit: u32,
    updates: u32,
    copies: Copies,
    cache: Option<Cmt>,
    groups: Vec<Group>,
    /// Superblocks that have update blocks, written least recently first.
    recency: Ring,
    pool: Pool,
    /// Kept outside the pool for collection; none while a collection uses it.
    reserve: Pbn,
}

/// Builds the FTL.
///
/// # Errors
/// When a parameter is 0 or data blocks, update blocks and the reserve do not fit.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let data = u64::from(shape.logical_blocks());
    let updates = u64::from(params.update_blocks_total.unwrap_or(1));
    let why = format!("{data} data blocks, {updates} update blocks and 1 for collection");
    shape.need_blocks("ftl.update_blocks_total", data + updates + 1, &why)?;
    let spare = shape.geometry.blocks() - shape.logical_blocks() - 1;
    let groups = shape.logical_blocks().div_ceil(params.superblock_blocks);
    let cache = params.cache_entries.map(|entries| Cmt::new(shape.logical_pages, CmtOrder::default(), entries, 0));
    let mut superblock = Superblock {
        update_limit: params.update_blocks_total.unwrap_or(spare),
        updates: 0,
        copies: Copies::new(shape),
        cache,
        groups: vec![EMPTY; groups as usize],
        recency: Ring::new(groups),
        pool: Pool::new(0, 1, shape.geometry.blocks(), params.alloc, Victim::named("fifo"), shape.seed),
        reserve: Pbn(shape.geometry.blocks() - 1),
        params,
        shape: *shape,
    };
    let reserve = superblock.reserve;
    superblock.pool.take_near(|pbn| pbn == reserve);
    Ok(Box::new(superblock))
}

impl Superblock {
    #[inline]
    fn group_of(&self, lpn: Lpn) -> u32 {
        self.shape.geometry.lbn(lpn).0 / self.params.superblock_blocks
    }
    /// Logical blocks of a superblock: fewer in the last one.
    fn data_blocks(&self, group: u32) -> u32 {
        let first = group * self.params.superblock_blocks;
        self.params.superblock_blocks.min(self.shape.logical_blocks() - first)
    }
    /// Update blocks of a superblock.
    fn updates_of(&self, group: u32) -> u32 {
        (self.groups[group as usize].blocks.len() as u32).saturating_sub(self.data_blocks(group))
    }
    /// Pages that the current block of a superblock can still take.
    #[inline]
    fn room(&self, flash: &Flash, group: u32) -> u32 {
        let current = self.groups[group as usize].current;
        if current.is_none() { 0 } else { self.shape.geometry.pages_per_block - flash.next_page(current) }
    }

    /// A block joins a superblock.
    fn add(&mut self, group: u32, pbn: Pbn) {
        self.groups[group as usize].blocks.push(pbn);
        let updates = self.updates_of(group);
        self.updates += updates.min(1);
        if updates == 1 {
            self.recency.push_last(group);
        }
    }

    /// A block without valid pages leaves a superblock and is erased.
    fn retire(&mut self, flash: &mut Flash, group: u32, pbn: Pbn, after: Ticket) -> Ticket {
        let updates = self.updates_of(group);
        self.updates -= updates.min(1);
        if updates == 1 {
            self.recency.remove(group);
        }
        let owner = &mut self.groups[group as usize];
        owner.blocks.retain(|block| *block != pbn);
        if owner.current == pbn {
            owner.current = Pbn::NONE;
        }
        let done = flash.erase(pbn, BlockKind::Data, Cause::Gc, after);
        self.give_back(flash, pbn);
        done
    }

    /// An erased block comes back, to the reserve first.
    fn give_back(&mut self, flash: &Flash, pbn: Pbn) {
        if self.reserve.is_none() {
            self.reserve = pbn;
        } else {
            self.pool.give_back(flash, pbn);
        }
    }

    /// A fresh block becomes the current one of a superblock.
    fn open(&mut self, group: u32, fresh: Pbn) {
        self.add(group, fresh);
        self.groups[group as usize].current = fresh;
    }

    /// Makes sure that the current block of a superblock has room. Each turn adds a block, collects one, or frees an
    /// update block elsewhere; the blocks of a superblock with update blocks cannot all be fully valid.
    fn make_room(&mut self, flash: &mut Flash, group: u32, after: Ticket) -> Ticket {
        let mut after = after;
        for _ in 0..=2 * self.shape.geometry.blocks() {
            if self.room(flash, group) > 0 {
                return after;
            }
            let blocks = self.groups[group as usize].blocks.len() as u32;
            let updates = self.updates_of(group);
            let may_update = updates < self.params.update_blocks && self.updates < self.update_limit;
            if blocks < self.data_blocks(group) || may_update {
                let fresh = self.pool.take();
                self.open(group, fresh);
                return after;
            }
            after = if updates > 0 {
                self.collect(flash, group, after)
            } else {
                let coldest = self.recency.head().expect("all update blocks are in use by others");
                self.compact(flash, coldest, after)
            };
        }
        panic!("superblock {group}: collection makes no progress");
    }

    /// Collects blocks of a superblock until it has returned one.
    fn compact(&mut self, flash: &mut Flash, group: u32, after: Ticket) -> Ticket {
        let before = self.groups[group as usize].blocks.len();
        let mut after = after;
        for _ in 0..=2 * before {
            after = self.collect(flash, group, after);
            if self.groups[group as usize].blocks.len() < before {
                return after;
            }
        }
        panic!("superblock {group}: compaction returns no block");
    }

    /// Moves the valid pages out of the block of a superblock that has the fewest, and erases it.
    fn collect(&mut self, flash: &mut Flash, group: u32, after: Ticket) -> Ticket {
        let open = if self.room(flash, group) > 0 { self.groups[group as usize].current } else { Pbn::NONE };
        let blocks = self.groups[group as usize].blocks.iter().filter(|pbn| **pbn != open);
        let victim = *blocks.min_by_key(|pbn| flash.valid_pages(**pbn)).expect("an update block stands next to others");
        flash.ledger.gc_runs += 1;
        // There is no log and no data block: the blocks of a superblock are alike.
        let in_full = Merge::Full { data_blocks: 0, log: Reclaimed::NONE };
        let merge = if flash.valid_pages(victim) == 0 { Merge::Switch } else { in_full };
        merged(flash, merge);
        let mut done = after;
        while let Some(source) = flash.next_valid(victim, 0) {
            if self.room(flash, group) == 0 {
                let fresh = if self.pool.free_count() > 0 {
                    self.pool.take()
                } else {
                    std::mem::replace(&mut self.reserve, Pbn::NONE)
                };
                self.open(group, fresh);
            }
            let current = self.groups[group as usize].current;
            let place = self.shape.geometry.page(current, flash.next_page(current));
            let lpn = Lpn(flash.number(source));
            let copied = self.copies.shift(flash, lpn, place, Cause::Gc, after);
            done = flash.clock.join(done, copied);
        }
        self.retire(flash, group, victim, done)
    }

    fn write_page(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        let group = self.group_of(page.lpn);
        let after = self.look_up(flash, page.lpn, Purpose::Write, after);
        let after = self.make_room(flash, group, after);
        if self.updates_of(group) > 0 {
            self.recency.move_last(group);
        }
        let current = self.groups[group as usize].current;
        let place = self.shape.geometry.page(current, flash.next_page(current));
        self.copies.program(flash, place, page, data, after)
    }

    /// With a map cache: finds the mapping of a page there, or reads it from the OOB and keeps it.
    fn look_up(&mut self, flash: &mut Flash, lpn: Lpn, purpose: Purpose, after: Ticket) -> Ticket {
        let Some(cache) = &mut self.cache else { return after };
        flash.ledger.look_ups[purpose as usize] += 1;
        if let Some(entry) = cache.find(lpn) {
            flash.ledger.map_hits += 1;
            cache.hit(entry);
            return after;
        }
        flash.ledger.map_misses += 1;
        if cache.is_full() {
            let victim = cache.victim();
            cache.remove(victim);
        }
        let ppn = self.copies.newest(lpn);
        // Only whether the entry is there matters: the place itself is in `copies`.
        cache.insert(lpn, ppn);
        if ppn.is_some() { flash.read(ppn, Cause::MapMiss, after) } else { after }
    }
}

impl Ftl for Superblock {
    fn merges(&self) -> Option<MergeKind> {
        Some(MergeKind::Measured)
    }
    fn caches_mappings(&self) -> bool {
        self.cache.is_some()
    }
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        let after = self.look_up(flash, lpn, Purpose::Read, after);
        self.copies.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        batch.write_each(flash, after, |flash, page, data| self.write_page(flash, page, data, after))
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.copies.trim(flash, lpn);
        after
    }

    fn map_bytes(&self) -> u64 {
        let updates = u64::from(self.params.update_blocks) * self.groups.len() as u64;
        let pages = self.params.cache_entries.map_or(4 * u64::from(self.shape.logical_pages), |n| 8 * u64::from(n));
        4 * (u64::from(self.shape.logical_blocks()) + updates) + pages
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.copies.newest(lpn)
    }

    /// No page moves: a block with newest copies stays with its superblock, any other one is erased. A collection that
    /// was cut short has left nothing but second copies in its fresh block, which lose against their originals, so
    /// there are as many blocks without newest copies as before, the reserve at least.
    fn rebuild(&mut self, flash: &mut Flash) {
        self.copies.rebuild(flash);
        self.cache = self
            .params
            .cache_entries
            .map(|entries| Cmt::new(self.shape.logical_pages, CmtOrder::default(), entries, 0));
        self.groups.fill(EMPTY);
        self.recency = Ring::new(self.groups.len() as u32);
        self.updates = 0;
        let now = Ticket::at(flash.now());
        let blocks = self.shape.geometry.blocks();
        let mut owned = Vec::new();
        for pbn in (0..blocks).map(Pbn) {
            match flash.next_valid(pbn, 0) {
                Some(first) => owned.push((flash.program_seq(first), pbn, Lpn(flash.number(first)))),
                None if flash.is_block_used(pbn) => _ = flash.erase(pbn, BlockKind::Data, Cause::Recover, now),
                None => {}
            }
        }
        let free = (0..blocks).rev().map(Pbn).find(|pbn| !flash.is_block_used(*pbn));
        let reserve = free.expect("the reserve is free at every moment");
        self.pool = Pool::new(0, 1, blocks, self.params.alloc, Victim::named("fifo"), self.shape.seed);
        self.pool.keep_free(flash, |pbn| !flash.is_block_used(pbn) && pbn != reserve);
        self.reserve = reserve;
        owned.sort_unstable_by_key(|(sequence, ..)| *sequence);
        for (_, pbn, lpn) in owned {
            self.add(self.group_of(lpn), pbn);
        }
    }

    fn check(&self, flash: &Flash) {
        let geometry = &self.shape.geometry;
        self.copies.check(flash);
        let mut owners = vec![0; geometry.blocks() as usize];
        for pbn in self.pool.free_blocks().chain([self.reserve]) {
            assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
            owners[pbn.index()] += 1;
        }
        for (group, Group { blocks, current }) in self.groups.iter().enumerate() {
            assert!(current.is_none() || blocks.contains(current), "current block of superblock {group}");
            for pbn in blocks {
                owners[pbn.index()] += 1;
                let pages = (0..geometry.pages_per_block).map(|offset| geometry.page(*pbn, offset));
                let mut lpns = pages.filter(|ppn| flash.is_valid(*ppn)).map(|ppn| Lpn(flash.number(ppn)));
                assert!(lpns.all(|lpn| self.group_of(lpn) as usize == group), "a page of another superblock");
            }
        }
        assert!(owners.iter().all(|owners| *owners == 1), "owners of blocks: {owners:?}");
        let updates: Vec<u32> = (0..self.groups.len() as u32).map(|group| self.updates_of(group)).collect();
        assert!(updates.iter().all(|n| *n <= self.params.update_blocks), "update blocks: {updates:?}");
        assert_eq!(updates.iter().sum::<u32>(), self.updates);
        assert!(self.updates <= self.update_limit, "{} update blocks", self.updates);
        assert_eq!(updates.iter().filter(|n| **n > 0).count() as u32, self.recency.count());
    }

    fn free_blocks(&self) -> u32 {
        self.pool.free_count()
    }
}
