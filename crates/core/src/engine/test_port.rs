//! What tests and golden files do with a device, and no front end does.

use super::{Below, Engine, Part, Payload, Refused, RequestKind, Served, Storage};
use crate::buffer::{Access, Buffer};
use crate::flash::{CutMode, Flash};
use crate::types::{HostOp, HostRequest, Lpn};

/// The test port of a device, as chips have one: single accesses, power cuts, what is inside.
pub trait TestPort {
    /// Carries out one page access exactly as recorded: the number, length and hint of its request are the caller's.
    /// Golden files need it: they give the state after every page, their examples cut requests short, and their hints
    /// are given page by page. It runs the page access of [`Engine::submit`]; the ledger takes it for a request of its own.
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    fn replay_access(&mut self, access: &Access) -> Result<(), Refused>;
    /// The array, to count operations from outside or to record the calls of its clock.
    fn flash_mut(&mut self) -> &mut Flash;
    /// Power fails (at the armed flash operation, or now) and comes back: volatile RAM is lost, the FTL rebuilds.
    fn cut_power(&mut self);
    /// Arms a power cut: see [`Flash::arm_cut`].
    fn arm_cut(&mut self, nth: u64, mode: CutMode);
    /// Arms a power cut at the `nth` program or erase after the next [`TestPort::cut_power`], counted from the first one of
    /// the recovery.
    fn arm_recovery_cut(&mut self, nth: u64, mode: CutMode);
    /// The policy's state in the form of the golden files.
    fn golden_state(&self) -> serde_json::Value;
    /// Checks all invariants of the FTL and the array.
    ///
    /// # Panics
    /// When one is violated.
    fn check(&self);
}

impl<B: Buffer> TestPort for Engine<B, Storage> {
    fn replay_access(&mut self, access: &Access) -> Result<(), Refused> {
        let Access { lpn, write, hint, .. } = *access;
        let (at, lba) = (self.below.flash.now(), u64::from(lpn.0) * u64::from(self.page_sectors));
        let op = if write { HostOp::Write } else { HostOp::Read };
        let request = HostRequest { hint, ..HostRequest::new(at, op, lba, self.page_sectors) };
        self.check_range(&request)?;
        let mut flight = self.admit(&request, &[], Payload::None, access.request);
        let count = self.page_sectors;
        let hit = self.access_page(access, Part { from: 0, count, payload_at: 0, end: Lpn(lpn.0 + 1) }, &mut flight);
        let hits = u32::from(hit);
        let served = Served { write, pages: 1, sectors: count, hits, hit_sectors: hits * count };
        self.below.count_request(served, &flight);
        self.below.complete(if write { RequestKind::Write } else { RequestKind::Read }, flight);
        Ok(())
    }
    fn flash_mut(&mut self) -> &mut Flash {
        &mut self.below.flash
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
}
