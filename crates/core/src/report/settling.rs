//! The end of a run: what the buffer still owes to flash.

use serde::Serialize;

use super::service;
use super::times::hitstat_ns;
use crate::buffer::Medium;
use crate::config::{Settle, TimingConfig};
use crate::engine::Ssd;
use crate::ledger::Ledger;
use crate::types::Nanos;

/// What was left in the buffer when the last request was complete, and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct Settling {
    /// What was done with it: see `replay.settle`.
    pub mode: Settle,
    /// Dirty pages in the buffer when the last request was complete.
    pub dirty_pages: u64,
    /// Of these, pages in NVRAM.
    pub dirty_nvram_pages: u64,
    /// What it costs to write them, after the last completion and without padding. With `flush` it is a part of all other
    /// counts and of the simulated time; with `charge` it is in none of them; nothing with `none`.
    pub cost: Option<FlushCost>,
}

/// Cost of the final flush.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct FlushCost {
    /// Write-back commands.
    pub write_backs: u64,
    /// Page reads, all causes.
    pub reads: u64,
    /// Page programs, all causes.
    pub programs: u64,
    /// Block erases, all causes.
    pub erases: u64,
    /// From the last completion until all is written and the device is at rest: what was under way then ends first. Nothing if
    /// nothing was dirty: that is done at once.
    pub elapsed_ns: u64,
    /// Sum of the service times of these operations.
    pub flash_service_ns: u64,
    /// Erases * `block_erase` + programs * `page_program`: its share of `elapsed.hitstat_ns`.
    pub hitstat_ns: u64,
}

impl Settling {
    /// Nothing is done.
    pub(super) fn none(device: &dyn Ssd) -> Self {
        let slots = device.slots();
        let dirty = |slot: &_| slots.is_dirty(*slot);
        Self {
            mode: Settle::None,
            dirty_pages: slots.iter().filter(dirty).count() as u64,
            dirty_nvram_pages: slots.iter().filter(|s| dirty(s) && slots.medium(*s) == Medium::Nvram).count() as u64,
            cost: None,
        }
    }

    /// Writes everything dirty back, after a measurement that began at `start`.
    pub(super) fn carry_out(mode: Settle, device: &mut dyn Ssd, timing: &TimingConfig, start: Nanos) -> Self {
        let left = Self::none(device);
        let is_clean = left.dirty_pages == 0;
        let begin = if is_clean { device.flash().now() } else { device.times().last_completion.max(start) };
        let ledger = device.ledger();
        device.finish();
        let flush: Ledger = device.ledger() - ledger;
        let cost = FlushCost {
            write_backs: flush.write_back_commands,
            reads: flush.reads(),
            programs: flush.programs(),
            erases: flush.erases(),
            elapsed_ns: (device.flash().now() - begin).0,
            flash_service_ns: service(&flush).0,
            hitstat_ns: hitstat_ns(&flush, timing),
        };
        Self { mode, cost: Some(cost), ..left }
    }
}
