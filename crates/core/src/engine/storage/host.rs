//! What takes notice of requests besides the buffer: a probe, an armed power cut, writes ahead and through, the host interface
//! and the controller.
//!
//! A command is there when its request is admitted, or when a device that slept has woken: a core of the controller carries it
//! out, and the data of a write crosses the link meanwhile, both in the order of admission. When both are over, the overhead
//! begins, and after it the request. All that is done for the request starts no earlier: reads of missed pages and of the rest
//! of partly written ones, write-backs that make room, prefetches, trims, the accesses to RAM. Contents and mappings change at
//! admission, as always; a frame that was written is therefore filling until the request begins, so that nothing reads it or
//! writes it back before.

use super::Storage;
use crate::buffer::{Access, Slots};
use crate::engine::{Completion, Refused, RequestKind, Settings, Way, WriteAck};
use crate::flash::Ticket;
use crate::types::{HostOp, HostRequest, Nanos, SECTOR_BYTES, Slot};

impl Storage {
    /// From now on something may take notice of requests, or nothing does any more.
    pub(in crate::engine) fn set_observed(&mut self) {
        let Settings { host, write_ack, .. } = &self.settings;
        let writes = self.flusher.is_some() || *write_ack == WriteAck::Flash || self.leaving.has_kept();
        self.observed = self.probe.is_some() || self.armed_nvram.is_some() || !host.is_free() || writes;
    }

    /// A clean page leaves: the end of its write, if that is under way.
    #[cold]
    pub(super) fn observe_drop(&mut self, slots: &Slots, slot: Slot) -> Option<Ticket> {
        if let Some(probe) = &mut self.probe {
            probe.on_drop(slots.lpn(slot));
        }
        self.leaving.kept(slots, slot, &self.flash.clock)
    }

    /// Refuses to change a device that is worn out.
    pub(in crate::engine) fn refuse_if_worn_out(&self, request: &HostRequest) -> Result<(), Refused> {
        if self.flash.is_read_only() && matches!(request.op, HostOp::Write | HostOp::Trim) {
            let retired = self.flash.retired_blocks();
            return Err(Refused::ReadOnly { lba: request.lba, sectors: request.sectors, retired });
        }
        Ok(())
    }

    /// Lets the flash catch up, counts the groups of a read, and gives the FTL the time until the request, if the array is idle
    /// until then.
    pub(in crate::engine) fn before_admission(&mut self, request: &HostRequest, rest: &[HostRequest], slots: &Slots) {
        self.catch_up();
        let reads = request.op == HostOp::Read && request.sectors > 0 && slots.frames().total() > 0;
        if self.settings.read_groups && reads {
            self.count_read_groups(request, rest, slots);
        }
        if self.ftl.works_in_idle_time() {
            self.snapshot_nvram(slots);
            if let Some(until) = self.inflight.idle_until(&mut self.flash.clock, request.at) {
                self.ftl.idle(&mut self.flash, until);
            }
        }
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

    /// The command and the data of a write come over the link, and the controller carries it out.
    fn cross_to_device(&mut self, request: &HostRequest, rest: &[HostRequest]) {
        let pieces = || std::iter::once(request).chain(rest);
        let sectors = pieces().map(|piece| u64::from(piece.sectors)).sum::<u64>();
        let (bytes, host) = (sectors * SECTOR_BYTES, self.settings.host);
        let now = self.inflight.awake(self.flash.now());
        let pages = match request.op {
            HostOp::Read | HostOp::Write => pieces().map(|piece| self.pages_of(piece)).sum(),
            HostOp::Trim | HostOp::Flush => 0,
        };
        let known = self.inflight.carry_out(request.op == HostOp::Read, pages, now);
        self.begins = match request.op {
            HostOp::Read => {
                self.outgoing = if host.link.is_some() { bytes } else { 0 };
                known + host.read_overhead
            }
            HostOp::Write => self.inflight.cross(Way::ToDevice, now, bytes).max(known) + host.write_overhead,
            HostOp::Trim | HostOp::Flush => known + host.write_overhead,
        };
    }

    /// Pages that it touches, wholly or in part.
    fn pages_of(&self, piece: &HostRequest) -> u64 {
        let page = u64::from(self.page_sectors);
        (piece.lba + u64::from(piece.sectors)).div_ceil(page) - piece.lba / page
    }

    /// An access of a request to a page is over.
    #[cold]
    pub(super) fn observe_page(&mut self, slots: &mut Slots, access: &Access, hit: bool) {
        if let Some(probe) = &mut self.probe {
            probe.on_access(access.lpn, access.write, hit);
        }
        let slot = slots.find(access.lpn);
        if !access.write || slot.is_none() {
            return;
        }
        self.date(slots, slot);
        if self.begins > self.flash.now() {
            let mut filled = Ticket::reached(self.begins);
            if let Some(before) = self.filling(slots, slot) {
                filled = self.flash.clock.join(before, filled);
            }
            self.set_filling(slots, slot, filled);
        }
    }

    /// A read whose data crosses the link when `done` resolves: when it completes is not known yet.
    #[cold]
    pub(super) fn cross_to_host(
        &mut self,
        kind: RequestKind,
        (arrival, admitted): (Nanos, Nanos),
        done: Ticket,
    ) -> Completion {
        let bytes = std::mem::take(&mut self.outgoing);
        self.inflight.finish_over_link(&mut self.flash.clock, kind, arrival, admitted, done, bytes);
        Completion { admitted, finished: None }
    }
}
