//! URM against a slow reference.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use nandlab::types::{Hint, Pattern};
use serde_json::{Value, json};

use super::watched::{LOGICAL_PAGES, Reference, Watched, compare};
use crate::kit::{Dice, Event};

#[derive(Clone, Debug)]
struct UrmPage {
    lpn: u32,
    dirty: bool,
    zone: Pattern,
    pc: u32,
    last: u64,
    waits: bool,
}

struct UrmReference {
    capacity: usize,
    mru: bool,
    consumed_first: bool,
    pages: Vec<UrmPage>,
    period: BTreeMap<u32, u32>,
    time: u64,
}

impl UrmReference {
    fn evict(&mut self, spared: std::ops::Range<u32>, done: &mut Vec<Event>) -> bool {
        let rank = |page: &UrmPage| {
            let period = u32::MAX - self.period[&page.pc];
            match page.zone {
                Pattern::Sequential => (0, u32::from(self.consumed_first && page.waits), page.last),
                Pattern::Random => (1, 0, page.last),
                Pattern::ClusteredHot => (2, period, page.last),
                Pattern::Looping => (3, period, if self.mru { u64::MAX - page.last } else { page.last }),
            }
        };
        let victims = self.pages.iter().enumerate().filter(|(_, page)| !spared.contains(&page.lpn));
        let Some((at, _)) = victims.min_by_key(|(_, page)| rank(page)) else { return false };
        let page = self.pages.remove(at);
        done.push(if page.dirty { Event::write(&[page.lpn]) } else { Event::Drop(page.lpn) });
        true
    }
    fn touch(&mut self, lpn: u32, dirty: bool, hint: Hint, waits: bool) {
        self.time += 1;
        self.pages.push(UrmPage { lpn, dirty, zone: hint.pattern, pc: hint.pc, last: self.time, waits });
    }
}

impl Reference for UrmReference {
    fn access(&mut self, lpn: u32, write: bool, hint: Hint, done: &mut Vec<Event>) {
        self.period.insert(hint.pc, hint.period);
        if let Some(at) = self.pages.iter().position(|page| page.lpn == lpn) {
            let dirty = self.pages.remove(at).dirty;
            self.touch(lpn, dirty || write, hint, false);
            return done.push(Event::Access { lpn, write, hit: true });
        }
        let missed = Event::Access { lpn, write, hit: false };
        if self.capacity == 0 {
            let passed = if write { Event::write(&[lpn]) } else { Event::Read(Cause::Host, vec![lpn]) };
            return done.extend([passed, missed]);
        }
        while self.pages.len() >= self.capacity {
            self.evict(0..0, done);
        }
        if !write {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        }
        self.touch(lpn, write, hint, false);
        done.push(missed);
        if write || hint.pattern == Pattern::Random {
            return;
        }
        let run = lpn..(lpn + hint.run_pages.max(1)).min(LOGICAL_PAGES);
        let absent = run.clone().filter(|l| self.pages.iter().all(|page| page.lpn != *l));
        let mut wanted: Vec<u32> = absent.take(self.capacity - 1).collect();
        while self.pages.len() + wanted.len() > self.capacity {
            if !self.evict(run.clone(), done) {
                wanted.pop();
            }
        }
        for lpn in &wanted {
            self.touch(*lpn, false, hint, true);
        }
        if !wanted.is_empty() {
            done.push(Event::Read(Cause::Prefetch, wanted));
        }
    }
    fn trim(&mut self, lpn: u32) {
        self.pages.retain(|page| page.lpn != lpn);
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut dirty: Vec<u32> = self.pages.iter().filter(|page| page.dirty).map(|page| page.lpn).collect();
        dirty.sort_unstable();
        self.pages.iter_mut().for_each(|page| page.dirty = false);
        done.extend(dirty.into_iter().map(|lpn| Event::write(&[lpn])));
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.capacity = frames.dram as usize;
        while self.pages.len() > self.capacity {
            self.evict(0..0, done);
        }
    }
    fn state(&self) -> Value {
        let zone = |pattern| {
            let mut pages: Vec<_> = self.pages.iter().filter(|page| page.zone == pattern).collect();
            pages.sort_by_key(|page| u64::MAX - page.last);
            let page = |p: &&UrmPage| json!({"lpn": p.lpn, "dirty": u8::from(p.dirty), "pc": p.pc});
            pages.iter().map(page).collect::<Vec<_>>()
        };
        json!({
            "SEQ": zone(Pattern::Sequential), "RND": zone(Pattern::Random),
            "CLU": zone(Pattern::ClusteredHot), "LOOP": zone(Pattern::Looping),
        })
    }
}

#[test]
fn urm_decides_like_a_plain_reference() {
    for seed in 0..150 {
        let mut dice = Dice(seed ^ 0xABCD);
        let (mru, consumed_first) = (dice.one_in(2), dice.one_in(2));
        let frames = Frames { dram: 1 + dice.below(30), nvram: 0 };
        let params = json!({"loop_victim": if mru { "mru" } else { "lru" }, "consumed_first": consumed_first});
        let mut watched = Watched::new("urm", params, frames, 4);
        let mut reference = UrmReference {
            capacity: frames.dram as usize,
            mru,
            consumed_first,
            pages: Vec::new(),
            period: BTreeMap::new(),
            time: 0,
        };
        compare(&mut watched, &mut reference, Frames { dram: frames.dram + 3, nvram: 9 }, seed, 1500);
        assert!(watched.device.ledger().prefetched_pages > 20 || frames.dram < 3);
    }
}
