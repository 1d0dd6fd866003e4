//! A small device from the registries.

use nandlab::buffer::{Bypass, Frames};
use nandlab::catalog::BUFFERS;
use nandlab::engine::{Arrival, EvictWait, HostTimes, PartialWrite, Parts, Payload, RamTimes, Settings, Ssd, WriteAck};
use nandlab::error::ConfigError;
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{Batch, FTLS, Ftl, PageWrite, Shape};
use nandlab::ledger::Cause;
use nandlab::registry::find;
use nandlab::types::{HostOp, HostRequest, Lbn, Lpn, Nanos};
use serde_json::{Value, json};

/// Times of an array in ns: page read, page program, block erase, page transfer.
pub const fn times(read: u64, program: u64, erase: u64, transfer: u64) -> ClockTimes {
    ClockTimes {
        page_read: Nanos(read),
        page_program: Nanos(program),
        block_erase: Nanos(erase),
        page_transfer: Nanos(transfer),
        command: Nanos(0),
    }
}

/// An FTL of the registry.
pub fn build_ftl(name: &str, params: Value, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    (find(FTLS, "ftl", name)?.build)(params, shape)
}

/// A flash array of this shape.
pub fn flash(shape: &Shape, media: Media, timing: TimingModel, times: ClockTimes) -> Flash {
    let geometry = shape.geometry;
    let clock = Clock::new(timing, times, geometry.channels, geometry.dies());
    Flash::new(geometry, shape.order, media, clock)
}

/// Writes every logical page once, without bytes.
pub fn fill(ftl: &mut dyn Ftl, flash: &mut Flash, shape: &Shape) {
    let block_pages = shape.geometry.pages_per_block;
    for lbn in 0..shape.logical_blocks() {
        let end = ((lbn + 1) * block_pages).min(shape.logical_pages);
        let pages: Vec<_> = (lbn * block_pages..end).map(|lpn| PageWrite::new(Lpn(lpn), Cause::Host, 1)).collect();
        ftl.fill(flash, Lbn(lbn), Batch::new(&pages, &[]));
    }
    ftl.filled(flash);
    flash.start_measuring();
}

/// One request without bytes.
pub fn submit(device: &mut dyn Ssd, op: HostOp, lba: u64, sectors: u32) {
    device.submit(&HostRequest::new(Nanos(0), op, lba, sectors), Payload::None).unwrap();
}

/// What a test chooses about its device: one die, one operation at a time, no bytes unless it says so.
pub struct Rig {
    pub geometry: Geometry,
    pub order: ProgramOrder,
    pub media: Media,
    pub timing: TimingModel,
    pub times: ClockTimes,
    pub ftl: &'static str,
    pub ftl_params: Value,
    pub frames: Frames,
    pub settings: Settings,
    /// Every page is written once before the test.
    pub filled: bool,
}

impl Rig {
    /// A device with an FTL that has the resident map, and DRAM for `frames` pages.
    pub fn new(geometry: Geometry, logical_pages: u32, frames: u32) -> Self {
        Self {
            geometry,
            order: ProgramOrder::Ascending,
            media: Media::None,
            timing: TimingModel::named("serial"),
            times: times(60_000, 800_000, 1_500_000, 0),
            ftl: "page",
            ftl_params: json!({}),
            frames: Frames { dram: frames, nvram: 0 },
            settings: Settings::one_at_a_time(logical_pages),
            filled: false,
        }
    }
    pub fn shape(&self) -> Shape {
        let Settings { logical_pages, seed, .. } = self.settings;
        Shape { geometry: self.geometry, logical_pages, slc_pages: 0, unit_pages: 2, order: self.order, seed }
    }
    pub fn ftl(&self) -> Box<dyn Ftl> {
        let ftl = build_ftl(self.ftl, self.ftl_params.clone(), &self.shape());
        ftl.unwrap_or_else(|error| panic!("{}: {error}", self.ftl))
    }
    pub fn flash(&self) -> Flash {
        flash(&self.shape(), self.media, self.timing, self.times)
    }
    /// The parts of a device whose FTL may be another than [`Self::ftl`].
    pub fn parts(&self, ftl: Box<dyn Ftl>) -> Parts {
        let settings = Settings { nvram_frames: self.frames.nvram, ..self.settings };
        Parts { flash: self.flash(), ftl, frames: self.frames, settings }
    }
    /// The device with a policy.
    pub fn device(&self, policy: &str, params: Value) -> Box<dyn Ssd> {
        self.try_device(policy, params, self.ftl()).unwrap_or_else(|error| panic!("{policy}: {error}"))
    }
    /// The device with a policy over another FTL, or why the policy refuses it.
    pub fn try_device(&self, policy: &str, params: Value, ftl: Box<dyn Ftl>) -> Result<Box<dyn Ssd>, ConfigError> {
        let plugin = find(BUFFERS, "buffer", policy)?;
        let mut device = (plugin.build.device)(params, self.parts(ftl))?;
        if self.filled {
            device.precondition(true, 0.0, &mut || true);
        }
        Ok(device)
    }
}
