//! Ranges of pages with blocks of their own.

use super::{FrontierId, Space};
use crate::types::Pbn;

impl Space {
    /// True if ranges of pages have blocks of their own.
    pub const fn has_units(&self) -> bool {
        self.layout.sorted_pages.is_some()
    }

    /// Frontier of a unit.
    pub const fn unit_frontier(number: u32) -> FrontierId {
        FrontierId(number)
    }

    /// Units of the device.
    pub const fn units(&self) -> u32 {
        self.units
    }

    /// Blocks of a group that can be collected, with their units (none: translation pages); open data blocks too.
    pub fn collectable(&self, group: u32) -> impl Iterator<Item = (Pbn, Option<u32>)> + '_ {
        let data = &self.frontiers[..self.units as usize];
        let open = data.iter().filter(move |f| f.group == group && f.next < f.end);
        let unit = |pbn: Pbn| (pbn, (!self.holds_map(pbn)).then(|| self.home[pbn.index()]));
        self.pools[group as usize].closed_blocks().chain(open.map(|frontier| frontier.pbn)).map(unit)
    }

    /// Takes all blocks of a unit, the open one too, which is full afterwards.
    pub fn take_unit(&mut self, number: u32) -> Vec<Pbn> {
        let group = self.frontiers[number as usize].group;
        let mut blocks: Vec<Pbn> =
            self.collectable(group).filter(|(_, unit)| *unit == Some(number)).map(|(pbn, _)| pbn).collect();
        blocks.sort_unstable();
        for pbn in &blocks {
            self.take_closed(*pbn);
        }
        let frontier = &mut self.frontiers[number as usize];
        (frontier.pbn, frontier.next) = (Pbn::NONE, frontier.end);
        blocks
    }
}
