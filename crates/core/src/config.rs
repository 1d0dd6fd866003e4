//! Configuration: typed, unknown keys refused, relations checked before anything runs.
//!
//! A configuration is layered: built-in defaults, a device preset, a TOML file, `key=value` settings. The fully expanded
//! form goes into every result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::buffer::{BUFFERS, Frames};
use crate::error::ConfigError;
use crate::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use crate::ftl::{FTLS, Shape};
use crate::registry;
use crate::ssd::{Arrival, Device, EvictWait, PartialWrite, Parts, RamTimes, Settings};
use crate::types::{Bytes, Nanos};

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
}

/// The flash device.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Name of the preset it started from.
    pub name: String,
    /// Where its figures come from.
    pub source: String,
    /// Shape of the array.
    pub geometry: Geometry,
    /// Pages the host cannot address.
    pub over_provisioning: OverProvisioning,
    /// Order of programs inside a block.
    pub program_order: ProgramOrder,
    /// Times.
    pub timing: TimingConfig,
    /// Whether bytes are stored (needed for data checks and power cuts).
    pub media: Media,
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
    /// `serial` (one operation at a time, as in DiskSim-based simulators) or `parallel` (dies and channels).
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
    /// If a part is not `key=value`.
    pub fn parse(text: &str, section: &str) -> Result<Self, ConfigError> {
        let mut parts = split_outside(text, ':').into_iter();
        let mut plugin = Self::named(parts.next().unwrap_or(""));
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                let problem = format!("`{part}` in `{text}` is not key=value");
                return Err(ConfigError::new(section, problem, "write name:key=value:key=value"));
            };
            plugin.params.insert(key.trim().to_owned(), scalar(value));
        }
        Ok(plugin)
    }
    /// The short form.
    pub fn label(&self) -> String {
        let mut label = self.name.clone();
        for (key, value) in &self.params {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            label.extend([":", key, "=", &value]);
        }
        label
    }
}

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// At the times of the trace, scaled.
    Open,
    /// The next request starts when a place in the queue is free and the host has thought.
    Closed,
    /// As fast as possible: closed without thinking.
    Fast,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// When requests arrive.
    pub mode: ReplayMode,
    /// Requests that the device admits at a time.
    pub queue_depth: u32,
    /// Open: factor on the times of the trace (0.5 = twice as fast).
    pub time_scale: f64,
    /// Closed: pause of the host between a completion and the next request of that place.
    pub think_time: Nanos,
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

/// Built-in device presets: name and TOML text.
pub const DEVICES: &[(&str, &str)] = &[
    ("lab", include_str!("../devices/lab.toml")),
    ("aalru", include_str!("../devices/aalru.toml")),
    ("hitstat", include_str!("../devices/hitstat.toml")),
    ("rftl", include_str!("../devices/rftl.toml")),
    ("urm", include_str!("../devices/urm.toml")),
    ("wpa", include_str!("../devices/wpa.toml")),
    ("modern-tlc", include_str!("../devices/modern-tlc.toml")),
    ("modern-qlc", include_str!("../devices/modern-qlc.toml")),
    ("g1", include_str!("../devices/g1.toml")),
];

/// The device of a run that names none.
pub const DEFAULT_DEVICE: &str = "lab";

/// Layers of a configuration on their way to a [`Config`].
#[derive(Clone, Debug)]
pub struct Builder {
    root: Value,
    /// The user's file, to point at a line of it.
    file: Option<(String, String)>,
}

impl Builder {
    /// Built-in defaults and a device preset.
    ///
    /// # Errors
    /// If there is no such preset.
    pub fn preset(name: &str) -> Result<Self, ConfigError> {
        let mut builder = Self { root: defaults(), file: None };
        let Some((_, text)) = DEVICES.iter().find(|(known, _)| *known == name) else {
            let names: Vec<String> = DEVICES.iter().map(|(known, _)| (*known).to_owned()).collect();
            let mend = match registry::nearest(name, &names) {
                Some(near) => format!("did you mean `{near}`? `nandlab list devices` shows all"),
                None => format!("use one of {}, or the path of a TOML file", names.join(", ")),
            };
            return Err(ConfigError::new("device", format!("there is no device `{name}`"), mend));
        };
        let layer: Value = toml::from_str(text).map_err(|e| ConfigError::new("device", e.to_string(), ""))?;
        merge(&mut builder.root, layer);
        Ok(builder)
    }

    /// Lays a TOML file over what there is. A top-level `preset = "NAME"` in it starts from that device instead.
    ///
    /// # Errors
    /// If it is not TOML (with its line), or names an unknown preset.
    pub fn file(mut self, name: &str, text: &str) -> Result<Self, ConfigError> {
        let parsed: Result<Value, _> = toml::from_str(text);
        let mut layer = parsed.map_err(|e| {
            let line = e.span().map_or(1, |span| line_of(text, span.start));
            let mut error = ConfigError::new(format!("line {line}"), e.message().to_owned(), "the file must be TOML");
            error.file = Some(name.to_owned());
            error
        })?;
        if let Some(preset) = layer.as_object_mut().and_then(|table| table.remove("preset")) {
            let in_file = |mut error: ConfigError| {
                "preset".clone_into(&mut error.key);
                error.file = Some(name.to_owned());
                error
            };
            let Some(preset) = preset.as_str() else {
                let problem = format!("{preset} is not the name of a device");
                return Err(in_file(ConfigError::new("preset", problem, "`nandlab list devices` shows all")));
            };
            self = Self::preset(preset).map_err(in_file)?;
        }
        self.file = Some((name.to_owned(), text.to_owned()));
        merge(&mut self.root, layer);
        Ok(self)
    }

    /// Sets one dotted key, for example `ftl.reserve=2`.
    ///
    /// # Errors
    /// If it is not `key=value` or the path leads through something that is not a table.
    pub fn set(mut self, assignment: &str) -> Result<Self, ConfigError> {
        let parts = assignment.split_once('=').filter(|(key, _)| !key.trim().is_empty());
        let Some((key, value)) = parts else {
            let problem = format!("`{assignment}` is not key=value");
            return Err(ConfigError::new("--set", problem, "for example --set ftl.reserve=2"));
        };
        self.set_value(key.trim(), scalar(value.trim()))?;
        Ok(self)
    }

    /// Sets one dotted key to a value.
    ///
    /// # Errors
    /// If the path leads through something that is not a table.
    pub fn set_value(&mut self, key: &str, value: Value) -> Result<(), ConfigError> {
        let mut at = &mut self.root;
        let parts: Vec<&str> = key.split('.').collect();
        for part in &parts[..parts.len() - 1] {
            let Some(table) = at.as_object_mut() else {
                return Err(ConfigError::new(key, format!("there is no table above `{part}`"), ""));
            };
            at = table.entry((*part).to_owned()).or_insert_with(|| json!({}));
        }
        let Some(table) = at.as_object_mut() else {
            return Err(ConfigError::new(
                key,
                "the part before the last dot is a value, not a table",
                "`nandlab config` shows every key",
            ));
        };
        table.insert(parts[parts.len() - 1].to_owned(), value);
        Ok(())
    }

    /// Chooses a plug-in; parameters of another one that stood there are dropped.
    #[must_use]
    pub fn plugin(mut self, section: &str, plugin: &PluginConfig) -> Self {
        let known = &self.root[section];
        let same = known["name"].as_str() == Some(&plugin.name);
        let mut table = if same { known.as_object().cloned().unwrap_or_default() } else { Map::new() };
        table.insert("name".to_owned(), json!(plugin.name));
        table.extend(plugin.params.clone());
        self.root[section] = Value::Object(table);
        self
    }

    /// The typed configuration with the plug-ins' parameters expanded.
    ///
    /// # Errors
    /// At the first unknown key, wrong type or impossible value, with the line of the file it came from.
    pub fn finish(&self) -> Result<Config, ConfigError> {
        let parsed: Result<Config, _> = serde_path_to_error::deserialize(&self.root);
        let mut config = parsed.map_err(|e| {
            let path = e.path().to_string();
            self.locate(ConfigError::new(
                path,
                registry::plain_words(&e.inner().to_string()),
                "`nandlab config` shows every key",
            ))
        })?;
        config.expand().map_err(|e| self.locate(e))?;
        config.check().map_err(|e| self.locate(e))?;
        Ok(config)
    }

    /// Adds file and line to an error about a key that the user's file sets.
    pub fn locate(&self, mut error: ConfigError) -> ConfigError {
        let Some((name, text)) = &self.file else { return error };
        let wanted = error.problem.split('`').nth(1).unwrap_or("").to_owned();
        let last = error.key.rsplit('.').next().unwrap_or("").to_owned();
        let line = text.lines().position(|line| {
            let key = line.split('=').next().unwrap_or("").trim();
            !key.is_empty() && (key == wanted || key == last || key.ends_with(&format!(".{last}")))
        });
        if let Some(line) = line {
            error.file = Some(format!("{name}:{}", line + 1));
        }
        error
    }
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
        let physical = self.device.geometry.pages() as f64;
        match self.device.over_provisioning {
            OverProvisioning::SpareOverLogical(x) => (physical / (1.0 + x)) as u32,
            OverProvisioning::SpareOverPhysical(x) => (physical * (1.0 - x)).round() as u32,
            OverProvisioning::LogicalPages(pages) => pages,
        }
    }

    /// Frames that the buffer starts with, before a unified budget takes the map's share.
    pub fn frames(&self) -> Frames {
        let page = u64::from(self.device.geometry.page_bytes);
        Frames { dram: (self.ram.dram.0 / page) as u32, nvram: (self.ram.nvram.0 / page) as u32 }
    }

    /// Checks the relations between keys.
    ///
    /// # Errors
    /// Names the key, the value, the range and the mend.
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
        range(&at("blocks_per_plane"), g.blocks_per_plane.into(), 1, 1 << 24)?;
        range(&at("pages_per_block"), g.pages_per_block.into(), 2, 16_384)?;
        range(&at("page_bytes"), g.page_bytes.into(), 512, 32_768)?;
        if !g.page_bytes.is_multiple_of(512) {
            let problem = format!("{} is not a multiple of 512", g.page_bytes);
            return Err(ConfigError::new(at("page_bytes"), problem, "pages consist of whole sectors"));
        }
        let blocks = u64::from(g.channels)
            * u64::from(g.chips_per_channel)
            * u64::from(g.dies_per_chip)
            * u64::from(g.planes_per_die)
            * u64::from(g.blocks_per_plane);
        range("physical pages", blocks.saturating_mul(g.pages_per_block.into()), 8, (1 << 31) - 4)?;
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
        self.check_times()?;
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
        if self.device.media == Media::Memory && stored > 1 << 36 {
            let problem = format!("{} of page contents do not fit into memory", Bytes(stored));
            return Err(ConfigError::new("device.media", problem, "use media = \"none\" or a device of at most 64GiB"));
        }
        Ok(())
    }

    /// Times are limited so that sums of them stay far from the end of simulated time (2^60 ns).
    fn check_times(&self) -> Result<(), ConfigError> {
        let timing = &self.device.timing;
        let second = Nanos(1_000_000_000);
        let times = [
            ("device.timing.page_read", timing.page_read, second),
            ("device.timing.page_program", timing.page_program, second),
            ("device.timing.block_erase", timing.block_erase, second),
            ("device.timing.page_transfer", timing.page_transfer, second),
            ("device.timing.command", timing.command, second),
            ("ram.dram_read", self.ram.dram_read, second),
            ("ram.dram_write", self.ram.dram_write, second),
            ("ram.nvram_read", self.ram.nvram_read, second),
            ("ram.nvram_write", self.ram.nvram_write, second),
            ("replay.think_time", self.replay.think_time, second * 1000),
        ];
        for (key, time, max) in times {
            if time > max {
                let mend = "times have a unit: ns, us, ms or s, as in 25us";
                return Err(ConfigError::new(key, format!("{time} is outside 0s to {max}"), mend));
            }
        }
        Ok(())
    }

    /// Builds the device, preconditioned (but for [`Precondition::Trace`], which the caller replays).
    ///
    /// # Errors
    /// When a plug-in refuses its parameters or does not fit the device.
    pub fn build(&self) -> Result<Box<dyn Device>, ConfigError> {
        self.check()?;
        let ftl = registry::find(FTLS, "ftl", &self.ftl.name)?;
        let buffer = registry::find(BUFFERS, "buffer", &self.buffer.name)?;
        let geometry = self.device.geometry;
        let timing = &self.device.timing;
        let times = ClockTimes {
            page_read: timing.page_read,
            page_program: timing.page_program,
            block_erase: timing.block_erase,
            page_transfer: timing.page_transfer,
            command: timing.command,
        };
        let clock = Clock::new(timing.model, times, geometry.channels, geometry.dies());
        let flash = Flash::new(geometry, self.device.program_order, self.device.media, clock);
        let logical_pages = self.logical_pages();
        let shape = Shape { geometry, logical_pages, order: self.device.program_order, seed: self.seed };
        let built = (ftl.build)(Value::Object(self.ftl.params.clone()), &shape)?;
        let parts = Parts { flash, ftl: built, ftl_name: ftl.module, frames: self.frames(), settings: self.settings() };
        let mut device = (buffer.build)(Value::Object(self.buffer.params.clone()), parts)?;
        match self.precondition {
            Precondition::None | Precondition::Trace => {}
            Precondition::Full => device.precondition(true, 0.0),
            Precondition::Steady(overwrites) => device.precondition(true, overwrites),
        }
        Ok(device)
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
            write_miss_fetch: self.ram.write_miss_fetch,
            shared_dram: (self.ram.budget == Budget::Unified).then_some(self.ram.dram),
            nvram_frames: self.frames().nvram,
            ram_times: RamTimes {
                dram_read: self.ram.dram_read,
                dram_write: self.ram.dram_write,
                nvram_read: self.ram.nvram_read,
                nvram_write: self.ram.nvram_write,
            },
            seed: self.seed,
        }
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

fn expanded(given: &PluginConfig, name: String, defaults: &Value) -> PluginConfig {
    let mut params = defaults.as_object().cloned().unwrap_or_default();
    params.extend(given.params.clone());
    PluginConfig { name, params }
}

fn defaults() -> Value {
    json!({
        "seed": 1,
        "ram": {
            "dram": "8MiB", "nvram": 0, "budget": "fixed",
            "dram_read": "500ns", "dram_write": "500ns", "nvram_read": "500ns", "nvram_write": "500ns",
            "evict_wait": "program", "partial_write": "fetch", "write_miss_fetch": false,
        },
        "buffer": {"name": "lru"},
        "ftl": {"name": "page"},
        "replay": {"mode": "open", "queue_depth": 32, "time_scale": 1.0, "think_time": "0ns"},
        "precondition": "full",
    })
}

/// Lays `layer` over `base`, table by table. A plug-in table with another name replaces the old one.
fn merge(base: &mut Value, layer: Value) {
    match (base, layer) {
        (Value::Object(base), Value::Object(layer)) => {
            let renamed = match (base.get("name"), layer.get("name")) {
                (Some(old), Some(new)) => old != new,
                _ => false,
            };
            // A choice such as `{ spare_over_logical = 0.2 }` is replaced by another choice, not joined with it.
            let other_choice = base.len() == 1 && layer.len() == 1 && base.keys().ne(layer.keys());
            if other_choice || renamed && !base.contains_key("geometry") {
                base.clear();
            }
            for (key, value) in layer {
                match base.get_mut(&key) {
                    Some(known) => merge(known, value),
                    None => _ = base.insert(key, value),
                }
            }
        }
        (base, layer) => *base = layer,
    }
}

/// A value as people write it on a command line: number, boolean, TOML array or inline table, else a string.
fn scalar(text: &str) -> Value {
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("v = {text}"));
    let value = parsed.ok().and_then(|mut table| table.remove("v")).and_then(|v| serde_json::to_value(v).ok());
    // JSON has no NaN: as a string it is refused by its own name.
    value.filter(|value| !value.is_null()).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The parts of a text between separators that are not inside parentheses, brackets or braces.
pub fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if letter == separator && depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn line_of(text: &str, at: usize) -> usize {
    text[..at.min(text.len())].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_a_list_split_outside_brackets_only() {
        assert_eq!(split_outside("a,b:x=[1,2], c", ','), ["a", "b:x=[1,2]", " c"]);
        assert_eq!(split_outside("mix:parts=(a:b=1)@2,(c)@1:x=1", ':'), ["mix", "parts=(a:b=1)@2,(c)@1", "x=1"]);
        assert_eq!(split_outside("", ':'), [""]);
        assert_eq!(split_outside("a):b", ':'), ["a)", "b"]);
    }

    #[test]
    fn does_every_preset_build() {
        for (name, _) in DEVICES {
            let config = Builder::preset(name).and_then(|b| b.finish()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(&config.device.name, name);
            let device = config.build().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(device.logical_pages(), config.logical_pages());
        }
    }

    #[test]
    fn is_the_expanded_form_a_configuration_again() {
        let config = Builder::preset("lab").and_then(|b| b.finish()).unwrap();
        let text = toml::to_string(&config).unwrap();
        let again = Builder::preset("aalru").and_then(|b| b.file("x.toml", &text)).and_then(|b| b.finish()).unwrap();
        assert_eq!(text, toml::to_string(&again).unwrap());
    }

    #[test]
    fn does_a_bad_key_name_its_line() {
        let file = "seed = 3\n[ram]\ndram = \"8MiB\"\ndarm = 1\n";
        let error = Builder::preset("lab").and_then(|b| b.file("my.toml", file)).and_then(|b| b.finish()).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("my.toml:4") && text.contains("darm"), "{text}");
    }
}
