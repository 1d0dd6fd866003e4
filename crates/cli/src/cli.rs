//! The command line: the commands, and what each of them takes.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::args::{DeviceArgs, Family, PluginArgs, SizeArgs};
use crate::bound::BoundArgs;
use crate::compare::CompareArgs;
use crate::curve::CurveArgs;
use crate::datasheet::DatasheetArgs;
use crate::files::Files;
use crate::fit::FitArgs;
use crate::pages::PagesArgs;
use crate::probe::ProbeArgs;
use crate::ram::RamArgs;
use crate::record::{RecordArgs, RecordLevel};
use crate::report::ReportArgs;
use crate::reproduce::ReproduceArgs;
use crate::run::RunArgs;
use crate::search::SearchArgs;
use crate::style::ColorChoice;
use crate::sweep::SweepArgs;
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
a comparison or some traces failed, or the device was worn out before the end, 101 a bug, 129 the
terminal was closed, 130 interrupted (Ctrl-C), 143 terminated.";

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
    /// Simulate one device on a trace and print the result.
    Run(RunArgs),
    /// Simulate every combination of buffers and FTLs on the same trace: one table.
    Compare(CompareArgs),
    /// Show what buffers do at every size: hits, write-backs and, over an FTL, write amplification and response times.
    Curve(CurveArgs),
    /// Show what a buffer of some size could reach at best on a trace, and how far from it policies are.
    Bound(BoundArgs),
    /// Fit the parameters of a device to the latencies of a real drive: those of a trace, or the results of fio (docs/fit.md).
    Fit(FitArgs),
    /// Print the jobs for fio whose results `fit` takes: a micro-benchmark of a real drive, which overwrites it.
    Probe(ProbeArgs),
    /// Compare the presets that model drives with what their makers print of them (docs/drives.md).
    Datasheet(DatasheetArgs),
    /// Run the cells of an experiment into a folder: can be stopped, continued and shared by machines (docs/experiments.md).
    Sweep(SweepArgs),
    /// Find the cells of an experiment that no other beats in several metrics, without running all of them in full.
    Search(SearchArgs),
    /// Show the results of a sweep as one page: who is best where, figures, and the numbers behind them.
    Report(ReportArgs),
    /// Carry out what the papers evaluated, draw it and judge their claims under all that they leave open (docs/claims.md).
    Reproduce(ReproduceArgs),
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
    /// Manual page of a buffer, FTL, device, trace format, generator (`oltp` is the built-in workload), experiment or all
    /// `metrics`.
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
    /// Run a command and record what it reads and writes in files, with the call stack of each request (docs/hosts.md).
    Record(RecordArgs),
    /// The process of a command that is recorded, before it becomes the command.
    #[command(hide = true)]
    RecordTraced {
        /// What is to be seen of it.
        #[arg(long, value_enum)]
        level: RecordLevel,
        /// The command.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
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

impl Command {
    /// What it reads and writes, as far as the command line names it.
    pub fn files(&self) -> Files {
        match self {
            Self::Run(args) => Files::reading(&args.trace.read.trace)
                .and([&args.device.device])
                .writing("--latencies", args.latencies.as_ref())
                .writing("--json", args.json.as_ref()),
            Self::Compare(args) => Files::reading(&args.trace.read.trace)
                .and([&args.device.device])
                .writing("--json", args.output.json.as_ref()),
            Self::Curve(args) => args.files(),
            Self::Bound(args) => args.files(),
            Self::Fit(args) => Files::reading(&args.trace.read.trace)
                .and([&args.device.device])
                .writing("--output", args.output.as_ref())
                .writing("--json", args.json.as_ref()),
            Self::Search(args) => args.files(),
            Self::Report(args) => args.files(),
            Self::Datasheet(args) => args.files(),
            Self::Pages(args) => Files::reading(&args.trace).writing("--figures", args.figures.as_ref()),
            Self::Ram(args) => Files::reading([&args.device]).writing("--json", args.json.as_ref()),
            Self::Trace(command) => command.files(),
            _ => Files::default(),
        }
    }
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
    #[arg(long, conflicts_with_all = ["PluginArgs", "DeviceArgs", "SizeArgs"], help_heading = "Output")]
    pub schema: bool,
}
