//! How long runs on the device are: what is known when a request comes, and what became of it.
//!
//! # Source
//! URM (2022), section 4.2: a translation page of 1024 mappings is cut into ten regions, and for each sequential or looping
//! request one of them is predicted as the length of its mapping prefetch, from the program location (PC), the address (LBN)
//! and the mean of the location's runs so far (AV).
//!
//! # Chosen readings
//! - A run is a stream of requests each of which begins where the last one ended, *on the device*, whatever asks: mappings are
//!   those of device pages. The length that counts for a request is what the run has from its first page on.
//! - The regressions learn from requests that begin a run: what is left of a run depends on how much of it has passed, which is
//!   none of their inputs.
//! - A location's mean is that of its runs that have ended; up to four are thought to be under way. Before the first has
//!   ended it is the length of the longest seen.
//! - Lengths beyond the tenth region belong to the tenth.

mod predict;
mod regression;

use nandlab_trace::{FILE_PAGE_BYTES, TraceRecord};

pub use predict::{LengthReport, LengthRow, LengthSurvey, MappingLengths};
pub use regression::LengthModel;

use crate::runs::RunsUnderWay;
use crate::sets::Sets;
use crate::streams::Streams;

/// Regions of a translation page.
pub(crate) const CLASSES: usize = 10;
/// Pages of a region unless told otherwise: a tenth of 1024 mappings.
pub const REGION_PAGES: u32 = 102;
/// Program locations that are remembered.
const PROGRAMS: usize = 1024;
/// Streams that may go on.
const STREAMS: usize = 1024;

/// What is known when a request comes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RunFacts {
    /// The program location that asks.
    pub pc: u32,
    /// First page on the device, in pages of 4096 bytes.
    pub page: u64,
    /// Pages of the request.
    pub pages: u32,
    /// Mean pages of the location's runs so far; 0 = there was none.
    pub mean: f64,
    /// Pages of the location's run before this one; 0 = there was none.
    pub last: u32,
    /// The request begins a run.
    pub begins: bool,
    /// The run, by its number.
    pub(crate) stream: u32,
    /// Pages of the run before the first page of this request.
    pub(crate) before: u32,
}

/// The runs of a program location.
#[derive(Clone, Debug, Default)]
struct Location {
    runs: RunsUnderWay,
    ended: u32,
    pages: u64,
}

/// The runs of all locations so far, in tables of a fixed size.
#[derive(Clone, Debug)]
pub(crate) struct RunLengths {
    locations: Sets<Location>,
    streams: Streams,
}

impl Default for RunLengths {
    fn default() -> Self {
        Self { locations: Sets::new(PROGRAMS), streams: Streams::new(STREAMS) }
    }
}

impl RunLengths {
    /// Learns from a request and says what was known of it; nothing of one without a length.
    pub fn see(&mut self, pc: u32, record: &TraceRecord) -> Option<RunFacts> {
        let (offset, length) = (record.offset, u64::from(record.length));
        if length == 0 {
            return None;
        }
        let joined = self.streams.join(pc, record.device, offset, length);
        let page = offset / FILE_PAGE_BYTES;
        let pages = ((offset + length - 1) / FILE_PAGE_BYTES + 1 - page) as u32;
        let stream = joined.stream;
        if self.locations.find(pc, |_| true).is_none() {
            self.locations.add(pc, Location::default());
        }
        let location = self.locations.find(pc, |_| true)?;
        if let Some(ended) = location.runs.run(stream.number, stream.pages) {
            location.ended = location.ended.saturating_add(1);
            location.pages += u64::from(ended);
        }
        let mean = match location.ended {
            0 => f64::from(location.runs.longest_before()),
            ended => location.pages as f64 / f64::from(ended),
        };
        let (last, begins) = (location.runs.before(), !joined.continues);
        let before = stream.pages.saturating_sub(pages);
        Some(RunFacts { pc, page, pages, mean, last, begins, stream: stream.number, before })
    }
}

/// The region in which a length lies.
pub(crate) fn class_of(pages: u32, region: u32) -> usize {
    (pages.div_ceil(region.max(1)).max(1) as usize).min(CLASSES) - 1
}
