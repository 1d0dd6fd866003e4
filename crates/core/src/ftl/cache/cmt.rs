//! The cached mapping table (CMT) of FTLs whose map lies on flash: single mapping entries, in an order that a parameter
//! chooses. The orders are plug-ins, one file and one line each, compiled into the path of a look-up.
//!
//! A table has two segments of entries, *probation* and *protected*. An order says where a miss enters (`admit`), what a hit
//! changes (`hit`) and which entry goes (`victim`).
//!
//! Entries live in a [`Slab`], chained by index. In LRU order an access neither hashes nor allocates.

use std::collections::BTreeSet;

use crate::ftl::cache::slab::{Cached, Mapping, Mappings, Slab};
use crate::list::{Links, List};
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice};
use crate::types::{Lpn, Ppn};

/// Segments; an order may call them something else.
const PROBATION: usize = 0;
const PROTECTED: usize = 1;

macro_rules! orders {
    ($($name:ident,)+) => {
        rules::rules! {
            /// All orders of a cached mapping table; the first is the default.
            CMT_ORDERS: CmtOrderRule, "cmt";
            $($name,)+
        }

        #[expect(non_camel_case_types, reason = "they are names of modules")]
        enum Index { $($name,)+ }

        impl Cmt {
            /// An access found this entry.
            #[inline]
            pub fn hit(&mut self, entry: Cached) {
                $(if self.order.index() == Index::$name as u8 {
                    return $name::hit(self, entry.0);
                })+
                unreachable!("every order is in the list")
            }
            /// Rank and segment of an entry that comes; makes room in the segment.
            #[inline]
            fn admit(&mut self) -> (u64, usize) {
                $(if self.order.index() == Index::$name as u8 {
                    return $name::admit(self);
                })+
                unreachable!("every order is in the list")
            }
            /// The entry to evict. The hand of a clock moves.
            ///
            /// # Panics
            /// If the table is empty.
            #[inline]
            pub fn victim(&mut self) -> Cached {
                $(if self.order.index() == Index::$name as u8 {
                    return Cached($name::victim(self).expect("an empty table has no victim"));
                })+
                unreachable!("every order is in the list")
            }
        }
    };
}

orders! {
    segmented,
    age,
    clock,
}

/// What is known of an order.
#[derive(Clone, Copy, Debug)]
pub struct CmtOrderRule {
    /// Entries of a segment stand in the order of their rank, ties by page number; else in the order in which they came.
    by_rank: bool,
    /// The protected segment holds no more than its capacity.
    pub(crate) protects: bool,
}

impl rules::Rule for CmtOrderRule {
    const KIND: &'static str = "cmt-order";
    const ALL: &'static [Plugin<Self>] = CMT_ORDERS;
    const KEY: &'static str = "ftl.cmt_order";
    const CHOSEN_BY: &'static str = "FTLs with a cached mapping table";
}

/// An order, as a configuration names it.
pub type CmtOrder = Choice<CmtOrderRule>;

/// A mapping and its place in the order.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    mapping: Mapping,
    /// Age or heat; 0 where the order has neither.
    rank: u64,
    segment: u8,
}

impl AsRef<Mapping> for Entry {
    #[inline]
    fn as_ref(&self) -> &Mapping {
        &self.mapping
    }
}

/// The cached mapping table (CMT): single mapping entries in an order.
#[derive(Debug)]
pub struct Cmt {
    slab: Slab<Entry>,
    order: CmtOrder,
    /// [`CmtOrderRule::by_rank`]
    by_rank: bool,
    links: Links,
    /// Segments or queues, the MRU or newest entry at the front; empty if they stand by rank.
    lists: [List; 2],
    /// Segments by (rank, page), if they stand by rank; else empty.
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
    pub fn new(logical_pages: u32, order: CmtOrder, capacity: u32, protected_capacity: u32) -> Self {
        assert!(capacity > 0 && protected_capacity <= capacity);
        Self {
            slab: Slab::new(logical_pages),
            order,
            by_rank: order.rule().by_rank,
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

    /// Adds an entry that is not there, clean, after a miss.
    pub fn insert(&mut self, lpn: Lpn, ppn: Ppn) -> Cached {
        assert!(!self.is_full(), "an entry must go first");
        let (rank, segment) = self.admit();
        let at = self.slab.insert(lpn, Entry { mapping: Mapping::clean(lpn, ppn), rank, segment: 0 });
        self.enter(at, segment);
        Cached(at)
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
        assert!(!self.order.rule().protects || self.segment_len(PROTECTED) <= self.protected_capacity);
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
        if self.by_rank {
            self.ages[usize::from(segment)].remove(&(rank, lpn.0));
        } else {
            self.links.remove(&mut self.lists[usize::from(segment)], at);
        }
    }

    #[inline]
    fn enter(&mut self, at: u32, segment: usize) {
        let entry = &mut self.slab[at];
        entry.segment = segment as u8;
        if self.by_rank {
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
