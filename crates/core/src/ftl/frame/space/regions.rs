//! Ranges of pages with blocks of their own.

use super::{FrontierId, Space};
use crate::types::Pbn;

impl Space {
    /// True if ranges of pages have blocks of their own.
    pub const fn has_regions(&self) -> bool {
        self.layout.sorted_pages.is_some()
    }

    /// Frontier of a region.
    pub const fn region_frontier(number: u32) -> FrontierId {
        FrontierId(number)
    }

    /// Regions of the device.
    pub const fn regions(&self) -> u32 {
        self.regions
    }

    /// Blocks of a group that can be collected, with their regions (none: translation pages); open data blocks too.
    pub fn collectable(&self, group: u32) -> impl Iterator<Item = (Pbn, Option<u32>)> + '_ {
        let data = &self.frontiers[..self.regions as usize];
        let open = data.iter().filter(move |f| f.group == group && f.next < f.end);
        let region = |pbn: Pbn| (pbn, (!self.holds_map(pbn)).then(|| self.home[pbn.index()]));
        self.pools[group as usize].closed_blocks().chain(open.map(|frontier| frontier.pbn)).map(region)
    }

    /// Takes all blocks of a region, the open one too, which is full afterwards.
    pub fn take_region(&mut self, number: u32) -> Vec<Pbn> {
        let group = self.frontiers[number as usize].group;
        let mut blocks: Vec<Pbn> =
            self.collectable(group).filter(|(_, region)| *region == Some(number)).map(|(pbn, _)| pbn).collect();
        blocks.sort_unstable();
        for pbn in &blocks {
            self.take_closed(*pbn);
        }
        let frontier = &mut self.frontiers[number as usize];
        (frontier.pbn, frontier.next) = (Pbn::NONE, frontier.end);
        blocks
    }
}
