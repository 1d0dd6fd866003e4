//! Hit-ratio-only mode: a buffer policy without FTL, flash and time.
//!
//! The policy is the same code, called in the same order as in [`Ssd::submit`](crate::engine::Ssd::submit), on the same
//! [`Slots`]; a plan is carried out by freeing frames, so hits and write-backs are those of a whole device. There is no
//! flash whose costs could be sensed: a policy that steers by them runs with its initial settings. Pages are whole, as
//! with `partial_write = "fetch"`, and the frames are fixed.
//!
//! The accesses of a batch are known in advance, and a large cache waits for memory more than it computes: so what an
//! access will need is prefetched while those before it are carried out.

use crate::buffer::{Access, Action, Admission, Buffer, BufferShape, FlashTimes, Grain, Medium, Plan, Sense, Slots};
use crate::engine::OutOfRange;
use crate::flash::{Geometry, Media};
use crate::ledger::Ledger;
use crate::types::{Hint, HostOp, HostRequest, Lpn, Nanos, Slot};

/// Pages that are looked up together: the table entries of those after the next ones are asked for, then what the policy
/// keeps of the next ones, then what that refers to for those at hand.
const TOGETHER: usize = 12;
/// Tables up to so many bytes are in a processor's own cache, where asking ahead costs more than it saves.
const NEAR_BYTES: usize = 1 << 20;

/// What a [`HitOnly`] is assembled from.
#[derive(Clone, Copy, Debug)]
pub struct HitParts {
    /// Pages, blocks and logical blocks.
    pub geometry: Geometry,
    /// What the policy is built for.
    pub shape: BufferShape,
}

/// A [`HitOnly`] of any policy.
pub trait Hits {
    /// Carries out host requests; times are ignored.
    ///
    /// # Errors
    /// At the first request beyond the logical pages.
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), OutOfRange>;
    /// Reads or writes single pages, each a request of its own.
    ///
    /// # Panics
    /// At a page beyond the logical pages.
    fn pages(&mut self, lpns: &[Lpn], write: bool);
    /// Counts so far: page accesses, page hits, write-backs, pages sent down, drops and prefetches.
    fn ledger(&self) -> Ledger;
    /// True if the policy takes notice of which pages are neighbours.
    fn sees_neighbours(&self) -> bool;
    /// Dirty pages that are in the buffer now, in whatever memory.
    fn dirty_pages(&self) -> u64;
}

/// See the module text.
#[derive(Debug)]
pub struct HitOnly<B: Buffer> {
    buffer: B,
    slots: Slots,
    plan: Plan,
    ledger: Ledger,
    times: FlashTimes,
    requests: u64,
    /// The tables are too large for a processor's own cache.
    far: bool,
}

/// The first pages of a list, and the rest.
#[inline]
fn start(lpns: &[Lpn]) -> (&[Lpn], &[Lpn]) {
    lpns.split_at(TOGETHER.min(lpns.len()))
}

impl<B: Buffer> HitOnly<B> {
    /// Empty frames.
    pub fn new(parts: &HitParts, mut buffer: B) -> Self {
        let BufferShape { frames, logical_pages, times, .. } = parts.shape;
        buffer.resize(frames);
        let slots = Slots::new(parts.geometry, logical_pages, frames, Media::None);
        let far = slots.table_bytes() > NEAR_BYTES;
        Self { buffer, slots, plan: Plan::default(), ledger: Ledger::default(), times, requests: 0, far }
    }

    /// Asks the memory for what later accesses will need: far ahead, soon and now.
    #[inline]
    fn look_ahead(&self, now: &[Lpn], soon: &[Lpn], far: &[Lpn]) {
        for lpn in far {
            self.slots.look_ahead(*lpn);
            self.buffer.look_far(*lpn);
        }
        if self.slots.slot_count() > 0 {
            for lpn in soon {
                self.buffer.look_ahead(self.slots.find_any(*lpn));
            }
            for lpn in now {
                self.buffer.look_closer(self.slots.find_any(*lpn));
            }
        }
    }

    fn count(&mut self, write: bool, pages: u64, hits: u64) {
        let ledger = &mut self.ledger;
        let (all, found) = if write {
            (&mut ledger.host_page_writes, &mut ledger.buffer_write_hits)
        } else {
            (&mut ledger.host_page_reads, &mut ledger.buffer_read_hits)
        };
        *all += pages;
        *found += hits;
    }

    /// One page access: true if it hits.
    #[expect(clippy::inline_always, reason = "two loops call it, and a hit is little more than the policy's own work")]
    #[inline(always)]
    fn access(&mut self, access: &Access) -> bool {
        let slot = self.slots.find(access.lpn);
        if slot.is_some() {
            if access.write {
                self.slots.write(slot, 0);
            }
            let sense = Sense { now: Nanos::ZERO, ledger: &self.ledger, times: self.times };
            self.buffer.on_hit(slot, access, &self.slots, &sense);
        } else {
            // By value here and below, so that the access itself stays in registers.
            self.miss(*access);
        }
        let sense = Sense { now: Nanos::ZERO, ledger: &self.ledger, times: self.times };
        self.buffer.after_access(access, slot.is_some(), &self.slots, &sense, &mut self.plan);
        if !self.plan.is_empty() {
            self.carry_out_afterthought(*access);
        }
        slot.is_some()
    }

    /// Accesses to single pages: the number of hits.
    #[inline]
    fn each(&mut self, lpns: &[Lpn], write: bool) -> u64 {
        let mut hits = 0;
        let mut access =
            Access { lpn: Lpn::NONE, write, request: self.requests, request_pages: 1, hint: Hint::default() };
        for lpn in lpns {
            access.lpn = *lpn;
            access.request += 1;
            hits += u64::from(self.access(&access));
        }
        self.requests = access.request;
        hits
    }

    #[inline(never)]
    fn miss(&mut self, access: Access) {
        let sense = Sense { now: Nanos::ZERO, ledger: &self.ledger, times: self.times };
        let Admission::Admit(medium) = self.buffer.on_miss(&access, &self.slots, &sense) else {
            self.ledger.buffer_write_pages += u64::from(access.write);
            return;
        };
        let mut rounds = 0;
        while !self.buffer.has_room(Some(&access), &self.slots) {
            let sense = Sense { now: Nanos::ZERO, ledger: &self.ledger, times: self.times };
            self.buffer.make_room(Some(&access), &self.slots, &sense, &mut self.plan);
            self.carry_out_plan(&access);
            rounds += 1;
            assert!(rounds <= 2 * self.slots.slot_count() + 2, "the policy makes no room");
        }
        if self.far
            && let Some(lpn) = self.slots.look_ahead_victims(self.buffer.next_victims())
        {
            self.buffer.look_far(lpn);
        }
        let slot = self.slots.insert_complete(access.lpn, medium);
        if access.write {
            self.slots.write(slot, 0);
        }
        self.buffer.on_insert(slot, &access, &self.slots);
    }

    /// What the policy planned after the access.
    #[inline(never)]
    fn carry_out_afterthought(&mut self, access: Access) {
        self.carry_out_plan(&access);
    }

    #[inline]
    fn carry_out_plan(&mut self, access: &Access) {
        for index in 0..self.plan.actions.len() {
            match self.plan.actions[index] {
                Action::WriteBack { start, len, freed, .. } => {
                    self.ledger.write_back_commands += 1;
                    self.ledger.write_back_pages += u64::from(len);
                    self.ledger.buffer_write_pages += u64::from(len);
                    let pages = &self.plan.slots[start as usize..(start + len) as usize];
                    for (at, slot) in pages.iter().enumerate() {
                        assert!(self.slots.is_dirty(*slot), "write-back of clean page {}", self.slots.lpn(*slot).0);
                        if at < freed as usize {
                            self.slots.release(*slot);
                        } else {
                            self.slots.set_clean(*slot);
                        }
                    }
                }
                Action::WriteBackPage(slot) => {
                    self.ledger.write_back_commands += 1;
                    self.ledger.write_back_pages += 1;
                    self.ledger.buffer_write_pages += 1;
                    assert!(self.slots.is_dirty(slot), "write-back of clean page {}", self.slots.lpn(slot).0);
                    self.slots.release(slot);
                }
                Action::Drop(slot) => {
                    assert!(!self.slots.is_dirty(slot), "the policy drops dirty page {}", self.slots.lpn(slot).0);
                    self.ledger.buffer_drops += 1;
                    self.slots.release(slot);
                }
                Action::Move(slot, medium) => self.slots.set_medium(slot, medium),
                Action::Prefetch(lpn) => {
                    self.ledger.prefetched_pages += 1;
                    let slot = self.slots.insert_complete(lpn, Medium::Dram);
                    let ahead = Access { lpn, write: false, request_pages: 1, ..*access };
                    self.buffer.on_insert(slot, &ahead, &self.slots);
                }
            }
        }
        self.plan.actions.clear();
        self.plan.slots.clear();
    }

    /// Host trim of pages `first..end`.
    fn trim(&mut self, first: u64, end: u64) {
        for lpn in first..end {
            let slot = self.slots.find(Lpn(lpn as u32));
            if slot.is_some() {
                self.buffer.on_remove(slot, &self.slots);
                self.slots.release(slot);
            }
        }
    }

    /// Host flush: everything volatile and dirty is written back.
    fn flush(&mut self) {
        let lost = |slot: &Slot| self.slots.is_dirty(*slot) && self.slots.medium(*slot) == Medium::Dram;
        let mut dirty: Vec<Slot> = self.slots.iter().filter(lost).collect();
        dirty.sort_unstable_by_key(|slot| self.slots.lpn(*slot));
        let commands = match self.buffer.grain() {
            Grain::Page => dirty.len(),
            Grain::Block => dirty.chunk_by(|a, b| self.slots.lbn(*a) == self.slots.lbn(*b)).count(),
        };
        self.ledger.write_back_commands += commands as u64;
        self.ledger.write_back_pages += dirty.len() as u64;
        self.ledger.buffer_write_pages += dirty.len() as u64;
        for slot in dirty {
            self.slots.set_clean(slot);
            if !self.buffer.on_clean(slot, &self.slots) {
                self.slots.release(slot);
            }
        }
    }
}

impl<B: Buffer> Hits for HitOnly<B> {
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), OutOfRange> {
        let page_sectors = u64::from(self.slots.geometry().page_sectors());
        let capacity_sectors = u64::from(self.slots.logical_pages()) * page_sectors;
        let mut stream = requests;
        while let Some((pieces, later)) = HostRequest::split_first(stream) {
            stream = later;
            self.requests += 1;
            let request_pages = HostRequest::pages_of(pieces, page_sectors as u32);
            let HostRequest { hint, op, .. } = pieces[0];
            let write = op == HostOp::Write;
            let mut access = Access { lpn: Lpn(0), write, request: self.requests, request_pages, hint };
            for HostRequest { lba, sectors, .. } in pieces {
                let end = lba.checked_add(u64::from(*sectors)).filter(|end| *end <= capacity_sectors);
                let Some(end) = end else { return Err(OutOfRange { lba: *lba, sectors: *sectors, capacity_sectors }) };
                match op {
                    HostOp::Trim => self.trim(lba.div_ceil(page_sectors), end / page_sectors),
                    HostOp::Flush => self.flush(),
                    HostOp::Read | HostOp::Write => {
                        let (first, end) = (lba / page_sectors, end.div_ceil(page_sectors));
                        access.lpn = Lpn(first as u32);
                        let mut hits = 0;
                        for _ in first..end {
                            hits += u64::from(self.access(&access));
                            access.advance();
                        }
                        self.count(write, end - first, hits);
                    }
                }
            }
        }
        Ok(())
    }
    fn pages(&mut self, lpns: &[Lpn], write: bool) {
        let mut hits = 0;
        if self.far {
            let mut rest = lpns;
            while !rest.is_empty() {
                let (now, later) = start(rest);
                let (soon, far) = start(later);
                self.look_ahead(now, soon, start(far).0);
                hits += self.each(now, write);
                rest = later;
            }
        } else {
            hits = self.each(lpns, write);
        }
        self.count(write, lpns.len() as u64, hits);
    }
    fn ledger(&self) -> Ledger {
        self.ledger
    }
    fn sees_neighbours(&self) -> bool {
        self.buffer.sees_neighbours()
    }
    fn dirty_pages(&self) -> u64 {
        self.slots.iter().filter(|slot| self.slots.is_dirty(*slot)).count() as u64
    }
}
