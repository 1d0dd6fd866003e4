//! What the faces of a device see of it.

use super::access::Part;
use super::power::NvramPhotograph;
use super::{Completion, Flight, Flushes, Kind, OutOfRange, Payload, Refused, Ssd, Times};
use crate::buffer::{Access, Buffer, Frames, Medium, Slots};
use crate::flash::{CutMode, Flash};
use crate::ftl::Ftl;
use crate::ledger::Ledger;
use crate::probe::Probe;
use crate::types::{HostOp, HostRequest, Lbn, Lpn};

/// A device as its faces see it: replay, sweeps, a live block device, other languages.
pub trait Device {
    /// Carries out one request. See [`Ssd::submit`].
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused>;
    /// Carries out one page access exactly as recorded: the number, length and hint of its request are the caller's.
    /// Golden files need it: they give the state after every page, their examples cut requests short, and their hints
    /// are given page by page. It runs the page access of [`Ssd::submit`]; the ledger takes it for a request of its own.
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

impl<B: Buffer> Device for Ssd<B> {
    fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused> {
        Ssd::submit(self, request, payload)
    }
    fn replay_access(&mut self, access: &Access) -> Result<(), Refused> {
        let sectors = self.flash.geometry().page_sectors();
        let op = if access.write { HostOp::Write } else { HostOp::Read };
        let request = HostRequest {
            at: self.flash.now(),
            lba: u64::from(access.lpn.0) * u64::from(sectors),
            sectors,
            op,
            hint: access.hint,
            more: false,
        };
        if access.lpn.0 >= self.settings.logical_pages {
            let capacity_sectors = u64::from(self.settings.logical_pages) * u64::from(sectors);
            return Err(Refused::OutOfRange(OutOfRange { lba: request.lba, sectors, capacity_sectors }));
        }
        let (arrival, now) = self.inflight.admit(&mut self.flash.clock, request.at);
        self.count_buffer_times();
        if access.request != self.requests {
            self.requests = access.request;
            self.last_group = Lbn::NONE;
        }
        self.request_end = Lpn(access.lpn.0 + 1);
        self.share_ram();
        let mut flight = Flight::new(Payload::None, now);
        self.access_page(access, Part { from: 0, count: sectors, payload_at: 0 }, &mut flight);
        self.count_request(sectors, &Access { request_pages: 1, ..*access }, &flight);
        let kind = if access.write { Kind::Write } else { Kind::Read };
        let done = self.flash.clock.delay(flight.done, now + self.ram_time(&flight, access.write));
        self.inflight.finish(&mut self.flash.clock, kind, arrival, now, done);
        Ok(())
    }
    fn run(&mut self, requests: &[HostRequest]) -> Result<(), Refused> {
        let mut stream = requests;
        while let [request, later @ ..] = stream {
            if request.more {
                let (pieces, after) = HostRequest::split_first(stream).expect("there is a request");
                self.submit_pieces(pieces)?;
                stream = after;
            } else {
                Ssd::submit(self, request, Payload::None)?;
                stream = later;
            }
        }
        Ok(())
    }
    fn finish(&mut self) {
        self.drain();
        self.photograph_nvram();
        self.write_dirty_back(&[Medium::Dram, Medium::Nvram]);
        self.drain();
    }
    fn drain(&mut self) {
        self.inflight.drain(&mut self.flash.clock);
        self.count_buffer_times();
    }
    fn precondition(&mut self, fill: bool, overwrites: f64) {
        self.fill_device(fill, overwrites);
    }
    fn start_measuring(&mut self) {
        Device::drain(self);
        if self.requests == 0 {
            self.flash.start_measuring();
        } else {
            // Policies may hold snapshots of the ledger: once they have seen it, it never goes back.
            self.measured_from = self.flash.ledger;
        }
        self.inflight.times = Times::default();
        self.flushes.reset();
    }
    fn ledger(&self) -> Ledger {
        self.flash.ledger - self.measured_from
    }
    fn times(&self) -> &Times {
        &self.inflight.times
    }
    fn flushes(&self) -> &Flushes {
        &self.flushes
    }
    fn flash(&self) -> &Flash {
        &self.flash
    }
    fn flash_mut(&mut self) -> &mut Flash {
        &mut self.flash
    }
    fn ftl(&self) -> &dyn Ftl {
        &*self.ftl
    }
    fn sees_neighbours(&self) -> bool {
        self.buffer.sees_neighbours() || self.ftl.sees_neighbours()
    }
    fn slots(&self) -> &Slots {
        &self.slots
    }
    fn set_frames(&mut self, frames: Frames) {
        self.photograph_nvram();
        self.resize(frames);
    }
    fn set_probe(&mut self, probe: Option<Box<dyn Probe>>) {
        self.probe = probe;
    }
    fn cut_power(&mut self) {
        self.power_cycle();
    }
    fn arm_cut(&mut self, nth: u64, mode: CutMode) {
        self.flash.arm_cut(nth, mode);
        self.armed_nvram = Some(NvramPhotograph::default());
    }
    fn arm_recovery_cut(&mut self, nth: u64, mode: CutMode) {
        self.recovery_cut = Some((nth, mode));
    }
    fn golden_state(&self) -> serde_json::Value {
        self.buffer.golden_state(&self.slots)
    }
    fn check(&self) {
        self.ftl.check(&self.flash);
        self.flash.check();
    }
    fn logical_pages(&self) -> u32 {
        self.settings.logical_pages
    }
}
