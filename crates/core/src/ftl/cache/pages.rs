//! Whole translation pages in RAM, in LRU order.

use std::ops::Range;

use crate::ftl::frame::translation::Translation;
use crate::list::{Links, List};
use crate::types::{Lpn, Ppn};

/// Whole translation pages in RAM, in LRU order.
#[derive(Debug)]
pub struct Pages {
    entries_per_tp: u32,
    /// Logical pages of the device.
    mapped: u32,
    /// By translation page: its mappings. Empty until the page is first loaded, meaningless when it left RAM.
    places: Vec<Vec<Ppn>>,
    /// By translation page.
    dirty: Vec<bool>,
    links: Links,
    /// Translation pages in RAM, the most recently used one at the front.
    recency: List,
}

impl Pages {
    /// None in RAM.
    pub fn new(logical_pages: u32, entries_per_tp: u32) -> Self {
        Self {
            entries_per_tp,
            mapped: logical_pages,
            places: vec![Vec::new(); logical_pages.div_ceil(entries_per_tp) as usize],
            dirty: vec![false; logical_pages.div_ceil(entries_per_tp) as usize],
            links: Links::default(),
            recency: List::default(),
        }
    }
    /// Forgets all translation pages.
    pub fn clear(&mut self) {
        *self = Self::new(self.mapped, self.entries_per_tp);
    }

    /// Translation pages held.
    pub const fn len(&self) -> u32 {
        self.recency.len()
    }
    /// True without translation pages.
    pub const fn is_empty(&self) -> bool {
        self.recency.is_empty()
    }
    /// Translation page of a logical page.
    pub const fn tp(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_tp
    }
    /// Logical pages of a translation page, as indices.
    pub fn range(&self, tp: u32) -> Range<usize> {
        let first = tp as usize * self.entries_per_tp as usize;
        first..(first + self.entries_per_tp as usize).min(self.mapped as usize)
    }
    /// True if the translation page is in RAM.
    pub fn holds(&self, tp: u32) -> bool {
        self.links.is_linked(tp)
    }
    /// Mappings of a translation page in RAM.
    pub fn places(&self, tp: u32) -> &[Ppn] {
        &self.places[tp as usize]
    }
    /// The mapping of a page if its translation page is in RAM.
    pub fn find(&self, lpn: Lpn) -> Option<Ppn> {
        let tp = self.tp(lpn);
        self.holds(tp).then(|| self.places[tp as usize][(lpn.0 % self.entries_per_tp) as usize])
    }
    /// True if a mapping of the translation page differs from flash.
    pub fn is_dirty(&self, tp: u32) -> bool {
        self.dirty[tp as usize]
    }

    /// Changes a mapping whose translation page is in RAM.
    pub fn set(&mut self, lpn: Lpn, ppn: Ppn) {
        let tp = self.tp(lpn);
        assert!(self.holds(tp), "change of a mapping that is not in RAM");
        self.places[tp as usize][(lpn.0 % self.entries_per_tp) as usize] = ppn;
        self.dirty[tp as usize] = true;
    }
    /// Translation pages in RAM, the most recently used one first.
    pub fn held(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter(&self.recency)
    }
    /// Makes a translation page in RAM the most recently used one.
    pub fn touch(&mut self, tp: u32) {
        self.links.move_front(&mut self.recency, tp);
    }
    /// Takes a translation page that was just read, as the most recently used one.
    pub fn load(&mut self, tp: u32, map: &Translation) {
        let places = &mut self.places[tp as usize];
        places.clear();
        places.extend(map.range(tp).map(|lpn| map.content(Lpn(lpn))));
        self.dirty[tp as usize] = false;
        self.links.push_front(&mut self.recency, tp);
    }
    /// The least recently used translation page.
    pub fn victim(&self) -> Option<u32> {
        self.recency.back()
    }
    /// Forgets a translation page.
    pub fn remove(&mut self, tp: u32) {
        self.links.remove(&mut self.recency, tp);
    }

    /// Tells all mappings of a translation page to its copy on flash, which is rewritten next; it is clean then.
    pub fn patch(&mut self, tp: u32, map: &mut Translation) {
        self.dirty[tp as usize] = false;
        for (lpn, ppn) in map.range(tp).zip(&self.places[tp as usize]) {
            map.patch(Lpn(lpn), *ppn);
        }
    }

    /// Translation pages in RAM from LRU to MRU, and whether they are dirty.
    pub fn oldest_first(&self) -> Vec<(u32, bool)> {
        let mut held: Vec<_> = self.held().map(|tp| (tp, self.is_dirty(tp))).collect();
        held.reverse();
        held
    }

    /// Checks that clean translation pages are as on flash; panics on a violation. For tests.
    pub fn check(&self, map: &Translation) {
        for (tp, dirty) in self.oldest_first() {
            let same = map.range(tp).map(|lpn| map.content(Lpn(lpn))).eq(self.places(tp).iter().copied());
            assert!(dirty || same, "clean translation page {tp} differs from flash");
        }
    }
}
