//! What is to be flushed ahead of need, and when.
//!
//! Time passes in [`Storage::next_due`] alone, from one instant at which something happens to the next: so a page is written
//! when it has aged, also where no request comes for long.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Storage;
use super::leaving::is_over;
use crate::buffer::{Fill, Medium, Slots};
use crate::engine::FlushAhead;
use crate::engine::inflight::Inflight;
use crate::flash::{Clock, Ticket};
use crate::types::{Nanos, Slot};

/// A write that is due now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::engine) enum Due {
    /// Of these pages, which have been dirty for the longest, because one of them has been for too long.
    Aged(Vec<Slot>),
    /// The same, because there are as many as are gathered.
    Gathered(Vec<Slot>),
    /// Of what the policy gives next.
    Fill,
}

/// A page that has been dirty since a time, if it still is.
#[derive(Clone, Copy, Debug)]
struct Dated {
    since: Nanos,
    slot: Slot,
    number: u64,
}

impl Dated {
    fn stands(self, latest: &[u64], slots: &Slots) -> bool {
        slots.is_dated(self.slot) && latest[self.slot.index()] == self.number
    }
}

/// What is flushed ahead, and what of it is under way.
#[derive(Debug)]
pub(in crate::engine) struct Flusher {
    settings: FlushAhead,
    /// The buffer was fuller than the upper mark, and has not come down to the lower one since.
    evicting: bool,
    /// The policy gave nothing: it is asked again after the next request.
    gave_nothing: bool,
    /// Pages whose writes are not over,
    under_way: u64,
    /// and of these the writes whose ends are known, as (end, pages). The clock tells of the others.
    known: BinaryHeap<Reverse<(Nanos, u64)>>,
    /// Dirty pages by the time since when they have been, the oldest first; with some that are not any more.
    dated: VecDeque<Dated>,
    /// By slot: number of its latest entry there, and how many there were.
    latest: Vec<u64>,
    entries: u64,
    /// The FTL has been given the idle time up to here.
    idle_until: Nanos,
}

impl Flusher {
    pub(super) const fn new(settings: FlushAhead) -> Self {
        Self {
            settings,
            evicting: false,
            gave_nothing: false,
            under_way: 0,
            known: BinaryHeap::new(),
            dated: VecDeque::new(),
            latest: Vec::new(),
            entries: 0,
            idle_until: Nanos::ZERO,
        }
    }

    /// True if it matters since when pages have been dirty.
    pub(super) const fn wants_dates(&self) -> bool {
        self.settings.age.is_some() || self.settings.gather.is_some()
    }

    /// The page is dirty; times never go back.
    fn date(&mut self, slots: &mut Slots, slot: Slot, since: Nanos) {
        if slots.is_dated(slot) {
            return;
        }
        slots.set_dated(slot);
        self.entries += 1;
        self.latest.resize(self.latest.len().max(slot.index() + 1), 0);
        self.latest[slot.index()] = self.entries;
        if self.dated.len() > 2 * slots.slot_count() {
            let latest = &self.latest;
            self.dated.retain(|entry| entry.stands(latest, slots));
        }
        self.dated.push_back(Dated { since, slot, number: self.entries });
    }

    /// When a page will have been dirty for too long.
    fn ages(&mut self, slots: &Slots) -> Option<Nanos> {
        let age = self.settings.age?;
        while let Some(entry) = self.dated.front() {
            if entry.stands(&self.latest, slots) {
                return Some(entry.since + age);
            }
            self.dated.pop_front();
        }
        None
    }

    /// The pages that are to be written together now, if any: those that have been dirty for the longest, when one has been
    /// for too long, or when there are as many as are gathered.
    fn take_due(&mut self, slots: &Slots, now: Nanos) -> Option<Due> {
        let has_aged = self.ages(slots).is_some_and(|at| at <= now);
        let most = self.settings.gather.unwrap_or(1) as usize;
        if !has_aged && (self.settings.gather.is_none() || self.dated.len() < most) {
            return None;
        }
        let mut oldest = Vec::with_capacity(most);
        while oldest.len() < most
            && let Some(entry) = self.dated.pop_front()
        {
            if entry.stands(&self.latest, slots) {
                oldest.push(entry);
            }
        }
        let pages = || oldest.iter().map(|entry| entry.slot).collect();
        if has_aged {
            return Some(Due::Aged(pages()));
        }
        if oldest.len() == most {
            return Some(Due::Gathered(pages()));
        }
        self.dated.extend(oldest);
        None
    }

    /// True if another write may begin.
    const fn has_place(&self) -> bool {
        self.under_way < self.settings.most as u64
    }

    /// Forgets the writes that are over now; the clock has told of those of this many pages.
    fn end(&mut self, now: Nanos, told: u64) {
        self.under_way -= told;
        while let Some(&Reverse((_, pages))) = self.known.peek().filter(|Reverse((at, _))| *at <= now) {
            self.under_way -= pages;
            self.known.pop();
        }
    }

    /// What is due now.
    fn due(&mut self, fill: Option<Fill>, slots: &Slots, clock: &Clock) -> Option<Due> {
        if !self.has_place() {
            return None;
        }
        if let Some(due) = self.take_due(slots, clock.now()) {
            return Some(due);
        }
        let (marks, Fill { used, frames }) = (self.settings.marks?, fill?);
        let mark = if self.evicting { marks.below } else { marks.above };
        self.evicting = f64::from(used) > mark * f64::from(frames);
        (self.evicting && !self.gave_nothing).then_some(Due::Fill)
    }

    /// When something will be due although nothing happens before.
    fn wakes(&mut self, slots: &Slots) -> Option<Nanos> {
        if self.has_place() {
            return self.ages(slots);
        }
        // Where the end of every operation is known when it is issued, no event tells of it.
        self.known.peek().map(|Reverse((at, _))| *at)
    }

    /// A write of this many pages has begun.
    pub(in crate::engine) fn began(&mut self, clock: &mut Clock, done: Ticket, pages: u64) {
        self.under_way += pages;
        match clock.time(done) {
            Some(at) => self.known.push(Reverse((at, pages))),
            None => Inflight::watch_flushed(clock, done, pages),
        }
    }
    /// The policy was asked to make room, and made none.
    pub(in crate::engine) const fn got_nothing(&mut self) {
        self.gave_nothing = true;
    }
    /// A request has changed the buffer.
    pub(in crate::engine) const fn ask_again(&mut self) {
        self.gave_nothing = false;
    }
    /// Power fails.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.settings);
    }
}

impl Storage {
    /// Lets time pass until a write ahead is due, and tells which; `None` when the request that comes at that time can be
    /// admitted, or, without one, when all requests are complete. What becomes due at the very time of a request goes
    /// before it.
    pub(in crate::engine) fn next_due(
        &mut self,
        request_at: Option<Nanos>,
        fill: Option<Fill>,
        slots: &Slots,
    ) -> Option<Due> {
        loop {
            let clock = &mut self.flash.clock;
            self.inflight.settle(clock);
            let flusher = self.flusher.as_mut()?;
            flusher.end(clock.now(), std::mem::take(&mut self.inflight.flushed));
            if request_at.is_none() && self.inflight.is_complete(clock.now()) {
                return None;
            }
            let due = flusher.due(fill, slots, clock);
            if due.is_some() {
                return due;
            }
            let wakes = flusher.wakes(slots);
            let known = match request_at {
                Some(at) if self.inflight.admits(clock, at) => return None,
                Some(at) => self.inflight.may_admit(clock, at),
                None => self.inflight.last_known(clock.now()),
            };
            let event = clock.next_event();
            let next = [known, event].into_iter().flatten().min()?;
            let next = wakes.map_or(next, |wakes| next.min(wakes));
            if event.is_none() && request_at.is_some() && self.gave_idle_time(next, slots) {
                continue;
            }
            self.flash.clock.advance(next);
        }
    }

    /// Gives the FTL the time until then, in which nothing else happens, once.
    fn gave_idle_time(&mut self, until: Nanos, slots: &Slots) -> bool {
        let Some(flusher) = self.flusher.as_mut().filter(|flusher| until > flusher.idle_until) else { return false };
        flusher.idle_until = until;
        if !self.ftl.works_in_idle_time() || until <= self.flash.now() {
            return false;
        }
        self.snapshot_nvram(slots);
        self.ftl.idle(&mut self.flash, until);
        true
    }

    /// The page has been dirty since the request that is served began, if it was clean before.
    pub(super) fn date(&mut self, slots: &mut Slots, slot: Slot) {
        if let Some(flusher) = self.flusher.as_mut().filter(|flusher| flusher.wants_dates())
            && slots.medium(slot) == Medium::Dram
        {
            flusher.date(slots, slot, self.begins);
        }
    }

    /// A page stays in its frame and is written when `done` resolves.
    pub(super) fn keep_frame(&mut self, slots: &mut Slots, slot: Slot, done: Ticket) {
        let is_first = !self.leaving.has_kept();
        self.leaving.keep(slots, slot, done);
        if is_first {
            self.set_observed();
        }
    }

    /// A page takes a frame in that memory: when it can be used, joined with `room`.
    pub(super) fn take_frame(&mut self, slots: &Slots, medium: Medium, room: Ticket) -> Ticket {
        let Some(done) = self.leaving.take(medium, slots, &self.flash.clock) else { return room };
        self.flash.ledger.eviction_waits += 1;
        self.flash.clock.join(room, done)
    }

    /// A frame is given up, and what was in it is written when `done` resolves.
    #[inline]
    pub(super) fn give_up(&mut self, medium: Medium, done: Ticket) {
        if !is_over(&self.flash.clock, done) {
            self.leaving.give_up(medium, done);
        }
    }
}
