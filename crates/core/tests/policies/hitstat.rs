//! HitStat against a slow reference written from its description.

use nandlab::engine::PartialWrite;
use nandlab::ledger::{Cause, Ledger};
use nandlab::types::HostOp;
use serde_json::{Value, json};

use super::merging::Merging;
use crate::kit::{Dice, Event, submit};

#[derive(Clone)]
struct Page {
    number: u32,
    /// Sectors in RAM, and those that its group's weight counts.
    sectors: Vec<bool>,
    counted: u32,
}

#[derive(Clone)]
struct Group {
    block: u32,
    pages: Vec<Page>,
    last: u64,
    /// When it went to the front of its list.
    moved: u64,
}

impl Group {
    fn weight(&self) -> u32 {
        self.pages.iter().map(|page| page.counted).sum()
    }
}

/// The policy with plain vectors.
#[allow(clippy::struct_excessive_bools)]
struct Reference {
    rig: Merging,
    bounds: Vec<u32>,
    adj: bool,
    eager: bool,
    levels: i32,
    adapt: bool,
    period: u64,
    step: i32,
    direction: i32,
    misses: u64,
    misses_before: Option<u64>,
    age_threshold: u64,
    log: Vec<u64>,
    log_len: usize,
    /// `B_w`, pages, and what the model looked at so far.
    threshold: f64,
    model: bool,
    window: u64,
    looks: Vec<[u64; 4]>,
    counter: u64,
    touched: Vec<u32>,
    groups: Vec<Group>,
    moves: u64,
    events: Vec<Event>,
}

impl Reference {
    fn block_pages(&self, block: u32) -> u32 {
        self.rig.pages_per_block.min(self.rig.logical_pages - block * self.rig.pages_per_block)
    }
    fn is_whole(&self, group: &Group) -> bool {
        group.pages.len() as u32 == self.block_pages(group.block)
    }
    fn class(&self, group: &Group) -> usize {
        self.bounds.iter().position(|bound| group.weight() <= *bound).unwrap_or(self.bounds.len() - 1)
    }
    fn cuts(&self) -> Vec<u64> {
        let mut sorted = self.log.clone();
        sorted.sort_unstable();
        let n = sorted.len();
        let k = n.min((self.levels - 1) as usize);
        (1..=k).map(|i| sorted[(i as f64 * n as f64 / k as f64).ceil() as usize - 1]).collect()
    }
    fn rank(&self, age: u64) -> u64 {
        let cuts = self.cuts();
        (0..cuts.len()).find(|i| age <= cuts[*i]).map_or(1, |i| (cuts.len() + 1 - i) as u64)
    }

    fn look(&mut self, ledger: &Ledger) {
        let now =
            [ledger.padding_merges, ledger.padding_log_blocks, ledger.padding_data_blocks, ledger.padding_log_pages];
        if !self.model || now == *self.looks.last().unwrap() {
            return;
        }
        let start = *self.looks.iter().rfind(|look| now[0] - look[0] >= self.window).unwrap_or(&self.looks[0]);
        self.looks.push(now);
        let [merges, log, data, pages] = [0, 1, 2, 3].map(|i| (now[i] - start[i]) as f64);
        let n = f64::from(self.rig.pages_per_block);
        let (mut r_lb, mut r_db, mut u_lb) = (log / merges, data / merges, pages / (log * n));
        match self.rig.ftl {
            "bast" => r_db = 1.0,
            "fast" => (r_lb, u_lb) = (1.0, 1.0),
            _ => {}
        }
        let (erase, write) = (1500.0, 800.0);
        self.threshold =
            r_lb * n * u_lb * (erase + n * write) / ((r_lb + r_db) * erase + (r_lb * u_lb + r_db) * n * write);
    }

    fn choose(&self) -> usize {
        let all = 0..self.groups.len();
        let senior = |i: &usize| (self.groups[*i].last, self.groups[*i].block);
        if let Some(whole) = all.clone().filter(|i| self.is_whole(&self.groups[*i])).min_by_key(senior) {
            return whole;
        }
        let mut ends = vec![];
        for class in 0..self.bounds.len() {
            let members = all.clone().filter(|i| self.class(&self.groups[*i]) == class);
            ends.extend(members.min_by_key(|i| self.groups[*i].moved));
        }
        let age = |i: usize| self.counter - self.groups[i].last;
        if let Some(old) = ends.iter().copied().filter(|i| age(*i) > self.age_threshold).min_by_key(senior) {
            return old;
        }
        let weight = |i: usize| {
            let weight = f64::from(self.groups[i].weight());
            if self.adj { weight.max(self.threshold * f64::from(self.rig.page_sectors)) } else { weight }
        };
        ends.sort_by(|a, b| {
            let (x, y) = (self.rank(age(*a)) as f64 / weight(*a), self.rank(age(*b)) as f64 / weight(*b));
            x.total_cmp(&y).then(weight(*b).total_cmp(&weight(*a))).then(senior(a).cmp(&senior(b)))
        });
        ends[0]
    }

    fn flush(&mut self, victim: usize) {
        let group = self.groups.remove(victim);
        let mut lpns: Vec<u32> = group.pages.iter().map(|page| page.number).collect();
        lpns.sort_unstable();
        let first = group.block * self.rig.pages_per_block;
        let whole: Vec<u32> = (first..first + self.block_pages(group.block)).collect();
        // The threshold is proportional to the pages of a block (equation 4): a short last block has a lower one.
        let pads = (lpns.len() as f64) * f64::from(self.rig.pages_per_block) >= self.threshold * whole.len() as f64;
        if lpns.len() < whole.len() && pads {
            let padded: Vec<u32> = whole.iter().copied().filter(|page| !lpns.contains(page)).collect();
            self.events.push(Event::Read(Cause::Pad, padded.clone()));
            self.events.push(Event::Write { lpns: whole, padded });
        } else {
            self.events.push(Event::Write { lpns, padded: vec![] });
        }
    }

    fn write_request(&mut self) {
        if self.adapt && self.counter > 0 && self.counter.is_multiple_of(self.period) {
            if self.misses_before.is_some_and(|before| self.misses > before) {
                self.direction = -self.direction;
            }
            self.misses_before = Some(self.misses);
            self.misses = 0;
            self.levels = (self.levels + self.direction * self.step).clamp(1, i32::try_from(self.log_len).unwrap() + 1);
        }
        self.counter += 1;
        self.touched.clear();
    }

    fn write(&mut self, number: u32, sectors: std::ops::Range<u32>, ledger: &Ledger) {
        let block = number / self.rig.pages_per_block;
        let found = self.groups.iter().position(|group| group.block == block);
        if !self.touched.contains(&block) {
            self.touched.push(block);
            match found {
                Some(i) => {
                    self.log.push(self.counter - self.groups[i].last);
                    if self.log.len() > self.log_len {
                        self.log.remove(0);
                    }
                }
                None => self.misses += 1,
            }
        }
        let hit = found.is_some_and(|i| self.groups[i].pages.iter().any(|page| page.number == number));
        let resident: usize = self.groups.iter().map(|group| group.pages.len()).sum();
        if !hit && resident == self.rig.frames as usize {
            self.look(ledger);
            let victim = self.choose();
            self.flush(victim);
        }
        let i = self.groups.iter().position(|group| group.block == block).unwrap_or_else(|| {
            self.groups.push(Group { block, pages: vec![], last: 0, moved: 0 });
            self.groups.len() - 1
        });
        let group = &mut self.groups[i];
        if !hit {
            let sectors = vec![self.rig.partial_write == PartialWrite::Fetch; self.rig.page_sectors as usize];
            group.pages.push(Page { number, sectors, counted: 0 });
        }
        let page = group.pages.iter_mut().find(|page| page.number == number).unwrap();
        for sector in sectors {
            page.sectors[sector as usize] = true;
        }
        page.counted = page.sectors.iter().filter(|held| **held).count() as u32;
        self.moves += 1;
        group.moved = self.moves;
        group.last = self.counter;
        self.events.push(Event::Access { lpn: number, write: true, hit });
        while self.eager {
            let all = 0..self.groups.len();
            let whole = all.filter(|i| self.is_whole(&self.groups[*i])).min_by_key(|i| self.groups[*i].last);
            match whole {
                Some(i) => self.flush(i),
                None => break,
            }
        }
    }

    fn read(&mut self, number: u32, sectors: std::ops::Range<u32>) {
        let page = self.groups.iter_mut().flat_map(|group| &mut group.pages).find(|page| page.number == number);
        let hit = match page {
            None => {
                self.events.push(Event::Read(Cause::Host, vec![number]));
                false
            }
            Some(page) => {
                let served = page.sectors[sectors.start as usize..sectors.end as usize].iter().all(|held| *held);
                if !served {
                    page.sectors.fill(true);
                }
                served
            }
        };
        self.events.push(Event::Access { lpn: number, write: false, hit });
    }

    fn golden(&self) -> Value {
        let mut lists = serde_json::Map::new();
        for (class, bound) in self.bounds.iter().enumerate() {
            let mut members: Vec<&Group> = self.groups.iter().filter(|group| self.class(group) == class).collect();
            members.sort_by_key(|group| std::cmp::Reverse(group.moved));
            let entry = |group: &&Group| {
                let mut pages: Vec<u32> = group.pages.iter().map(|page| page.number).collect();
                pages.sort_unstable();
                json!({"block": group.block, "pages": pages, "last": group.last})
            };
            lists.insert(bound.to_string(), members.iter().map(entry).collect());
        }
        json!({"lists": lists, "hit_log": self.log, "cuts": self.cuts()})
    }
}

/// A reference with random parameters and the policy's parameters.
fn random_pair(random: &mut Dice) -> (Reference, Value) {
    let rig = Merging {
        frames: 16 + random.below64(60) as u32,
        logical_pages: 125 + random.below64(200) as u32,
        page_sectors: random.pick(&[1, 4]),
        partial_write: random.pick(&[PartialWrite::Fetch, PartialWrite::Mask]),
        ftl: random.pick(&["bast", "fast", "last", "page"]),
        physical_blocks: 300,
        ..Merging::default()
    };
    let rule = random.pick(&[json!("model"), json!("model"), json!("never"), json!("always"), json!(0.3), json!(1)]);
    let share = match (rule.as_str(), rig.ftl) {
        (Some("always"), _) => 0.0,
        (Some("model"), "fast") => 0.33,
        _ => rule.as_f64().unwrap_or(1.0),
    };
    let log_len = 1 + random.below64(20) as usize;
    let bounds = match (random.below64(3), rig.page_sectors) {
        (0, 1) => vec![3, 7],
        (0, _) => vec![1, 2, 9, 20, 32],
        (_, 1) => vec![2, 4, 6, 8],
        _ => vec![2, 4, 6, 8, 12, 16, 24, 32],
    };
    let reference = Reference {
        rig,
        adj: random.percent(40),
        eager: random.percent(20),
        levels: 1 + random.below64(log_len as u64 + 1) as i32,
        adapt: random.percent(60),
        period: 1 + random.below64(60),
        step: 1 + random.below64(5) as i32,
        direction: 1,
        misses: 0,
        misses_before: None,
        age_threshold: random.pick(&[20, 200, 150_000]),
        log: (0..random.below64(log_len as u64 + 1)).map(|_| random.below64(90)).collect(),
        log_len,
        threshold: share * f64::from(rig.pages_per_block),
        model: rule == "model" && rig.ftl != "page",
        window: 1 + random.below64(80),
        looks: vec![[0; 4]],
        counter: 0,
        touched: vec![],
        groups: vec![],
        moves: 0,
        events: vec![],
        bounds,
    };
    let given = !matches!(reference.bounds.as_slice(), [2, 4, 6, ..]);
    let params = json!({
        "adj": reference.adj,
        "pad_threshold": rule,
        "pad_window": if rule == "model" { reference.window } else { 64 },
        "levels": reference.levels,
        "levels_adapt": reference.adapt,
        "levels_period": if reference.adapt { reference.period } else { 2000 },
        "levels_step": if reference.adapt { reference.step } else { 4 },
        "hit_log_len": log_len,
        "initial_log": reference.log,
        "list_bounds": given.then_some(&reference.bounds),
        "age_threshold": reference.age_threshold,
        "full_flush": if reference.eager { "eager" } else { "lazy" },
    });
    (reference, params)
}

/// Single-page reads that complete partly written pages are the engine's business.
fn without_pad_reads(events: Vec<Event>) -> Vec<Event> {
    events.into_iter().filter(|event| !matches!(event, Event::Read(Cause::Pad, _))).collect()
}

#[test]
fn hitstat_equals_a_slow_reference() {
    let mut random = Dice(21);
    let (mut accesses, mut padded) = (0, 0);
    for _ in 0..60 {
        let (mut reference, params) = random_pair(&mut random);
        let rig = reference.rig;
        let (mut device, recorder) = rig.device("hitstat", params.clone());
        let sectors_of_page = rig.page_sectors;
        for i in 0..1200 {
            if random.percent(30) {
                let ledger = &mut device.test_port().flash_mut().ledger;
                let merges = 1 + random.below64(4);
                ledger.padding_merges += merges;
                ledger.padding_log_blocks += merges + random.below64(3);
                ledger.padding_data_blocks += merges * random.pick(&[1, 2, 5]);
                ledger.padding_log_pages += merges * (1 + random.below64(8));
            }
            let ledger = device.ledger();
            let write = random.percent(80);
            let whole = random.percent(50);
            let unit = if whole { sectors_of_page } else { 1 };
            let count = (1 + random.below64(12).saturating_sub(6) as u32) * unit;
            let room = u64::from((rig.logical_pages * sectors_of_page - count) / unit);
            let first = random.skewed(room) as u32 * unit;
            submit(&mut *device, if write { HostOp::Write } else { HostOp::Read }, u64::from(first), count);
            if write {
                reference.write_request();
            }
            for page in first / sectors_of_page..(first + count).div_ceil(sectors_of_page) {
                let start = page * sectors_of_page;
                let sectors = first.max(start) - start..(first + count).min(start + sectors_of_page) - start;
                accesses += 1;
                if write {
                    reference.write(page, sectors, &ledger);
                } else {
                    reference.read(page, sectors);
                }
            }
            if i % 5 == 0 {
                assert_eq!(device.test_port().golden_state(), reference.golden(), "request {i} of {params}");
            }
        }
        let mut events = recorder.take();
        let mut expected = reference.events;
        if sectors_of_page > 1 {
            (events, expected) = (without_pad_reads(events), without_pad_reads(expected));
        }
        assert!(events == expected, "{params}");
        let is_padded = |event: &&Event| matches!(event, Event::Write { padded, .. } if !padded.is_empty());
        padded += events.iter().filter(is_padded).count();
        device.test_port().check();
    }
    assert!(accesses > 100_000 && padded > 1000, "{accesses} accesses, {padded} padded");
}

#[test]
fn trimmed_page_takes_its_weight_from_its_group() {
    let (mut device, _) = Merging::default().device("hitstat", json!({}));
    let class = |device: &mut dyn nandlab::engine::Ssd| -> Vec<String> {
        let lists = device.test_port().golden_state()["lists"].as_object().unwrap().clone();
        lists.into_iter().filter(|(_, groups)| groups.as_array().is_some_and(|g| !g.is_empty())).map(|l| l.0).collect()
    };
    // Five sectors of a block lie in the class of up to six, three in that of up to four, one in that of up to two.
    submit(&mut *device, HostOp::Write, 8, 5);
    assert_eq!(class(&mut *device), ["6"]);
    submit(&mut *device, HostOp::Trim, 9, 2);
    assert_eq!(class(&mut *device), ["4"]);
    submit(&mut *device, HostOp::Trim, 8, 4);
    assert_eq!(class(&mut *device), ["2"]);
}
