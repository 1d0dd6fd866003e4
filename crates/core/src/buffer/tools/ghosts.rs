//! Numbers of pages that left the buffer: bounded lists, newest first.

use crate::list::{Links, List};
use crate::sparse::SparseTable;
use crate::types::{Lpn, Slot};

/// Bounded lists of LPNs that left the buffer. A page is in one of the lists at most. Membership is a table by LPN (4
/// bytes a logical page) for all lists together, so every step is O(1).
#[derive(Debug)]
pub struct Ghosts<const LISTS: usize = 1> {
    limit: u32,
    links: Links,
    lists: [List; LISTS],
    /// By LPN: its entry, or `NONE`.
    entry_of: SparseTable<u32>,
    /// By entry: its LPN and its list.
    entries: Vec<(Lpn, u32)>,
    unused: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<const LISTS: usize> Ghosts<LISTS> {
    /// Empty lists that hold nothing until they get a limit.
    pub fn new(logical_pages: u32) -> Self {
        Self {
            limit: 0,
            links: Links::default(),
            lists: [List::default(); LISTS],
            entry_of: SparseTable::new(logical_pages as usize),
            entries: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// True if the page is in a list.
    #[inline]
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.entry_of.at(lpn.index()) != NONE
    }
    /// Prefetches the entry that tells whether the page is in a list.
    #[inline]
    pub fn look_ahead(&self, lpn: Lpn) {
        self.entry_of.prefetch(lpn.index());
    }
    /// Numbers in a list.
    #[inline]
    pub const fn len(&self, list: usize) -> u32 {
        self.lists[list].len()
    }
    /// Numbers of a list from the newest to the oldest.
    pub fn iter(&self, list: usize) -> impl Iterator<Item = Lpn> + '_ {
        self.links.iter(&self.lists[list]).map(|entry| self.entries[entry as usize].0)
    }
    /// Sets the most numbers that each list holds; the oldest beyond it leave.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        for list in 0..LISTS {
            while self.len(list) > limit {
                self.remove_oldest(list);
            }
        }
    }
    /// Takes a page out of its list: which one it was, if any.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> Option<usize> {
        let entry = self.entry_of.at(lpn.index());
        if entry == NONE {
            return None;
        }
        self.entry_of.take(lpn.index());
        let list = self.entries[entry as usize].1 as usize;
        self.links.remove(&mut self.lists[list], entry);
        self.unused.push(entry);
        Some(list)
    }
    /// Takes the oldest of a list out: false from an empty list.
    pub fn remove_oldest(&mut self, list: usize) -> bool {
        let [oldest, next] = self.links.last_two(&self.lists[list]).map(Slot::index);
        let Some((lpn, _)) = self.entries.get(oldest).copied() else { return false };
        if let Some((next, _)) = self.entries.get(next) {
            // A full list will forget it with the next page that it remembers.
            self.look_ahead(*next);
        }
        self.take(lpn);
        true
    }
    /// Makes a page the newest of a list; a full list loses its oldest.
    pub fn add(&mut self, list: usize, lpn: Lpn) {
        self.take(lpn);
        if self.limit == 0 {
            return;
        }
        if self.len(list) == self.limit {
            self.remove_oldest(list);
        }
        let ghost = (lpn, list as u32);
        let entry = if let Some(entry) = self.unused.pop() {
            self.entries[entry as usize] = ghost;
            entry
        } else {
            self.entries.push(ghost);
            self.entries.len() as u32 - 1
        };
        self.entry_of.set(lpn.index(), entry);
        self.links.push_front(&mut self.lists[list], entry);
    }
}
