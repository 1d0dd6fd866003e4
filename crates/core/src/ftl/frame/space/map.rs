//! Blocks of translation pages.

use super::{FrontierId, Space};
use crate::flash::Flash;
use crate::types::{Pbn, Ppn};

impl Space {
    /// Translation frontier of a group.
    #[inline]
    pub fn map_frontier(&self, group: u32) -> FrontierId {
        FrontierId(self.regions + self.dies.count() + self.groups() + group)
    }

    /// True if the block holds translation pages.
    #[inline]
    pub fn holds_map(&self, pbn: Pbn) -> bool {
        self.holds_map[pbn.index()]
    }
    /// The same for a translation page.
    pub fn drop_map_copy(&mut self, flash: &mut Flash, ppn: Ppn) {
        let (position, group) = self.by_group.parts(flash.invalidate(ppn).0);
        self.pools[group as usize].touched(position);
    }

    /// Takes the closed translation block with the fewest valid pages, if collecting it frees a page at all.
    pub fn pick_map_victim(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        let groups = self.pools.len();
        let pool = &mut self.pools[group as usize];
        let blocks = (group..self.geometry.blocks()).step_by(groups).map(Pbn);
        let closed = blocks.filter(|pbn| self.holds_map[pbn.index()] && pool.is_closed(*pbn));
        let victim = closed.min_by_key(|pbn| (flash.valid_pages(*pbn), *pbn))?;
        if flash.valid_pages(victim) == self.geometry.pages_per_block {
            return None;
        }
        pool.reopen(victim);
        Some(victim)
    }
}
