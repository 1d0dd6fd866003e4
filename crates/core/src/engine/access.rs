//! Steps 3 to 6 of the data path: one page of a read or write request.

use super::{Flight, PartialWrite, Payload, Ssd};
use crate::buffer::{Access, Admission, Buffer, Medium, Sense};
use crate::flash::{Media, Ticket};
use crate::ftl::{Found, Ftl, PageRead, PageWrite, Source};
use crate::ledger::Cause;
use crate::types::{HostRequest, Lbn, Lpn, Slot};

/// The part of a page that a request covers.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// First sector inside the page.
    pub from: u32,
    /// Sectors.
    pub count: u32,
    /// Bytes into the payload of the request.
    pub payload_at: usize,
}

impl Part {
    /// The part of the following page.
    #[inline]
    pub(super) const fn next(self, count: u32) -> Self {
        Self { from: 0, count, payload_at: self.payload_at + self.count as usize * 512 }
    }
    #[inline]
    const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.count)) << self.from
    }
    fn bytes_in_page(self) -> std::ops::Range<usize> {
        self.from as usize * 512..(self.from + self.count) as usize * 512
    }
    fn bytes_in_payload(self) -> std::ops::Range<usize> {
        self.payload_at..self.payload_at + self.count as usize * 512
    }
}

impl<B: Buffer> Ssd<B> {
    /// One page of a request: steps 3 to 6.
    #[expect(clippy::inline_always, reason = "keeps a request in registers: 4 % fewer instructions per buffer hit")]
    #[inline(always)]
    pub(super) fn access_page(&mut self, access: &Access, part: Part, flight: &mut Flight<'_>) {
        if access.write && self.slots.frames().total() > 0 {
            self.count_group(access.lpn);
        }
        // 3. The only look-up.
        let slot = self.slots.find(access.lpn);
        // 4. Hit or miss.
        let hit = slot.is_some() && self.hit(slot, access, part, flight);
        if slot.is_none() {
            self.miss(access, part, flight);
        }
        if let Some(probe) = &mut self.probe {
            probe.on_access(access.lpn, access.write, hit);
        }
        let sense = Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times };
        self.buffer.after_access(access, slot.is_some(), &self.slots, &sense, &mut self.plan);
        if !self.plan.is_empty() {
            self.carry_out_afterthought(access);
        }
    }

    /// What the policy planned after the access.
    #[inline(never)]
    fn carry_out_afterthought(&mut self, access: &Access) {
        self.prefetch_hint = access.hint;
        let now = Ticket::reached(self.flash.now());
        self.carry_out_plan(now);
    }

    /// HitStat's group hit ratio: at most once per request and group.
    #[inline]
    fn count_group(&mut self, lpn: Lpn) {
        let lbn = self.slots.lbn_of(lpn);
        if lbn != self.last_group {
            self.last_group = lbn;
            if self.slots.resident_pages(lbn) > 0 {
                self.flash.ledger.group_hits += 1;
            } else {
                self.flash.ledger.group_misses += 1;
            }
        }
    }

    /// The same for a read request, which has not begun yet. On request only: reads are the hottest path.
    #[cold]
    pub(super) fn count_read_groups(&mut self, request: &HostRequest) {
        let (first, _) = self.split(request.lba);
        let (last, _) = self.split(request.lba + u64::from(request.sectors) - 1);
        let geometry = *self.flash.geometry();
        for lbn in geometry.lbn(first).0..=geometry.lbn(last).0 {
            // Two pieces of a request may share a block.
            if std::mem::replace(&mut self.last_group, Lbn(lbn)) == Lbn(lbn) {
                continue;
            }
            if self.slots.resident_pages(Lbn(lbn)) > 0 {
                self.flash.ledger.group_read_hits += 1;
            } else {
                self.flash.ledger.group_read_misses += 1;
            }
        }
    }

    /// Serves a resident page; false if flash had to be read after all (sectors that were not in RAM).
    #[expect(clippy::inline_always, reason = "keeps a request in registers: 4 % fewer instructions per buffer hit")]
    #[inline(always)]
    fn hit(&mut self, slot: Slot, access: &Access, part: Part, flight: &mut Flight<'_>) -> bool {
        let facts = self.slots.facts(slot);
        if facts.is_filling() {
            self.wait_until_filled(slot, flight);
        }
        let served = access.write || facts.is_complete() || self.slots.has_sectors(slot, part.mask());
        if !served {
            self.fetch_rest(slot, flight);
        }
        self.touch(slot, facts.medium(), access, part, flight);
        let sense = Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times };
        self.buffer.on_hit(slot, access, &self.slots, &sense);
        if served {
            flight.hits += 1;
            flight.hit_sectors += part.count;
        }
        served
    }

    /// A hit on a page that flash is still to deliver completes no earlier than that.
    #[inline(never)]
    fn wait_until_filled(&mut self, slot: Slot, flight: &mut Flight<'_>) {
        let Some(ticket) = self.slots.filling(slot) else { return };
        if self.flash.clock.time(ticket).is_some_and(|at| at <= self.flash.now()) {
            self.slots.set_filled(slot);
        } else {
            flight.done = self.flash.clock.join(flight.done, ticket);
        }
    }

    /// A read needs sectors of a resident page that are not in RAM.
    #[inline(never)]
    fn fetch_rest(&mut self, slot: Slot, flight: &mut Flight<'_>) {
        let ticket = self.complete_page(slot);
        flight.done = self.flash.clock.join(flight.done, ticket);
    }

    /// Moves the bytes of a resident page and counts the RAM access.
    #[expect(clippy::inline_always, reason = "keeps a request in registers: 4 % fewer instructions per buffer hit")]
    #[inline(always)]
    fn touch(&mut self, slot: Slot, medium: Medium, access: &Access, part: Part, flight: &mut Flight<'_>) {
        flight.pages_in[medium as usize] += 1;
        if access.write {
            self.version += 1;
            if !self.slots.write(slot, self.version).is_complete() {
                self.slots.add_sectors(slot, part.mask());
            }
        }
        match &mut flight.payload {
            Payload::None => {}
            Payload::Write(bytes) => {
                self.slots.bytes_mut(slot)[part.bytes_in_page()].copy_from_slice(&bytes[part.bytes_in_payload()]);
            }
            Payload::Read(bytes) => {
                bytes[part.bytes_in_payload()].copy_from_slice(&self.slots.bytes(slot)[part.bytes_in_page()]);
            }
        }
    }

    /// The page is not resident.
    #[inline(never)]
    fn miss(&mut self, access: &Access, part: Part, flight: &mut Flight<'_>) {
        let sense = Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times };
        match self.buffer.on_miss(access, &self.slots, &sense) {
            Admission::Bypass => self.pass_by(access, part, flight),
            Admission::Admit(medium) => self.admit_page(access, part, medium, flight),
        }
    }

    /// Serves a page that is not resident from or to the FTL, without placing it.
    fn pass_by(&mut self, access: &Access, part: Part, flight: &mut Flight<'_>) {
        if access.write {
            return self.write_through(access.lpn, part, flight);
        }
        let now = Ticket::reached(self.flash.now());
        let found = self.read_below(self.page_of_request(access.lpn, Cause::Host), now);
        flight.done = self.flash.clock.join(flight.done, found.ticket);
        if let Payload::Read(bytes) = &mut flight.payload {
            let to = &mut bytes[part.bytes_in_payload()];
            if found.ppn.is_some() {
                to.copy_from_slice(&self.flash.bytes(found.ppn)[part.bytes_in_page()]);
            } else {
                to.fill(0);
            }
        }
    }

    /// 5. and 6.: makes room, fetches and places the page.
    fn admit_page(&mut self, access: &Access, part: Part, medium: Medium, flight: &mut Flight<'_>) {
        let now = Ticket::reached(self.flash.now());
        let whole = part.count == self.page_sectors;
        let partial = !whole && self.settings.partial_write == PartialWrite::Fetch;
        let fetch = match (access.write, partial || self.settings.write_miss_fetch) {
            (false, _) => Some(Cause::Host),
            (true, true) => Some(Cause::Pad),
            (true, false) => None,
        };
        let fetches_first = self.buffer.fetches_first();
        let mut found = None;
        if let (true, Some(cause)) = (fetches_first, fetch) {
            found = Some(self.read_below(self.page_of_request(access.lpn, cause), now));
        }
        let mut room = now;
        if !self.buffer.has_room(Some(access), &self.slots) {
            self.flash.ledger.eviction_waits += 1;
            let mut fits = self.make_room_for(access, &mut room);
            if self.settings.shared_dram.is_some() {
                // The evictions may have grown a shared map: shrink before the page is placed, so that it fits.
                self.share_ram();
                fits = self.make_room_for(access, &mut room);
            }
            if !fits {
                return self.pass_by(access, part, flight);
            }
            if let (Some(found), Media::Memory) = (&mut found, self.flash.media()) {
                // The evictions may have moved the page that was read before them.
                found.ppn = self.ftl.locate(&self.flash, access.lpn);
            }
        }
        if let (None, Some(cause)) = (found, fetch) {
            found = Some(self.read_below(self.page_of_request(access.lpn, cause), room));
        }
        let slot = self.slots.insert(access.lpn, medium);
        if let Some(found) = found {
            self.fill_slot(slot, found);
        }
        flight.done = self.flash.clock.join(flight.done, room);
        if let Some(ticket) = self.slots.filling(slot) {
            flight.done = self.flash.clock.join(flight.done, ticket);
        }
        self.touch(slot, medium, access, part, flight);
        self.buffer.on_insert(slot, access, &self.slots);
    }

    /// Evicts until the page fits. False if it cannot because a shared map took the frames, or those of the region of the
    /// buffer to which the page belongs.
    fn make_room_for(&mut self, access: &Access, room: &mut Ticket) -> bool {
        let mut rounds = 0;
        while !self.buffer.has_room(Some(access), &self.slots) {
            if self.slots.frames().dram == 0 && self.slots.used().total() == 0 {
                return false;
            }
            let sense = Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times };
            self.buffer.make_room(Some(access), &self.slots, &sense, &mut self.plan);
            if self.plan.is_empty() && (self.slots.frames().dram == 0 || self.settings.shared_dram.is_some()) {
                return false;
            }
            *room = self.carry_out_plan(*room);
            rounds += 1;
            assert!(rounds <= 2 * self.slots.slot_count() + 2, "the policy makes no room");
        }
        true
    }

    /// Puts what flash answered into a frame, under the sectors that the host wrote already: one write to its medium.
    pub(super) fn fill_slot(&mut self, slot: Slot, found: Found) {
        match self.slots.medium(slot) {
            Medium::Dram => self.flash.ledger.dram_writes += 1,
            Medium::Nvram => self.flash.ledger.nvram_writes += 1,
        }
        if !self.slots.bytes(slot).is_empty() {
            let missing = self.slots.missing_sectors(slot);
            let page = if found.ppn.is_some() { self.flash.bytes(found.ppn) } else { &[] };
            let frame = self.slots.bytes_mut(slot);
            for (sector, to) in frame.chunks_exact_mut(512).enumerate() {
                if missing >> sector & 1 == 0 {
                    continue;
                }
                match page.get(sector * 512..(sector + 1) * 512) {
                    Some(from) => to.copy_from_slice(from),
                    None => to.fill(0),
                }
            }
            if found.ppn.is_some() && !self.slots.is_dirty(slot) {
                self.slots.set_version(slot, self.flash.oob(found.ppn).version);
            }
        }
        let full = self.slots.full_mask();
        self.slots.add_sectors(slot, full);
        self.slots.set_ready(slot, found.ticket);
    }

    /// Reads the sectors of a resident page that are not in RAM.
    fn complete_page(&mut self, slot: Slot) -> Ticket {
        let now = Ticket::reached(self.flash.now());
        let found = self.read_below(PageRead::new(self.slots.lpn(slot), Cause::Pad), now);
        self.fill_slot(slot, found);
        found.ticket
    }

    /// A page that the request which is served wants from below.
    fn page_of_request(&self, lpn: Lpn, cause: Cause) -> PageRead {
        let alone = PageRead::new(lpn, cause);
        PageRead { end: alone.end.max(self.request_end), ..alone }
    }

    /// Writes one page past the buffer; a part of a page is completed first.
    fn write_through(&mut self, lpn: Lpn, part: Part, flight: &mut Flight<'_>) {
        let mut after = Ticket::reached(self.flash.now());
        let whole = part.count == self.page_sectors;
        self.stage.clear();
        let mut from = Source::Ram;
        if !whole {
            self.tell_read(Cause::Pad, &[lpn]);
            let found;
            (from, found) = self.fetch_old(lpn);
            after = found.ticket;
            if found.ppn.is_some() {
                self.stage.extend_from_slice(self.flash.bytes(found.ppn));
            }
        }
        if let Payload::Write(bytes) = &flight.payload {
            self.stage.resize(self.flash.geometry().page_bytes as usize, 0);
            self.stage[part.bytes_in_page()].copy_from_slice(&bytes[part.bytes_in_payload()]);
        }
        self.version += 1;
        self.batch.clear();
        self.batch.push(PageWrite { from, ..PageWrite::new(lpn, Cause::Host, self.version) });
        self.tell_write();
        let ticket = self.send_batch(None, self.request_end, after);
        self.flash.ledger.buffer_write_pages += 1;
        flight.done = self.flash.clock.join(flight.done, ticket);
    }
}
