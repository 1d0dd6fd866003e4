//! Cached mappings grouped by their translation page: an LRU list of nodes, each an LRU list of entries.
//!
//! Entries live in a [`Slab`] and are chained by index.

use serde_json::{Value, json};

use crate::ftl::cache::slab::{Cached, Mapping, Mappings, Slab};
use crate::list::{Links, List};
use crate::types::{Lpn, Ppn};

/// The entries of one translation page, the most recently used one at the front.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    recency: List,
    dirty: u32,
}

/// Cached mappings grouped by translation page: an LRU list of nodes, each an LRU list of entries.
#[derive(Debug)]
pub struct Nodes {
    entries_per_tp: u32,
    slab: Slab<Mapping>,
    entry_links: Links,
    /// By translation page.
    by_tp: Vec<Node>,
    node_links: Links,
    /// Translation pages with an entry, the most recently used one at the front.
    recency: List,
}

impl Mappings for Nodes {
    type Entry = Mapping;
    #[inline]
    fn slab(&self) -> &Slab<Mapping> {
        &self.slab
    }
}

impl Nodes {
    /// No entries.
    pub fn new(logical_pages: u32, entries_per_tp: u32) -> Self {
        Self {
            entries_per_tp,
            slab: Slab::new(logical_pages),
            entry_links: Links::default(),
            by_tp: vec![Node::default(); logical_pages.div_ceil(entries_per_tp) as usize],
            node_links: Links::default(),
            recency: List::default(),
        }
    }
    /// Forgets all entries.
    pub fn clear(&mut self) {
        *self = Self::new(self.slab.logical_pages(), self.entries_per_tp);
    }

    /// Nodes held.
    pub const fn count(&self) -> u32 {
        self.recency.len()
    }
    /// Translation page of a logical page.
    #[inline]
    pub const fn tp(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_tp
    }
    /// True if the translation page has a node.
    #[inline]
    pub fn holds(&self, tp: u32) -> bool {
        !self.by_tp[tp as usize].recency.is_empty()
    }
    /// Consecutive pages with an entry that lie directly before a page in its translation page.
    pub fn run_before(&self, lpn: Lpn) -> u32 {
        let first = self.tp(lpn) * self.entries_per_tp;
        (first..lpn.0).rev().take_while(|before| self.find(Lpn(*before)).is_some()).count() as u32
    }

    /// The mapping changed.
    #[inline]
    pub fn set(&mut self, entry: Cached, ppn: Ppn) {
        let mapping = &mut self.slab[entry.0];
        self.by_tp[(mapping.lpn.0 / self.entries_per_tp) as usize].dirty += u32::from(!mapping.dirty);
        (mapping.ppn, mapping.dirty) = (ppn, true);
    }
    /// An access found this entry.
    #[inline]
    pub fn touch(&mut self, entry: Cached) {
        let tp = self.tp(self.lpn(entry));
        self.entry_links.move_front(&mut self.by_tp[tp as usize].recency, entry.0);
        self.node_links.move_front(&mut self.recency, tp);
    }
    /// Adds a clean entry that is not there: as the most recent one of the most recent node, or, prefetched, as the
    /// least recent one of its node.
    pub fn insert(&mut self, lpn: Lpn, ppn: Ppn, prefetched: bool) -> Cached {
        let at = self.slab.insert(lpn, Mapping::clean(lpn, ppn));
        let tp = self.tp(lpn);
        if !self.holds(tp) {
            self.node_links.push_front(&mut self.recency, tp);
        }
        let node = &mut self.by_tp[tp as usize].recency;
        if prefetched {
            self.entry_links.push_back(node, at);
        } else {
            self.entry_links.push_front(node, at);
            self.node_links.move_front(&mut self.recency, tp);
        }
        Cached(at)
    }
    /// Removes an entry, and its node with the last one.
    pub fn remove(&mut self, entry: Cached) {
        let Mapping { lpn, dirty, .. } = self.slab[entry.0];
        let tp = self.tp(lpn);
        let node = &mut self.by_tp[tp as usize];
        self.entry_links.remove(&mut node.recency, entry.0);
        node.dirty -= u32::from(dirty);
        if node.recency.is_empty() {
            self.node_links.remove(&mut self.recency, tp);
        }
        self.slab.remove(lpn);
    }

    /// The entry to evict: the least recent clean one of the least recent node, or its least recent one.
    ///
    /// # Panics
    /// If there is none.
    pub fn victim(&self) -> Cached {
        let tp = self.recency.back().expect("an empty cache has no victim");
        let node = &self.by_tp[tp as usize];
        let mut at = node.recency.back().expect("a node has entries");
        if node.dirty < node.recency.len() {
            while self.is_dirty(Cached(at)) {
                at = self.entry_links.newer(at).expect("one entry is clean");
            }
        }
        Cached(at)
    }
    /// Tells every dirty mapping of a translation page; they are clean then.
    pub fn write_back(&mut self, tp: u32, mut patch: impl FnMut(Lpn, Ppn)) {
        let node = &mut self.by_tp[tp as usize];
        node.dirty = 0;
        for at in self.entry_links.iter(&node.recency) {
            let entry = &mut self.slab[at];
            if std::mem::take(&mut entry.dirty) {
                patch(entry.lpn, entry.ppn);
            }
        }
    }
    /// Mappings of a translation page that are the same on flash are clean then.
    pub fn settle(&mut self, tp: u32, on_flash: impl Fn(Lpn) -> Ppn) {
        let node = &mut self.by_tp[tp as usize];
        for at in self.entry_links.iter(&node.recency) {
            let entry = &mut self.slab[at];
            if entry.dirty && entry.ppn == on_flash(entry.lpn) {
                entry.dirty = false;
                node.dirty -= 1;
            }
        }
    }

    /// Nodes from LRU to MRU, as `[tp, [[lpn, dirty], ... from LRU to MRU]]`.
    pub fn golden_state(&self) -> Value {
        let oldest_first = |links: &Links, list: &List| {
            let mut ids: Vec<u32> = links.iter(list).collect();
            ids.reverse();
            ids
        };
        let entry = |at: u32| json!([self.slab[at].lpn.0, self.slab[at].dirty]);
        let node = |tp: u32| {
            let entries = oldest_first(&self.entry_links, &self.by_tp[tp as usize].recency);
            json!([tp, entries.into_iter().map(entry).collect::<Vec<_>>()])
        };
        oldest_first(&self.node_links, &self.recency).into_iter().map(node).collect()
    }

    /// Checks lists and table against each other, and clean entries against flash; panics on a violation. For tests.
    pub fn check(&self, on_flash: impl Fn(Lpn) -> Ppn) {
        let mut listed = 0;
        for tp in self.node_links.iter(&self.recency) {
            let node = &self.by_tp[tp as usize];
            let mut dirty = 0;
            for at in self.entry_links.iter(&node.recency) {
                let entry = self.slab[at];
                assert!(self.find(entry.lpn) == Some(Cached(at)) && self.tp(entry.lpn) == tp, "entry of another node");
                assert!(entry.dirty || entry.ppn == on_flash(entry.lpn), "clean lpn {} differs", entry.lpn.0);
                dirty += u32::from(entry.dirty);
                listed += 1;
            }
            assert!(node.dirty == dirty && !node.recency.is_empty(), "counts of node {tp}");
        }
        assert_eq!(listed, self.len());
    }
}
