//! Configuration: typed, unknown keys refused, relations checked before anything runs.
//!
//! A configuration is layered: built-in defaults, a device preset, a TOML file, `key=value` settings. The fully expanded
//! form goes into every result.

mod build;
mod builder;
mod capacity;
mod controller;
mod flush;
mod host;
mod inherited;
mod lines;
mod mode;
mod replay;
mod sleep;
mod text;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::buffer::{Bypass, Frames};
use crate::catalog::BUFFERS;
use crate::endurance::EnduranceConfig;
use crate::engine::{EvictWait, PartialWrite};
use crate::error::ConfigError;
use crate::flash::{
    CellConfig, CommandConfig, Geometry, Media, ProgramOrder, ReliabilityConfig, SchedulerConfig, TimingModel,
};
use crate::ftl::FTLS;
use crate::registry;
use crate::types::{Bytes, Nanos};

pub use builder::{Builder, DEFAULT_DEVICE, DEVICES};
pub use controller::ControllerConfig;
pub use flush::{FlushConfig, Gather};
pub use host::{HostConfig, HostLink};
pub use mode::DeviceMode;
pub use replay::{ReplayConfig, ReplayMode, Settle};
pub use sleep::SleepConfig;
pub use text::split_outside;

/// Everything that decides a run, apart from the trace.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Seed of every random choice.
    pub seed: u64,
    /// The flash device.
    pub device: DeviceConfig,
    /// Its RAM.
    pub ram: RamConfig,
    /// Data buffer policy and its parameters.
    pub buffer: PluginConfig,
    /// Flash translation layer and its parameters.
    pub ftl: PluginConfig,
    /// How requests arrive.
    pub replay: ReplayConfig,
    /// State of the device before the measurement.
    pub precondition: Precondition,
    /// The preset that it was laid over, which may say more to other FTLs than to this one.
    #[serde(skip)]
    pub preset: &'static str,
}

/// The flash device.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Name of the preset it started from.
    pub name: String,
    /// Where its figures come from.
    pub source: String,
    /// Whether it works as the devices of papers do.
    #[serde(default)]
    pub mode: DeviceMode,
    /// Shape of the array.
    pub geometry: Geometry,
    /// Pages the host cannot address.
    pub over_provisioning: OverProvisioning,
    /// Order of programs inside a block.
    pub program_order: ProgramOrder,
    /// Times.
    pub timing: TimingConfig,
    /// What one command of the flash does, for timing models that have a scheduler.
    #[serde(default)]
    pub commands: CommandConfig,
    /// How pages and blocks differ in their times, for timing models that have a scheduler.
    #[serde(default)]
    pub cells: CellConfig,
    /// In which order dies work, for timing models that have a scheduler.
    #[serde(default)]
    pub scheduler: SchedulerConfig,
    /// Whether bytes are stored (needed for data checks and power cuts).
    pub media: Media,
    /// How long its cells last.
    pub endurance: EnduranceConfig,
    /// Read disturb, wear-out and bad blocks; nothing ages without it.
    #[serde(default)]
    pub reliability: ReliabilityConfig,
    /// The way between it and the host; free without it.
    #[serde(default)]
    pub host: HostConfig,
    /// What carries out commands; it takes no time without it.
    #[serde(default)]
    pub controller: ControllerConfig,
    /// When it sleeps; never without it.
    #[serde(default)]
    pub sleep: SleepConfig,
}

/// How over-provisioning is given: papers mean different things by 'x %'.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum OverProvisioning {
    /// Spare pages per logical page: logical = physical / (1 + x).
    SpareOverLogical(f64),
    /// Spare pages per physical page: logical = physical * (1 - x).
    SpareOverPhysical(f64),
    /// The number of logical pages itself.
    LogicalPages(u32),
}

/// Times of the flash.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimingConfig {
    /// What works at the same time, and in which order: see `nandlab list timings`.
    pub model: TimingModel,
    /// Page read, cell to register (`t_R`).
    pub page_read: Nanos,
    /// Page program, register to cell (`t_PROG`).
    pub page_program: Nanos,
    /// Block erase (`t_BERS`).
    pub block_erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Command phase on the channel.
    pub command: Nanos,
}

/// Who gets the DRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// `dram` holds data pages only; the map has its own memory.
    Fixed,
    /// `dram` holds the map and, in what is left, data pages (URM).
    Unified,
}

/// RAM of the device.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RamConfig {
    /// DRAM.
    pub dram: Bytes,
    /// NVRAM for data pages (WPA).
    pub nvram: Bytes,
    /// Who gets the DRAM.
    pub budget: Budget,
    /// Time of one page access to DRAM, read.
    pub dram_read: Nanos,
    /// Time of one page access to DRAM, write.
    pub dram_write: Nanos,
    /// Time of one page access to NVRAM, read.
    pub nvram_read: Nanos,
    /// Time of one page access to NVRAM, write.
    pub nvram_write: Nanos,
    /// When the frame of a page that is written back may be used again.
    pub evict_wait: EvictWait,
    /// What happens to a partial write of a page that is not resident.
    pub partial_write: PartialWrite,
    /// Read the page from flash on every write miss, as the public lab simulator does.
    pub write_miss_fetch: bool,
    /// What bypasses every buffer: `none`; `sequential_reads` or `sequential`, which is reads and writes, of requests that the
    /// host calls sequential (none without hints in the trace); or all `reads`, so that the RAM is a write buffer. Pages that
    /// are in the buffer are used as ever.
    #[serde(default)]
    pub bypass: Bypass,
    /// What is written in the background; nothing without it.
    #[serde(default)]
    pub flush: FlushConfig,
}

/// A plug-in and its parameters.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PluginConfig {
    /// Name: see `nandlab list`.
    pub name: String,
    /// Its parameters: see `nandlab describe NAME`.
    #[serde(flatten)]
    pub params: Map<String, Value>,
}

impl PluginConfig {
    /// A plug-in with default parameters.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), params: Map::new() }
    }
    /// Reads `name` or `name:key=value:key=value`, the short form for comparisons. Colons inside brackets of any kind
    /// belong to the value.
    ///
    /// # Errors
    /// If a part is not `key=value`, or a key is there twice.
    pub fn parse(text: &str, section: &str) -> Result<Self, ConfigError> {
        let mut parts = split_outside(text, ':').into_iter();
        let mut plugin = Self::named(parts.next().unwrap_or(""));
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                let problem = format!("`{part}` in `{text}` is not key=value");
                return Err(ConfigError::new(section, problem, "write name:key=value:key=value"));
            };
            if plugin.params.insert(key.trim().to_owned(), text::scalar(value)).is_some() {
                let problem = format!("`{}` is there twice in `{text}`", key.trim());
                return Err(ConfigError::new(section, problem, "name each parameter once"));
            }
        }
        Ok(plugin)
    }
    /// A value as it is typed on a command line.
    pub fn typed(value: &Value) -> String {
        text::typed(value)
    }
    /// The short form, which [`Self::parse`] reads back. Absent values are left out.
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        for (key, value) in self.params.iter().filter(|(_, value)| !value.is_null()) {
            label.extend([":", key, "=", &Self::typed(value)]);
        }
        label
    }
}

/// State of the device before the measurement.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// Erased.
    None,
    /// Every logical page was written once, ascending.
    Full,
    /// `full`, then this many overwrites of the logical capacity by uniform random page writes.
    Steady(f64),
    /// The writes of the trace were carried out once (the caller replays them).
    Trace,
}

impl Config {
    /// Fills in the default parameters of the plug-ins.
    fn expand(&mut self) -> Result<(), ConfigError> {
        let ftl = registry::find(FTLS, "ftl", &self.ftl.name)?;
        self.ftl = expanded(&self.ftl, ftl.name(), &(ftl.defaults)());
        (ftl.check)(Value::Object(self.ftl.params.clone()))?;
        let buffer = registry::find(BUFFERS, "buffer", &self.buffer.name)?;
        self.buffer = expanded(&self.buffer, buffer.name(), &(buffer.defaults)());
        (buffer.check)(Value::Object(self.buffer.params.clone()))?;
        Ok(())
    }

    /// Pages the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.device.logical_pages()
    }

    /// Frames that the buffer starts with, before a unified budget takes the map's share.
    pub fn frames(&self) -> Frames {
        let page = u64::from(self.device.geometry.page_bytes);
        Frames { dram: (self.ram.dram.0 / page) as u32, nvram: (self.ram.nvram.0 / page) as u32 }
    }

    /// Checks the relations between keys.
    ///
    /// # Errors
    /// Names the key, the value, the range and what helps.
    pub fn check(&self) -> Result<(), ConfigError> {
        let g = &self.device.geometry;
        let range = |key: &str, value: u64, low: u64, high: u64| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(ConfigError::new(key, format!("{value} is outside {low} to {high}"), format!("use {low} to {high}")))
        };
        let at = |field: &str| format!("device.geometry.{field}");
        range(&at("channels"), g.channels.into(), 1, 1024)?;
        range(&at("chips_per_channel"), g.chips_per_channel.into(), 1, 64)?;
        range(&at("dies_per_chip"), g.dies_per_chip.into(), 1, 64)?;
        range("dies on a channel", u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip), 1, 64)?;
        range(&at("planes_per_die"), g.planes_per_die.into(), 1, 64)?;
        range(&at("blocks_per_plane"), g.blocks_per_plane.into(), 1, capacity::BLOCKS_MAX.into())?;
        range(&at("pages_per_block"), g.pages_per_block.into(), 2, 16_384)?;
        range(&at("page_bytes"), g.page_bytes.into(), 512, 32_768)?;
        if !g.page_bytes.is_multiple_of(512) {
            let problem = format!("{} is not a multiple of 512", g.page_bytes);
            return Err(ConfigError::new(at("page_bytes"), problem, "pages consist of whole sectors"));
        }
        let dies = u64::from(g.channels) * u64::from(g.chips_per_channel) * u64::from(g.dies_per_chip);
        let blocks = dies * u64::from(g.planes_per_die) * u64::from(g.blocks_per_plane);
        range("physical pages", blocks.saturating_mul(g.pages_per_block.into()), 8, capacity::PAGES_MAX)?;
        match self.device.over_provisioning {
            OverProvisioning::SpareOverLogical(x) if !(0.0..=100.0).contains(&x) => {
                return Err(ConfigError::new(
                    "device.over_provisioning",
                    format!("{x} is outside 0 to 100"),
                    "0.07 is 7 %",
                ));
            }
            OverProvisioning::SpareOverPhysical(x) if !(0.0..1.0).contains(&x) => {
                return Err(ConfigError::new(
                    "device.over_provisioning",
                    format!("{x} is outside 0 to 1 (1 excluded)"),
                    "0.07 is 7 %",
                ));
            }
            _ => {}
        }
        range("device.over_provisioning: logical pages", self.logical_pages().into(), 1, g.pages())?;
        self.device.endurance.check()?;
        self.check_times()?;
        self.check_writes()?;
        self.check_mode()?;
        range("replay.queue_depth", self.replay.queue_depth.into(), 1, 65_536)?;
        if !(self.replay.time_scale > 0.0 && self.replay.time_scale <= 1e6) {
            let problem = format!("{} is outside 0 (excluded) to 1,000,000", self.replay.time_scale);
            return Err(ConfigError::new(
                "replay.time_scale",
                problem,
                "to ignore the times use replay.mode = \"fast\"",
            ));
        }
        if let Precondition::Steady(n) = self.precondition
            && !(0.0..=1000.0).contains(&n)
        {
            let problem = format!("{n} overwrites are outside 0 to 1,000");
            return Err(ConfigError::new("precondition.steady", problem, "2 to 40 overwrites reach a steady state"));
        }
        range("ram.dram", self.ram.dram.0, 0, 1 << 40)?;
        range("ram.nvram", self.ram.nvram.0, 0, 1 << 40)?;
        let stored = g.pages().saturating_mul(g.page_bytes.into());
        let is_filled = matches!(self.precondition, Precondition::Full | Precondition::Steady(_));
        if self.device.media == Media::Memory && is_filled && stored > 1 << 36 {
            let problem = format!("{} of page contents do not fit into memory", Bytes(stored));
            let help = "use media = \"none\", precondition = \"none\" or a device of at most 64GiB";
            return Err(ConfigError::new("device.media", problem, help));
        }
        Ok(())
    }

    /// Times and what goes with them; they are limited so that sums of them stay far from the end of simulated time (2^60 ns).
    fn check_times(&self) -> Result<(), ConfigError> {
        let DeviceConfig { timing, scheduler, controller, .. } = &self.device;
        let schedules = timing.model.rule().schedules;
        self.device.commands.check(schedules, &self.device.geometry)?;
        self.device.cells.check(schedules, &timing.times(), self.device.endurance.cell)?;
        scheduler.check(schedules, timing.command)?;
        controller.check()?;
        self.device.sleep.check()?;
        let second = Nanos(1_000_000_000);
        let times = [
            ("device.timing.page_read", timing.page_read, second),
            ("device.timing.page_program", timing.page_program, second),
            ("device.timing.block_erase", timing.block_erase, second),
            ("device.timing.page_transfer", timing.page_transfer, second),
            ("device.timing.command", timing.command, second),
            ("device.scheduler.suspend_time", scheduler.suspend_time, second),
            ("device.scheduler.resume_time", scheduler.resume_time, second),
            ("device.scheduler.most_wait", scheduler.most_wait, second * 1000),
            ("device.host.read_overhead", self.device.host.read_overhead, second),
            ("device.host.write_overhead", self.device.host.write_overhead, second),
            ("device.sleep.wake_time", self.device.sleep.wake_time, second * 100),
            ("device.controller.read_time", controller.read_time, second),
            ("device.controller.write_time", controller.write_time, second),
            ("device.controller.page_time", controller.page_time, second),
            ("ram.dram_read", self.ram.dram_read, second),
            ("ram.dram_write", self.ram.dram_write, second),
            ("ram.nvram_read", self.ram.nvram_read, second),
            ("ram.nvram_write", self.ram.nvram_write, second),
            ("replay.think_time", self.replay.think_time, second * 1000),
        ];
        for (key, time, max) in times {
            if time > max {
                let help = "times have a unit: ns, us, ms or s, as in 25us";
                return Err(ConfigError::new(key, format!("{time} is outside 0s to {max}"), help));
            }
        }
        Ok(())
    }

    /// The configuration as TOML, which can be loaded again. Absent values are left out; it names those that its preset has.
    pub fn to_toml(&self) -> String {
        let mut value = serde_json::to_value(self).expect("a configuration is plain data");
        drop_nulls(&mut value);
        let mut begins = json!({});
        if let Ok(preset) = Builder::preset(self.preset) {
            begins["preset"] = json!(self.preset);
            let without = preset.left_out(&value);
            if !without.is_empty() {
                begins["without"] = json!(without);
            }
        }
        let written = |value| toml::to_string(value).expect("a configuration has a TOML form");
        written(&begins) + &written(&value)
    }

    /// JSON schema of a configuration, with the parameters of every plug-in under `plugins`.
    pub fn schema() -> Value {
        let mut schema = schemars::schema_for!(Config).to_value();
        let of = |name: String, schema: Value| (name, schema);
        let buffers: Map<String, Value> = BUFFERS.iter().map(|p| of(p.name(), (p.schema)())).collect();
        let ftls: Map<String, Value> = FTLS.iter().map(|p| of(p.name(), (p.schema)())).collect();
        schema["plugins"] = json!({"buffer": buffers, "ftl": ftls});
        schema
    }
}

/// Absent values have no form in TOML.
fn drop_nulls(value: &mut Value) {
    if let Value::Object(table) = value {
        table.retain(|_, value| !value.is_null());
        table.values_mut().for_each(drop_nulls);
    }
}

fn expanded(given: &PluginConfig, name: String, defaults: &Value) -> PluginConfig {
    let mut params = defaults.as_object().cloned().unwrap_or_default();
    params.extend(given.params.clone());
    PluginConfig { name, params }
}
