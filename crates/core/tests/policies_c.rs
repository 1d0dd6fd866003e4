//! Do `urm` and `wpa` do what their specifications say?
//!
//! Slow references made of plain vectors, written from the papers' rules, are compared on random accesses. (The worked
//! examples are replayed with those of all policies, in `golden_policies.rs`.)

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use nandlab::buffer::{BUFFERS, Frames};
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Shape};
use nandlab::ledger::Cause;
use nandlab::probe::{Command, Probe};
use nandlab::registry::find;
use nandlab::ssd::{Arrival, Device, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::types::{Hint, HostOp, HostRequest, Lpn, Nanos, Pattern};
use serde_json::{Value, json};

/// What a policy did in one step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Step {
    hit: Option<bool>,
    drops: Vec<u32>,
    /// `r/miss:5`, `r/prefetch:6,7`, `w:1,2` in order.
    flash: Vec<String>,
}

fn joined(lpns: &[u32]) -> String {
    lpns.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Step>>);

impl Probe for Recorder {
    fn on_access(&mut self, _: Lpn, _: bool, hit: bool) {
        self.0.borrow_mut().hit = Some(hit);
    }
    fn on_command(&mut self, command: Command<'_>) {
        let numbers = |lpns: &[Lpn]| joined(&lpns.iter().map(|lpn| lpn.0).collect::<Vec<_>>());
        let text = match command {
            Command::Read { why: Cause::Host, lpns } => format!("r/miss:{}", numbers(lpns)),
            Command::Read { why: Cause::Prefetch, lpns } => format!("r/prefetch:{}", numbers(lpns)),
            Command::Read { why, .. } => panic!("read for {why:?}"),
            Command::Write { lpns, padded } => {
                assert!(padded.is_empty());
                format!("w:{}", numbers(lpns))
            }
        };
        self.0.borrow_mut().flash.push(text);
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.borrow_mut().drops.push(lpn.0);
    }
}

const LOGICAL_PAGES: u32 = 250;

/// A device over the page-mapped FTL whose buffer is watched.
struct Watched {
    device: Box<dyn Device>,
    recorder: Recorder,
}

fn parts(frames: Frames, pages_per_block: u32) -> Parts {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: LOGICAL_PAGES.div_ceil(pages_per_block) + 6,
        pages_per_block,
        page_bytes: 512,
    };
    let order = ProgramOrder::Ascending;
    let times = ClockTimes {
        page_read: Nanos(10),
        page_program: Nanos(100),
        block_erase: Nanos(1000),
        page_transfer: Nanos(5),
        command: Nanos(0),
    };
    let clock = Clock::new(TimingModel::Serial, times, 1, 1);
    let shape = Shape { geometry, logical_pages: LOGICAL_PAGES, order, seed: 1 };
    let settings = Settings {
        logical_pages: LOGICAL_PAGES,
        arrival: Arrival::Closed { think: Nanos(0) },
        queue_depth: 1,
        evict_wait: EvictWait::Program,
        partial_write: PartialWrite::Mask,
        write_miss_fetch: false,
        shared_dram: None,
        nvram_frames: frames.nvram,
        ram_times: RamTimes::default(),
        read_groups: false,
        seed: 1,
    };
    let flash = Flash::new(geometry, order, Media::None, clock);
    let ftl = (find(FTLS, "ftl", "page").unwrap().build)(json!({}), &shape).unwrap();
    Parts { flash, ftl, ftl_name: "page", frames, settings }
}

impl Watched {
    fn new(policy: &str, params: Value, frames: Frames, pages_per_block: u32) -> Self {
        let build = find(BUFFERS, "buffer", policy).unwrap().build;
        let mut device = build(params, parts(frames, pages_per_block)).unwrap();
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        Self { device, recorder }
    }
    fn request(&mut self, op: HostOp, lpn: u32, pages: u32, hint: Hint) -> Step {
        let request = HostRequest { at: Nanos(0), lba: u64::from(lpn), sectors: pages, op, hint };
        self.device.submit(&request, Payload::None).unwrap();
        self.recorder.0.take()
    }
    fn resize(&mut self, frames: Frames) -> Step {
        self.device.set_frames(frames);
        self.recorder.0.take()
    }
}

/// A policy as plainly as it can be written.
trait Reference {
    fn access(&mut self, lpn: u32, write: bool, hint: Hint) -> Step;
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self) -> Step;
    fn resize(&mut self, frames: Frames) -> Step;
    fn state(&self) -> Value;
}

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
    fn evict(&mut self, spared: std::ops::Range<u32>, step: &mut Step) -> bool {
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
        if page.dirty {
            step.flash.push(format!("w:{}", page.lpn));
        } else {
            step.drops.push(page.lpn);
        }
        true
    }
    fn touch(&mut self, lpn: u32, dirty: bool, hint: Hint, waits: bool) {
        self.time += 1;
        self.pages.push(UrmPage { lpn, dirty, zone: hint.pattern, pc: hint.pc, last: self.time, waits });
    }
}

impl Reference for UrmReference {
    fn access(&mut self, lpn: u32, write: bool, hint: Hint) -> Step {
        let mut step = Step::default();
        self.period.insert(hint.pc, hint.period);
        if let Some(at) = self.pages.iter().position(|page| page.lpn == lpn) {
            let dirty = self.pages.remove(at).dirty;
            self.touch(lpn, dirty || write, hint, false);
            return Step { hit: Some(true), ..step };
        }
        step.hit = Some(false);
        if self.capacity == 0 {
            step.flash.push(if write { format!("w:{lpn}") } else { format!("r/miss:{lpn}") });
            return step;
        }
        while self.pages.len() >= self.capacity {
            self.evict(0..0, &mut step);
        }
        if !write {
            step.flash.push(format!("r/miss:{lpn}"));
        }
        self.touch(lpn, write, hint, false);
        if write || hint.pattern == Pattern::Random {
            return step;
        }
        let run = lpn..(lpn + hint.run_pages.max(1)).min(LOGICAL_PAGES);
        let absent = run.clone().filter(|l| self.pages.iter().all(|page| page.lpn != *l));
        let mut wanted: Vec<u32> = absent.take(self.capacity - 1).collect();
        while self.pages.len() + wanted.len() > self.capacity {
            if !self.evict(run.clone(), &mut step) {
                wanted.pop();
            }
        }
        for lpn in &wanted {
            self.touch(*lpn, false, hint, true);
        }
        if !wanted.is_empty() {
            step.flash.push(format!("r/prefetch:{}", joined(&wanted)));
        }
        step
    }
    fn trim(&mut self, lpn: u32) {
        self.pages.retain(|page| page.lpn != lpn);
    }
    fn flush(&mut self) -> Step {
        let mut dirty: Vec<u32> = self.pages.iter().filter(|page| page.dirty).map(|page| page.lpn).collect();
        dirty.sort_unstable();
        self.pages.iter_mut().for_each(|page| page.dirty = false);
        Step { flash: dirty.iter().map(|lpn| format!("w:{lpn}")).collect(), ..Step::default() }
    }
    fn resize(&mut self, frames: Frames) -> Step {
        let mut step = Step::default();
        self.capacity = frames.dram as usize;
        while self.pages.len() > self.capacity {
            self.evict(0..0, &mut step);
        }
        step
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

struct WpaReference {
    dram_pages: usize,
    nvram_blocks: usize,
    block: u32,
    pel_size: Option<usize>,
    remove_on_hit: bool,
    when_full: bool,
    /// Least recently used first: page, re-referenced, overwritten.
    dram: Vec<(u32, bool, bool)>,
    /// Least recently used first: block, its pages with their dirty bits.
    nvram: Vec<(u32, BTreeMap<u32, bool>)>,
    /// Oldest first.
    pel: Vec<u32>,
}

impl WpaReference {
    fn remember(&mut self, lpns: &[u32]) {
        for lpn in lpns {
            self.pel.retain(|l| l != lpn);
            self.pel.push(*lpn);
        }
        let limit = self.pel_size.unwrap_or(self.dram_pages);
        self.pel.drain(..self.pel.len().saturating_sub(limit));
    }
    fn evict_block(&mut self, step: &mut Step) {
        let (lbn, pages) = self.nvram.remove(0);
        step.drops.extend(pages.iter().filter(|(_, dirty)| !**dirty).map(|(lpn, _)| *lpn));
        let mut cluster: Vec<u32> = pages.iter().filter(|(_, dirty)| **dirty).map(|(lpn, _)| *lpn).collect();
        cluster.extend(self.dram.iter().map(|page| page.0).filter(|lpn| lpn / self.block == lbn));
        cluster.sort_unstable();
        self.dram.retain(|page| page.0 / self.block != lbn);
        if !cluster.is_empty() {
            step.flash.push(format!("w:{}", joined(&cluster)));
        }
        self.remember(&cluster);
    }
    fn enter_nvram(&mut self, lpn: u32, dirty: bool) {
        let lbn = lpn / self.block;
        let at = self.nvram.iter().position(|(block, _)| *block == lbn);
        let mut frame = at.map_or_else(|| (lbn, BTreeMap::new()), |at| self.nvram.remove(at));
        frame.1.insert(lpn, dirty);
        self.nvram.push(frame);
    }
    fn make_nvram_room(&mut self, lpn: u32, step: &mut Step) {
        let owns = self.nvram.iter().any(|(block, _)| *block == lpn / self.block) && !self.when_full;
        if self.nvram.len() >= self.nvram_blocks && !owns {
            self.evict_block(step);
        }
    }
    fn demote(&mut self, step: &mut Step) {
        let group = |page: &(u32, bool, bool)| 2 * u8::from(page.1) + u8::from(page.2);
        let lowest = self.dram.iter().map(group).min().unwrap();
        let lpn = self.dram.iter().find(|page| group(page) == lowest).unwrap().0;
        if self.nvram_blocks == 0 {
            step.flash.push(format!("w:{lpn}"));
            self.remember(&[lpn]);
        } else {
            self.make_nvram_room(lpn, step);
            if self.dram.iter().any(|page| page.0 == lpn) {
                self.enter_nvram(lpn, true);
            }
        }
        self.dram.retain(|page| page.0 != lpn);
    }
}

impl Reference for WpaReference {
    fn access(&mut self, lpn: u32, write: bool, _: Hint) -> Step {
        let mut step = Step { hit: Some(true), ..Step::default() };
        if let Some(at) = self.dram.iter().position(|page| page.0 == lpn) {
            let (_, reref, ow) = self.dram.remove(at);
            self.dram.push((lpn, reref, ow || write));
            return step;
        }
        if let Some(dirty) = self.nvram.iter().find_map(|(_, pages)| pages.get(&lpn)).copied() {
            self.enter_nvram(lpn, dirty || write);
            return step;
        }
        step.hit = Some(false);
        if !write {
            step.flash.push(format!("r/miss:{lpn}"));
        }
        if write && self.dram_pages > 0 {
            if self.dram.len() >= self.dram_pages {
                self.demote(&mut step);
            }
            let known = self.pel.contains(&lpn);
            if known && self.remove_on_hit {
                self.pel.retain(|l| *l != lpn);
            }
            self.dram.push((lpn, known, false));
        } else if self.nvram_blocks > 0 {
            self.make_nvram_room(lpn, &mut step);
            self.enter_nvram(lpn, write);
        } else if write {
            step.flash.push(format!("w:{lpn}"));
        }
        step
    }
    fn trim(&mut self, lpn: u32) {
        self.dram.retain(|page| page.0 != lpn);
        self.nvram.iter_mut().for_each(|(_, pages)| {
            pages.remove(&lpn);
        });
        self.nvram.retain(|(_, pages)| !pages.is_empty());
    }
    fn flush(&mut self) -> Step {
        let mut blocks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for page in self.dram.drain(..) {
            blocks.entry(page.0 / self.block).or_default().push(page.0);
        }
        let unit = |lpns: &mut Vec<u32>| {
            lpns.sort_unstable();
            format!("w:{}", joined(lpns))
        };
        Step { flash: blocks.values_mut().map(unit).collect(), ..Step::default() }
    }
    fn resize(&mut self, frames: Frames) -> Step {
        let mut step = Step::default();
        self.dram_pages = frames.dram as usize;
        self.nvram_blocks = (frames.nvram / self.block) as usize;
        self.remember(&[]);
        while self.dram.len() > self.dram_pages {
            self.demote(&mut step);
        }
        while self.nvram.len() > self.nvram_blocks {
            self.evict_block(&mut step);
        }
        step
    }
    fn state(&self) -> Value {
        let group = |reref, ow| {
            let pages = self.dram.iter().rev().filter(|page| (page.1, page.2) == (reref, ow));
            let page = |p: &(u32, bool, bool)| json!({"lpn": p.0, "reref": u8::from(p.1), "ow": u8::from(p.2)});
            pages.map(page).collect::<Vec<_>>()
        };
        let of = |pages: &BTreeMap<u32, bool>, wanted: bool| {
            pages.iter().filter(|(_, dirty)| **dirty == wanted).map(|(lpn, _)| *lpn).collect::<Vec<_>>()
        };
        let block = |(lbn, pages): &(u32, BTreeMap<u32, bool>)| json!({"block": lbn, "dirty": of(pages, true), "clean": of(pages, false)});
        json!({
            "dram_mpg3_to_mpg0": [group(true, true), group(true, false), group(false, true), group(false, false)],
            "nvram_blocks": self.nvram.iter().rev().map(block).collect::<Vec<_>>(),
            "pel_newest_first": self.pel.iter().rev().collect::<Vec<_>>(),
        })
    }
}

struct Dice(u64);
impl Dice {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
    fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

fn random_hint(dice: &mut Dice, pcs: u32) -> Hint {
    let patterns = [Pattern::Sequential, Pattern::Random, Pattern::ClusteredHot, Pattern::Looping];
    Hint {
        pattern: patterns[dice.below(4) as usize],
        pc: dice.below(pcs) * 1_000_003,
        run_pages: dice.below(9),
        period: dice.below(6),
    }
}

/// Drives both with the same random accesses, flushes, trims and changes of the frames; every step must be equal.
fn compare(watched: &mut Watched, reference: &mut dyn Reference, most: Frames, seed: u64, steps: u32) {
    let mut dice = Dice(seed);
    let (span, pcs) = (20 + dice.below(LOGICAL_PAGES - 20), 1 + dice.below(12));
    for step in 0..steps {
        let lpn = if dice.once_in(4) { LOGICAL_PAGES - 1 - dice.below(span) } else { dice.below(span / 2) };
        let hint = random_hint(&mut dice, pcs);
        let (got, expected) = if dice.once_in(150) {
            let frames = Frames { dram: dice.below(most.dram + 1), nvram: dice.below(most.nvram + 1) };
            (watched.resize(frames), reference.resize(frames))
        } else if dice.once_in(100) {
            (watched.request(HostOp::Flush, 0, 0, hint), reference.flush())
        } else if dice.once_in(30) {
            reference.trim(lpn);
            (watched.request(HostOp::Trim, lpn, 1, hint), Step::default())
        } else {
            let write = dice.once_in(2);
            let op = if write { HostOp::Write } else { HostOp::Read };
            (watched.request(op, lpn, 1, hint), reference.access(lpn, write, hint))
        };
        assert_eq!(got, expected, "seed {seed}, step {step}, page {lpn}, {hint:?}");
        if step % 16 == 0 {
            assert_eq!(watched.device.golden_state(), reference.state(), "seed {seed}, step {step}");
            watched.device.check();
        }
        let (used, frames) = (watched.device.slots().used(), watched.device.slots().frames());
        assert!(used.dram <= frames.dram && used.nvram <= frames.nvram, "{used:?} of {frames:?}");
    }
}

#[test]
fn does_urm_decide_like_a_plain_reference() {
    for seed in 0..150 {
        let mut dice = Dice(seed ^ 0xABCD);
        let (mru, consumed_first) = (dice.once_in(2), dice.once_in(2));
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

#[test]
fn does_wpa_decide_like_a_plain_reference() {
    for seed in 0..150 {
        let mut dice = Dice(seed ^ 0x1234);
        let block = 2 + dice.below(7);
        let frames = Frames { dram: 1 + dice.below(16), nvram: (1 + dice.below(6)) * block };
        let pel_size = dice.once_in(2).then(|| dice.below(20));
        let (remove_on_hit, when_full) = (dice.once_in(2), dice.once_in(3));
        let params = json!({"pel_size": pel_size, "pel_remove_on_hit": remove_on_hit, "evict_when_full": when_full});
        let mut watched = Watched::new("wpa", params, frames, block);
        let mut reference = WpaReference {
            dram_pages: frames.dram as usize,
            nvram_blocks: (frames.nvram / block) as usize,
            block,
            pel_size: pel_size.map(|n| n as usize),
            remove_on_hit,
            when_full,
            dram: Vec::new(),
            nvram: Vec::new(),
            pel: Vec::new(),
        };
        let most = Frames { dram: frames.dram + 3, nvram: frames.nvram + 8 };
        compare(&mut watched, &mut reference, most, seed, 1500);
    }
}

#[test]
fn is_wpa_refused_without_a_block_frame() {
    for (dram, nvram, key) in [(0, 8, "ram"), (4, 3, "ram.nvram")] {
        let build = find(BUFFERS, "buffer", "wpa").unwrap().build;
        let error = build(json!({}), parts(Frames { dram, nvram }, 4)).err().unwrap();
        assert_eq!(error.key, key, "{error}");
    }
}
