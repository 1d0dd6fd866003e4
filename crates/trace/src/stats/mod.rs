//! Properties of a trace, measured in one pass over its rows as recorded: [`Stats`] for the few numbers that every run
//! prints, [`Info`] for everything.

mod checkup;
mod clock;
mod compare;
mod distribution;
mod grid;
mod info;
mod pages;
mod report;
mod sequence;
mod words;

use std::collections::BTreeMap;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use nandlab::types::{HostOp, SECTOR_BYTES};

use crate::error::TraceError;
use crate::options::Options;
use crate::records::Records;
use crate::row::TraceRecord;

pub(crate) use checkup::Checkup;
pub use checkup::{Checked, DeviceNeed, Finding, check_up};
pub use compare::{Difference, DifferenceKind, compare};
pub use distribution::Distribution;
pub use grid::{Grid, Heat, Slice};
pub use info::{DeviceCounts, Info, SamplePages};
pub use pages::{Footprint, Pages, Reuse};
pub use report::{
    ByOp, DeviceReport, FootprintReport, HitPoint, INFO_SCHEMA_VERSION, InfoReport, SizeCount, SliceReport, Summary,
};
pub use sequence::WINDOWS;

/// Bytes of the pages in which footprints and reuse are counted.
pub const PAGE_BYTES: u64 = PAGE_SECTORS * SECTOR_BYTES;
/// Sectors of these pages.
const PAGE_SECTORS: u64 = 8;
/// Longer gaps than this do not count as active time.
const IDLE_NS: u64 = 60_000_000_000;

/// What a trace is like. Pages are 4 KiB and counted per device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Requests of all kinds, those without length too.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Discards.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read (whole sectors).
    pub read_bytes: u64,
    /// Bytes written (whole sectors).
    pub written_bytes: u64,
    /// Distinct pages read.
    pub pages_read: u64,
    /// Distinct pages written.
    pub pages_written: u64,
    /// Latest minus earliest recorded time, in ns.
    pub duration_ns: u64,
    /// Sum of the gaps between rows of at most 60 s, in ns.
    pub active_ns: u64,
    /// Highest end of a request on any device, in bytes.
    pub top_bytes: u64,
    /// Requests that start where the one before on the same device ended.
    pub sequential: u64,
    /// Requests that begin or end inside a 4 KiB page.
    pub unaligned: u64,
    /// Rows recorded earlier than the row before.
    pub out_of_order: u64,
    /// Devices.
    pub devices: u64,
    /// Bad rows skipped.
    pub bad_rows: u64,
}

impl Stats {
    fn share(part: u64, whole: u64) -> f64 {
        if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
    }
    fn mean_kib_of(bytes: u64, requests: u64) -> f64 {
        if requests == 0 { 0.0 } else { bytes as f64 / 1024.0 / requests as f64 }
    }
    /// Writes in percent of all requests.
    pub fn write_percent(&self) -> f64 {
        Self::share(self.writes, self.requests)
    }
    /// Sequential requests in percent.
    pub fn sequential_percent(&self) -> f64 {
        Self::share(self.sequential, self.requests)
    }
    /// Unaligned requests in percent.
    pub fn unaligned_percent(&self) -> f64 {
        Self::share(self.unaligned, self.requests)
    }
    /// Mean size of all requests in KiB: bytes read and written / requests.
    pub fn mean_kib(&self) -> f64 {
        Self::mean_kib_of(self.read_bytes + self.written_bytes, self.requests)
    }
    /// Mean size of a read in KiB.
    pub fn mean_read_kib(&self) -> f64 {
        Self::mean_kib_of(self.read_bytes, self.reads)
    }
    /// Mean size of a write in KiB.
    pub fn mean_write_kib(&self) -> f64 {
        Self::mean_kib_of(self.written_bytes, self.writes)
    }
}

/// Which pages were read and written: bits for 64 pages each. A fixed-seed hash map, never iterated in an order that
/// shows; a `BTreeMap` would take most of the time of the pass.
#[derive(Default)]
struct PageSet {
    map: HashMap<(u32, u64), [u64; 2], FixedState>,
}

impl PageSet {
    fn insert(&mut self, device: u32, first: u64, last: u64, kind: usize) {
        let mut page = first;
        while page <= last {
            let end = last.min(page | 63);
            let ones = u64::MAX >> (63 - (end - page));
            self.map.entry((device, page >> 6)).or_default()[kind] |= ones << (page & 63);
            page = end + 1;
        }
    }
    fn count(&self, kind: usize) -> u64 {
        #[allow(clippy::iter_over_hash_type, reason = "a sum does not depend on the order")]
        self.map.values().map(|bits| u64::from(bits[kind].count_ones())).sum()
    }
}

/// The pages of a read or a write.
struct Touched {
    first: u64,
    last: u64,
    write: bool,
}

/// Everything in [`Stats`] that needs no set of pages.
#[derive(Default)]
struct Counters {
    stats: Stats,
    ends: BTreeMap<u32, u64>,
    /// Earliest, latest and previous time.
    times: Option<(u64, u64, u64)>,
}

impl Counters {
    fn add(&mut self, record: &TraceRecord) -> Option<Touched> {
        let s = &mut self.stats;
        let sectors = if record.op == HostOp::Flush { 0 } else { record.sectors() };
        let bytes = u64::from(sectors) * SECTOR_BYTES;
        s.requests += 1;
        let now = record.at.0;
        let (begin, end) = (record.offset, record.offset + u64::from(record.length));
        let (low, high, before) = *self.times.get_or_insert((now, now, now));
        s.out_of_order += u64::from(now < before);
        s.active_ns += now.saturating_sub(before) * u64::from(now.saturating_sub(before) <= IDLE_NS);
        self.times = Some((low.min(now), high.max(now), now));
        if record.op == HostOp::Flush {
            s.flushes += 1;
            return None;
        }
        s.top_bytes = s.top_bytes.max(end);
        s.sequential += u64::from(self.ends.insert(record.device, end) == Some(begin));
        s.unaligned += u64::from(!(begin | end).is_multiple_of(PAGE_SECTORS * SECTOR_BYTES));
        let write = record.op == HostOp::Write;
        match record.op {
            HostOp::Read => {
                s.reads += 1;
                s.read_bytes += bytes;
            }
            HostOp::Write => {
                s.writes += 1;
                s.written_bytes += bytes;
            }
            HostOp::Trim | HostOp::Flush => {
                s.trims += 1;
                return None;
            }
        }
        let (first, last) = (record.lba() / PAGE_SECTORS, record.end_lba().saturating_sub(1) / PAGE_SECTORS);
        (sectors > 0).then_some(Touched { first, last, write })
    }

    /// What was counted, without the pages.
    fn finish(self) -> Stats {
        let duration_ns = self.times.map_or(0, |(low, high, _)| high - low);
        Stats { devices: self.ends.len() as u64, duration_ns, ..self.stats }
    }
}

/// Measures requests one by one; [`stats`] does so with those of a trace.
#[derive(Default)]
pub struct Measure {
    counters: Counters,
    pages: PageSet,
}

impl Measure {
    /// Accounts for a request.
    pub fn add(&mut self, record: &TraceRecord) {
        if let Some(touched) = self.counters.add(record) {
            self.pages.insert(record.device, touched.first, touched.last, usize::from(touched.write));
        }
    }

    /// What the requests are like.
    pub fn finish(self) -> Stats {
        let (pages_read, pages_written) = (self.pages.count(0), self.pages.count(1));
        Stats { pages_read, pages_written, ..self.counters.finish() }
    }
}

/// Reads a trace to its end and measures it. Of the options, format, `skip_bad` and limit (in rows) count: nothing is
/// picked, moved or clamped.
///
/// # Errors
/// As reading the trace.
pub fn stats(path: &str, options: &Options) -> Result<Stats, TraceError> {
    stats_of(Records::open(path, options)?, options)
}

/// The same for a trace that is already open.
///
/// # Errors
/// As reading the trace.
pub fn stats_of(mut records: Records, options: &Options) -> Result<Stats, TraceError> {
    let mut measure = Measure::default();
    let mut left = options.limit.unwrap_or(u64::MAX);
    while left > 0
        && let Some(record) = records.next()
    {
        measure.add(&record?);
        left -= 1;
    }
    Ok(Stats { bad_rows: records.seen().bad_rows, ..measure.finish() })
}
