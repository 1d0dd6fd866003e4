//! Do lru, cflru, fab and bplru decide as slow, obvious versions of them do?
//!
//! Each reference keeps plain `Vec`s and is written from specs/policies.md. Random requests (reads, writes, trims,
//! flushes, changes of the number of frames) go through the real engine; a probe records what the buffer did at every
//! page access, and the state is compared now and then.

mod policies {
    pub mod harness;
}

use nandlab::buffer::Frames;
use nandlab::flash::Geometry;
use nandlab::ledger::Cause;
use nandlab::types::Nanos;
use policies::harness::{Done, Random, Reference, Run, compare, device, enough_runs, write};
use serde_json::{Value, json};

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
