//! What can be wrong with a trace, said so that the user can fix it: file, line, field, offending text, what is
//! allowed and what to do.

mod bad_row;

use std::fmt;
use std::io;

pub(crate) use bad_row::excerpt;
pub use bad_row::{BadRow, Problem};
use nandlab::types::{Bytes, SECTOR_BYTES};

/// Where in a trace something was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Line of a text trace, counted from 1.
    Line(u64),
    /// Byte of the (decompressed) stream of a binary trace, counted from 0.
    Byte(u64),
    /// Row of a columnar trace, counted from 1.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

/// A format that may be the right one, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// Name of the format.
    pub format: &'static str,
    /// Why it may be right: a clause that begins with "because".
    pub reason: String,
}

/// What the columns of an unknown text may be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposal {
    /// The first lines with the numbers of their columns.
    pub lines: String,
    /// What to give as the columns: a guess by their contents, if something there looks like operations.
    pub columns: Option<String>,
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, columns } = self;
        write!(
            f,
            "\n  or say what its columns are (`nandlab describe columns`); its first lines, with their numbers:{lines}"
        )?;
        match columns {
            Some(columns) => write!(f, "\n  judging by its contents it may be --columns {columns}"),
            None => write!(f, "\n  as in --columns time=1:us,op=2,offset=3:512,size=4"),
        }
    }
}

/// Where a format is explained; nothing for what is no format.
fn page(format: &str) -> String {
    if matches!(format, "generator" | "memory") { String::new() } else { format!(" (nandlab describe {format})") }
}

fn list(candidates: &[Candidate]) -> String {
    candidates.iter().flat_map(|c| ["\n  ", c.format, ": ", &c.reason]).collect()
}

/// Why a trace cannot be read. `name` is the path, or `<stdin>`.
#[derive(thiserror::Error, Debug)]
#[non_exhaustive]
pub enum TraceError {
    /// The reader asked to stop ([`Options::stop`](crate::Options::stop)).
    #[error("interrupted")]
    Interrupted,
    /// The file cannot be opened.
    #[error("{name}: cannot be opened: {source}; check the path and its permissions")]
    Open {
        /// Path.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// Reading failed.
    #[error("{name}: reading failed after {place}: {source}")]
    Read {
        /// Path.
        name: String,
        /// Last place that was read.
        place: Place,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed file ends in the middle.
    #[error("{name}: the {compression} stream ends in its middle after {place}; the file is cut off: get it again")]
    CutOff {
        /// Path.
        name: String,
        /// `gzip`, `zstd`, `bzip2` or `xz`.
        compression: &'static str,
        /// Last place that was read.
        place: Place,
    },
    /// A compressed file is damaged.
    #[error("{name}: the {compression} stream is damaged after {place} ({source}); get the file again")]
    Corrupt {
        /// Path.
        name: String,
        /// `gzip`, `zstd`, `bzip2` or `xz`.
        compression: &'static str,
        /// Last place that was read.
        place: Place,
        /// What the decompressor said.
        source: io::Error,
    },
    /// An archive or a compression that is not read.
    #[error("{name}: this is {kind}, which is not read; {help}")]
    Archive {
        /// Path.
        name: String,
        /// What it is.
        kind: &'static str,
        /// What to do.
        help: &'static str,
    },
    /// A format that is read at any place of the file, and this can be read from its beginning only.
    #[error(
        "{name}: Parquet has its index at its end and is read from plain files only, neither from standard input nor \
         compressed; name the file itself, or pipe text: nandlab trace convert FILE -o - | ..."
    )]
    NeedsFile {
        /// Path.
        name: String,
    },
    /// A Parquet file that is not a trace.
    #[error(
        "{name}: this Parquet file is not a trace: {problem}; needed are the columns time_ns, device, op, offset and \
         length, and nandlab describe parquet explains them"
    )]
    NoTrace {
        /// Path.
        name: String,
        /// Why not.
        problem: String,
    },
    /// A Parquet file that is written in a way that is not read.
    #[error("{name}: this Parquet file is not read as it is: {problem}; nandlab describe parquet says what is read")]
    UnreadColumns {
        /// Path.
        name: String,
        /// What is not read, and how to write it.
        problem: String,
    },
    /// A Parquet file that is damaged.
    #[error("{name}: this Parquet file is damaged or cut off after {place} ({problem}); get the file again")]
    DamagedColumns {
        /// Path.
        name: String,
        /// Last row that was read.
        place: Place,
        /// What is wrong.
        problem: String,
    },
    /// A Parquet file of ours whose checksums are not those of what it holds.
    #[error(
        "{name}: this Parquet file is damaged: its rows are not those that were written ({what} differs); make the file \
         again, or get it again"
    )]
    Altered {
        /// Path.
        name: String,
        /// What differs.
        what: String,
    },
    /// Nothing inside.
    #[error("{name}: the file holds no data")]
    Empty {
        /// Path.
        name: String,
    },
    /// An option is outside its range.
    #[error("{option} = {value}: allowed is {allowed}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A generator cannot be built.
    #[error(transparent)]
    Generator(nandlab::error::ConfigError),
    /// No format matches.
    #[error(
        "{name}: I do not recognise this trace: it begins with `{head}`. {hint}Name its format: {known}{}",
        .proposal.as_ref().map(ToString::to_string).unwrap_or_default()
    )]
    NotRecognised {
        /// Path.
        name: String,
        /// The first bytes, escaped.
        head: String,
        /// What else it may be (a sentence and a blank, or empty).
        hint: &'static str,
        /// Names of all formats.
        known: String,
        /// What its columns may be, if it has some.
        proposal: Option<Box<Proposal>>,
    },
    /// Several formats match and no rule decides.
    #[error("{name}: I cannot tell which format this is; name one of these:{}", list(.candidates))]
    Ambiguous {
        /// Path.
        name: String,
        /// Each with its reason.
        candidates: Vec<Candidate>,
    },
    /// The files of a trace have several formats.
    #[error(
        "{name}: this file is {format}, but the first file of the trace is {first}; a trace in several files has one \
         format: name only files of one, or name the format"
    )]
    FormatsDiffer {
        /// Path.
        name: String,
        /// Its format.
        format: &'static str,
        /// Format of the first file.
        first: &'static str,
    },
    /// An event was chosen, but rows of this format are requests.
    #[error("{name}: event = {event}: only blkparse and blktrace have events to choose from, and this is {format}")]
    NoEvents {
        /// Path.
        name: String,
        /// Its format.
        format: &'static str,
        /// The event.
        event: char,
    },
    /// A unit of objects was chosen, but rows have addresses.
    #[error(
        "{name}: object_unit: it is for objects without addresses, in oracle-general and with the column object=N, and these rows \
         ({format}) have none; leave it out"
    )]
    NoObjects {
        /// Path.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// A unit of time was chosen, but the format fixes it.
    #[error(
        "{name}: time_unit: the unit of the times of {format} is fixed{}; leave it out, or name another format",
        page(format)
    )]
    TimeFixed {
        /// Path.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// The trace holds other events than the chosen one.
    #[error("{name}: there is no event {event} in it; choose one that is: {seen}")]
    NoSuchEvent {
        /// Paths.
        name: String,
        /// The event.
        event: char,
        /// Events and their numbers.
        seen: String,
    },
    /// Each file is to be a device, but one holds several.
    #[error(
        "{name}: {place}: device {second} appears after device {first} in one file, so that the file cannot be one \
         device; read the files one after the other (sequence) or by time (merge), which keep the numbers of the trace"
    )]
    DevicesInFile {
        /// Path.
        name: String,
        /// Where the second device appears.
        place: Place,
        /// Device of the rows before.
        first: u32,
        /// The new one.
        second: u32,
    },
    /// A pattern that no file matches, or that is none.
    #[error("{pattern}: {problem}; check the path, and quote patterns with *, ? and [")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// What is wrong.
        problem: String,
    },
    /// Standard input more than once, or no file at all.
    #[error("{problem}; name each input once")]
    Inputs {
        /// What is wrong.
        problem: &'static str,
    },
    /// A row is not what its format allows.
    #[error("{name}: {place}: {row}")]
    Row {
        /// Path.
        name: String,
        /// Where.
        place: Place,
        /// What is wrong.
        row: Box<BadRow>,
    },
    /// More bad rows than the user allows.
    #[error("{name}: {place}: {row} ({allowed} bad rows were allowed and skipped; this is one more)")]
    TooManyBad {
        /// Path.
        name: String,
        /// Where the last one is.
        place: Place,
        /// What is wrong with the last one.
        row: Box<BadRow>,
        /// Bad rows allowed.
        allowed: u64,
    },
    /// A second device appears and the user did not say what to do with it.
    #[error(
        "{name}: {place}: device {second} appears after device {first}, and each has its own address space; choose \
         how to read them: stack (one space after the other), pick {first} (only that device), or merge (all in one \
         space, addresses overlap)"
    )]
    SecondDevice {
        /// Path.
        name: String,
        /// Where the second device appears.
        place: Place,
        /// Device of the rows before.
        first: u32,
        /// The new one.
        second: u32,
    },
    /// A tool cannot do what it was asked for with this request.
    #[error("{name}: {place}: {problem}")]
    Tool {
        /// Path.
        name: String,
        /// Where.
        place: Place,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The device to pick never appears.
    #[error("{name}: device {wanted} does not appear in this trace; it has {devices}")]
    NoSuchDevice {
        /// Path.
        name: String,
        /// Device asked for.
        wanted: u32,
        /// Devices that do appear.
        devices: String,
    },
    /// More distinct pages than are tracked.
    #[error("{name}: {place}: more than 2^30 distinct pages of 4 KiB; follow only some of them")]
    TooManyPages {
        /// Path.
        name: String,
        /// Where.
        place: Place,
    },
    /// More devices than are tracked.
    #[error("{name}: {place}: more than {max} devices; pick one of them, or merge them")]
    TooManyDevices {
        /// Path.
        name: String,
        /// Where.
        place: Place,
        /// Most devices that are tracked.
        max: usize,
    },
    /// Stacking needs to read the trace twice.
    #[error(
        "{name}: stacking devices needs two passes, and this input can be read once only; give a file, or choose pick \
         N, merge, or the address policy compact (which stacks in one pass)"
    )]
    StackNeedsFile {
        /// Path.
        name: String,
    },
    /// A request lies outside the device.
    #[error(
        "{name}: {place}: sectors {lba} to {} lie beyond the capacity of {capacity} sectors ({} MiB); use a larger \
         device, or choose an address policy: modulo (fold), or compact (renumber blocks in order of first use)",
        .lba.saturating_add(u64::from(*.sectors)), .capacity / 2048
    )]
    BeyondCapacity {
        /// Path.
        name: String,
        /// Where.
        place: Place,
        /// First sector.
        lba: u64,
        /// Sectors.
        sectors: u32,
        /// Capacity of the device in sectors.
        capacity: u64,
    },
    /// The trace touches more distinct units than the device has room for.
    #[error(
        "{name}: {place}: even compacted in units of {}, the trace touches more than the {} that the device has",
        Bytes(unit_sectors.saturating_mul(SECTOR_BYTES)), Bytes(capacity.saturating_mul(SECTOR_BYTES))
    )]
    CompactFull {
        /// Path.
        name: String,
        /// Where.
        place: Place,
        /// Capacity of the device in sectors.
        capacity: u64,
        /// Sectors of a unit.
        unit_sectors: u64,
    },
}
