//! What the buffer flushed: logical blocks by their dirty pages, and the intervals between two flushes of the same one.

use crate::flash::Geometry;
use crate::types::Lbn;

/// Upper edges of the interval classes, in flushes; longer ones share a last class.
pub const INTERVALS: [u32; 28] = {
    let mut edges = [1; 28];
    let mut i = 1;
    while i < edges.len() {
        // 1, 2, 5, 10, 20, 50, ...
        edges[i] = if i % 3 == 2 { edges[i - 1] / 2 * 5 } else { edges[i - 1] * 2 };
        i += 1;
    }
    edges
};

/// Counts what the buffer flushes and the intervals between flushes of the same logical block. A flush is one logical
/// block in one write-back command; flushes are numbered from 1.
#[derive(Clone, Debug)]
pub struct FlushCounter {
    /// Number of the latest flush, modulo 2^32 without 0.
    latest: u32,
    /// By logical block: number of its latest flush, 0 for none.
    last: Vec<u32>,
    by_pages: Vec<u64>,
    by_interval: [u64; INTERVALS.len() + 1],
}

impl FlushCounter {
    /// Nothing flushed yet.
    pub(super) fn new(geometry: &Geometry, logical_pages: u32) -> Self {
        Self {
            latest: 0,
            last: vec![0; logical_pages.div_ceil(geometry.pages_per_block) as usize],
            by_pages: vec![0; geometry.pages_per_block as usize + 1],
            by_interval: [0; INTERVALS.len() + 1],
        }
    }

    /// Counts the flush of `dirty` pages of a logical block.
    #[inline]
    pub(super) fn count(&mut self, lbn: Lbn, dirty: u32) {
        self.latest = self.latest.wrapping_add(1).max(1);
        self.by_pages[dirty as usize] += 1;
        let last = std::mem::replace(&mut self.last[lbn.index()], self.latest);
        if last != 0 {
            let interval = self.latest.wrapping_sub(last);
            self.by_interval[INTERVALS.partition_point(|edge| *edge < interval)] += 1;
        }
    }

    /// Forgets all flushes.
    pub(super) fn reset(&mut self) {
        self.latest = 0;
        self.last.fill(0);
        self.by_pages.fill(0);
        self.by_interval.fill(0);
    }

    /// Flushes by the number of dirty pages, 0 to the pages of a block.
    pub fn by_pages(&self) -> &[u64] {
        &self.by_pages
    }
    /// Flushes of blocks that had been flushed before, by the class of [`INTERVALS`] of the flushes from then to now (1 = the
    /// very next flush); the last entry counts the intervals beyond the last edge.
    pub const fn by_interval(&self) -> &[u64] {
        &self.by_interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_counted_from_flush_to_flush_in_classes_with_their_upper_edge() {
        let geometry = Geometry::single_die(8, 4, 512);
        let mut flushes = FlushCounter::new(&geometry, 30);
        // Flushes 1 to 9: block 0 again after 1, 2 and 5; block 1 after 6.
        for (lbn, dirty) in [(0, 1), (0, 2), (1, 4), (0, 4), (2, 1), (3, 1), (4, 1), (5, 1), (0, 1), (1, 2)] {
            flushes.count(Lbn(lbn), dirty);
        }
        assert_eq!(flushes.by_pages(), [0, 6, 2, 0, 2]);
        assert_eq!(flushes.by_interval()[..5], [1, 1, 1, 1, 0], "1; 2; up to 5: 5; up to 10: 7");
        assert_eq!(INTERVALS[..8], [1, 2, 5, 10, 20, 50, 100, 200]);
        assert_eq!(INTERVALS[10], 2000);
        assert_eq!(INTERVALS[27], 1_000_000_000);
        flushes.latest = u32::MAX;
        flushes.count(Lbn(7), 1);
        flushes.count(Lbn(7), 1);
        assert_eq!(flushes.by_interval()[..5], [2, 1, 1, 1, 0], "the number goes on from 1, never 0");
        flushes.reset();
        flushes.count(Lbn(0), 1);
        assert_eq!(flushes.by_interval().iter().sum::<u64>(), 0, "intervals do not reach back before a reset");
    }
}
