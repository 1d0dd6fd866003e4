//! URM against a slow reference.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use nandlab::types::{Hint, Pattern};
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, run_enough};
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
    logical_pages: u32,
    mru: bool,
    consumed_first: bool,
    /// Program locations.
    pcs: u32,
    /// Of the request, from its next page on.
    hint: Hint,
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
    fn hint(&mut self, random: &mut Dice) -> Hint {
        let patterns = [Pattern::Sequential, Pattern::Random, Pattern::ClusteredHot, Pattern::Looping];
        let (pattern, pc) = (random.pick(&patterns), random.below(self.pcs) * 1_000_003);
        self.hint = Hint { pattern, pc, run_pages: random.below(9), period: random.below(6), mappings: 0 };
        self.hint
    }
    fn access(&mut self, lpn: u32, write: bool, done: &mut Vec<Event>) {
        let hint = self.hint;
        self.hint.run_pages = hint.run_pages.saturating_sub(1).max(1);
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
        let run = lpn..(lpn + hint.run_pages.max(1)).min(self.logical_pages);
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
    // The NVRAM is not used; with it the DRAM may be gone for a while.
    let make = |random: &mut Dice| {
        let (frames, logical_pages, filled) = (1 + random.below(30), 20 + random.below(230), random.one_in(2));
        Run { logical_pages, block_pages: 4, frames, nvram: 4, filled, roomy: false }
    };
    run_enough(81, make, |run, random, label| {
        let (mru, consumed_first) = (random.one_in(2), random.one_in(2));
        let params = json!({"loop_victim": if mru { "mru" } else { "lru" }, "consumed_first": consumed_first});
        let mut reference = UrmReference {
            capacity: run.frames as usize,
            logical_pages: run.logical_pages,
            mru,
            consumed_first,
            pcs: 1 + random.below(12),
            hint: Hint::default(),
            pages: Vec::new(),
            period: BTreeMap::new(),
            time: 0,
        };
        let label = format!("{label}, {params}");
        let mut device = device("urm", params, run);
        let accesses = compare(&label, &mut *device, &mut reference, run, random, 1500);
        assert!(device.ledger().prefetched_pages > 20 || run.frames < 3, "{label}");
        accesses
    });
}
