//! A set of times with its maximum in constant time.
//!
//! A bit for each time, above every 64 bits one that says whether there is any among them, and so on: of n times there
//! are log64(n) levels (five for a thousand million), and the upper ones stay in the processor's cache.

use prefetch_index::prefetch_index;

/// A set of numbers below a limit.
pub(super) struct Order {
    /// The bits themselves, then level by level up to a single word.
    levels: Vec<Vec<u64>>,
}

impl Order {
    /// An empty set of numbers below `limit`.
    pub fn new(limit: usize) -> Self {
        let mut levels = vec![vec![0; limit.div_ceil(64).max(1)]];
        while levels.last().is_some_and(|level| level.len() > 1) {
            let words = levels.last().map_or(1, Vec::len).div_ceil(64);
            levels.push(vec![0; words]);
        }
        Self { levels }
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, mut number: u32) {
        for level in &mut self.levels {
            let word = &mut level[number as usize / 64];
            let was_empty = *word == 0;
            *word |= 1 << (number % 64);
            if !was_empty {
                return;
            }
            number /= 64;
        }
    }

    /// Prefetches a number's bit; the number may be none.
    #[inline]
    pub fn look_ahead(&self, number: u32) {
        prefetch_index(&self.levels[0], number as usize / 64);
    }

    /// Takes a number out: true if it was in.
    #[inline]
    pub fn remove(&mut self, number: u32) -> bool {
        let word = &mut self.levels[0][number as usize / 64];
        let was_in = *word >> (number % 64) & 1 != 0;
        *word &= !(1 << (number % 64));
        if was_in && *word == 0 {
            self.empty(number / 64);
        }
        was_in
    }

    /// The word with this number has become empty.
    fn empty(&mut self, mut number: u32) {
        for level in &mut self.levels[1..] {
            let word = &mut level[number as usize / 64];
            *word &= !(1 << (number % 64));
            if *word != 0 {
                return;
            }
            number /= 64;
        }
    }

    /// Takes the greatest number out.
    #[inline]
    pub fn pop_max(&mut self) -> Option<u32> {
        let mut number = 0;
        for level in self.levels.iter().rev() {
            let word = level[number as usize];
            number = number * 64 + word.checked_ilog2()?;
        }
        self.remove(number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn order_is_the_same_set_as_a_tree() {
        for limit in [1u32, 64, 65, 4_096, 4_097, 300_000] {
            let (mut order, mut tree) = (Order::new(limit as usize), BTreeSet::new());
            let mut x = 1u64;
            for _ in 0..20_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let number = (x >> 33) as u32 % limit;
                match x >> 61 {
                    0..4 => {
                        order.insert(number);
                        tree.insert(number);
                    }
                    4..6 => {
                        assert_eq!(order.remove(number), tree.remove(&number));
                    }
                    _ => assert_eq!(order.pop_max(), tree.pop_last(), "{limit}"),
                }
            }
            while let Some(number) = tree.pop_last() {
                assert_eq!(order.pop_max(), Some(number));
            }
            assert_eq!(order.pop_max(), None);
        }
    }
}
