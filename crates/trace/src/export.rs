//! Traces in the formats of other tools, so that a real drive and other simulators can run the same requests.
//!
//! What a format has no place for is counted, and what it cannot say at all is refused, with the tool that fixes it.

use std::collections::BTreeMap;

use nandlab::types::{HostOp, SECTOR_BYTES};

use crate::row::{Extra, Origin, TraceRecord};

/// Writes requests in some format.
pub(crate) trait Export: Send {
    /// What the format has a place for besides time, device, operation and range.
    fn place(&self) -> Extra {
        Extra::NONE
    }
    /// Times count from the first request, so that none may lie before it.
    fn counts_from_first(&self) -> bool {
        true
    }
    /// Writes what comes before the first request.
    fn begin(&mut self, _out: &mut Vec<u8>) {}
    /// Writes a request, `at` ns after the first (0 for those before it, where times do not count from there).
    ///
    /// # Errors
    /// The format cannot say it: why, and what to do.
    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, lost: &mut Lost) -> Result<(), String>;
    /// Writes what comes after the last request.
    fn end(&mut self, _out: &mut Vec<u8>) {}
}

/// What the format had no place for, so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Lost {
    /// Times that were rounded down to the unit of the format.
    rounded: u64,
    pub(crate) writes_as_accesses: u64,
    latencies: u64,
    latencies_rounded: u64,
    /// Requests that are none in the format.
    pub(crate) requests: u64,
    processes: u64,
    hints: u64,
    origins: u64,
}

impl Lost {
    /// Whole units of that many ns.
    pub(crate) fn whole(&mut self, at: u64, unit: u64) -> u64 {
        self.rounded += u64::from(!at.is_multiple_of(unit));
        at / unit
    }

    /// The same of a latency.
    pub(crate) fn whole_latency(&mut self, latency: u64, unit: u64) -> u64 {
        self.latencies_rounded += u64::from(!latency.is_multiple_of(unit));
        latency / unit
    }

    /// Counts what a request carries and the format does not.
    pub(crate) fn count(&mut self, record: &TraceRecord, place: Extra) {
        self.latencies += u64::from(record.latency_ns > 0 && !place.latency);
        self.processes += u64::from(record.process > 0 && !place.process);
        let blank = nandlab::types::Hint { mappings: 0, ..record.hint } == nandlab::types::Hint::default();
        self.hints += u64::from(!blank && !place.hints || record.hint.mappings > 0 && !place.mappings);
        self.origins += u64::from(record.origin != Origin::default() && !place.origin);
    }

    /// By kind; kinds with zero are left out.
    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        let kinds = [
            ("times_rounded_down", self.rounded),
            ("writes_become_accesses", self.writes_as_accesses),
            ("latencies_left_out", self.latencies),
            ("latencies_rounded_down", self.latencies_rounded),
            ("requests_left_out", self.requests),
            ("processes_left_out", self.processes),
            ("hints_left_out", self.hints),
            ("files_and_stacks_left_out", self.origins),
        ];
        kinds.into_iter().filter(|(_, n)| *n > 0).map(|(kind, n)| (kind.to_owned(), n)).collect()
    }
}

/// First sector and sectors of a request.
///
/// # Errors
/// It begins or ends inside a sector.
pub(crate) fn whole_sectors(record: &TraceRecord) -> Result<(u64, u64), String> {
    if record.is_rounded() {
        let (offset, length) = (record.offset, record.length);
        return Err(format!(
            "offset {offset} and length {length} are not whole sectors; widen them: nandlab trace remap --align 512"
        ));
    }
    Ok((record.offset / SECTOR_BYTES, u64::from(record.length) / SECTOR_BYTES))
}

/// True for a read.
///
/// # Errors
/// It is neither a read nor a write.
pub(crate) fn is_read(record: &TraceRecord) -> Result<bool, String> {
    match record.op {
        HostOp::Read => Ok(true),
        HostOp::Write => Ok(false),
        HostOp::Trim | HostOp::Flush => {
            Err("there are only reads and writes; leave discards and flushes out: nandlab trace filter --op R,W"
                .to_owned())
        }
    }
}
