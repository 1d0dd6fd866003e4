//! The report: every metric of a run, each a function of the ledger, the histograms and the wear, with its formula.
//!
//! The doc comment of a field is its definition; [`Report::schema`] carries it, so that the same words appear here, in
//! the JSON schema and in `nandlab describe metrics`. Times are nanoseconds of simulated time and end in `_ns`; ratios
//! lie between 0 and 1, and a ratio without events is `null`, never 0, as are mean, percentiles and maximum of no requests.
//!
//! Two runs of the same configuration, trace and version give the same report, bit for bit, except for [`Wall`], which
//! only the front end that owns a clock can fill in.

mod buffer;
mod counts;
mod flushes;
mod operations;
mod settling;
mod state;
mod times;

use serde::Serialize;

use crate::catalog::BUFFERS;
use crate::config::{Config, ReplayMode, Settle};
use crate::endurance::{Endurance, Measured};
use crate::engine::{Ssd, Times};
use crate::ftl::FTLS;
use crate::ledger::{Cause, Ledger, Op};
use crate::registry::{self, Plugin};
use crate::replay::Outcome;
use crate::types::{Nanos, SECTOR_BYTES};
pub use buffer::BufferWork;
pub use counts::{ByCause, Erases, FlashWork, HitRatios, MappingWork, Merges, Padding, Ratios, Requests, SlcWork};
pub use flushes::{AtMost, Flushes, Size};
pub use operations::{ByClass, ClassOperations, Operations};
pub use settling::{FlushCost, Settling};
pub use state::{Ram, Wear, WearBin};
pub use times::{ControllerWork, Elapsed, Latencies, Latency, LinkWork, Load, Throughput, UrmModel, Wall, WayWork};

/// Version of the JSON form. It rises when a field changes its meaning or goes; new fields may come at any time.
pub const SCHEMA_VERSION: u32 = 3;

/// Everything that is known about one run, each metric with its formula.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Report {
    /// Version of this JSON form.
    pub schema: u32,
    /// Version of nandlab.
    pub nandlab: &'static str,
    /// Seed of every random choice.
    pub seed: u64,
    /// The fully expanded configuration.
    pub config: Config,
    /// Names of the buffer and the FTL of this run if they are reconstructions: their original text was not available,
    /// so that numbers must not be published under the paper's name.
    pub reconstructions: Vec<String>,
    /// What was replayed.
    pub trace: TraceSource,
    /// What the host asked for.
    pub requests: Requests,
    /// What the data buffer answered.
    pub hits: HitRatios,
    /// Response time: completion minus arrival (open loop) or minus issue (closed loop).
    pub response: Latencies,
    /// Device time of all requests: completion minus admission by the device, without the wait in the host's queue.
    pub device_time: Latency,
    /// Host work per simulated second.
    pub throughput: Throughput,
    /// The link between host and device.
    pub link: LinkWork,
    /// The controller.
    pub controller: ControllerWork,
    /// Whether the device kept up with the arrivals.
    pub load: Load,
    /// Write amplification.
    pub write_amplification: WriteAmplification,
    /// Physical operations by cause.
    pub flash: FlashWork,
    /// Flash operations by class: how long they took and what they waited for. Only with a timing model that has a scheduler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<Operations>,
    /// Merges by kind.
    pub merges: Merges,
    /// HitStat's padding model: what its threshold is made of.
    pub padding: Padding,
    /// The data buffer's own work.
    pub buffer: BufferWork,
    /// What the buffer flushed: groups, their sizes and the intervals between flushes of the same one (HitStat).
    pub flushes: Flushes,
    /// What was left in the buffer at the end, and what became of it.
    pub settling: Settling,
    /// The mapping's own work.
    pub mapping: MappingWork,
    /// Work of the SLC cache.
    pub slc: SlcWork,
    /// RAM in use when the last request was complete.
    pub ram: Ram,
    /// Erase counts of the blocks, preconditioning included.
    pub wear: Wear,
    /// Life of the drive if it went on as in this run.
    pub endurance: Endurance,
    /// Simulated time.
    pub elapsed: Elapsed,
    /// URM's model of times and write amplification, with the measured ratios.
    pub urm_model: UrmModel,
    /// The raw counters; the table `ops` and `op_ns` are indexed by operation (read, program, erase), then by cause in
    /// the order of `flash`.
    #[schemars(with = "serde_json::Value")]
    pub ledger: Ledger,
    /// The histograms behind the percentiles of response times, to compute others from. They are not part of the JSON.
    #[serde(skip)]
    pub times: Times,
    /// Speed of the simulation itself: the only part that differs between two runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall: Option<Wall>,
}

/// What was replayed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct TraceSource {
    /// Path, `<stdin>`, or `oltp` for the built-in workload; of several files all, with commas between.
    pub name: String,
    /// The paths of several files, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How several files were put together: sequence, merge or devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_order: Option<String>,
    /// Format, `built-in` for the built-in workload.
    pub format: String,
    /// Why this format: detected (with the reason) or named by the user.
    pub reason: String,
    /// What was done with addresses beyond the device: reject, modulo or compact:UNIT, with the size of what was renumbered.
    pub address: String,
    /// What was done with several devices in one trace.
    pub volumes: String,
    /// Rows replayed at most.
    pub limit: Option<u64>,
    /// Rows with a request in the trace that were read.
    pub records: u64,
    /// Requests replayed, each counted once into however many pieces an address policy split it.
    pub replayed: u64,
    /// The request, from 1, at which the device was worn out: it and those behind it were not replayed. Nothing if it lasted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worn_out_at: Option<u64>,
    /// What of it was not measured; nothing if all was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpCut>,
    /// What was changed or left out, by kind; kinds with zero are left out.
    pub changed: std::collections::BTreeMap<String, u64>,
    /// Warnings to read before the result is quoted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The first bad row that was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_bad: Option<String>,
    /// The trace as recorded, before any address policy; nothing for the built-in workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
}

/// Requests at the beginning that brought the device into its state: they are in no other number of the report than those of
/// the trace and the wear.
#[derive(Clone, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct WarmUpCut {
    /// How many.
    pub requests: u64,
    /// What decided: `given`, or the name of a rule.
    pub rule: String,
}

/// A trace as recorded: rows, and 4 KiB pages of each of its devices.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Recorded {
    /// Requests.
    pub requests: u64,
    /// Writes, percent of the requests.
    pub write_percent: f64,
    /// Footprint of the reads: different 4 KiB pages, MiB.
    pub pages_read_mib: f64,
    /// Footprint of the writes: different 4 KiB pages, MiB.
    pub pages_written_mib: f64,
}

/// Programs per page, by what counts as a page.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct WriteAmplification {
    /// `waf_host` = all programs / pages the host wrote to the device. Below 1 when the buffer absorbs rewrites.
    pub host: Option<f64>,
    /// `waf_buffer` = all programs / pages the buffer sent to the FTL, padding included: AALRU's Wf (equation 4).
    pub buffer: Option<f64>,
    /// Programs the FTL added (garbage collection, merges, mapping, wear) / pages the buffer sent to it; `waf_buffer` - 1.
    /// RFTL's E (table 1) has those that misses of its map cache cause alone.
    pub extra: Option<f64>,
    /// Pages of the flash that stay without data because a part of their unit was programmed alone (`ftl.whole_units`): a drive
    /// fills them with dummy data. They are not programs.
    pub dummy_pages: u64,
    /// (All programs + `dummy_pages`) / pages the host wrote: flash that is used up for a page, what SMART calls NAND writes.
    pub host_with_dummies: Option<f64>,
    /// Programs of host data and padding: what the buffer sent.
    pub programs_from_above: u64,
    /// Programs the FTL added, mapping included (AALRU's GC_w, as its section IV-B2 reads).
    pub programs_from_below: u64,
}

/// `part / whole`, nothing without a whole.
fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

impl Report {
    /// Settles the device after a run that is over ([`crate::replay::Replay::finish`] gave `outcome`), as `replay.settle`
    /// says, and reports.
    pub fn settled(config: &Config, device: &mut dyn Ssd, trace: TraceSource, outcome: &Outcome) -> Self {
        match config.replay.settle {
            Settle::None => Self::new(config, device, trace, outcome),
            Settle::Flush => {
                let ram = Ram::new(device);
                let settling = Settling::carry_out(Settle::Flush, device, &config.device.timing, outcome.start);
                Self { ram, ..Self::of(config, device, trace, outcome, settling) }
            }
            Settle::Charge => {
                let report = Self::new(config, device, trace, outcome);
                let settling = Settling::carry_out(Settle::Charge, device, &config.device.timing, outcome.start);
                Self { settling, ..report }
            }
        }
    }

    /// The report of a run whose dirty pages stay in the buffer.
    pub fn new(config: &Config, device: &dyn Ssd, trace: TraceSource, outcome: &Outcome) -> Self {
        Self::of(config, device, trace, outcome, Settling::none(device))
    }

    fn of(config: &Config, device: &dyn Ssd, trace: TraceSource, outcome: &Outcome, settling: Settling) -> Self {
        let ledger = device.ledger();
        let times = device.times();
        // What no request waits for takes time too.
        let flush = settling.cost.map_or(Nanos::ZERO, |cost| Nanos(cost.elapsed_ns));
        let makespan = times.last_completion.saturating_sub(outcome.start) + flush;
        let pages_per_block = config.device.geometry.pages_per_block;
        let wear = Wear::new(device.flash());
        let dirty = device.slots().iter().filter(|slot| device.slots().is_dirty(*slot)).count() as u64;
        Self {
            schema: SCHEMA_VERSION,
            nandlab: env!("CARGO_PKG_VERSION"),
            seed: config.seed,
            config: config.clone(),
            reconstructions: reconstructions(config),
            trace,
            requests: Requests::new(&ledger),
            hits: HitRatios::new(&ledger),
            response: Latencies::new(times),
            device_time: Latency::new(&times.device()),
            throughput: Throughput::new(&ledger, makespan),
            link: LinkWork::new(config.device.host.link.speed(), times, makespan),
            controller: ControllerWork::new(config.device.controller.cores, times, makespan),
            load: Load::new(outcome, config.replay.mode == ReplayMode::Open),
            write_amplification: WriteAmplification::new(&ledger),
            flash: FlashWork::new(&ledger),
            operations: device.flash().clock.waits().map(Operations::of),
            merges: Merges::new(&ledger, pages_per_block),
            padding: Padding::new(&ledger, pages_per_block),
            buffer: BufferWork::new(&ledger, device.slots().frames().nvram, dirty),
            flushes: Flushes::new(device.flushes()),
            settling,
            mapping: MappingWork::new(&ledger),
            slc: SlcWork::new(&ledger),
            ram: Ram::new(device),
            endurance: Endurance::new(&config.device.endurance, &measured(config, &ledger, makespan, &wear)),
            wear,
            elapsed: Elapsed::new(&ledger, &config.device.timing, makespan),
            urm_model: UrmModel::new(&ledger, &config.device.timing),
            ledger,
            times: times.clone(),
            wall: None,
        }
    }

    /// JSON schema of the report, with the definition of every metric.
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Self).to_value()
    }
}

impl WriteAmplification {
    fn new(ledger: &Ledger) -> Self {
        let (above, below) = (ledger.programs_from_above(), ledger.programs_from_below());
        Self {
            host: share(above + below, ledger.host_page_writes),
            buffer: share(above + below, above),
            extra: share(below, above),
            dummy_pages: ledger.dummy_pages,
            host_with_dummies: share(above + below + ledger.dummy_pages, ledger.host_page_writes),
            programs_from_above: above,
            programs_from_below: below,
        }
    }
}

fn reconstructions(config: &Config) -> Vec<String> {
    let buffer = registry::find(BUFFERS, "buffer", &config.buffer.name).ok().filter(|p| p.is_reconstruction());
    let ftl = registry::find(FTLS, "ftl", &config.ftl.name).ok().filter(|p| p.is_reconstruction());
    buffer.map(Plugin::name).into_iter().chain(ftl.map(Plugin::name)).collect()
}

/// What the projections of endurance are made of.
fn measured(config: &Config, ledger: &Ledger, simulated: Nanos, wear: &Wear) -> Measured {
    let (device, geometry) = (&config.device, &config.device.geometry);
    let page_bytes = u64::from(geometry.page_bytes);
    let programmed_bytes = (ledger.programs() + ledger.dummy_pages) * page_bytes;
    let in_slc = device.cells.slc_pages(device.endurance.cell, geometry, device.commands.unit_pages);
    // Pages of a usual block for each page of one in SLC mode, beyond that page.
    let more = if in_slc == 0 { 0.0 } else { f64::from(geometry.pages_per_block) / f64::from(in_slc) - 1.0 };
    Measured {
        physical_bytes: config.device.geometry.pages() * page_bytes,
        logical_bytes: u64::from(config.logical_pages()) * page_bytes,
        written_bytes: ledger.host_sector_writes * SECTOR_BYTES,
        programmed_bytes,
        worn_bytes: programmed_bytes as f64
            + more * ((ledger.slc_programs + ledger.slc_dummy_pages) * page_bytes) as f64,
        simulated,
        erases_mean: wear.mean,
        erases_max: wear.max,
    }
}

/// Sum of the service times of all flash operations.
fn service(ledger: &Ledger) -> Nanos {
    let ops = Op::ALL.iter();
    Nanos(ops.flat_map(|op| Cause::ALL.map(|cause| ledger.nanos(*op, cause))).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Builder;
    use crate::replay::Replay;
    use crate::types::{HostOp, HostRequest};

    fn run(assignments: &[&str]) -> Report {
        let mut builder = Builder::preset("lab").unwrap();
        for assignment in assignments {
            builder = builder.set(assignment).unwrap();
        }
        let config = builder.finish().unwrap();
        let mut device = config.build().unwrap();
        let mut replay = Replay::new(&config, &*device);
        let op = |n: u64| if n.is_multiple_of(3) { HostOp::Read } else { HostOp::Write };
        let request = |n: u64| HostRequest::new(Nanos(n * 50_000), op(n), n * 7919 % 30_000, 1 + (n % 24) as u32);
        let requests: Vec<_> = (0..20_000).map(request).collect();
        replay.feed(&mut *device, &requests).unwrap();
        let outcome = replay.finish(&mut *device);
        Report::new(&config, &*device, TraceSource::default(), &outcome)
    }
    const SMALL: [&str; 4] =
        ["device.geometry.blocks_per_plane=16", "device.geometry.pages_per_block=16", "ram.dram=\"256KiB\"", "seed=7"];

    #[test]
    fn reports_of_the_same_run_are_identical() {
        let text = || serde_json::to_string(&run(&SMALL)).unwrap();
        assert_eq!(text(), text());
    }

    #[test]
    fn parts_of_every_sum_add_up() {
        let report = run(&SMALL);
        assert_eq!(report.requests.total, 20_000);
        assert_eq!(report.response.all.count, 20_000);
        assert_eq!(report.response.reads.count + report.response.writes.count, 20_000);
        for by_cause in [&report.flash.reads, &report.flash.programs, &report.flash.erases] {
            let parts: u64 = by_cause.causes().iter().map(|(_, n)| n).sum();
            assert_eq!(parts, by_cause.total);
        }
        let erased = report.flash.erases_by_kind;
        assert_eq!(erased.data + erased.log + erased.map, report.flash.erases.total);
        assert_eq!(report.wear.erases, report.flash.erases.total, "nothing was erased before the measurement");
        let amplification = report.write_amplification;
        assert!((amplification.buffer.unwrap() - amplification.extra.unwrap() - 1.0).abs() < 1e-12);
        assert!(report.flash.erases.total > 0, "the run is long enough to collect garbage");
        let binned: u32 = report.wear.histogram.iter().map(|bin| bin.blocks).sum();
        assert_eq!(binned, report.wear.blocks, "every block is in the histogram");
        let mapped: u64 = report.wear.per_block.iter().map(|n| u64::from(*n)).sum();
        assert_eq!((report.wear.blocks_per_entry, mapped), (1, report.wear.erases), "every erase is in the heat map");
    }

    #[test]
    fn overloaded_run_is_marked() {
        let kept_up = run(&[SMALL[0], SMALL[1], SMALL[2], "replay.time_scale=100"]);
        assert!(!kept_up.load.overloaded, "{:?}", kept_up.load);
        let too_fast = run(&[SMALL[0], SMALL[1], SMALL[2], "replay.time_scale=0.001"]);
        assert!(too_fast.load.overloaded, "{:?}", too_fast.load);
        let closed = run(&[SMALL[0], SMALL[1], SMALL[2], "replay.mode=fast"]);
        assert!(!closed.load.overloaded, "a closed loop cannot be overloaded");
    }

    #[test]
    fn preconditioning_leaves_the_arrivals_on_time() {
        let steady = run(&[SMALL[0], SMALL[1], SMALL[2], "precondition={steady=1}", "replay.time_scale=100"]);
        assert!(!steady.load.overloaded, "{:?}", steady.load);
        assert!(steady.elapsed.simulated_ns < 110_000_000_000, "time counts from the measurement on");
    }
}
