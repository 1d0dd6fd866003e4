//! Latency histogram: log-linear counts that merge exactly in any order.

use serde::{Deserialize, Serialize};

use crate::types::Nanos;

/// 32 sub-buckets by power of two: a bucket is at most 1/32 = 3.1 % wide.
const SUB_BITS: u32 = 5;
const SUB: usize = 1 << SUB_BITS;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUB;

/// A histogram of latencies in ns, log-linear: counts of two histograms add up exactly, in any order.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    max: u64,
    min: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, sum: 0, max: 0, min: u64::MAX }
    }
}

impl Histogram {
    /// Counts one duration.
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        let v = value.0;
        self.counts[bucket(v)] += 1;
        self.count += 1;
        self.sum += u128::from(v);
        // Seldom: most durations are neither.
        if v > self.max {
            self.max = v;
        }
        if v < self.min {
            self.min = v;
        }
    }
    /// Durations counted.
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// Exact mean in nanoseconds; 0 without durations.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }
    /// Exact sum in nanoseconds.
    pub const fn sum_ns(&self) -> u128 {
        self.sum
    }
    /// What is counted, ascending: the upper edge of each bucket that is not empty (never beyond the maximum) and its durations.
    pub fn buckets(&self) -> impl Iterator<Item = (Nanos, u64)> {
        let held = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        held.map(|(i, count)| (Nanos(upper_edge(i).clamp(self.min, self.max)), *count))
    }
    /// Exact maximum.
    pub const fn max(&self) -> Nanos {
        Nanos(self.max)
    }
    /// The duration that `percent` (to three decimals) of all are at most: the upper edge of its bucket (at most 3.1 % too
    /// large), never beyond the maximum. Zero without durations.
    pub fn percentile(&self, percent: f64) -> Nanos {
        if self.count == 0 {
            return Nanos::ZERO;
        }
        // Thousandths of a per cent, so that the rank is exact: in floating point 99.9 % of 20,000 are a little more than 19,980.
        let thousandths = u128::from((percent * 1_000.0).round() as u64);
        let rank = ((thousandths * u128::from(self.count)).div_ceil(100_000) as u64).clamp(1, self.count);
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Nanos(upper_edge(i).clamp(self.min, self.max));
            }
        }
        self.max()
    }
    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.min = self.min.min(other.min);
    }
}

#[inline]
const fn bucket(v: u64) -> usize {
    if v < SUB as u64 {
        return v as usize;
    }
    let shift = v.ilog2() - SUB_BITS;
    ((shift as usize + 1) << SUB_BITS) + ((v >> shift) as usize - SUB)
}

const fn upper_edge(bucket: usize) -> u64 {
    if bucket < SUB {
        return bucket as u64;
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let low = ((bucket & (SUB - 1)) + SUB) as u64;
    (((low as u128 + 1) << shift) - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_falls_into_a_bucket_that_contains_it() {
        for shift in 0..64 {
            for offset in [0u64, 1, 2] {
                let v = (1u64 << shift).wrapping_sub(1).saturating_add(offset);
                let b = bucket(v);
                assert!(upper_edge(b) >= v, "{v}");
                assert!(b == 0 || upper_edge(b - 1) < v, "{v}");
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_within_their_error() {
        let mut h = Histogram::default();
        (1..=10_000).for_each(|v| h.record(Nanos(v)));
        for p in [1.0, 50.0, 99.0, 99.9] {
            let exact = p * 100.0;
            let got = h.percentile(p).0 as f64;
            assert!(got >= exact && got <= exact * 1.032, "p{p}: {got}");
        }
        assert_eq!(h.percentile(100.0), Nanos(10_000));
        assert!((h.mean_ns() - 5000.5).abs() < 1e-9);
        assert_eq!(h.sum_ns(), 50_005_000);
    }

    #[test]
    fn buckets_are_those_of_the_percentiles() {
        let mut h = Histogram::default();
        (1..=1_000).for_each(|v| h.record(Nanos(v * v)));
        let buckets: Vec<_> = h.buckets().collect();
        assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), 1_000);
        assert!(buckets.is_sorted_by(|a, b| a.0 < b.0));
        assert_eq!(buckets.last().map(|(edge, _)| *edge), Some(h.max()));
        for percent in [0.1, 50.0, 99.9] {
            assert!(buckets.iter().any(|(edge, _)| *edge == h.percentile(percent)), "{percent}");
        }
    }
}
