//! Our own columnar file: Apache Parquet, one row a request (see the format `parquet`).

mod column;
mod guard;
mod pages;
mod read;
mod sums;
mod table;
mod write;

pub use guard::{is_guarded, unless_panic};
pub(crate) use read::Columns;
pub(crate) use table::ColumnsTable;
pub(crate) use write::ColumnsWriter;

/// The columns of every trace.
const REQUEST: &str = "required int64 time_ns (INTEGER(64,false)); required int32 device (INTEGER(32,false)); \
                       required binary op (STRING); required int64 offset (INTEGER(64,false)); \
                       required int32 length (INTEGER(32,false));";
/// The column of a trace with recorded latencies.
const LATENCY: &str = "required int64 latency_ns (INTEGER(64,false));";
/// The column of a trace with processes.
const PROCESS: &str = "required int32 process (INTEGER(32,false));";
/// The columns of a trace with hints.
const HINT: &str = "required int32 pc (INTEGER(32,false)); required binary pattern (STRING); \
                    required int32 run_pages (INTEGER(32,false)); required int32 period (INTEGER(32,false));";
/// The column of a trace with predicted mappings.
const MAPPINGS: &str = "required int32 mappings (INTEGER(16,false));";
/// The columns of a trace with files and call stacks.
const ORIGIN: &str = "required int32 file (INTEGER(32,false)); required int32 file_page (INTEGER(32,false)); \
                      required int32 stack (INTEGER(32,false));";

/// Key of the version of the schema.
const VERSION_KEY: &str = "nandlab.trace.version";
/// Version that is written, and the highest that is read.
const VERSION: u32 = 1;
/// Key of the tools that made the trace: a JSON array of steps.
const STEPS_KEY: &str = "nandlab.trace.steps";
/// Key of the files, call stacks and modules that the columns file and stack name: JSON.
const RECORDING_KEY: &str = "nandlab.trace.recording";
/// Key of the number of requests.
const REQUESTS_KEY: &str = "nandlab.trace.requests";
/// Key of the checksums of the columns and of the other keys: JSON.
const SUMS_KEY: &str = "nandlab.trace.crc32";
/// How the name of the program ends that wrote a file with them: other software hands keys on, with other rows.
const SUMMED: &str = " with checksums";
/// Key of the units, in words.
const UNITS_KEY: &str = "nandlab.trace.units";
const UNITS: &str = "time_ns: nanoseconds from any zero; device: number of the address space; op: R(ead), W(rite), \
                     D(iscard), F(lush); offset and length: bytes; latency_ns: of the recorded device, 0 = not recorded; \
                     process: who asked, 0 = not recorded; pc: program location, 0 = unknown; pattern: \
                     s(equential), l(ooping), c(lustered hot), r(andom or unknown); run_pages: predicted run length in \
                     pages; period: accesses between repeats; mappings: predicted to be needed from the first page \
                     on, 0 = unknown; file and stack: ids in nandlab.trace.recording, 0 = unknown; \
                     file_page: first page of 4096 bytes in the file";

/// Requests of a row group: what a writer holds in memory, and what readers work on in parallel.
const GROUP_ROWS: usize = 1 << 18;
