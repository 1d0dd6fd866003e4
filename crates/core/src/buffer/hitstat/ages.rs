//! HitStat's age transformation: the ages at which groups were hit lately, sorted and cut into
//! ranges of equal counts, turn the age of a group into its rank.
//!
//! With `n` ages sorted and `k = min(levels - 1, n)`, cut `i` of `k` is entry `ceil(i n / k)`, counted from 1. An age up
//! to the first cut has rank `k + 1`, beyond the last cut 1.

use super::Params;

/// A log of the latest ages at which groups were hit, and the cuts that turn an age into a rank.
#[derive(Clone, Debug)]
pub(super) struct Ages {
    /// A ring once it is full.
    log: Vec<u32>,
    capacity: usize,
    /// Where the next age goes when the ring is full: the oldest entry.
    next: usize,
    /// Ascending, for this many levels, of the log as it was: 0 levels if an age came since.
    cuts: Vec<u32>,
    cut_levels: u32,
    sorted: Vec<u32>,
}

impl Ages {
    /// The ages to start with.
    pub fn new(params: &Params) -> Self {
        let capacity = params.hit_log_len as usize;
        let mut ages = Self { log: Vec::new(), capacity, next: 0, cuts: Vec::new(), cut_levels: 0, sorted: Vec::new() };
        params.initial_log.iter().for_each(|age| ages.push(*age));
        ages
    }
    /// A group was hit at this age.
    pub fn push(&mut self, age: u32) {
        if self.log.len() < self.capacity {
            self.log.push(age);
        } else {
            self.log[self.next] = age;
            self.next = (self.next + 1) % self.capacity;
        }
        self.cut_levels = 0;
    }
    /// Cuts the log again if need be.
    pub fn cut(&mut self, levels: u32) {
        if self.cut_levels == levels {
            return;
        }
        self.cut_levels = levels;
        self.sorted.clone_from(&self.log);
        self.sorted.sort_unstable();
        let ages = self.sorted.len();
        let cuts = ages.min(levels as usize - 1);
        self.cuts.clear();
        self.cuts.extend((1..=cuts).map(|i| self.sorted[(i * ages).div_ceil(cuts) - 1]));
    }
    /// The rank of an age by the last cut.
    #[inline]
    pub fn rank(&self, age: u32) -> u32 {
        (self.cuts.len() + 1 - self.cuts.partition_point(|cut| *cut < age)) as u32
    }
    /// The ages, oldest first, and their cuts for this many levels.
    pub fn golden(&self, levels: u32) -> (Vec<u32>, Vec<u32>) {
        let mut ages = self.clone();
        ages.cut(levels);
        ages.log.rotate_left(ages.next);
        (ages.log, ages.cuts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(hit_log_len: u32, initial_log: Vec<u32>) -> Ages {
        Ages::new(&Params { hit_log_len, initial_log, ..Params::default() })
    }

    #[test]
    fn ranks_are_equal_portions_of_the_log() {
        // The thesis: 32 sorted ages and 9 levels give portions of 4 ages and 9 ranks.
        let mut ages = ages(32, (1..=32).rev().collect());
        ages.cut(9);
        let ranks: Vec<u32> = [0, 1, 4, 5, 8, 9, 28, 29, 32, 33].map(|age| ages.rank(age)).to_vec();
        assert_eq!(ranks, [9, 9, 9, 8, 8, 7, 3, 2, 2, 1]);
        ages.cut(1);
        assert_eq!([0, 32, 33].map(|age| ages.rank(age)), [1; 3], "one level tells no ages apart");
    }

    #[test]
    fn full_log_forgets_its_oldest_age() {
        let mut ages = ages(3, vec![9, 7]);
        for (age, log) in [(5, [9, 7, 5]), (3, [7, 5, 3]), (1, [5, 3, 1])] {
            ages.push(age);
            assert_eq!(ages.golden(3).0, log);
        }
        assert_eq!(ages.golden(3).1, [3, 5]);
        ages.cut(3);
        ages.push(100);
        ages.cut(3);
        assert_eq!(ages.rank(50), 1 + 1, "the new age counts at the next cut");
    }
}
