//! dftl - Demand-based page mapping (DFTL)
//!
//! # Source
//! Aayush Gupta, Youngjae Kim and Bhuvan Urgaonkar, "DFTL: a flash translation layer employing demand-based selective
//! caching of page-level address mappings", ASPLOS 2009 (read through its public implementations); defaults from DiskSim
//! FlashSim, which AALRU used. Segmented LRU: Ramakrishna Karedla, J. Spencer Love and Bradley G. Wherry, "Caching
//! strategies to improve disk system performance", IEEE Computer 27(3), 1994.
//!
//! # What it does
//! The page map lies on flash in translation pages (TP); RAM holds a cached mapping table (CMT) of single entries and
//! the global translation directory (GTD), which tells where each TP is. A look-up that misses reads one TP. A dirty
//! entry is evicted by reading its TP and programming it again. Data and translation blocks share one free list; when
//! no more than `reserve` blocks are free, garbage collection takes victims among both kinds until more are. The pages
//! of a data victim are copied; a mapping in the CMT is changed there and becomes dirty (lazy copying), the others cost
//! one read and one program per distinct TP (batch update).
//!
//! One page write: look-up (which may evict and fetch), make room, program, invalidate the old copy, entry dirty. A
//! read: look-up, then one data read. A trim: look-up, then the entry says 'not mapped' and is dirty.
//!
//! # Parameters
//! RAM: `8 * cmt_entries + 4 * ceil(logical_pages / entries_per_tp)` bytes, and 1 a logical page with several streams.
//!
//! # Deviations and chosen readings
//! - The host collects `while free <= reserve`, not once per allocation: collecting one data block can take a data and
//!   a translation block, so once per allocation runs dry.
//! - When translation pages are rewritten during a collection and at most one block is free, a translation block is
//!   compacted first. The paper does not say how the collector itself finds room.
//! - `frontiers = "die"`: page `l` goes to die `l % dies` (or where `placement` says), the TP `t` to channel
//!   `t % channels`; a victim's pages stay on its die. Blocks are collected per channel, so the reserve is kept on each. In
//!   slices (`gc_slice`), which are for drives, TP `t` goes to die `t % dies` and blocks are collected per die: a group empties
//!   one block at a time, and a channel that does so keeps one of its dies busy.
//! - With `write_miss_fetch = false` the old copy is invalidated although no look-up told where it is, as EagleTree
//!   does; the read is not counted.
//! - A request waits for its own look-up, eviction included; garbage collection delays it only through busy dies. A hit
//!   on an entry whose fetch is still on its way does not wait for that fetch.
//! - Every page that is read, written or trimmed is looked up, once each time. A page that is read to be written in the
//!   same batch (padding, a page of which RAM has a part) shares its look-up with the write, and fetches its mapping even
//!   with `write_miss_fetch = false`, because the old copy must be found. A page that was to pad and turns out to be
//!   unwritten has cost a look-up all the same. A page that is read when it enters the buffer and written when it leaves is
//!   looked up twice.
//! - Recovery: the map is rebuilt from the OOB of data pages; all translation blocks are erased and the TPs
//!   rewritten, which always has room. Comparing them with the old ones first would read as many pages as it saves.
//!
//! # Known ambiguities
//! - Whether an eviction writes back only the victim or the whole TP, and whether a write miss fetches: both are
//!   parameters.
//! - FlashSim keeps TPs in the first logical pages; here they have addresses of their own. EagleTree also caches the
//!   mapping of every page that it collects, beyond the size of the CMT, and drops cold entries when they become clean;
//!   both are left out.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::blocks::recover::Winners;
use crate::ftl::cache::cmt::{Cmt, CmtOrder};
use crate::ftl::cache::slab::{Cached, Mappings};
use crate::ftl::frame::space::Frontiers;
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{Frame, MapPolicy, Purpose, Wanted};
use crate::ftl::victim::Victim;
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

/// Declares the `Params` of an FTL with DFTL's cached mapping table: its own, those of the table and the common ones.
macro_rules! cmt_params {
    ($($own:tt)*) => {
        $crate::ftl::frame::demand_params! { by_preset;
            $($own)*
            /// Whose readings are the defaults of what it names.
            preset: $crate::ftl::dftl::DftlPreset = $crate::ftl::dftl::DftlPreset::Paper;
            /// Size of the CMT.
            cmt_entries: Option<u32> = None, in 1.., "entries", absent "8192 (FlashSim)";
            /// The same in bytes, 8 an entry, instead of `cmt_entries`.
            cmt_bytes: Option<$crate::types::Bytes> = None;
            /// Protected segment of the CMT; FlashSim has 6552 of 8192 entries. The clock has none.
            cmt_protected: Option<$crate::ftl::dftl::Protected> = None, absent "0.8 of the entries";
            /// Order of the CMT.
            cmt_order: Option<$crate::ftl::cache::cmt::CmtOrder> = None, absent "`segmented`; flashsim `age`, eagletree `clock`";
            /// Evicting a dirty entry also writes back all other dirty entries of its TP, which stay cached and become clean.
            evict_batch: Option<bool> = None, absent "false; eagletree true";
            /// A write that misses reads the TP; false = it only inserts a dirty entry.
            write_miss_fetch: Option<bool> = None, absent "true; eagletree false";
            /// Collecting a page makes its cached mapping dirty; false = the TP of a clean mapping follows at no cost, which
            /// undercounts translation writes.
            gc_marks_dirty: Option<bool> = None, absent "true; flashsim false";
        }

        impl Params {
            /// What is meant, preset and all.
            fn ways(&self) -> $crate::ftl::dftl::Ways {
                let preset = self.preset.ways();
                $crate::ftl::dftl::Ways {
                    cmt_order: self.cmt_order.unwrap_or(preset.cmt_order),
                    evict_batch: self.evict_batch.unwrap_or(preset.evict_batch),
                    write_miss_fetch: self.write_miss_fetch.unwrap_or(preset.write_miss_fetch),
                    gc_marks_dirty: self.gc_marks_dirty.unwrap_or(preset.gc_marks_dirty),
                    victim: self.victim.unwrap_or(preset.victim),
                    alloc: self.alloc.unwrap_or(preset.alloc),
                    frontiers: preset.frontiers,
                }
            }
            fn table(&self, shape: &$crate::ftl::Shape) -> Result<$crate::ftl::dftl::Table, $crate::error::ConfigError> {
                let Self { cmt_entries, cmt_bytes, cmt_protected, .. } = *self;
                $crate::ftl::dftl::Table::new((cmt_entries, cmt_bytes), cmt_protected, &self.ways(), shape)
            }
            fn common(&self, frontiers: $crate::ftl::frame::space::Frontiers) -> $crate::ftl::frame::Common {
                let $crate::ftl::dftl::Ways { victim, alloc, .. } = self.ways();
                self.common_with((victim, alloc), frontiers)
            }
        }
    };
}
pub(super) use cmt_params;

cmt_params! {
    /// One data and one translation frontier, or a data frontier on every die and a translation frontier on every channel (with
    /// `gc_slice` in slices: on every die).
    frontiers: Option<Frontiers> = None, absent "`die`; flashsim `single`";
}

/// Whose readings of DFTL are the defaults.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DftlPreset {
    /// Those of the paper.
    Paper,
    /// Those of DiskSim FlashSim, as AALRU used it; give the device the timing `serial`.
    Flashsim,
    /// Those of EagleTree.
    Eagletree,
}

/// Parameters that a preset sets; they are those of [`Params`].
#[derive(Clone, Copy, PartialEq, Debug)]
#[expect(missing_docs, reason = "they are those of `Params`")]
pub struct Ways {
    pub cmt_order: CmtOrder,
    pub evict_batch: bool,
    pub write_miss_fetch: bool,
    pub gc_marks_dirty: bool,
    pub victim: Victim,
    pub alloc: Alloc,
    pub frontiers: Frontiers,
}

impl DftlPreset {
    /// What it sets.
    pub fn ways(self) -> Ways {
        let paper = Ways {
            cmt_order: CmtOrder::default(),
            evict_batch: false,
            write_miss_fetch: true,
            gc_marks_dirty: true,
            victim: Victim::default(),
            alloc: Alloc::default(),
            frontiers: Frontiers::Die,
        };
        match self {
            Self::Paper => paper,
            Self::Flashsim => Ways {
                cmt_order: CmtOrder::named("age"),
                gc_marks_dirty: false,
                victim: Victim::named("greedy_lowest"),
                alloc: Alloc::named("min_erase"),
                frontiers: Frontiers::Single,
                ..paper
            },
            Self::Eagletree => {
                Ways { cmt_order: CmtOrder::named("clock"), evict_batch: true, write_miss_fetch: false, ..paper }
            }
        }
    }
}

/// Size of the protected segment.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Protected {
    /// Entries; 0 makes a plain LRU.
    Entries(u32),
    /// Share of the CMT, with a point: 0.0 to 1.0, rounded down.
    Share(f64),
}

/// DFTL's part of the map in RAM: single entries.
#[derive(Debug)]
pub(crate) struct Table {
    cmt: Cmt,
    evict_batch: bool,
    write_miss_fetch: bool,
    gc_marks_dirty: bool,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let table = params.table(shape)?;
    let frontiers = params.frontiers.unwrap_or(params.ways().frontiers);
    let map = params.common(frontiers).translation(shape, 1)?;
    Ok(Box::new(Frame::new(map, table, shape)))
}

impl Table {
    /// An empty table of that many entries or bytes.
    ///
    /// # Errors
    /// When a size is out of range.
    pub fn new(
        size: (Option<u32>, Option<Bytes>),
        protected: Option<Protected>,
        ways: &Ways,
        shape: &Shape,
    ) -> Result<Self, ConfigError> {
        let capacity = match size {
            (Some(_), Some(_)) => {
                let help = "give one of them (an entry takes 8 bytes)";
                return Err(ConfigError::new("ftl.cmt_bytes", "cmt_entries is given too", help));
            }
            (Some(entries), None) => u64::from(entries),
            (None, Some(bytes)) => bytes.0 / 8,
            (None, None) => 8192,
        };
        let Some(capacity) = u32::try_from(capacity).ok().filter(|n| *n > 0) else {
            let problem = format!("{capacity} entries are outside 1 to {}", u32::MAX);
            return Err(ConfigError::new("ftl.cmt_entries", problem, "use a size between 8 bytes and the whole map"));
        };
        if protected.is_some() && !ways.cmt_order.rule().protects {
            let problem = format!("the order `{}` has no protected segment", ways.cmt_order.name());
            return Err(ConfigError::new("ftl.cmt_protected", problem, "leave it out"));
        }
        let protected = match protected.unwrap_or(Protected::Share(0.8)) {
            Protected::Entries(entries) => u64::from(entries),
            Protected::Share(share) if (0.0..=1.0).contains(&share) => (share * f64::from(capacity)) as u64,
            Protected::Share(share) => {
                let help = "use a whole number of entries or a share such as 0.8";
                return Err(ConfigError::new("ftl.cmt_protected", format!("{share} is outside 0.0 to 1.0"), help));
            }
        };
        if protected > u64::from(capacity) {
            let problem = format!("{protected} protected of {capacity} entries");
            return Err(ConfigError::new("ftl.cmt_protected", problem, "lower it or raise cmt_entries"));
        }
        Ok(Self {
            cmt: Cmt::new(shape.logical_pages, ways.cmt_order, capacity, protected as u32),
            evict_batch: ways.evict_batch,
            write_miss_fetch: ways.write_miss_fetch,
            gc_marks_dirty: ways.gc_marks_dirty,
        })
    }

    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, after: Ticket) -> Ticket {
        let victim = self.cmt.victim();
        if !self.cmt.is_dirty(victim) {
            self.cmt.remove(victim);
            return after;
        }
        let tp = map.tp(self.cmt.lpn(victim));
        let patch = |table: &mut Self, map: &mut Translation| {
            if table.evict_batch {
                table.clean_all(map, tp);
            } else {
                map.patch(table.cmt.lpn(victim), table.cmt.ppn(victim));
            }
        };
        let done = map.write_back(flash, self, tp, false, patch, after);
        self.cmt.remove(victim);
        done
    }

    /// Patches a translation page with all its dirty entries, which are clean then.
    fn clean_all(&mut self, map: &mut Translation, tp: u32) {
        for lpn in map.range(tp).map(Lpn) {
            if let Some(entry) = self.cmt.find(lpn).filter(|entry| self.cmt.is_dirty(*entry)) {
                map.patch(lpn, self.cmt.ppn(entry));
                self.cmt.set_clean(entry);
            }
        }
    }
}

impl MapCache for Table {
    #[inline]
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        let Some(entry) = self.cmt.find(lpn) else { return Moved::Nowhere };
        if !self.gc_marks_dirty && !self.cmt.is_dirty(entry) {
            self.cmt.set_everywhere(entry, to);
            return Moved::Everywhere;
        }
        self.cmt.set(entry, to);
        Moved::InRam
    }
}

impl MapPolicy for Table {
    type Entry = Cached;

    #[inline]
    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Cached, Ticket) {
        let Wanted { lpn, purpose, .. } = wanted;
        if let Some(entry) = self.cmt.find(lpn) {
            flash.ledger.map_hits += 1;
            self.cmt.hit(entry);
            return (entry, after);
        }
        flash.ledger.map_misses += 1;
        let mut ready = after;
        if self.cmt.is_full() {
            ready = self.evict(flash, map, ready);
        }
        if purpose != Purpose::Write || self.write_miss_fetch {
            ready = map.fetch(flash, map.tp(lpn), Cause::MapMiss, ready);
        }
        (self.cmt.insert(lpn, map.content(lpn)), ready)
    }
    #[inline]
    fn ppn(&self, entry: Cached) -> Ppn {
        self.cmt.ppn(entry)
    }
    #[inline]
    fn set(&mut self, entry: Cached, ppn: Ppn) {
        self.cmt.set(entry, ppn);
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.cmt.find(lpn).map(|entry| self.cmt.ppn(entry))
    }
    fn is_empty(&self) -> bool {
        self.cmt.is_empty()
    }
    fn restart(&mut self, _: &Winners) {
        self.cmt.clear();
    }
    fn bytes(&self) -> u64 {
        8 * u64::from(self.cmt.capacity())
    }
    fn check(&self, map: &Translation) {
        self.cmt.check(|lpn| map.content(lpn));
    }
    fn golden_state(&self, place: &dyn Fn(Ppn) -> Value) -> Value {
        let list = |protected| {
            let entries = self.cmt.segment(protected);
            entries.map(|(lpn, ppn, dirty)| json!([lpn.0, place(ppn), dirty])).collect::<Vec<_>>()
        };
        json!({"cmt": {"probation_lru_to_mru": list(false), "protected_lru_to_mru": list(true)}})
    }
}
