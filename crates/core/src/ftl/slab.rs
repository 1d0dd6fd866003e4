//! Cached mappings in a slab: an entry keeps its index while it is there, and a table leads from the LPN to the index.

use std::ops::{Index, IndexMut};

use crate::types::Lpn;

const NONE: u32 = u32::MAX;

/// See the module text.
#[derive(Debug)]
pub struct Slab<E> {
    entries: Vec<E>,
    unused: Vec<u32>,
    by_lpn: Vec<u32>,
}

impl<E> Slab<E> {
    /// No entries.
    pub fn new(logical_pages: u32) -> Self {
        Self { entries: Vec::new(), unused: Vec::new(), by_lpn: vec![NONE; logical_pages as usize] }
    }
    /// Pages that may have an entry.
    pub const fn logical_pages(&self) -> u32 {
        self.by_lpn.len() as u32
    }
    /// Entries held.
    #[inline]
    pub const fn len(&self) -> u32 {
        (self.entries.len() - self.unused.len()) as u32
    }
    /// True without entries.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Index of the entry of a page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<u32> {
        let at = self.by_lpn[lpn.index()];
        (at != NONE).then_some(at)
    }
    /// Adds the entry of a page that has none; returns its index.
    #[inline]
    pub fn insert(&mut self, lpn: Lpn, entry: E) -> u32 {
        assert!(self.find(lpn).is_none(), "lpn {} is cached already", lpn.0);
        let at = if let Some(at) = self.unused.pop() {
            self.entries[at as usize] = entry;
            at
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.by_lpn[lpn.index()] = at;
        at
    }
    /// Removes the entry of a page that has one.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        let at = std::mem::replace(&mut self.by_lpn[lpn.index()], NONE);
        assert!(at != NONE, "lpn {} is not cached", lpn.0);
        self.unused.push(at);
    }
}

impl<E> Index<u32> for Slab<E> {
    type Output = E;
    #[inline]
    fn index(&self, at: u32) -> &E {
        &self.entries[at as usize]
    }
}

impl<E> IndexMut<u32> for Slab<E> {
    #[inline]
    fn index_mut(&mut self, at: u32) -> &mut E {
        &mut self.entries[at as usize]
    }
}
