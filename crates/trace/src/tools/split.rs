//! split - One trace into parts, by device, by number or by time
//!
//! Parts by number hold N requests each, the last one what is left. Parts by time hold a span each, counted from the
//! first request; a row that is recorded before the part that is being written stays in that part and is counted.

use crate::row::TraceRecord;

/// What a part is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitBy {
    /// All requests of a device; its number is the number of the device.
    Device,
    /// This many requests.
    Requests(u64),
    /// This many ns.
    TimeNs(u64),
}

/// The `split` tool: tells for each request which part of the trace it belongs to.
#[derive(Clone, Debug)]
pub struct Split {
    by: SplitBy,
    seen: u64,
    origin_ns: Option<u64>,
    part: u64,
    out_of_order: u64,
}

impl Split {
    /// Splits.
    ///
    /// # Errors
    /// Parts of no length.
    pub fn new(by: SplitBy) -> Result<Self, String> {
        if matches!(by, SplitBy::Requests(0) | SplitBy::TimeNs(0)) {
            return Err("a part has at least 1 request or 1 ns".to_owned());
        }
        Ok(Self { by, seen: 0, origin_ns: None, part: 0, out_of_order: 0 })
    }

    /// The number of the part of a request.
    pub fn part(&mut self, record: &TraceRecord) -> u64 {
        self.seen += 1;
        match self.by {
            SplitBy::Device => return u64::from(record.device),
            SplitBy::Requests(n) => self.part = (self.seen - 1) / n,
            SplitBy::TimeNs(ns) => {
                let origin = *self.origin_ns.get_or_insert(record.at.0);
                let part = record.at.0.saturating_sub(origin) / ns;
                self.out_of_order += u64::from(part < self.part);
                self.part = self.part.max(part);
            }
        }
        self.part
    }

    /// A part ends where the next one begins; parts by device are open until the end of the trace.
    pub fn is_serial(&self) -> bool {
        self.by != SplitBy::Device
    }

    /// Rows that came too late for their part.
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order
    }
}
