//! Blocks that are collected together (the device, or one die) and those of them that are open.

use super::super::heat::MAX_STREAMS;
use super::super::pool::Pool;
use super::super::recover::Winners;
use super::Params;
use crate::flash::{Flash, Geometry, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Pbn, Ppn};

/// Place of the frontier of garbage collection; those before are the host's, by stream.
pub const GC: usize = MAX_STREAMS;
/// Place of the frontier of static wear levelling.
pub const WEAR: usize = MAX_STREAMS + 1;
const PLACES: usize = MAX_STREAMS + 2;

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    pbn: Pbn,
    next: u32,
}

/// A block that is being emptied.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The block.
    pub victim: Pbn,
    /// Offset at which to look for the next valid page.
    pub from: u32,
    /// Resolves with the last copy.
    pub last: Ticket,
    /// Where its pages go.
    pub place: usize,
    /// Why.
    pub cause: Cause,
}

/// See the module text.
#[derive(Debug)]
pub struct Group {
    pub pool: Pool,
    geometry: Geometry,
    open: [Frontier; PLACES],
    /// Valid pages.
    pub valid: u32,
    /// A collection that goes on slice by slice.
    pub sliced: Option<Job>,
}

impl Group {
    /// The blocks `first, first + stride, ...`, all free.
    pub fn new(first: u32, stride: u32, geometry: Geometry, params: &Params, seed: u64) -> Self {
        let full = Frontier { pbn: Pbn::NONE, next: geometry.pages_per_block };
        Self {
            pool: Pool::new(first, stride, geometry.blocks(), params.alloc, params.victim, seed),
            geometry,
            open: [full; PLACES],
            valid: 0,
            sliced: None,
        }
    }

    /// True if a frontier needs another block.
    #[inline]
    pub fn is_full(&self, place: usize) -> bool {
        self.open[place].next >= self.geometry.pages_per_block
    }

    /// Gives a full frontier a free block and returns it.
    pub fn open(&mut self, flash: &Flash, place: usize) -> Pbn {
        let pbn = if place == WEAR { self.pool.take_worn(flash) } else { self.pool.take(flash) };
        self.open[place] = Frontier { pbn, next: 0 };
        pbn
    }

    /// The next page of an open frontier; the block is closed with its last page.
    #[inline]
    pub fn append(&mut self, place: usize) -> Ppn {
        let frontier = &mut self.open[place];
        let ppn = self.geometry.page(frontier.pbn, frontier.next);
        frontier.next += 1;
        if frontier.next == self.geometry.pages_per_block {
            let full = frontier.pbn;
            self.pool.close(full);
        }
        ppn
    }

    /// After a power cut: blocks without a winner are erased, the others closed. Blocks that were open are sealed: they
    /// may hold a torn page, so nothing is appended to them.
    pub fn recover(&mut self, flash: &mut Flash, winners: &Winners) {
        let now = Ticket::at(flash.now());
        let blocks: Vec<Pbn> = self.pool.free_blocks().collect();
        self.pool.keep_free(|pbn| !flash.is_block_used(pbn));
        let used: Vec<Pbn> = blocks.into_iter().filter(|pbn| flash.is_block_used(*pbn)).collect();
        for pbn in used {
            if winners.in_block(pbn) == 0 {
                flash.erase(pbn, BlockKind::Data, Cause::Recover, now);
                self.pool.give_back(pbn);
            } else {
                self.pool.close(pbn);
            }
        }
    }

    /// Counts in `uses` the roles that each block of the group plays; checks free and open blocks and the reserve.
    pub fn check(&self, flash: &Flash, reserve: u32, uses: &mut [u32]) {
        for pbn in self.pool.free_blocks() {
            assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
            uses[pbn.index()] += 1;
        }
        for frontier in self.open.iter().filter(|f| f.next < self.geometry.pages_per_block) {
            assert_eq!(flash.next_page(frontier.pbn), frontier.next, "open block {}", frontier.pbn.0);
            uses[frontier.pbn.index()] += 1;
        }
        for pbn in self.pool.closed_blocks() {
            uses[pbn.index()] += 1;
        }
        if let Some(job) = &self.sliced {
            uses[job.victim.index()] += 1;
        }
        let floor = reserve - u32::from(self.sliced.is_some());
        assert!(self.pool.free_count() >= floor, "{} free blocks, reserve {reserve}", self.pool.free_count());
    }
}
