//! The cached mapping table of the demand-mapped FTLs: a segmented LRU of mapping entries.
//!
//! Segmented LRU (Karedla, Love and Wherry 1994), as DFTL cites it: a miss enters at the MRU end of the probation
//! segment; a hit there moves the entry to the MRU end of the protected segment, whose LRU entry goes back to the MRU
//! end of probation when the segment is full; the victim is the LRU entry of probation, else of protected. With a
//! protected capacity of 0 it is a plain LRU.
//!
//! Entries live in a slab of fixed size, chained by index; a table leads from the LPN to the entry. An access neither
//! hashes nor allocates.

use crate::types::{Lpn, Ppn};

const NONE: u32 = u32::MAX;
const PROBATION: usize = 0;
const PROTECTED: usize = 1;

/// One cached mapping.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: Lpn,
    ppn: Ppn,
    /// Towards the LRU end.
    older: u32,
    /// Towards the MRU end.
    newer: u32,
    segment: u8,
    dirty: bool,
}

/// A list through the slab.
#[derive(Clone, Copy, Debug)]
struct Segment {
    lru: u32,
    mru: u32,
    len: u32,
}

const EMPTY: Segment = Segment { lru: NONE, mru: NONE, len: 0 };

/// Index of an entry; valid until the entry is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cached(u32);

/// The cached mapping table. See the module text.
#[derive(Debug)]
pub struct Cmt {
    slab: Vec<Entry>,
    unused: Vec<u32>,
    by_lpn: Vec<u32>,
    segments: [Segment; 2],
    capacity: u32,
    protected_capacity: u32,
}

impl Cmt {
    /// An empty table for `capacity` entries over `logical_pages` pages.
    pub fn new(logical_pages: u32, capacity: u32, protected_capacity: u32) -> Self {
        assert!(capacity > 0 && protected_capacity <= capacity);
        Self {
            slab: Vec::with_capacity(capacity.min(logical_pages) as usize),
            unused: Vec::new(),
            by_lpn: vec![NONE; logical_pages as usize],
            segments: [EMPTY; 2],
            capacity,
            protected_capacity,
        }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.slab.clear();
        self.unused.clear();
        self.by_lpn.fill(NONE);
        self.segments = [EMPTY; 2];
    }

    /// Entries held.
    #[inline]
    pub const fn len(&self) -> u32 {
        self.segments[PROBATION].len + self.segments[PROTECTED].len
    }
    /// True without entries.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// True if an entry must go before another comes.
    #[inline]
    pub const fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }
    /// Entries it can hold.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }
    /// The entry of a page.
    #[inline]
    pub fn find(&self, lpn: Lpn) -> Option<Cached> {
        let at = self.by_lpn[lpn.index()];
        (at != NONE).then_some(Cached(at))
    }
    /// Page of an entry.
    #[inline]
    pub fn lpn(&self, entry: Cached) -> Lpn {
        self.slab[entry.0 as usize].lpn
    }
    /// Mapping of an entry; [`Ppn::NONE`] for a page that is not mapped.
    #[inline]
    pub fn ppn(&self, entry: Cached) -> Ppn {
        self.slab[entry.0 as usize].ppn
    }
    /// True if the translation page on flash tells something else.
    #[inline]
    pub fn is_dirty(&self, entry: Cached) -> bool {
        self.slab[entry.0 as usize].dirty
    }
    /// The mapping changed.
    #[inline]
    pub fn set(&mut self, entry: Cached, ppn: Ppn) {
        let entry = &mut self.slab[entry.0 as usize];
        entry.ppn = ppn;
        entry.dirty = true;
    }
    /// The translation page on flash tells the same now.
    #[inline]
    pub fn set_clean(&mut self, entry: Cached) {
        self.slab[entry.0 as usize].dirty = false;
    }

    /// An access found this entry.
    #[inline]
    pub fn hit(&mut self, entry: Cached) {
        let from = usize::from(self.slab[entry.0 as usize].segment);
        self.unlink(entry.0);
        if from == PROBATION && self.protected_capacity == 0 {
            self.push_mru(entry.0, PROBATION);
            return;
        }
        if self.segments[PROTECTED].len >= self.protected_capacity {
            let demoted = self.segments[PROTECTED].lru;
            self.unlink(demoted);
            self.push_mru(demoted, PROBATION);
        }
        self.push_mru(entry.0, PROTECTED);
    }

    /// Adds an entry that is not there, clean, after a miss.
    pub fn insert(&mut self, lpn: Lpn, ppn: Ppn) -> Cached {
        assert!(!self.is_full() && self.find(lpn).is_none());
        let entry = Entry { lpn, ppn, older: NONE, newer: NONE, segment: 0, dirty: false };
        let at = if let Some(at) = self.unused.pop() {
            self.slab[at as usize] = entry;
            at
        } else {
            self.slab.push(entry);
            self.slab.len() as u32 - 1
        };
        self.by_lpn[lpn.index()] = at;
        self.push_mru(at, PROBATION);
        Cached(at)
    }

    /// The entry to evict.
    ///
    /// # Panics
    /// If the table is empty.
    #[inline]
    pub fn victim(&self) -> Cached {
        let segment = if self.segments[PROBATION].len > 0 { PROBATION } else { PROTECTED };
        assert!(self.segments[segment].len > 0, "an empty table has no victim");
        Cached(self.segments[segment].lru)
    }

    /// Entries of the probation segment from LRU to MRU.
    pub fn oldest_first(&self) -> impl Iterator<Item = Cached> + '_ {
        self.chain(PROBATION).map(Cached)
    }

    /// Slab indices of a segment from LRU to MRU.
    fn chain(&self, segment: usize) -> impl Iterator<Item = u32> + '_ {
        let next = |at: u32| (at != NONE).then_some(at);
        std::iter::successors(next(self.segments[segment].lru), move |at| next(self.slab[*at as usize].newer))
    }

    /// Removes an entry.
    #[inline]
    pub fn remove(&mut self, entry: Cached) {
        self.unlink(entry.0);
        let lpn = self.lpn(entry);
        self.by_lpn[lpn.index()] = NONE;
        self.unused.push(entry.0);
    }

    /// Entries of the probation (`false`) or protected (`true`) segment from LRU to MRU: `(lpn, ppn, dirty)`.
    pub fn segment(&self, protected: bool) -> impl Iterator<Item = (Lpn, Ppn, bool)> + '_ {
        self.chain(usize::from(protected)).map(|at| {
            let entry = &self.slab[at as usize];
            (entry.lpn, entry.ppn, entry.dirty)
        })
    }

    /// Checks lists and table against each other, and clean entries against flash; panics on a violation. For tests.
    pub fn check(&self, on_flash: impl Fn(Lpn) -> Ppn) {
        assert!(self.len() <= self.capacity && self.segments[PROTECTED].len <= self.protected_capacity);
        let mut listed = 0;
        for protected in [false, true] {
            for (lpn, ppn, dirty) in self.segment(protected) {
                assert!(dirty || ppn == on_flash(lpn), "clean entry of lpn {} differs from flash", lpn.0);
                let entry = self.find(lpn).expect("a listed entry is in the table");
                assert_eq!(self.slab[entry.0 as usize].segment, u8::from(protected));
                listed += 1;
            }
        }
        assert_eq!(listed, self.len());
        assert_eq!(self.by_lpn.iter().filter(|at| **at != NONE).count() as u32, listed);
    }

    #[inline]
    fn unlink(&mut self, at: u32) {
        let Entry { older, newer, segment, .. } = self.slab[at as usize];
        let list = &mut self.segments[usize::from(segment)];
        list.len -= 1;
        if older == NONE {
            list.lru = newer;
        } else {
            self.slab[older as usize].newer = newer;
        }
        if newer == NONE {
            list.mru = older;
        } else {
            self.slab[newer as usize].older = older;
        }
    }

    #[inline]
    fn push_mru(&mut self, at: u32, segment: usize) {
        let list = &mut self.segments[segment];
        let older = std::mem::replace(&mut list.mru, at);
        list.len += 1;
        if older == NONE {
            list.lru = at;
        } else {
            self.slab[older as usize].newer = at;
        }
        let entry = &mut self.slab[at as usize];
        (entry.older, entry.newer, entry.segment) = (older, NONE, segment as u8);
    }
}
