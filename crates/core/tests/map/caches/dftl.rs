//! DFTL's table with plain lists.

use nandlab::types::Ppn;
use serde_json::{Value, json};

use super::{Counts, Reference, take};

/// DFTL's table in its three orders. All lists begin with the entry that goes first.
pub struct Dftl {
    pub order: &'static str,
    pub capacity: usize,
    pub protected: usize,
    /// (page, dirty, age or heat), by segment: probation and protected, or the clean and the dirty queue.
    pub lists: [Vec<(u32, bool, u64)>; 2],
    /// (page, block and page where it lies).
    pub places: Vec<Ppn>,
    pub counts: Counts,
}

impl Dftl {
    /// Smallest age first, then smallest page.
    fn sort(&mut self) {
        if self.order == "age" {
            for list in &mut self.lists {
                list.sort_by_key(|(lpn, _, age)| (*age, *lpn));
            }
        }
    }
    fn hit(&mut self, lpn: u32, write: bool) {
        let at = usize::from(self.lists[1].iter().any(|(other, _, _)| *other == lpn));
        let heat = u64::from(self.order != "segmented");
        if self.order == "clock" {
            let entry = self.lists[at].iter_mut().find(|(other, _, _)| *other == lpn).expect("it is there");
            *entry = (lpn, entry.1 || write, entry.2 + heat);
            return;
        }
        let (_, dirty, age) = take(&mut self.lists[at], |(other, _, _)| *other == lpn);
        let entry = (lpn, dirty || write, age + heat);
        let promoted = match self.order {
            "segmented" => self.protected > 0,
            _ => at == 1 || self.lists[1].first().is_some_and(|(_, _, least)| *least <= entry.2),
        };
        if promoted && (at == 0 && self.lists[1].len() == self.protected) {
            let demoted = self.lists[1].remove(0);
            self.lists[0].push(demoted);
        }
        self.lists[usize::from(promoted)].push(entry);
        self.sort();
    }
    /// Turns the hand until an entry goes; true if that one was dirty.
    fn turn(&mut self) -> bool {
        loop {
            for queue in 0..2 {
                for _ in 0..self.lists[queue].len() {
                    let (lpn, dirty, heat) = self.lists[queue].remove(0);
                    match (usize::from(dirty) == queue, heat) {
                        (true, 0) => return dirty,
                        (true, _) => self.lists[queue].push((lpn, dirty, heat - 1)),
                        (false, _) => self.lists[1 - queue].push((lpn, dirty, heat)),
                    }
                }
            }
        }
    }
    fn evict(&mut self) {
        let dirty = if self.order == "clock" {
            self.turn()
        } else {
            let list = usize::from(self.lists[0].is_empty());
            self.lists[list].remove(0).1
        };
        self.counts.patched += u64::from(dirty);
        self.counts.programmed += u64::from(dirty);
    }
}

impl Reference for Dftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, places: [&[Ppn]; 2]) {
        self.places = places[1].to_vec();
        if self.lists.iter().flatten().any(|(other, _, _)| *other == lpn) {
            self.counts.hits += 1;
            return self.hit(lpn, write);
        }
        self.counts.misses += 1;
        if self.lists[0].len() + self.lists[1].len() == self.capacity {
            self.evict();
        }
        let segment = usize::from(self.order == "age" && self.protected > 0);
        if segment == 1 && self.lists[1].len() == self.protected {
            let demoted = self.lists[1].remove(0);
            self.lists[0].push(demoted);
        }
        let rank = match self.order {
            "age" => self.lists[segment].iter().map(|(_, _, age)| age + 1).max().unwrap_or(1),
            "clock" => 1,
            _ => 0,
        };
        self.lists[segment].push((lpn, write, rank));
        self.sort();
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        let [first, second] = self.lists.each_ref().map(|list| {
            let place = |lpn: u32| self.places[lpn as usize].0;
            list.iter()
                .map(|(lpn, dirty, _)| json!([lpn, [place(*lpn) / 64, place(*lpn) % 64], dirty]))
                .collect::<Vec<_>>()
        });
        json!({"cmt": {"probation_lru_to_mru": first, "protected_lru_to_mru": second}})
    }
}
