//! Block I/O traces: streaming readers for the formats in use, with bounded memory.
//!
//! [`open`] gives a [`Trace`], an iterator of requests ready for replay: times from zero, one address space, within the
//! capacity of the simulated device. [`Records`] gives the rows as recorded, and [`stats`] measures them.
//!
//! The format is detected by content, or named; so is compression (gzip, zstd, bzip2, xz), which is never named.
//! Nothing is guessed silently: what a trace does not say is an error that lists the choices, and whatever is changed
//! (times, addresses, bad rows) is counted in the [`Report`].
//!
//! ```
//! use nandlab_trace::{Options, Trace};
//! let text = "0,8,4096,w,0.5\n0,16,4096,r,0.75\n";
//! let mut trace = Trace::from_reader("example", text.as_bytes(), &Options::default())?;
//! assert_eq!(trace.format(), "spc");
//! assert_eq!(trace.nth(1).unwrap()?.at.0, 250_000_000);
//! # Ok::<(), nandlab_trace::TraceError>(())
//! ```
#![forbid(unsafe_code)]

mod buffer;
mod cursor;
mod error;
mod five;
mod formats;
pub mod generators;
mod input;
mod options;
mod policy;
mod provenance;
mod records;
mod registry;
mod row;
mod stats;
mod trace;
mod writer;

pub use buffer::LINE_BYTES_MAX;
pub use error::{BadRow, Candidate, Place, Problem, TraceError};
pub use options::{AddressPolicy, Device, Options, Report, Volumes};
pub use provenance::Step;
pub use records::Records;
pub use registry::{FormatInfo, formats};
pub use row::{ADDRESS_BYTES_MAX, REQUEST_BYTES_MAX, TraceRecord};
pub use stats::{Stats, stats, stats_of};
pub use trace::Trace;
pub use writer::Writer;

/// Opens a trace for replay; `-` is standard input.
///
/// # Errors
/// See [`Trace::open`].
pub fn open(path: &str, options: &Options) -> Result<Trace, TraceError> {
    Trace::open(path, options)
}
