//! From a configuration to the device that it describes.

use serde_json::Value;

use super::{Budget, Config, DeviceConfig, Precondition, ReplayMode, TimingConfig};
use crate::buffer::{BufferShape, FlashTimes};
use crate::catalog::BUFFERS;
use crate::engine::{Arrival, Hits, Parts, RamTimes, Settings, Ssd, WriteAck};
use crate::error::ConfigError;
use crate::flash::{Clock, ClockShape, ClockTimes, Flash, Planes};
use crate::ftl::{FTLS, Shape};
use crate::registry;
use crate::types::{Bytes, Nanos};

impl TimingConfig {
    /// For the clock.
    pub const fn times(&self) -> ClockTimes {
        let Self { page_read, page_program, block_erase, page_transfer, command, .. } = *self;
        ClockTimes { page_read, page_program, block_erase, page_transfer, command }
    }
}

impl DeviceConfig {
    /// Pages that its dies can program at a time.
    pub(super) const fn pages_at_a_time(&self) -> u32 {
        let planes = if matches!(self.commands.planes, Planes::One) { 1 } else { self.geometry.planes_per_die };
        self.geometry.dies() * planes * self.commands.unit_pages
    }

    /// What its clock is made for.
    pub const fn clock_shape(&self) -> ClockShape {
        let geometry = &self.geometry;
        ClockShape {
            times: self.timing.times(),
            channels: geometry.channels,
            dies: geometry.dies(),
            blocks: geometry.blocks(),
            pages_per_block: geometry.pages_per_block,
            planes: geometry.planes_per_die,
            commands: self.commands,
            scheduler: self.scheduler,
        }
    }
}

impl Config {
    /// Builds the device, preconditioned (except for [`Precondition::Trace`], which the caller replays).
    ///
    /// # Errors
    /// When a plug-in refuses its parameters or does not fit the device.
    pub fn build(&self) -> Result<Box<dyn Ssd>, ConfigError> {
        let mut device = self.fresh()?;
        self.precondition(&mut *device, &mut || true);
        Ok(device)
    }

    /// Builds the device as it is new.
    ///
    /// # Errors
    /// As [`Config::build`].
    pub fn fresh(&self) -> Result<Box<dyn Ssd>, ConfigError> {
        let buffer = registry::find(BUFFERS, "buffer", &self.buffer.name)?;
        self.fresh_around(|parts| (buffer.build.device)(Value::Object(self.buffer.params.clone()), parts))
    }

    /// Preconditions a device that is new, except for [`Precondition::Trace`]. Every few thousand pages it asks whether to go on;
    /// if not, it returns false, and the device is of no use.
    pub fn precondition(&self, device: &mut dyn Ssd, go_on: &mut dyn FnMut() -> bool) -> bool {
        match self.precondition {
            Precondition::None | Precondition::Trace => true,
            Precondition::Full => device.precondition(true, 0.0, go_on),
            Precondition::Steady(overwrites) => device.precondition(true, overwrites, go_on),
        }
    }

    /// The new device around a policy that is in no list: `buffer` makes it of what lies below the policy, as
    /// [`Engine::new`](crate::engine::Engine::new) does. The buffer that is configured is ignored.
    ///
    /// # Errors
    /// As [`Config::build`], and those of `buffer`.
    pub fn fresh_around(
        &self,
        buffer: impl FnOnce(Parts) -> Result<Box<dyn Ssd>, ConfigError>,
    ) -> Result<Box<dyn Ssd>, ConfigError> {
        self.check()?;
        let ftl = registry::find(FTLS, "ftl", &self.ftl.name)?;
        let geometry = self.device.geometry;
        let timing = &self.device.timing;
        let (cells, unit_pages) = (self.device.cells, self.device.commands.unit_pages);
        let clock = Clock::of(timing.model, &self.device.clock_shape());
        let mut flash = Flash::new(geometry, self.device.program_order, self.device.media, clock);
        let slc_pages = cells.slc_pages(self.device.endurance.cell, &geometry, unit_pages);
        flash.set_cells(cells, &timing.times(), unit_pages, slc_pages, self.seed);
        if self.device.commands.copy_back {
            flash.use_copy_back();
        }
        let logical_pages = self.logical_pages();
        let (order, seed) = (self.device.program_order, self.seed);
        let shape = Shape { geometry, logical_pages, slc_pages, unit_pages, order, seed };
        let built = (ftl.build)(Value::Object(self.ftl.params.clone()), &shape)?;
        let (ageing, pe_cycles) = (self.device.reliability, self.device.endurance.pe_cycles);
        flash.set_reliability(ageing, pe_cycles, self.seed, built.relocates_disturbed())?;
        if ageing.map_page_loss > 0.0 && !built.keeps_map_on_flash() {
            let problem = format!("`{}` has no translation pages that could be lost", self.ftl.name);
            let help = "use a demand-mapped FTL (rftl, dftl), or leave it out";
            return Err(ConfigError::new("device.reliability.map_page_loss", problem, help));
        }
        let map = Bytes(built.map_bytes());
        if self.ram.budget == Budget::Unified && map > self.ram.dram {
            let problem = format!(
                "the map of `{}` takes {map}, and {} is there for it and the data",
                self.ftl.name, self.ram.dram
            );
            let help = "give it more (`--ram`), cache less of the map, or use ram.budget = \"fixed\", which does not count the map";
            return Err(ConfigError::new("ram.dram", problem, help));
        }
        let parts = Parts { flash, ftl: built, frames: self.frames(), settings: self.settings() };
        buffer(parts)
    }

    fn settings(&self) -> Settings {
        Settings {
            logical_pages: self.logical_pages(),
            arrival: match self.replay.mode {
                ReplayMode::Open => Arrival::Open,
                ReplayMode::Closed => Arrival::Closed { think: self.replay.think_time },
                ReplayMode::Fast => Arrival::Closed { think: Nanos::ZERO },
            },
            queue_depth: self.replay.queue_depth,
            evict_wait: self.ram.evict_wait,
            partial_write: self.ram.partial_write,
            bypass: self.ram.bypass,
            write_miss_fetch: self.ram.write_miss_fetch,
            shared_dram: (self.ram.budget == Budget::Unified).then_some(self.ram.dram),
            nvram_frames: self.frames().nvram,
            ram_times: RamTimes {
                dram_read: self.ram.dram_read,
                dram_write: self.ram.dram_write,
                nvram_read: self.ram.nvram_read,
                nvram_write: self.ram.nvram_write,
            },
            host: self.device.host.times(&self.device.controller, &self.device.sleep),
            write_ack: self.device.host.write_ack,
            flush: self.ram.flush.settings(&self.device),
            read_groups: self.replay.read_groups,
            seed: self.seed,
        }
    }

    /// Builds the policy alone, without FTL, flash and time; see [`crate::engine::Nothing`]. A RAM budget
    /// shared with the map counts as if the map took nothing.
    ///
    /// # Errors
    /// When the policy refuses its parameters or its frames, or when there is something to flush ahead.
    pub fn build_hits(&self) -> Result<Box<dyn Hits>, ConfigError> {
        self.check()?;
        if !self.ram.flush.is_off() {
            let problem = "a buffer without FTL and flash has no time at which it could be flushed";
            return Err(ConfigError::new("ram.flush", problem, "name an FTL, or leave it out"));
        }
        if self.device.host.write_ack == WriteAck::Flash {
            let problem = "a buffer without FTL and flash has nothing to write through to";
            return Err(ConfigError::new("device.host.write_ack", problem, "name an FTL, or use `ram`"));
        }
        if self.device.host.write_ack == WriteAck::ProtectedRam {
            let problem = "without FTL and flash every flush writes what is dirty";
            return Err(ConfigError::new("device.host.write_ack", problem, "name an FTL, or use `ram`"));
        }
        registry::find(FTLS, "ftl", &self.ftl.name)?;
        let buffer = registry::find(BUFFERS, "buffer", &self.buffer.name)?;
        let geometry = self.device.geometry;
        let timing = &self.device.timing;
        let bus = timing.command + timing.page_transfer;
        let times = FlashTimes {
            read: timing.page_read + bus,
            program: timing.page_program + bus,
            erase: timing.block_erase + timing.command,
        };
        let shape = BufferShape {
            pages_per_block: geometry.pages_per_block,
            page_sectors: geometry.page_sectors(),
            logical_pages: self.logical_pages(),
            frames: self.frames(),
            times,
            merges: None,
            bypass: self.ram.bypass,
            seed: self.seed,
        };
        (buffer.build.hits)(Value::Object(self.buffer.params.clone()), shape)
    }
}
