//! Writing dirty pages of the buffer back as one command, padded if the policy wants it.

use super::{Flight, Storage};
use crate::buffer::Slots;
use crate::engine::WriteAck;
use crate::flash::{Media, Release, Ticket};
use crate::ftl::{PageWrite, Source};
use crate::ledger::Cause;
use crate::types::{Lbn, Lpn, Ppn, Slot};

/// Flash operations that may wait or be under way when a request is admitted or a command writes pages; with more they wait, so
/// that memory stays bounded. A page whose write merges a large block takes thousands, and a large buffer holds thousands of such
/// pages. The clock has room for 2^23 tickets, and a page that is evicted has eight: its program has two, and five join it to
/// what waits for it.
pub(super) const MOST_IN_FLIGHT: usize = 1 << 19;

impl Storage {
    /// Writes dirty pages of the buffer as one command; with `pad` the rest of their logical block too.
    pub(super) fn write_pages_back(&mut self, slots: &mut Slots, pages: &[Slot], pad: bool) -> Ticket {
        self.catch_up();
        let mut after = Ticket::reached(self.begins);
        self.batch.clear();
        let mut complete = true;
        let release = self.settings.evict_wait.release();
        for slot in pages {
            let lpn = slots.lpn(*slot);
            assert!(slots.is_dirty(*slot), "write-back of clean page {}", lpn.0);
            complete &= slots.is_complete(*slot);
            let version = self.contents.version(*slot);
            self.batch.push(PageWrite { release, ..PageWrite::new(lpn, Cause::Host, version) });
        }
        self.batch.sort_unstable_by_key(|page| page.lpn);
        if !complete {
            self.complete_batch(slots);
        }
        for slot in pages {
            if let Some(ticket) = self.filling(slots, *slot) {
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
                (after, holes) = self.pad_batch(slots, lbn, block_pages, after);
            }
            whole = true;
        }
        self.tell_write();
        self.stage_batch(slots);
        let issued = self.begins;
        let done = self.send_batch(slots, whole.then_some(lbn), Lpn(0), after);
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
        let clock = &mut self.flash.clock;
        let programmed = match release {
            Release::Done => done,
            Release::Transfer => {
                let ends = clock.take_programmed();
                clock.join(done, ends)
            }
        };
        self.inflight.time_buffer_write(clock, issued, programmed);
        self.written_back = clock.join(self.written_back, programmed);
        done
    }

    /// When this page of the latest command is written.
    pub(super) fn written(&self, lpn: Lpn) -> Ticket {
        let at = self.batch.binary_search_by_key(&lpn, |page| page.lpn).expect("it is in the batch, which is sorted");
        self.batch[at].done.get()
    }

    /// A device that writes through waits for what is written after a page of the host.
    pub(super) fn wait_if_written_through(&mut self, done: Ticket, flight: &mut Flight<'_>) {
        if self.settings.write_ack == WriteAck::Flash {
            flight.wait_for(self, done);
        }
    }

    /// Lets time pass until the flash has no more to do than it may.
    #[inline]
    pub(super) fn catch_up(&mut self) {
        if self.attentive {
            self.let_time_pass();
        }
    }

    #[inline(never)]
    fn let_time_pass(&mut self) {
        while self.flash.clock.in_flight() > MOST_IN_FLIGHT {
            self.flash.clock.step();
            self.inflight.settle(&mut self.flash.clock);
            self.begins = self.begins.max(self.flash.now());
        }
    }

    /// Reads what RAM lacks of the pages of the batch, in its order, or leaves that to the FTL.
    fn complete_batch(&mut self, slots: &mut Slots) {
        for at in 0..self.batch.len() {
            let lpn = self.batch[at].lpn;
            let slot = slots.find(lpn);
            if slots.is_complete(slot) {
                continue;
            }
            self.tell_read(Cause::Pad, &[lpn]);
            let (from, found) = self.fetch_old(slots, lpn);
            self.fill_slot(slots, slot, found);
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
    pub(super) fn block_pages(&self, lbn: Lbn) -> u32 {
        let pages = self.flash.geometry().pages_per_block;
        pages.min(self.settings.logical_pages - lbn.0 * pages)
    }

    /// Completes the batch to the whole logical block: copies in RAM first, then flash. Pages that were never written
    /// stay out, unless the FTL has to look them up to learn that; also returns how many these holes of the batch are.
    fn pad_batch(&mut self, slots: &Slots, lbn: Lbn, block_pages: u32, after: Ticket) -> (Ticket, usize) {
        let (mut after, mut holes) = (after, 0);
        let release = self.settings.evict_wait.release();
        let dirty = self.batch.len();
        let mut fetched: Vec<Lpn> = Vec::new();
        for offset in 0..block_pages {
            let lpn = self.flash.geometry().lpn(lbn, offset);
            if self.batch[..dirty].binary_search_by_key(&lpn, |page| page.lpn).is_ok() {
                continue;
            }
            let slot = slots.find(lpn);
            if slot.is_some() && slots.is_complete(slot) {
                if let Some(ticket) = self.filling(slots, slot) {
                    after = self.flash.clock.join(after, ticket);
                }
                let version = self.contents.version(slot);
                self.batch.push(PageWrite { release, ..PageWrite::new(lpn, Cause::Pad, version) });
                continue;
            }
            fetched.push(lpn);
            let (from, found) = self.fetch_old(slots, lpn);
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
    fn stage_batch(&mut self, slots: &Slots) {
        self.stage.clear();
        if self.flash.media() == Media::None {
            return;
        }
        let page_bytes = self.flash.geometry().page_bytes as usize;
        for page in &self.batch {
            let slot = slots.find(page.lpn);
            if slot.is_some() && slots.is_complete(slot) {
                self.stage.extend_from_slice(self.contents.bytes(slot));
                continue;
            }
            match self.ftl.locate(&self.flash, page.lpn) {
                Ppn::NONE => self.stage.resize(self.stage.len() + page_bytes, 0),
                ppn => self.stage.extend_from_slice(self.flash.bytes(ppn)),
            }
        }
    }
}
