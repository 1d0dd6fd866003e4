//! Everything that is measured about a trace, in one pass.

use std::collections::BTreeMap;

use nandlab::types::HostOp;

use super::distribution::Distribution;
use super::grid::Grid;
use super::pages::{PageTable, Pages};
use super::sequence::{Ends, WINDOWS};
use super::{Checkup, Counters, Finding, Stats};
use crate::error::TraceError;
use crate::options::Options;
use crate::policy::DEVICES_MAX;
use crate::records::Records;
use crate::row::TraceRecord;
use crate::times::Timed;

/// Share of pages that are followed: above 0, and at most 1. Below 1 every statistic about distinct pages and reuse is an
/// estimate from the pages whose hash falls below the share (spatial sampling, SHARDS: Waldspurger et al., FAST 2015).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SamplePages(f64);

impl SamplePages {
    /// All pages.
    pub const ALL: Self = Self(1.0);
    /// This share; `None` if it is not above 0 and at most 1. It is rounded to a multiple of 2^-24.
    pub fn new(rate: f64) -> Option<Self> {
        (rate > 0.0 && rate <= 1.0).then_some(Self(rate))
    }
}

/// One device of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceCounts {
    /// Requests of all kinds but flushes.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read (whole sectors).
    pub read_bytes: u64,
    /// Bytes written (whole sectors).
    pub written_bytes: u64,
    /// Highest end of a request, in bytes.
    pub top_bytes: u64,
}

/// What a trace is like, in every respect. Memory: 60 to 110 bytes for each distinct page of 4 KiB that is followed, 1 KiB
/// for each device, and at most 25 MiB besides. `[reads, writes]` where there are two.
#[derive(Clone, Debug)]
pub struct Info {
    /// Path, or `<stdin>`.
    pub name: String,
    /// Name of the format.
    pub format: &'static str,
    /// Why this format: a clause that begins with "because".
    pub reason: String,
    /// The counts; distinct pages are estimates, if pages were sampled.
    pub stats: Stats,
    /// Share of pages that were followed, 1 without sampling.
    pub sample_rate: f64,
    /// Sizes of requests in bytes, as recorded.
    pub sizes: [Distribution; 2],
    /// Times between rows in ns; 0 where the clock ran backwards.
    pub inter_arrival_ns: Distribution,
    /// Earliest and latest recorded time in ns, from whatever zero the trace has; `None` without rows.
    pub times_ns: Option<[u64; 2]>,
    /// Requests that start where one of the last 1, 8, 32, 128 of the same device ended ([`WINDOWS`]).
    pub sequential: [u64; 4],
    /// The devices by their numbers.
    pub devices: BTreeMap<u32, DeviceCounts>,
    /// Distinct pages and reuse.
    pub pages: Pages,
    /// Requests over active time and address.
    pub grid: Grid,
    /// What a user should know before trusting a replay.
    pub findings: Vec<Finding>,
}

struct Pass {
    counters: Counters,
    pages: PageTable,
    sizes: [Distribution; 2],
    inter_arrival_ns: Distribution,
    sequential: [u64; 4],
    devices: BTreeMap<u32, (DeviceCounts, Ends)>,
    grid: Grid,
    checkup: Checkup,
}

/// There are more of something than can be told apart.
enum TooMany {
    Pages,
    Devices,
}

impl Pass {
    fn new(sample: SamplePages) -> Self {
        Self {
            counters: Counters::default(),
            pages: PageTable::new(sample.0),
            sizes: Default::default(),
            inter_arrival_ns: Distribution::default(),
            sequential: [0; 4],
            devices: BTreeMap::new(),
            grid: Grid::default(),
            checkup: Checkup::default(),
        }
    }

    fn add(&mut self, record: &TraceRecord) -> Result<(), TooMany> {
        if let Some((_, _, before)) = self.counters.times {
            self.inter_arrival_ns.record(record.at.0.saturating_sub(before));
        }
        let touched = self.counters.add(record);
        self.checkup.add(record);
        if record.op == HostOp::Flush {
            return Ok(());
        }
        if self.devices.len() == DEVICES_MAX && !self.devices.contains_key(&record.device) {
            return Err(TooMany::Devices);
        }
        let (device, ends) = self.devices.entry(record.device).or_default();
        let end = record.offset + u64::from(record.length);
        if let Some(back) = ends.follow(record.offset, end) {
            for (count, window) in self.sequential.iter_mut().zip(WINDOWS) {
                *count += u64::from(back <= window);
            }
        }
        let bytes = u64::from(record.sectors()) * nandlab::types::SECTOR_BYTES;
        device.requests += 1;
        device.top_bytes = device.top_bytes.max(end);
        match record.op {
            HostOp::Read => {
                device.reads += 1;
                device.read_bytes += bytes;
            }
            HostOp::Write => {
                device.writes += 1;
                device.written_bytes += bytes;
            }
            HostOp::Trim | HostOp::Flush => return Ok(()),
        }
        let write = record.op == HostOp::Write;
        self.sizes[usize::from(write)].record(u64::from(record.length));
        self.grid.add(self.counters.stats.active_ns, record.offset, u64::from(record.length), write);
        let Some(touched) = touched else { return Ok(()) };
        for page in touched.first..=touched.last {
            if !self.pages.access(record.device, page, touched.write, record.at.0) {
                return Err(TooMany::Pages);
            }
        }
        Ok(())
    }
}

impl Info {
    /// Reads a trace (one file, or several that together are one) to its end and measures it, its times corrected as
    /// the options say; of the other options those for reading count, and the limit (in rows).
    ///
    /// # Errors
    /// As reading the trace; and if it has more than 65,536 devices or 2^30 distinct pages (4 TiB; sampling pages helps).
    pub fn open(paths: &[String], options: &Options, sample: SamplePages) -> Result<Self, TraceError> {
        Self::of(Records::open_all(paths, options)?, options, sample)
    }

    /// The same for a trace that is already open.
    ///
    /// # Errors
    /// As [`Info::open`].
    pub fn of(records: Records, options: &Options, sample: SamplePages) -> Result<Self, TraceError> {
        let mut rows = Timed::new(records, options);
        let mut pass = Pass::new(sample);
        while options.limit.is_none_or(|limit| pass.counters.stats.requests < limit)
            && let Some(record) = rows.next()
        {
            pass.add(&record?).map_err(|too_many| {
                let (name, place) = rows.whereabouts();
                match too_many {
                    TooMany::Pages => TraceError::TooManyPages { name, place },
                    TooMany::Devices => TraceError::TooManyDevices { name, place, max: DEVICES_MAX },
                }
            })?;
        }
        let Pass { counters, pages, sizes, inter_arrival_ns, sequential, devices, grid, checkup } = pass;
        let records = rows.records();
        let times_ns = counters.times.map(|(earliest, latest, _)| [earliest, latest]);
        let sample_rate = pages.rate();
        let pages = pages.finish();
        let (pages_read, pages_written) = (pages.footprint.read, pages.footprint.written);
        Ok(Self {
            name: records.name(),
            format: records.format(),
            reason: records.reason().to_owned(),
            stats: Stats { pages_read, pages_written, bad_rows: records.seen().bad_rows, ..counters.finish() },
            sample_rate,
            sizes,
            inter_arrival_ns,
            times_ns,
            sequential,
            devices: devices.into_iter().map(|(device, (counts, _))| (device, counts)).collect(),
            pages,
            grid,
            findings: checkup.findings(records),
        })
    }
}
