//! What the front ends of a device see of it.

use super::{Completion, Engine, FlushCounter, LateCompletion, Payload, Refused, Storage, TestPort, Times};
use crate::buffer::{Buffer, Frames, Medium, Slots};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ledger::Ledger;
use crate::probe::Probe;
use crate::types::HostRequest;

/// A simulated SSD as its front ends see it: replay, sweeps, a live block device, other languages.
/// Front ends may move it between threads.
pub trait Ssd: Send {
    /// Carries out one request. See [`Engine::submit`].
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused>;
    /// Carries out many requests; the loop runs inside the policy's monomorphised code. The pieces of a split request
    /// ([`HostRequest::more`]) are one request: admitted once, counted once, complete when the last piece is.
    ///
    /// # Errors
    /// At the first request that is refused.
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused>;
    /// Carries out one request with all its pieces ([`HostRequest::more`]), without bytes: one turn of [`Ssd::run`].
    ///
    /// # Errors
    /// As [`Ssd::submit`].
    fn submit_pieces(&mut self, pieces: &[HostRequest]) -> Result<Completion, Refused>;
    /// From now on remembers when requests complete whose end is not known at once, for [`Ssd::take_late`]: the caller
    /// takes them every now and then, or they pile up. No request may be under way.
    fn remember_late(&mut self);
    /// Moves what was remembered since the last call to the end of `into`, in the order of completion.
    fn take_late(&mut self, into: &mut Vec<LateCompletion>);
    /// Lets all operations finish, then writes everything dirty back, from DRAM and NVRAM, and lets that finish too. No
    /// request waits for it.
    fn finish(&mut self);
    /// Lets all requests complete, with what is flushed ahead until then, and then all operations finish. Hosts of a closed loop
    /// that think then have thought.
    fn drain(&mut self);
    /// Brings the device into its state before the measurement, then forgets counts and times: if `fill`, every page is
    /// written once, ascending; then `overwrites` times as many pages as there are, uniformly at random. Every few thousand pages
    /// it asks whether to go on; if not, it returns false, and the device is of no use.
    fn precondition(&mut self, fill: bool, overwrites: f64, go_on: &mut dyn FnMut() -> bool) -> bool;
    /// Forgets counts and times; contents and wear stay.
    fn start_measuring(&mut self);
    /// Counts so far.
    fn ledger(&self) -> Ledger;
    /// Times of the requests completed so far.
    fn times(&self) -> &Times;
    /// Sizes and intervals of the flushes so far.
    fn flushes(&self) -> &FlushCounter;
    /// The array, for reports and checks.
    fn flash(&self) -> &Flash;
    /// The FTL, for reports and checks.
    fn ftl(&self) -> &dyn Ftl;
    /// True if the buffer or the FTL takes notice of which pages are neighbours.
    fn sees_neighbours(&self) -> bool;
    /// The frames and the pages in them.
    fn slots(&self) -> &Slots;
    /// Changes the number of frames; a shrink evicts at once.
    fn set_frames(&mut self, frames: Frames);
    /// Attaches an observer; `None` detaches it.
    fn set_probe(&mut self, probe: Option<Box<dyn Probe>>);
    /// Pages the host can address.
    fn logical_pages(&self) -> u32;
    /// What only tests and golden files do with a device.
    fn test_port(&mut self) -> &mut dyn TestPort;
}

impl<B: Buffer> Ssd for Engine<B, Storage> {
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused> {
        Engine::submit(self, request, payload)
    }
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused> {
        self.submit_all(requests)
    }
    fn submit_pieces(&mut self, pieces: &[HostRequest]) -> Result<Completion, Refused> {
        match pieces {
            [request] => Engine::submit(self, request, Payload::None),
            _ => Engine::submit_pieces(self, pieces),
        }
    }
    fn remember_late(&mut self) {
        self.below.inflight.remember_late();
    }
    fn take_late(&mut self, into: &mut Vec<LateCompletion>) {
        self.below.inflight.take_late(into);
    }
    fn finish(&mut self) {
        self.drain();
        self.below.snapshot_nvram(&self.slots);
        self.write_dirty_back(&[Medium::Dram, Medium::Nvram]);
        self.drain();
    }
    fn drain(&mut self) {
        self.flush_ahead(None);
        self.below.drain();
    }
    fn precondition(&mut self, fill: bool, overwrites: f64, go_on: &mut dyn FnMut() -> bool) -> bool {
        let done = self.below.fill_device(fill, overwrites, go_on);
        if done {
            self.start_measuring();
        }
        done
    }
    fn start_measuring(&mut self) {
        self.drain();
        if self.requests == 0 {
            self.below.flash.start_measuring();
        } else {
            // Policies may hold snapshots of the ledger: once they have seen it, it never goes back.
            self.below.measured_from = self.below.flash.ledger;
            self.below.flash.age_contents();
            self.below.flash.clock.forget_waits();
        }
        self.below.inflight.start_measuring(self.below.flash.now());
        self.below.flushes.reset();
    }
    fn ledger(&self) -> Ledger {
        self.below.flash.ledger - self.below.measured_from
    }
    fn times(&self) -> &Times {
        &self.below.inflight.times
    }
    fn flushes(&self) -> &FlushCounter {
        &self.below.flushes
    }
    fn flash(&self) -> &Flash {
        &self.below.flash
    }
    fn ftl(&self) -> &dyn Ftl {
        &*self.below.ftl
    }
    fn sees_neighbours(&self) -> bool {
        self.buffer.sees_neighbours() || self.below.ftl.sees_neighbours()
    }
    fn slots(&self) -> &Slots {
        &self.slots
    }
    fn set_frames(&mut self, frames: Frames) {
        self.below.snapshot_nvram(&self.slots);
        self.below.begin_now();
        self.resize(frames);
    }
    fn set_probe(&mut self, probe: Option<Box<dyn Probe>>) {
        self.below.probe = probe;
        self.below.set_observed();
    }
    fn logical_pages(&self) -> u32 {
        self.below.settings.logical_pages
    }
    fn test_port(&mut self) -> &mut dyn TestPort {
        self
    }
}
