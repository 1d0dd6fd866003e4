//! filter - The requests that have certain properties; all that are asked for must hold
//!
//! A flush has no address: conditions on offset and length drop it.

use nandlab::types::HostOp;

use super::{Counts, Flow, Tool, counts};
use crate::row::TraceRecord;

/// What is kept; an empty list or an open end of a range keeps everything.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Operations.
    pub ops: Vec<HostOp>,
    /// Devices.
    pub devices: Vec<u32>,
    /// First bytes, both ends included.
    pub offset: (u64, u64),
    /// Bytes, both ends included.
    pub length: (u64, u64),
    /// Recorded times in ns, both ends included.
    pub time_ns: (u64, u64),
    /// Requests dropped so far.
    pub dropped: u64,
}

impl Default for Filter {
    /// Everything.
    fn default() -> Self {
        let all = (0, u64::MAX);
        Self { ops: Vec::new(), devices: Vec::new(), offset: all, length: all, time_ns: all, dropped: 0 }
    }
}

impl Filter {
    fn keeps(&self, record: &TraceRecord) -> bool {
        let within = |(low, high): (u64, u64), value| (low..=high).contains(&value);
        let all = (0, u64::MAX);
        let addressed = if record.op == HostOp::Flush {
            self.offset == all && self.length == all
        } else {
            within(self.offset, record.offset) && within(self.length, u64::from(record.length))
        };
        addressed
            && (self.ops.is_empty() || self.ops.contains(&record.op))
            && (self.devices.is_empty() || self.devices.contains(&record.device))
            && within(self.time_ns, record.at.0)
    }
}

impl Tool for Filter {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        if self.keeps(record) {
            out.push(*record);
        } else {
            self.dropped += 1;
        }
        Ok(Flow::More)
    }
    fn counts(&self) -> Counts {
        counts([("requests_dropped", self.dropped)])
    }
}
