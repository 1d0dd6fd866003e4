//! What is replayed: a trace, or what a generator makes.

use nandlab::config::{Config, ReplayMode};
use nandlab::report;
use nandlab::types::HostRequest;
use nandlab_trace::{AddressPolicy, Options, Records, Trace, Volumes, generators, stats_of};

use crate::address;
use crate::args::{TraceArgs, VolumeChoice};
use crate::doctor;
use crate::fail::Failure;
use crate::interrupt;
use crate::reading::changes;

/// Requests read ahead at a time.
pub const BATCH: usize = 4096;

/// What is replayed when no trace is named.
const BUILT_IN: &str = "oltp";

/// A source that can be opened any number of times, by several threads at once.
pub struct Again<'a> {
    args: &'a TraceArgs,
}

impl<'a> Again<'a> {
    /// Opens it for the first time, so that a trace that cannot be read ends the command at once.
    pub fn new(args: &'a TraceArgs, config: &Config) -> Result<Self, Failure> {
        Source::open(args, config).map(|_| Self { args })
    }
    /// Opens it from its beginning.
    pub fn open(&self, config: &Config) -> Result<Source, Failure> {
        Source::open(self.args, config)
    }
}

/// An open source of requests.
pub struct Source {
    trace: Box<Trace>,
    args: TraceArgs,
    address: AddressPolicy,
}

impl Source {
    /// Opens what the arguments name for a device.
    pub fn open(args: &TraceArgs, config: &Config) -> Result<Self, Failure> {
        let page_sectors = config.device.geometry.page_sectors();
        let paths = if args.read.trace.is_empty() {
            if let Some(option) = args.read.reading.named() {
                let problem = format!("{option} says how to read a trace, but no trace is named");
                return Err(Failure::bad(problem, "add the trace, or `-` for standard input"));
            }
            vec![format!("{}{BUILT_IN}", generators::PREFIX)]
        } else {
            args.read.paths()?
        };
        let address = args.address.on(&config.device.geometry)?;
        let options = Options {
            volumes: together(args)?,
            address,
            capacity_sectors: Some(capacity(config)),
            page_sectors,
            limit: args.limit,
            seed: config.seed,
            ..args.read.options()?
        };
        doctor::warn_once(&paths, &options, config.replay.mode == ReplayMode::Open);
        let trace = Box::new(Trace::open_all(&paths, &options)?);
        Ok(Self { trace, args: args.clone(), address })
    }

    /// Replaces `batch` by the next requests, each with all its pieces; false at the end.
    pub fn fill(&mut self, batch: &mut Vec<HostRequest>) -> Result<bool, Failure> {
        interrupt::check()?;
        batch.clear();
        while batch.len() < BATCH || batch.last().is_some_and(|request| request.more) {
            let Some(request) = self.trace.next() else { break };
            batch.push(request?);
        }
        Ok(!batch.is_empty())
    }

    /// Reads to the end: the first sector that is beyond every request; 0 without a request that has an address.
    pub fn reach(mut self) -> Result<u64, Failure> {
        let (mut end, mut batch) = (0, Vec::with_capacity(BATCH));
        while self.fill(&mut batch)? {
            end = batch.iter().map(|request| request.lba + u64::from(request.sectors)).fold(end, u64::max);
        }
        Ok(end)
    }

    /// What became of the addresses.
    pub const fn address(&self) -> AddressPolicy {
        self.address
    }

    /// How far it is read, as a part of the whole, when that is known.
    pub fn progress(&self, replayed: u64) -> Option<(u64, u64)> {
        if let Some(whole) = self.trace.requests_total() {
            return Some((replayed.min(whole), whole));
        }
        let by_bytes = self.trace.bytes_total().map(|total| (self.trace.bytes_read().min(total), total));
        match (by_bytes, self.args.limit) {
            // Whichever ends first.
            (Some((read, total)), Some(limit)) if read as f64 * limit as f64 > replayed as f64 * total as f64 => {
                Some((read, total))
            }
            (_, Some(limit)) => Some((replayed.min(limit), limit)),
            (by_bytes, None) => by_bytes,
        }
    }

    /// What was replayed, for the report.
    pub fn describe(&self) -> report::Source {
        let mut info = report::Source {
            address: address::name(self.address),
            volumes: volumes_name(self.args.volumes),
            limit: self.args.limit,
            ..report::Source::default()
        };
        let trace = &self.trace;
        info.name = trace.name();
        let names: Vec<String> = trace.records().names().map(str::to_owned).collect();
        if names.len() > 1 {
            trace.records().order().name().clone_into(info.files_order.get_or_insert_default());
            info.files = names;
        }
        trace.format().clone_into(&mut info.format);
        trace.reason().clone_into(&mut info.reason);
        if self.args.read.trace.is_empty() {
            BUILT_IN.clone_into(&mut info.name);
            "built-in".clone_into(&mut info.format);
            "because no trace was named".clone_into(&mut info.reason);
        }
        let counts = trace.report();
        (info.records, info.replayed) = (counts.records, counts.requests);
        info.first_bad.clone_from(&counts.first_bad);
        info.changed = changes(&counts);
        info
    }
}

/// Sectors that the host can address.
fn capacity(config: &Config) -> u64 {
    u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_sectors())
}

/// Counts the trace as recorded, in a pass of its own; nothing for the built-in workload.
pub fn recorded(args: &TraceArgs, config: &Config) -> Result<Option<report::Recorded>, Failure> {
    if args.read.trace.is_empty() {
        return Ok(None);
    }
    // A generator makes what fits the device.
    let capacity_sectors = Some(capacity(config));
    let options = Options { limit: args.limit, seed: config.seed, capacity_sectors, ..args.read.options()? };
    let stats = stats_of(Records::open_all(&args.read.paths()?, &options)?, &options)?;
    let mib = |pages: u64| pages as f64 / 256.0;
    Ok(Some(report::Recorded {
        requests: stats.requests,
        write_percent: stats.write_percent(),
        pages_read_mib: mib(stats.pages_read),
        pages_written_mib: mib(stats.pages_written),
    }))
}

/// The same in words.
pub fn recorded_text(recorded: &report::Recorded) -> String {
    format!(
        "as recorded {} requests, {:.2} % writes, footprint {:.1} MiB read and {:.1} MiB written",
        recorded.requests, recorded.write_percent, recorded.pages_read_mib, recorded.pages_written_mib
    )
}

fn volumes_name(volumes: VolumeChoice) -> String {
    match volumes {
        VolumeChoice::Together(Volumes::Reject) => "reject".to_owned(),
        VolumeChoice::Together(Volumes::Stack) => "stack".to_owned(),
        VolumeChoice::Together(Volumes::Merge) => "merge".to_owned(),
        VolumeChoice::Together(Volumes::Pick(n)) => format!("pick:{n}"),
        VolumeChoice::Separate => "separate".to_owned(),
    }
}

/// The policy of a single simulation.
fn together(args: &TraceArgs) -> Result<Volumes, Failure> {
    match args.volumes {
        VolumeChoice::Together(volumes) => Ok(volumes),
        VolumeChoice::Separate => Err(Failure::bad(
            "--volumes separate simulates each device of a trace by itself, which only `nandlab run` does",
            "--volumes pick:N for one of them, or stack or merge for all in one",
        )),
    }
}
