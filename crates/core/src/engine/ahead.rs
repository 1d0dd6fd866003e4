//! Writes that no request needs: flushing ahead, by fill and by age; and writes that a request waits for because the device
//! writes through.
//!
//! Both are issued where the time is: before a request is admitted, at the instants at which something becomes due; and when a
//! request has been carried out. See `storage/flusher.rs` for what is due when.

use super::storage::Due;
use super::{Below, Engine, Flight, Refused, Storage};
use crate::buffer::{Buffer, Grain, Medium};
use crate::flash::Ticket;
use crate::ledger::Ledger;
use crate::types::{HostRequest, Nanos, Slot};

impl<B: Buffer> Engine<B, Storage> {
    /// What happens before a request is admitted: all that is due until then, and the FTL's work in idle time.
    #[inline(never)]
    pub(super) fn before_admission(&mut self, request: &HostRequest, rest: &[HostRequest]) -> Result<(), Refused> {
        self.below.refuse_if_worn_out(request)?;
        self.flush_ahead(Some(request.at));
        self.below.before_admission(request, rest, &self.slots);
        Ok(())
    }

    /// Lets time pass until the request of that time can be admitted, or until all requests are complete, and writes what becomes
    /// due.
    pub(super) fn flush_ahead(&mut self, request_at: Option<Nanos>) {
        let Some(flusher) = &mut self.below.flusher else { return };
        flusher.ask_again();
        while let Some(due) = self.below.next_due(request_at, self.buffer.fill(&self.slots), &self.slots) {
            self.below.snapshot_nvram(&self.slots);
            self.below.begin_now();
            match due {
                Due::Aged(pages) => self.write_oldest(pages, |ledger| &mut ledger.flushed_by_age),
                Due::Gathered(pages) => self.write_oldest(pages, |ledger| &mut ledger.flushed_gathered),
                Due::Fill => self.evict_ahead(),
            }
        }
    }

    /// The policy makes room, and nothing waits.
    fn evict_ahead(&mut self) {
        let count = |ledger: &Ledger| (ledger.write_back_pages, ledger.buffer_write_pages);
        let (used, before) = (self.slots.used(), count(self.below.ledger()));
        self.buffer.make_room(None, &self.slots, &self.below.sense(), &mut self.plan);
        let programmed = self.programmed(|engine| _ = engine.carry_out_plan(engine.below.begins(), None, &mut None));
        let (dirty, sent) = count(self.below.ledger());
        self.below.ledger().flushed_by_fill += dirty - before.0;
        let Some(flusher) = &mut self.below.flusher else { return };
        if sent > before.1 {
            flusher.began(&mut self.below.flash.clock, programmed, sent - before.1);
        }
        if self.slots.used().total() >= used.total() {
            flusher.got_nothing();
        }
    }

    /// When what this writes back is programmed, which can be long after it has left the RAM.
    fn programmed(&mut self, write: impl FnOnce(&mut Self)) -> Ticket {
        let before = std::mem::replace(&mut self.below.written_back, Ticket::at(Nanos::ZERO));
        write(self);
        let own = self.below.written_back;
        self.below.written_back = self.below.flash.clock.join(before, own);
        own
    }

    /// Writes pages that have been dirty for long, each alone or with all dirty pages of its block, as the policy does.
    fn write_oldest(&mut self, mut pages: Vec<Slot>, counter: fn(&mut Ledger) -> &mut u64) {
        if self.buffer.grain() == Grain::Block {
            let of_block = |slot: &Slot| self.slots.dirty_of_block(self.slots.lbn(*slot), Medium::Dram);
            pages = pages.iter().flat_map(of_block).collect();
        }
        self.for_units(pages, |engine, unit| {
            let before = engine.below.ledger().buffer_write_pages;
            let programmed = engine.programmed(|engine| _ = engine.clean_pages(unit));
            let ledger = engine.below.ledger();
            *counter(ledger) += unit.len() as u64;
            let pages = ledger.buffer_write_pages - before;
            if let Some(flusher) = &mut engine.below.flusher {
                flusher.began(&mut engine.below.flash.clock, programmed, pages);
            }
        });
    }

    /// The device writes through: the request waits until its pages are programmed, except for those in NVRAM.
    #[inline(never)]
    pub(super) fn write_through(&mut self, request: &HostRequest, rest: &[HostRequest], flight: &mut Flight<'_>) {
        let page_sectors = u64::from(self.page_sectors);
        let mut dirty = Vec::new();
        for piece in std::iter::once(request).chain(rest) {
            let end = (piece.lba + u64::from(piece.sectors)).div_ceil(page_sectors);
            self.slots.dirty_among(piece.lba / page_sectors..end, Medium::Dram, &mut dirty);
        }
        self.for_units(dirty, |engine, unit| {
            let done = engine.clean_pages(unit);
            flight.wait_for(&mut engine.below, done);
        });
    }
}
