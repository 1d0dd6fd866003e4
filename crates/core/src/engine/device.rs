//! What the front ends of a device see of it.

use super::{Below, Completion, Engine, Flushes, Kind, Part, Payload, Refused, Served, Storage, Times};
use crate::buffer::{Access, Buffer, Frames, Medium, Slots};
use crate::flash::{CutMode, Flash};
use crate::ftl::Ftl;
use crate::ledger::Ledger;
use crate::probe::Probe;
use crate::types::{HostOp, HostRequest, Lpn};

/// A device as its front ends see it: replay, sweeps, a live block device, other languages.
pub trait Device {
    /// Carries out one request. See [`Engine::submit`].
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused>;
    /// Carries out one page access exactly as recorded: the number, length and hint of its request are the caller's.
    /// Golden files need it: they give the state after every page, their examples cut requests short, and their hints
    /// are given page by page. It runs the page access of [`Engine::submit`]; the ledger takes it for a request of its own.
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    fn replay_access(&mut self, access: &Access) -> Result<(), Refused>;
    /// Carries out many requests; the loop runs inside the policy's monomorphised code. The pieces of a split request
    /// ([`HostRequest::more`]) are one request: admitted once, counted once, complete when the last piece is.
    ///
    /// # Errors
    /// At the first request that is refused.
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused>;
    /// Lets all operations finish, then writes everything dirty back, from DRAM and NVRAM, and lets that finish too. No
    /// request waits for it.
    fn finish(&mut self);
    /// Lets all operations finish without writing anything back.
    fn drain(&mut self);
    /// Brings the device into its state before the measurement, then forgets counts and times.
    fn precondition(&mut self, fill: bool, overwrites: f64);
    /// Forgets counts and times; contents and wear stay.
    fn start_measuring(&mut self);
    /// Counts so far.
    fn ledger(&self) -> Ledger;
    /// Times of the requests completed so far.
    fn times(&self) -> &Times;
    /// Sizes and intervals of the flushes so far.
    fn flushes(&self) -> &Flushes;
    /// The array, for reports and checks.
    fn flash(&self) -> &Flash;
    /// The array, to arm a power cut or to count events from outside (golden files).
    fn flash_mut(&mut self) -> &mut Flash;
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
    /// Power fails (at the armed flash operation, or now) and comes back: volatile RAM is lost, the FTL rebuilds.
    fn cut_power(&mut self);
    /// Arms a power cut: see [`Flash::arm_cut`].
    fn arm_cut(&mut self, nth: u64, mode: CutMode);
    /// Arms a power cut at the `nth` program or erase after the next [`Device::cut_power`], counted from the first one of
    /// the recovery.
    fn arm_recovery_cut(&mut self, nth: u64, mode: CutMode);
    /// The policy's state in the form of the golden files.
    fn golden_state(&self) -> serde_json::Value;
    /// Checks all invariants; panics on a violation. For tests.
    fn check(&self);
    /// Pages the host can address.
    fn logical_pages(&self) -> u32;
}

impl<B: Buffer> Device for Engine<B, Storage> {
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused> {
        Engine::submit(self, request, payload)
    }
    fn replay_access(&mut self, access: &Access) -> Result<(), Refused> {
        let Access { lpn, write, hint, .. } = *access;
        let (at, lba) = (self.below.flash.now(), u64::from(lpn.0) * u64::from(self.page_sectors));
        let op = if write { HostOp::Write } else { HostOp::Read };
        let request = HostRequest { hint, ..HostRequest::new(at, op, lba, self.page_sectors) };
        self.check_range(&request)?;
        let mut flight = self.admit(&request, Payload::None, access.request);
        let count = self.page_sectors;
        let hit = self.access_page(access, Part { from: 0, count, payload_at: 0, end: Lpn(lpn.0 + 1) }, &mut flight);
        let hits = u32::from(hit);
        let served = Served { write, pages: 1, sectors: count, hits, hit_sectors: hits * count };
        self.below.count_request(served, &flight);
        self.below.complete(if write { Kind::Write } else { Kind::Read }, flight);
        Ok(())
    }
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused> {
        self.submit_all(requests)
    }
    fn finish(&mut self) {
        self.drain();
        self.below.snapshot_nvram(&self.slots);
        self.write_dirty_back(&[Medium::Dram, Medium::Nvram]);
        self.drain();
    }
    fn drain(&mut self) {
        self.below.drain();
    }
    fn precondition(&mut self, fill: bool, overwrites: f64) {
        self.below.fill_device(fill, overwrites);
        self.start_measuring();
    }
    fn start_measuring(&mut self) {
        self.drain();
        if self.requests == 0 {
            self.below.flash.start_measuring();
        } else {
            // Policies may hold snapshots of the ledger: once they have seen it, it never goes back.
            self.below.measured_from = self.below.flash.ledger;
        }
        self.below.inflight.times = Times::default();
        self.below.flushes.reset();
    }
    fn ledger(&self) -> Ledger {
        self.below.flash.ledger - self.below.measured_from
    }
    fn times(&self) -> &Times {
        &self.below.inflight.times
    }
    fn flushes(&self) -> &Flushes {
        &self.below.flushes
    }
    fn flash(&self) -> &Flash {
        &self.below.flash
    }
    fn flash_mut(&mut self) -> &mut Flash {
        &mut self.below.flash
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
        self.resize(frames);
    }
    fn set_probe(&mut self, probe: Option<Box<dyn Probe>>) {
        self.below.probe = probe;
    }
    fn cut_power(&mut self) {
        self.power_cycle();
    }
    fn arm_cut(&mut self, nth: u64, mode: CutMode) {
        self.below.arm_cut(nth, mode);
    }
    fn arm_recovery_cut(&mut self, nth: u64, mode: CutMode) {
        self.below.recovery_cut = Some((nth, mode));
    }
    fn golden_state(&self) -> serde_json::Value {
        self.buffer.golden_state(&self.slots)
    }
    fn check(&self) {
        self.below.ftl.check(&self.below.flash);
        self.below.flash.check();
    }
    fn logical_pages(&self) -> u32 {
        self.below.settings.logical_pages
    }
}
