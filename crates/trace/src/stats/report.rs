//! The statistics of a trace as they are published: every figure with its definition in its doc comment, in the order of
//! docs/trace-info.md. The JSON form has the same names; a statistic that does not exist (a mean of nothing) is `null`.

use serde::Serialize;

use super::clock::calendar;
use super::distribution::Distribution;
use super::info::Info;
use super::pages::{Pages, Reuse};
use super::sequence::WINDOWS;
use super::{Finding, PAGE_BYTES, Stats};

/// Version of the published form; it rises when a field is removed or changes its meaning.
pub const INFO_SCHEMA_VERSION: u32 = 1;
/// Sizes that are listed.
const SIZES: usize = 10;
/// Slices of time at most.
const SLICES: usize = 64;

/// A distribution in a few numbers, in the unit of its field. Quantiles are values that occurred, rounded down to 11
/// significant binary digits (at most 0.1 % too small): `p50` is the least value that half of all values do not exceed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// Values.
    pub count: u64,
    /// Exact mean.
    pub mean: Option<f64>,
    /// Exact least value.
    pub min: Option<u64>,
    /// 1 %.
    pub p1: Option<u64>,
    /// 10 %.
    pub p10: Option<u64>,
    /// 25 %.
    pub p25: Option<u64>,
    /// Median.
    pub p50: Option<u64>,
    /// 75 %.
    pub p75: Option<u64>,
    /// 90 %.
    pub p90: Option<u64>,
    /// 99 %.
    pub p99: Option<u64>,
    /// 99.9 %.
    pub p999: Option<u64>,
    /// Exact greatest value.
    pub max: Option<u64>,
}

impl From<&Distribution> for Summary {
    fn from(d: &Distribution) -> Self {
        let [p1, p10, p25, p50, p75, p90, p99, p999] =
            [100, 1_000, 2_500, 5_000, 7_500, 9_000, 9_900, 9_990].map(|part| d.quantile(part));
        let (count, mean, min, max) = (d.count(), d.mean(), d.min(), d.max());
        Self { count, mean, min, p1, p10, p25, p50, p75, p90, p99, p999, max }
    }
}

/// A statistic for reads, for writes and for both together.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ByOp<T> {
    /// Reads.
    pub reads: T,
    /// Writes.
    pub writes: T,
    /// Reads and writes.
    pub all: T,
}

fn summaries(reads: &Distribution, writes: &Distribution) -> ByOp<Summary> {
    let mut all = reads.clone();
    all.merge(writes);
    ByOp { reads: reads.into(), writes: writes.into(), all: (&all).into() }
}

/// A frequent size.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SizeCount {
    /// Size in bytes (above 1 MiB rounded down to 11 significant binary digits).
    pub bytes: u64,
    /// Reads of this size.
    pub reads: u64,
    /// Writes of this size.
    pub writes: u64,
    /// Share of all reads and writes in percent.
    pub percent: f64,
}

/// A device.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct DeviceReport {
    /// Its number in the trace.
    pub device: u32,
    /// Requests of all kinds but flushes.
    pub requests: u64,
    /// Writes in percent of them.
    pub write_percent: f64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Highest end of a request in bytes.
    pub top_bytes: u64,
}

/// Writes of a slice of time.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SliceReport {
    /// Beginning in ns of active time (times between rows above 60 s count as nothing).
    pub start_ns: u64,
    /// Reads and writes.
    pub requests: u64,
    /// Writes in percent of them; `null` for a slice without requests.
    pub write_percent: Option<f64>,
}

/// Distinct pages of 4 KiB, in bytes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FootprintReport {
    /// Of pages that were read.
    pub read_bytes: u64,
    /// Of pages that were written.
    pub written_bytes: u64,
    /// Of pages that were read or written.
    pub all_bytes: u64,
    /// Of pages that were read and written.
    pub both_bytes: u64,
    /// The same in percent of the pages that were read or written.
    pub both_percent: Option<f64>,
    /// Bytes written / bytes of distinct pages written. Below 1 if most writes are smaller than a page.
    pub overwrite_ratio: Option<f64>,
}

/// A point of the hit-ratio curves of LRU with pages of 4 KiB, in percent of page accesses. Trims are left out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct HitPoint {
    /// Size of the cache in bytes.
    pub cache_bytes: u64,
    /// A cache of reads and writes: hits of reads.
    pub reads: Option<f64>,
    /// A cache of reads and writes: hits of writes.
    pub writes: Option<f64>,
    /// A cache of reads and writes: hits of both.
    pub all: Option<f64>,
    /// A cache of reads alone.
    pub reads_alone: Option<f64>,
    /// A cache of writes alone.
    pub writes_alone: Option<f64>,
}

/// Everything about a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InfoReport {
    /// Path, or `<stdin>`.
    pub name: String,
    /// Format.
    pub format: String,
    /// Why this format.
    pub reason: String,
    /// Share of pages that were followed. Below 1, all figures of pages, reuse and hits are estimates.
    pub sample_rate: f64,
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Discards.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Rows that could not be read and were skipped.
    pub bad_rows: u64,
    /// Writes in percent of all requests.
    pub write_percent: f64,
    /// Bytes read, in whole sectors.
    pub read_bytes: u64,
    /// Bytes written, in whole sectors.
    pub written_bytes: u64,
    /// Mean size of all requests in KiB (bytes read and written / requests).
    pub mean_kib: f64,
    /// Mean size of a read in KiB, in whole sectors.
    pub mean_read_kib: f64,
    /// Mean size of a write in KiB, in whole sectors.
    pub mean_write_kib: f64,
    /// Latest minus earliest recorded time in ns.
    pub duration_ns: u64,
    /// Sum of the times between rows of at most 60 s, in ns.
    pub active_ns: u64,
    /// Earliest and latest time by the calendar, if the format counts from a known date.
    pub recorded: Option<[String; 2]>,
    /// Rows recorded earlier than the row before.
    pub out_of_order: u64,
    /// Highest end of a request on any device, in bytes.
    pub top_bytes: u64,
    /// Requests that begin or end inside a page of 4 KiB, in percent.
    pub unaligned_percent: f64,
    /// Requests that start where one of the last 1, 8, 32, 128 requests of the same device ended, in percent of all.
    pub sequential_percent: [f64; 4],
    /// Those numbers of requests.
    pub sequential_windows: [usize; 4],
    /// Sizes as recorded, in bytes.
    pub size_bytes: ByOp<Summary>,
    /// The most frequent sizes, at most 10, the most frequent first.
    pub frequent_sizes: Vec<SizeCount>,
    /// Times between rows in ns; 0 where the clock ran backwards.
    pub inter_arrival_ns: Summary,
    /// Distinct pages.
    pub footprint: FootprintReport,
    /// First accesses to a page (by read or write) in percent of page accesses, by the kind of access.
    pub cold_percent: ByOp<Option<f64>>,
    /// Distinct other pages between two accesses to the same page, in one stack of reads and writes, by the kind of the
    /// second access.
    pub reuse_distance_pages: ByOp<Summary>,
    /// The same in a stack of reads alone.
    pub reuse_distance_reads_alone_pages: Summary,
    /// The same in a stack of writes alone.
    pub reuse_distance_writes_alone_pages: Summary,
    /// Times between two accesses to the same page in ns, by the kind of the second access.
    pub reuse_time_ns: ByOp<Summary>,
    /// Times between two writes to the same page in ns.
    pub update_interval_ns: Summary,
    /// Writes over active time: at most 64 slices of equal length.
    pub over_time: Vec<SliceReport>,
    /// The devices by their numbers.
    pub devices: Vec<DeviceReport>,
    /// Hit ratios of LRU over the size of the cache.
    pub lru_hits: Vec<HitPoint>,
    /// What a user should know before trusting a replay.
    pub findings: Vec<Finding>,
}

impl From<&Info> for InfoReport {
    fn from(info: &Info) -> Self {
        let (s, pages) = (&info.stats, &info.pages);
        let [reads, writes] = &pages.together;
        let cold = |reuse: &Reuse| reuse.cold_ratio().map(|ratio| 100.0 * ratio);
        let [first, last] = info.times_ns.unwrap_or_default().map(|at| calendar(info.format, at));
        Self {
            name: info.name.clone(),
            format: info.format.to_owned(),
            reason: info.reason.clone(),
            sample_rate: info.sample_rate,
            requests: s.requests,
            reads: s.reads,
            writes: s.writes,
            trims: s.trims,
            flushes: s.flushes,
            bad_rows: s.bad_rows,
            write_percent: s.write_percent(),
            read_bytes: s.read_bytes,
            written_bytes: s.written_bytes,
            mean_kib: s.mean_kib(),
            mean_read_kib: s.mean_read_kib(),
            mean_write_kib: s.mean_write_kib(),
            duration_ns: s.duration_ns,
            active_ns: s.active_ns,
            recorded: first.zip(last).map(|(first, last)| [first, last]),
            out_of_order: s.out_of_order,
            top_bytes: s.top_bytes,
            unaligned_percent: s.unaligned_percent(),
            sequential_percent: info.sequential.map(|n| Stats::share(n, s.requests)),
            sequential_windows: WINDOWS,
            size_bytes: summaries(&info.sizes[0], &info.sizes[1]),
            frequent_sizes: frequent_sizes(info),
            inter_arrival_ns: (&info.inter_arrival_ns).into(),
            footprint: footprint(info),
            cold_percent: ByOp { reads: cold(reads), writes: cold(writes), all: cold(&reads.and(writes)) },
            reuse_distance_pages: summaries(&reads.distances, &writes.distances),
            reuse_distance_reads_alone_pages: (&pages.alone[0].distances).into(),
            reuse_distance_writes_alone_pages: (&pages.alone[1].distances).into(),
            reuse_time_ns: summaries(&pages.reuse_time_ns[0], &pages.reuse_time_ns[1]),
            update_interval_ns: (&pages.update_interval_ns).into(),
            over_time: over_time(info),
            devices: devices(info),
            lru_hits: lru_hits(pages),
            findings: info.findings.clone(),
        }
    }
}

fn frequent_sizes(info: &Info) -> Vec<SizeCount> {
    let [reads, writes] = &info.sizes;
    let total = reads.count() + writes.count();
    let mut sizes = std::collections::BTreeMap::<u64, [u64; 2]>::new();
    for (kind, distribution) in info.sizes.iter().enumerate() {
        for (bytes, count) in distribution.iter() {
            sizes.entry(bytes).or_default()[kind] = count;
        }
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|(_, [reads, writes])| std::cmp::Reverse(reads + writes));
    let shown = sizes.into_iter().take(SIZES);
    shown
        .map(|(bytes, [reads, writes])| SizeCount {
            bytes,
            reads,
            writes,
            percent: Stats::share(reads + writes, total),
        })
        .collect()
}

fn footprint(info: &Info) -> FootprintReport {
    let f = &info.pages.footprint;
    let [read_bytes, written_bytes, all_bytes, both_bytes] =
        [f.read, f.written, f.all(), f.both].map(|pages| pages * PAGE_BYTES);
    let ratio = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    FootprintReport {
        read_bytes,
        written_bytes,
        all_bytes,
        both_bytes,
        both_percent: ratio(100 * f.both, f.all()),
        overwrite_ratio: ratio(info.stats.written_bytes, written_bytes),
    }
}

fn over_time(info: &Info) -> Vec<SliceReport> {
    let slices = info.grid.slices(SLICES).into_iter();
    let report = slices.map(|slice| {
        let requests = slice.reads + slice.writes;
        let write_percent = (requests > 0).then(|| Stats::share(slice.writes, requests));
        SliceReport { start_ns: slice.start_ns, requests, write_percent }
    });
    report.collect()
}

fn devices(info: &Info) -> Vec<DeviceReport> {
    let report = info.devices.iter().map(|(device, counts)| DeviceReport {
        device: *device,
        requests: counts.requests,
        write_percent: Stats::share(counts.writes, counts.requests),
        read_bytes: counts.read_bytes,
        written_bytes: counts.written_bytes,
        top_bytes: counts.top_bytes,
    });
    report.collect()
}

fn lru_hits(pages: &Pages) -> Vec<HitPoint> {
    let [reads, writes] = &pages.together;
    let (all, [reads_alone, writes_alone]) = (reads.and(writes), &pages.alone);
    let point = |size: u64| {
        let percent = |reuse: &Reuse| reuse.hit_ratio(size).map(|ratio| 100.0 * ratio);
        HitPoint {
            cache_bytes: size * PAGE_BYTES,
            reads: percent(reads),
            writes: percent(writes),
            all: percent(&all),
            reads_alone: percent(reads_alone),
            writes_alone: percent(writes_alone),
        }
    };
    pages.curve_sizes().into_iter().map(point).collect()
}
