//! The oracle's HitStat: chapters 3.3 to 3.5 of the thesis and the manual page of `hitstat`.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::buffer_groups::Pads;
use super::counts::Counts;
use super::policy::{Access, Policy, Ram, Step};

/// Which equation the FTL below makes of the padding model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Below {
    Bast,
    Fast,
    /// Nothing is known of its merges beforehand.
    Measured,
    NoMerges,
}

#[derive(Clone, Copy, Debug)]
pub struct Choices {
    pub adj: bool,
    /// `None` is the model.
    pub pads: Option<Pads>,
    pub pad_window: u64,
    pub levels: u64,
    /// Write requests between two adaptations, and their step.
    pub levels_period: Option<u64>,
    pub levels_step: u64,
    pub hit_log_len: usize,
    /// How many ages are known at the start.
    pub ages: usize,
    /// Upper bounds of the classes, if they are not those of the thesis.
    pub bounds: Option<&'static [usize]>,
    pub age_threshold: u64,
    pub eager: bool,
    pub below: Below,
}

impl Choices {
    /// The ages that are known at the start.
    pub fn initial_log(&self) -> Vec<u64> {
        (0..self.ages as u64).map(|i| (37 * i + 11) % 90).collect()
    }
}

struct Group {
    /// Sectors of every page when it was last written.
    pages: BTreeMap<u32, usize>,
    /// Number of the write request that wrote it last.
    last: u64,
    written: u64,
    /// Place in its class: the class and when it came to the front there.
    class: usize,
    fronted: u64,
}

impl Group {
    fn weight(&self) -> usize {
        self.pages.values().sum()
    }
}

pub struct HitStat {
    choices: Choices,
    groups: BTreeMap<usize, Group>,
    bounds: Vec<usize>,
    page_sectors: usize,
    pages_per_block: usize,
    service_us: [f64; 3],
    ages: Vec<u64>,
    levels: u64,
    rising: bool,
    misses: u64,
    misses_before: Option<u64>,
    counter: u64,
    request: u64,
    touched: Option<usize>,
    clock: u64,
    /// From how many pages on a group is padded.
    threshold: f64,
    /// Sums over the merges, after each look at which there were new ones.
    looks: Vec<[u64; 4]>,
}

impl HitStat {
    pub fn new(choices: Choices, pages_per_block: usize, page_sectors: usize, service: [u64; 3]) -> Self {
        let whole = pages_per_block as f64;
        let threshold = match (choices.pads, choices.below) {
            (Some(Pads::Always), _) => 0.0,
            (Some(Pads::From(share)), _) => share * whole,
            (None, Below::Fast) => 0.33 * whole,
            (Some(Pads::Never) | None, _) => whole,
        };
        let all = pages_per_block * page_sectors;
        let mut bounds: Vec<usize> = vec![2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
        bounds.retain(|bound| *bound < all);
        bounds.push(all);
        let bounds = choices.bounds.map_or(bounds, <[usize]>::to_vec);
        Self {
            choices,
            groups: BTreeMap::new(),
            bounds,
            page_sectors,
            pages_per_block,
            service_us: service.map(|ns| ns as f64 / 1e3),
            ages: choices.initial_log(),
            levels: choices.levels,
            rising: true,
            misses: 0,
            misses_before: None,
            counter: 0,
            request: 0,
            touched: None,
            clock: 0,
            threshold,
            looks: vec![[0; 4]],
        }
    }

    fn class(&self, weight: usize) -> usize {
        self.bounds.iter().position(|bound| weight <= *bound).unwrap_or(self.bounds.len() - 1)
    }

    /// A page write comes: a new request, the first touch of a group.
    fn count(&mut self, lbn: usize, request: u64) {
        if request != self.request {
            self.request = request;
            if self.choices.levels_period.is_some_and(|period| self.counter > 0 && self.counter.is_multiple_of(period))
            {
                self.adapt();
            }
            self.counter += 1;
            self.touched = None;
        }
        if self.touched == Some(lbn) {
            return;
        }
        self.touched = Some(lbn);
        match self.groups.get(&lbn) {
            Some(group) => {
                self.ages.push(self.counter - group.last);
                if self.ages.len() > self.choices.hit_log_len {
                    self.ages.remove(0);
                }
            }
            None => self.misses += 1,
        }
    }

    fn adapt(&mut self) {
        if self.misses_before.is_some_and(|before| self.misses > before) {
            self.rising = !self.rising;
        }
        self.misses_before = Some(self.misses);
        self.misses = 0;
        let step = self.choices.levels_step;
        let moved = if self.rising { self.levels + step } else { self.levels.saturating_sub(step) };
        self.levels = moved.clamp(1, self.choices.hit_log_len as u64 + 1);
    }

    fn cuts(&self) -> Vec<u64> {
        let mut sorted = self.ages.clone();
        sorted.sort_unstable();
        let (n, k) = (sorted.len(), (self.levels as usize - 1).min(sorted.len()));
        (1..=k).map(|i| sorted[(i * n).div_ceil(k) - 1]).collect()
    }
    fn rank(&self, age: u64) -> usize {
        let cuts = self.cuts();
        cuts.len() + 1 - cuts.iter().filter(|cut| age > **cut).count()
    }

    fn written(&mut self, lpn: u32, ram: &Ram) {
        let lbn = ram.lbn(lpn);
        self.clock += 1;
        let new = Group { pages: BTreeMap::new(), last: 0, written: 0, class: 0, fronted: 0 };
        let mut group = self.groups.remove(&lbn).unwrap_or(new);
        group.pages.insert(lpn, ram.pages[&lpn].weight());
        group.class = self.class(group.weight());
        (group.last, group.written, group.fronted) = (self.counter, self.clock, self.clock);
        self.groups.insert(lbn, group);
    }

    fn forget(&mut self, lpn: u32, ram: &Ram) {
        let lbn = ram.lbn(lpn);
        let Some(mut group) = self.groups.remove(&lbn) else { return };
        group.pages.remove(&lpn);
        if group.pages.is_empty() {
            return;
        }
        let class = self.class(group.weight());
        if class != group.class {
            self.clock += 1;
            (group.class, group.fronted) = (class, self.clock);
        }
        self.groups.insert(lbn, group);
    }

    fn oldest_whole(&self, ram: &Ram) -> Option<usize> {
        let whole = self.groups.iter().filter(|(lbn, group)| group.pages.len() == ram.block_pages(**lbn));
        whole.min_by_key(|(_, group)| group.written).map(|(lbn, _)| *lbn)
    }

    fn victim(&self, ram: &Ram) -> Option<usize> {
        if let Some(whole) = self.oldest_whole(ram) {
            return Some(whole);
        }
        let end = |class| {
            let members = self.groups.iter().filter(move |(_, group)| group.class == class);
            members.min_by_key(|(_, group)| group.fronted).map(|(lbn, _)| *lbn)
        };
        let ends: Vec<usize> = (0..self.bounds.len()).filter_map(end).collect();
        let oldest = ends.iter().copied().min_by_key(|lbn| (self.groups[lbn].last, *lbn))?;
        if self.counter - self.groups[&oldest].last > self.choices.age_threshold {
            return Some(oldest);
        }
        let least = if self.choices.adj { self.threshold * self.page_sectors as f64 } else { 0.0 };
        let mut best: Option<(f64, f64, u64, usize)> = None;
        for lbn in ends {
            let group = &self.groups[&lbn];
            let weight = (group.weight() as f64).max(least);
            let value = self.rank(self.counter - group.last) as f64 / weight;
            // Smallest value; then larger weight, older, smaller block.
            let this = (value, -weight, group.last, lbn);
            if best.is_none_or(|best| this.partial_cmp(&best) == Some(std::cmp::Ordering::Less)) {
                best = Some(this);
            }
        }
        best.map(|(.., lbn)| lbn)
    }

    /// The averages over the last merges, and from them the threshold (equations 3 to 5).
    fn look(&mut self, counts: &Counts) {
        let now =
            [counts.padding_merges, counts.padding_log_blocks, counts.padding_data_blocks, counts.padding_log_pages];
        let last = self.looks[self.looks.len() - 1];
        if self.choices.pads.is_some() || self.choices.below == Below::NoMerges || now[0] == last[0] {
            return;
        }
        self.looks.push(now);
        // The latest look that leaves a window's worth of merges behind it.
        let begin = self.looks.iter().rposition(|look| now[0] - look[0] >= self.choices.pad_window).unwrap_or(0);
        let first = self.looks[begin];
        let [merges, log_blocks, data_blocks, log_pages] = std::array::from_fn(|i| (now[i] - first[i]) as f64);
        let n = self.pages_per_block as f64;
        let (mut r_db, mut r_lb, mut u_lb) = (data_blocks / merges, log_blocks / merges, log_pages / (log_blocks * n));
        match self.choices.below {
            Below::Bast => r_db = 1.0,
            Below::Fast => (r_lb, u_lb) = (1.0, 1.0),
            Below::Measured | Below::NoMerges => {}
        }
        let [_, program, erase] = self.service_us;
        let whole = n * program;
        self.threshold = r_lb * n * u_lb * (erase + whole) / ((r_lb + r_db) * erase + (r_lb * u_lb + r_db) * whole);
    }

    fn write_back(&mut self, lbn: usize, ram: &Ram) -> Step {
        let group = self.groups.remove(&lbn).expect("a group");
        let pages = ram.block_pages(lbn);
        let held = (group.pages.len() * self.pages_per_block) as f64;
        let pad = group.pages.len() < pages && held >= self.threshold * pages as f64;
        Step::write(group.pages.into_keys().collect(), pad)
    }
}

impl Policy for HitStat {
    fn admits(&self, write: bool) -> bool {
        write
    }
    fn comes(&mut self, access: Access, ram: &Ram) {
        if access.write {
            self.count(ram.lbn(access.lpn), access.request);
        }
    }
    fn hit(&mut self, access: Access, ram: &Ram) {
        if access.write {
            self.written(access.lpn, ram);
        }
    }
    fn placed(&mut self, access: Access, ram: &Ram) {
        self.written(access.lpn, ram);
    }
    fn make_room(&mut self, ram: &Ram, counts: &Counts) -> Vec<Step> {
        self.look(counts);
        let Some(victim) = self.victim(ram) else { return Vec::new() };
        vec![self.write_back(victim, ram)]
    }
    fn after(&mut self, _access: Access, _hit: bool, ram: &Ram, _counts: &Counts) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(whole) = self.oldest_whole(ram).filter(|_| self.choices.eager) {
            steps.push(self.write_back(whole, ram));
        }
        steps
    }
    fn trimmed(&mut self, lpn: u32, ram: &Ram) {
        self.forget(lpn, ram);
    }
    fn flushed(&mut self, lpn: u32, ram: &Ram) -> bool {
        self.forget(lpn, ram);
        false
    }
    fn by_block(&self) -> bool {
        true
    }
    fn golden(&self) -> Option<Value> {
        let list = |class| {
            let mut members: Vec<_> = self.groups.iter().filter(|(_, group)| group.class == class).collect();
            members.sort_by_key(|(_, group)| Reverse(group.fronted));
            let entry = |(lbn, group): (&usize, &Group)| json!({"block": lbn, "pages": group.pages.keys().collect::<Vec<_>>(), "last": group.last});
            members.into_iter().map(entry).collect::<Value>()
        };
        let lists = self.bounds.iter().enumerate().map(|(class, bound)| (bound.to_string(), list(class)));
        Some(json!({"lists": lists.collect::<Map<_, _>>(), "hit_log": self.ages, "cuts": self.cuts()}))
    }
}
