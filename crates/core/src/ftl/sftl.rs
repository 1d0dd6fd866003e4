//! sftl - Demand-based page mapping with compressed whole translation pages (reconstruction)
//!
//! # Source
//! After the idea of Song Jiang, Lei Zhang, Xinhao Yuan, Hao Hu and Yu Chen, "S-FTL: an efficient address translation for
//! flash memory by exploiting spatial locality", MSST 2011. The text was not available: this is a reconstruction from
//! summaries. Do not publish numbers from it under the paper's name.
//!
//! # What it does
//! RAM holds whole translation pages (TP) in compressed form: one PPN for every run of pages that lie side by side, and
//! one bit for every page that tells where runs begin. TPs are kept in LRU order within `cache_bytes`. A look-up that
//! misses reads the TP; least recently used TPs then leave until the rest fits. A dirty one is programmed without being
//! read before, because all of it is in RAM. Sequentially written data take little RAM, so more TPs are held.
//!
//! # Parameters
//! RAM: `ceil(entries_per_tp / 8) + 4 * runs` bytes for every TP in RAM, and 4 bytes a TP for the directory.
//!
//! # Deviations and chosen readings
//! - The buffer of the paper for sparsely dirty TPs is left out.
//! - Consecutive pages without a mapping are one run.
//! - The last TP has as many bits as the others. Headers and list links of TPs are not counted.
//! - The RAM may exceed the budget while a request is served: collections change cached mappings, and a write splits
//!   runs before others leave.
//! - Everything below the cache (order of effects, garbage collection with lazy copying, recovery) is as in `dftl`.
//!
//! # Known ambiguities
//! - All of the above but the idea: see the source.

use serde_json::{Value, json};

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::blocks::recover::Winners;
use crate::ftl::cache::pages::Pages;
use crate::ftl::frame::space::Frontiers;
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{Frame, MapPolicy, Wanted, demand_params};
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

demand_params! {
    /// RAM for compressed TPs; the default is what 8192 entries of `dftl` take. The TP in use stays even if it alone takes
    /// more.
    cache_bytes: Bytes = Bytes::kib(64);
    /// One data and one translation frontier, or a data frontier on every die and a translation frontier on every channel (with
    /// `gc_slice` in slices: on every die).
    frontiers: Frontiers = Frontiers::Die;
}

/// S-FTL's part of the map in RAM.
#[derive(Debug)]
pub struct RunCache {
    pages: Pages,
    /// By translation page, for those in RAM: runs of consecutive places.
    runs: Vec<u32>,
    /// Sum of `runs` over the translation pages in RAM.
    all_runs: u64,
    bitmap_bytes: u64,
    budget: u64,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let common = params.common(params.frontiers);
    let entries = common.entries(shape)?;
    let bitmap_bytes = u64::from(entries.div_ceil(8));
    let least = bitmap_bytes + 4;
    if params.cache_bytes.0 < least {
        let problem = format!("{} cannot hold a translation page of one run", params.cache_bytes);
        return Err(ConfigError::new("ftl.cache_bytes", problem, format!("use {least}B or more")));
    }
    let pages = Pages::new(shape.logical_pages, entries);
    let runs = vec![0; shape.logical_pages.div_ceil(entries) as usize];
    let cache = RunCache { pages, runs, all_runs: 0, bitmap_bytes, budget: params.cache_bytes.0 };
    Ok(Box::new(Frame::new(common.translation(shape, 1)?, cache, shape)))
}

/// The second of two neighbours begins a run.
fn breaks(before: Ppn, after: Ppn) -> bool {
    if before.is_none() { after.is_some() } else { after.is_none() || after.0 != before.0 + 1 }
}

fn runs(places: &[Ppn]) -> u32 {
    1 + places.windows(2).filter(|pair| breaks(pair[0], pair[1])).count() as u32
}

impl RunCache {
    /// Changes a mapping in RAM.
    fn update(&mut self, lpn: Lpn, ppn: Ppn) {
        let tp = self.pages.tp(lpn);
        let at = lpn.index() - self.pages.range(tp).start;
        let around = at.saturating_sub(1)..(at + 2).min(self.pages.range(tp).len());
        let before = runs(&self.pages.places(tp)[around.clone()]);
        self.pages.set(lpn, ppn);
        let after = runs(&self.pages.places(tp)[around]);
        self.runs[tp as usize] = self.runs[tp as usize] + after - before;
        self.all_runs = self.all_runs + u64::from(after) - u64::from(before);
    }

    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, tp: u32, after: Ticket) -> Ticket {
        let mut done = after;
        if self.pages.is_dirty(tp) {
            done = map.write_back(flash, self, tp, true, |cache, map| cache.pages.patch(tp, map), after);
        }
        self.pages.remove(tp);
        self.all_runs -= u64::from(self.runs[tp as usize]);
        done
    }

    fn bytes_of(&self, tp: u32) -> u64 {
        self.bitmap_bytes + 4 * u64::from(self.runs[tp as usize])
    }
}

impl MapCache for RunCache {
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        if self.pages.find(lpn).is_none() {
            return Moved::Nowhere;
        }
        self.update(lpn, to);
        Moved::InRam
    }
}

impl MapPolicy for RunCache {
    type Entry = Lpn;

    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Lpn, Ticket) {
        let lpn = wanted.lpn;
        let tp = map.tp(lpn);
        if self.pages.holds(tp) {
            flash.ledger.map_hits += 1;
            self.pages.touch(tp);
            return (lpn, after);
        }
        flash.ledger.map_misses += 1;
        let ready = map.fetch(flash, tp, Cause::MapMiss, after);
        self.pages.load(tp, map);
        let runs = runs(self.pages.places(tp));
        self.runs[tp as usize] = runs;
        self.all_runs += u64::from(runs);
        (lpn, self.shrink(flash, map, lpn, ready))
    }
    fn ppn(&self, entry: Lpn) -> Ppn {
        self.pages.find(entry).expect("the translation page that was looked up is in RAM")
    }
    fn set(&mut self, entry: Lpn, ppn: Ppn) {
        self.update(entry, ppn);
    }
    /// Evicts least recently used translation pages until the rest fits the budget.
    fn shrink(&mut self, flash: &mut Flash, map: &mut Translation, keep: Lpn, after: Ticket) -> Ticket {
        let mut ready = after;
        while self.bytes() > self.budget {
            let Some(victim) = self.pages.victim().filter(|victim| *victim != map.tp(keep)) else { break };
            ready = self.evict(flash, map, victim, ready);
        }
        ready
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.pages.find(lpn)
    }
    fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
    fn restart(&mut self, _: &Winners) {
        self.pages.clear();
        self.all_runs = 0;
    }
    fn bytes(&self) -> u64 {
        self.bitmap_bytes * u64::from(self.pages.len()) + 4 * self.all_runs
    }
    fn bytes_most(&self, map: &Translation) -> u64 {
        self.budget.max(self.bitmap_bytes + 4 * map.range(0).len() as u64)
    }
    fn check(&self, map: &Translation) {
        self.pages.check(map);
        let held = self.pages.oldest_first().into_iter();
        let sum = held.map(|(tp, _)| {
            assert_eq!(self.runs[tp as usize], runs(self.pages.places(tp)), "runs of translation page {tp}");
            self.bytes_of(tp)
        });
        assert_eq!(sum.sum::<u64>(), self.bytes(), "RAM of the mapping cache");
    }
    fn golden_state(&self, _: &dyn Fn(Ppn) -> Value) -> Value {
        let held = self.pages.oldest_first().into_iter();
        let list: Vec<_> = held.map(|(tp, dirty)| json!([tp, dirty, self.bytes_of(tp)])).collect();
        json!({"lru_to_mru": list, "used_bytes": self.bytes()})
    }
}
