//! Numbers of pages that left the buffer: a bounded list, newest first.

use prefetch_index::prefetch_index;

use super::list::{Links, List};
use crate::types::Lpn;

/// See the module text. Membership is a table by LPN (4 bytes a logical page), so every step is O(1).
#[derive(Debug)]
pub struct Ghosts {
    limit: u32,
    links: Links,
    recency: List,
    /// By LPN: its entry, or `NONE`.
    entry: Vec<u32>,
    /// By entry: its LPN.
    lpns: Vec<Lpn>,
    unused: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Ghosts {
    /// An empty list that holds nothing until it gets a limit.
    pub fn new(logical_pages: u32) -> Self {
        Self {
            limit: 0,
            links: Links::default(),
            recency: List::default(),
            entry: vec![NONE; logical_pages as usize],
            lpns: Vec::new(),
            unused: Vec::new(),
        }
    }

    /// True if the page is in the list.
    #[inline]
    pub fn contains(&self, lpn: Lpn) -> bool {
        self.entry[lpn.index()] != NONE
    }
    /// Asks the memory whether the page is in the list.
    #[inline]
    pub fn look_ahead(&self, lpn: Lpn) {
        prefetch_index(&self.entry, lpn.index());
    }
    /// Numbers in the list.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.recency.len()
    }
    /// True without numbers.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.recency.is_empty()
    }
    /// Numbers from the newest to the oldest.
    pub fn iter(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.links.iter(&self.recency).map(|entry| self.lpns[entry as usize])
    }
    /// Sets the most numbers the list holds; the oldest beyond it leave.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
        while self.recency.len() > limit {
            self.remove_oldest();
        }
    }
    /// Takes a page out.
    ///
    /// # Panics
    /// If it is not in the list.
    pub fn remove(&mut self, lpn: Lpn) {
        let entry = std::mem::replace(&mut self.entry[lpn.index()], NONE);
        assert_ne!(entry, NONE, "page {} is not in the list", lpn.0);
        self.links.remove(&mut self.recency, entry);
        self.unused.push(entry);
    }
    /// Takes a page out if it is in the list: true if it was.
    #[inline]
    pub fn take(&mut self, lpn: Lpn) -> bool {
        let found = self.contains(lpn);
        if found {
            self.remove(lpn);
        }
        found
    }
    /// Takes the oldest out: false from an empty list.
    pub fn remove_oldest(&mut self) -> bool {
        let oldest = self.recency.back();
        if let Some(entry) = oldest {
            self.remove(self.lpns[entry as usize]);
        }
        oldest.is_some()
    }
    /// Makes a page the newest; a full list loses its oldest.
    pub fn add(&mut self, lpn: Lpn) {
        if self.contains(lpn) {
            return self.links.move_front(&mut self.recency, self.entry[lpn.index()]);
        }
        if self.limit == 0 {
            return;
        }
        if self.recency.len() == self.limit {
            self.remove_oldest();
        }
        let entry = self.unused.pop().unwrap_or_else(|| {
            self.lpns.push(Lpn::NONE);
            self.lpns.len() as u32 - 1
        });
        self.lpns[entry as usize] = lpn;
        self.entry[lpn.index()] = entry;
        self.links.push_front(&mut self.recency, entry);
    }
}
