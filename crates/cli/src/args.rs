//! Arguments that several commands have in common.

use clap::{Args, ValueEnum};
use nandlab::offline::{COST_MAX, Costs};
use nandlab::types::Bytes;
use nandlab_lab::{Address, Capacity, Device, Error, Word, Workload};
use nandlab_trace::Volumes;

use crate::number;
use crate::reading::ReadArgs;

/// A family of things with names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Family {
    /// Data buffer policies.
    #[value(alias = "buffer")]
    Buffers,
    /// Flash translation layers.
    #[value(alias = "ftl")]
    Ftls,
    /// Victim policies of garbage collection.
    #[value(alias = "victim")]
    Victims,
    /// Victim policies of chains of log blocks.
    #[value(alias = "chain-victim")]
    ChainVictims,
    /// Allocation rules of FTLs: which free block is taken.
    #[value(alias = "allocation")]
    Allocations,
    /// Placements of pages on dies.
    #[value(alias = "placement")]
    Placements,
    /// Paces of garbage collection.
    #[value(alias = "pace")]
    Paces,
    /// Padding rules of buffers that work in blocks.
    #[value(alias = "padding")]
    Paddings,
    /// Timing models of the flash array.
    #[value(alias = "timing")]
    Timings,
    /// Schedulers of the dies.
    #[value(alias = "scheduler")]
    Schedulers,
    /// Orders of a cached mapping table.
    #[value(alias = "cmt-order")]
    CmtOrders,
    /// Device presets.
    #[value(alias = "device")]
    Devices,
    /// Trace formats.
    #[value(alias = "format")]
    Formats,
    /// Generators of requests, and presets of them.
    #[value(alias = "generator")]
    Generators,
    /// Experiments of papers, with what they claim.
    #[value(alias = "experiment")]
    Experiments,
    /// Tools that change traces: `nandlab trace NAME`.
    #[value(alias = "tool")]
    Tools,
}

/// The device, except for its buffer and its FTL.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// A device preset (`nandlab list devices`) or a TOML file. A file is laid over `lab-drive`, or what its `preset = "NAME"`
    /// names, and leaves out what `without = ["KEY"]` names.
    #[arg(long, short, value_name = "PRESET|FILE", default_value = nandlab::config::DEFAULT_DEVICE)]
    pub device: String,
    /// What the host can address at least: planes get more erase blocks until it is so (1TiB), or until every address of
    /// the trace is on the device (fit, which reads the trace once more). Memory is used for what is written only; with
    /// the default --precondition full that is all of it.
    #[arg(long, value_name = "SIZE|fit", value_parser = Capacity::read, allow_hyphen_values = true)]
    pub capacity: Option<Capacity>,
    /// NVRAM for data pages (ram.nvram).
    #[arg(long, value_name = "SIZE", value_parser = number::size, allow_hyphen_values = true)]
    pub nvram: Option<Bytes>,
    /// State before the measurement: none, full, steady:N (full, then N overwrites of the capacity at random) or trace
    /// (the writes of the trace, once).
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub precondition: Option<String>,
    /// Any key of the configuration, for example --set ftl.reserve=2, or `--set ftl.gc_lag=` to leave out what a preset
    /// sets; may be repeated, and wins over everything else (but --capacity grows what it gives).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", value_parser = number::any, allow_hyphen_values = true)]
    pub seed: Option<u64>,
    /// When requests arrive: at the times of the trace, when the host has seen an answer, or at once.
    #[arg(long, value_enum)]
    pub mode: Option<Mode>,
    /// Requests that the device admits at a time (1 to 65536).
    #[arg(long, value_name = "N", value_parser = queue_depth, allow_hyphen_values = true)]
    pub queue_depth: Option<u64>,
    /// What becomes of dirty pages that are left at the end (replay.settle).
    #[arg(long, value_enum)]
    pub settle: Option<SettleChoice>,
}

/// What becomes of dirty pages that are left at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SettleChoice {
    /// They are written, and the cost is in all counts; the default.
    Flush,
    /// They are written, and the cost is reported by itself.
    Charge,
    /// They stay where they are.
    None,
}

/// The size of its buffer.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Device")]
pub struct SizeArgs {
    /// DRAM (ram.dram): its data pages, or with budget = "unified" its data pages and the map.
    #[arg(long, value_name = "SIZE", value_parser = number::size, allow_hyphen_values = true)]
    pub ram: Option<Bytes>,
}

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Mode {
    /// At the times of the trace x `replay.time_scale`.
    Open,
    /// When a place in the queue is free and the host has thought for `replay.think_time`.
    Closed,
    /// When a place in the queue is free.
    Fast,
}

/// The plug-ins of one device.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Device")]
pub struct PluginArgs {
    /// Data buffer: name or name:key=value:key=value (`nandlab list buffers`).
    #[arg(long, short, value_name = "NAME")]
    pub buffer: Option<String>,
    /// Flash translation layer: name or name:key=value:key=value (`nandlab list ftls`). Parameters that the device gives to
    /// another FTL hold for this one too, if it has them: except for defaults, and a reserve that is too small for it.
    #[arg(long, short, value_name = "NAME")]
    pub ftl: Option<String>,
}

/// What to do with several devices in one trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VolumeChoice {
    /// One simulation, of all devices or one.
    Together(Volumes),
    /// A simulation of each device.
    Separate,
}

/// What is replayed.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Trace")]
pub struct TraceArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// What to do with addresses beyond the device: reject (an error), modulo (fold) or compact: number erase blocks in
    /// order of first use. compact:page and compact:SIZE number pages, or units of a size, instead.
    #[arg(long, value_name = "POLICY", value_parser = Address::read, default_value = "reject")]
    pub address: Address,
    /// What to do with several devices in one trace: reject (an error), stack, merge, pick:N, or separate (each is
    /// simulated on a device of its own; `run` only). Times count from the first row of the whole trace.
    #[arg(long, value_name = "POLICY", value_parser = volumes, default_value = "reject")]
    pub volumes: VolumeChoice,
    /// Requests to replay at most; with --volumes separate, of each device.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

/// How much is done at a time, and where a table of many simulations goes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Write the answer as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Print comma-separated values with exact numbers.
    #[arg(long, conflicts_with = "markdown")]
    pub csv: bool,
    /// Print a Markdown table.
    #[arg(long)]
    pub markdown: bool,
    /// No table and no progress bar.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What pages cost.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Costs")]
pub struct CostArgs {
    /// Cost of a page read from flash (a whole number up to 1000000). Default: 1.
    #[arg(long, value_name = "N", value_parser = cost, allow_hyphen_values = true)]
    read_cost: Option<u64>,
    /// Cost of a page written to flash (a whole number up to 1000000). Default: 10.
    #[arg(long, value_name = "N", value_parser = cost, allow_hyphen_values = true)]
    write_cost: Option<u64>,
}

fn cost(text: &str) -> Result<u64, String> {
    number::ranged(text, 0, COST_MAX)
}

impl CostArgs {
    /// One of them was named.
    pub const fn named(self) -> bool {
        self.read_cost.is_some() || self.write_cost.is_some()
    }
    /// Refuses a world in which nothing costs anything.
    pub fn costs(self) -> Result<Costs, Error> {
        let costs = Costs { read: self.read_cost.unwrap_or(1), write: self.write_cost.unwrap_or(10) };
        if costs.read + costs.write == 0 {
            return Err(Error::input("--read-cost 0 and --write-cost 0: nothing costs anything", "raise one of them"));
        }
        Ok(costs)
    }
}

impl DeviceArgs {
    /// The device, with a size of the DRAM.
    pub fn device(&self, ram: Option<Bytes>) -> Device {
        let options = [
            ("seed", self.seed.map(|seed| seed.to_string())),
            ("ram.dram", ram.map(|size| size.0.to_string())),
            ("ram.nvram", self.nvram.map(|size| size.0.to_string())),
            ("replay.mode", word(self.mode)),
            ("replay.settle", word(self.settle)),
            ("replay.queue_depth", self.queue_depth.map(|depth| depth.to_string())),
            ("precondition", self.precondition.clone()),
        ];
        let options = options.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", value?)));
        let set = options.chain(self.set.iter().cloned()).collect();
        Device { set, capacity: self.capacity, ..Device::of(&self.device) }
    }

    /// The same with plug-ins.
    pub fn complete(&self, size: SizeArgs, plugins: &PluginArgs) -> Device {
        Device { buffer: plugins.buffer.clone(), ftl: plugins.ftl.clone(), ..self.device(size.ram) }
    }
}

impl TraceArgs {
    /// The same for the laboratory.
    ///
    /// # Errors
    /// The devices are to be simulated separately.
    pub fn workload(&self) -> Result<Workload, Error> {
        match self.volumes {
            VolumeChoice::Together(volumes) => Ok(self.with(volumes)),
            VolumeChoice::Separate => Err(Error::input(
                "--volumes separate simulates each device of a trace by itself, which only `nandlab run` does",
                "--volumes pick:N for one of them, or stack or merge for all in one",
            )),
        }
    }

    /// The same for the laboratory, with another choice of devices.
    pub fn with(&self, volumes: Volumes) -> Workload {
        Workload {
            trace: self.read.trace.clone(),
            reading: self.read.reading.reading(),
            address: self.address,
            volumes,
            limit: self.limit,
            passes: self.read.passes.clone(),
            ..Workload::default()
        }
    }
}

/// The word for a choice.
fn word(choice: Option<impl ValueEnum>) -> Option<String> {
    Some(choice?.to_possible_value()?.get_name().to_owned())
}

fn queue_depth(text: &str) -> Result<u64, String> {
    number::ranged(text, 1, 65_536)
}

fn volumes(text: &str) -> Result<VolumeChoice, String> {
    match text {
        "separate" => Ok(VolumeChoice::Separate),
        _ => Volumes::read(text)
            .map(VolumeChoice::Together)
            .map_err(|_| "allowed is reject, stack, merge, separate or pick:N with the number of a device".to_owned()),
    }
}

/// The state before the measurement, as a value of the configuration.
fn precondition(text: &str) -> Result<String, String> {
    let overwrites = text.strip_prefix("steady:").or_else(|| text.strip_prefix("steady="));
    match (text, overwrites.map(str::parse::<f64>)) {
        ("none" | "full" | "trace", _) => Ok(text.to_owned()),
        (_, Some(Ok(n))) if (0.0..=1000.0).contains(&n) => Ok(format!("{{steady={n:?}}}")),
        _ => {
            Err("allowed is none, full, trace or steady:N with N overwrites from 0 to 1000, as in steady:2".to_owned())
        }
    }
}
