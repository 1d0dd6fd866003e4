//! The requests of a workload on a device, one batch after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use nandlab::config::Config;
use nandlab::report;
use nandlab::types::{HostOp, HostRequest, Nanos};
use nandlab_trace::{AddressPolicy, Measure, Options, Records, Timed, Trace, TraceReport, Volumes, generators};

use crate::address;
use crate::decoded::{self, KeptTrace, Room};
use crate::error::Error;
use crate::watch::{Stop, Watch};
use crate::word::Word;
use crate::workload::{FIRST_ROWS, Workload, look};

/// Requests read ahead at a time.
pub(crate) const BATCH: usize = 4096;

/// The first requests, each with all its pieces, and those behind them.
pub(crate) fn first(requests: &[HostRequest], count: u64) -> (&[HostRequest], &[HostRequest]) {
    let is_end = |(at, request): (usize, &HostRequest)| (!request.more).then_some(at + 1);
    let ends = requests.iter().enumerate().filter_map(is_end);
    requests.split_at(ends.take(usize::try_from(count).unwrap_or(usize::MAX)).last().unwrap_or(0))
}

/// What is replayed when no trace is named.
const BUILT_IN: &str = "oltp";

/// An open source of requests.
pub(crate) struct Source {
    from: From,
    address: AddressPolicy,
    volumes: String,
    limit: Option<u64>,
    is_built_in: bool,
    stop: Stop,
}

/// Where requests come from.
enum From {
    Trace(Box<Trace>),
    /// A decoded trace, and how many of its requests were given.
    Kept(Arc<KeptTrace>, usize),
}

impl Source {
    /// Opens a workload for a device, from its beginning.
    pub(crate) fn open(workload: &Workload, config: &Config, watch: &Watch<'_>) -> Result<Self, Error> {
        let paths = if workload.is_built_in() {
            if let Some((key, _)) = workload.reading.given().first() {
                let problem = format!("--{} says how to read a trace, but no trace is named", key.replace('_', "-"));
                return Err(Error::input(problem, "add the trace, or `-` for standard input"));
            }
            if workload.volumes != Volumes::Reject {
                let volumes = workload.volumes.word();
                let problem = format!("--volumes {volumes} is for the devices of a trace, but no trace is named");
                return Err(Error::input(problem, "add the trace, or `-` for standard input"));
            }
            vec![format!("{}{BUILT_IN}", generators::PREFIX)]
        } else {
            workload.paths()?
        };
        let address = workload.address.on(&config.device.geometry)?;
        let options = Options {
            volumes: workload.volumes,
            address,
            capacity_sectors: Some(capacity(config)),
            page_sectors: config.device.geometry.page_sectors(),
            seed: config.seed,
            ..workload.options(watch)?
        };
        look(&paths, &options, config, watch);
        let over = |from| Self {
            from,
            address,
            volumes: workload.volumes.word(),
            limit: workload.limit,
            is_built_in: workload.is_built_in(),
            stop: watch.stop.clone(),
        };
        if workload.decoded.keeps() {
            let (key, shared) = decoded::shared(&paths, &options);
            let read = |room: &mut Room<'_>| over(From::Trace(Box::new(Trace::open_all(&paths, &shared)?))).keep(room);
            let kept = workload.decoded.get(&key, read)?;
            // What does not fit is found at its place in the file.
            let fits = |kept: &Arc<KeptTrace>| address != AddressPolicy::Reject || kept.end <= capacity(config);
            if let Some(kept) = kept.filter(fits) {
                return Ok(over(From::Kept(kept, 0)));
            }
        }
        Ok(over(From::Trace(Box::new(Trace::open_all(&paths, &options)?))))
    }

    /// Reads all requests, if there is room for them.
    fn keep(mut self, room: &mut Room<'_>) -> Result<Option<KeptTrace>, Error> {
        let begun = self.describe();
        let (mut requests, mut latencies) = (Vec::new(), Vec::new());
        let mut batch = Vec::with_capacity(BATCH);
        while self.fill_seen(&mut batch, |_, latency| latencies.push(latency))? {
            if !room.take(batch.len()) {
                return Ok(None);
            }
            requests.extend_from_slice(&batch);
        }
        if latencies.iter().all(|latency| *latency == 0) {
            latencies.clear();
        }
        latencies.shrink_to_fit();
        requests.shrink_to_fit();
        let end = requests.iter().map(|request| request.lba + u64::from(request.sectors)).max().unwrap_or(0);
        Ok(Some(KeptTrace { requests, latencies, end, begun, ended: self.describe() }))
    }

    /// Replaces `batch` by the next requests, each with all its pieces; false at the end.
    pub(crate) fn fill(&mut self, batch: &mut Vec<HostRequest>) -> Result<bool, Error> {
        self.fill_with(batch, None)
    }

    /// The same, and `see` gets each piece with the recorded latency of its request, in ns, 0 if it is not recorded.
    pub(crate) fn fill_seen(
        &mut self,
        batch: &mut Vec<HostRequest>,
        mut see: impl FnMut(&HostRequest, u64),
    ) -> Result<bool, Error> {
        let mut latencies = Vec::new();
        let filled = self.fill_with(batch, Some(&mut latencies))?;
        for (request, latency) in batch.iter().zip(latencies) {
            see(request, latency);
        }
        Ok(filled)
    }

    /// Replaces `batch`, and adds the latencies of its requests to `latencies`. What is done for each request is in the
    /// crate of traces, which is compiled for speed; this one is compiled quickly.
    fn fill_with(&mut self, batch: &mut Vec<HostRequest>, latencies: Option<&mut Vec<u64>>) -> Result<bool, Error> {
        self.stop.check()?;
        batch.clear();
        match &mut self.from {
            From::Trace(trace) => trace.fill(batch, BATCH, latencies)?,
            From::Kept(kept, given) => {
                let rest = &kept.requests[*given..];
                let mut count = rest.len().min(BATCH);
                while count > 0 && count < rest.len() && rest[count - 1].more {
                    count += 1;
                }
                match latencies {
                    Some(latencies) if kept.latencies.is_empty() => latencies.resize(count, 0),
                    Some(latencies) => latencies.extend_from_slice(&kept.latencies[*given..][..count]),
                    None => {}
                }
                batch.extend_from_slice(&rest[..count]);
                *given += count;
            }
        }
        Ok(!batch.is_empty())
    }

    /// Reads to the end: the first sector that is beyond every request; 0 without a request that has an address.
    pub(crate) fn reach(mut self) -> Result<u64, Error> {
        let (mut end, mut batch) = (0, Vec::with_capacity(BATCH));
        while self.fill(&mut batch)? {
            end = batch.iter().map(|request| request.lba + u64::from(request.sectors)).fold(end, u64::max);
        }
        Ok(end)
    }

    /// What became of the addresses.
    pub(crate) const fn address(&self) -> AddressPolicy {
        self.address
    }

    /// How far it is read, as a part of the whole, when that is known.
    pub(crate) fn progress(&self, replayed: u64) -> Option<(u64, u64)> {
        let rows = match &self.from {
            From::Trace(trace) => trace.records(),
            From::Kept(kept, given) => return Some((*given as u64, kept.requests.len() as u64)),
        };
        if let Some(whole) = rows.requests_total() {
            return Some((replayed.min(whole), whole));
        }
        let by_bytes = rows.bytes_total().map(|total| (rows.bytes_read().min(total), total));
        match (by_bytes, self.limit) {
            // Whichever ends first.
            (Some((read, total)), Some(limit)) if read as f64 * limit as f64 > replayed as f64 * total as f64 => {
                Some((read, total))
            }
            (_, Some(limit)) => Some((replayed.min(limit), limit)),
            (by_bytes, None) => by_bytes,
        }
    }

    /// What was replayed, for the report.
    pub(crate) fn describe(&self) -> report::TraceSource {
        let trace = match &self.from {
            From::Trace(trace) => trace,
            From::Kept(kept, given) => {
                let told = if *given == kept.requests.len() { &kept.ended } else { &kept.begun };
                return report::TraceSource { address: address::name(self.address), ..told.clone() };
            }
        };
        let mut info = report::TraceSource {
            address: address::name(self.address),
            volumes: self.volumes.clone(),
            limit: self.limit,
            ..report::TraceSource::default()
        };
        let rows = trace.records();
        info.name = rows.name();
        let names: Vec<String> = rows.names().map(str::to_owned).collect();
        if names.len() > 1 {
            rows.order().name().clone_into(info.files_order.get_or_insert_default());
            info.files = names;
        }
        rows.format().clone_into(&mut info.format);
        rows.reason().clone_into(&mut info.reason);
        if self.is_built_in {
            BUILT_IN.clone_into(&mut info.name);
            "built-in".clone_into(&mut info.format);
            "because no trace was named".clone_into(&mut info.reason);
        }
        let counts = trace.report();
        (info.records, info.replayed) = (counts.records, counts.requests);
        info.first_bad.clone_from(&counts.first_bad);
        info.changed = changes(&counts);
        // Of shorter traces it was said before.
        info.warnings.extend(counts.open_end.filter(|_| counts.records > FIRST_ROWS));
        info
    }

    /// What is to be known of a device that was picked, if it begins so late that the rates of an open loop are not its own.
    pub(crate) fn begins_late(&self) -> Option<String> {
        let From::Trace(trace) = &self.from else { return None };
        let counts = trace.report();
        let is_late =
            counts.other_devices > 0 && counts.first_ns.saturating_mul(10) > counts.last_ns && counts.first_ns > 0;
        is_late.then(|| {
            format!(
                "the first request of this device comes {} after the first row of the trace, the last {} after it; rates and the life \
                 of the drive count from that row. To count from its first request: nandlab trace filter --device N TRACE | nandlab run -",
                Nanos(counts.first_ns),
                Nanos(counts.last_ns)
            )
        })
    }
}

/// What was changed or left out, by kind; kinds with zero are left out.
fn changes(counts: &TraceReport) -> BTreeMap<String, u64> {
    let kinds = [
        ("bad_rows_skipped", counts.bad_rows),
        ("rows_without_operation", counts.blank_rows),
        ("requests_without_completion", counts.without_completion),
        ("completions_without_request", counts.completions_alone),
        ("zero_length_dropped", counts.zero_length),
        ("other_devices_dropped", counts.other_devices),
        ("rounded_to_sectors", counts.rounded),
        ("rows_out_of_order", counts.out_of_order),
        ("clock_jumps_removed", counts.clock_jumps),
        ("rows_late_for_sorting", counts.late),
        ("gaps_shortened", counts.gaps_capped),
        ("gaps_shortened_by_ns", counts.gaps_capped_ns),
        ("times_raised", counts.clamped),
        ("folded_into_capacity", counts.folded),
        ("units_renumbered", counts.compacted_units),
        ("requests_split", counts.split),
        ("devices", if counts.devices.len() > 1 { counts.devices.len() as u64 } else { 0 }),
    ];
    kinds.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| ((*kind).to_owned(), *n)).collect()
}

/// Sectors that the host can address.
fn capacity(config: &Config) -> u64 {
    u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_sectors())
}

/// Counts what is replayed of the trace as recorded, in a pass of its own: the rows up to the last one that is replayed, of
/// the device that is picked. Nothing for the built-in workload.
pub(crate) fn recorded(
    workload: &Workload,
    config: &Config,
    watch: &Watch<'_>,
) -> Result<Option<report::Recorded>, Error> {
    if workload.is_built_in() {
        return Ok(None);
    }
    // A generator makes what fits the device.
    let capacity_sectors = Some(capacity(config));
    let options = Options { seed: config.seed, capacity_sectors, ..workload.options(watch)? };
    // In the order of a replay, which ends elsewhere in another order.
    let mut rows = Timed::new(Records::open_all(&workload.paths()?, &options)?, &options);
    let mut measure = Measure::default();
    let mut left = workload.limit.unwrap_or(u64::MAX);
    while left > 0
        && let Some(row) = rows.next().transpose()?
    {
        if !matches!(workload.volumes, Volumes::Pick(device) if device != row.device) {
            measure.add(&row);
            left -= u64::from(row.op == HostOp::Flush || row.sectors() > 0);
        }
    }
    let stats = measure.finish();
    let mib = |pages: u64| pages as f64 / 256.0;
    Ok(Some(report::Recorded {
        requests: stats.requests,
        write_percent: stats.write_percent(),
        pages_read_mib: mib(stats.pages_read),
        pages_written_mib: mib(stats.pages_written),
    }))
}
