//! Cached mappings in a slab: an entry keeps its index while it is there, and a table leads from the LPN to the index.
//! What all caches tell of their entries is here too ([`Mappings`]).

use std::ops::{Index, IndexMut};

use crate::sparse::SparseTable;
use crate::types::{Lpn, Ppn};

const NONE: u32 = u32::MAX;

/// Cached mapping entries with stable indices, found by LPN.
#[derive(Debug)]
pub struct Slab<E> {
    entries: Vec<E>,
    unused: Vec<u32>,
    by_lpn: SparseTable<u32>,
}

impl<E> Slab<E> {
    /// No entries.
    pub fn new(logical_pages: u32) -> Self {
        Self { entries: Vec::new(), unused: Vec::new(), by_lpn: SparseTable::new(logical_pages as usize) }
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
        let at = self.by_lpn.at(lpn.index());
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
        self.by_lpn.set(lpn.index(), at);
        at
    }
    /// Removes the entry of a page that has one.
    #[inline]
    pub fn remove(&mut self, lpn: Lpn) {
        let at = self.by_lpn.take(lpn.index());
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

/// What every entry holds.
#[derive(Clone, Copy, Debug)]
pub struct Mapping {
    /// The page.
    pub lpn: Lpn,
    /// Where it lies; [`Ppn::NONE`] for a page that is not mapped.
    pub ppn: Ppn,
    /// The mapping was changed here: below, or on flash, stands something else.
    pub dirty: bool,
}

impl Mapping {
    /// A mapping as it stands below.
    pub const fn clean(lpn: Lpn, ppn: Ppn) -> Self {
        Self { lpn, ppn, dirty: false }
    }
}

impl AsRef<Self> for Mapping {
    #[inline]
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Index of an entry; valid until the entry is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cached(pub(in crate::ftl) u32);

/// A cache of mappings with its entries in a slab.
pub trait Mappings {
    /// An entry: the mapping, and what the cache keeps along with it.
    type Entry: AsRef<Mapping>;

    /// The entries.
    fn slab(&self) -> &Slab<Self::Entry>;

    /// Entries held.
    #[inline]
    fn len(&self) -> u32 {
        self.slab().len()
    }
    /// True without entries.
    #[inline]
    fn is_empty(&self) -> bool {
        self.slab().is_empty()
    }
    /// The entry of a page.
    #[inline]
    fn find(&self, lpn: Lpn) -> Option<Cached> {
        self.slab().find(lpn).map(Cached)
    }
    /// Mapping of an entry.
    #[inline]
    fn mapping(&self, entry: Cached) -> Mapping {
        *self.slab()[entry.0].as_ref()
    }
    /// Page of an entry.
    #[inline]
    fn lpn(&self, entry: Cached) -> Lpn {
        self.mapping(entry).lpn
    }
    /// Place of an entry's page; [`Ppn::NONE`] for a page that is not mapped.
    #[inline]
    fn ppn(&self, entry: Cached) -> Ppn {
        self.mapping(entry).ppn
    }
    /// True if the mapping was changed in this cache.
    #[inline]
    fn is_dirty(&self, entry: Cached) -> bool {
        self.mapping(entry).dirty
    }
}
