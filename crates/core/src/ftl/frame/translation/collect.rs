//! Garbage collection: at once or in slices, of data and translation blocks.

use super::regions::Best;
use super::{MapCache, Moved, Translation};
use crate::flash::{Flash, Oob, Ticket};
use crate::ftl::PageWrite;
use crate::ftl::frame::space::{FrontierId, Job};
use crate::ledger::{Cause, Op};
use crate::types::{Lpn, Pbn};

/// Victims that a policy chooses until a demand-mapped FTL has the blocks that it needs; then those with the fewest valid pages
/// are taken. The good policies need a few.
const MOST_TURNS: u64 = 16;

/// Which block is collected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Choice {
    /// That of the victim policy.
    Policy,
    /// The one with the fewest valid pages.
    FewestValid,
    /// The oldest one of the SLC cache.
    Slc,
}

/// What collection is to achieve.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// A group
    pub group: u32,
    /// with as many free blocks,
    pub wanted: u32,
    /// or, with a resident map, room in this frontier.
    pub room_in: Option<FrontierId>,
}

impl Translation {
    /// Makes sure that a page of the host can be appended, with slices after one of them, and tells where and when: as soon
    /// as its data is `ready` and collection does not lag behind too far.
    #[expect(clippy::inline_always, reason = "as in Space: the way of every page that is written")]
    #[inline(always)]
    pub fn room_for_data<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        page: &PageWrite,
        after: Ticket,
        mut ready: Ticket,
    ) -> (FrontierId, Ticket) {
        let to = self.space.host_frontier(flash, page.lpn, page.cause);
        if self.space.layout().upkeep.gc_slice.has_slices() {
            ready = self.room_after_slice(flash, cache, to, after, ready);
        } else if self.space.tail(to) == 0 {
            self.make_room(flash, cache, to, after);
        }
        (to, ready)
    }

    /// The ticket tells when all that was collected is over.
    #[inline(never)]
    fn make_room<C: MapCache>(&mut self, flash: &mut Flash, cache: &mut C, to: FrontierId, after: Ticket) -> Ticket {
        let (group, wanted) = (self.space.group(to), self.space.reserve() + 1);
        let done = self.collect_until(flash, cache, Goal { group, wanted, room_in: Some(to) }, after);
        if self.space.tail(to) == 0 {
            self.space.open(flash, to);
        }
        done
    }

    /// Collects until the goal is reached, and every group has its reserve (rewriting translation pages may have taken
    /// blocks of other groups). The ticket tells when all that is over.
    pub(super) fn collect_until<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        goal: Goal,
        after: Ticket,
    ) -> Ticket {
        let mut done = after;
        let blocks = u64::from(flash.geometry().blocks());
        // A policy that keeps picking blocks which gain too little is overruled: after as many turns as there are blocks where a
        // full block only costs its copies, and soon where each of them also rewrites translation pages, which may take more
        // blocks than it gives back.
        let patience = if C::RESIDENT { blocks } else { MOST_TURNS };
        // Every collection of the best victim gains a page of at most all pages (see the module text).
        for turn in 0..=2 * flash.geometry().pages() + 2 * blocks {
            if C::RESIDENT && goal.room_in.is_some_and(|to| self.space.tail(to) > 0) {
                return done;
            }
            let short = if self.space.free(goal.group) < goal.wanted {
                Some(goal.group)
            } else if C::RESIDENT {
                None
            } else {
                (0..self.space.groups()).find(|other| self.space.is_short(*other))
            };
            let Some(short) = short else { return done };
            let choice = if turn > patience { Choice::FewestValid } else { Choice::Policy };
            let collected = self.collect(flash, cache, short, choice, after);
            done = flash.clock.join(done, collected);
        }
        panic!("garbage collection makes no progress: more is valid than the group can hold");
    }

    /// After work that is not collection for the host: every group gets its reserve back.
    pub(super) fn restore_reserves<C: MapCache>(&mut self, flash: &mut Flash, cache: &mut C, after: Ticket) {
        if !C::RESIDENT {
            self.collect_until(flash, cache, Goal { group: 0, wanted: 0, room_in: None }, after);
        }
    }

    /// Collects one victim of a group, or what is left of one that is collected in slices. Resolves
    /// with the erase, if that is what the map waits for.
    pub(super) fn collect<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        group: u32,
        choice: Choice,
        after: Ticket,
    ) -> Ticket {
        let scarce = self.copies > 0 && self.space.free(group) < 2;
        let mut compact = if scarce { self.space.pick_map_victim(flash, group) } else { None };
        if compact.is_none()
            && let Some(job) = self.space.sliced[group as usize].take()
        {
            return self.finish(flash, cache, job, after);
        }
        flash.ledger.gc_runs += 1;
        if compact.is_none() && self.space.has_regions() {
            match self.best_in_group(flash, group) {
                Best::Region(number) => {
                    self.collect_region(flash, cache, number, after);
                    return after;
                }
                Best::Map => compact = self.space.pick_map_victim(flash, group),
            }
        }
        let victim = match compact {
            None => match choice {
                Choice::Policy => self.space.pick_victim(flash, group),
                Choice::FewestValid => self.space.pick_fewest_valid(flash, group),
                Choice::Slc => self.space.pick_slc(group),
            },
            some => some,
        };
        let victim = victim.expect("a closed block exists when space runs out");
        // Where collection gains too little, levelling must not take it: a cold block that moves rewrites translation pages too.
        let levels = C::RESIDENT || choice != Choice::FewestValid;
        self.empty(flash, cache, victim, (Cause::Gc, levels), after)
    }

    /// Empties and erases a block that was taken out of the closed ones; wear levelling may follow or not.
    pub(super) fn empty<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        victim: Pbn,
        (cause, levels): (Cause, bool),
        after: Ticket,
    ) -> Ticket {
        if !self.space.holds_map(victim) {
            let job = Job { levels, ..self.job(flash, victim, cause, after) };
            return self.finish(flash, cache, job, after);
        }
        self.collect_map(flash, victim, if cause == Cause::Gc { Cause::MapGc } else { cause }, after);
        self.level_wear(flash, cache, (victim, levels), after, after)
    }

    /// Moves the valid TPs of a victim inside its group.
    pub(super) fn collect_map(&mut self, flash: &mut Flash, victim: Pbn, cause: Cause, after: Ticket) {
        let group = self.space.group_of(victim);
        // What collection moves has a cause of its own; of others the cause does not tell that these are TPs.
        let before = (cause != Cause::MapGc).then_some(flash.ledger);
        let mut done = after;
        let mut from = 0;
        while let Some(source) = flash.next_valid(victim, from) {
            from = flash.geometry().page_in_block(source) + 1;
            let to = self.space.map_frontier(group);
            if self.space.tail(to) == 0 {
                self.space.open(flash, to);
            }
            let target = self.space.append(to);
            let tp = flash.number(source);
            let ticket = if flash.is_map_readable(source) {
                flash.copy(source, target, cause, after)
            } else {
                let read = self.fetch(flash, tp, cause, after);
                let ticket = flash.program(target, Oob::map(tp), &[], cause, read);
                flash.invalidate(source);
                ticket
            };
            done = flash.clock.join(done, ticket);
            let copies = &mut self.directory[(tp * self.copies) as usize..][..self.copies as usize];
            let copy = copies.iter_mut().find(|copy| **copy == source);
            *copy.expect("a valid translation page is in the directory") = target;
        }
        if let Some(before) = before {
            let work = flash.ledger - before;
            flash.ledger.map_move_reads += work.count(Op::Read, cause);
            flash.ledger.map_move_programs += work.count(Op::Program, cause);
            flash.ledger.map_move_ns += work.nanos(Op::Read, cause) + work.nanos(Op::Program, cause);
        }
        self.space.release(flash, victim, cause, done);
    }

    /// Moves the valid pages of a victim and erases it.
    pub(super) fn collect_data<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        victim: Pbn,
        cause: Cause,
        after: Ticket,
    ) -> Ticket {
        let job = self.job(flash, victim, cause, after);
        self.finish(flash, cache, job, after)
    }

    fn job(&self, flash: &Flash, victim: Pbn, cause: Cause, after: Ticket) -> Job {
        let to = match cause {
            Cause::Wear => self.space.cold_frontier(self.space.group_of(victim)),
            _ => self.space.copy_frontier(victim),
        };
        Job { victim, valid: flash.valid_pages(victim), from: 0, done: after, to, cause, levels: true }
    }

    fn finish<C: MapCache>(&mut self, flash: &mut Flash, cache: &mut C, mut job: Job, after: Ticket) -> Ticket {
        self.go_on(flash, cache, &mut job, u32::MAX, after).expect("a collection without limit ends")
    }

    /// Moves up to `most` valid pages of a victim; mappings that are not in RAM are changed in their TPs, one rewrite each.
    /// When no page is left, the victim is erased: then the ticket of that.
    fn go_on<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        job: &mut Job,
        most: u32,
        after: Ticket,
    ) -> Option<Ticket> {
        let mut moved = std::mem::take(&mut self.moved);
        let mut left = most;
        let first = flash.geometry().first_page(job.victim);
        let is_empty = loop {
            let Some(source) = flash.next_valid(job.victim, job.from) else { break true };
            if left == 0 {
                break false;
            }
            left -= 1;
            job.from = source.0 - first.0 + 1;
            if self.space.tail(job.to) == 0 {
                self.space.open(flash, job.to);
            }
            let target = self.space.append(job.to);
            let lpn = Lpn(flash.number(source));
            let ticket = flash.copy(source, target, job.cause, after);
            job.done = if C::RESIDENT { ticket } else { flash.clock.join(job.done, ticket) };
            match cache.moved(lpn, target) {
                Moved::InRam => {}
                Moved::Nowhere => moved.push((lpn, target)),
                Moved::Everywhere => self.content.set(lpn.index(), target),
            }
        };
        if !moved.is_empty() {
            job.done = self.update(flash, cache, &mut moved, after, job.done);
        }
        self.moved = moved;
        if !is_empty {
            return None;
        }
        let erased = self.space.release(flash, job.victim, job.cause, job.done);
        Some(match job.cause {
            Cause::Wear | Cause::Recover => erased,
            _ => self.level_wear(flash, cache, (job.victim, job.levels), erased, after),
        })
    }

    /// Before a page of the host that is `ready`: a slice of a collection, if space is about to run out, and whatever else
    /// makes room. Resolves when the page may be programmed.
    #[inline(never)]
    fn room_after_slice<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        to: FrontierId,
        after: Ticket,
        ready: Ticket,
    ) -> Ticket {
        let group = self.space.group(to);
        let mut collected = None;
        if self.space.wants_space(flash, group, self.space.watermark()) {
            collected = Some(self.collect_slice(flash, cache, to, after));
            self.restore_reserves(flash, cache, after);
        }
        if self.space.tail(to) == 0 {
            let rest = self.make_room(flash, cache, to, after);
            if rest != after {
                collected = Some(collected.map_or(rest, |slice| flash.clock.join(slice, rest)));
            }
        }
        let offset = self.space.offset(to);
        self.lag.page(flash, (group, offset), self.space.dummies(), collected, ready)
    }

    /// A slice of the collection of data; the ticket tells when it is over. Translation blocks are collected at once.
    fn collect_slice<C: MapCache>(
        &mut self,
        flash: &mut Flash,
        cache: &mut C,
        to: FrontierId,
        after: Ticket,
    ) -> Ticket {
        let group = self.space.group(to);
        let mut job = if let Some(job) = self.space.sliced[group as usize].take() {
            job
        } else {
            flash.ledger.gc_runs += 1;
            let victim = self.space.pick_victim(flash, group).expect("a closed block gains a page");
            if self.space.holds_map(victim) {
                return self.empty(flash, cache, victim, (Cause::Gc, true), after);
            }
            self.job(flash, victim, Cause::Gc, after)
        };
        // A page that leaves others without data pays for them too.
        let dummies = self.space.dummies();
        let (copies, room) = (self.copies_for_a_block(flash, group, &job), self.space.tail(to) + dummies);
        let most = self.space.layout().upkeep.gc_slice.slice(copies, room).saturating_mul(1 + dummies);
        let erased = self.go_on(flash, cache, &mut job, most, after);
        if erased.is_none() {
            self.space.sliced[group as usize] = Some(job);
        }
        erased.unwrap_or(job.done)
    }

    /// Pages that collection has to copy until the group of the victim has a block more than its watermark, if the victims
    /// after this one have as many valid pages. Copies take blocks too: `k` victims of `n` pages, of which `v` are valid, give
    /// `k` blocks back and take another whenever the copy frontier, which has room for `tail` pages, is full. So `b` blocks are
    /// gained as soon as `k n >= b n + (k v - tail)`. A page of the victim that the host wrote meanwhile counts as copied: the
    /// estimate is a little low. A victim all of whose pages are valid, as `random` and `fifo` take them, says nothing of those
    /// after it: it is copied away, and the next one is asked.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "before every slice, from one place")]
    fn copies_for_a_block(&self, flash: &Flash, group: u32, job: &Job) -> u32 {
        let (pages, left) = (self.space.pages_per_block(), flash.valid_pages(job.victim));
        if job.valid == pages {
            return left;
        }
        let blocks = (self.space.watermark() + 1).saturating_sub(self.space.free(group)).max(1);
        let room = self.space.tail(job.to) + job.valid.saturating_sub(left);
        let victims = (blocks * pages).saturating_sub(room).div_ceil(pages - job.valid).max(blocks);
        left.saturating_add((victims - 1).saturating_mul(job.valid))
    }
}
