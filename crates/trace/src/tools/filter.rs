//! filter - The requests that have certain properties; all that are asked for must hold
//!
//! A flush has no address: conditions on offset and length drop it.

use std::ops::RangeInclusive;

use nandlab::types::HostOp;

use super::{Counts, Flow, Tool, counts};
use crate::row::TraceRecord;

/// What is kept; an empty list or no range keeps everything.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Operations.
    pub ops: Vec<HostOp>,
    /// Devices.
    pub devices: Vec<u32>,
    /// First bytes.
    pub offset: Option<RangeInclusive<u64>>,
    /// Bytes.
    pub length: Option<RangeInclusive<u64>>,
    /// Recorded times in ns.
    pub time_ns: Option<RangeInclusive<u64>>,
    /// Requests dropped so far.
    pub dropped: u64,
}

impl Filter {
    fn keeps(&self, record: &TraceRecord) -> bool {
        let address = |value| (record.op != HostOp::Flush).then_some(value);
        let within = |range: &Option<RangeInclusive<u64>>, value: Option<u64>| {
            range.as_ref().is_none_or(|range| value.is_some_and(|value| range.contains(&value)))
        };
        (self.ops.is_empty() || self.ops.contains(&record.op))
            && (self.devices.is_empty() || self.devices.contains(&record.device))
            && within(&self.offset, address(record.offset))
            && within(&self.length, address(record.length.into()))
            && within(&self.time_ns, Some(record.at.0))
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
