//! CDFTL with plain lists.

use std::collections::BTreeMap;

use nandlab::types::Ppn;
use serde_json::{Value, json};

use super::{Counts, Reference};

/// CDFTL. All lists from LRU to MRU.
#[derive(Default)]
pub struct Cdftl {
    pub entries_per_tp: u32,
    pub cmt_entries: usize,
    pub ctp_pages: usize,
    pub cmt: Vec<(u32, bool)>,
    pub ctp: Vec<(u32, bool)>,
    pub counts: Counts,
}

impl Reference for Cdftl {
    fn access(&mut self, lpn: u32, _: u32, write: bool, _: [&[Ppn]; 2]) {
        let tp = |lpn: u32| lpn / self.entries_per_tp;
        if let Some(at) = self.cmt.iter().position(|(other, _)| *other == lpn) {
            self.counts.hits += 1;
            let (_, dirty) = self.cmt.remove(at);
            return self.cmt.push((lpn, dirty || write));
        }
        if let Some(at) = self.ctp.iter().position(|(other, _)| *other == tp(lpn)) {
            self.counts.hits += 1;
            self.counts.second_hits += 1;
            let page = self.ctp.remove(at);
            self.ctp.push(page);
        } else {
            self.counts.misses += 1;
            if self.ctp.len() == self.ctp_pages {
                self.counts.programmed += u64::from(self.ctp.remove(0).1);
            }
            self.ctp.push((tp(lpn), false));
        }
        if self.cmt.len() == self.cmt_entries {
            let cached: BTreeMap<u32, usize> = self.ctp.iter().enumerate().map(|(at, page)| (page.0, at)).collect();
            let free = self.cmt.iter().position(|(other, dirty)| !dirty || cached.contains_key(&tp(*other)));
            let (victim, dirty) = self.cmt.remove(free.unwrap_or(0));
            match cached.get(&tp(victim)) {
                Some(at) if dirty => self.ctp[*at].1 = true,
                None if dirty => {
                    self.counts.patched += 1;
                    self.counts.programmed += 1;
                }
                _ => {}
            }
        }
        self.cmt.push((lpn, write));
    }
    fn counts(&self) -> Counts {
        self.counts
    }
    fn state(&self) -> Value {
        json!({"cmt_lru_to_mru": self.cmt, "ctp_lru_to_mru": self.ctp})
    }
}
