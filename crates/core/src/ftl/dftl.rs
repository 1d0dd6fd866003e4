//! dftl - Demand-based page mapping (DFTL)
//!
//! # Source
//! Gupta, Kim and Urgaonkar, "DFTL: a flash translation layer employing demand-based selective caching of page-level
//! address mappings", ASPLOS 2009 (read through its public implementations); defaults from DiskSim FlashSim, which
//! AALRU used. Segmented LRU: Karedla, Love and Wherry 1994.
//!
//! # What it does
//! The page map lies on flash in translation pages (TP); RAM holds a cached mapping table (CMT) of single entries and
//! the global translation directory (GTD), which tells where each TP is. A look-up that misses reads one TP. A dirty
//! entry is evicted by reading its TP and programming it anew. Data and translation blocks share one free list; when no
//! more than `reserve` blocks are free, garbage collection takes victims among both kinds until more are. The pages of
//! a data victim are copied; a mapping in the CMT is changed there and becomes dirty (lazy copying), the others cost
//! one read and one program per distinct TP (batch update).
//!
//! One page write: look-up (which may evict and fetch), make room, program, invalidate the old copy, entry dirty. A
//! read: look-up, then one data read. A trim: look-up, then the entry says 'not mapped' and is dirty.
//!
//! # Parameters
//! - `entries_per_tp` (entries, default `page_bytes / 4`): mappings of a translation page.
//! - `cmt_entries` (entries, default 8192: FlashSim) or `cmt_bytes` (bytes, 8 an entry): size of the CMT.
//! - `cmt_protected` (default 0.8: FlashSim's 6552 of 8192): protected segment of the CMT, as a share (a number with a
//!   point) or in entries (a whole number; 0 makes a plain LRU).
//! - `reserve` (blocks, default 3: FlashSim's `min_fb_num`): free blocks at which garbage collection starts; 3 or more.
//!   With `frontiers = "die"` each channel keeps its own.
//! - `evict_batch` (default false): evicting a dirty entry also writes back all other dirty entries of its TP, which
//!   stay cached and become clean (EagleTree).
//! - `write_miss_fetch` (default true): a write that misses reads the TP; false = it only inserts a dirty entry
//!   (EagleTree).
//! - `victim` (default `greedy`), `alloc` (default `fifo`): as for `page`.
//! - `frontiers` (default `die`): `single` = one data and one translation frontier; `die` = a data frontier on every
//!   die and a translation frontier on every channel.
//!
//! RAM: `8 * cmt_entries + 4 * ceil(logical_pages / entries_per_tp)` bytes.
//!
//! # Deviations and chosen readings
//! - The host collects `while free <= reserve`, not once per allocation: collecting one data block can take a data and
//!   a translation block, so once per allocation runs dry.
//! - When translation pages are rewritten during a collection and at most one block is free, a translation block is
//!   compacted first. The paper does not say how the collector itself finds room.
//! - `frontiers = "die"`: page `l` goes to die `l % dies`, the TP `t` to channel `t % channels`; a victim's pages stay
//!   on its die. Blocks are collected per channel, so the reserve is kept on each.
//! - With `write_miss_fetch = false` the old copy is invalidated although no look-up told where it is, as EagleTree
//!   does; the read is not counted.
//! - A request waits for its own look-up, eviction included; garbage collection delays it only through busy dies. A hit
//!   on an entry whose fetch is still on its way does not wait for that fetch.
//! - A page that is read to be rewritten (padding) is looked up once, at its write: the read counts no look-up.
//! - Recovery: the map is rebuilt from the OOB of data pages; all translation blocks are erased and the TPs written
//!   anew, which always has room. Comparing them with the old ones first would read as many pages as it saves.
//!
//! # Known ambiguities
//! - Whether an eviction writes back only the victim or the whole TP, and whether a write miss fetches: both are
//!   parameters. FlashSim orders the CMT by age counters and does not mark moved entries dirty, so it undercounts
//!   translation writes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::cmt::{Cached, Cmt};
use super::demand::{Demand, MapPolicy, Wanted};
use super::page::Frontiers;
use super::recover::Winners;
use super::translation::{MapCache, Moved, Translation};
use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

/// Declares the `Params` of an FTL with a segmented cached mapping table: its own and those of the table.
macro_rules! cmt_params {
    ($( $(#[$doc:meta])+ $name:ident: $type:ty = $default:expr, )*) => {
        $crate::ftl::demand::demand_params! {
            $( $(#[$doc])+ $name: $type = $default, )*
            /// Entries of the cached mapping table; default 8192.
            cmt_entries: Option<u32> = None,
            /// Bytes of the cached mapping table, instead of `cmt_entries`.
            cmt_bytes: Option<$crate::types::Bytes> = None,
            /// Protected segment of the cached mapping table.
            cmt_protected: $crate::ftl::dftl::Protected = $crate::ftl::dftl::Protected::Share(0.8),
            /// An eviction writes back all dirty entries of the translation page.
            evict_batch: bool = false,
            /// A write that misses reads the translation page.
            write_miss_fetch: bool = true,
        }

        impl Params {
            const fn table(&self) -> $crate::ftl::dftl::TableParams {
                let Self { cmt_entries, cmt_bytes, cmt_protected, evict_batch, write_miss_fetch, .. } = *self;
                $crate::ftl::dftl::TableParams { cmt_entries, cmt_bytes, cmt_protected, evict_batch, write_miss_fetch }
            }
        }
    };
}
pub(super) use cmt_params;

cmt_params! {
    /// One frontier for the device or one on every die.
    frontiers: Frontiers = Frontiers::Die,
}

/// Size of the protected segment.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Protected {
    /// Entries.
    Entries(u32),
    /// Share of the cached mapping table, 0.0 to 1.0, rounded down.
    Share(f64),
}

/// Size and ways of a segmented cached mapping table; fields as in [`Params`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "they are those of `Params`")]
pub struct TableParams {
    pub cmt_entries: Option<u32>,
    pub cmt_bytes: Option<Bytes>,
    pub cmt_protected: Protected,
    pub evict_batch: bool,
    pub write_miss_fetch: bool,
}

/// DFTL's part of the map in RAM: single entries in a segmented LRU.
#[derive(Debug)]
pub struct Table {
    cmt: Cmt,
    evict_batch: bool,
    write_miss_fetch: bool,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let table = Table::new(&params.table(), shape)?;
    let map = params.common(params.frontiers).translation(shape, 1)?;
    Ok(Box::new(Demand::new(map, table, shape)))
}

impl Table {
    /// An empty table.
    ///
    /// # Errors
    /// When a size is out of range.
    pub fn new(params: &TableParams, shape: &Shape) -> Result<Self, ConfigError> {
        let capacity = match (params.cmt_entries, params.cmt_bytes) {
            (Some(_), Some(_)) => {
                let mend = "give one of them (an entry takes 8 bytes)";
                return Err(ConfigError::new("ftl.cmt_bytes", "cmt_entries is given too", mend));
            }
            (Some(entries), None) => u64::from(entries),
            (None, Some(bytes)) => bytes.0 / 8,
            (None, None) => 8192,
        };
        let Some(capacity) = u32::try_from(capacity).ok().filter(|n| *n > 0) else {
            let problem = format!("{capacity} entries are outside 1 to {}", u32::MAX);
            return Err(ConfigError::new("ftl.cmt_entries", problem, "use a size between 8 bytes and the whole map"));
        };
        let protected = match params.cmt_protected {
            Protected::Entries(entries) => u64::from(entries),
            Protected::Share(share) if (0.0..=1.0).contains(&share) => (share * f64::from(capacity)) as u64,
            Protected::Share(share) => {
                let mend = "use a whole number of entries or a share such as 0.8";
                return Err(ConfigError::new("ftl.cmt_protected", format!("{share} is outside 0.0 to 1.0"), mend));
            }
        };
        if protected > u64::from(capacity) {
            let problem = format!("{protected} protected of {capacity} entries");
            return Err(ConfigError::new("ftl.cmt_protected", problem, "lower it or raise cmt_entries"));
        }
        Ok(Self {
            cmt: Cmt::new(shape.logical_pages, capacity, protected as u32),
            evict_batch: params.evict_batch,
            write_miss_fetch: params.write_miss_fetch,
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
        self.cmt.set(entry, to);
        Moved::InRam
    }
}

impl MapPolicy for Table {
    type Entry = Cached;

    #[inline]
    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Cached, Ticket) {
        let Wanted { lpn, write, .. } = wanted;
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
        if !write || self.write_miss_fetch {
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
