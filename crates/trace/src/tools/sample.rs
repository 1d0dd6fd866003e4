//! sample - A part of a trace that is like the whole
//!
//! By space (the default): the address space is divided into units, each unit is kept or dropped by a hash of its device
//! and number, and of every request those parts are kept that lie in kept units. So every access to a kept unit is
//! there and none to a dropped one: reuse counts of a unit are exact, reuse distances and footprints shrink by the rate,
//! and the miss ratio of a cache is estimated by a cache scaled by the rate. Request sizes above the unit, sequential
//! runs across units and requests per second do not survive; larger units keep more of the runs and vary more.
//! By device: whole devices, with all that happens on them. By request: each by itself; sizes, the mix of operations and
//! the popularity of addresses survive in proportion, reuse distances do not.
//!
//! Times are never changed. The same seed keeps the same units in every trace, and what a lower rate keeps is a part of
//! what a higher one keeps. Requests without address (flushes) are sampled by their number.
//!
//! Source: Waldspurger, Park, Garthwaite, Ahmad: Efficient MRC Construction with SHARDS, FAST 2015, section 3.1 (keep a
//! reference if hash(L) mod P < T). Chosen here: P = 2^64, the unit is not always a block, and a request of several units
//! is several references.

use nandlab::types::HostOp;

use super::{Counts, Flow, Ratio, Tool, counts};
use crate::generators::random::SplitMix;
use crate::row::TraceRecord;

/// What is kept or dropped as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleBy {
    /// Units of this many bytes.
    Space(u64),
    /// Devices.
    Device,
    /// Requests.
    Request,
}

/// The `sample` tool: keeps a share of a trace, by space, by device or by request.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Hashes below are kept; 2^64 keeps everything.
    threshold: u128,
    seed: u64,
    by: SampleBy,
    number: u64,
    dropped: u64,
    clipped: u64,
}

impl Sample {
    /// Keeps a share `rate` (0 to 1) of what `by` says.
    ///
    /// # Errors
    /// The rate is above 1, or the unit is 0.
    pub fn new(rate: Ratio, seed: u64, by: SampleBy) -> Result<Self, String> {
        if rate.numerator > rate.denominator {
            return Err("the rate is a share from 0 to 1".to_owned());
        }
        if by == SampleBy::Space(0) {
            return Err("a unit has at least 1 byte".to_owned());
        }
        let threshold = (u128::from(rate.numerator) << 64) / u128::from(rate.denominator);
        Ok(Self { threshold, seed, by, number: 0, dropped: 0, clipped: 0 })
    }

    fn keeps(&self, kind: u64, device: u32, unit: u64) -> bool {
        let mix = |seed: u64, value: u64| SplitMix(seed ^ value).next();
        let hash = mix(mix(mix(self.seed, kind), u64::from(device)), unit);
        u128::from(hash) < self.threshold
    }

    fn keeps_whole(&self, record: &TraceRecord) -> bool {
        match self.by {
            SampleBy::Device => self.keeps(1, record.device, 0),
            _ => self.keeps(2, 0, self.number),
        }
    }

    /// The parts of a request in kept units.
    fn clip(&mut self, record: &TraceRecord, unit: u64, out: &mut Vec<TraceRecord>) {
        let end = record.offset + u64::from(record.length);
        let before = out.len();
        let mut at = record.offset;
        loop {
            let number = at / unit;
            let next = end.min((number + 1).saturating_mul(unit));
            if self.keeps(0, record.device, number) {
                match out.get_mut(before..).and_then(<[_]>::last_mut) {
                    Some(part) if part.offset + u64::from(part.length) == at => part.length += (next - at) as u32,
                    _ => out.push(record.part(at, next - at)),
                }
            }
            at = next;
            if at >= end {
                break;
            }
        }
        let kept: u64 = out[before..].iter().map(|part| u64::from(part.length)).sum();
        self.dropped += u64::from(out.len() == before);
        self.clipped += u64::from(out.len() > before && kept < u64::from(record.length));
    }
}

impl Tool for Sample {
    fn feed(&mut self, record: &TraceRecord, out: &mut Vec<TraceRecord>) -> Result<Flow, String> {
        self.number += 1;
        match self.by {
            SampleBy::Space(unit) if record.op != HostOp::Flush => self.clip(record, unit, out),
            _ if self.keeps_whole(record) => out.push(*record),
            _ => self.dropped += 1,
        }
        Ok(Flow::More)
    }
    fn counts(&self) -> Counts {
        counts([("requests_dropped", self.dropped), ("requests_clipped", self.clipped)])
    }
}
