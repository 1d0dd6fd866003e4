//! The engine: a host request falls through the buffer to what lies below it.
//!
//! [`Engine::submit`] is the one data path; its numbered steps are those of ARCHITECTURE.md. The policy decides, the
//! engine acts and counts; contents change at once, in request order, and tickets tell the time.

mod access;
mod ahead;
mod below;
mod controller;
mod flushes;
mod inflight;
mod link;
mod nothing;
mod plan;
mod refused;
mod settings;
mod sleep;
mod ssd;
mod storage;
mod test_port;

use crate::buffer::{Access, Buffer, Bypass, Plan, Slots};
use crate::types::{HostOp, HostRequest, Lpn, Nanos};
pub use below::{Below, Part, Served};
pub use controller::ControllerTimes;
pub use flushes::{FlushCounter, INTERVALS};
pub use inflight::{Arrival, LateCompletion, RequestKind, Times};
pub use link::{HostTimes, LinkSpeed, LinkUse, Way};
pub use nothing::{Hits, Nothing};
pub use refused::{OutOfRange, Refused};
pub use settings::{EvictWait, FillMarks, FlushAhead, PartialWrite, RamTimes, Settings, WriteAck};
pub use sleep::SleepTimes;
pub use ssd::Ssd;
use storage::Flight;
pub use storage::{Parts, Storage};
pub use test_port::TestPort;

/// Bytes that go with a request.
#[derive(Debug)]
pub enum Payload<'a> {
    /// None: the device has no media.
    None,
    /// The bytes of a write, `sectors * 512`.
    Write(&'a [u8]),
    /// Where the bytes of a read go.
    Read(&'a mut [u8]),
}

/// A request was carried out in state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// When the device admitted it.
    pub admitted: Nanos,
    /// When it is done, if that is known already; else it resolves later and enters the histograms then
    /// ([`Ssd::take_late`]).
    pub finished: Option<Nanos>,
}

/// A buffer policy, the frames that it decides about, and what lies below.
#[derive(Debug)]
pub struct Engine<B, L> {
    page_sectors: u32,
    capacity_sectors: u64,
    /// Log2 of the sectors of a page, if that is a whole number.
    page_shift: Option<u32>,
    buffer: B,
    slots: Slots,
    plan: Plan,
    bypass: Bypass,
    /// The tables are too large for a processor's own cache, and what later accesses need is prefetched.
    far: bool,
    /// Requests so far.
    requests: u64,
    below: L,
}

impl<B: Buffer, L: Below> Engine<B, L> {
    /// A policy over empty frames.
    fn assemble(mut buffer: B, slots: Slots, bypass: Bypass, below: L) -> Self {
        buffer.resize(slots.frames());
        let page_sectors = slots.page_sectors();
        Self {
            page_sectors,
            capacity_sectors: u64::from(slots.logical_pages()) * u64::from(page_sectors),
            page_shift: page_sectors.is_power_of_two().then(|| page_sectors.ilog2()),
            buffer,
            slots,
            plan: Plan::default(),
            bypass,
            far: false,
            requests: 0,
            below,
        }
    }

    /// Carries out one whole request: the data path.
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    #[expect(clippy::inline_always, reason = "the loop of `run` saves a twentieth of the instructions of a buffer hit")]
    #[inline(always)]
    pub fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused> {
        self.serve(request, &[], payload)
    }

    /// A request in pieces. The payload is that of all of them.
    #[inline(never)]
    fn submit_pieces(&mut self, pieces: &[HostRequest]) -> Result<Completion, Refused> {
        self.serve(&pieces[0], &pieces[1..], Payload::None)
    }

    /// Carries out many requests.
    #[inline]
    fn submit_all(&mut self, requests: &[HostRequest]) -> Result<(), Refused> {
        let mut stream = requests;
        while let [request, later @ ..] = stream {
            if request.more {
                let (pieces, after) = HostRequest::split_first(stream).expect("there is a request");
                self.submit_pieces(pieces)?;
                stream = after;
            } else {
                self.submit(request, Payload::None)?;
                stream = later;
            }
        }
        Ok(())
    }

    /// The request that begins with `request` and goes on with the pieces in `rest`, most often none.
    #[expect(clippy::inline_always, reason = "as submit, which then knows that there is no rest")]
    #[inline(always)]
    fn serve(
        &mut self,
        request: &HostRequest,
        rest: &[HostRequest],
        payload: Payload<'_>,
    ) -> Result<Completion, Refused> {
        self.check_range(request)?;
        for piece in rest {
            self.check_range(piece)?;
        }
        L::prepare(self, request, rest)?;
        let mut flight = self.admit(request, rest, payload, self.requests + 1);
        let kind = match request.op {
            HostOp::Read | HostOp::Write => {
                let write = request.op == HostOp::Write;
                self.serve_pages(request, rest, write, &mut flight);
                if write {
                    L::written(self, request, rest, &mut flight);
                    RequestKind::Write
                } else {
                    RequestKind::Read
                }
            }
            HostOp::Trim => {
                self.below.ledger().host_trim_requests += 1;
                for piece in std::iter::once(request).chain(rest) {
                    self.trim_pages(piece, &mut flight);
                }
                RequestKind::Other
            }
            HostOp::Flush => {
                self.flush_pages(&mut flight);
                RequestKind::Other
            }
        };
        // 7. The request completes when its last ticket resolves, its RAM accesses are over and its data has crossed.
        Ok(self.below.complete(kind, flight))
    }

    /// Steps 1 and 2 of the request with this number.
    #[expect(clippy::inline_always, reason = "as submit")]
    #[inline(always)]
    fn admit<'a>(
        &mut self,
        request: &HostRequest,
        rest: &[HostRequest],
        payload: Payload<'a>,
        number: u64,
    ) -> L::Flight<'a> {
        // 1. Time passes until the device admits the request.
        let flight = self.below.admit(request, rest, payload, &self.slots);
        self.requests = number;
        // 2. The map may have grown or shrunk: divide the RAM again.
        self.share_ram();
        flight
    }

    /// Steps 3 to 6 for each page of a read or write.
    #[expect(clippy::inline_always, reason = "as submit")]
    #[inline(always)]
    fn serve_pages(&mut self, request: &HostRequest, rest: &[HostRequest], write: bool, flight: &mut L::Flight<'_>) {
        let page_sectors = self.page_sectors;
        let (first, from) = self.split(request.lba);
        let (end, _) = self.split(request.lba + u64::from(request.sectors) + u64::from(page_sectors - 1));
        let request_pages = end.0 - first.0 + HostRequest::pages_of(rest, page_sectors);
        let hint = request.hint;
        let mut access = Access { lpn: first, write, ahead: false, request: self.requests, request_pages, hint };
        let mut part = Part { from, count: request.sectors.min(page_sectors - from), payload_at: 0, end };
        let (mut left, mut sectors) = (request.sectors, request.sectors);
        let (mut hits, mut hit_sectors) = (0, 0);
        let mut rest = rest.iter();
        // 3. to 6. Each page: look up, hit or miss, make room, place (see access.rs).
        while left > 0 {
            if self.access_page(&access, part, flight) {
                hits += 1;
                hit_sectors += part.count;
            }
            left -= part.count;
            if left > 0 {
                part = part.next(left.min(page_sectors));
                access.advance();
            } else if let Some(piece) = rest.next() {
                (left, sectors) = (piece.sectors, sectors + piece.sectors);
                part = self.begin_piece(piece, part, &mut access);
            }
        }
        self.below.count_request(Served { write, pages: request_pages, sectors, hits, hit_sectors }, flight);
    }

    #[inline]
    fn check_range(&self, piece: &HostRequest) -> Result<(), Refused> {
        let HostRequest { lba, sectors, .. } = *piece;
        let capacity_sectors = self.capacity_sectors;
        if lba > capacity_sectors || u64::from(sectors) > capacity_sectors - lba {
            return Err(Refused::OutOfRange(OutOfRange { lba, sectors, capacity_sectors }));
        }
        Ok(())
    }

    /// The request goes on elsewhere: the access moves there; the part of its first page.
    #[inline(never)]
    fn begin_piece(&self, piece: &HostRequest, before: Part, access: &mut Access) -> Part {
        let (first, from) = self.split(piece.lba);
        let (last, _) = self.split(piece.lba + u64::from(piece.sectors) - 1);
        access.advance();
        access.lpn = first;
        Part { from, end: Lpn(last.0 + 1), ..before.next(piece.sectors.min(self.page_sectors - from)) }
    }

    /// Page and sector inside it.
    #[inline]
    fn split(&self, lba: u64) -> (Lpn, u32) {
        let sectors = u64::from(self.page_sectors);
        match self.page_shift {
            Some(shift) => (Lpn((lba >> shift) as u32), (lba & (sectors - 1)) as u32),
            None => (Lpn((lba / sectors) as u32), (lba % sectors) as u32),
        }
    }
}
