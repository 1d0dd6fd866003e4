//! Who takes notice of requests besides the buffer: a probe, an armed power cut, and the host interface.
//!
//! A request begins when its overhead is over, a write also not before its data has crossed the link: it crosses first, in
//! the order of admission. All that is done for the request starts no earlier: reads of missed pages and of the rest of
//! partly written ones, write-backs that make room, prefetches, trims, the accesses to RAM. Contents and mappings change
//! at admission, as always; a frame that was written is therefore filling until the request begins, so
//! that nobody reads it or writes it back before.

use super::{Flight, Storage};
use crate::buffer::{Access, Slots};
use crate::engine::{Completion, RequestKind, Way};
use crate::flash::Ticket;
use crate::types::{HostOp, HostRequest, SECTOR_BYTES};

impl Storage {
    /// Somebody may take notice of requests from now on, or nobody any more.
    pub(in crate::engine) fn set_observed(&mut self) {
        self.observed = self.probe.is_some() || self.armed_nvram.is_some() || !self.settings.host.is_free();
    }

    /// A request is admitted now.
    #[cold]
    pub(super) fn observe(&mut self, request: &HostRequest, rest: &[HostRequest], slots: &Slots) {
        if let Some(probe) = &mut self.probe {
            probe.on_request(request, self.flash.now());
        }
        self.snapshot_nvram(slots);
        if !self.settings.host.is_free() {
            self.cross_to_device(request, rest);
        }
    }

    /// The command and the data of a write come over the link.
    fn cross_to_device(&mut self, request: &HostRequest, rest: &[HostRequest]) {
        let sectors = std::iter::once(request).chain(rest).map(|piece| u64::from(piece.sectors)).sum::<u64>();
        let (bytes, host) = (sectors * SECTOR_BYTES, self.settings.host);
        let now = self.flash.now();
        self.begins = match request.op {
            HostOp::Read => {
                self.outgoing = if host.link.is_some() { bytes } else { 0 };
                now + host.read_overhead
            }
            HostOp::Write => self.inflight.cross(Way::ToDevice, now, bytes) + host.write_overhead,
            HostOp::Trim | HostOp::Flush => now + host.write_overhead,
        };
    }

    /// An access of a request to a page is over.
    #[cold]
    pub(super) fn observe_page(&mut self, slots: &mut Slots, access: &Access, hit: bool) {
        if let Some(probe) = &mut self.probe {
            probe.on_access(access.lpn, access.write, hit);
        }
        let slot = slots.find(access.lpn);
        if access.write && slot.is_some() && self.begins > self.flash.now() {
            let mut filled = Ticket::reached(self.begins);
            if let Some(before) = self.filling(slots, slot) {
                filled = self.flash.clock.join(before, filled);
            }
            self.set_filling(slots, slot, filled);
        }
    }

    /// A read whose data crosses the link when `done` resolves: when it completes is not known yet.
    #[cold]
    pub(super) fn cross_to_host(&mut self, kind: RequestKind, flight: &Flight<'_>, done: Ticket) -> Completion {
        let (arrival, admitted) = (flight.arrival, flight.admitted);
        let bytes = std::mem::take(&mut self.outgoing);
        self.inflight.finish_over_link(&mut self.flash.clock, kind, arrival, admitted, done, bytes);
        Completion { admitted, finished: None }
    }
}
