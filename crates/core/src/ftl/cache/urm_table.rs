//! Compressed translation pages in RAM: all of them, or those that were used last.

use std::ops::Range;

use crate::ftl::cache::compressed::{CompressedPage, ENTRY_BYTES, Format, RAW_BYTES};
use crate::ftl::frame::translation::Translation;
use crate::list::{Links, List};
use crate::sparse::SparseTable;
use crate::types::{Lpn, Ppn};

/// Bytes of the header of a translation page in RAM.
pub const HEADER_BYTES: u64 = 8;

/// URM's compressed translation pages in RAM: all of them, or those used last within a budget of bytes.
#[derive(Debug)]
pub struct Table {
    format: Format,
    pages: Vec<CompressedPage>,
    bytes: u64,
    /// One bit by LPN: its mapping is in RAM. Empty when all are.
    loaded: Vec<u64>,
    resident: bool,
    links: Links,
    /// Translation pages in RAM, the most recently used one at the front.
    recency: List,
}

impl Table {
    /// An empty table; `resident` = every translation page is in RAM for good.
    pub fn new(format: Format, logical_pages: u32, resident: bool) -> Self {
        let pages = logical_pages.div_ceil(format.entries_per_tp) as usize;
        let mut table = Self {
            format,
            pages: vec![CompressedPage::new(format); pages],
            bytes: 0,
            loaded: vec![0; if resident { 0 } else { logical_pages.div_ceil(64) as usize }],
            resident,
            links: Links::default(),
            recency: List::default(),
        };
        table.clear();
        table
    }

    /// Forgets all mappings.
    pub fn clear(&mut self) {
        self.pages.iter_mut().for_each(CompressedPage::clear);
        self.bytes = if self.resident { HEADER_BYTES * self.pages.len() as u64 } else { 0 };
        self.loaded.fill(0);
        self.links = Links::default();
        self.recency = List::default();
    }

    /// RAM of the translation pages held, headers included.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
    /// RAM of all translation pages when nothing can be compressed, headers included.
    pub fn bytes_most(&self) -> u64 {
        let entry = if self.format.raw_fallback { RAW_BYTES } else { ENTRY_BYTES };
        self.pages.len() as u64 * (HEADER_BYTES + u64::from(self.format.entries_per_tp * entry))
    }
    /// True if the mapping of a page is in RAM.
    #[inline]
    pub fn is_loaded(&self, lpn: Lpn) -> bool {
        self.resident || self.loaded[lpn.index() / 64] >> (lpn.0 % 64) & 1 != 0
    }
    /// True if a mapping of a translation page in RAM differs from flash.
    pub fn is_dirty(&self, tp: u32) -> bool {
        self.pages[tp as usize].is_dirty()
    }

    #[inline]
    const fn split(&self, lpn: Lpn) -> (usize, u32) {
        ((lpn.0 / self.format.entries_per_tp) as usize, lpn.0 % self.format.entries_per_tp)
    }

    /// The mapping of a page; it must be loaded.
    #[inline]
    pub fn look_up(&self, lpn: Lpn) -> Ppn {
        debug_assert!(self.is_loaded(lpn));
        let (tp, rlpn) = self.split(lpn);
        self.pages[tp].look_up(rlpn)
    }

    #[inline]
    fn change(&mut self, tp: usize, change: impl FnOnce(&mut CompressedPage)) {
        let page = &mut self.pages[tp];
        let before = u64::from(page.bytes());
        change(page);
        self.bytes = self.bytes - before + u64::from(page.bytes());
    }
    /// Maps a page; its mapping must be loaded.
    #[inline]
    pub fn update(&mut self, lpn: Lpn, ppn: Ppn) {
        assert!(self.is_loaded(lpn), "update of a mapping that is not in RAM");
        let (tp, rlpn) = self.split(lpn);
        self.change(tp, |page| page.update(rlpn, ppn));
    }
    /// Unmaps a page; its mapping must be loaded.
    pub fn unmap(&mut self, lpn: Lpn) {
        assert!(self.is_loaded(lpn), "trim of a mapping that is not in RAM");
        let (tp, rlpn) = self.split(lpn);
        self.change(tp, |page| page.unmap(rlpn));
    }

    /// Loads the mappings of `part` that are not in RAM from the translation page that was just read.
    pub fn load(&mut self, tp: u32, part: Range<u32>, flash: &Translation) {
        let mut places = Vec::with_capacity(part.len());
        let mut at = part.start;
        while at < part.end {
            if self.is_loaded(Lpn(at)) {
                at += 1;
                continue;
            }
            let from = at;
            places.clear();
            while at < part.end && !self.is_loaded(Lpn(at)) {
                self.loaded[at as usize / 64] |= 1 << (at % 64);
                places.push(flash.content(Lpn(at)));
                at += 1;
            }
            let rlpn = self.split(Lpn(from)).1;
            self.change(tp as usize, |page| page.load(rlpn, &places));
        }
    }
    /// Loads a whole resident table.
    pub fn load_all(&mut self, places: &SparseTable<Ppn>) {
        let mut stored = places.stored().peekable();
        let mut part = vec![Ppn::NONE; self.format.entries_per_tp as usize];
        while let Some((tp, _)) = stored.peek().map(|(lpn, _)| self.split(Lpn::from(*lpn))) {
            part.fill(Ppn::NONE);
            while let Some((lpn, ppn)) = stored.next_if(|(lpn, _)| self.split(Lpn::from(*lpn)).0 == tp) {
                part[self.split(Lpn::from(lpn)).1 as usize] = ppn;
            }
            self.change(tp, |page| page.load(0, &part));
        }
    }

    /// Makes a translation page the most recently used one.
    pub fn touch(&mut self, tp: u32) {
        if self.links.is_linked(tp) {
            self.links.move_front(&mut self.recency, tp);
        } else {
            self.links.push_front(&mut self.recency, tp);
            self.bytes += HEADER_BYTES;
        }
    }
    /// The least recently used translation page.
    pub fn victim(&self) -> Option<u32> {
        self.recency.back()
    }
    /// Forgets a translation page.
    pub fn drop(&mut self, tp: u32) {
        self.links.remove(&mut self.recency, tp);
        self.change(tp as usize, CompressedPage::clear);
        self.bytes -= HEADER_BYTES;
        let from = tp * self.format.entries_per_tp;
        let end = (from + self.format.entries_per_tp).min(self.loaded.len() as u32 * 64);
        for lpn in from..end {
            self.loaded[lpn as usize / 64] &= !(1 << (lpn % 64));
        }
    }

    /// Checks entries, bytes and clean mappings; panics on a violation. For tests.
    pub fn check(&self, flash: &Translation) {
        let mut bytes = 0;
        for (tp, page) in self.pages.iter().enumerate() {
            page.check();
            let held = self.resident || self.links.is_linked(tp as u32);
            bytes += u64::from(page.bytes()) + if held { HEADER_BYTES } else { 0 };
            assert!(held || page.bytes() == 0, "entries of a translation page that is not in RAM");
        }
        assert_eq!(bytes, self.bytes, "RAM of the mapping table");
        for lpn in (0..self.loaded.len() as u32 * 64).map(Lpn).filter(|lpn| self.is_loaded(*lpn)) {
            let tp = self.split(lpn).0;
            let same = self.pages[tp].is_dirty() || self.look_up(lpn) == flash.content(lpn);
            assert!(same, "clean mapping of lpn {} differs from flash", lpn.0);
        }
    }
}
