//! Groups by how many pages they hold: the largest in O(1), among equals the least recent one.

use super::groups::{Group, Groups};
use crate::buffer::Slots;
use crate::list::{Links, List};
use crate::types::Slot;

/// Groups by their number of pages: finds the largest, and among equals the least recently used. One recency list for
/// every size, so every step but [`Self::put_back`] is O(1).
#[derive(Debug)]
pub struct BySize {
    links: Links,
    /// By number of pages: the groups of that size, most recent first.
    sizes: Vec<List>,
    /// No group has more pages than this.
    largest: usize,
    /// By group: when it was used last, in uses.
    used: Vec<u64>,
    uses: u64,
}

impl BySize {
    /// No groups yet; none will have more than `max_pages`.
    pub fn new(max_pages: u32) -> Self {
        let sizes = vec![List::default(); max_pages as usize + 1];
        Self { links: Links::default(), sizes, largest: 0, used: Vec::new(), uses: 0 }
    }
    /// True if the group is here.
    #[inline]
    pub fn contains(&self, group: Group) -> bool {
        self.links.is_linked(group.0)
    }
    /// A group of `pages` comes, as the most recent one.
    #[inline]
    pub fn insert(&mut self, group: Group, pages: u32) {
        self.links.push_front(&mut self.sizes[pages as usize], group.0);
        self.largest = self.largest.max(pages as usize);
        self.stamp(group);
    }
    /// A group of `pages` leaves.
    #[inline]
    pub fn remove(&mut self, group: Group, pages: u32) {
        self.links.remove(&mut self.sizes[pages as usize], group.0);
    }
    /// A group of `pages` is the most recent one.
    #[inline]
    pub fn touch(&mut self, group: Group, pages: u32) {
        self.links.move_front(&mut self.sizes[pages as usize], group.0);
        self.stamp(group);
    }
    /// A group that was taken out before it lost a page comes back to the place that its last use gives it: looks at the
    /// groups of its size one after the other.
    pub fn put_back(&mut self, group: Group, pages: u32) {
        let list = &mut self.sizes[pages as usize];
        let used = self.used[group.index()];
        let newer = self.links.iter(list).take_while(|id| self.used[*id as usize] > used).last();
        self.links.insert_after(list, newer, group.0);
    }
    /// The page in `slot` joins the group of its block, which is the most recent one now.
    pub fn join(&mut self, groups: &mut Groups, slot: Slot, slots: &Slots) {
        let (group, created) = groups.insert(slot, slots);
        let pages = groups.len(group);
        if !created {
            self.remove(group, pages - 1);
        }
        self.insert(group, pages);
    }
    /// The page in `slot` leaves its group, which keeps its recency.
    pub fn leave(&mut self, groups: &mut Groups, slot: Slot, slots: &Slots) {
        let group = groups.of(slot, slots);
        let pages = groups.len(group);
        self.remove(group, pages);
        if !groups.remove(slot, slots).1 {
            self.put_back(group, pages - 1);
        }
    }
    /// The least recent of the largest groups.
    #[inline]
    pub fn largest(&mut self) -> Option<Group> {
        // Each step down was paid for by a page that joined a group.
        while self.largest > 0 && self.sizes[self.largest].is_empty() {
            self.largest -= 1;
        }
        self.sizes[self.largest].back().map(Group)
    }
    /// Groups from the largest size to the smallest, within a size from the most recent.
    pub fn descending(&self) -> impl Iterator<Item = Group> + '_ {
        self.sizes[..=self.largest].iter().rev().flat_map(|list| self.links.iter(list)).map(Group)
    }
    /// Groups from the most to the least recent.
    pub fn newest_first(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.descending().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(self.used[group.index()]));
        groups
    }

    #[inline]
    fn stamp(&mut self, group: Group) {
        if group.index() >= self.used.len() {
            self.used.resize(group.index() + 1, 0);
        }
        self.uses += 1;
        self.used[group.index()] = self.uses;
    }
}
