//! Do lru, cflru, fab and bplru decide as slow, obvious versions of them do?
//!
//! Each reference keeps plain `Vec`s and is written from specs/policies.md. Random requests (reads, writes, trims,
//! flushes, changes of the number of frames) go through the real engine; a probe records what the buffer did at every
//! page access, and the state is compared now and then.

use std::cell::RefCell;
use std::rc::Rc;

use nandlab::buffer::{BUFFERS, Frames};
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Shape};
use nandlab::ledger::Cause;
use nandlab::probe::{Command, Probe};
use nandlab::ssd::{Arrival, Device, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos};
use serde_json::{Value, json};

/// What the buffer did, in order.
#[derive(Clone, PartialEq, Debug)]
enum Done {
    /// The page access was over.
    Access {
        lpn: u32,
        hit: bool,
    },
    Drop(u32),
    Read(Cause, Vec<u32>),
    Write {
        lpns: Vec<u32>,
        padded: Vec<u32>,
    },
}

fn write(lpns: &[u32]) -> Done {
    Done::Write { lpns: lpns.to_vec(), padded: vec![] }
}

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<Done>>>);

impl Probe for Recorder {
    fn on_access(&mut self, lpn: Lpn, _: bool, hit: bool) {
        self.0.borrow_mut().push(Done::Access { lpn: lpn.0, hit });
    }
    fn on_command(&mut self, command: Command<'_>) {
        let plain = |lpns: &[Lpn]| lpns.iter().map(|lpn| lpn.0).collect::<Vec<_>>();
        self.0.borrow_mut().push(match command {
            Command::Read { why, lpns } => Done::Read(why, plain(lpns)),
            Command::Write { lpns, padded } => Done::Write { lpns: plain(lpns), padded: plain(padded) },
        });
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.borrow_mut().push(Done::Drop(lpn.0));
    }
}

trait Reference {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Done>);
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self, done: &mut Vec<Done>);
    fn resize(&mut self, frames: u32, done: &mut Vec<Done>);
    fn state(&self) -> Value;
}

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
    fn evict(&mut self, done: &mut Vec<Done>) {
        let outside = self.pages.len().saturating_sub(self.window as usize);
        let clean = (outside..self.pages.len()).rev().find(|i| !self.pages[*i].1);
        let (lpn, dirty) = self.pages.remove(clean.unwrap_or(self.pages.len() - 1));
        self.writes += usize::from(dirty);
        done.push(if dirty { write(&[lpn]) } else { Done::Drop(lpn) });
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
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Done>) {
        let found = self.pages.iter().position(|page| page.0 == lpn);
        let was_dirty = found.is_some_and(|i| self.pages.remove(i).1);
        if found.is_none() {
            if self.pages.len() == self.frames as usize {
                self.evict(done);
            }
            if !is_write {
                self.reads += 1;
                done.push(Done::Read(Cause::Host, vec![lpn]));
            }
        }
        self.pages.insert(0, (lpn, is_write || was_dirty));
        done.push(Done::Access { lpn, hit: found.is_some() });
        self.adapt();
    }
    fn trim(&mut self, lpn: u32) {
        self.pages.retain(|page| page.0 != lpn);
    }
    fn flush(&mut self, done: &mut Vec<Done>) {
        let mut dirty: Vec<u32> = self.pages.iter().filter(|page| page.1).map(|page| page.0).collect();
        dirty.sort_unstable();
        self.writes += dirty.len();
        done.extend(dirty.iter().map(|lpn| write(&[*lpn])));
        self.pages.iter_mut().for_each(|page| page.1 = false);
    }
    fn resize(&mut self, frames: u32, done: &mut Vec<Done>) {
        let learned = self.window - self.half_up();
        self.frames = frames;
        self.window = (self.half_up() + learned).clamp(0, i64::from(frames));
        while self.pages.len() > frames as usize {
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

/// Buffered pages of a block, and the offsets of all writes to it since the group was made.
struct Group {
    block: u32,
    pages: Vec<u32>,
    history: Vec<u32>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Rule {
    Fab,
    Seq,
    FullFirst,
    Lru,
}

struct BlockList {
    frames: u32,
    logical_pages: u32,
    block_pages: u32,
    rule: Rule,
    /// Share of a block from which on it is padded; `None` for FAB.
    pad_min: Option<f64>,
    /// Most recent first.
    groups: Vec<Group>,
    /// By page: flash holds it.
    on_flash: Vec<bool>,
}

impl BlockList {
    fn size_of(&self, block: u32) -> usize {
        (self.logical_pages - block * self.block_pages).min(self.block_pages) as usize
    }
    fn used(&self) -> usize {
        self.groups.iter().map(|group| group.pages.len()).sum()
    }
    fn victim(&self) -> usize {
        let last = self.groups.len() - 1;
        let is_full = |group: &Group| group.pages.len() == self.size_of(group.block);
        match self.rule {
            Rule::Seq | Rule::Lru => last,
            Rule::FullFirst => self.groups.iter().rposition(is_full).unwrap_or(last),
            Rule::Fab => {
                let most = self.groups.iter().map(|group| group.pages.len()).max().unwrap();
                self.groups.iter().rposition(|group| group.pages.len() == most).unwrap()
            }
        }
    }
    fn evict(&mut self, done: &mut Vec<Done>) {
        let group = self.groups.remove(self.victim());
        let size = self.size_of(group.block);
        let len = group.pages.len();
        let pads = self.pad_min.is_some_and(|min| len < size && len as f64 >= min * size as f64);
        let mut lpns = group.pages.clone();
        let mut padded = vec![];
        if pads {
            let first = group.block * self.block_pages;
            let missing: Vec<u32> = (first..first + size as u32).filter(|lpn| !group.pages.contains(lpn)).collect();
            padded = missing.iter().copied().filter(|lpn| self.on_flash[*lpn as usize]).collect();
            lpns.extend(&padded);
            done.push(Done::Read(Cause::Pad, missing));
        }
        lpns.sort_unstable();
        for lpn in &lpns {
            self.on_flash[*lpn as usize] = true;
        }
        done.push(Done::Write { lpns, padded });
    }
}

impl Reference for BlockList {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Done>) {
        let block = lpn / self.block_pages;
        let hit = self.groups.iter().any(|group| group.pages.contains(&lpn));
        if !is_write {
            if !hit {
                done.push(Done::Read(Cause::Host, vec![lpn]));
            }
            done.push(Done::Access { lpn, hit });
            return;
        }
        if !hit && self.used() == self.frames as usize {
            self.evict(done);
        }
        let found = self.groups.iter().position(|group| group.block == block);
        let mut group =
            found.map_or(Group { block, pages: vec![], history: vec![] }, |index| self.groups.remove(index));
        group.history.push(lpn % self.block_pages);
        if !hit {
            group.pages.push(lpn);
            group.pages.sort_unstable();
        }
        let size = self.size_of(block);
        let in_order = group.history.iter().copied().eq(0..size as u32);
        if self.rule == Rule::Seq && !hit && group.pages.len() == size && in_order {
            self.groups.push(group);
        } else {
            self.groups.insert(0, group);
        }
        done.push(Done::Access { lpn, hit });
    }
    fn trim(&mut self, lpn: u32) {
        self.groups.iter_mut().for_each(|group| group.pages.retain(|page| *page != lpn));
        self.groups.retain(|group| !group.pages.is_empty());
        self.on_flash[lpn as usize] = false;
    }
    fn flush(&mut self, done: &mut Vec<Done>) {
        self.groups.sort_by_key(|group| group.block);
        for group in self.groups.drain(..) {
            for lpn in &group.pages {
                self.on_flash[*lpn as usize] = true;
            }
            done.push(write(&group.pages));
        }
    }
    fn resize(&mut self, frames: u32, done: &mut Vec<Done>) {
        self.frames = frames;
        while self.used() > frames as usize {
            self.evict(done);
        }
    }
    fn state(&self) -> Value {
        let groups = self.groups.iter().map(|group| json!({"block": group.block, "pages": group.pages}));
        json!({"groups": groups.collect::<Vec<_>>()})
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(n)) >> 32) as u32
    }
    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// Shape of one random run.
struct Run {
    logical_pages: u32,
    block_pages: u32,
    frames: u32,
    filled: bool,
}

fn device(policy: &str, params: Value, run: &Run) -> Box<dyn Device> {
    let Run { logical_pages, block_pages: pages_per_block, frames, filled } = *run;
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: logical_pages.div_ceil(pages_per_block) + 8,
        pages_per_block,
        page_bytes: 512,
    };
    let times = ClockTimes {
        page_read: Nanos(3),
        page_program: Nanos(20),
        block_erase: Nanos(100),
        page_transfer: Nanos(0),
        command: Nanos(0),
    };
    let order = ProgramOrder::Ascending;
    let flash = Flash::new(geometry, order, Media::None, Clock::new(TimingModel::Serial, times, 1, 1));
    let shape = Shape { geometry, logical_pages, order, seed: 1 };
    let ftl = nandlab::registry::find(FTLS, "ftl", "page").unwrap();
    let ftl = (ftl.build)(json!({"frontiers": "single"}), &shape).unwrap();
    let settings = Settings {
        logical_pages,
        arrival: Arrival::Closed { think: Nanos(0) },
        queue_depth: 1,
        evict_wait: EvictWait::Program,
        partial_write: PartialWrite::Fetch,
        write_miss_fetch: false,
        shared_dram: None,
        nvram_frames: 0,
        ram_times: RamTimes::default(),
        seed: 1,
    };
    let buffer = nandlab::registry::find(BUFFERS, "buffer", policy).unwrap();
    let parts = Parts { flash, ftl, ftl_name: "page", frames: Frames { dram: frames, nvram: 0 }, settings };
    let mut device = (buffer.build)(params, parts).unwrap();
    if filled {
        device.precondition(true, 0.0);
    }
    device
}

/// Pages of the next request: runs that go on, hot pages, anything.
fn place(random: &mut Random, run: &Run, last: u32) -> (u32, u32) {
    let lpn = match random.below(8) {
        0..3 => (last + 1) % run.logical_pages,
        3..6 => random.below(run.logical_pages.min(run.frames + run.block_pages)),
        _ => random.below(run.logical_pages),
    };
    let pages = if random.one_in(3) { 1 + random.below(2 * run.block_pages) } else { 1 };
    (lpn, pages.min(run.logical_pages - lpn))
}

/// Runs `requests` random requests through both; returns page accesses.
fn compare(
    label: &str,
    device: &mut dyn Device,
    reference: &mut dyn Reference,
    run: &Run,
    random: &mut Random,
    requests: u32,
) -> u64 {
    let recorder = Recorder::default();
    device.set_probe(Some(Box::new(recorder.clone())));
    let writes_in_8 = 1 + random.below(7);
    let events = [0, 200, 30][random.below(3) as usize];
    let (mut accesses, mut last) = (0, 0);
    for request in 0..requests {
        let mut wanted = Vec::new();
        let (lpn, pages) = place(random, run, last);
        let mut submit = |op, lpn: u32, pages| {
            device.submit(&HostRequest::new(Nanos(0), op, u64::from(lpn), pages), Payload::None).unwrap();
        };
        match if events > 0 { random.below(events) } else { u32::MAX } {
            0 => {
                submit(HostOp::Trim, lpn, pages);
                (lpn..lpn + pages).for_each(|lpn| reference.trim(lpn));
            }
            1 if random.one_in(3) => {
                submit(HostOp::Flush, 0, 0);
                reference.flush(&mut wanted);
            }
            2 => {
                let frames = run.block_pages.min(run.frames) + random.below(run.frames);
                device.set_frames(Frames { dram: frames, nvram: 0 });
                reference.resize(frames, &mut wanted);
            }
            _ => {
                let is_write = random.below(8) < writes_in_8;
                submit(if is_write { HostOp::Write } else { HostOp::Read }, lpn, pages);
                (lpn..lpn + pages).for_each(|lpn| reference.access(lpn, is_write, &mut wanted));
                accesses += u64::from(pages);
                last = lpn + pages - 1;
            }
        }
        let got = recorder.0.take();
        assert_eq!(got, wanted, "{label}, request {request} at {lpn} of {pages} pages");
        if request % 64 == 0 || request + 1 == requests {
            assert_eq!(device.golden_state(), reference.state(), "{label}, after request {request}");
        }
    }
    device.check();
    accesses
}

fn random_run(random: &mut Random, block_policy: bool) -> Run {
    let block_pages = [2, 3, 4, 8, 64, 70][random.below(6) as usize];
    let frames = if block_policy { block_pages } else { 1 } + random.below(8 * block_pages.min(10));
    let logical_pages = frames + block_pages + random.below(4 * frames + 60);
    Run { logical_pages, block_pages, frames, filled: random.one_in(2) }
}

/// Random devices until 10^5 page accesses were compared.
fn enough_runs(seed: u64, block_policy: bool, mut one: impl FnMut(&Run, &mut Random, &str) -> u64) {
    let mut random = Random(seed);
    let mut accesses = 0;
    let mut number = 0;
    while accesses < 120_000 {
        let run = random_run(&mut random, block_policy);
        let Run { logical_pages, block_pages, frames, filled } = run;
        let label =
            format!("run {number}: {frames} frames, {logical_pages} pages in blocks of {block_pages}, filled {filled}");
        accesses += one(&run, &mut random, &label);
        number += 1;
    }
    assert!(number >= 10, "only {number} different devices");
}

#[test]
fn does_lru_evict_the_least_recently_used_page() {
    enough_runs(1, false, |run, random, label| {
        let mut reference = PageList::new(run.frames);
        compare(label, &mut *device("lru", json!({}), run), &mut reference, run, random, 800)
    });
}

fn cflru(run: &Run, random: &mut Random, label: &str, dynamic: bool) -> u64 {
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
fn does_cflru_find_the_clean_page_that_a_scan_of_its_window_finds() {
    enough_runs(2, false, |run, random, label| cflru(run, random, label, false));
}

#[test]
fn does_the_window_of_dynamic_cflru_climb_as_written() {
    enough_runs(3, false, |run, random, label| cflru(run, random, label, true));
}

fn blocks(run: &Run, rule: Rule, pad_min: Option<f64>) -> BlockList {
    BlockList {
        frames: run.frames,
        logical_pages: run.logical_pages,
        block_pages: run.block_pages,
        rule,
        pad_min,
        groups: vec![],
        on_flash: vec![run.filled; run.logical_pages as usize],
    }
}

#[test]
fn does_fab_evict_the_largest_group_and_the_oldest_of_equals() {
    enough_runs(4, true, |run, random, label| {
        let mut reference = blocks(run, Rule::Fab, None);
        compare(label, &mut *device("fab", json!({}), run), &mut reference, run, random, 800)
    });
}

#[test]
fn does_bplru_pad_and_compensate_in_all_its_variants() {
    let mut variants = std::collections::BTreeMap::new();
    enough_runs(5, true, |run, random, label| {
        let (rule, name) =
            [(Rule::Seq, "seq"), (Rule::FullFirst, "full_first"), (Rule::Lru, "none")][random.below(3) as usize];
        let pad_min = [0.0, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(4) as usize];
        *variants.entry(name).or_insert(0) += 1;
        let params = json!({"compensation": name, "pad_min": pad_min});
        let mut reference = blocks(run, rule, Some(pad_min));
        let label = format!("{label}, {params}");
        compare(&label, &mut *device("bplru", params, run), &mut reference, run, random, 800)
    });
    assert!(variants.values().all(|runs| *runs >= 3) && variants.len() == 3, "{variants:?}");
}

#[test]
fn are_impossible_parameters_refused() {
    let run = Run { logical_pages: 64, block_pages: 8, frames: 7, filled: false };
    let refuse = |policy: &str, params: Value, says: &str| {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 8,
            pages_per_block: 8,
            page_bytes: 512,
        };
        let shape = nandlab::buffer::BufferShape {
            pages_per_block: geometry.pages_per_block,
            page_sectors: 1,
            logical_pages: run.logical_pages,
            frames: Frames { dram: run.frames, nvram: 0 },
            times: nandlab::buffer::FlashTimes { read: Nanos(1), program: Nanos(8), erase: Nanos(20) },
            ftl: "page",
            seed: 1,
        };
        let error = match policy {
            "fab" => nandlab::buffer::fab::build(serde_json::from_value(params).unwrap(), &shape).err(),
            "bplru" => nandlab::buffer::bplru::build(serde_json::from_value(params).unwrap(), &shape).err(),
            _ => nandlab::buffer::cflru::build(serde_json::from_value(params).unwrap(), &shape).err(),
        };
        let error = error.unwrap_or_else(|| panic!("{policy} was built")).to_string();
        assert!(error.contains(says), "{error}");
    };
    refuse("fab", json!({}), "one logical block");
    refuse("bplru", json!({}), "one logical block");
    refuse("cflru", json!({"window_ratio": -0.1}), "0 to 1");
    refuse("cflru", json!({"period": 0}), "never");
    refuse("cflru", json!({"step": 0}), "never");
    refuse("cflru", json!({"cost_write": -1.0}), "0 or more");
}
