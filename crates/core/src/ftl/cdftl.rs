//! cdftl - Demand-based page mapping with two levels of caching (reconstruction)
//!
//! # Source
//! After the idea of Zhiwei Qin, Yi Wang, Duo Liu and Zili Shao, "A two-level caching mechanism for demand-based
//! page-level address mapping in NAND flash memory storage systems", RTAS 2011. The text was not available: this is a
//! reconstruction from summaries. Do not publish numbers from it under the paper's name.
//!
//! # What it does
//! RAM holds a cached mapping table (CMT) of single entries in LRU order, and under it a cache of whole translation
//! pages (CTP), also in LRU order. A look-up goes to the CMT, then to the CTP, and reads the translation page (TP) into
//! the CTP when both miss; the mapping then enters the CMT. Changed mappings are dirty in the CMT.
//!
//! The CMT evicts the first entry from its LRU end that is clean, or whose TP is in the CTP, where a dirty entry is
//! merged for free. If there is none, the LRU entry goes and its TP is read and programmed. The CTP evicts its LRU page,
//! and programs it if entries were merged into it.
//!
//! # Parameters
//! RAM: `8 * cmt_entries + 4 * entries_per_tp * ctp_pages + 4 * ceil(logical_pages / entries_per_tp)` bytes.
//!
//! # Deviations and chosen readings
//! - A look-up that misses both loads the CTP before it makes room in the CMT, so that dirty entries of the TP that was
//!   just read can be merged.
//! - A hit in the CMT leaves the order of the CTP as it is.
//! - A CTP page is programmed with what was merged into it, not with dirty entries that the CMT still holds.
//! - Reports count a look-up that the CTP answers as a hit; it is counted as a hit of the second level too.
//! - Everything below the caches (order of effects, garbage collection with lazy copying, recovery) is as in `dftl`.
//!
//! # Known ambiguities
//! - All of the above but the idea: see the source.

use serde_json::{Value, json};

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::blocks::recover::Winners;
use crate::ftl::cache::apart::Apart;
use crate::ftl::cache::pages::Pages;
use crate::ftl::cache::slab::{Cached, Mappings};
use crate::ftl::frame::space::Frontiers;
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{Frame, MapPolicy, Wanted, demand_params};
use crate::ledger::Cause;
use crate::types::{Lpn, Ppn};

demand_params! {
    /// Size of the CMT; 8 bytes an entry.
    cmt_entries: u32 = 4096, in 1.., "entries";
    /// Size of the CTP. With pages of 4 KiB both defaults take the RAM of `dftl`.
    ctp_pages: u32 = 8, in 1.., "TPs";
    /// One data and one translation frontier, or a data frontier on every die and a translation frontier on every channel (with
    /// `gc_slice` in slices: on every die).
    frontiers: Frontiers = Frontiers::Die;
}

/// CDFTL's part of the map in RAM.
#[derive(Debug)]
pub struct TwoLevels {
    cmt: Apart,
    cmt_entries: u32,
    ctp: Pages,
    ctp_pages: u32,
    entries_per_tp: u32,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let common = params.common(params.frontiers);
    let entries_per_tp = common.entries(shape)?;
    let cache = TwoLevels {
        cmt: Apart::new(shape.logical_pages, entries_per_tp),
        cmt_entries: params.cmt_entries,
        ctp: Pages::new(shape.logical_pages, entries_per_tp),
        ctp_pages: params.ctp_pages,
        entries_per_tp,
    };
    Ok(Box::new(Frame::new(common.translation(shape, 1)?, cache, shape)))
}

impl TwoLevels {
    /// Brings the translation page of a mapping into the CTP.
    fn load(&mut self, flash: &mut Flash, map: &mut Translation, tp: u32, after: Ticket) -> Ticket {
        let mut ready = after;
        if self.ctp.len() >= self.ctp_pages {
            let victim = self.ctp.victim().expect("a full cache has a victim");
            if self.ctp.is_dirty(victim) {
                ready = map.write_back(flash, self, victim, true, |cache, map| cache.ctp.patch(victim, map), ready);
            }
            self.ctp.remove(victim);
        }
        ready = map.fetch(flash, tp, Cause::MapMiss, ready);
        self.ctp.load(tp, map);
        ready
    }

    /// Evicts an entry of the CMT.
    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, after: Ticket) -> Ticket {
        if let Some(victim) = self.cmt.oldest_of(self.ctp.held()) {
            if self.cmt.is_dirty(victim) {
                self.ctp.set(self.cmt.lpn(victim), self.cmt.ppn(victim));
            }
            self.cmt.remove(victim);
            return after;
        }
        let victim = self.cmt.oldest().expect("a full table has a victim");
        let tp = map.tp(self.cmt.lpn(victim));
        let patch = |cache: &mut Self, map: &mut Translation| map.patch(cache.cmt.lpn(victim), cache.cmt.ppn(victim));
        let done = map.write_back(flash, self, tp, false, patch, after);
        self.cmt.remove(victim);
        done
    }
}

impl MapCache for TwoLevels {
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        if let Some(entry) = self.cmt.find(lpn) {
            self.cmt.set(entry, to);
        } else if self.ctp.find(lpn).is_some() {
            self.ctp.set(lpn, to);
        } else {
            return Moved::Nowhere;
        }
        Moved::InRam
    }
}

impl MapPolicy for TwoLevels {
    type Entry = Cached;

    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Cached, Ticket) {
        let lpn = wanted.lpn;
        if let Some(entry) = self.cmt.find(lpn) {
            flash.ledger.map_hits += 1;
            self.cmt.touch(entry);
            return (entry, after);
        }
        let tp = map.tp(lpn);
        let mut ready = after;
        if self.ctp.holds(tp) {
            flash.ledger.map_hits += 1;
            flash.ledger.map_second_hits += 1;
            self.ctp.touch(tp);
        } else {
            flash.ledger.map_misses += 1;
            ready = self.load(flash, map, tp, ready);
        }
        if self.cmt.len() >= self.cmt_entries {
            ready = self.evict(flash, map, ready);
        }
        let ppn = self.ctp.find(lpn).expect("the translation page is in RAM");
        (self.cmt.insert(lpn, ppn), ready)
    }
    fn ppn(&self, entry: Cached) -> Ppn {
        self.cmt.ppn(entry)
    }
    fn set(&mut self, entry: Cached, ppn: Ppn) {
        self.cmt.set(entry, ppn);
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.cmt.find(lpn).map(|entry| self.cmt.ppn(entry)).or_else(|| self.ctp.find(lpn))
    }
    fn is_empty(&self) -> bool {
        self.cmt.is_empty() && self.ctp.is_empty()
    }
    fn restart(&mut self, _: &Winners) {
        self.cmt.clear();
        self.ctp.clear();
    }
    fn bytes(&self) -> u64 {
        8 * u64::from(self.cmt_entries) + 4 * u64::from(self.entries_per_tp) * u64::from(self.ctp_pages)
    }
    fn check(&self, map: &Translation) {
        self.ctp.check(map);
        assert!(self.ctp.len() <= self.ctp_pages && self.cmt.len() <= self.cmt_entries);
        self.cmt.check(|lpn| self.ctp.find(lpn).unwrap_or_else(|| map.content(lpn)));
    }
    fn golden_state(&self, _: &dyn Fn(Ppn) -> Value) -> Value {
        let cmt: Vec<_> = self.cmt.oldest_first().into_iter().map(|(lpn, _, dirty)| json!([lpn.0, dirty])).collect();
        let ctp: Vec<_> = self.ctp.oldest_first().into_iter().map(|(tp, dirty)| json!([tp, dirty])).collect();
        json!({"cmt_lru_to_mru": cmt, "ctp_lru_to_mru": ctp})
    }
}
