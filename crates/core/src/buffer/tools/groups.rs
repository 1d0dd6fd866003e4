//! Groups: the buffered pages of one logical block, for policies that work in blocks.
//!
//! A group exists while at least one page is in it and has a small dense number ([`Group`]), so that a policy keeps
//! its own facts in `Vec`s and its orders in [`crate::list::Links`] by group number. A policy decides which pages are
//! members: it may keep two `Groups`, one of clean and one of dirty pages of the same blocks. No hashing, and no
//! allocation once the largest number of groups was reached.

mod bitmaps;
pub mod block_frames;

use serde_json::{Value, json};

use super::padding::Padding;
use crate::buffer::{Plan, Slots};
use crate::sparse::SparseTable;
use crate::types::{Lbn, Lpn, Slot};
use bitmaps::Bitmaps;

/// Dense number of a group. It is given away again after the group is empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Group(pub u32);

impl Group {
    /// The number as an index into a table.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

const NONE: u32 = u32::MAX;

/// The buffered pages of logical blocks: one group for each block with at least one page.
#[derive(Clone, Debug)]
pub struct Groups {
    logical_pages: u32,
    pages_per_block: u32,
    /// By logical block: its group.
    table: SparseTable<u32>,
    /// By group: its logical block.
    lbns: Vec<Lbn>,
    /// By group: its pages.
    lens: Vec<u32>,
    /// By group: the offsets of its pages.
    offsets: Bitmaps,
    free: Vec<u32>,
}

impl Groups {
    /// No groups yet. The last logical block is short when `pages_per_block` does not divide `logical_pages`.
    pub fn new(logical_pages: u32, pages_per_block: u32) -> Self {
        Self {
            logical_pages,
            pages_per_block,
            table: SparseTable::new(logical_pages.div_ceil(pages_per_block) as usize),
            lbns: Vec::new(),
            lens: Vec::new(),
            offsets: Bitmaps::new(pages_per_block),
            free: Vec::new(),
        }
    }

    /// The page in `slot` joins the group of its block. Returns the group and whether it was created.
    #[inline]
    pub fn insert(&mut self, slot: Slot, slots: &Slots) -> (Group, bool) {
        let (lbn, offset) = self.place(slots.lpn(slot));
        let found = self.table.at(lbn.index());
        let created = found == NONE;
        let group = if created { self.create(lbn) } else { Group(found) };
        self.offsets.insert(group.0, offset);
        self.lens[group.index()] += 1;
        (group, created)
    }

    /// The page in `slot` leaves its group. Returns the group and whether it is empty now: then it is gone and its
    /// number will be used again.
    #[inline]
    pub fn remove(&mut self, slot: Slot, slots: &Slots) -> (Group, bool) {
        let (lbn, offset) = self.place(slots.lpn(slot));
        let group = Group(self.table.at(lbn.index()));
        self.offsets.remove(group.0, offset);
        let len = &mut self.lens[group.index()];
        *len -= 1;
        let emptied = *len == 0;
        if emptied {
            self.table.take(lbn.index());
            self.free.push(group.0);
        }
        (group, emptied)
    }

    /// All pages leave the group and it is gone: what a policy does after it has planned the write-back of
    /// [`Self::pages`].
    pub fn take(&mut self, group: Group) {
        debug_assert!(self.lens[group.index()] > 0);
        self.offsets.clear(group.0);
        self.lens[group.index()] = 0;
        self.table.take(self.lbns[group.index()].index());
        self.free.push(group.0);
    }

    /// Group of a logical block, if one exists.
    #[inline]
    pub fn find(&self, lbn: Lbn) -> Option<Group> {
        let group = self.table.at(lbn.index());
        (group != NONE).then_some(Group(group))
    }
    /// Group of the block that a page belongs to, whether or not that page is a member.
    #[inline]
    pub fn find_page(&self, lpn: Lpn) -> Option<Group> {
        self.find(self.place(lpn).0)
    }
    /// Group of the block that the page in `slot` belongs to. The group must exist.
    #[inline]
    pub fn of(&self, slot: Slot, slots: &Slots) -> Group {
        let group = self.table.at(self.place(slots.lpn(slot)).0.index());
        debug_assert!(group != NONE, "no group of page {}", slots.lpn(slot).0);
        Group(group)
    }
    /// True if this page is a member of the group of its block.
    #[inline]
    pub fn contains(&self, lpn: Lpn) -> bool {
        let (lbn, offset) = self.place(lpn);
        let group = self.table.at(lbn.index());
        group != NONE && self.offsets.contains(group, offset)
    }
    /// Logical block of a group.
    #[inline]
    pub fn lbn(&self, group: Group) -> Lbn {
        self.lbns[group.index()]
    }
    /// Pages in a group.
    #[inline]
    pub fn len(&self, group: Group) -> u32 {
        self.lens[group.index()]
    }
    /// Groups there are.
    #[inline]
    pub fn count(&self) -> u32 {
        (self.lens.len() - self.free.len()) as u32
    }
    /// Highest group number handed out so far, plus one: policies size their tables by it.
    #[inline]
    pub fn id_count(&self) -> usize {
        self.lens.len()
    }
    /// Pages the block of a group has: fewer than usual for a short last block.
    #[inline]
    pub fn block_pages(&self, group: Group) -> u32 {
        let first = self.lbns[group.index()].0 * self.pages_per_block;
        self.pages_per_block.min(self.logical_pages - first)
    }
    /// True if every page of the block is in the group.
    #[inline]
    pub fn is_full(&self, group: Group) -> bool {
        self.lens[group.index()] == self.block_pages(group)
    }
    /// Offset of a page in its block.
    #[inline]
    pub fn offset(&self, lpn: Lpn) -> u32 {
        self.place(lpn).1
    }

    /// Page addresses of a group, ascending: O(words + pages).
    pub fn lpns(&self, group: Group) -> impl Iterator<Item = Lpn> + '_ {
        let first = self.lbns[group.index()].0 * self.pages_per_block;
        self.offsets.iter(group.0).map(move |offset| Lpn(first + offset))
    }
    /// Slots of the pages of a group, ascending by page.
    pub fn pages<'a>(&'a self, group: Group, slots: &'a Slots) -> impl Iterator<Item = Slot> + 'a {
        self.lpns(group).map(|lpn| slots.find(lpn))
    }
    /// Pages of a group that must be written back.
    pub fn dirty_pages(&self, group: Group, slots: &Slots) -> u32 {
        self.pages(group, slots).filter(|slot| slots.is_dirty(*slot)).count() as u32
    }
    /// Plans the write-back of a group of dirty pages as one command, completed to the logical block by this rule. The group
    /// is gone.
    pub fn write_back(&mut self, group: Group, padding: &Padding, slots: &Slots, plan: &mut Plan) {
        let pad = padding.pads(self.len(group), self.block_pages(group));
        plan.write_back(self.pages(group, slots), pad);
        self.take(group);
    }
    /// Plans the eviction of a whole group: its dirty pages as one command, completed to the logical block with `pad`, then
    /// its clean pages, which may have served as padding, are dropped. The group is gone.
    pub fn evict(&mut self, group: Group, pad: bool, slots: &Slots, plan: &mut Plan) {
        if self.dirty_pages(group, slots) > 0 {
            plan.write_back(self.pages(group, slots).filter(|slot| slots.is_dirty(*slot)), pad);
        }
        for slot in self.pages(group, slots).filter(|slot| !slots.is_dirty(*slot)) {
            plan.drop_page(slot);
        }
        self.take(group);
    }
    /// A group with clean and dirty pages in the form of the golden files; `key` names its number.
    pub fn golden_split(&self, group: Group, key: &str, slots: &Slots) -> Value {
        let of = |dirty| {
            let pages = self.pages(group, slots).filter(|slot| slots.is_dirty(*slot) == dirty);
            pages.map(|slot| slots.lpn(slot).0).collect::<Vec<_>>()
        };
        json!({key: self.lbn(group).0, "dirty": of(true), "clean": of(false)})
    }
    /// The group in the form of the golden files: block and pages.
    pub fn golden(&self, group: Group) -> Value {
        json!({"block": self.lbn(group).0, "pages": self.lpns(group).map(|lpn| lpn.0).collect::<Vec<_>>()})
    }

    #[inline]
    fn place(&self, lpn: Lpn) -> (Lbn, u32) {
        let pages = self.pages_per_block;
        if pages.is_power_of_two() {
            (Lbn(lpn.0 >> pages.trailing_zeros()), lpn.0 & (pages - 1))
        } else {
            (Lbn(lpn.0 / pages), lpn.0 % pages)
        }
    }

    fn create(&mut self, lbn: Lbn) -> Group {
        let group = self.free.pop().unwrap_or_else(|| {
            self.lbns.push(Lbn::NONE);
            self.lens.push(0);
            self.offsets.push();
            self.lens.len() as u32 - 1
        });
        self.lbns[group as usize] = lbn;
        self.table.set(lbn.index(), group);
        Group(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::{BufferShape, Bypass, FlashTimes, Frames, Medium};
    use crate::types::Nanos;

    fn slots(logical_pages: u32, pages_per_block: u32) -> Slots {
        Slots::new(&BufferShape {
            pages_per_block,
            page_sectors: 1,
            logical_pages,
            frames: Frames { dram: logical_pages, nvram: 0 },
            times: FlashTimes { read: Nanos(0), program: Nanos(0), erase: Nanos(0) },
            merges: None,
            bypass: Bypass::None,
            seed: 0,
        })
    }

    #[test]
    fn group_lists_its_pages_in_order_and_knows_when_it_is_full() {
        for pages in [3, 64, 100, 130] {
            let logical = 2 * pages + pages / 2;
            let mut slots = slots(logical, pages);
            let mut groups = Groups::new(logical, pages);
            let mut made = 0;
            for lpn in (0..logical).rev() {
                let slot = slots.insert(Lpn(lpn), Medium::Dram);
                let (group, created) = groups.insert(slot, &slots);
                made += u32::from(created);
                assert_eq!(groups.lbn(group).0, lpn / pages);
                assert_eq!(groups.is_full(group), lpn % pages == 0, "page {lpn} of {logical}");
                assert!(groups.contains(Lpn(lpn)) && (lpn == 0 || !groups.contains(Lpn(lpn - 1))));
            }
            assert_eq!((made, groups.count()), (3, 3));
            let short = groups.find(Lbn(2)).unwrap();
            assert_eq!(groups.lpns(short).map(|l| l.0).collect::<Vec<_>>(), (2 * pages..logical).collect::<Vec<_>>());
            let first = groups.find(Lbn(0)).unwrap();
            let found: Vec<u32> = groups.pages(first, &slots).map(|slot| slots.lpn(slot).0).collect();
            assert_eq!(found, (0..pages).collect::<Vec<_>>());
        }
    }

    #[test]
    fn number_of_an_emptied_group_is_reused() {
        let mut slots = slots(16, 4);
        let mut groups = Groups::new(16, 4);
        let (a, b) = (slots.insert(Lpn(0), Medium::Dram), slots.insert(Lpn(3), Medium::Dram));
        let (group, _) = groups.insert(a, &slots);
        groups.insert(b, &slots);
        assert_eq!(groups.remove(a, &slots), (group, false));
        assert_eq!(groups.remove(b, &slots), (group, true));
        assert!(groups.find(Lbn(0)).is_none());
        let c = slots.insert(Lpn(9), Medium::Dram);
        assert_eq!(groups.insert(c, &slots), (group, true));
        assert_eq!((groups.len(group), groups.lbn(group)), (1, Lbn(2)));
        groups.take(group);
        assert_eq!((groups.count(), groups.id_count()), (0, 1));
        assert!(!groups.contains(Lpn(9)));
    }
}
