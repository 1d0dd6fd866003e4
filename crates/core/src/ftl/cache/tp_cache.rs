//! The mapping cache of TPFTL (its manual page says what it does), with room for models next to it (`learnedftl`).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::Shape;
use crate::ftl::blocks::recover::Winners;
use crate::ftl::cache::models::Models;
use crate::ftl::cache::nodes::Nodes;
use crate::ftl::cache::slab::{Cached, Mappings};
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{MapPolicy, Purpose, Wanted};
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

/// Bytes of a cached mapping.
const ENTRY_BYTES: u64 = 6;
/// Bytes of a node.
const NODE_BYTES: u64 = 8;

/// Declares the `Params` of an FTL with this cache: its own parameters, each with its default, those of the cache, and
/// the common ones.
macro_rules! node_params {
    ($($own:tt)*) => {
        $crate::ftl::frame::demand_params! {
            /// Size of the cache.
            cmt_entries: Option<u32> = None, in 1.., "entries", absent "8192";
            /// The same in bytes, 6 an entry and 8 a node, instead of `cmt_entries`.
            cmt_bytes: Option<$crate::types::Bytes> = None;
            /// Request-level prefetching: the mappings of the rest of the request.
            request_prefetch: bool = true;
            /// Prefetching ahead of sequential accesses; the default is that of the public code.
            selective_prefetch: $crate::ftl::cache::tp_cache::Selective = $crate::ftl::cache::tp_cache::Selective::StartOn;
            /// Nodes more or fewer at which selective prefetching is switched.
            selective_threshold: u32 = 3, "nodes", unless selective_prefetch = "never";
            /// When the cached pages before a miss are counted. The two differ only where the victims lie in the node of the
            /// missed page, that is in caches of very few nodes.
            selective_run: $crate::ftl::cache::tp_cache::SelectiveRun = $crate::ftl::cache::tp_cache::SelectiveRun::AtMiss,
                unless selective_prefetch = "never";
            /// One data and one translation frontier, or a data frontier on every die and a translation frontier on every
            /// channel.
            frontiers: $crate::ftl::frame::space::Frontiers = $crate::ftl::frame::space::Frontiers::Die;
            $($own)*
        }

        impl Params {
            fn cache(
                &self,
                shape: &$crate::ftl::Shape,
                entries_per_tp: u32,
            ) -> Result<$crate::ftl::cache::tp_cache::TpCache, $crate::error::ConfigError> {
                let ahead = $crate::ftl::cache::tp_cache::Prefetching {
                    request: self.request_prefetch,
                    selective: self.selective_prefetch,
                    threshold: self.selective_threshold,
                    run: self.selective_run,
                };
                $crate::ftl::cache::tp_cache::TpCache::new((self.cmt_entries, self.cmt_bytes), ahead, shape, entries_per_tp)
            }
        }
    };
}
pub(in crate::ftl) use node_params;

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

/// When selective prefetching counts the consecutive cached pages directly before the one that was missed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SelectiveRun {
    /// When the miss is found: the run tells how sequential the accesses were, which does not depend on what an eviction
    /// happens to take.
    AtMiss,
    /// When the missed mapping and those of the rest of the request were brought in, which may have evicted the first pages
    /// of the run (the public code).
    AtPrefetch,
}

/// How a cache fetches ahead.
#[derive(Clone, Copy, Debug)]
pub struct Prefetching {
    /// The rest of the request.
    pub request: bool,
    /// Behind cached pages.
    pub selective: Selective,
    /// Nodes more or less at which the latter is switched.
    pub threshold: u32,
    /// When the cached pages are counted.
    pub run: SelectiveRun,
}

/// Where the FTL knows a mapping from.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// An entry of the cache.
    Cached(Cached),
    /// A model; only to be read.
    Predicted(Ppn),
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
    ahead: Prefetching,
    /// Selective prefetching is on.
    selective: bool,
    /// Nodes created minus nodes removed since the switch was last thrown.
    counter: i64,
    /// What `learnedftl` knows besides the cache.
    models: Option<Models>,
}

impl TpCache {
    /// An empty cache of that many entries or bytes.
    ///
    /// # Errors
    /// When a size is out of range.
    pub fn new(
        size: (Option<u32>, Option<Bytes>),
        ahead: Prefetching,
        shape: &Shape,
        entries_per_tp: u32,
    ) -> Result<Self, ConfigError> {
        let least = ENTRY_BYTES + NODE_BYTES;
        let capacity = match size {
            (Some(_), Some(_)) => {
                let help = "give one of them (an entry takes 6 bytes, a node 8)";
                return Err(ConfigError::new("ftl.cmt_bytes", "cmt_entries is given too", help));
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
        if ahead.threshold == 0 {
            let help = "use 1 or more, or selective_prefetch = \"never\"";
            return Err(ConfigError::new("ftl.selective_threshold", "0 nodes switch nothing", help));
        }
        Ok(Self {
            nodes: Nodes::new(shape.logical_pages, entries_per_tp),
            capacity,
            ahead,
            selective: ahead.selective == Selective::StartOn,
            counter: 0,
            models: None,
        })
    }

    /// The cache with models next to it, which answer what it does not hold.
    #[must_use]
    pub fn with_models(self, models: Models) -> Self {
        Self { models: Some(models), ..self }
    }

    fn predict(&self, lpn: Lpn) -> Option<Ppn> {
        self.models.as_ref()?.predict(lpn)
    }

    /// A mapping changes: what a model told of it is wrong.
    fn unlearn(&mut self, lpn: Lpn) {
        if let Some(models) = &mut self.models {
            models.forget(lpn);
        }
    }

    /// One more entry of a translation page fits.
    fn has_room(&self, tp: u32) -> bool {
        match self.capacity {
            Capacity::Entries(most) => self.nodes.len() < most,
            Capacity::Bytes(most) => {
                let node = if self.nodes.holds(tp) { 0 } else { NODE_BYTES };
                self.cache_bytes() + ENTRY_BYTES + node <= most
            }
        }
    }

    fn cache_bytes(&self) -> u64 {
        let entries = match self.capacity {
            Capacity::Entries(most) => most,
            Capacity::Bytes(_) => self.nodes.len(),
        };
        ENTRY_BYTES * u64::from(entries) + NODE_BYTES * u64::from(self.nodes.count())
    }

    fn model_bytes(&self) -> u64 {
        self.models.as_ref().map_or(0, Models::bytes)
    }

    /// A node was created (+1) or removed (-1).
    fn count_node(&mut self, change: i64) {
        self.counter += change;
        if self.counter.abs() >= i64::from(self.ahead.threshold) {
            self.selective = self.counter < 0 && self.ahead.selective != Selective::Never;
            self.counter = 0;
        }
    }

    /// Adds an entry after a miss.
    fn insert(&mut self, lpn: Lpn, ppn: Ppn, prefetched: bool) -> Cached {
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
        keep: Option<Cached>,
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
    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, victim: Cached, after: Ticket) -> (bool, Ticket) {
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

    /// Brings in the mappings of these pages, which lie in the translation page of `found`, as far as prefetching goes:
    /// `removed` tells that a node went, which ends it.
    fn prefetch(
        &mut self,
        flash: &mut Flash,
        map: &mut Translation,
        pages: std::ops::Range<u32>,
        found: Cached,
        (mut removed, mut ready): (bool, Ticket),
    ) -> (bool, Ticket) {
        let tp = self.nodes.tp(self.nodes.lpn(found));
        for next in pages.map(Lpn) {
            if self.nodes.find(next).is_some() {
                continue;
            }
            if removed {
                break;
            }
            (removed, ready) = self.make_room(flash, map, tp, Some(found), ready);
            if !self.has_room(tp) {
                return (true, ready);
            }
            self.insert(next, map.content(next), true);
            flash.ledger.map_prefetches += 1;
        }
        (removed, ready)
    }
}

impl MapCache for TpCache {
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        self.unlearn(lpn);
        let Some(slot) = self.nodes.find(lpn) else { return Moved::Nowhere };
        self.nodes.set(slot, to);
        Moved::InRam
    }
    fn rewritten(&mut self, tp: u32, map: &Translation) {
        if let Some(models) = &mut self.models {
            // Sorted collection writes cached mappings too.
            self.nodes.settle(tp, |lpn| map.content(lpn));
            let nodes = &self.nodes;
            models.train(tp, |lpn| nodes.find(lpn).map_or_else(|| map.content(lpn), |slot| nodes.ppn(slot)));
        }
    }
}

impl MapPolicy for TpCache {
    type Entry = Known;

    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Known, Ticket) {
        let lpn = wanted.lpn;
        if let Some(slot) = self.nodes.find(lpn) {
            flash.ledger.map_hits += 1;
            self.nodes.touch(slot);
            return (Known::Cached(slot), after);
        }
        if let Some(ppn) = self.predict(lpn).filter(|_| wanted.purpose == Purpose::Read) {
            flash.ledger.map_hits += 1;
            flash.ledger.map_second_hits += 1;
            return (Known::Predicted(ppn), after);
        }
        let tp = map.tp(lpn);
        let run_at_miss = self.nodes.run_before(lpn);
        let (removed, room) = self.make_room(flash, map, tp, None, after);
        // Only now: making room may have moved the page.
        if let Some(ppn) = self.predict(lpn) {
            flash.ledger.map_hits += 1;
            flash.ledger.map_second_hits += 1;
            return (Known::Cached(self.insert(lpn, ppn, false)), room);
        }
        flash.ledger.map_misses += 1;
        let ready = map.fetch(flash, tp, Cause::MapMiss, room);
        let found = self.insert(lpn, map.content(lpn), false);
        let (next, last) = (lpn.0 + 1, map.range(tp).end);
        let request = if self.ahead.request { wanted.end.0.clamp(next, last) } else { next };
        let (removed, ready) = self.prefetch(flash, map, next..request, found, (removed, ready));
        if !self.selective {
            return (Known::Cached(found), ready);
        }
        let run = match self.ahead.run {
            SelectiveRun::AtMiss => run_at_miss,
            SelectiveRun::AtPrefetch => self.nodes.run_before(lpn),
        };
        let (_, ready) = self.prefetch(flash, map, request..(next + run).min(last), found, (removed, ready));
        (Known::Cached(found), ready)
    }
    fn ppn(&self, entry: Known) -> Ppn {
        match entry {
            Known::Cached(slot) => self.nodes.ppn(slot),
            Known::Predicted(ppn) => ppn,
        }
    }
    fn set(&mut self, entry: Known, ppn: Ppn) {
        let Known::Cached(slot) = entry else { panic!("a mapping looked up to be read is changed") };
        self.unlearn(self.nodes.lpn(slot));
        self.nodes.set(slot, ppn);
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.nodes.find(lpn).map(|slot| self.nodes.ppn(slot))
    }
    fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.models.as_ref().is_none_or(|models| models.exact_pages() == 0)
    }
    fn restart(&mut self, _: &Winners) {
        self.nodes.clear();
        self.counter = 0;
        self.selective = self.ahead.selective == Selective::StartOn;
        if let Some(models) = &mut self.models {
            models.clear();
        }
    }
    fn bytes(&self) -> u64 {
        self.model_bytes() + self.cache_bytes()
    }
    fn bytes_most(&self, map: &Translation) -> u64 {
        self.model_bytes()
            + match self.capacity {
                Capacity::Entries(most) => {
                    ENTRY_BYTES * u64::from(most) + NODE_BYTES * u64::from(most.min(map.pages()))
                }
                Capacity::Bytes(most) => most,
            }
    }
    fn check(&self, map: &Translation) {
        self.nodes.check(|lpn| map.content(lpn));
        assert!(self.bytes() <= self.bytes_most(map) && self.counter.abs() < i64::from(self.ahead.threshold));
        if let Some(models) = &self.models {
            models.check(|lpn| self.newest(lpn).unwrap_or_else(|| map.content(lpn)));
        }
    }
    fn golden_state(&self, _: &dyn Fn(Ppn) -> Value) -> Value {
        let mut state = json!({"nodes_lru_to_mru": self.nodes.golden_state(), "entries": self.nodes.len(),
            "selective": self.selective, "counter": self.counter});
        if let Some(models) = &self.models {
            state["predicted_lpns"] = models.exact().map(|lpn| lpn.0).collect();
        }
        state
    }
}
