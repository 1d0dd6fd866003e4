//! The cached mapping table of the demand-mapped FTLs: mapping entries in one of three orders.
//!
//! Segmented LRU (Karedla, Love and Wherry 1994), as DFTL cites it: a miss enters at the MRU end of the probation
//! segment; a hit there moves the entry to the MRU end of the protected segment, whose LRU entry goes back to the MRU
//! end of probation when the segment is full; the victim is the LRU entry of probation, else of protected. With a
//! protected capacity of 0 it is a plain LRU.
//!
//! Ages (DiskSim FlashSim, `dftl.c`): an entry has an age that a hit raises by 1. A miss enters the protected segment
//! with the largest age in it plus 1; when the segment is full, its entry with the smallest age goes to probation. A hit
//! in probation exchanges the entry with the youngest age of the protected segment if that is not larger. The victim is
//! the entry of probation with the smallest age. Ties: the lower page number.
//!
//! Clock (EagleTree, `ftl_cache`): two queues, of clean and of dirty entries. An entry is hot 1 when it enters, and a
//! hit adds 1. The hand takes the oldest entry of the clean queue: a dirty one moves to the dirty queue, a hot one
//! becomes 1 less hot and goes to the end, a cold one is the victim. When a whole turn finds none, the dirty queue has
//! its turn in the same way, and so on.
//!
//! Entries live in a [`Slab`], chained by index. In LRU order an access neither hashes nor allocates.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ftl::cache::slab::{Cached, Mapping, Mappings, Slab};
use crate::list::{Links, List};
use crate::types::{Lpn, Ppn};

const PROBATION: usize = 0;
const PROTECTED: usize = 1;
/// Queues of the clock.
const CLEAN: usize = PROBATION;
const DIRTY: usize = PROTECTED;

/// Order of a cached mapping table: segmented LRU, ages in two tables, or a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Segmented LRU.
    Segmented,
    /// FlashSim's two tables ordered by counters of hits, which it calls a segmented LRU.
    Age,
    /// Queues of clean and dirty entries, clean ones first; each hit spares one turn.
    Clock,
}

/// A mapping and its place in the order.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    mapping: Mapping,
    /// Age or heat; 0 in a segmented LRU.
    rank: u64,
    segment: u8,
}

impl AsRef<Mapping> for Entry {
    #[inline]
    fn as_ref(&self) -> &Mapping {
        &self.mapping
    }
}

/// The cached mapping table (CMT): single mapping entries in one of three orders.
#[derive(Debug)]
pub struct Cmt {
    slab: Slab<Entry>,
    order: Order,
    links: Links,
    /// Segments or queues, the MRU or newest entry at the front; empty under [`Order::Age`].
    lists: [List; 2],
    /// Segments by (age, page); empty but under [`Order::Age`].
    ages: [BTreeSet<(u64, u32)>; 2],
    capacity: u32,
    protected_capacity: u32,
}

impl Mappings for Cmt {
    type Entry = Entry;
    #[inline]
    fn slab(&self) -> &Slab<Entry> {
        &self.slab
    }
}

impl Cmt {
    /// An empty table for `capacity` entries over `logical_pages` pages.
    pub fn new(logical_pages: u32, order: Order, capacity: u32, protected_capacity: u32) -> Self {
        assert!(capacity > 0 && protected_capacity <= capacity);
        Self {
            slab: Slab::new(logical_pages),
            order,
            links: Links::default(),
            lists: [List::default(); 2],
            ages: [BTreeSet::new(), BTreeSet::new()],
            capacity,
            protected_capacity,
        }
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        *self = Self::new(self.slab.logical_pages(), self.order, self.capacity, self.protected_capacity);
    }

    /// True if an entry must go before another comes.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }
    /// Entries it can hold.
    pub const fn capacity(&self) -> u32 {
        self.capacity
    }
    /// The mapping changed.
    #[inline]
    pub fn set(&mut self, entry: Cached, ppn: Ppn) {
        let mapping = &mut self.slab[entry.0].mapping;
        (mapping.ppn, mapping.dirty) = (ppn, true);
    }
    /// The mapping changed in RAM and on flash alike.
    pub fn set_everywhere(&mut self, entry: Cached, ppn: Ppn) {
        self.slab[entry.0].mapping.ppn = ppn;
    }
    /// The translation page on flash tells the same now.
    #[inline]
    pub fn set_clean(&mut self, entry: Cached) {
        self.slab[entry.0].mapping.dirty = false;
    }

    /// An access found this entry.
    #[inline]
    pub fn hit(&mut self, entry: Cached) {
        match self.order {
            Order::Segmented => self.hit_segmented(entry.0),
            Order::Age => self.hit_aged(entry.0),
            Order::Clock => self.slab[entry.0].rank += 1,
        }
    }

    #[inline]
    fn hit_segmented(&mut self, at: u32) {
        if usize::from(self.slab[at].segment) == PROTECTED {
            return self.links.move_front(&mut self.lists[PROTECTED], at);
        }
        if self.protected_capacity == 0 {
            return self.links.move_front(&mut self.lists[PROBATION], at);
        }
        self.leave(at);
        if self.segment_len(PROTECTED) >= self.protected_capacity {
            self.change_segment(self.lists[PROTECTED].back(), PROBATION);
        }
        self.enter(at, PROTECTED);
    }

    fn hit_aged(&mut self, at: u32) {
        let from = usize::from(self.slab[at].segment);
        self.leave(at);
        self.slab[at].rank += 1;
        let youngest = self.youngest(PROTECTED);
        match youngest.filter(|other| from == PROBATION && self.slab[*other].rank <= self.slab[at].rank) {
            Some(other) => {
                self.change_segment(Some(other), PROBATION);
                self.enter(at, PROTECTED);
            }
            None => self.enter(at, from),
        }
    }

    /// Adds an entry that is not there, clean, after a miss.
    pub fn insert(&mut self, lpn: Lpn, ppn: Ppn) -> Cached {
        assert!(!self.is_full(), "an entry must go first");
        let (rank, segment) = match self.order {
            Order::Segmented => (0, PROBATION),
            Order::Clock => (1, CLEAN),
            Order::Age => {
                let segment = if self.protected_capacity == 0 { PROBATION } else { PROTECTED };
                if segment == PROTECTED && self.segment_len(PROTECTED) >= self.protected_capacity {
                    self.change_segment(self.youngest(PROTECTED), PROBATION);
                }
                (self.ages[segment].last().map_or(1, |(age, _)| age + 1), segment)
            }
        };
        let at = self.slab.insert(lpn, Entry { mapping: Mapping::clean(lpn, ppn), rank, segment: 0 });
        self.enter(at, segment);
        Cached(at)
    }

    /// The entry to evict. The hand of the clock moves.
    ///
    /// # Panics
    /// If the table is empty.
    #[inline]
    pub fn victim(&mut self) -> Cached {
        let found = match self.order {
            Order::Segmented => self.lists[PROBATION].back().or(self.lists[PROTECTED].back()),
            Order::Age => self.youngest(PROBATION).or_else(|| self.youngest(PROTECTED)),
            Order::Clock => self.turn(),
        };
        Cached(found.expect("an empty table has no victim"))
    }

    /// Turns the hand of the clock until it finds a cold entry. Every step but the last takes back the heat of a hit or
    /// moves an entry once, so that it ends.
    fn turn(&mut self) -> Option<u32> {
        while !self.is_empty() {
            for queue in [CLEAN, DIRTY] {
                for _ in 0..self.lists[queue].len() {
                    let at = self.lists[queue].back().expect("counted above");
                    let entry = &mut self.slab[at];
                    let home = if entry.mapping.dirty { DIRTY } else { CLEAN };
                    if home == queue && entry.rank == 0 {
                        return Some(at);
                    }
                    entry.rank -= u64::from(home == queue);
                    self.change_segment(Some(at), home);
                }
            }
        }
        None
    }

    /// Removes an entry.
    #[inline]
    pub fn remove(&mut self, entry: Cached) {
        self.leave(entry.0);
        self.slab.remove(self.lpn(entry));
    }

    /// Entries of the probation (`false`) or protected (`true`) segment, or of the queue of clean or dirty entries, the
    /// one nearest to eviction first: `(lpn, ppn, dirty)`.
    pub fn segment(&self, protected: bool) -> impl Iterator<Item = (Lpn, Ppn, bool)> + '_ {
        let segment = usize::from(protected);
        let listed = std::iter::successors(self.lists[segment].back(), |at| self.links.newer(*at));
        listed.chain(self.ages[segment].iter().filter_map(|(_, lpn)| self.slab.find(Lpn(*lpn)))).map(|at| {
            let Mapping { lpn, ppn, dirty } = self.slab[at].mapping;
            (lpn, ppn, dirty)
        })
    }

    /// Checks segments and table against each other, and clean entries against flash; panics on a violation. For tests.
    pub fn check(&self, on_flash: impl Fn(Lpn) -> Ppn) {
        assert!(self.len() <= self.capacity);
        assert!(self.order == Order::Clock || self.segment_len(PROTECTED) <= self.protected_capacity);
        let mut listed = 0;
        for protected in [false, true] {
            for (lpn, ppn, dirty) in self.segment(protected) {
                assert!(dirty || ppn == on_flash(lpn), "clean entry of lpn {} differs from flash", lpn.0);
                let entry = self.find(lpn).expect("a listed entry is in the table");
                assert_eq!(self.slab[entry.0].segment, u8::from(protected));
                listed += 1;
            }
        }
        assert_eq!(listed, self.len());
    }

    #[inline]
    fn segment_len(&self, segment: usize) -> u32 {
        self.lists[segment].len() + self.ages[segment].len() as u32
    }

    /// The entry of a segment with the smallest age.
    fn youngest(&self, segment: usize) -> Option<u32> {
        self.ages[segment].first().and_then(|(_, lpn)| self.slab.find(Lpn(*lpn)))
    }

    #[inline]
    fn leave(&mut self, at: u32) {
        let Entry { mapping: Mapping { lpn, .. }, segment, rank } = self.slab[at];
        if self.order == Order::Age {
            self.ages[usize::from(segment)].remove(&(rank, lpn.0));
        } else {
            self.links.remove(&mut self.lists[usize::from(segment)], at);
        }
    }

    #[inline]
    fn enter(&mut self, at: u32, segment: usize) {
        let entry = &mut self.slab[at];
        entry.segment = segment as u8;
        if self.order == Order::Age {
            self.ages[segment].insert((entry.rank, entry.mapping.lpn.0));
        } else {
            self.links.push_front(&mut self.lists[segment], at);
        }
    }

    #[inline]
    fn change_segment(&mut self, at: Option<u32>, to: usize) {
        let at = at.expect("a full segment has entries");
        self.leave(at);
        self.enter(at, to);
    }
}
