//! tpftl - Demand-based page mapping with a cache of translation-page nodes (TPFTL)
//!
//! # Source
//! Zhou, Wu, Huang, He, Xie, Zou, "An efficient page-level FTL to optimize address translation in flash memory",
//! Eurosys 2015, read through the implementation that accompanies `LearnedFTL` (`tpftl.c`); specs/ftls.md 2.9.
//!
//! # What it does
//! As `dftl`, but the mappings in RAM are grouped by their translation page (TP): an LRU list of TP nodes, each with an
//! LRU list of its cached entries. An access makes the entry the most recent one of its node and the node the most
//! recent one of all.
//!
//! A look-up that misses reads the TP once and takes more than one mapping from it. *Request-level prefetching* takes
//! the pages that the same request goes on to. *Selective prefetching* takes as many of the following pages as there
//! are consecutive cached pages directly before; a counter switches it: +1 for every node created, -1 for every node
//! removed; at +3 (many nodes: random accesses) it is switched off, at -3 on, and the counter begins again at 0.
//! Prefetched entries enter at the LRU end of their node. Making room for one may remove a node; it is the last one then.
//!
//! The victim is the least recent clean entry of the least recent node. If all entries of that node are dirty, its
//! least recent one goes: the TP is read and programmed with all of them, and those that stay are clean then (batch
//! update).
//!
//! # Parameters
//! - `cmt_entries` (entries, default 8192) or `cmt_bytes` (bytes, 6 an entry and 8 a node): size of the cache.
//! - `request_prefetch` (default true): request-level prefetching.
//! - `selective_prefetch` (default `start_on`: the public code): `start_on`, `start_off` (the switch at the beginning)
//!   or `never`.
//! - `selective_threshold` (nodes, default 3): where the counter switches.
//! - `entries_per_tp`, `reserve`, `victim`, `alloc`, `frontiers`: as for `dftl`.
//!
//! RAM: `6 * cmt_entries + 8 * nodes + 4 * ceil(logical_pages / entries_per_tp)` bytes, or with `cmt_bytes` that size
//! and the directory. There are at most as many nodes as TPs or entries.
//!
//! # Deviations and chosen readings
//! - The paper orders nodes by the average hotness of their entries; here, as in the public code, by the last access.
//! - An entry takes 6 bytes (10-bit offset, 4-byte PPN, flags) and a node 8: from memory of the paper.
//! - A request waits for all evictions that its look-up causes, those for prefetched entries included.
//! - The run of pages that selective prefetching measures ends at the border of the TP.
//! - Prefetching never evicts the entry that was asked for. Nothing is prefetched when making room for that one removed
//!   a node, and the switch is looked at when its own node is there.
//! - A request that the data buffer writes back is a run of consecutive pages of one batch.
//! - Everything below the cache (order of effects, garbage collection with lazy copying, recovery) is as in `dftl`.
//!
//! # Known ambiguities
//! - Whether selective prefetching is on at first.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::demand::{Demand, MapPolicy, Wanted, demand_params};
use super::nodes::{Nodes, Slot};
use super::page::Frontiers;
use super::recover::Winners;
use super::translation::{MapCache, Moved, Translation};
use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

/// Bytes of a cached mapping.
const ENTRY_BYTES: u64 = 6;
/// Bytes of a node.
const NODE_BYTES: u64 = 8;

demand_params! {
    /// Entries of the cache; default 8192.
    cmt_entries: Option<u32> = None,
    /// Bytes of the cache, instead of `cmt_entries`.
    cmt_bytes: Option<Bytes> = None,
    /// Fetch the mappings of the rest of the request.
    request_prefetch: bool = true,
    /// Fetch mappings ahead of sequential accesses.
    selective_prefetch: Selective = Selective::StartOn,
    /// Nodes more or less at which selective prefetching is switched.
    selective_threshold: u32 = 3,
    /// One frontier for the device or one on every die.
    frontiers: Frontiers = Frontiers::Die,
}

/// Selective prefetching.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selective {
    /// Switched by the counter, on at first.
    StartOn,
    /// Switched by the counter, off at first.
    StartOff,
    /// Off.
    Never,
}

#[derive(Clone, Copy, Debug)]
enum Capacity {
    Entries(u32),
    Bytes(u64),
}

/// TPFTL's part of the map in RAM.
#[derive(Debug)]
pub struct TpCache {
    nodes: Nodes,
    capacity: Capacity,
    request_prefetch: bool,
    selective_prefetch: Selective,
    threshold: i64,
    selective: bool,
    /// Nodes created minus nodes removed since the switch was last thrown.
    counter: i64,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let common = params.common(params.frontiers);
    let cache = TpCache::new(&params, shape, common.entries(shape)?)?;
    Ok(Box::new(Demand::new(common.translation(shape, 1)?, cache, shape)))
}

impl TpCache {
    /// An empty cache.
    ///
    /// # Errors
    /// When a size is out of range.
    pub fn new(params: &Params, shape: &Shape, entries_per_tp: u32) -> Result<Self, ConfigError> {
        let least = ENTRY_BYTES + NODE_BYTES;
        let capacity = match (params.cmt_entries, params.cmt_bytes) {
            (Some(_), Some(_)) => {
                let mend = "give one of them (an entry takes 6 bytes, a node 8)";
                return Err(ConfigError::new("ftl.cmt_bytes", "cmt_entries is given too", mend));
            }
            (Some(0), None) => {
                return Err(ConfigError::new("ftl.cmt_entries", "0 entries hold no mapping", "use 1 or more"));
            }
            (None, Some(bytes)) if bytes.0 < least => {
                let problem = format!("{bytes} holds no entry in its node");
                return Err(ConfigError::new("ftl.cmt_bytes", problem, format!("use {least}B or more")));
            }
            (None, Some(bytes)) => Capacity::Bytes(bytes.0),
            (entries, None) => Capacity::Entries(entries.unwrap_or(8192)),
        };
        if params.selective_threshold == 0 {
            let mend = "use 1 or more, or selective_prefetch = \"never\"";
            return Err(ConfigError::new("ftl.selective_threshold", "0 nodes switch nothing", mend));
        }
        Ok(Self {
            nodes: Nodes::new(shape.logical_pages, entries_per_tp),
            capacity,
            request_prefetch: params.request_prefetch,
            selective_prefetch: params.selective_prefetch,
            threshold: i64::from(params.selective_threshold),
            selective: params.selective_prefetch == Selective::StartOn,
            counter: 0,
        })
    }

    /// One more entry of a translation page fits.
    fn has_room(&self, tp: u32) -> bool {
        match self.capacity {
            Capacity::Entries(most) => self.nodes.len() < most,
            Capacity::Bytes(most) => {
                let node = if self.nodes.holds(tp) { 0 } else { NODE_BYTES };
                self.bytes() + ENTRY_BYTES + node <= most
            }
        }
    }

    /// A node was created (+1) or removed (-1).
    fn count_node(&mut self, change: i64) {
        self.counter += change;
        if self.counter.abs() >= self.threshold {
            self.selective = self.counter < 0 && self.selective_prefetch != Selective::Never;
            self.counter = 0;
        }
    }

    /// Adds an entry after a miss.
    fn insert(&mut self, lpn: Lpn, ppn: Ppn, prefetched: bool) -> Slot {
        let created = !self.nodes.holds(self.nodes.tp(lpn));
        let slot = self.nodes.insert(lpn, ppn, prefetched);
        if created {
            self.count_node(1);
        }
        slot
    }

    /// Evicts until one more entry of a translation page fits, but never `keep`; true if a node was removed.
    fn make_room(
        &mut self,
        flash: &mut Flash,
        map: &mut Translation,
        tp: u32,
        keep: Option<Slot>,
        after: Ticket,
    ) -> (bool, Ticket) {
        let (mut removed, mut ready) = (false, after);
        while !self.has_room(tp) && keep != Some(self.nodes.victim()) {
            let node;
            (node, ready) = self.evict(flash, map, self.nodes.victim(), ready);
            removed |= node;
        }
        (removed, ready)
    }

    /// Evicts one entry; true if its node went with it.
    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, victim: Slot, after: Ticket) -> (bool, Ticket) {
        let tp = self.nodes.tp(self.nodes.lpn(victim));
        let mut ready = after;
        if self.nodes.is_dirty(victim) {
            let patch = |cache: &mut Self, map: &mut Translation| {
                cache.nodes.write_back(tp, |lpn, ppn| map.patch(lpn, ppn));
            };
            ready = map.write_back(flash, self, tp, false, patch, after);
        }
        self.nodes.remove(victim);
        let removed = !self.nodes.holds(tp);
        if removed {
            self.count_node(-1);
        }
        (removed, ready)
    }

    /// Where prefetching ends after a miss of `wanted`, given the cached run directly before it.
    fn prefetch_end(&self, wanted: Wanted, run: u32, map: &Translation) -> u32 {
        let request = if self.request_prefetch { wanted.end.0 } else { 0 };
        let selective = if self.selective { wanted.lpn.0 + 1 + run } else { 0 };
        request.max(selective).min(map.range(map.tp(wanted.lpn)).end)
    }
}

impl MapCache for TpCache {
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        let Some(slot) = self.nodes.find(lpn) else { return Moved::Nowhere };
        self.nodes.set(slot, to);
        Moved::InRam
    }
}

impl MapPolicy for TpCache {
    type Entry = Slot;

    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Slot, Ticket) {
        let lpn = wanted.lpn;
        if let Some(slot) = self.nodes.find(lpn) {
            flash.ledger.map_hits += 1;
            self.nodes.touch(slot);
            return (slot, after);
        }
        flash.ledger.map_misses += 1;
        let tp = map.tp(lpn);
        let run = self.nodes.run_before(lpn);
        let (mut removed, room) = self.make_room(flash, map, tp, None, after);
        let mut ready = map.fetch(flash, tp, Cause::MapMiss, room);
        let found = self.insert(lpn, map.content(lpn), false);
        for next in (lpn.0 + 1..self.prefetch_end(wanted, run, map)).map(Lpn) {
            if self.nodes.find(next).is_some() {
                continue;
            }
            if removed {
                break;
            }
            (removed, ready) = self.make_room(flash, map, tp, Some(found), ready);
            if !self.has_room(tp) {
                break;
            }
            self.insert(next, map.content(next), true);
            flash.ledger.map_prefetches += 1;
        }
        (found, ready)
    }
    fn ppn(&self, entry: Slot) -> Ppn {
        self.nodes.ppn(entry)
    }
    fn set(&mut self, entry: Slot, ppn: Ppn) {
        self.nodes.set(entry, ppn);
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.nodes.find(lpn).map(|slot| self.nodes.ppn(slot))
    }
    fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    fn restart(&mut self, _: &Winners) {
        self.nodes.clear();
        self.counter = 0;
        self.selective = self.selective_prefetch == Selective::StartOn;
    }
    fn bytes(&self) -> u64 {
        let entries = match self.capacity {
            Capacity::Entries(most) => most,
            Capacity::Bytes(_) => self.nodes.len(),
        };
        ENTRY_BYTES * u64::from(entries) + NODE_BYTES * u64::from(self.nodes.count())
    }
    fn bytes_most(&self, map: &Translation) -> u64 {
        match self.capacity {
            Capacity::Entries(most) => ENTRY_BYTES * u64::from(most) + NODE_BYTES * u64::from(most.min(map.pages())),
            Capacity::Bytes(most) => most,
        }
    }
    fn check(&self, map: &Translation) {
        self.nodes.check(|lpn| map.content(lpn));
        assert!(self.bytes() <= self.bytes_most(map) && self.counter.abs() < self.threshold);
    }
    fn golden_state(&self, _: &dyn Fn(Ppn) -> Value) -> Value {
        json!({"nodes_lru_to_mru": self.nodes.golden_state(), "entries": self.nodes.len(),
            "selective": self.selective, "counter": self.counter})
    }
}
