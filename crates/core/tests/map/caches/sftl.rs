//! S-FTL with a plain list.

use nandlab::types::Ppn;
use serde_json::{Value, json};

use super::{Counts, LOGICAL, Reference, take};

/// S-FTL. The list from LRU to MRU.
#[derive(Default)]
pub struct Sftl {
    pub entries_per_tp: u32,
    pub budget: u64,
    /// (translation page, dirty, bytes).
    pub pages: Vec<(u32, bool, u64)>,
    pub counts: Counts,
}

impl Sftl {
    fn shrink(&mut self) {
        while self.pages.iter().map(|(_, _, bytes)| bytes).sum::<u64>() > self.budget && self.pages.len() > 1 {
            self.counts.programmed += u64::from(self.pages.remove(0).1);
        }
    }
}

impl Reference for Sftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, places: [&[Ppn]; 2]) {
        let tp = lpn / self.entries_per_tp;
        let range = tp * self.entries_per_tp..((tp + 1) * self.entries_per_tp).min(LOGICAL);
        let [before, after] = places.map(|places| {
            let places = &places[range.start as usize..range.end as usize];
            let runs = 1 + places.windows(2).filter(|pair| pair[1].0 != pair[0].0 + 1).count() as u64;
            u64::from(self.entries_per_tp.div_ceil(8)) + 4 * runs
        });
        if self.pages.iter().any(|(other, _, _)| *other == tp) {
            self.counts.hits += 1;
            let (_, dirty, _) = take(&mut self.pages, |(other, _, _)| *other == tp);
            self.pages.push((tp, dirty || write, after));
        } else {
            self.counts.misses += 1;
            self.pages.push((tp, write, before));
            self.shrink();
            self.pages.last_mut().expect("just pushed").2 = after;
        }
        self.shrink();
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        json!({"lru_to_mru": self.pages})
    }
}
