//! Carrying out a policy's plan, the shared RAM, and the host's flush and trim.

use super::{Below, Engine};
use crate::buffer::{Access, Action, Buffer, Frames, Grain, Medium};
use crate::types::{HostRequest, Lpn, Slot};

impl<B: Buffer, L: Below> Engine<B, L> {
    /// Carries out the plan in its order and empties it; pages are read ahead for `access`, after all else. Returns when
    /// all that it writes is over, joined with `room`. The first frame in the memory that is `wanted` is left to what waits
    /// for it, which then wants no more; other frames can be used when their pages are written.
    #[inline]
    pub(super) fn carry_out_plan(
        &mut self,
        mut room: L::When,
        access: Option<&Access>,
        wanted: &mut Option<Medium>,
    ) -> L::When {
        let mut ahead = false;
        for index in 0..self.plan.actions.len() {
            match self.plan.actions[index] {
                Action::WriteBack { start, len, freed, pad } => {
                    let (start, end) = (start as usize, (start + len) as usize);
                    let done = self.below.write_back(&mut self.slots, &self.plan.slots[start..end], pad);
                    room = self.below.join(room, done);
                    // In the order in which they are programmed.
                    let kept = start + freed as usize;
                    self.plan.slots[start..kept].sort_unstable_by_key(|slot| self.slots.lpn(*slot));
                    for at in start..kept {
                        let slot = self.plan.slots[at];
                        self.leave(slot, wanted, |engine| engine.written(slot));
                    }
                    for at in kept..end {
                        let slot = self.plan.slots[at];
                        self.slots.set_clean(slot);
                        self.stay(slot);
                    }
                }
                Action::WriteBackPage(slot) => {
                    let done = self.below.write_back(&mut self.slots, &[slot], false);
                    room = self.below.join(room, done);
                    self.leave(slot, wanted, |engine| engine.written(slot));
                }
                Action::Drop(slot) => {
                    assert!(!self.slots.is_dirty(slot), "the policy drops dirty page {}", self.slots.lpn(slot).0);
                    self.below.ledger().buffer_drops += 1;
                    let done = self.below.dropped(&self.slots, slot);
                    room = self.below.join(room, done);
                    self.leave(slot, wanted, |_| done);
                }
                Action::Move(slot, medium) => {
                    if self.below.frames_leave() {
                        room = self.below.claim_frame(&self.slots, medium, room);
                    }
                    self.slots.set_medium(slot, medium);
                    self.below.moved(&mut self.slots, slot);
                }
                Action::Prefetch(_) => ahead = true,
            }
        }
        if ahead {
            self.prefetch(access);
        }
        self.plan.actions.clear();
        self.plan.slots.clear();
        room
    }

    /// A page leaves its frame, which can be used `when` that says.
    #[inline]
    fn leave(&mut self, slot: Slot, wanted: &mut Option<Medium>, when: impl FnOnce(&Self) -> L::When) {
        let medium = self.slots.medium(slot);
        if *wanted == Some(medium) {
            *wanted = None;
        } else {
            let done = when(self);
            self.below.give_frame_up(medium, done);
        }
        self.slots.release(slot);
    }

    /// A page of the latest command stays, clean; until it is written nothing else can take its frame.
    fn stay(&mut self, slot: Slot) {
        let done = self.written(slot);
        self.below.keep_frame(&mut self.slots, slot, done);
    }

    /// When a page of the latest command is written.
    fn written(&self, slot: Slot) -> L::When {
        self.below.page_written(&self.slots, slot)
    }

    /// Reads the pages of the plan that the policy wants ahead of the host into frames, for which it has made room.
    #[inline(never)]
    fn prefetch(&mut self, access: Option<&Access>) {
        let lpns = self.plan.read_ahead();
        let hint = access.map(|access| access.hint).unwrap_or_default();
        self.below.reads_ahead(&lpns);
        for lpn in lpns {
            assert!(self.slots.find(lpn).is_none(), "prefetch of resident page {}", lpn.0);
            assert!(self.slots.has_room(), "prefetch without room");
            let slot = self.below.read_ahead(&mut self.slots, lpn);
            self.slots.set_ahead(slot, self.requests);
            self.below.ledger().prefetched_pages += 1;
            let access = Access { lpn, write: false, ahead: true, request: self.requests, request_pages: 1, hint };
            self.buffer.on_insert(slot, &access, &self.slots);
        }
    }

    /// Unified RAM: what the map does not take holds data.
    #[inline]
    pub(super) fn share_ram(&mut self) {
        if self.below.data_frames().is_some() {
            self.share_again();
        }
    }

    #[inline(never)]
    fn share_again(&mut self) {
        // Evictions change the map, so the share may move once more; each round evicts, so it ends.
        for _ in 0..=self.slots.frames().total() {
            match self.below.data_frames() {
                Some(frames) if frames != self.slots.frames() => self.resize(frames),
                _ => return,
            }
        }
    }

    /// Changes the number of frames; a shrink evicts at once.
    #[inline(never)]
    pub(super) fn resize(&mut self, frames: Frames) {
        self.slots.set_frames(frames);
        self.buffer.resize(frames);
        let mut room = self.below.begins();
        for _ in 0..=self.slots.slot_count() {
            if self.buffer.has_room(None, &self.slots) {
                return;
            }
            self.buffer.make_room(None, &self.slots, &self.below.sense(), &mut self.plan);
            room = self.carry_out_plan(room, None, &mut None);
        }
        panic!("the policy does not shrink to {frames:?}");
    }

    /// Host flush: everything volatile and dirty goes down, and all earlier write-backs finish; nothing, if RAM survives.
    #[inline(never)]
    pub(super) fn flush_pages(&mut self, flight: &mut L::Flight<'_>) {
        self.below.ledger().host_flush_requests += 1;
        if !self.below.keeps_ram() {
            self.write_dirty_back(&[Medium::Dram]);
            self.below.flush(flight);
        }
    }

    /// Writes what is dirty in these media back, ascending, in the units of the policy and without padding.
    pub(super) fn write_dirty_back(&mut self, media: &[Medium]) {
        self.for_units(self.slots.dirty_in(media), |engine, unit| {
            engine.clean_pages(unit);
        });
    }

    /// Does something with dirty pages in units of the policy, in ascending order.
    pub(super) fn for_units(&mut self, mut dirty: Vec<Slot>, mut each: impl FnMut(&mut Self, &[Slot])) {
        self.slots.arrange(&mut dirty);
        let mut rest = &dirty[..];
        while !rest.is_empty() {
            let unit = match self.buffer.grain() {
                Grain::Page => 1,
                Grain::Block => self.slots.of_one_block(rest),
            };
            each(self, &rest[..unit]);
            rest = &rest[unit..];
        }
    }

    /// Writes dirty pages back as one command, without padding; those that the policy keeps stay, clean. Returns when that is
    /// over; until then their frames can't be used, whether given up or not.
    pub(super) fn clean_pages(&mut self, pages: &[Slot]) -> L::When {
        let done = self.below.write_back(&mut self.slots, pages, false);
        for slot in pages {
            self.slots.set_clean(*slot);
            if self.buffer.on_clean(*slot, &self.slots) {
                self.stay(*slot);
            } else {
                self.leave(*slot, &mut None, |engine| engine.written(*slot));
            }
        }
        done
    }

    /// Host trim: whole pages only; a page that is covered in part keeps its contents.
    #[inline(never)]
    pub(super) fn trim_pages(&mut self, request: &HostRequest, flight: &mut L::Flight<'_>) {
        let page_sectors = u64::from(self.page_sectors);
        let first = request.lba.div_ceil(page_sectors);
        let end = (request.lba + u64::from(request.sectors)) / page_sectors;
        for lpn in first..end.max(first) {
            let lpn = Lpn(lpn as u32);
            let slot = self.slots.find(lpn);
            if slot.is_some() {
                self.buffer.on_remove(slot, &self.slots);
                self.below.trimmed(&self.slots, slot);
                self.slots.release(slot);
            }
            self.below.trim(lpn, flight);
        }
    }
}
