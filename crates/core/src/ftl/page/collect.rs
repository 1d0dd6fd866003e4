//! How the page-mapped FTL makes room: garbage collection at once, in slices or in idle time, and static wear levelling.

use super::group::{GC, Job, WEAR};
use super::{GcFrontier, Page};
use crate::flash::{Flash, Ticket};
use crate::ledger::{BlockKind, Cause, Op};
use crate::types::{Nanos, Pbn};

impl Page {
    /// Gives a full host frontier a block.
    #[inline(never)]
    pub(super) fn make_room(&mut self, flash: &mut Flash, group: usize, place: usize, after: Ticket) {
        // Each collection of a victim that is not fully valid yields space. Policies that do not look at valid pages
        // may miss such victims for long, so after as many turns as there are blocks the best one is taken.
        for turn in 0..=2 * self.geometry.blocks() {
            if !self.groups[group].is_full(place) {
                return;
            }
            if self.groups[group].pool.free_count() > self.params.reserve {
                self.open(flash, group, place);
                return;
            }
            self.collect(flash, group, turn > self.geometry.blocks(), after);
        }
        panic!("garbage collection makes no progress: more data is valid than the group can hold");
    }

    #[inline(never)]
    fn open(&mut self, flash: &Flash, group: usize, place: usize) {
        let pbn = self.groups[group].open(flash, place);
        if self.heat.is_on() {
            // What collection and levelling gather has proved to be cold.
            self.stream_of_block[pbn.index()] = if place < GC { place as u8 } else { 0 };
        }
    }

    /// Empties one victim, or what is left of one that is collected in slices: the one with the fewest valid pages if
    /// space is `urgent`, else by the policy. Resolves with the erase.
    fn collect(&mut self, flash: &mut Flash, group: usize, urgent: bool, after: Ticket) -> Ticket {
        let sliced = self.groups[group].sliced.take();
        let mut job = sliced.unwrap_or_else(|| self.begin(flash, group, urgent, after));
        let erased = self.go_on(flash, group, &mut job, u32::MAX, after);
        erased.expect("a collection without limit ends")
    }

    /// Picks a victim.
    fn begin(&mut self, flash: &mut Flash, group: usize, urgent: bool, after: Ticket) -> Job {
        flash.ledger.gc_runs += 1;
        let pool = &mut self.groups[group].pool;
        let victim = if urgent { pool.pick_fewest_valid(flash) } else { pool.pick_victim(flash) };
        let victim = victim.expect("a closed block exists when space runs out");
        Job { victim, from: 0, last: after, place: self.copy_place(victim), cause: Cause::Gc }
    }

    /// Frontier to which the pages of a victim go: with a shared frontier that of its stream.
    fn copy_place(&self, victim: Pbn) -> usize {
        match self.params.gc_frontier {
            GcFrontier::Separate => GC,
            GcFrontier::Shared if self.heat.is_on() => usize::from(self.stream_of_block[victim.index()]),
            GcFrontier::Shared => 0,
        }
    }

    /// Copies up to `most` pages of a victim and erases it when none is left; then the ticket of the erase.
    fn go_on(&mut self, flash: &mut Flash, group: usize, job: &mut Job, most: u32, after: Ticket) -> Option<Ticket> {
        let mut copies = 0;
        while let Some(source) = flash.next_valid(job.victim, job.from) {
            if copies == most {
                return None;
            }
            copies += 1;
            job.from = self.geometry.page_in_block(source) + 1;
            let mut open = &mut self.groups[group];
            if open.is_full(job.place) {
                self.open(flash, group, job.place);
                open = &mut self.groups[group];
            }
            let target = open.append(job.place);
            let lpn = flash.oob(source).number;
            job.last = flash.copy(source, target, job.cause, after);
            self.map.set(lpn as usize, target);
        }
        // Copies may go to other dies (single frontier): the erase waits for the last of them.
        let erased = flash.erase(job.victim, BlockKind::Data, job.cause, job.last);
        self.groups[group].pool.give_back(job.victim);
        match self.params.wear_threshold {
            Some(threshold) if job.cause != Cause::Wear => {
                Some(self.level_wear(flash, group, threshold, job.victim, erased))
            }
            _ => Some(erased),
        }
    }

    /// Before a write of the host: a slice of a collection, if space is about to run out.
    pub(super) fn collect_slice(&mut self, flash: &mut Flash, group: usize, most: u32, after: Ticket) {
        let mut job = match self.groups[group].sliced.take() {
            Some(job) => job,
            None if self.wants_space(flash, group, self.params.reserve) => self.begin(flash, group, false, after),
            None => return,
        };
        if self.go_on(flash, group, &mut job, most, after).is_none() {
            self.groups[group].sliced = Some(job);
        }
    }

    /// True if no more than `enough` blocks are free and collecting one would yield space.
    fn wants_space(&mut self, flash: &Flash, group: usize, enough: u32) -> bool {
        let pool = &mut self.groups[group].pool;
        pool.free_count() <= enough
            && pool.fewest_valid_pages(flash).is_some_and(|valid| valid < self.geometry.pages_per_block)
    }

    /// If the most and the least erased block of a group are more than `threshold` erases apart: the pages of the
    /// least erased closed block, which are cold, move to the most erased free one.
    fn level_wear(&mut self, flash: &mut Flash, group: usize, threshold: u32, erased: Pbn, after: Ticket) -> Ticket {
        let Some(victim) = self.groups[group].pool.pick_cold(flash, erased, threshold) else { return after };
        let mut job = Job { victim, from: 0, last: after, place: WEAR, cause: Cause::Wear };
        self.go_on(flash, group, &mut job, u32::MAX, after).expect("a move without limit ends")
    }

    /// Relocates closed blocks that were read too often; open ones and one in collection are erased soon or named again.
    #[inline(never)]
    pub(super) fn relocate_disturbed(&mut self, flash: &mut Flash, after: Ticket) {
        while let Some(victim) = flash.take_disturbed() {
            let group = self.by_group.remainder(victim.0) as usize;
            if self.groups[group].sliced.is_some() {
                // It may hold the block that this relocation needs.
                self.collect(flash, group, false, after);
            }
            if self.groups[group].pool.is_closed(victim) {
                self.groups[group].pool.reopen(victim);
                let place = self.copy_place(victim);
                let mut job = Job { victim, from: 0, last: after, place, cause: Cause::Refresh };
                self.go_on(flash, group, &mut job, u32::MAX, after);
            }
        }
    }

    /// Collects in every group until enough blocks are free, as long as the next collection certainly ends in time:
    /// all pages of a block copied, one after the other, without waiting for other dies.
    pub(super) fn collect_in_idle_time(&mut self, flash: &mut Flash, until: Nanos) {
        let time = |op| flash.clock.service(op).0;
        let pages = u64::from(self.geometry.pages_per_block);
        let longest = pages * (time(Op::Read) + time(Op::Program)) + time(Op::Erase);
        let start = flash.now();
        for group in 0..self.groups.len() {
            let channel = if self.groups.len() == 1 { 0 } else { self.geometry.channel_of_die(group as u32) };
            let mut spent = Nanos::ZERO;
            let mut after = Ticket::at(start);
            while self.groups[group].sliced.is_some()
                || self.wants_space(flash, group, self.params.reserve + self.params.idle_free - 1)
            {
                let from = flash.clock.channel_busy_until(channel).max(start + spent);
                if from + Nanos(longest) > until {
                    break;
                }
                after = self.collect(flash, group, true, after);
                spent += Nanos(longest);
            }
        }
    }
}
