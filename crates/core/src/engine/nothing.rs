//! Nothing below the buffer: only the hits of a policy are of interest.
//!
//! The engine and the policy are those of a whole device, so hits and write-backs are too. There is no flash whose costs
//! could be sensed: a policy that steers by them runs with its initial settings. Pages are whole, as with
//! `partial_write = "fetch"`, and the frames are fixed.
//!
//! The accesses of a batch are known in advance, and a large cache waits for memory more than it computes: so what an
//! access will need is prefetched while those before it are carried out.

use super::{Below, Completion, Engine, Part, Payload, Refused, RequestKind, Served};
use crate::buffer::{Access, Buffer, BufferShape, FlashTimes, Frames, Medium, Sense, Slots};
use crate::ledger::Ledger;
use crate::types::{Hint, HostRequest, Lpn, Nanos, Slot};

/// Pages that are looked up together: the table entries of those after the next ones are prefetched, then what the policy
/// keeps of the next ones, then what that refers to for those at hand.
const TOGETHER: usize = 12;
/// Tables up to this many bytes are in a processor's own cache, where prefetching costs more than it saves.
const NEAR_BYTES: usize = 1 << 20;

/// A policy without FTL, flash and time.
pub trait Hits {
    /// Carries out host requests; times are ignored.
    ///
    /// # Errors
    /// At the first request beyond the logical pages.
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused>;
    /// Reads or writes single pages, each a request of its own.
    ///
    /// # Panics
    /// At a page beyond the logical pages.
    fn pages(&mut self, lpns: &[Lpn], write: bool);
    /// Counts so far: page accesses, page hits, write-backs, pages sent down, drops, prefetches, trims and flushes.
    fn ledger(&self) -> Ledger;
    /// True if the policy takes notice of which pages are neighbours.
    fn sees_neighbours(&self) -> bool;
    /// Dirty pages that are in the buffer now, in whatever memory.
    fn dirty_pages(&self) -> u64;
}

/// Takes and gives pages at once, and counts.
#[derive(Debug)]
pub struct Nothing {
    ledger: Ledger,
    times: FlashTimes,
}

#[expect(clippy::inline_always, reason = "there is next to nothing to do")]
impl Below for Nothing {
    type When = ();
    type Flight<'a> = ();
    type Found = ();

    #[inline(always)]
    fn sense(&self) -> Sense<'_> {
        Sense { now: Nanos::ZERO, ledger: &self.ledger, times: self.times }
    }
    #[inline(always)]
    fn ledger(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
    fn begins(&self) {}
    fn join(&mut self, (): (), (): ()) {}

    #[inline(always)]
    fn prepare<B: Buffer>(_: &mut Engine<B, Self>, _: &HostRequest, _: &[HostRequest]) -> Result<(), Refused> {
        Ok(())
    }
    fn written<B: Buffer>(_: &mut Engine<B, Self>, _: &HostRequest, _: &[HostRequest], (): &mut ()) {}
    fn admit(&mut self, _: &HostRequest, _: &[HostRequest], _: Payload<'_>, _: &Slots) {}
    #[inline(always)]
    fn data_frames(&self) -> Option<Frames> {
        None
    }
    #[inline(always)]
    fn count_request(&mut self, served: Served, (): &()) {
        let ledger = &mut self.ledger;
        let (pages, hits) = if served.write {
            (&mut ledger.host_page_writes, &mut ledger.buffer_write_hits)
        } else {
            (&mut ledger.host_page_reads, &mut ledger.buffer_read_hits)
        };
        *pages += u64::from(served.pages);
        *hits += u64::from(served.hits);
    }
    #[inline(always)]
    fn complete(&mut self, _: RequestKind, (): ()) -> Completion {
        Completion { admitted: Nanos::ZERO, finished: Some(Nanos::ZERO) }
    }

    fn page_begins(&mut self, _: &Access, _: &Slots) {}
    #[inline(always)]
    fn hit(&mut self, slots: &mut Slots, slot: Slot, access: &Access, _: Part, (): &mut ()) -> bool {
        if access.write {
            slots.write(slot);
        }
        true
    }
    #[inline(always)]
    fn pass_by(&mut self, _: &mut Slots, access: &Access, _: Part, (): &mut ()) {
        self.ledger.buffer_write_pages += u64::from(access.write);
    }
    #[inline(always)]
    fn fetch(&mut self, _: &Slots, _: &Access, _: Part, (): ()) -> Option<()> {
        None
    }
    fn follow(&self, _: Lpn, (): &mut ()) {}
    #[inline(always)]
    fn insert(&mut self, slots: &mut Slots, lpn: Lpn, medium: Medium) -> Slot {
        slots.insert_complete(lpn, medium)
    }
    #[inline(always)]
    fn place(&mut self, slots: &mut Slots, slot: Slot, _: (Option<()>, ()), access: &Access, _: Part, (): &mut ()) {
        if access.write {
            slots.write(slot);
        }
    }
    fn page_ends(&mut self, _: &mut Slots, _: &Access, _: bool) {}

    #[inline(always)]
    fn write_back(&mut self, slots: &mut Slots, pages: &[Slot], _: bool) {
        for slot in pages {
            assert!(slots.is_dirty(*slot), "write-back of clean page {}", slots.lpn(*slot).0);
        }
        self.ledger.write_back_commands += 1;
        self.ledger.write_back_pages += pages.len() as u64;
        self.ledger.buffer_write_pages += pages.len() as u64;
    }
    fn dropped(&mut self, _: &Slots, _: Slot) {}
    fn moved(&mut self, _: &mut Slots, _: Slot) {}
    #[inline(always)]
    fn frames_leave(&self) -> bool {
        false
    }
    fn claim_frame(&mut self, _: &Slots, _: Medium, (): ()) {}
    fn reads_ahead(&mut self, _: &[Lpn]) {}
    fn read_ahead(&mut self, slots: &mut Slots, lpn: Lpn) -> Slot {
        slots.insert_complete(lpn, Medium::Dram)
    }

    fn trimmed(&mut self, _: &Slots, _: Slot) {}
    fn trim(&mut self, _: Lpn, (): &mut ()) {}
    fn flush(&mut self, (): &mut ()) {}
    fn page_written(&self, _: &Slots, _: Slot) {}
    fn written_after(&mut self, (): (), (): &mut ()) {}
    fn keep_frame(&mut self, _: &mut Slots, _: Slot, (): ()) {}
    fn give_frame_up(&mut self, _: Medium, (): ()) {}
}

/// The first pages of a list, and the rest.
#[inline]
fn start(lpns: &[Lpn]) -> (&[Lpn], &[Lpn]) {
    lpns.split_at(TOGETHER.min(lpns.len()))
}

impl<B: Buffer> Engine<B, Nothing> {
    /// Empty frames over nothing.
    pub fn over_nothing(shape: &BufferShape, buffer: B) -> Self {
        let slots = Slots::new(shape);
        let far = slots.table_bytes() > NEAR_BYTES;
        let below = Nothing { ledger: Ledger::default(), times: shape.times };
        Self { far, ..Self::assemble(buffer, slots, shape.bypass, below) }
    }

    /// Prefetches what later accesses will need: far ahead, soon and now.
    #[inline]
    fn look_ahead(&self, now: &[Lpn], soon: &[Lpn], far: &[Lpn]) {
        for lpn in far {
            self.slots.look_ahead(*lpn);
        }
        let Some(policy) = self.buffer.prefetch() else { return };
        for lpn in far {
            policy.far(*lpn);
        }
        if self.slots.slot_count() > 0 {
            for lpn in soon {
                policy.soon(self.slots.find_any(*lpn));
            }
            for lpn in now {
                policy.now(self.slots.find_any(*lpn));
            }
        }
    }

    /// Accesses to single pages: the number of hits.
    #[inline]
    fn each(&mut self, lpns: &[Lpn], write: bool) -> u32 {
        let part = Part { from: 0, count: self.page_sectors, payload_at: 0, end: Lpn::NONE };
        let mut hits = 0;
        let (request, hint) = (self.requests, Hint::default());
        let mut access = Access { lpn: Lpn::NONE, write, ahead: false, request, request_pages: 1, hint };
        for lpn in lpns {
            access.lpn = *lpn;
            access.request += 1;
            hits += u32::from(self.access_page(&access, part, &mut ()));
        }
        self.requests = access.request;
        hits
    }
}

impl<B: Buffer> Hits for Engine<B, Nothing> {
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused> {
        self.submit_all(requests)
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
        let pages = lpns.len() as u32;
        self.below.count_request(Served { write, pages, sectors: 0, hits, hit_sectors: 0 }, &());
    }
    fn ledger(&self) -> Ledger {
        self.below.ledger
    }
    fn sees_neighbours(&self) -> bool {
        self.buffer.sees_neighbours()
    }
    fn dirty_pages(&self) -> u64 {
        u64::from(self.slots.dirty_pages())
    }
}
