//! The command line: what can be asked for, and in which words.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use nandlab::types::Bytes;
use nandlab_trace::Volumes;

use crate::address::Address;
use crate::bound::{BoundArgs, CostArgs};
use crate::capacity::Capacity;
use crate::curve::CurveArgs;
use crate::reading::ReadArgs;
use crate::style::ColorChoice;
use crate::trace::TraceCommand;

const EXAMPLES: &str = "\
Examples:
  nandlab run                                    the built-in workload on the default device
  nandlab run proj_0.csv.gz --buffer lru --ram 16MiB --ftl dftl
  nandlab run financial1.spc --volumes stack --json result.json
  zcat trace.gz | nandlab run - --format msr --limit 1000000
  nandlab run 'sda.blktrace.*' --event Q --ftl page
  nandlab run hm_0.csv.gz hm_1.csv.gz --volumes separate
  nandlab run make:zipf:theta=0.9:writes=0.7 --limit 1000000
  nandlab compare --buffers lru,none --ftls page,fast --limit 200000
  nandlab describe page                          manual page with all parameters
  nandlab config --device lab > my.toml          then edit it, and: nandlab run --device my.toml

Results go to standard output, everything else to standard error. Exit codes: 0 success, 1 the run
failed or two traces differ (trace match), 2 bad usage, input data or configuration, 4 some rows of
a comparison or some traces failed, 101 a bug, 130 interrupted (Ctrl-C), 143 terminated.";

/// A laboratory for the RAM inside NAND-flash SSDs: replays block traces through a data buffer, a flash translation
/// layer and a flash array, and counts what happens.
#[derive(Parser, Debug)]
#[command(name = "nandlab", version, after_help = EXAMPLES, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Colour: `auto` is on for terminals unless `NO_COLOR` is set; `CLICOLOR_FORCE=1` turns it on.
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: ColorChoice,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Simulate one device on a trace and print what came of it.
    Run(RunArgs),
    /// Simulate every combination of buffers and FTLs on the same trace: one table.
    Compare(CompareArgs),
    /// Show what buffers do at every size: hits, write-backs and, over an FTL, write amplification and response times.
    Curve(CurveArgs),
    /// Show what a buffer of some size could reach at best on a trace, and how far from it policies are.
    Bound(BoundArgs),
    /// Test the claims of the papers on generated workloads: one Markdown table for each paper (docs/claims.md).
    Claims(ClaimsArgs),
    /// Measure every buffer policy and write a page for each (docs/policies).
    Pages(PagesArgs),
    /// Show what the map of each FTL takes of the RAM of a device, and what it leaves for data.
    Ram(RamArgs),
    /// List what there is, with one line each.
    List {
        /// Which family.
        #[arg(value_enum)]
        what: Family,
    },
    /// Manual page of a buffer, FTL, device, trace format, generator (`oltp` is the built-in workload) or all `metrics`.
    Describe {
        /// Its name.
        name: String,
        /// Only this family, when the name occurs in several.
        #[arg(long, value_enum)]
        kind: Option<Family>,
    },
    /// Print the fully expanded configuration as TOML; it can be loaded again with --device.
    Config(ConfigArgs),
    /// Replay golden files (worked examples) and report every difference.
    Conform {
        /// JSON files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Print at most this many differences of a file.
        #[arg(long, value_name = "N", default_value_t = 20)]
        show: usize,
    },
    /// Look at traces, change them, make them.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

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
    /// Device presets.
    #[value(alias = "device")]
    Devices,
    /// Trace formats.
    #[value(alias = "format")]
    Formats,
    /// Generators of requests, and presets of them.
    #[value(alias = "generator")]
    Generators,
}

/// The device, but for its buffer and its FTL.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Device")]
pub struct DeviceArgs {
    /// A device preset (`nandlab list devices`) or a TOML file.
    #[arg(long, short, value_name = "PRESET|FILE", default_value = nandlab::config::DEFAULT_DEVICE)]
    pub device: String,
    /// What the host can address at least: planes get more erase blocks until it is so (1TiB), or until every address of
    /// the trace is on the device (fit, which reads the trace once more). Memory is used for what is written only; with
    /// the default --precondition full that is all of it.
    #[arg(long, value_name = "SIZE|fit", value_parser = str::parse::<Capacity>, allow_hyphen_values = true)]
    pub capacity: Option<Capacity>,
    /// NVRAM for data pages (ram.nvram).
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
    pub nvram: Option<Bytes>,
    /// State before the measurement: none, full, steady:N (full, then N overwrites of the capacity at random) or trace
    /// (the writes of the trace, once).
    #[arg(long, value_name = "STATE", value_parser = precondition)]
    pub precondition: Option<serde_json::Value>,
    /// Any key of the configuration, for example --set ftl.reserve=2; may be repeated, and wins over everything
    /// else (but --capacity grows what it gives).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", value_parser = any_count, allow_hyphen_values = true)]
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
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
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
    /// Flash translation layer: name or name:key=value:key=value (`nandlab list ftls`).
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
    #[arg(long, value_name = "POLICY", value_parser = str::parse::<Address>, default_value = "reject")]
    pub address: Address,
    /// What to do with several devices in one trace: reject (an error), stack, merge, pick:N, or separate (each is
    /// simulated on a device of its own; `run` only).
    #[arg(long, value_name = "POLICY", value_parser = volumes, default_value = "reject")]
    pub volumes: VolumeChoice,
    /// Requests to replay at most.
    #[arg(long, short = 'n', value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub plugins: PluginArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Write the result as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,
    /// Leave out the `wall` section (how fast the simulation was): two runs then give the same bytes.
    #[arg(long, help_heading = "Output")]
    pub no_wall: bool,
    /// No table and no progress bar.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// How much is done at a time, and where a table of many simulations goes.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<u64>,
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

/// Arguments of `compare`.
#[derive(Args, Debug)]
pub struct CompareArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Buffers, separated by commas: names or name:key=value:key=value, or `all`. Default: eight that differ in kind.
    #[arg(long, short, value_name = "LIST", help_heading = "Device")]
    pub buffers: Option<String>,
    /// FTLs, separated by commas: names or name:key=value:key=value, or `all`. Default: three that differ in kind. With
    /// neither buffers nor FTLs nor --limit, the first 100000 requests are replayed.
    #[arg(long, short, value_name = "LIST", help_heading = "Device")]
    pub ftls: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Add how far the cost of each row lies above the least that any buffer of its size could cost (`nandlab bound`).
    #[arg(long, help_heading = "Costs")]
    pub bound: bool,
    #[command(flatten)]
    pub costs: CostArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Arguments of `claims`.
#[derive(Args, Debug)]
pub struct ClaimsArgs {
    /// Only these parts: arithmetic, aalru, hitstat, wpa, urm, rftl; all when absent.
    #[arg(value_enum, value_name = "PART")]
    pub parts: Vec<Part>,
    /// Requests of every simulation at most: a quick look, whose verdicts mean nothing.
    #[arg(long, short = 'n', value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub limit: Option<u64>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<u64>,
    /// Write the rows as JSON to a file, or to standard output (`-`) instead of the tables.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Arguments of `pages`.
#[derive(Args, Debug)]
pub struct PagesArgs {
    /// Where the pages go.
    pub folder: String,
    /// Traces to measure beside the generated workloads; they are named by their file names.
    #[arg(value_name = "TRACE")]
    pub trace: Vec<String>,
    /// Measure nothing: write the pages with the figures that were measured last.
    #[arg(long, conflicts_with = "trace")]
    pub keep: bool,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = threads, allow_hyphen_values = true)]
    pub threads: Option<u64>,
}

/// A part of the claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// What needs no simulation.
    Arithmetic,
    /// The paper of AALRU.
    Aalru,
    /// The thesis of HitStat.
    Hitstat,
    /// The paper of WPA.
    Wpa,
    /// The paper of URM.
    Urm,
    /// The paper of RFTL.
    Rftl,
}

/// Arguments of `ram`.
#[derive(Args, Debug)]
pub struct RamArgs {
    /// A device preset (`nandlab list devices`) or a TOML file.
    #[arg(long, short, value_name = "PRESET|FILE", default_value = nandlab::config::DEFAULT_DEVICE)]
    pub device: String,
    /// DRAM that map and data share (ram.dram).
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse, allow_hyphen_values = true)]
    pub ram: Option<Bytes>,
    /// FTLs, separated by commas: names or name:key=value:key=value; all when absent.
    #[arg(long, short, value_name = "LIST")]
    pub ftls: Option<String>,
    /// Any key of the configuration, for example --set `device.over_provisioning={spare_over_logical=0.07}`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Write the answer as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,
    /// Print comma-separated values.
    #[arg(long, help_heading = "Output", conflicts_with = "markdown")]
    pub csv: bool,
    /// Print a Markdown table.
    #[arg(long, help_heading = "Output")]
    pub markdown: bool,
}

/// Arguments of `config`.
#[derive(Args, Debug)]
pub struct ConfigArgs {
    #[command(flatten)]
    pub plugins: PluginArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Print the JSON schema of configurations instead, plug-in parameters included.
    #[arg(long, help_heading = "Output")]
    pub schema: bool,
}

pub fn ranged(text: &str, low: u64, high: u64) -> Result<u64, String> {
    let said = || format!("allowed is a whole number from {low} to {high}");
    let n: u64 = text.parse().map_err(|_| said())?;
    if (low..=high).contains(&n) { Ok(n) } else { Err(said()) }
}
pub fn any_count(text: &str) -> Result<u64, String> {
    // TOML has no integers beyond 2^63 - 1, and the configuration must survive as TOML.
    ranged(text, 0, i64::MAX as u64)
}
pub fn count(text: &str) -> Result<u64, String> {
    ranged(text, 1, i64::MAX as u64)
}
fn queue_depth(text: &str) -> Result<u64, String> {
    ranged(text, 1, 65_536)
}
pub fn threads(text: &str) -> Result<u64, String> {
    ranged(text, 1, 1024)
}

fn volumes(text: &str) -> Result<VolumeChoice, String> {
    let together = match text {
        "reject" => Some(Volumes::Reject),
        "stack" => Some(Volumes::Stack),
        "merge" => Some(Volumes::Merge),
        "separate" => return Ok(VolumeChoice::Separate),
        _ => {
            let number = text.strip_prefix("pick:").or_else(|| text.strip_prefix("pick="));
            number.and_then(|n| n.parse().ok()).map(Volumes::Pick)
        }
    };
    let allowed = || "allowed is reject, stack, merge, separate or pick:N with the number of a device".to_owned();
    together.map(VolumeChoice::Together).ok_or_else(allowed)
}

fn precondition(text: &str) -> Result<serde_json::Value, String> {
    let overwrites = text.strip_prefix("steady:").or_else(|| text.strip_prefix("steady="));
    match (text, overwrites.map(str::parse::<f64>)) {
        ("none" | "full" | "trace", _) => Ok(text.into()),
        (_, Some(Ok(n))) if (0.0..=1000.0).contains(&n) => Ok(serde_json::json!({ "steady": n })),
        _ => {
            Err("allowed is none, full, trace or steady:N with N overwrites from 0 to 1000, as in steady:2".to_owned())
        }
    }
}
