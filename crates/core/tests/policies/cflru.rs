//! lru and cflru.

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, enough_runs};
use crate::kit::{Dice, Event};

/// LRU is CFLRU without a window.
struct PageList {
    frames: u32,
    /// Most recent first: page, dirty.
    pages: Vec<(u32, bool)>,
    cflru: bool,
    ratio: f64,
    /// Period, step, cost of a read, cost of a write.
    dynamic: Option<(usize, Option<i64>, f64, f64)>,
    window: i64,
    accesses: usize,
    reads: usize,
    writes: usize,
    last_cost: Option<f64>,
    direction: i64,
}

impl PageList {
    fn new(frames: u32) -> Self {
        Self {
            frames,
            pages: vec![],
            cflru: false,
            ratio: 0.0,
            dynamic: None,
            window: 0,
            accesses: 0,
            reads: 0,
            writes: 0,
            last_cost: None,
            direction: 1,
        }
    }
    fn half_up(&self) -> i64 {
        (self.ratio * f64::from(self.frames) + 0.5).floor() as i64
    }
    fn evict(&mut self, done: &mut Vec<Event>) {
        let outside = self.pages.len().saturating_sub(self.window as usize);
        let clean = (outside..self.pages.len()).rev().find(|i| !self.pages[*i].1);
        let (lpn, dirty) = self.pages.remove(clean.unwrap_or(self.pages.len() - 1));
        self.writes += usize::from(dirty);
        done.push(if dirty { Event::write(&[lpn]) } else { Event::Drop(lpn) });
    }
    fn adapt(&mut self) {
        let Some((period, step, read, write)) = self.dynamic else { return };
        self.accesses += 1;
        if self.accesses.is_multiple_of(period) {
            let cost = read * self.reads as f64 + write * self.writes as f64;
            (self.reads, self.writes) = (0, 0);
            if self.last_cost.is_some_and(|last| cost > last) {
                self.direction *= -1;
            }
            self.last_cost = Some(cost);
            let step = step.unwrap_or((i64::from(self.frames) / 20).max(1));
            self.window = (self.window + self.direction * step).clamp(0, i64::from(self.frames));
        }
    }
}

impl Reference for PageList {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let found = self.pages.iter().position(|page| page.0 == lpn);
        let was_dirty = found.is_some_and(|i| self.pages.remove(i).1);
        if found.is_none() {
            if self.pages.len() == self.frames as usize {
                self.evict(done);
            }
            if !is_write {
                self.reads += 1;
                done.push(Event::Read(Cause::Host, vec![lpn]));
            }
        }
        self.pages.insert(0, (lpn, is_write || was_dirty));
        done.push(Event::Access { lpn, write: is_write, hit: found.is_some() });
        self.adapt();
    }
    fn trim(&mut self, lpn: u32) {
        self.pages.retain(|page| page.0 != lpn);
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut dirty: Vec<u32> = self.pages.iter().filter(|page| page.1).map(|page| page.0).collect();
        dirty.sort_unstable();
        self.writes += dirty.len();
        done.extend(dirty.iter().map(|lpn| Event::write(&[*lpn])));
        self.pages.iter_mut().for_each(|page| page.1 = false);
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        let learned = self.window - self.half_up();
        self.frames = frames.dram;
        self.window = (self.half_up() + learned).clamp(0, i64::from(frames.dram));
        while self.pages.len() > frames.dram as usize {
            self.evict(done);
        }
    }
    fn state(&self) -> Value {
        let page = |(lpn, dirty): &(u32, bool)| json!({"lpn": lpn, "dirty": u8::from(*dirty)});
        let mut state = json!({"lru": self.pages.iter().map(page).collect::<Vec<_>>()});
        if self.cflru {
            state["window"] = json!(self.window);
        }
        state
    }
}

#[test]
fn lru_evicts_the_least_recently_used_page() {
    enough_runs(1, false, |run, random, label| {
        let mut reference = PageList::new(run.frames);
        compare(label, &mut *device("lru", json!({}), run), &mut reference, run, random, 800)
    });
}

fn cflru(run: &Run, random: &mut Dice, label: &str, dynamic: bool) -> u64 {
    let ratio = [0.0, 0.4, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
    let mut params = json!({"window_ratio": ratio});
    let mut reference = PageList { cflru: true, ratio, ..PageList::new(run.frames) };
    reference.window = reference.half_up();
    if dynamic {
        let period = 1 + random.below(60);
        params["dynamic"] = json!(true);
        params["period"] = json!(period);
        // Without them: a twentieth of the frames and the times of the device.
        let (mut step, mut read, mut write) = (None, 3.0, 20.0);
        if random.one_in(2) {
            let given = 1 + random.below(5);
            (step, read, write) = (Some(i64::from(given)), 1.0, f64::from(random.below(10)));
            params["step"] = json!(given);
            params["cost_read"] = json!(read);
            params["cost_write"] = json!(write);
        }
        reference.dynamic = Some((period as usize, step, read, write));
    }
    let label = format!("{label}, {params}");
    compare(&label, &mut *device("cflru", params, run), &mut reference, run, random, 800)
}

#[test]
fn cflru_finds_the_clean_page_that_a_scan_of_its_window_finds() {
    enough_runs(2, false, |run, random, label| cflru(run, random, label, false));
}

#[test]
fn cflru_dynamic_window_climbs_as_written() {
    enough_runs(3, false, |run, random, label| cflru(run, random, label, true));
}
