//! Steps 3 to 6 of the data path: one page of a read or write request.

use super::{Below, Engine, Part};
use crate::buffer::{Access, Admission, Buffer, Medium};

impl<B: Buffer, L: Below> Engine<B, L> {
    /// One page of a request: steps 3 to 6. True if the buffer alone served it.
    #[expect(clippy::inline_always, reason = "keeps a request in registers: 4 % fewer instructions per buffer hit")]
    #[inline(always)]
    pub(super) fn access_page(&mut self, access: &Access, part: Part, flight: &mut L::Flight<'_>) -> bool {
        self.below.page_begins(access, &self.slots);
        // 3. The only look-up.
        let slot = self.slots.find(access.lpn);
        // 4. Hit or miss.
        let mut hit = slot.is_some();
        if hit {
            hit = self.below.hit(&mut self.slots, slot, access, part, flight);
            self.buffer.on_hit(slot, access, &self.slots, &self.below.sense());
        } else {
            // By value here and below, so that the access itself stays in registers.
            self.miss(*access, part, flight);
        }
        self.below.page_ends(&mut self.slots, access, hit);
        self.buffer.after_access(access, slot.is_some(), &self.slots, &self.below.sense(), &mut self.plan);
        if !self.plan.is_empty() {
            self.carry_out_afterthought(*access, flight);
        }
        hit
    }

    /// What the policy planned after the access.
    #[inline(never)]
    fn carry_out_afterthought(&mut self, access: Access, flight: &mut L::Flight<'_>) {
        let begins = self.below.begins();
        let done = self.carry_out_plan(begins, Some(&access), &mut None);
        if access.write {
            self.below.written_after(done, flight);
        }
    }

    /// The page is not resident.
    #[inline(never)]
    fn miss(&mut self, access: Access, part: Part, flight: &mut L::Flight<'_>) {
        if self.bypass.takes(&access) {
            return self.below.pass_by(&mut self.slots, &access, part, flight);
        }
        match self.buffer.on_miss(&access, &self.slots, &self.below.sense()) {
            Admission::Bypass => self.below.pass_by(&mut self.slots, &access, part, flight),
            Admission::Admit(medium) => self.admit_page(&access, part, medium, flight),
        }
    }

    /// 5. and 6.: makes room, fetches and places the page.
    #[inline]
    fn admit_page(&mut self, access: &Access, part: Part, medium: Medium, flight: &mut L::Flight<'_>) {
        let mut room = self.below.begins();
        let fetches_first = self.buffer.fetches_first();
        let (mut found, mut wanted) = (None, Some(medium));
        if fetches_first {
            found = self.below.fetch(&self.slots, access, part, room);
        }
        if !self.buffer.has_room(Some(access), &self.slots) {
            self.below.ledger().eviction_waits += 1;
            let mut fits = self.make_room_for(access, &mut room, &mut wanted);
            if self.below.data_frames().is_some() {
                // The evictions may have grown a shared map: shrink before the page is placed, so that it fits.
                self.share_ram();
                fits = self.make_room_for(access, &mut room, &mut wanted);
            }
            if !fits {
                return self.below.pass_by(&mut self.slots, access, part, flight);
            }
            if let Some(found) = &mut found {
                self.below.follow(access.lpn, found);
            }
        }
        if wanted.is_some() && self.below.frames_leave() {
            room = self.below.claim_frame(&self.slots, medium, room);
        }
        if !fetches_first {
            found = self.below.fetch(&self.slots, access, part, room);
        }
        if self.far
            && let Some(policy) = self.buffer.prefetch()
            && let Some(lpn) = self.slots.look_ahead_victims(policy.next_victims())
        {
            policy.far(lpn);
        }
        let slot = self.below.insert(&mut self.slots, access.lpn, medium);
        self.below.place(&mut self.slots, slot, (found, room), access, part, flight);
        self.buffer.on_insert(slot, access, &self.slots);
    }

    /// Evicts until the page fits. False if it cannot because a shared map took the frames, or those of the region of the
    /// buffer to which the page belongs.
    #[inline]
    fn make_room_for(&mut self, access: &Access, room: &mut L::When, wanted: &mut Option<Medium>) -> bool {
        let mut rounds = 0;
        while !self.buffer.has_room(Some(access), &self.slots) {
            if self.slots.frames().dram == 0 && self.slots.used().total() == 0 {
                return false;
            }
            self.buffer.make_room(Some(access), &self.slots, &self.below.sense(), &mut self.plan);
            if self.plan.is_empty() && (self.slots.frames().dram == 0 || self.below.data_frames().is_some()) {
                return false;
            }
            *room = self.carry_out_plan(*room, Some(access), wanted);
            rounds += 1;
            assert!(rounds <= 2 * self.slots.slot_count() + 2, "the policy makes no room");
        }
        true
    }
}
