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
use super::page::Frontiers;
use super::pool::{Alloc, Victim};
use super::space::{self, Layout};
use super::translation::Translation;
use super::{Batch, Found, Ftl, Shape, recover};
use crate::error::ConfigError;
use crate::flash::{Flash, Oob, Ticket};
use crate::ledger::Cause;
use crate::types::{Bytes, Lbn, Lpn, Nanos, Ppn};

/// Parameters of [`Dftl`]; the manual page explains them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Mappings of a translation page; default `page_bytes / 4`.
    pub entries_per_tp: Option<u32>,
    /// Entries of the cached mapping table; default 8192.
    pub cmt_entries: Option<u32>,
    /// Bytes of the cached mapping table, instead of `cmt_entries`.
    pub cmt_bytes: Option<Bytes>,
    /// Protected segment of the cached mapping table.
    pub cmt_protected: Protected,
    /// Free blocks at which garbage collection starts.
    pub reserve: u32,
    /// An eviction writes back all dirty entries of the translation page.
    pub evict_batch: bool,
    /// A write that misses reads the translation page.
    pub write_miss_fetch: bool,
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// One frontier for the device or one on every die.
    pub frontiers: Frontiers,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            entries_per_tp: None,
            cmt_entries: None,
            cmt_bytes: None,
            cmt_protected: Protected::Share(0.8),
            reserve: 3,
            evict_batch: false,
            write_miss_fetch: true,
            victim: Victim::Greedy,
            alloc: Alloc::Fifo,
            frontiers: Frontiers::Die,
        }
    }
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

/// The demand-mapped FTL with `copies` copies of every translation page: DFTL has 1, RFTL more.
#[derive(Debug)]
pub struct Dftl {
    translation: Translation,
    cmt: Cmt,
    logical_pages: u32,
    copies: u32,
    evict_batch: bool,
    write_miss_fetch: bool,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    Ok(Box::new(Dftl::new(&params, shape, 1)?))
}

/// Entries of a translation page, checked against the page size.
pub(super) fn entries_per_tp(wanted: Option<u32>, shape: &Shape) -> Result<u32, ConfigError> {
    let most = shape.geometry.page_bytes / 4;
    let entries = wanted.unwrap_or(most);
    if entries == 0 || entries > most {
        let problem = format!("{entries} is outside 1 to {most}: an entry takes 4 of the {} bytes", most * 4);
        return Err(ConfigError::new("ftl.entries_per_tp", problem, format!("use {most}, or leave it out")));
    }
    Ok(entries)
}

impl Dftl {
    /// The FTL with `copies` copies of every translation page.
    ///
    /// # Errors
    /// When a relation between parameters and device is broken.
    pub fn new(params: &Params, shape: &Shape, copies: u32) -> Result<Self, ConfigError> {
        let entries = entries_per_tp(params.entries_per_tp, shape)?;
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
        let layout =
            Layout { victim: params.victim, alloc: params.alloc, reserve: params.reserve, frontiers: params.frontiers };
        space::validate(&layout, shape, shape.logical_pages.div_ceil(entries), copies)?;
        Ok(Self {
            translation: Translation::new(layout, shape, entries, copies),
            cmt: Cmt::new(shape.logical_pages, capacity, protected as u32),
            logical_pages: shape.logical_pages,
            copies,
            evict_batch: params.evict_batch,
            write_miss_fetch: params.write_miss_fetch,
        })
    }

    /// The entry of a page, after evicting and fetching on a miss.
    #[inline]
    fn look_up(&mut self, flash: &mut Flash, lpn: Lpn, fetch: bool, after: Ticket) -> (Cached, Ticket) {
        if let Some(entry) = self.cmt.find(lpn) {
            flash.ledger.map_hits += 1;
            self.cmt.hit(entry);
            return (entry, after);
        }
        flash.ledger.map_misses += 1;
        let mut ready = after;
        if self.cmt.is_full() {
            ready = self.evict(flash, ready);
        }
        if fetch {
            ready = self.translation.fetch(flash, self.translation.tp(lpn), Cause::MapMiss, ready);
        }
        (self.cmt.insert(lpn, self.translation.content(lpn)), ready)
    }

    fn evict(&mut self, flash: &mut Flash, after: Ticket) -> Ticket {
        let victim = self.cmt.victim();
        if !self.cmt.is_dirty(victim) {
            self.cmt.remove(victim);
            return after;
        }
        let lpn = self.cmt.lpn(victim);
        let tp = self.translation.tp(lpn);
        // The victim is still cached: collecting may move its page.
        self.translation.room_for_map(flash, &mut self.cmt, tp, after);
        let read = self.translation.fetch(flash, tp, Cause::MapEvict, after);
        if self.evict_batch {
            for lpn in self.translation.range(tp).map(Lpn) {
                if let Some(entry) = self.cmt.find(lpn).filter(|entry| self.cmt.is_dirty(*entry)) {
                    self.translation.patch(lpn, self.cmt.ppn(entry));
                    self.cmt.set_clean(entry);
                }
            }
        } else {
            self.translation.patch(lpn, self.cmt.ppn(victim));
        }
        self.cmt.remove(victim);
        self.translation.rewrite(flash, tp, Cause::MapEvict, read)
    }

    /// The newest mapping, counting nothing.
    fn newest(&self, lpn: Lpn) -> Ppn {
        self.cmt.find(lpn).map_or_else(|| self.translation.content(lpn), |entry| self.cmt.ppn(entry))
    }
}

impl Ftl for Dftl {
    fn read(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause, after: Ticket) -> Found {
        let (ppn, ready) = if cause == Cause::Pad {
            // The write of the same page, which follows, does the look-up of both.
            (self.newest(lpn), after)
        } else {
            let (entry, ready) = self.look_up(flash, lpn, true, after);
            (self.cmt.ppn(entry), ready)
        };
        let ticket = if ppn.is_some() { flash.read(ppn, cause, ready) } else { ready };
        Found { ticket, ppn }
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut done = after;
        for (page, data) in batch.iter() {
            let (entry, ready) = self.look_up(flash, page.lpn, self.write_miss_fetch, after);
            let place = self.translation.room_for_data(flash, &mut self.cmt, page.lpn, after);
            let target = self.translation.space.append(place);
            let oob = Oob::data(page.lpn, page.version);
            let ticket = flash.program(target, oob, data, page.cause, ready);
            let old = self.cmt.ppn(entry);
            if old.is_some() {
                self.translation.space.drop_copy(flash, old);
            }
            self.cmt.set(entry, target);
            done = if batch.pages.len() == 1 { ticket } else { flash.clock.join(done, ticket) };
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let (entry, ready) = self.look_up(flash, lpn, true, after);
        let old = self.cmt.ppn(entry);
        if old.is_some() {
            self.translation.space.drop_copy(flash, old);
        }
        self.cmt.set(entry, Ppn::NONE);
        ready
    }

    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        if self.cmt.is_empty() {
            self.translation.fill(flash, &mut self.cmt, batch);
        } else {
            self.write_block(flash, lbn, batch, Ticket::at(Nanos::ZERO));
        }
    }

    fn filled(&mut self, flash: &mut Flash) {
        self.translation.write_all(flash, &mut self.cmt, Cause::MapEvict);
    }

    fn map_bytes(&self) -> u64 {
        let copies = u64::from(self.copies) * u64::from(self.translation.pages());
        8 * u64::from(self.cmt.capacity()) + 4 * copies
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.logical_pages);
        self.cmt.clear();
        self.translation.rebuild(flash, &mut self.cmt, &winners);
    }

    fn check(&self, flash: &Flash) {
        self.cmt.check();
        self.translation.check(flash, |lpn| self.newest(lpn), self.logical_pages);
        for (lpn, ppn, dirty) in self.cmt.segment(false).chain(self.cmt.segment(true)) {
            assert!(dirty || ppn == self.translation.content(lpn), "clean entry of lpn {} differs from flash", lpn.0);
        }
        for lpn in (0..self.logical_pages).map(Lpn).filter(|lpn| self.cmt.find(*lpn).is_none()) {
            let on_flash = self.translation.content(lpn).is_none() || self.translation.exists(self.translation.tp(lpn));
            assert!(on_flash, "lpn {} is mapped neither in RAM nor on flash", lpn.0);
        }
    }

    fn free_blocks(&self) -> u32 {
        self.translation.space.free_blocks()
    }

    fn golden_state(&self, flash: &Flash) -> Value {
        let geometry = flash.geometry();
        let place = |ppn: Ppn| match ppn {
            Ppn::NONE => Value::Null,
            ppn => json!([geometry.pbn(ppn).0, geometry.page_in_block(ppn)]),
        };
        let list = |protected| {
            let entries = self.cmt.segment(protected);
            entries.map(|(lpn, ppn, dirty)| json!([lpn.0, place(ppn), dirty])).collect::<Vec<_>>()
        };
        json!({"cmt": {"probation_lru_to_mru": list(false), "protected_lru_to_mru": list(true)}})
    }
}
