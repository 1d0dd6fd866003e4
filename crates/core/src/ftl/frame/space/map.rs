//! Blocks of translation pages.
//!
//! Where a victim is collected at once a group has one frontier for them: what the papers have. With slices, which are for
//! drives, it has one on each of its lanes, and translation pages take turns. Programs of a block go one after the other, and
//! where mappings are changed all over the map a block of translation pages is the one that most pages go to: a single
//! one for a channel is busy long before its dies are, and whoever looks a mapping up waits for its page.

use super::{FrontierId, Space};
use crate::flash::Flash;
use crate::types::{Pbn, Ppn};

/// Free blocks that any collection can do with (`translation`): as long as there are more, each frontier whose turn it is gets
/// one. With fewer only the last one that has room counts, as if there were no others.
const ENOUGH_FOR_ALL: u32 = 2;

impl Space {
    /// Number of the first translation frontier.
    fn first_map_frontier(&self) -> u32 {
        self.regions + self.dies.count() + self.groups()
    }
    /// The die that the blocks of a translation frontier come from if possible.
    pub(super) fn die_of_map(&self, id: FrontierId) -> u32 {
        self.dies.wrap(id.0 - self.first_map_frontier())
    }

    /// Translation frontier of a group for the next page: the one whose turn it is. If that is full and blocks are scarce, the
    /// next one that has room.
    #[inline]
    pub fn map_frontier(&self, group: u32) -> FrontierId {
        let first = self.first_map_frontier() + group;
        if self.map_frontiers == 1 {
            return FrontierId(first);
        }
        let turn = self.map_turns[group as usize];
        let number = |ahead: u32| FrontierId(first + (turn + ahead) % self.map_frontiers * self.groups());
        let has_room = |id: &FrontierId| self.tail(*id) > 0;
        if self.free(group) > ENOUGH_FOR_ALL {
            return number(0);
        }
        (0..self.map_frontiers).map(number).find(has_room).unwrap_or(number(0))
    }

    /// The next page of an open translation frontier of a group; it is the turn of the one after it.
    #[inline]
    pub fn append_map(&mut self, group: u32, to: FrontierId) -> Ppn {
        if self.map_frontiers > 1 {
            let position = (to.0 - self.first_map_frontier()) / self.groups();
            self.map_turns[group as usize] = (position + 1) % self.map_frontiers;
        }
        self.append(to)
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
