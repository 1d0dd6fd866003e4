//! Counts of whole numbers, in bounded memory.

/// Significant binary digits that are kept.
const DIGITS: u32 = 11;
/// Buckets of one power of two.
const HALF: u64 = 1 << (DIGITS - 1);

/// How often each value occurred. Values are rounded down to 11 significant binary digits, which makes them at most
/// 0.1 % too small; a value that needs no more digits (all up to 2,048, all multiples of 512 up to 1 MiB, every power
/// of two) is exact. Count, sum, least and greatest value are exact. At most 440 KiB of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// One for each bucket up to the greatest value.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        Self { counts: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }
}

impl Distribution {
    /// Counts a value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let bucket = bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
    /// Values counted.
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// Mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
    /// Least value; `None` without values.
    pub fn min(&self) -> Option<u64> {
        (self.count > 0).then_some(self.min)
    }
    /// Greatest value; `None` without values.
    pub fn max(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max)
    }
    /// The least value that `part` of 10,000 of all values do not exceed (5,000: the median), rounded down like all;
    /// `None` without values.
    pub fn quantile(&self, part: u32) -> Option<u64> {
        let rank = (u128::from(self.count) * u128::from(part)).div_ceil(10_000).max(1) as u64;
        let mut seen = 0;
        self.iter().find_map(|(value, count)| {
            seen += count;
            (seen >= rank).then(|| value.max(self.min))
        })
    }
    /// Values less than `limit`; exact if `limit` has at most 11 significant binary digits, else less than `limit`
    /// rounded down.
    pub fn below(&self, limit: u64) -> u64 {
        self.counts.iter().take(bucket(limit)).sum()
    }
    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Self) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
    /// Rounded values and how often each occurred, from the least.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let occurred = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        occurred.map(|(bucket, count)| (value(bucket), *count))
    }
    /// Kolmogorov-Smirnov distance: the greatest difference between the two shares of values up to the same value, 0 to
    /// 1. `None` if one of the two has no values and the other has.
    pub fn distance(&self, other: &Self) -> Option<f64> {
        match (self.count, other.count) {
            (0, 0) => return Some(0.0),
            (0, _) | (_, 0) => return None,
            _ => {}
        }
        let at = |counts: &[u64], i: usize| counts.get(i).copied().unwrap_or(0);
        let (mut mine, mut theirs, mut greatest) = (0, 0, 0.0f64);
        for i in 0..self.counts.len().max(other.counts.len()) {
            mine += at(&self.counts, i);
            theirs += at(&other.counts, i);
            let difference = mine as f64 / self.count as f64 - theirs as f64 / other.count as f64;
            greatest = greatest.max(difference.abs());
        }
        Some(greatest)
    }
}

#[inline]
const fn bucket(value: u64) -> usize {
    if value < 2 * HALF {
        return value as usize;
    }
    let shift = value.ilog2() + 1 - DIGITS;
    (shift as u64 * HALF + (value >> shift)) as usize
}

/// Least value of a bucket.
const fn value(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * HALF {
        return bucket;
    }
    let shift = bucket / HALF - 1;
    (bucket - shift * HALF) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_its_first_eleven_binary_digits() {
        for value_ in (0..64).flat_map(|shift| [1 << shift, 3 << shift, (1 << shift) - 1, u64::MAX >> shift]) {
            let kept = if value_ == 0 { 0 } else { u64::MAX << (value_.ilog2() + 1).saturating_sub(DIGITS) };
            assert_eq!(value(bucket(value_)), value_ & kept, "{value_}");
        }
        let mut last = None;
        for bucket in 0..=bucket(u64::MAX) {
            assert!(last < Some(value(bucket)), "{bucket}");
            last = Some(value(bucket));
        }
    }

    #[test]
    fn quantiles_and_distances_are_those_of_a_sorted_list() {
        let of = |values: &[u64]| {
            let mut d = Distribution::default();
            for value in values {
                d.record(*value);
            }
            d
        };
        let d = of(&[5, 1, 9, 7, 3]);
        assert_eq!([0, 2_000, 2_001, 5_000, 9_999, 10_000].map(|part| d.quantile(part)), [1, 1, 3, 5, 9, 9].map(Some));
        assert_eq!((d.below(5), d.below(10), d.mean()), (2, 5, Some(5.0)));
        assert_eq!(d.distance(&of(&[5, 1, 9, 7, 3, 3, 1, 5, 7, 9])), Some(0.0));
        assert_eq!(d.distance(&of(&[1, 1, 1, 1])), Some(0.8));
        assert_eq!((d.distance(&of(&[])), of(&[]).distance(&of(&[])), of(&[]).quantile(1)), (None, Some(0.0), None));
        let mut both = of(&[5, 1]);
        both.merge(&of(&[9, 7, 3]));
        assert_eq!(both, d);
    }
}
