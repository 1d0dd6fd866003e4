//! Columns in Apache Parquet: `time_ns, device, op, offset, length`, nandlab's own compact form.
//!
//! - `time_ns`: nanoseconds from any zero (uint64). device: number of the address space (uint32). op: R(ead), W(rite),
//!   D(iscard) or F(lush) as text. offset (uint64) and length (uint32): bytes.
//! - Four more columns may follow, with what the host tells about the request: pc (uint32, program location, 0 =
//!   unknown), pattern (text: s = sequential, l = looping, c = clustered hot, r = random or unknown), `run_pages`
//!   (uint32, predicted run length in pages), period (uint32, accesses between repeats).
//! - Three more may follow, with what a recorder saw: file and stack (uint32, ids of the file and of the call stack, 0 =
//!   unknown; their names and frames are in the metadata, `nandlab.trace.recording`, JSON) and `file_page` (uint32, the
//!   first page of 4096 bytes in the file).
//! - `nandlab trace convert` writes it. A file from elsewhere is a trace if it has these columns in any order, as whole
//!   numbers of any size (texts for op and pattern), uncompressed, zstd or snappy; further columns are ignored.
//! - The metadata of the file says which tools made it (`nandlab.trace.steps`, JSON), its version, requests and units, and has
//!   a checksum of each column (`nandlab.trace.crc32`, JSON), which is compared when all rows have been read.
//! - Its index is at its end: it is read from a file, never from a pipe. Pipe text instead.
//!
//! Source: this project; the Parquet format specification of the Apache Software Foundation.

use crate::registry::{Format, Head, Parser, Sniff};
use crate::row::Extra;

/// The first and the last four bytes.
const MAGIC: &[u8] = b"PAR1";

pub(crate) const FORMAT: Format = Format {
    name: "parquet",
    title: "Parquet columns (from `nandlab trace convert`)",
    extensions: &["parquet"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Columns,
};

fn sniff(head: &Head) -> Sniff {
    if head.bytes.starts_with(MAGIC) {
        return Sniff::Yes("because it begins with PAR1, as Parquet files do".to_owned());
    }
    Sniff::No
}
