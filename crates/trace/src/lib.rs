//! Block I/O traces: streaming readers for the formats in use, with bounded memory.
//!
//! [`open`] gives a [`Trace`], an iterator of requests ready for replay: times from zero, one address space, within the
//! capacity of the simulated device. [`Records`] gives the rows as recorded, [`Timed`] corrects their times, and
//! [`stats`] measures them. A trace is one file or several ([`expand`], [`FileOrder`]).
//!
//! The format is detected by content, or named; so is compression (gzip, zstd, bzip2, xz), which is never named.
//! Nothing is guessed silently: what a trace does not say is an error that lists the choices, and whatever is changed
//! (times, addresses, bad rows) is counted in the [`TraceReport`].
//!
//! ```
//! use nandlab_trace::{Options, Trace};
//! let text = "0,8,4096,w,0.5\n0,16,4096,r,0.75\n";
//! let mut trace = Trace::from_reader("example", text.as_bytes(), &Options::default())?;
//! assert_eq!(trace.records().format(), "spc");
//! assert_eq!(trace.nth(1).unwrap()?.at.0, 250_000_000);
//! # Ok::<(), nandlab_trace::TraceError>(())
//! ```
#![forbid(unsafe_code)]

mod ahead;
mod buffer;
mod bytes;
mod columns;
mod cursor;
mod detect;
mod error;
mod event;
mod export;
mod file;
mod files;
mod five;
mod formats;
pub mod generators;
mod input;
mod lines;
mod memory;
mod names;
mod options;
mod order;
mod pairing;
mod passes;
mod policy;
mod provenance;
mod recording;
mod records;
mod registry;
mod row;
mod sink;
mod stats;
mod table;
mod text;
mod times;
pub mod tools;
mod trace;
mod unit;
mod whole;
mod writer;

pub use buffer::LINE_BYTES_MAX;
pub use columns::{is_guarded, unless_panic};
pub use detect::{FormatInfo, formats};
pub use error::{BadRow, Candidate, Place, Problem, Proposal, TraceError};
pub use event::BlockEvent;
pub use files::expand;
pub use formats::columns::ColumnSpec;
pub use memory::{MemoryRows, MemoryTrace};
pub use options::{AddressPolicy, DeviceExtent, Options, SORT_WINDOW_MAX, TraceReport, Volumes};
pub use order::FileOrder;
pub use passes::Passes;
pub use provenance::Step;
pub use recording::{FileName, Module, Recording, RecordingEntry, StackFrame};
pub use records::Records;
pub use row::{ADDRESS_BYTES_MAX, Extra, FILE_PAGE_BYTES, Origin, REQUEST_BYTES_MAX, TIME_NS_MAX, TraceRecord};
pub use stats::{
    ByOp, Checked, DeviceCounts, DeviceNeed, DeviceReport, Difference, DifferenceKind, Distribution, Finding,
    Footprint, FootprintReport, Grid, Heat, HitPoint, INFO_SCHEMA_VERSION, Info, InfoReport, Measure, PAGE_BYTES,
    Pages, Reuse, SamplePages, SizeCount, Slice, SliceReport, Stats, Summary, WINDOWS, check_up, compare, stats,
    stats_of,
};
pub use table::{TableColumn, TableWriter};
pub use times::{TimeCounts, Timed};
pub use trace::Trace;
pub use unit::TimeUnit;
pub use whole::{WholeFile, remove_unfinished};
pub use writer::Writer;

/// A number of the sources of this crate: two builds with the same number read and make the same traces.
pub const TRACE_SOURCES: &str = env!("NANDLAB_SOURCES");

/// Opens a trace for replay; `-` is standard input.
///
/// # Errors
/// See [`Trace::open`].
pub fn open(path: &str, options: &Options) -> Result<Trace, TraceError> {
    Trace::open(path, options)
}
