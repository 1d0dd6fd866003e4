//! disksim - The synthetic generator of DiskSim: sequential, local and other requests
//!
//! # Source
//! Bucy, Schindler, Schlosser, Ganger: The DiskSim Simulation Environment Version 4.0 Reference Manual (CMU-PDL-08-101),
//! section 4.2, and, where it is silent, what `disksim_synthio.c` does. One generator with one device.
//!
//! # What it does
//! Each request is sequential with chance `sequential`, local with chance `local`, else general.
//! - A sequential request begins where the one before ended and **inherits its size and direction**. If it does not fit
//!   before the end of the device, a general request is made.
//! - A local request begins at a distance drawn from `distance`, counted from the *beginning* of the request before;
//!   size and direction are drawn again.
//! - A general request begins at an even place; size and direction are drawn.
//! - Sizes are rounded up to the blocking factor; sizes of nothing and places outside of the device are drawn again.
//!
//! # Parameters
//! The last five are distributions: `uniform@MIN@MAX`, `normal@MEAN@DEVIATION` (standard deviation), `exponential@BASE@MEAN`
//! (base plus an exponential of this mean), `poisson@BASE@MEAN`, `twovalue@DEFAULT@SECOND@PROBABILITY` (of the second).
//! Negative times are drawn again.
//!
//! # Deviations and chosen readings
//! - `normal` takes a standard deviation, as the parameter files of version 4.0; versions up to 3.0 read a variance.
//! - Time-critical and time-limited requests are not marked: they wait for answers, which a trace cannot.
//! - Random numbers are those of nandlab, not `drand48`, so that the statistics agree and not the requests.
//! - After 1,000 failed draws (sizes or distances that hardly ever fit) a request of one block at the beginning is
//!   made.

use nandlab::error::ConfigError;
use nandlab::types::{Bytes, HostOp, Pattern, SECTOR_BYTES};

use super::random::{Chance, Exponential, SplitMix};
use super::{Context, RequestStream, within, wrong};
use crate::row::{REQUEST_BYTES_MAX, TraceRecord};

/// Draws until a value must fit.
const TRIES: u32 = 1000;

nandlab::params! {
    pub struct Params {
        /// Storage capacity of the device, at least two blocks.
        span: Bytes = Bytes::mib(4096);
        /// Blocking factor, whole sectors.
        block: Bytes = Bytes::kib(4), in Bytes(SECTOR_BYTES)..=Bytes::mib(1);
        /// Probability of sequential access.
        sequential: f64 = 0.3, in 0.0..=1.0;
        /// Probability of local access; the two together are at most 1.
        local: f64 = 0.2, in 0.0..=1.0;
        /// Probability of read access.
        reads: f64 = 0.66, in 0.0..=1.0;
        /// Inter-arrival times of random accesses.
        general_gap: String = "exponential@0@1".to_owned(), "ms";
        /// Inter-arrival times of sequential accesses.
        sequential_gap: String = "exponential@0@1".to_owned(), "ms";
        /// Inter-arrival times of local accesses.
        local_gap: String = "exponential@0@1".to_owned(), "ms";
        /// Local distances.
        distance: String = "normal@0@10000".to_owned(), "sectors";
        /// Sizes of requests.
        size: String = "exponential@0@16".to_owned(), "sectors";
    }
}

struct DiskSim {
    random: SplitMix,
    exponential: Exponential,
    /// Blocks of the device and sectors of a block.
    blocks: i64,
    block_sectors: i64,
    sequential: f64,
    local: f64,
    reads: Chance,
    /// General, sequential, local.
    gaps: [Distribution; 3],
    distance: Distribution,
    size: Distribution,
    /// The request before: time in ns, first block, blocks, direction.
    now_ns: u64,
    block: i64,
    count: i64,
    op: HostOp,
}

/// Builds the generator.
///
/// # Errors
/// A parameter is out of range.
pub fn build(params: &Params, context: Context) -> Result<RequestStream, ConfigError> {
    let block = params.block.0;
    if !block.is_multiple_of(SECTOR_BYTES) {
        let help = "use whole sectors of 512 B";
        return Err(wrong("block", format!("{} cannot be the blocking factor", params.block), help));
    }
    let blocks = within("span", params.span.0, 2 * block, 1 << 60)? / block;
    if params.sequential + params.local > 1.0 {
        let problem = format!("{} and sequential={} are more than 1 together", params.local, params.sequential);
        return Err(wrong("local", problem, "use shares whose sum is at most 1"));
    }
    let gap = |key, text: &str| {
        let distribution = Distribution::parse(key, text)?;
        if distribution.can_be_positive() {
            return Ok(distribution);
        }
        let help =
            if key == "size" { "use a distribution of sizes in sectors" } else { "use a distribution of times in ms" };
        Err(wrong(key, format!("`{text}` is never above 0"), help))
    };
    let gaps = [
        gap("general_gap", &params.general_gap)?,
        gap("sequential_gap", &params.sequential_gap)?,
        gap("local_gap", &params.local_gap)?,
    ];
    Ok(Box::new(DiskSim {
        random: SplitMix(context.seed),
        exponential: Exponential::new(),
        blocks: blocks.cast_signed(),
        block_sectors: (block / SECTOR_BYTES).cast_signed(),
        sequential: params.sequential,
        local: params.local,
        reads: Chance::new(params.reads),
        gaps,
        distance: Distribution::parse("distance", &params.distance)?,
        size: gap("size", &params.size)?,
        now_ns: 0,
        block: 0,
        count: 0,
        op: HostOp::Read,
    }))
}

impl DiskSim {
    /// Time until the next request; below 0 is drawn again.
    fn pass(&mut self, kind: usize) {
        let gap = self.gaps[kind];
        let ms = (0..TRIES).map(|_| gap.draw(&mut self.random, &self.exponential)).find(|ms| *ms >= 0.0);
        self.now_ns = self.now_ns.saturating_add((ms.unwrap_or(0.0) * 1e6) as u64);
    }

    fn direction(&mut self) {
        self.op = if self.random.chance(self.reads) { HostOp::Read } else { HostOp::Write };
    }

    /// A request at a drawn place, with a drawn size: the first draw that fits into the device.
    fn fitting(&mut self, place: impl Fn(&mut Self) -> i64) {
        let limit = (REQUEST_BYTES_MAX / SECTOR_BYTES).cast_signed() / self.block_sectors;
        for _ in 0..TRIES {
            let block = place(self);
            let sectors = self.size.draw(&mut self.random, &self.exponential) as i64;
            let count = sectors.saturating_add(self.block_sectors - 1).div_euclid(self.block_sectors);
            if block >= 0 && (1..=limit).contains(&count) && block.saturating_add(count) < self.blocks {
                (self.block, self.count) = (block, count);
                return;
            }
        }
        (self.block, self.count) = (0, 1);
    }
}

impl Iterator for DiskSim {
    type Item = TraceRecord;

    #[inline]
    fn next(&mut self) -> Option<TraceRecord> {
        let kind = self.random.unit();
        let first = self.count == 0;
        let mut pattern = Pattern::Random;
        if !first && kind < self.sequential && self.block + 2 * self.count < self.blocks {
            self.pass(1);
            self.block += self.count;
            pattern = Pattern::Sequential;
        } else if !first && kind >= self.sequential && kind < self.sequential + self.local {
            self.pass(2);
            let from = self.block;
            self.fitting(|this| {
                let distance = this.distance.draw(&mut this.random, &this.exponential) as i64;
                from.saturating_add(distance / this.block_sectors)
            });
            self.direction();
        } else {
            self.pass(0);
            self.fitting(|this| this.random.below(this.blocks.cast_unsigned()).cast_signed());
            self.direction();
        }
        let bytes = |blocks: i64| (blocks * self.block_sectors).cast_unsigned() * SECTOR_BYTES;
        let mut record = TraceRecord::plain(self.now_ns, self.op, bytes(self.block), bytes(self.count));
        record.hint.pattern = pattern;
        Some(record)
    }
}

/// A distribution of DiskSim, drawn with exact arithmetic only.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Distribution {
    Uniform(f64, f64),
    Normal(f64, f64),
    Exponential(f64, f64),
    Poisson(f64, f64),
    TwoValue(f64, f64, f64),
}

impl Distribution {
    fn parse(key: &str, text: &str) -> Result<Self, ConfigError> {
        let mut parts = text.split('@');
        let name = parts.next().unwrap_or("");
        let numbers: Vec<f64> = parts.map(|part| part.parse().unwrap_or(f64::NAN)).collect();
        let fine = numbers.iter().all(|number| number.abs() <= 1e15);
        match (name, &numbers[..]) {
            ("uniform", &[low, high]) if fine && low < high => Ok(Self::Uniform(low, high)),
            ("normal", &[mean, deviation]) if fine && deviation >= 0.0 => Ok(Self::Normal(mean, deviation)),
            ("exponential", &[base, mean]) if fine && mean >= 0.0 => Ok(Self::Exponential(base, mean)),
            ("poisson", &[base, mean]) if fine && (0.0..=1000.0).contains(&mean) => Ok(Self::Poisson(base, mean)),
            ("twovalue", &[usual, second, chance]) if fine && (0.0..=1.0).contains(&chance) => {
                Ok(Self::TwoValue(usual, second, chance))
            }
            _ => {
                let help = "use uniform@MIN@MAX, normal@MEAN@DEVIATION, exponential@BASE@MEAN, poisson@BASE@MEAN (mean up to \
                            1000) or twovalue@DEFAULT@SECOND@PROBABILITY, with MIN < MAX and no negative deviation or mean";
                Err(wrong(key, format!("`{text}` is not a distribution"), help))
            }
        }
    }

    /// Whether it ever gives more than 0.
    fn can_be_positive(self) -> bool {
        match self {
            Self::Uniform(_, high) => high > 0.0,
            Self::Normal(mean, deviation) => mean + 3.0 * deviation > 0.0,
            Self::Exponential(base, mean) | Self::Poisson(base, mean) => base + mean > 0.0,
            Self::TwoValue(usual, second, chance) => (usual > 0.0 && chance < 1.0) || (second > 0.0 && chance > 0.0),
        }
    }

    fn draw(self, random: &mut SplitMix, exponential: &Exponential) -> f64 {
        match self {
            Self::Uniform(low, high) => (high - low) * random.unit() + low,
            Self::Normal(mean, deviation) => deviation * normal(random, exponential) + mean,
            Self::Exponential(base, mean) => base + mean * exponential.draw_real(random),
            Self::Poisson(base, mean) => {
                // Events of a Poisson process of rate 1 in the time `mean`: one exponential gap after the other.
                let (mut time, mut events) = (exponential.draw_real(random), 0.0);
                while time <= mean {
                    time += exponential.draw_real(random);
                    events += 1.0;
                }
                base + events
            }
            Self::TwoValue(usual, second, chance) => {
                if random.unit() < chance {
                    second
                } else {
                    usual
                }
            }
        }
    }
}

/// The normal distribution of mean 0 and deviation 1 from exponentials by rejection (von Neumann), as in DiskSim. Of 100
/// draws 76 are accepted; the bound is never reached in practice.
fn normal(random: &mut SplitMix, exponential: &Exponential) -> f64 {
    for _ in 0..TRIES {
        let (y1, y2) = (exponential.draw_real(random), exponential.draw_real(random));
        if y2 > (y1 - 1.0) * (y1 - 1.0) / 2.0 {
            return if random.next() >> 63 == 0 { -y1 } else { y1 };
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(text: &str) -> (f64, f64) {
        let (distribution, exponential) = (Distribution::parse("size", text).unwrap(), Exponential::new());
        let (mut random, n) = (SplitMix(5), 200_000);
        let drawn: Vec<f64> = (0..n).map(|_| distribution.draw(&mut random, &exponential)).collect();
        let mean = drawn.iter().sum::<f64>() / f64::from(n);
        (mean, (drawn.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n)).sqrt())
    }

    #[test]
    fn distributions_have_their_means_and_deviations() {
        // Five standard errors of 200,000 draws are 1.2 % of a deviation.
        for (text, mean, deviation) in [
            ("uniform@-1@3", 1.0, (16.0f64 / 12.0).sqrt()),
            ("normal@10@4", 10.0, 4.0),
            ("exponential@5@2", 7.0, 2.0),
            ("poisson@1@9", 10.0, 3.0),
            ("twovalue@1@9@0.25", 3.0, 8.0 * 0.1875f64.sqrt()),
        ] {
            let (got_mean, got_deviation) = moments(text);
            assert!((got_mean - mean).abs() < 0.012 * deviation, "{text}: mean {got_mean}");
            assert!((got_deviation / deviation - 1.0).abs() < 0.02, "{text}: deviation {got_deviation}");
        }
    }

    #[test]
    fn sequential_requests_inherit_size_and_direction() {
        let params = Params { sequential: 0.5, local: 0.25, ..Params::default() };
        let records: Vec<_> = build(&params, Context::new(1)).unwrap().take(20_000).collect();
        let sequential = |record: &TraceRecord| record.hint.pattern == Pattern::Sequential;
        assert!((9_700..10_300).contains(&records.iter().filter(|record| sequential(record)).count()));
        for pair in records.windows(2).filter(|pair| sequential(&pair[1])) {
            assert_eq!(pair[1].offset, pair[0].offset + u64::from(pair[0].length));
            assert_eq!((pair[1].length, pair[1].op), (pair[0].length, pair[0].op));
        }
        assert!(records.iter().all(|record| record.offset + u64::from(record.length) <= 4 << 30));
    }
}
