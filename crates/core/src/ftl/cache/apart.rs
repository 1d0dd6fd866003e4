//! Cached mappings in LRU order, chained twice: all of them, and apart the clean ones and the dirty ones of every
//! translation page. The least recent entry of any of these is at hand without a search.
//!
//! Every entry has the stamp of its last use; all lists ascend by it from back to front.

use crate::ftl::cache::slab::{Cached, Mapping, Mappings, Slab};
use crate::list::{Links, List};
use crate::types::{Lpn, Ppn};

/// A mapping and the stamp of its last use.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    mapping: Mapping,
    stamp: u64,
}

impl AsRef<Mapping> for Entry {
    #[inline]
    fn as_ref(&self) -> &Mapping {
        &self.mapping
    }
}

/// Cached mappings in LRU order, with the clean and the dirty ones of each translation page in lists of their own.
#[derive(Debug)]
pub struct Apart {
    entries_per_tp: u32,
    slab: Slab<Entry>,
    all_links: Links,
    all: List,
    part_links: Links,
    clean: List,
    /// By translation page.
    dirty: Vec<List>,
    uses: u64,
}

impl Mappings for Apart {
    type Entry = Entry;
    #[inline]
    fn slab(&self) -> &Slab<Entry> {
        &self.slab
    }
}

impl Apart {
    /// No entries.
    pub fn new(logical_pages: u32, entries_per_tp: u32) -> Self {
        Self {
            entries_per_tp,
            slab: Slab::new(logical_pages),
            all_links: Links::default(),
            all: List::default(),
            part_links: Links::default(),
            clean: List::default(),
            dirty: vec![List::default(); logical_pages.div_ceil(entries_per_tp) as usize],
            uses: 0,
        }
    }
    /// Forgets all entries.
    pub fn clear(&mut self) {
        *self = Self::new(self.slab.logical_pages(), self.entries_per_tp);
    }

    /// The least recently used entry of all.
    pub fn oldest(&self) -> Option<Cached> {
        self.all.back().map(Cached)
    }
    /// The least recently used one of the clean entries and of the dirty ones of these translation pages.
    pub fn oldest_of(&self, tps: impl Iterator<Item = u32>) -> Option<Cached> {
        let dirty = tps.filter_map(|tp| self.dirty[tp as usize].back());
        dirty.chain(self.clean.back()).min_by_key(|at| self.slab[*at].stamp).map(Cached)
    }

    /// The list apart that an entry is in.
    fn part(&mut self, at: u32) -> &mut List {
        let Mapping { lpn, dirty, .. } = self.slab[at].mapping;
        if dirty { &mut self.dirty[(lpn.0 / self.entries_per_tp) as usize] } else { &mut self.clean }
    }
    fn take_out(&mut self, at: u32) {
        let mut part = std::mem::take(self.part(at));
        self.part_links.remove(&mut part, at);
        *self.part(at) = part;
    }
    /// Puts an entry at the front of its list apart, behind entries that were used later.
    fn put_in(&mut self, at: u32) {
        let mut part = std::mem::take(self.part(at));
        let (mut newer, mut older) = (None, part.front());
        while let Some(next) = older.filter(|next| self.slab[*next].stamp > self.slab[at].stamp) {
            (newer, older) = (Some(next), self.part_links.older(next));
        }
        self.part_links.insert_after(&mut part, newer, at);
        *self.part(at) = part;
    }

    /// The entry is used: it is the most recent one.
    #[inline]
    pub fn touch(&mut self, entry: Cached) {
        self.all_links.move_front(&mut self.all, entry.0);
        self.take_out(entry.0);
        self.uses += 1;
        self.slab[entry.0].stamp = self.uses;
        self.put_in(entry.0);
    }
    /// Changes a mapping, which is dirty then. Its place in the order stays; among the dirty entries of its translation
    /// page it is searched from the most recent one on.
    pub fn set(&mut self, entry: Cached, ppn: Ppn) {
        self.slab[entry.0].mapping.ppn = ppn;
        if !self.is_dirty(entry) {
            self.take_out(entry.0);
            self.slab[entry.0].mapping.dirty = true;
            self.put_in(entry.0);
        }
    }
    /// Adds a clean entry as the most recent one.
    pub fn insert(&mut self, lpn: Lpn, ppn: Ppn) -> Cached {
        self.uses += 1;
        let at = self.slab.insert(lpn, Entry { mapping: Mapping::clean(lpn, ppn), stamp: self.uses });
        self.all_links.push_front(&mut self.all, at);
        self.part_links.push_front(&mut self.clean, at);
        Cached(at)
    }
    /// Forgets an entry.
    pub fn remove(&mut self, entry: Cached) {
        self.all_links.remove(&mut self.all, entry.0);
        self.take_out(entry.0);
        self.slab.remove(self.lpn(entry));
    }

    /// Entries from LRU to MRU: page, mapping, dirty.
    pub fn oldest_first(&self) -> Vec<(Lpn, Ppn, bool)> {
        let told = |at| {
            let Mapping { lpn, ppn, dirty } = self.slab[at].mapping;
            (lpn, ppn, dirty)
        };
        let mut entries: Vec<_> = self.all_links.iter(&self.all).map(told).collect();
        entries.reverse();
        entries
    }

    /// Checks the lists, and clean mappings against those of `below`; panics on a violation. For tests.
    pub fn check(&self, below: impl Fn(Lpn) -> Ppn) {
        for (lpn, ppn, dirty) in self.oldest_first() {
            assert!(dirty || ppn == below(lpn), "clean mapping of lpn {} differs from below", lpn.0);
        }
        let descends =
            |links: &Links, list: &List| links.iter(list).map(|at| self.slab[at].stamp).is_sorted_by(|a, b| a > b);
        assert!(descends(&self.all_links, &self.all) && descends(&self.part_links, &self.clean));
        assert!(self.dirty.iter().all(|list| descends(&self.part_links, list)));
        let apart = self.clean.len() + self.dirty.iter().map(List::len).sum::<u32>();
        assert_eq!((self.all.len(), apart), (self.len(), self.len()));
    }
}
