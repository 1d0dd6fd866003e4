//! What lies below the buffer, as the engine sees it: missed pages come from there, written pages go there.
//!
//! Two things can lie there: [`Storage`](super::Storage), an FTL over flash with its time and its bytes, and
//! [`Nothing`](super::Nothing), when only the hits of a policy are of interest. The engine is compiled for each.

use super::{Completion, Engine, Payload, Refused, RequestKind};
use crate::buffer::{Access, Buffer, Frames, Medium, Sense, Slots};
use crate::ledger::Ledger;
use crate::types::{HostRequest, Lpn, Slot};

/// The part of a page that a request covers.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// First sector inside the page.
    pub(super) from: u32,
    /// Sectors.
    pub(super) count: u32,
    /// Bytes into the payload of the request.
    pub(super) payload_at: usize,
    /// End of the consecutive pages of the request that this one belongs to.
    pub(super) end: Lpn,
}

impl Part {
    /// The part of the following page.
    #[inline]
    pub(super) const fn next(self, count: u32) -> Self {
        Self { from: 0, count, payload_at: self.payload_at + self.count as usize * 512, end: self.end }
    }
    #[inline]
    pub(super) const fn mask(self) -> u64 {
        (u64::MAX >> (64 - self.count)) << self.from
    }
    pub(super) fn bytes_in_page(self) -> std::ops::Range<usize> {
        self.from as usize * 512..(self.from + self.count) as usize * 512
    }
    pub(super) fn bytes_in_payload(self) -> std::ops::Range<usize> {
        self.payload_at..self.payload_at + self.count as usize * 512
    }
}

/// What was counted of a read or write request.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// True for a write.
    pub write: bool,
    /// Pages and sectors of the request.
    pub pages: u32,
    /// Its sectors.
    pub sectors: u32,
    /// Pages found in the buffer.
    pub hits: u32,
    /// Sectors found in the buffer.
    pub hit_sectors: u32,
}

/// What lies below the buffer. The slots belong to the engine, which lends them.
pub trait Below {
    /// Tells when something is over.
    type When: Copy;
    /// What one request gathers on its way.
    type Flight<'a>;
    /// What was read of a page.
    type Found: Copy;

    /// What policies may sense.
    fn sense(&self) -> Sense<'_>;
    /// Where the engine counts.
    fn ledger(&mut self) -> &mut Ledger;
    /// When the operations for the request that is served may start; between requests, a time that is past.
    fn begins(&self) -> Self::When;
    /// When both are over.
    fn join(&mut self, a: Self::When, b: Self::When) -> Self::When;

    /// Before a request is admitted.
    ///
    /// # Errors
    /// If it cannot be carried out.
    fn prepare<B: Buffer>(
        engine: &mut Engine<B, Self>,
        request: &HostRequest,
        rest: &[HostRequest],
    ) -> Result<(), Refused>
    where
        Self: Sized;
    /// After the pages of a write are served.
    fn written<B: Buffer>(
        engine: &mut Engine<B, Self>,
        request: &HostRequest,
        rest: &[HostRequest],
        flight: &mut Self::Flight<'_>,
    ) where
        Self: Sized;
    /// Lets time pass until the request, whose further pieces are `rest`, is admitted.
    fn admit<'a>(
        &mut self,
        request: &HostRequest,
        rest: &[HostRequest],
        payload: Payload<'a>,
        slots: &Slots,
    ) -> Self::Flight<'a>;
    /// Frames that hold data when the map has taken its share of the RAM; `None` if they are what they are.
    fn data_frames(&self) -> Option<Frames>;
    /// Counts a read or write whose pages are served.
    fn count_request(&mut self, served: Served, flight: &Self::Flight<'_>);
    /// The request is carried out; it completes when all that it waits for is over.
    fn complete(&mut self, kind: RequestKind, flight: Self::Flight<'_>) -> Completion;

    /// A page of a request is about to be looked up.
    fn page_begins(&mut self, access: &Access, slots: &Slots);
    /// Serves a resident page; false if some of it had to be read after all.
    fn hit(
        &mut self,
        slots: &mut Slots,
        slot: Slot,
        access: &Access,
        part: Part,
        flight: &mut Self::Flight<'_>,
    ) -> bool;
    /// Serves a page that is not to be resident.
    fn pass_by(&mut self, slots: &mut Slots, access: &Access, part: Part, flight: &mut Self::Flight<'_>);
    /// Reads what a missed page needs, once `after` is over; `None` if it needs nothing.
    fn fetch(&mut self, slots: &Slots, access: &Access, part: Part, after: Self::When) -> Option<Self::Found>;
    /// Pages were evicted since a page was read, which may have moved it.
    fn follow(&self, lpn: Lpn, found: &mut Self::Found);
    /// The missed page takes a frame.
    fn insert(&mut self, slots: &mut Slots, lpn: Lpn, medium: Medium) -> Slot;
    /// Fills the frame of a missed page with what was read of it, once the frame is free, and serves the host.
    fn place(
        &mut self,
        slots: &mut Slots,
        slot: Slot,
        read: (Option<Self::Found>, Self::When),
        access: &Access,
        part: Part,
        flight: &mut Self::Flight<'_>,
    );
    /// A page of a request is served.
    fn page_ends(&mut self, slots: &mut Slots, access: &Access, hit: bool);

    /// Writes dirty pages back as one command; with `pad` the rest of their logical block too.
    fn write_back(&mut self, slots: &mut Slots, pages: &[Slot], pad: bool) -> Self::When;
    /// When this page of the latest command is written.
    fn page_written(&self, slots: &Slots, slot: Slot) -> Self::When;
    /// After the policy wrote pages back that it was not asked for, while a write of the host is served.
    fn written_after(&mut self, done: Self::When, flight: &mut Self::Flight<'_>);
    /// A page is written when `done` is reached and stays, clean; until then nothing else can take its frame.
    fn keep_frame(&mut self, slots: &mut Slots, slot: Slot, done: Self::When);
    /// A page has left a frame in that memory, which can be used when `done` is reached.
    fn give_frame_up(&mut self, medium: Medium, done: Self::When);
    /// A clean page leaves: when its frame may be used.
    fn dropped(&mut self, slots: &Slots, slot: Slot) -> Self::When;
    /// A page has moved to the other memory.
    fn moved(&mut self, slots: &mut Slots, slot: Slot);
    /// True if frames may have been given up whose pages are still to be written.
    fn frames_leave(&self) -> bool;
    /// A page takes a frame in that memory: when it may be used, joined with `room`.
    fn claim_frame(&mut self, slots: &Slots, medium: Medium, room: Self::When) -> Self::When;
    /// These pages will be read ahead of the host.
    fn reads_ahead(&mut self, lpns: &[Lpn]);
    /// Reads a page into a frame ahead of the host.
    fn read_ahead(&mut self, slots: &mut Slots, lpn: Lpn) -> Slot;

    /// The host gives a resident page up, which leaves its frame.
    fn trimmed(&mut self, slots: &Slots, slot: Slot);
    /// The host gives a page up.
    fn trim(&mut self, lpn: Lpn, flight: &mut Self::Flight<'_>);
    /// True if what is in RAM survives a loss of power, all of it.
    fn keeps_ram(&self) -> bool {
        false
    }
    /// A host flush waits for all write-backs so far.
    fn flush(&mut self, flight: &mut Self::Flight<'_>);
}
