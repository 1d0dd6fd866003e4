//! Carrying out a policy's plan, and the host's flush and trim.

use super::{Flight, Ssd};
use crate::buffer::{Access, Action, Buffer, Grain, Medium, Plan};
use crate::flash::{Media, Ticket, Tombstone};
use crate::ftl::{Batch, Ftl, PageRead, PageWrite, Source};
use crate::ledger::Cause;
use crate::types::{HostRequest, Lbn, Lpn, Ppn, Slot};

impl<B: Buffer> Ssd<B> {
    /// Carries out the plan in its order and empties it. Returns when the frames it freed may be used, joined with
    /// `room`.
    pub(super) fn carry_out_plan(&mut self, room: Ticket) -> Ticket {
        // The lists are taken out and put back empty, so that their memory is used again.
        let Plan { mut actions, mut slots } = std::mem::take(&mut self.plan);
        let mut room = room;
        let mut ahead: Vec<Lpn> = Vec::new();
        for action in &actions {
            match *action {
                Action::WriteBack { start, len, freed, pad } => {
                    let pages = &slots[start as usize..(start + len) as usize];
                    let done = self.write_back(pages, pad);
                    room = self.flash.clock.join(room, done);
                    let (freed, kept) = pages.split_at(freed as usize);
                    for slot in freed {
                        self.slots.release(*slot);
                    }
                    for slot in kept {
                        self.slots.set_clean(*slot);
                    }
                }
                Action::WriteBackPage(slot) => {
                    let done = self.write_back(&[slot], false);
                    room = self.flash.clock.join(room, done);
                    self.slots.release(slot);
                }
                Action::Drop(slot) => {
                    assert!(!self.slots.is_dirty(slot), "the policy drops dirty page {}", self.slots.lpn(slot).0);
                    self.flash.ledger.buffer_drops += 1;
                    if let Some(probe) = &mut self.probe {
                        probe.on_drop(self.slots.lpn(slot));
                    }
                    self.slots.release(slot);
                }
                Action::Move(slot, medium) => {
                    self.slots.set_medium(slot, medium);
                    let ledger = &mut self.flash.ledger;
                    match medium {
                        Medium::Nvram => (ledger.dram_reads += 1, ledger.nvram_writes += 1),
                        Medium::Dram => (ledger.nvram_reads += 1, ledger.dram_writes += 1),
                    };
                }
                Action::Prefetch(lpn) => ahead.push(lpn),
            }
        }
        if !ahead.is_empty() {
            self.prefetch(&ahead);
        }
        actions.clear();
        slots.clear();
        self.plan = Plan { actions, slots };
        room
    }

    /// Writes dirty pages of the buffer as one command; with `pad` the rest of their logical block too.
    pub(super) fn write_back(&mut self, pages: &[Slot], pad: bool) -> Ticket {
        let mut after = Ticket::reached(self.flash.now());
        self.batch.clear();
        let mut complete = true;
        let release = self.settings.evict_wait.release();
        for slot in pages {
            let lpn = self.slots.lpn(*slot);
            assert!(self.slots.is_dirty(*slot), "write-back of clean page {}", lpn.0);
            complete &= self.slots.is_complete(*slot);
            let version = self.slots.version(*slot);
            self.batch.push(PageWrite { release, ..PageWrite::new(lpn, Cause::Host, version) });
        }
        self.batch.sort_unstable_by_key(|page| page.lpn);
        if !complete {
            self.complete_batch();
        }
        for slot in pages {
            if let Some(ticket) = self.slots.filling(*slot) {
                after = self.flash.clock.join(after, ticket);
            }
        }
        let lbn = self.flash.geometry().lbn(self.batch[0].lpn);
        let one_block = self.flash.geometry().lbn(self.batch[self.batch.len() - 1].lpn) == lbn;
        let block_pages = self.block_pages(lbn);
        let mut whole = one_block && self.batch.len() as u32 == block_pages;
        let mut holes = 0;
        if pad && !whole {
            assert!(one_block, "a padded write-back spans two logical blocks");
            if !self.ftl.completes_blocks() {
                (after, holes) = self.pad_batch(lbn, block_pages, after);
            }
            whole = true;
        }
        self.tell_write();
        self.stage_batch();
        let issued = self.flash.now();
        let done = self.send_batch(whole.then_some(lbn), Lpn(0), after);
        let written = self.batch.len() - holes;
        let ledger = &mut self.flash.ledger;
        ledger.write_back_commands += 1;
        ledger.padded_write_backs += u64::from(written > pages.len());
        ledger.write_back_pages += pages.len() as u64;
        ledger.padded_pages += (written - pages.len()) as u64;
        ledger.buffer_write_pages += written as u64;
        if one_block {
            self.count_flush(lbn, pages.len() as u32);
        } else {
            self.count_flushes();
        }
        self.inflight.time_buffer_write(&mut self.flash.clock, issued, done);
        self.written_back = self.flash.clock.join(self.written_back, done);
        done
    }

    /// Reads what RAM lacks of the pages of the batch, in its order, or leaves that to the FTL.
    fn complete_batch(&mut self) {
        for at in 0..self.batch.len() {
            let lpn = self.batch[at].lpn;
            let slot = self.slots.find(lpn);
            if self.slots.is_complete(slot) {
                continue;
            }
            self.tell_read(Cause::Pad, &[lpn]);
            let (from, found) = self.fetch_old(lpn);
            self.fill_slot(slot, found);
            self.batch[at].from = from;
        }
    }

    #[inline]
    fn count_flush(&mut self, lbn: Lbn, dirty: u32) {
        self.flash.ledger.flushed_groups += 1;
        self.flushes.count(lbn, dirty);
    }

    /// Counts the flush of every logical block in a batch that holds several, of which none is padded.
    fn count_flushes(&mut self) {
        let geometry = *self.flash.geometry();
        let mut from = 0;
        while from < self.batch.len() {
            let lbn = geometry.lbn(self.batch[from].lpn);
            let pages = self.batch[from..].iter().take_while(|page| geometry.lbn(page.lpn) == lbn).count();
            self.count_flush(lbn, pages as u32);
            from += pages;
        }
    }

    /// Pages of a logical block; the last one of the device may be short.
    fn block_pages(&self, lbn: Lbn) -> u32 {
        let pages = self.flash.geometry().pages_per_block;
        pages.min(self.settings.logical_pages - lbn.0 * pages)
    }

    /// Completes the batch to the whole logical block: copies in RAM first, then flash. Pages that were never written
    /// stay out, unless the FTL has to look them up to learn that; also returns how many these holes of the batch are.
    fn pad_batch(&mut self, lbn: Lbn, block_pages: u32, after: Ticket) -> (Ticket, usize) {
        let (mut after, mut holes) = (after, 0);
        let release = self.settings.evict_wait.release();
        let dirty = self.batch.len();
        let mut fetched: Vec<Lpn> = Vec::new();
        for offset in 0..block_pages {
            let lpn = self.flash.geometry().lpn(lbn, offset);
            if self.batch[..dirty].binary_search_by_key(&lpn, |page| page.lpn).is_ok() {
                continue;
            }
            let slot = self.slots.find(lpn);
            if slot.is_some() && self.slots.is_complete(slot) {
                if let Some(ticket) = self.slots.filling(slot) {
                    after = self.flash.clock.join(after, ticket);
                }
                let version = self.slots.version(slot);
                self.batch.push(PageWrite { release, ..PageWrite::new(lpn, Cause::Pad, version) });
                continue;
            }
            fetched.push(lpn);
            let (from, found) = self.fetch_old(lpn);
            after = self.flash.clock.join(after, found.ticket);
            if found.ppn.is_some() {
                self.flash.ledger.padded_from_flash += 1;
                let version = self.flash.oob(found.ppn).version;
                self.batch.push(PageWrite { from, release, ..PageWrite::new(lpn, Cause::Pad, version) });
            } else if from == Source::OldCopy {
                holes += 1;
                self.batch.push(PageWrite { from, release, ..PageWrite::new(lpn, Cause::Pad, 0) });
            }
        }
        if !fetched.is_empty() {
            self.tell_read(Cause::Pad, &fetched);
        }
        self.batch.sort_unstable_by_key(|page| page.lpn);
        self.flash.ledger.padding_holes += holes as u64;
        (after, holes)
    }

    /// Collects the bytes of the batch: those of complete frames, else what is on flash.
    fn stage_batch(&mut self) {
        self.stage.clear();
        if self.flash.media() == Media::None {
            return;
        }
        let page_bytes = self.flash.geometry().page_bytes as usize;
        for page in &self.batch {
            let slot = self.slots.find(page.lpn);
            if slot.is_some() && self.slots.is_complete(slot) {
                self.stage.extend_from_slice(self.slots.bytes(slot));
                continue;
            }
            match self.ftl.locate(&self.flash, page.lpn) {
                Ppn::NONE => self.stage.resize(self.stage.len() + page_bytes, 0),
                ppn => self.stage.extend_from_slice(self.flash.bytes(ppn)),
            }
        }
    }

    /// Reads pages into frames ahead of the host. The policy has made room.
    fn prefetch(&mut self, lpns: &[Lpn]) {
        self.tell_read(Cause::Prefetch, lpns);
        for lpn in lpns {
            assert!(self.slots.find(*lpn).is_none(), "prefetch of resident page {}", lpn.0);
            assert!(self.slots.has_room(), "prefetch without room");
            let now = Ticket::reached(self.flash.now());
            let found = self.read_page(PageRead::new(*lpn, Cause::Prefetch), now);
            let slot = self.slots.insert(*lpn, Medium::Dram);
            self.fill_slot(slot, found);
            self.flash.ledger.prefetched_pages += 1;
            let access =
                Access { lpn: *lpn, write: false, request: self.requests, request_pages: 1, hint: self.prefetch_hint };
            self.buffer.on_insert(slot, &access, &self.slots);
        }
    }

    /// Host flush: everything volatile and dirty goes to flash, and all earlier write-backs finish.
    #[inline(never)]
    pub(super) fn flush_pages(&mut self, flight: &mut Flight<'_>) {
        self.flash.ledger.host_flush_requests += 1;
        self.write_dirty_back(&[Medium::Dram]);
        flight.done = self.flash.clock.join(flight.done, self.written_back);
    }

    /// Writes what is dirty in these media back, ascending, in the units of the policy and without padding.
    pub(super) fn write_dirty_back(&mut self, media: &[Medium]) {
        let mut dirty: Vec<Slot> = self
            .slots
            .iter()
            .filter(|slot| self.slots.is_dirty(*slot) && media.contains(&self.slots.medium(*slot)))
            .collect();
        dirty.sort_unstable_by_key(|slot| self.slots.lpn(*slot));
        let mut rest = &dirty[..];
        while let Some(first) = rest.first() {
            let unit = match self.buffer.grain() {
                Grain::Page => 1,
                Grain::Block => {
                    let lbn = self.slots.lbn(*first);
                    rest.iter().take_while(|slot| self.slots.lbn(**slot) == lbn).count()
                }
            };
            self.write_back(&rest[..unit], false);
            for slot in &rest[..unit] {
                self.slots.set_clean(*slot);
                if !self.buffer.on_clean(*slot, &self.slots) {
                    self.slots.release(*slot);
                }
            }
            rest = &rest[unit..];
        }
    }

    /// Host trim: whole pages only; a page that is covered in part keeps its contents.
    #[inline(never)]
    pub(super) fn trim_pages(&mut self, request: &HostRequest, flight: &mut Flight<'_>) {
        let page_sectors = u64::from(self.flash.geometry().page_sectors());
        let first = request.lba.div_ceil(page_sectors);
        let end = (request.lba + u64::from(request.sectors)) / page_sectors;
        let now = Ticket::reached(self.flash.now());
        for lpn in first..end.max(first) {
            let lpn = Lpn(lpn as u32);
            let slot = self.slots.find(lpn);
            if slot.is_some() {
                self.buffer.on_remove(slot, &self.slots);
                self.slots.release(slot);
            }
            self.version += 1;
            self.flash.journal(&[Tombstone { lpn, version: self.version }]);
            let ticket = self.trim_page(lpn, now);
            flight.done = self.flash.clock.join(flight.done, ticket);
        }
    }

    /// Preconditioning: every page once, ascending, then `overwrites * logical_pages` uniform random page writes.
    pub(super) fn fill_device(&mut self, fill: bool, overwrites: f64) {
        use rand::Rng as _;
        let geometry = *self.flash.geometry();
        let zeros = vec![0; if self.flash.media() == Media::Memory { geometry.page_bytes as usize } else { 0 }];
        if fill {
            for lbn in 0..self.settings.logical_pages.div_ceil(geometry.pages_per_block) {
                let lbn = Lbn(lbn);
                self.batch.clear();
                self.stage.clear();
                for offset in 0..self.block_pages(lbn) {
                    self.version += 1;
                    let lpn = geometry.lpn(lbn, offset);
                    self.batch.push(PageWrite::new(lpn, Cause::Host, self.version));
                    self.stage.extend_from_slice(&zeros);
                }
                self.ftl.fill(&mut self.flash, lbn, Batch::new(&self.batch, &self.stage));
                self.flash.clock.drain();
            }
            self.ftl.filled(&mut self.flash);
        }
        let mut rng = rand_pcg::Pcg64Mcg::new(u128::from(self.settings.seed) << 1 | 1);
        let pages = u128::from(self.settings.logical_pages);
        for _ in 0..(overwrites * f64::from(self.settings.logical_pages)) as u64 {
            self.version += 1;
            let lpn = Lpn(((u128::from(rng.next_u64()) * pages) >> 64) as u32);
            let page = PageWrite::new(lpn, Cause::Host, self.version);
            let now = Ticket::reached(self.flash.now());
            self.ftl.write(&mut self.flash, Batch::new(&[page], &zeros), now);
            if self.flash.clock.in_flight() > 1 << 12 {
                self.flash.clock.drain();
            }
        }
        self.written_back = Ticket::reached(self.flash.now());
        crate::engine::Device::start_measuring(self);
    }
}
