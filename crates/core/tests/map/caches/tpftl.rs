//! TPFTL, and LearnedFTL on top of it, with plain lists.

use nandlab::types::Ppn;
use serde_json::{Value, json};

use super::learned::Learned;
use super::{Counts, LOGICAL, Reference, take};

/// TPFTL. All lists from LRU to MRU.
#[derive(Default)]
pub struct Tpftl {
    pub entries_per_tp: u32,
    pub capacity: usize,
    pub threshold: i32,
    /// The run before a miss is counted when the rest of the request was brought in.
    pub run_at_prefetch: bool,
    /// (translation page, its (page, dirty)).
    pub nodes: Vec<(u32, Vec<(u32, bool)>)>,
    pub selective: bool,
    pub counter: i32,
    pub counts: Counts,
    /// LearnedFTL's models.
    pub models: Option<Learned>,
}

impl Tpftl {
    fn node(&mut self, tp: u32) -> Option<&mut Vec<(u32, bool)>> {
        self.nodes.iter_mut().find(|(other, _)| *other == tp).map(|(_, entries)| entries)
    }
    fn holds(&self, lpn: u32) -> bool {
        self.nodes.iter().any(|(_, entries)| entries.iter().any(|(other, _)| *other == lpn))
    }
    fn len(&self) -> usize {
        self.nodes.iter().map(|(_, entries)| entries.len()).sum()
    }
    fn count(&mut self, change: i32) {
        self.counter += change;
        if self.counter.abs() == self.threshold {
            self.selective = self.counter < 0;
            self.counter = 0;
        }
    }
    /// The entry that would go now.
    fn victim(&self) -> u32 {
        let entries = &self.nodes[0].1;
        entries.iter().find(|(_, dirty)| !dirty).unwrap_or(&entries[0]).0
    }
    /// True if a node went. `places` are those of all pages now.
    fn evict(&mut self, places: &[Ppn]) -> bool {
        let tp = self.nodes[0].0;
        let victim = self.victim();
        let entries = &mut self.nodes[0].1;
        if take(entries, |(lpn, _)| *lpn == victim).1 {
            for (_, dirty) in entries.iter_mut() {
                *dirty = false;
            }
            self.counts.patched += 1;
            self.counts.programmed += 1;
            if let Some(models) = &mut self.models {
                models.train(tp, self.entries_per_tp, places);
            }
        }
        let entries = &mut self.nodes[0].1;
        let gone = entries.is_empty();
        if gone {
            self.nodes.remove(0);
            self.count(-1);
        }
        gone
    }
}

impl Reference for Tpftl {
    fn access(&mut self, lpn: u32, end: u32, write: bool, [places, _]: [&[Ppn]; 2]) {
        let tp = lpn / self.entries_per_tp;
        if let Some(models) = self.models.as_mut().filter(|models| models.exact.is_empty()) {
            models.exact = vec![false; LOGICAL as usize];
            (0..LOGICAL.div_ceil(self.entries_per_tp)).for_each(|tp| models.train(tp, self.entries_per_tp, places));
        }
        let told = |cache: &Self| cache.models.as_ref().is_some_and(|models| models.exact[lpn as usize]);
        if self.holds(lpn) {
            self.counts.hits += 1;
        } else if told(self) && !write {
            self.counts.hits += 1;
            self.counts.second_hits += 1;
            return;
        } else {
            let first = tp * self.entries_per_tp;
            let run = |cache: &Self| (first..lpn).rev().take_while(|before| cache.holds(*before)).count() as u32;
            let run_at_miss = run(self);
            let mut stop = self.len() == self.capacity && self.evict(places);
            let told = told(self);
            self.counts.hits += u64::from(told);
            self.counts.second_hits += u64::from(told);
            self.counts.misses += u64::from(!told);
            if self.node(tp).is_none() {
                self.nodes.push((tp, Vec::new()));
                self.count(1);
            }
            self.node(tp).expect("just made").push((lpn, false));
            let at = self.nodes.iter().position(|(other, _)| *other == tp).expect("just made");
            let node = self.nodes.remove(at);
            self.nodes.push(node);
            let (mut next, mut counted) = (lpn + 1, None);
            while !told && next < (first + self.entries_per_tp).min(LOGICAL) {
                if next >= end {
                    let run = *counted.get_or_insert(if self.run_at_prefetch { run(self) } else { run_at_miss });
                    if !self.selective || next > lpn + run {
                        break;
                    }
                }
                if !self.holds(next) {
                    if stop || (self.len() == self.capacity && self.victim() == lpn) {
                        break;
                    }
                    stop = self.len() == self.capacity && self.evict(places);
                    self.node(tp).expect("holds the page asked for").insert(0, (next, false));
                    self.counts.prefetches += 1;
                }
                next += 1;
            }
        }
        let (_, mut entries) = take(&mut self.nodes, |(other, _)| *other == tp);
        let (_, dirty) = take(&mut entries, |(other, _)| *other == lpn);
        entries.push((lpn, dirty || write));
        self.nodes.push((tp, entries));
        if let Some(models) = self.models.as_mut().filter(|_| write) {
            models.exact[lpn as usize] = false;
        }
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        let mut state = json!({"nodes_lru_to_mru": self.nodes, "selective": self.selective, "counter": self.counter});
        if let Some(models) = &self.models {
            let exact = (0..LOGICAL).filter(|lpn| models.exact[*lpn as usize]);
            state["predicted_lpns"] = exact.collect();
        }
        state
    }
}
