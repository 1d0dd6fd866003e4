//! lru and cflru.

use serde_json::{Value, json};

use super::harness::Run;
use super::paged::{Order, Pages, check, half_up, take, to_front};
use crate::kit::Dice;

/// How the window moves.
struct Climb {
    period: usize,
    step: Option<i64>,
    /// Costs of a read and of a write.
    costs: [f64; 2],
}

/// LRU is CFLRU without a window.
#[derive(Default)]
struct PageList {
    frames: u32,
    /// Most recent first.
    pages: Vec<u32>,
    cflru: bool,
    ratio: f64,
    dynamic: Option<Climb>,
    window: i64,
    accesses: usize,
    reads: usize,
    writes: usize,
    last_cost: Option<f64>,
    shrinks: bool,
}

impl Order for PageList {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        to_front(&mut self.pages, lpn);
    }
    fn victim(&mut self, _: Option<u32>, pages: &Pages) -> u32 {
        let outside = self.pages.len().saturating_sub(self.window as usize);
        let clean = (outside..self.pages.len()).rev().find(|i| !pages.is_dirty(self.pages[*i]));
        let lpn = self.pages.remove(clean.unwrap_or(self.pages.len() - 1));
        self.writes += usize::from(pages.is_dirty(lpn));
        lpn
    }
    fn insert(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        self.reads += usize::from(!is_write);
        self.pages.insert(0, lpn);
    }
    fn over(&mut self) {
        let Some(Climb { period, step, costs: [read, write] }) = self.dynamic else { return };
        self.accesses += 1;
        if self.accesses.is_multiple_of(period) {
            let cost = read * self.reads as f64 + write * self.writes as f64;
            (self.reads, self.writes) = (0, 0);
            self.shrinks ^= self.last_cost.is_some_and(|last| cost > last);
            self.last_cost = Some(cost);
            let step = step.unwrap_or((i64::from(self.frames) / 20).max(1));
            let moved = if self.shrinks { self.window - step } else { self.window + step };
            self.window = moved.clamp(0, i64::from(self.frames));
        }
    }
    fn cleaned(&mut self) {
        self.writes += 1;
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        take(&mut self.pages, lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        let start = |frames| half_up(self.ratio, frames).cast_signed() as i64;
        self.window = (start(frames) + self.window - start(self.frames)).clamp(0, i64::from(frames));
        self.frames = frames;
    }
    fn state(&self, pages: &Pages) -> Value {
        let mut state = json!({"lru": pages.golden_list(&self.pages)});
        if self.cflru {
            state["window"] = json!(self.window);
        }
        state
    }
}

#[test]
fn lru_evicts_the_least_recently_used_page() {
    check("lru", 1, |_, _| (json!({}), PageList::default()));
}

fn cflru(random: &mut Dice, _: &Run) -> (Value, PageList) {
    let ratio = [0.0, 0.4, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
    (json!({"window_ratio": ratio}), PageList { cflru: true, ratio, ..PageList::default() })
}

#[test]
fn cflru_finds_the_clean_page_that_a_scan_of_its_window_finds() {
    check("cflru", 2, cflru);
}

#[test]
fn cflru_dynamic_window_climbs_as_written() {
    check("cflru", 3, |random, run| {
        let (mut params, mut order) = cflru(random, run);
        let period = 1 + random.below(60);
        params["dynamic"] = json!(true);
        params["period"] = json!(period);
        // Without them: a twentieth of the frames and the times of the device.
        let (mut step, mut costs) = (None, [3.0, 20.0]);
        if random.one_in(2) {
            let given = 1 + random.below(5);
            (step, costs) = (Some(i64::from(given)), [1.0, f64::from(random.below(10))]);
            params["step"] = json!(given);
            params["cost_read"] = json!(costs[0]);
            params["cost_write"] = json!(costs[1]);
        }
        order.dynamic = Some(Climb { period: period as usize, step, costs });
        (params, order)
    });
}
