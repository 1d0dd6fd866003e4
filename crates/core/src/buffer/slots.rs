//! Slots: which page is in which frame of RAM, dirty or clean, in which medium, and with which of its sectors.
//!
//! The engine owns and changes them; policies read them. A resident page has a dense slot number, so policies keep
//! plain `Vec`s indexed by slot.

use std::ops::Range;

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::BufferShape;
use crate::divisor::Divisor;
use crate::sparse::SparseTable;
use crate::types::{Lbn, Lpn, Slot};

/// Memory a frame lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Medium {
    /// Volatile.
    Dram,
    /// Survives a power cut.
    Nvram,
}

/// Page frames by medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Frames {
    /// DRAM frames.
    pub dram: u32,
    /// NVRAM frames.
    pub nvram: u32,
}

impl Frames {
    /// All frames.
    #[inline]
    pub const fn total(self) -> u32 {
        self.dram + self.nvram
    }
}

const DIRTY: u8 = 1;
const NVRAM: u8 = 2;
/// All sectors of the page are in RAM.
const COMPLETE: u8 = 4;
/// The flash read that fills the frame may not have finished.
const FILLING: u8 = 8;
/// The frame holds a page; without this it is free.
const RESIDENT: u8 = 16;
/// It is known since when the page has been dirty.
const DATED: u8 = 32;
/// The page stayed when it was written, which may not be over.
const WRITING: u8 = 64;
/// The page was read ahead of the host, which has not accessed it since.
const AHEAD: u8 = 128;

/// What the engine asks about a slot on every hit, in one look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts(u8);

impl Facts {
    #[inline]
    pub(crate) const fn is_complete(self) -> bool {
        self.0 & COMPLETE != 0
    }
    #[inline]
    pub(crate) const fn is_filling(self) -> bool {
        self.0 & FILLING != 0
    }
    #[inline]
    pub(crate) const fn is_ahead(self) -> bool {
        self.0 & AHEAD != 0
    }
    /// One of the two.
    #[inline]
    pub(crate) const fn is_filling_or_ahead(self) -> bool {
        self.0 & (FILLING | AHEAD) != 0
    }
    #[inline]
    pub(crate) const fn medium(self) -> Medium {
        if self.0 & NVRAM != 0 { Medium::Nvram } else { Medium::Dram }
    }
}

/// What a frame holds: the page and its flags side by side, because evicting a page needs both. A free frame has no
/// flags, and the number of the next free one in place of the page.
#[derive(Clone, Copy, Debug)]
struct Held {
    lpn: Lpn,
    flags: u8,
}

/// The frames and the pages in them.
#[derive(Debug)]
pub struct Slots {
    pages_per_block: u32,
    page_sectors: u32,
    logical_pages: u32,
    frames: Frames,
    /// By LPN: its slot.
    table: SparseTable<Slot>,
    /// By slot.
    held: Vec<Held>,
    /// By slot: sectors in RAM, one bit each, when the page is not complete.
    sectors: Vec<u64>,
    /// By slot: the request that read it ahead, of those that were read ahead; as long as it needs to be.
    ahead_by: Vec<u64>,
    /// The frame freed last, which is used first; behind it a chain through [`Held`].
    free: Slot,
    used: Frames,
    by_block: Divisor,
    /// By logical block: its resident pages.
    resident: Vec<u16>,
    dirty: u32,
}

impl Slots {
    /// Empty slots for a buffer of this shape.
    pub fn new(shape: &BufferShape) -> Self {
        let mut slots = Self {
            pages_per_block: shape.pages_per_block,
            page_sectors: shape.page_sectors,
            logical_pages: shape.logical_pages,
            frames: shape.frames,
            // Without a buffer the tables would only cost memory.
            table: SparseTable::new(0),
            held: Vec::new(),
            sectors: Vec::new(),
            ahead_by: Vec::new(),
            free: Slot::NONE,
            used: Frames::default(),
            by_block: Divisor::new(shape.pages_per_block),
            resident: Vec::new(),
            dirty: 0,
        };
        slots.set_frames(shape.frames);
        slots
    }

    /// Pages the host can address.
    pub(crate) const fn logical_pages(&self) -> u32 {
        self.logical_pages
    }
    /// Frames there are.
    #[inline]
    pub const fn frames(&self) -> Frames {
        self.frames
    }
    /// Frames in use.
    #[inline]
    pub const fn used(&self) -> Frames {
        self.used
    }
    /// True while another page fits into the DRAM.
    #[inline]
    pub const fn has_room(&self) -> bool {
        self.used.dram < self.frames.dram
    }
    /// Dirty pages.
    pub const fn dirty_pages(&self) -> u32 {
        self.dirty
    }
    /// Sectors of a page.
    #[inline]
    pub(crate) const fn page_sectors(&self) -> u32 {
        self.page_sectors
    }
    /// Slot of a resident page, or [`Slot::NONE`].
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Slot {
        // Without a buffer there is no table.
        self.table.find(lpn.index())
    }
    /// Page in a slot.
    #[inline]
    pub fn lpn(&self, slot: Slot) -> Lpn {
        self.held[slot.index()].lpn
    }
    /// Logical block of the page in a slot.
    #[inline]
    pub fn lbn(&self, slot: Slot) -> Lbn {
        self.lbn_of(self.lpn(slot))
    }
    /// Logical block of any page.
    #[inline]
    pub fn lbn_of(&self, lpn: Lpn) -> Lbn {
        Lbn(self.by_block.quotient(lpn.0))
    }
    /// True if the page must be written back before its frame is given away.
    #[inline]
    pub fn is_dirty(&self, slot: Slot) -> bool {
        self.held[slot.index()].flags & DIRTY != 0
    }
    /// Sectors of the page that are in RAM: all of them, unless the host wrote a part and the rest was not fetched.
    #[inline]
    pub fn sectors_in_ram(&self, slot: Slot) -> u32 {
        if self.is_complete(slot) { self.page_sectors } else { self.sectors[slot.index()].count_ones() }
    }
    /// Memory the page lies in.
    #[inline]
    pub fn medium(&self, slot: Slot) -> Medium {
        self.facts(slot).medium()
    }
    /// The page in the form of the golden files: `lpn` and `dirty`.
    pub fn golden(&self, slot: Slot) -> Value {
        json!({"lpn": self.lpn(slot).0, "dirty": u8::from(self.is_dirty(slot))})
    }
    /// The same with a flag that the policy keeps for the page.
    pub fn golden_flag(&self, slot: Slot, name: &str, set: bool) -> Value {
        let mut page = self.golden(slot);
        page[name] = json!(u8::from(set));
        page
    }
    /// Resident pages of a logical block.
    #[inline]
    pub fn resident_pages(&self, lbn: Lbn) -> u32 {
        u32::from(self.resident[lbn.index()])
    }
    /// Resident pages of a logical block, ascending.
    pub fn of_block(&self, lbn: Lbn) -> impl Iterator<Item = Slot> + '_ {
        let first = lbn.0 * self.pages_per_block;
        // The last block of the device may be short: stop when all resident pages are found.
        (first..first + self.pages_per_block)
            .map(|lpn| self.find(Lpn(lpn)))
            .filter(|slot| slot.is_some())
            .take(self.resident_pages(lbn) as usize)
    }
    /// Highest slot number handed out so far, plus one: policies size their tables by it.
    #[inline]
    pub fn slot_count(&self) -> usize {
        self.held.len()
    }
    /// Gives every slot that was handed out an entry of a table, new ones this value.
    #[inline]
    pub fn extend_table<T: Clone>(&self, table: &mut Vec<T>, value: T) {
        if table.len() < self.slot_count() {
            table.resize(self.slot_count(), value);
        }
    }
    /// Resident pages in slot order.
    pub fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..self.held.len()).map(Slot::from).filter(|slot| self.is_resident(*slot))
    }

    /// The dirty pages in these media, in no order.
    pub(crate) fn dirty_in(&self, media: &[Medium]) -> Vec<Slot> {
        self.iter().filter(|slot| self.is_dirty(*slot) && media.contains(&self.medium(*slot))).collect()
    }
    /// The dirty pages of a block that lie in this medium.
    pub(crate) fn dirty_of_block(&self, lbn: Lbn, medium: Medium) -> Vec<Slot> {
        self.of_block(lbn).filter(|slot| self.is_dirty(*slot) && self.medium(*slot) == medium).collect()
    }
    /// The dirty pages of a request that lie in this medium.
    pub(crate) fn dirty_among(&self, lpns: Range<u64>, medium: Medium, into: &mut Vec<Slot>) {
        let pages = lpns.map(|lpn| self.find(Lpn(lpn as u32)));
        into.extend(pages.filter(|slot| slot.is_some() && self.is_dirty(*slot) && self.medium(*slot) == medium));
    }
    /// Brings pages into the order of their addresses, each once.
    pub(crate) fn arrange(&self, pages: &mut Vec<Slot>) {
        pages.sort_unstable_by_key(|slot| self.lpn(*slot));
        pages.dedup();
    }
    /// How many of these pages, from the first on, belong to its block.
    pub(crate) fn of_one_block(&self, pages: &[Slot]) -> usize {
        let Some(first) = pages.first() else { return 0 };
        let lbn = self.lbn(*first);
        pages.iter().take_while(|slot| self.lbn(**slot) == lbn).count()
    }
    pub(crate) fn set_frames(&mut self, frames: Frames) {
        self.frames = frames;
        if self.table.is_empty() && frames.total() > 0 {
            self.table = SparseTable::new(self.logical_pages as usize);
            self.resident = vec![0; self.logical_pages.div_ceil(self.pages_per_block) as usize];
        }
    }
    #[inline]
    pub(crate) fn facts(&self, slot: Slot) -> Facts {
        Facts(self.held[slot.index()].flags)
    }
    #[inline]
    pub(crate) fn is_complete(&self, slot: Slot) -> bool {
        self.facts(slot).is_complete()
    }
    #[inline]
    pub(crate) fn has_sectors(&self, slot: Slot, sectors: u64) -> bool {
        self.is_complete(slot) || self.sectors[slot.index()] & sectors == sectors
    }
    /// Sectors of an incomplete page that are not in RAM.
    pub(crate) fn missing_sectors(&self, slot: Slot) -> u64 {
        !self.sectors[slot.index()] & self.full_mask()
    }
    #[inline]
    pub(crate) const fn full_mask(&self) -> u64 {
        u64::MAX >> (64 - self.page_sectors)
    }
    #[inline]
    pub(crate) fn add_sectors(&mut self, slot: Slot, sectors: u64) {
        let full = self.full_mask();
        let flags = &mut self.held[slot.index()].flags;
        if *flags & COMPLETE == 0 {
            self.sectors[slot.index()] |= sectors;
            if self.sectors[slot.index()] == full {
                *flags |= COMPLETE;
            }
        }
    }
    /// The host writes to the page; if it is not complete, the caller adds the sectors.
    #[inline]
    pub(crate) fn write(&mut self, slot: Slot) -> Facts {
        let flags = &mut self.held[slot.index()].flags;
        self.dirty += u32::from(*flags & DIRTY == 0);
        *flags |= DIRTY;
        Facts(*flags)
    }
    pub(crate) fn set_clean(&mut self, slot: Slot) {
        let flags = &mut self.held[slot.index()].flags;
        self.dirty -= u32::from(*flags & DIRTY != 0);
        *flags &= !(DIRTY | DATED);
    }
    /// True if the frame holds a page.
    pub fn is_resident(&self, slot: Slot) -> bool {
        self.held[slot.index()].flags & RESIDENT != 0
    }
    /// True if it is known since when the page has been dirty: until it is clean, leaves or moves.
    pub(crate) fn is_dated(&self, slot: Slot) -> bool {
        self.held[slot.index()].flags & DATED != 0
    }
    pub(crate) fn set_dated(&mut self, slot: Slot) {
        self.held[slot.index()].flags |= DATED;
    }
    /// True if the page stayed when it was written, which may not be over.
    pub(crate) fn is_writing(&self, slot: Slot) -> bool {
        self.held[slot.index()].flags & WRITING != 0
    }
    pub(crate) fn set_writing(&mut self, slot: Slot) {
        self.held[slot.index()].flags |= WRITING;
    }
    pub(crate) fn set_filling(&mut self, slot: Slot) {
        self.held[slot.index()].flags |= FILLING;
    }
    pub(crate) fn set_filled(&mut self, slot: Slot) {
        self.held[slot.index()].flags &= !FILLING;
    }
    /// The page was read ahead by the request with this number.
    pub(crate) fn set_ahead(&mut self, slot: Slot, request: u64) {
        self.held[slot.index()].flags |= AHEAD;
        if self.ahead_by.len() <= slot.index() {
            self.ahead_by.resize(slot.index() + 1, 0);
        }
        self.ahead_by[slot.index()] = request;
    }
    /// The host accesses a page that [`is_ahead`](Facts::is_ahead): the number of the request that read it ahead.
    pub(crate) fn take_ahead(&mut self, slot: Slot) -> u64 {
        self.held[slot.index()].flags &= !AHEAD;
        self.ahead_by[slot.index()]
    }
    pub(crate) fn set_medium(&mut self, slot: Slot, medium: Medium) {
        if self.medium(slot) == medium {
            return;
        }
        let flags = &mut self.held[slot.index()].flags;
        *flags = (*flags ^ NVRAM) & !DATED;
        let (to, from) = match medium {
            Medium::Nvram => (&mut self.used.nvram, &mut self.used.dram),
            Medium::Dram => (&mut self.used.dram, &mut self.used.nvram),
        };
        *to += 1;
        *from -= 1;
    }

    /// A page takes a frame: clean and incomplete.
    #[inline]
    pub(crate) fn insert(&mut self, lpn: Lpn, medium: Medium) -> Slot {
        let slot = self.take(lpn, medium, 0);
        self.sectors[slot.index()] = 0;
        slot
    }
    /// A page takes a frame: clean and complete.
    #[inline]
    pub(crate) fn insert_complete(&mut self, lpn: Lpn, medium: Medium) -> Slot {
        self.take(lpn, medium, COMPLETE)
    }
    #[inline]
    fn take(&mut self, lpn: Lpn, medium: Medium, flags: u8) -> Slot {
        debug_assert!(self.find(lpn).is_none());
        if self.free.is_none() {
            self.grow();
        }
        let slot = self.free;
        let (used, flag) = match medium {
            Medium::Dram => (&mut self.used.dram, 0),
            Medium::Nvram => (&mut self.used.nvram, NVRAM),
        };
        *used += 1;
        let held = &mut self.held[slot.index()];
        self.free = Slot(held.lpn.0);
        *held = Held { lpn, flags: flags | flag | RESIDENT };
        self.table.set(lpn.index(), slot);
        self.resident[self.by_block.quotient(lpn.0) as usize] += 1;
        slot
    }

    /// The frame is free again.
    #[inline]
    pub(crate) fn release(&mut self, slot: Slot) {
        let free = Held { lpn: Lpn(self.free.0), flags: 0 };
        let Held { lpn, flags } = std::mem::replace(&mut self.held[slot.index()], free);
        assert!(flags & RESIDENT != 0, "slot {} released twice", slot.0);
        self.free = slot;
        self.dirty -= u32::from(flags & DIRTY != 0);
        match Facts(flags).medium() {
            Medium::Dram => self.used.dram -= 1,
            Medium::Nvram => self.used.nvram -= 1,
        }
        self.table.take(lpn.index());
        self.resident[self.by_block.quotient(lpn.0) as usize] -= 1;
    }

    /// Slot of a resident page; of another one the highest slot, without a branch on which it is. There must be one.
    #[inline]
    pub(crate) fn find_any(&self, lpn: Lpn) -> Slot {
        Slot(self.find(lpn).0.min(self.held.len() as u32 - 1))
    }
    /// Bytes of the table by page number: a random access to it is as far away as this is large.
    pub(crate) const fn table_bytes(&self) -> usize {
        self.table.len() * size_of::<Slot>()
    }
    /// Prefetches the table entry of a page.
    #[inline]
    pub(crate) fn look_ahead(&self, lpn: Lpn) {
        self.table.prefetch(lpn.index());
    }
    /// Prefetches what will be needed when the first page leaves, and the frame of the second. Returns the
    /// first page.
    #[inline]
    pub(crate) fn look_ahead_victims(&self, [first, second]: [Slot; 2]) -> Option<Lpn> {
        prefetch_index(&self.held, second.index());
        let lpn = self.held.get(first.index())?.lpn;
        self.look_ahead(lpn);
        Some(lpn)
    }

    /// One more frame, which is free.
    #[cold]
    fn grow(&mut self) {
        self.free = Slot::from(self.held.len());
        self.held.push(Held { lpn: Lpn(Slot::NONE.0), flags: 0 });
        self.sectors.push(0);
    }
}
