//! What the buffer asks of the FTL: reads, batches of writes, trims; and the law of look-ups.
//!
//! An FTL whose map lies on flash looks every page up that is read, written or trimmed, once: also pages that are read to
//! be padded or completed, and pages of which only the look-up tells that they were never written. The engine knows how
//! many pages each command has and holds the FTL to it, in every run.

use super::Storage;
use super::write_back::MOST_IN_FLIGHT;
use crate::buffer::Slots;
use crate::flash::{Flash, Ticket};
use crate::ftl::{Batch, Found, Ftl, PageRead, PageWrite, Source};
use crate::ledger::Cause;
use crate::probe::Command;
use crate::types::{Lbn, Lpn, Nanos};

impl Storage {
    /// Reads one page through the FTL as one command.
    pub(super) fn read_below(&mut self, slots: &Slots, page: PageRead, after: Ticket) -> Found {
        self.tell_read(page.cause, &[page.lpn]);
        self.read_page(slots, page, after)
    }

    /// Reads one page through the FTL, counting it as the buffer's.
    pub(super) fn read_page(&mut self, slots: &Slots, page: PageRead, after: Ticket) -> Found {
        let issued = self.begins;
        let due = self.look_ups_due(1);
        let found = self.ftl.read(&mut self.flash, page, after);
        self.check_look_ups(due);
        self.count_read(found);
        self.time_read(slots, issued, found.ticket);
        self.watch_operations();
        found
    }

    /// The rest of a page that goes down is on flash. An FTL whose map is in RAM reads it now; else the FTL reads it in
    /// the page's turn, with the look-up that its write needs, and the answer only tells what it will find.
    pub(super) fn fetch_old(&mut self, slots: &Slots, lpn: Lpn) -> (Source, Found) {
        let begins = Ticket::reached(self.begins);
        if !self.map_on_flash {
            return (Source::Ram, self.read_page(slots, PageRead::new(lpn, Cause::Pad), begins));
        }
        let found = Found { ticket: begins, ppn: self.ftl.locate(&self.flash, lpn) };
        self.count_read(found);
        (Source::OldCopy, found)
    }

    fn count_read(&mut self, found: Found) {
        self.flash.ledger.unmapped_reads += u64::from(found.ppn.is_none());
        self.flash.ledger.buffer_read_pages += 1;
    }

    fn time_read(&mut self, slots: &Slots, issued: Nanos, done: Ticket) {
        if slots.frames().total() > 0 {
            self.inflight.time_buffer_read(&mut self.flash.clock, issued, done);
        }
    }

    /// Writes the batch as one command, as a whole logical block if `block` names one. The host request that its first page
    /// belongs to goes on to the page before `end`, if that is known.
    #[inline]
    pub(super) fn send_batch(&mut self, slots: &mut Slots, block: Option<Lbn>, end: Lpn, after: Ticket) -> Ticket {
        let done = if self.map_on_flash {
            self.send_and_look_up(slots, block, end, after)
        } else {
            let batch = Batch { pages: &self.batch, bytes: &self.stage, end, old_copies: None };
            hand_over((&mut *self.ftl, &mut self.flash), block, batch, after)
        };
        self.watch_operations();
        done
    }

    /// The same where the FTL looks up every page.
    #[inline(never)]
    fn send_and_look_up(&mut self, slots: &mut Slots, block: Option<Lbn>, end: Lpn, after: Ticket) -> Ticket {
        let due = self.look_ups_due(self.batch.len());
        let batch = Batch { pages: &self.batch, bytes: &self.stage, end, old_copies: Some(&self.old_copies) };
        let done = hand_over((&mut *self.ftl, &mut self.flash), block, batch, after);
        self.check_look_ups(due);
        self.take_old_copies(slots);
        done
    }

    /// Looks from now on at how many operations are under way, if there are too many.
    #[inline]
    fn watch_operations(&mut self) {
        if self.flash.clock.in_flight() > MOST_IN_FLIGHT {
            self.attentive = true;
        }
    }

    /// Pages that were completed while they were written are there when their old copies were read.
    #[inline(never)]
    fn take_old_copies(&mut self, slots: &mut Slots) {
        let issued = self.begins;
        let mut tickets = std::mem::take(self.old_copies.get_mut());
        let mut read = 0;
        for at in 0..self.batch.len() {
            let PageWrite { lpn, cause, from, .. } = self.batch[at];
            if from == Source::Ram {
                continue;
            }
            let ticket = *tickets.get(read).expect("the FTL reads each old copy that a batch needs");
            read += 1;
            self.time_read(slots, issued, ticket);
            let slot = slots.find(lpn);
            if cause == Cause::Host && slot.is_some() {
                self.set_filling(slots, slot, ticket);
            }
        }
        assert_eq!(read, tickets.len(), "the FTL reads no old copy that nobody needs");
        tickets.clear();
        *self.old_copies.get_mut() = tickets;
    }

    /// Tells the FTL that a page holds nothing of value any more.
    pub(super) fn trim_page(&mut self, lpn: Lpn, after: Ticket) -> Ticket {
        let due = self.look_ups_due(1);
        let ticket = self.ftl.trim(&mut self.flash, lpn, after);
        self.check_look_ups(due);
        self.flash.ledger.host_page_trims += 1;
        ticket
    }

    /// What the count of look-ups must be after a command of that many pages: see the module text.
    #[inline]
    fn look_ups_due(&self, pages: usize) -> Option<u64> {
        self.map_on_flash.then(|| self.flash.ledger.map_look_ups() + pages as u64)
    }

    #[inline]
    fn check_look_ups(&self, due: Option<u64>) {
        if let Some(due) = due {
            assert_eq!(self.flash.ledger.map_look_ups(), due, "one look-up for every data page");
        }
    }

    /// Every look-up is for something, and a map that is all in RAM is never looked up.
    pub(super) fn check_all_look_ups(&self) {
        let counted = self.flash.ledger.map_look_ups();
        assert_eq!(self.flash.ledger.look_ups.iter().sum::<u64>(), counted, "look-ups by what they are for");
        assert!(counted == 0 || self.ftl.caches_mappings(), "a map in RAM is never looked up");
    }

    /// Tells the probe of a read command.
    #[inline]
    pub(super) fn tell_read(&mut self, why: Cause, lpns: &[Lpn]) {
        if let Some(probe) = &mut self.probe {
            probe.on_command(Command::Read { why, lpns });
        }
    }

    /// Tells the probe of the write command that the batch is.
    #[inline]
    pub(super) fn tell_write(&mut self) {
        if self.probe.is_some() {
            self.describe_write();
        }
    }

    #[cold]
    fn describe_write(&mut self) {
        let Some(probe) = &mut self.probe else { return };
        let is_hole = |page: &PageWrite| {
            let pads = page.cause == Cause::Pad && page.from == Source::OldCopy;
            pads && self.ftl.locate(&self.flash, page.lpn).is_none()
        };
        let written = || self.batch.iter().filter(|page| !is_hole(page));
        let lpns: Vec<Lpn> = written().map(|page| page.lpn).collect();
        let padded: Vec<Lpn> = written().filter(|page| page.cause == Cause::Pad).map(|page| page.lpn).collect();
        probe.on_command(Command::Write { lpns: &lpns, padded: &padded });
    }
}

/// Hands a batch to the FTL, as a whole logical block if one is named.
#[inline]
fn hand_over((ftl, flash): (&mut dyn Ftl, &mut Flash), block: Option<Lbn>, batch: Batch<'_>, after: Ticket) -> Ticket {
    match block {
        Some(lbn) => ftl.write_block(flash, lbn, batch, after),
        None => ftl.write(flash, batch, after),
    }
}
