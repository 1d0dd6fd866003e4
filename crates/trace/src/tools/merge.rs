//! merge - Several traces into one, by time
//!
//! Of the next request of each trace the one with the earliest time comes first; of equal times the trace that was named
//! first. A trace that is out of order in itself stays so; if times count from its first request, a row that is recorded
//! before that one has time 0. Each device of each trace becomes a device of its own, with numbers from 0 in order of first
//! appearance (of first requests: in the order of the traces), unless devices are kept: then equal numbers are one device.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use nandlab::types::Nanos;

use crate::error::TraceError;
use crate::policy::DEVICES_MAX;
use crate::records::Records;
use crate::row::TraceRecord;
use crate::times::Timed;

struct Source {
    rows: Timed,
    head: Option<TraceRecord>,
    origin_ns: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// No trace has been read yet.
    New,
    Begun,
    /// It has ended, or broken.
    Done,
}

/// The `merge` tool: several traces as one, in order of time.
pub struct Merge {
    sources: Vec<Source>,
    /// Times of the heads, and whose they are.
    heads: BinaryHeap<Reverse<(u64, usize)>>,
    devices: BTreeMap<(usize, u32), u32>,
    keep_devices: bool,
    from_zero: bool,
    state: State,
}

impl Merge {
    /// Merges traces. `from_zero`: the times of each count from its first request.
    pub fn new(traces: Vec<Timed>, keep_devices: bool, from_zero: bool) -> Self {
        let sources = traces.into_iter().map(|rows| Source { rows, head: None, origin_ns: None }).collect();
        let (heads, devices) = (BinaryHeap::new(), BTreeMap::new());
        Self { sources, heads, devices, keep_devices, from_zero, state: State::New }
    }

    /// Devices of the merged trace so far, unless they are kept.
    pub fn devices(&self) -> u64 {
        self.devices.len() as u64
    }

    /// The traces that are merged.
    pub fn records(&self) -> impl Iterator<Item = &Records> {
        self.sources.iter().map(|source| source.rows.records())
    }

    /// Reads the next request of a trace.
    fn pull(&mut self, index: usize) -> Result<(), TraceError> {
        let source = &mut self.sources[index];
        source.head = source.rows.next().transpose()?;
        let Some(head) = &mut source.head else { return Ok(()) };
        if self.from_zero {
            let origin = *source.origin_ns.get_or_insert(head.at.0);
            head.at = Nanos(head.at.0.saturating_sub(origin));
        }
        self.heads.push(Reverse((head.at.0, index)));
        if !self.keep_devices {
            let next = self.devices.len();
            let device = *self.devices.entry((index, head.device)).or_insert(next as u32);
            if self.devices.len() > DEVICES_MAX {
                let (name, place) = source.rows.whereabouts();
                return Err(TraceError::TooManyDevices { name, place, max: DEVICES_MAX });
            }
            head.device = device;
        }
        Ok(())
    }

    fn advance(&mut self) -> Result<Option<TraceRecord>, TraceError> {
        if self.state == State::New {
            self.state = State::Begun;
            for index in 0..self.sources.len() {
                self.pull(index)?;
            }
        }
        let Some(Reverse((_, index))) = self.heads.pop() else { return Ok(None) };
        let record = self.sources[index].head;
        self.pull(index)?;
        Ok(record)
    }
}

impl Iterator for Merge {
    type Item = Result<TraceRecord, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state == State::Done {
            return None;
        }
        let next = self.advance();
        if !matches!(next, Ok(Some(_))) {
            self.state = State::Done;
        }
        next.transpose()
    }
}
