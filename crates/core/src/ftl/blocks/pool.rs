//! Free and closed blocks of one allocation group: allocation order and garbage-collection victims.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};

use rand_pcg::Pcg64Mcg;

mod candidates;

pub use candidates::{Candidates, VictimRule};

use crate::divisor::Divisor;
use crate::flash::Flash;
use crate::ftl::alloc::{Alloc, AllocRule};
use crate::ftl::blocks::buckets::Buckets;
use crate::registry::rules::Choice;
use crate::types::Pbn;

const NONE_FREE: &str = "no free block: the reserve was used up";

/// Not closed: free, or open for programming.
const NOT_CLOSED: u64 = 0;

/// The blocks `first, first + stride, first + 2 stride, ...` of the device.
#[derive(Debug)]
pub struct Pool {
    first: u32,
    stride: u32,
    by_stride: Divisor,
    alloc: AllocRule,
    /// The victim policy with its number.
    victim: (VictimRule, u32),
    /// Free blocks in the order in which they are taken: by their rank, then by how long they have been free.
    free: BTreeMap<(u64, u64), Pbn>,
    /// Blocks that became free so far.
    freed: u64,
    /// By position: when the block was closed (from 1), or `NOT_CLOSED`.
    closed_at: Vec<u64>,
    /// Positions of the closed blocks in any order, and where each stands in that list.
    closed: Vec<u32>,
    place: Vec<u32>,
    next_close: u64,
    /// Closed blocks in the order of closing; an entry is stale when `closed_at` tells another time.
    order: VecDeque<(u32, u64)>,
    by_valid: Buckets,
    /// Least and most erases of a block: a lower bound, and the true maximum. `None` before the first look.
    wear: Option<(u32, u32)>,
    rng: Pcg64Mcg,
}

impl Pool {
    /// All blocks `first + i * stride` of a device of `blocks` blocks, free, in ascending order, none of them erased ever.
    /// `first` is below `stride`: block `pbn` stands at position `pbn / stride`.
    pub fn new(first: u32, stride: u32, blocks: u32, alloc: Alloc, victim: Choice<VictimRule>, seed: u64) -> Self {
        let (rule, alloc) = (victim.rule(), alloc.rule());
        let block = |i| Pbn(first + i * stride);
        let count = (blocks - first).div_ceil(stride) as usize;
        Self {
            first,
            stride,
            by_stride: Divisor::new(stride),
            alloc,
            victim: (rule, victim.number() as u32),
            free: (0..).zip((0..count as u32).map(block)).map(|(i, pbn)| (((alloc.rank)(pbn, 0), i), pbn)).collect(),
            freed: count as u64,
            closed_at: vec![NOT_CLOSED; count],
            closed: Vec::with_capacity(count),
            place: vec![0; count],
            next_close: 1,
            order: VecDeque::new(),
            by_valid: Buckets::new(count, rule.lowest_first),
            wear: None,
            rng: Pcg64Mcg::new(u128::from(seed) << 64 | u128::from(first) << 1 | 1),
        }
    }

    /// Blocks that can be taken.
    #[inline]
    pub fn free_count(&self) -> u32 {
        self.free.len() as u32
    }
    /// Free blocks in the order in which they would be taken.
    pub fn free_blocks(&self) -> impl Iterator<Item = Pbn> + '_ {
        self.free.values().copied()
    }
    /// Blocks that wait to be collected, in any order.
    pub fn closed_blocks(&self) -> impl Iterator<Item = Pbn> + '_ {
        self.closed.iter().map(|position| Pbn(self.first + position * self.stride))
    }
    /// True if the block waits to be collected.
    pub fn is_closed(&self, pbn: Pbn) -> bool {
        self.closed_at[self.position(pbn)] != NOT_CLOSED
    }

    /// Takes the first free block.
    ///
    /// # Panics
    /// If none is left: the owner let its reserve run out.
    pub fn take(&mut self) -> Pbn {
        self.free.pop_first().expect(NONE_FREE).1
    }

    /// Takes the first free block that is `wanted` (for example on a given die), or the first of all if there is none.
    ///
    /// # Panics
    /// If none is left: the owner let its reserve run out.
    pub fn take_near(&mut self, wanted: impl Fn(Pbn) -> bool) -> Pbn {
        let found = self.free.iter().find(|(_, pbn)| wanted(**pbn)).or_else(|| self.free.first_key_value());
        let key = *found.expect(NONE_FREE).0;
        self.free.remove(&key).expect("it was found")
    }

    /// Takes the most erased free block (the one that has been free longest among equals), for data that will stay.
    ///
    /// # Panics
    /// If none is left: the owner let its reserve run out.
    pub fn take_worn(&mut self, flash: &Flash) -> Pbn {
        let worn = self.free.iter().min_by_key(|((_, freed), pbn)| (Reverse(flash.erase_count(**pbn)), *freed));
        let key = *worn.expect(NONE_FREE).0;
        self.free.remove(&key).expect("it was found")
    }

    /// Static wear levelling, after the erase of a block: if the most and the least erased blocks are more than
    /// `threshold` erases apart, the least erased closed block of those that are, which is no longer closed afterwards.
    pub fn pick_cold(&mut self, flash: &Flash, erased: Pbn, threshold: u32) -> Option<Pbn> {
        let (first, stride) = (self.first, self.stride);
        let erases = |position: u32| flash.erase_count(Pbn(first + position * stride));
        let all = 0..self.closed_at.len() as u32;
        let now = flash.erase_count(erased);
        let (least, most) = self.wear.unwrap_or_else(|| (0, all.clone().map(erases).max().unwrap_or(0)));
        let (mut least, most) = (least.min(now), most.max(now));
        if most - least > threshold {
            least = all.map(erases).min().unwrap_or(0);
        }
        self.wear = Some((least, most));
        if most - least <= threshold {
            return None;
        }
        let cold = self.closed.iter().filter(|position| most - erases(**position) > threshold);
        let position = *cold.min_by_key(|position| (erases(**position), self.closed_at[**position as usize]))?;
        let pbn = Pbn(first + position * stride);
        self.reopen(pbn);
        Some(pbn)
    }

    /// Recovery, of a pool as it was made: forgets the free blocks that do not pass the test, and sees how worn the others are.
    pub fn keep_free(&mut self, flash: &Flash, keep: impl Fn(Pbn) -> bool) {
        let kept = std::mem::take(&mut self.free).into_iter().filter(|(_, pbn)| keep(*pbn));
        self.free = kept.map(|((_, freed), pbn)| ((self.rank(flash, pbn), freed), pbn)).collect();
    }

    /// An erased block comes back.
    pub fn give_back(&mut self, flash: &Flash, pbn: Pbn) {
        self.free.insert((self.rank(flash, pbn), self.freed), pbn);
        self.freed += 1;
    }

    fn rank(&self, flash: &Flash, pbn: Pbn) -> u64 {
        (self.alloc.rank)(pbn, flash.erase_count(pbn))
    }

    /// A block is full (or will not be programmed further): from now on it may be collected.
    pub fn close(&mut self, pbn: Pbn) {
        let position = self.position(pbn);
        assert_eq!(self.closed_at[position], NOT_CLOSED, "block {} is closed already", pbn.0);
        self.closed_at[position] = self.next_close;
        if self.victim.0.by_age {
            self.order.push_back((position as u32, self.next_close));
        }
        if self.order.len() > 2 * self.closed_at.len() {
            let closed_at = &self.closed_at;
            self.order.retain(|(p, at)| closed_at[*p as usize] == *at);
        }
        self.next_close += 1;
        self.place[position] = self.closed.len() as u32;
        self.closed.push(position as u32);
        self.by_valid.note(position as u32);
    }

    /// The number of valid pages of the block at a position fell.
    #[inline]
    pub fn touched(&mut self, position: u32) {
        self.by_valid.note(position);
    }

    /// Picks the victim, which is no longer closed afterwards; `None` when no block is closed.
    pub fn pick_victim(&mut self, flash: &Flash) -> Option<Pbn> {
        if self.closed.is_empty() {
            return None;
        }
        let (rule, number) = self.victim;
        // Without stale entries at its head the queue begins with the oldest block.
        while self.order.front().is_some_and(|(position, at)| self.closed_at[*position as usize] != *at) {
            self.order.pop_front();
        }
        let position = (rule.pick)(&mut Candidates { pool: self, flash }, number);
        let pbn = Pbn(self.first + position * self.stride);
        self.reopen(pbn);
        Some(pbn)
    }

    /// Picks the block with the fewest valid pages, whatever the policy: the last resort of a policy that keeps picking
    /// blocks that are fully valid.
    pub fn pick_fewest_valid(&mut self, flash: &Flash) -> Option<Pbn> {
        if self.closed.is_empty() {
            return None;
        }
        let pbn = Pbn(self.first + self.fewest_valid(flash) * self.stride);
        self.reopen(pbn);
        Some(pbn)
    }

    /// Fewest valid pages of a closed block.
    pub fn fewest_valid_pages(&mut self, flash: &Flash) -> Option<u32> {
        (!self.closed.is_empty()).then(|| self.fewest_valid(flash)).map(|position| self.valid(flash, position))
    }

    /// Takes a closed block out of the candidates.
    pub fn reopen(&mut self, pbn: Pbn) {
        let position = self.position(pbn);
        assert_ne!(self.closed_at[position], NOT_CLOSED, "block {} is not closed", pbn.0);
        self.closed_at[position] = NOT_CLOSED;
        self.by_valid.remove(position as u32);
        let place = self.place[position] as usize;
        self.closed.swap_remove(place);
        if let Some(moved) = self.closed.get(place) {
            self.place[*moved as usize] = place as u32;
        }
    }

    #[inline]
    fn position(&self, pbn: Pbn) -> usize {
        self.by_stride.quotient(pbn.0) as usize
    }

    fn valid(&self, flash: &Flash, position: u32) -> u32 {
        flash.valid_pages(Pbn(self.first + position * self.stride))
    }

    fn fewest_valid(&mut self, flash: &Flash) -> u32 {
        let (first, stride) = (self.first, self.stride);
        let valid = |position| flash.valid_pages(Pbn(first + position * stride));
        self.by_valid.least(&self.closed_at, valid).expect("a block is closed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flash::{Clock, ClockTimes, Geometry, Media, Oob, ProgramOrder, Ticket, TimingModel};
    use crate::ftl::victim::Victim;
    use crate::ledger::Cause;
    use crate::types::{Lpn, Nanos, Ppn};

    /// Blocks of 6 pages with that many valid ones, closed in this order; the victims in the order in which they are
    /// picked.
    fn victims(victim: Victim, valid: &[u32]) -> Vec<u32> {
        let geometry = Geometry::single_die(valid.len() as u32, 6, 512);
        let clock = Clock::new(TimingModel::named("serial"), ClockTimes::cells(Nanos(1), Nanos(1), Nanos(1)), 1, 1);
        let mut flash = Flash::new(geometry, ProgramOrder::Strict, Media::None, clock);
        let mut pool = Pool::new(0, 1, valid.len() as u32, Alloc::default(), victim, 1);
        for (block, valid) in valid.iter().enumerate() {
            let pbn = pool.take();
            assert_eq!(pbn.index(), block);
            for page in 0..6 {
                let ppn = Ppn(pbn.0 * 6 + page);
                flash.program(ppn, Oob::data(Lpn(ppn.0), 0), &[], Cause::Host, Ticket::at(Nanos(0)));
                if page >= *valid {
                    flash.invalidate(ppn);
                }
            }
            pool.close(pbn);
        }
        (0..valid.len()).map_while(|_| pool.pick_victim(&flash)).map(|pbn| pbn.0).collect()
    }

    #[test]
    fn ties_of_scores_go_to_the_block_closed_earliest() {
        // Ages count closings: block 0 has 4, block 1 3, block 2 2, block 3 1.
        // 4 * 2 / (2 * 4) = 1; 3 * 2 / (2 * 4) = 3/4; 2 * 3 / (2 * 3) = 1; 1 * 4 / (2 * 2) = 1.
        assert_eq!(victims(Victim::named("cost_benefit"), &[4, 4, 3, 2]), [0, 2, 3, 1]);
        assert_eq!(victims(Victim::named("cost_benefit"), &[6, 0, 0, 0]), [1, 2, 3, 0], "empty blocks tie");
    }

    #[test]
    fn window_holds_as_many_blocks_as_it_says() {
        let windowed = |w: u32| serde_json::from_value(serde_json::json!({"windowed_greedy": w})).unwrap();
        let valid = [5, 4, 3, 2, 1, 0];
        // Each pick takes the last of the window, which then moves on by one block.
        assert_eq!(victims(windowed(1), &valid), [0, 1, 2, 3, 4, 5]);
        assert_eq!(victims(windowed(2), &valid), [1, 2, 3, 4, 5, 0]);
        assert_eq!(victims(windowed(4), &valid), [3, 4, 5, 2, 1, 0]);
        assert_eq!(victims(windowed(6), &valid), [5, 4, 3, 2, 1, 0]);
    }
}
