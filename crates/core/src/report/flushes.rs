//! What the buffer flushed, group by group.

use serde::Serialize;

use super::share;
use crate::engine::{self, INTERVALS};

/// Flushes of the buffer. A flushed group is one logical block in one write-back command: a page policy flushes groups of
/// one page. Sizes are dirty pages, without padding.
#[derive(Clone, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Flushes {
    /// Flushed groups.
    pub groups: u64,
    /// Dirty pages / flushed groups.
    pub pages_mean: Option<f64>,
    /// Flushed groups by their dirty pages, ascending; sizes that did not occur are left out.
    pub sizes: Vec<Size>,
    /// Flushes of a block that had been flushed before in the measurement: those that have an update interval, the number of
    /// flushes of the whole buffer from the earlier one to this one (1 = the next).
    pub again: u64,
    /// Distribution of the update intervals at 1, 2, 5, 10, 20, 50 and so on, until all are counted.
    pub intervals: Vec<AtMost>,
}

/// Flushed groups of one size.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Size {
    /// Dirty pages.
    pub pages: u32,
    /// Flushed groups with that many.
    pub groups: u64,
    /// Flushed groups with at most that many / all.
    pub share_at_most: f64,
}

/// Update intervals up to a length.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct AtMost {
    /// Flushes.
    pub at_most: u32,
    /// Update intervals that are no longer.
    pub count: u64,
    /// The same / all update intervals.
    pub share: f64,
}

impl Flushes {
    pub(super) fn new(flushes: &engine::FlushCounter) -> Self {
        let groups: u64 = flushes.by_pages().iter().sum();
        let (mut pages, mut so_far, mut sizes) = (0, 0, Vec::new());
        for (size, count) in flushes.by_pages().iter().enumerate().filter(|(_, count)| **count > 0) {
            pages += size as u64 * count;
            so_far += count;
            let share_at_most = so_far as f64 / groups as f64;
            sizes.push(Size { pages: size as u32, groups: *count, share_at_most });
        }
        let again: u64 = flushes.by_interval().iter().sum();
        let (mut count, mut intervals) = (0, Vec::new());
        for (at_most, here) in INTERVALS.into_iter().zip(flushes.by_interval()) {
            if count == again {
                break;
            }
            count += here;
            intervals.push(AtMost { at_most, count, share: count as f64 / again as f64 });
        }
        Self { groups, pages_mean: share(pages, groups), sizes, again, intervals }
    }

    /// Share of the flushed groups with at least that many dirty pages.
    pub fn share_of_size(&self, at_least: u32) -> Option<f64> {
        let large = self.sizes.iter().filter(|size| size.pages >= at_least).map(|size| size.groups).sum();
        share(large, self.groups)
    }

    /// Share of the update intervals that are at most the largest of 1, 2, 5, 10 and so on within `flushes`.
    pub fn share_of_interval(&self, flushes: u32) -> Option<f64> {
        let within = self.intervals.iter().take_while(|class| class.at_most <= flushes).last();
        (self.again > 0).then(|| within.map_or(0.0, |class| class.share))
    }
}
