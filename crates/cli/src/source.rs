//! What is replayed: a trace, or what a generator makes.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandlab::config::Config;
use nandlab::registry;
use nandlab::report;
use nandlab::types::HostRequest;
use nandlab_trace::{AddressPolicy, Options, Trace, Volumes, formats, generators};

use crate::args::TraceArgs;
use crate::fail::Failure;

/// Requests read ahead at a time.
pub const BATCH: usize = 4096;

/// What is replayed when no trace is named.
const BUILT_IN: &str = "oltp";

enum Requests {
    Trace(Box<Trace>),
    /// Standard input, read once for several simulations.
    Held(Arc<Held>, usize),
}

/// A trace in memory.
pub struct Held {
    requests: Vec<HostRequest>,
    info: report::Source,
}

/// An open source of requests.
pub struct Source {
    requests: Requests,
    args: TraceArgs,
}

impl Source {
    /// Opens what the arguments name for a device.
    pub fn open(args: &TraceArgs, config: &Config) -> Result<Self, Failure> {
        let page_sectors = config.device.geometry.page_sectors();
        let capacity = u64::from(config.logical_pages()) * u64::from(page_sectors);
        check_format(args.format.as_deref())?;
        let built_in = format!("{}{BUILT_IN}", generators::PREFIX);
        let path = match (&args.trace, &args.format) {
            (Some(path), _) => path,
            (None, None) => &built_in,
            (None, Some(format)) => {
                let problem = format!("--format {format} names the format of a trace, but no trace is named");
                return Err(Failure::bad(problem, "add the trace, or `-` for standard input"));
            }
        };
        let options = Options {
            format: args.format.clone(),
            volumes: args.volumes,
            address: args.address,
            capacity_sectors: Some(capacity),
            page_sectors,
            skip_bad: args.skip_bad,
            limit: args.limit,
            seed: config.seed,
        };
        let requests = Requests::Trace(Box::new(nandlab_trace::open(path, &options)?));
        Ok(Self { requests, args: args.clone() })
    }

    /// Reads everything into memory.
    pub fn hold(mut self) -> Result<Arc<Held>, Failure> {
        let (mut requests, mut batch) = (Vec::new(), Vec::with_capacity(BATCH));
        while self.fill(&mut batch)? {
            requests.extend_from_slice(&batch);
        }
        Ok(Arc::new(Held { requests, info: self.describe() }))
    }

    /// Replays from memory.
    pub fn held(held: &Arc<Held>, args: &TraceArgs) -> Self {
        Self { requests: Requests::Held(Arc::clone(held), 0), args: args.clone() }
    }

    /// Replaces `batch` by the next requests; false at the end.
    pub fn fill(&mut self, batch: &mut Vec<HostRequest>) -> Result<bool, Failure> {
        batch.clear();
        match &mut self.requests {
            Requests::Trace(trace) => {
                for request in trace.by_ref().take(BATCH) {
                    batch.push(request?);
                }
            }
            Requests::Held(held, done) => {
                let end = held.requests.len().min(*done + BATCH);
                batch.extend_from_slice(&held.requests[*done..end]);
                *done = end;
            }
        }
        Ok(!batch.is_empty())
    }

    /// How far it is read, as a part of the whole, when that is known.
    pub fn progress(&self, replayed: u64) -> Option<(u64, u64)> {
        let whole = match (&self.requests, self.args.limit) {
            (Requests::Held(held, _), _) => held.requests.len() as u64,
            (Requests::Trace(trace), limit) => {
                if let Some(whole) = trace.requests_total() {
                    return Some((replayed.min(whole), whole));
                }
                let by_bytes = trace.bytes_total().map(|total| (trace.bytes_read().min(total), total));
                return match (by_bytes, limit) {
                    // Whichever ends first.
                    (Some((read, total)), Some(limit))
                        if read as f64 * limit as f64 > replayed as f64 * total as f64 =>
                    {
                        Some((read, total))
                    }
                    (_, Some(limit)) => Some((replayed.min(limit), limit)),
                    (by_bytes, None) => by_bytes,
                };
            }
        };
        Some((replayed.min(whole), whole))
    }

    /// What was replayed, for the report.
    pub fn describe(&self) -> report::Source {
        let mut info = report::Source {
            address: address_name(self.args.address).to_owned(),
            volumes: volumes_name(self.args.volumes),
            limit: self.args.limit,
            ..report::Source::default()
        };
        match &self.requests {
            Requests::Held(held, _) => return held.info.clone(),
            Requests::Trace(trace) => {
                let (name, format, reason) = match self.args.trace.as_deref() {
                    None => (BUILT_IN, "built-in", "because no trace was named"),
                    Some("-") => ("<stdin>", trace.format(), trace.reason()),
                    Some(path) => (path, trace.format(), trace.reason()),
                };
                name.clone_into(&mut info.name);
                format.clone_into(&mut info.format);
                reason.clone_into(&mut info.reason);
                let counts = trace.report();
                (info.records, info.replayed) = (counts.records, counts.requests);
                info.first_bad.clone_from(&counts.first_bad);
                info.changed = changes(&counts);
            }
        }
        info
    }
}

/// Counts the trace as recorded, in a pass of its own; nothing for standard input and the built-in workload.
pub fn recorded(args: &TraceArgs, seed: u64) -> Result<Option<report::Recorded>, Failure> {
    let Some(path) = args.trace.as_deref().filter(|path| *path != "-") else { return Ok(None) };
    let options = Options {
        format: args.format.clone(),
        volumes: args.volumes,
        skip_bad: args.skip_bad,
        limit: args.limit,
        seed,
        ..Options::default()
    };
    let stats = nandlab_trace::stats(path, &options)?;
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

fn changes(counts: &nandlab_trace::Report) -> BTreeMap<String, u64> {
    let kinds = [
        ("bad_rows_skipped", counts.bad_rows),
        ("zero_length_dropped", counts.zero_length),
        ("other_devices_dropped", counts.other_devices),
        ("rounded_to_sectors", counts.rounded),
        ("rows_out_of_order", counts.out_of_order),
        ("times_raised", counts.clamped),
        ("folded_into_capacity", counts.folded),
        ("pages_renumbered", counts.compacted_pages),
        ("requests_split", counts.split),
        ("devices", if counts.devices.len() > 1 { counts.devices.len() as u64 } else { 0 }),
    ];
    kinds.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| ((*kind).to_owned(), *n)).collect()
}

/// Refuses a format that does not exist, with the nearest one that does.
pub fn check_format(format: Option<&str>) -> Result<(), Failure> {
    let Some(format) = format else { return Ok(()) };
    if formats().iter().any(|known| known.name.eq_ignore_ascii_case(format)) {
        return Ok(());
    }
    let names: Vec<String> = formats().iter().map(|known| known.name.to_owned()).collect();
    let help = match registry::nearest(format, &names) {
        Some(near) => format!("did you mean `{near}`? `nandlab list formats` shows all"),
        None => format!("use one of {}, or leave --format out to have it detected", names.join(", ")),
    };
    Err(Failure::bad(format!("--format {format}: there is no such trace format"), help))
}

fn address_name(policy: AddressPolicy) -> &'static str {
    match policy {
        AddressPolicy::Reject => "reject",
        AddressPolicy::Modulo => "modulo",
        AddressPolicy::Compact => "compact",
    }
}

fn volumes_name(volumes: Volumes) -> String {
    match volumes {
        Volumes::Reject => "reject".to_owned(),
        Volumes::Stack => "stack".to_owned(),
        Volumes::Merge => "merge".to_owned(),
        Volumes::Pick(n) => format!("pick:{n}"),
    }
}
