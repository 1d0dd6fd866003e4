//! Metrics of time.

use serde::Serialize;

use super::{service, share};
use crate::config::TimingConfig;
use crate::engine::{LinkSpeed, Times, Way};
use crate::histogram::Histogram;
use crate::ledger::Ledger;
use crate::replay::Outcome;
use crate::types::{Nanos, SECTOR_BYTES};

/// Durations of many requests. Mean and maximum are exact; a percentile is the upper edge of its histogram bucket, at
/// most 3.1 % too large. Of no requests there is none of them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Latency {
    /// Requests.
    pub count: u64,
    /// Arithmetic mean.
    pub mean_ns: Option<f64>,
    /// Median, as all percentiles at most 3.1 % too large: the upper edge of a bucket.
    pub p50_ns: Option<u64>,
    /// 95 % took at most this long.
    pub p95_ns: Option<u64>,
    /// 99 % took at most this long.
    pub p99_ns: Option<u64>,
    /// 99.9 % took at most this long.
    pub p999_ns: Option<u64>,
    /// The longest.
    pub max_ns: Option<u64>,
}

impl Latency {
    pub(super) fn new(histogram: &Histogram) -> Self {
        let count = histogram.count();
        let at = |percent| (count > 0).then(|| histogram.percentile(percent).0);
        Self {
            count,
            mean_ns: (count > 0).then(|| histogram.mean_ns()),
            p50_ns: at(50.0),
            p95_ns: at(95.0),
            p99_ns: at(99.0),
            p999_ns: at(99.9),
            max_ns: (count > 0).then(|| histogram.max().0),
        }
    }
}

/// Response times by kind of request.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Latencies {
    /// Reads.
    pub reads: Latency,
    /// Writes.
    pub writes: Latency,
    /// Trims and flushes.
    pub others: Latency,
    /// All requests.
    pub all: Latency,
}

impl Latencies {
    pub(super) fn new(times: &Times) -> Self {
        Self {
            reads: Latency::new(&times.read_response),
            writes: Latency::new(&times.write_response),
            others: Latency::new(&times.other_response),
            all: Latency::new(&times.response()),
        }
    }
}

/// Host work per simulated second, from the start of the measurement to the last completion; with `replay.settle = "flush"`
/// the time of the final flush is added.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Throughput {
    /// Requests / simulated seconds.
    pub requests_per_second: Option<f64>,
    /// Pages read and written / simulated seconds.
    pub pages_per_second: Option<f64>,
    /// Bytes read / simulated seconds.
    pub read_bytes_per_second: Option<f64>,
    /// Bytes written / simulated seconds.
    pub written_bytes_per_second: Option<f64>,
}

impl Throughput {
    pub(super) fn new(ledger: &Ledger, makespan: Nanos) -> Self {
        let per_second = |n: u64| share(n, makespan.0).map(|rate| rate * 1e9);
        Self {
            requests_per_second: per_second(ledger.host_requests()),
            pages_per_second: per_second(ledger.host_page_reads + ledger.host_page_writes),
            read_bytes_per_second: per_second(ledger.host_sector_reads * SECTOR_BYTES),
            written_bytes_per_second: per_second(ledger.host_sector_writes * SECTOR_BYTES),
        }
    }
}

/// Work of the link between host and device (`device.host.link`). Without a link nothing crosses one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct LinkWork {
    /// Data of the host that it carries a second: after line coding and packets. Null without a link.
    pub bytes_per_second: Option<u64>,
    /// Data of writes.
    pub to_device: WayWork,
    /// Data of reads.
    pub to_host: WayWork,
    /// Share of the time that it was busy: of a half-duplex link both ways together, else the busier way. Null without a
    /// link.
    pub utilisation: Option<f64>,
}

/// One way of the link.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct WayWork {
    /// Data of the host that crossed.
    pub bytes: u64,
    /// Time that it took, without waiting.
    pub busy_ns: u64,
    /// `busy_ns / elapsed.simulated_ns`. Null without a link.
    pub utilisation: Option<f64>,
}

impl LinkWork {
    pub(super) fn new(link: Option<LinkSpeed>, times: &Times, makespan: Nanos) -> Self {
        let used = &times.link;
        let of = |busy: Nanos| link.and_then(|_| share(busy.0, makespan.0));
        let way = |way: Way| {
            let (bytes, busy) = (used.bytes[way as usize], used.busy[way as usize]);
            WayWork { bytes, busy_ns: busy.0, utilisation: of(busy) }
        };
        let [to_device, to_host] = used.busy;
        let half_duplex = link.is_some_and(|link| link.half_duplex);
        Self {
            bytes_per_second: link.map(|link| link.bytes_per_second),
            to_device: way(Way::ToDevice),
            to_host: way(Way::ToHost),
            utilisation: of(if half_duplex { to_device + to_host } else { to_device.max(to_host) }),
        }
    }
}

/// Work of the controller (`device.controller`). By default it takes no time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct ControllerWork {
    /// Time that its cores were busy with commands, all together, without waiting.
    pub busy_ns: u64,
    /// `busy_ns / (device.controller.cores * elapsed.simulated_ns)`.
    pub utilisation: Option<f64>,
}

impl ControllerWork {
    pub(super) fn new(cores: u32, times: &Times, makespan: Nanos) -> Self {
        let busy_ns = times.controller_busy.0;
        Self { busy_ns, utilisation: share(busy_ns, u64::from(cores) * makespan.0) }
    }
}

/// Whether the device kept up with the arrivals of an open-loop run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Load {
    /// True if more than 1 % of the measured requests were waiting for admission when the last one arrived: response times
    /// then grow with the length of the trace, and their mean says nothing about a steady state.
    pub overloaded: bool,
    /// Requests that waited for admission when the last one arrived (known to 1/2,048 of all requests). 0 in a closed
    /// loop.
    pub backlog_requests: u64,
    /// Arrival of the last request after the start of the measurement. 0 in a closed loop.
    pub last_arrival_ns: u64,
}

impl Load {
    pub(super) fn new(outcome: &Outcome, open: bool) -> Self {
        Self {
            overloaded: open && outcome.backlog > (outcome.requests - outcome.before) / 100,
            backlog_requests: outcome.backlog,
            last_arrival_ns: outcome.last_arrival.saturating_sub(outcome.start).0,
        }
    }
}

/// Simulated time, by three definitions.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Elapsed {
    /// From the start of the measurement to the last completion, plus, with `replay.settle = "flush"`, the time of the final
    /// flush (`settling.cost.elapsed_ns`).
    pub simulated_ns: u64,
    /// Sum of the service times of all flash operations: how long a device that does one at a time is busy.
    pub flash_service_ns: u64,
    /// HitStat's elapsed time: erases * `block_erase` + programs * `page_program`; reads and transfers do not count.
    pub hitstat_ns: u64,
    /// HitStat's throughput: bytes the host wrote / `hitstat_ns`, per second.
    pub hitstat_bytes_per_second: Option<f64>,
}

/// HitStat's elapsed time of some operations.
pub(super) fn hitstat_ns(ledger: &Ledger, timing: &TimingConfig) -> u64 {
    ledger.erases() * timing.block_erase.0 + ledger.programs() * timing.page_program.0
}

impl Elapsed {
    pub(super) fn new(ledger: &Ledger, timing: &TimingConfig, makespan: Nanos) -> Self {
        let hitstat_ns = hitstat_ns(ledger, timing);
        Self {
            simulated_ns: makespan.0,
            flash_service_ns: service(ledger).0,
            hitstat_ns,
            hitstat_bytes_per_second: share(ledger.host_sector_writes * SECTOR_BYTES, hitstat_ns).map(|r| r * 1e9),
        }
    }
}

/// URM's model (equations 1 to 3), with the hit ratio H of all pages, the share `P_d` of dirty pages among the evicted ones and
/// the shares `R_r`, `R_w` of reads and writes among the pages of this run. It knows neither map nor collection nor queues,
/// and has a missed write programmed at once.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct UrmModel {
    /// `T_df = T_write + T_read`: what it takes to free a frame of a dirty page and refill it.
    pub flush_ns: u64,
    /// `T_art = (1 - H) (T_read + P_d T_df)`: mean time of a page read (equation 1).
    pub read_ns: Option<f64>,
    /// `T_awt = (1 - H) (T_write + P_d T_write)`: mean time of a page write (equation 2).
    pub write_ns: Option<f64>,
    /// `A = (R_w + (1 - H) P_d R_r - H R_w) / R_w`: write amplification of the buffer.
    pub write_amplification: Option<f64>,
}

impl UrmModel {
    pub(super) fn new(ledger: &Ledger, timing: &TimingConfig) -> Self {
        let flush_ns = timing.page_program.0 + timing.page_read.0;
        let (reads, writes) = (ledger.host_page_reads, ledger.host_page_writes);
        let hit = share(ledger.buffer_read_hits + ledger.buffer_write_hits, reads + writes);
        let evicted = ledger.write_back_pages + ledger.buffer_drops;
        let dirty = share(ledger.write_back_pages, evicted).unwrap_or(0.0);
        let amplification = |hit: f64| {
            let (reads, writes) = (reads as f64, writes as f64);
            (writes + (1.0 - hit) * dirty * reads - hit * writes) / writes
        };
        Self {
            flush_ns,
            read_ns: hit.map(|hit| (1.0 - hit) * (timing.page_read.0 as f64 + dirty * flush_ns as f64)),
            write_ns: hit.map(|hit| (1.0 - hit) * (1.0 + dirty) * timing.page_program.0 as f64),
            write_amplification: hit.filter(|_| writes > 0).map(amplification),
        }
    }
}

/// Speed of the simulation itself, measured outside.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Wall {
    /// Seconds to build and precondition the device.
    pub build_seconds: f64,
    /// Seconds to read the trace and simulate it.
    pub run_seconds: f64,
    /// Page accesses of the host simulated per second of `run_seconds`.
    pub pages_per_second: f64,
    /// Requests simulated per second of `run_seconds`.
    pub requests_per_second: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Builder;

    #[test]
    fn urm_model_matches_a_hand_calculation() {
        let mut timing = Builder::preset("urm").unwrap().finish().unwrap().device.timing;
        (timing.page_read, timing.page_program) = (Nanos(25_000), Nanos(200_000));
        // H = 0.3, P_d = 0.75, R_r = 0.6.
        let ledger = Ledger {
            host_page_reads: 60,
            host_page_writes: 40,
            buffer_read_hits: 20,
            buffer_write_hits: 10,
            write_back_pages: 30,
            buffer_drops: 10,
            ..Ledger::default()
        };
        let model = UrmModel::new(&ledger, &timing);
        assert_eq!(model.flush_ns, 225_000);
        assert!((model.read_ns.unwrap() - 0.7 * (25_000.0 + 0.75 * 225_000.0)).abs() < 1e-6);
        assert!((model.write_ns.unwrap() - 0.7 * (200_000.0 + 0.75 * 200_000.0)).abs() < 1e-6);
        assert!((model.write_amplification.unwrap() - (0.4 + 0.7 * 0.75 * 0.6 - 0.3 * 0.4) / 0.4).abs() < 1e-12);
        let nothing = UrmModel::new(&Ledger::default(), &timing);
        assert_eq!((nothing.read_ns, nothing.write_ns, nothing.write_amplification), (None, None, None));
    }
}
