//! sieve, s3-fifo, w-tinylfu.

use serde_json::{Value, json};

use super::paged::{Order, Pages, check, down, half_up, take, to_front};

fn annotated(pages: &Pages, list: &[(u32, u32)], key: &str) -> Value {
    let page = |(lpn, value): &(u32, u32)| {
        let mut page = pages.golden(*lpn);
        page[key] = json!(value);
        page
    };
    list.iter().map(page).collect()
}

/// Newest first: page and visited bit. The hand is a page.
struct Sieve {
    queue: Vec<(u32, u32)>,
    hand: Option<u32>,
}

impl Sieve {
    fn at(&self, lpn: u32) -> usize {
        self.queue.iter().position(|page| page.0 == lpn).unwrap()
    }
    fn newer(&self, at: usize) -> Option<u32> {
        at.checked_sub(1).map(|at| self.queue[at].0)
    }
}

impl Order for Sieve {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        let at = self.at(lpn);
        self.queue[at].1 = 1;
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        let mut at = self.hand.map_or(self.queue.len() - 1, |hand| self.at(hand));
        while self.queue[at].1 == 1 {
            self.queue[at].1 = 0;
            at = at.checked_sub(1).unwrap_or(self.queue.len() - 1);
        }
        self.hand = self.newer(at);
        self.queue.remove(at).0
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.queue.insert(0, (lpn, 0));
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        let at = self.at(lpn);
        if self.hand == Some(lpn) {
            self.hand = self.newer(at);
        }
        self.queue.remove(at);
    }
    fn state(&self, pages: &Pages) -> Value {
        json!({"queue": annotated(pages, &self.queue, "visited"), "hand": self.hand})
    }
}

#[test]
fn sieve_hand_stays_where_it_found_a_victim() {
    check("sieve", 31, |_, _| (json!({}), Sieve { queue: vec![], hand: None }));
}

/// Newest first: page and count.
#[derive(Default)]
struct S3Fifo {
    share: f64,
    libcachesim: bool,
    has_made_room: bool,
    ghosts_max: usize,
    small_pages: usize,
    main_pages: usize,
    small: Vec<(u32, u32)>,
    main: Vec<(u32, u32)>,
    ghosts: Vec<u32>,
    returns: bool,
}

impl S3Fifo {
    fn evict_main(&mut self) -> u32 {
        loop {
            let (lpn, count) = self.main.pop().unwrap();
            if count == 0 {
                return lpn;
            }
            self.main.insert(0, (lpn, count - 1));
        }
    }
    fn evict_small(&mut self) -> u32 {
        loop {
            let (lpn, count) = self.small.pop().unwrap();
            if count <= 1 {
                self.ghosts.insert(0, lpn);
                self.ghosts.truncate(self.ghosts_max);
                return lpn;
            }
            self.main.insert(0, (lpn, 0));
            if self.main.len() > self.main_pages && !self.libcachesim || self.small.is_empty() {
                return self.evict_main();
            }
        }
    }
}

impl Order for S3Fifo {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        let page = self.small.iter_mut().chain(&mut self.main).find(|page| page.0 == lpn).unwrap();
        page.1 = (page.1 + 1).min(3);
    }
    fn miss(&mut self, lpn: u32) {
        self.returns = self.ghosts.contains(&lpn);
        self.ghosts.retain(|ghost| *ghost != lpn);
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        self.has_made_room = true;
        let from_small = self.small.len() >= self.small_pages || self.main.is_empty();
        if from_small { self.evict_small() } else { self.evict_main() }
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        let fills_main = self.libcachesim && !self.has_made_room && self.small.len() >= self.small_pages;
        if self.returns || fills_main { &mut self.main } else { &mut self.small }.insert(0, (lpn, 0));
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.small.retain(|page| page.0 != lpn);
        self.main.retain(|page| page.0 != lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        let small_pages = if self.libcachesim { down(self.share, frames) } else { half_up(self.share, frames) };
        self.small_pages = small_pages.max(1);
        self.main_pages = (frames as usize).saturating_sub(self.small_pages);
        self.ghosts_max = if self.libcachesim { down(0.9, frames) } else { self.main_pages };
        self.ghosts.truncate(self.ghosts_max);
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| annotated(pages, list, "count");
        json!({"small": list(&self.small), "main": list(&self.main), "ghosts": self.ghosts})
    }
}

#[test]
fn s3_fifo_keeps_what_was_hit_twice_or_came_back() {
    for (libcachesim, compat) in [(false, "spec"), (true, "libcachesim")] {
        check("s3-fifo", 32, |random, _| {
            let share = [0.0, 0.1, 0.1, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(6) as usize];
            (json!({"small": share, "compat": compat}), S3Fifo { share, libcachesim, ..S3Fifo::default() })
        });
    }
}

/// The count-min sketch and its doorkeeper as plain cells: row and place with count, and bits that are set.
#[derive(Default)]
struct Frequencies {
    seed: u64,
    width: u64,
    counts: Vec<((u64, u64), u32)>,
    door: Vec<u64>,
    accesses: u64,
    sample: u64,
}

impl Frequencies {
    fn hash(lpn: u32, seed: u64) -> [u64; 2] {
        let mix = |mut x: u64| {
            x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ x >> 31
        };
        let hash = mix(u64::from(lpn) ^ mix(seed));
        [hash % (1 << 32), (hash >> 32) | 1]
    }
    fn cells(&self, lpn: u32) -> [(u64, u64); 4] {
        let [first, step] = Self::hash(lpn, self.seed);
        [0, 1, 2, 3].map(|row| (row, (first + row * step) % self.width))
    }
    fn bits(&self, lpn: u32) -> [u64; 3] {
        let [first, step] = Self::hash(lpn, !self.seed);
        [0, 1, 2].map(|n| (first + n * step) % (32 * self.width))
    }
    fn count(&self, cell: (u64, u64)) -> u32 {
        self.counts.iter().find(|known| known.0 == cell).map_or(0, |known| known.1)
    }
    fn least(&self, lpn: u32) -> u32 {
        self.cells(lpn).map(|cell| self.count(cell)).into_iter().min().unwrap()
    }
    fn known(&self, lpn: u32) -> bool {
        self.bits(lpn).iter().all(|bit| self.door.contains(bit))
    }
    fn estimate(&self, lpn: u32) -> u32 {
        self.least(lpn) + u32::from(self.known(lpn))
    }
    fn record(&mut self, lpn: u32) {
        if self.known(lpn) {
            let least = self.least(lpn);
            for cell in self.cells(lpn) {
                if self.count(cell) == least && least < 15 {
                    self.counts.retain(|known| known.0 != cell);
                    self.counts.push((cell, least + 1));
                }
            }
        }
        self.door.extend(self.bits(lpn));
        self.accesses += 1;
        if self.accesses >= self.sample {
            self.accesses /= 2;
            self.counts.iter_mut().for_each(|known| known.1 /= 2);
            self.counts.retain(|known| known.1 > 0);
            self.door.clear();
        }
    }
}

#[derive(Default)]
struct TinyLfu {
    shares: [f64; 2],
    sizes: [usize; 3],
    seen: Frequencies,
    window: Vec<u32>,
    probation: Vec<u32>,
    protected: Vec<u32>,
}

impl TinyLfu {
    fn main_len(&self) -> usize {
        self.probation.len() + self.protected.len()
    }
    fn bound(&mut self) {
        while self.protected.len() > self.sizes[2] {
            let lpn = self.protected.pop().unwrap();
            self.probation.insert(0, lpn);
        }
    }
}

impl Order for TinyLfu {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.seen.record(lpn);
        if self.window.contains(&lpn) {
            to_front(&mut self.window, lpn);
        } else {
            self.probation.retain(|page| *page != lpn);
            to_front(&mut self.protected, lpn);
            self.bound();
        }
    }
    fn miss(&mut self, lpn: u32) {
        self.seen.record(lpn);
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        let [window, main, _] = self.sizes;
        while self.window.len() > window && self.main_len() < main {
            let lpn = self.window.pop().unwrap();
            self.probation.insert(0, lpn);
        }
        if self.main_len() == 0 {
            return self.window.pop().unwrap();
        }
        let rival = *self.probation.last().or(self.protected.last()).unwrap();
        if self.window.len() >= window {
            let candidate = self.window.pop().unwrap();
            if self.seen.estimate(candidate) <= self.seen.estimate(rival) {
                return candidate;
            }
            self.probation.insert(0, candidate);
        }
        self.probation.retain(|page| *page != rival);
        self.protected.retain(|page| *page != rival);
        rival
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.window.insert(0, lpn);
        if self.window.len() > self.sizes[0] {
            let lpn = self.window.pop().unwrap();
            self.probation.insert(0, lpn);
        }
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        let lists = [&mut self.window, &mut self.probation, &mut self.protected];
        take(lists.into_iter().find(|list| list.contains(&lpn)).unwrap(), lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        let window = half_up(self.shares[0], frames).max(1);
        let main = (frames as usize).saturating_sub(window);
        self.sizes = [window, main, half_up(self.shares[1], main as u32)];
        self.bound();
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| pages.golden_list(list);
        json!({
            "window": list(&self.window), "probation": list(&self.probation), "protected": list(&self.protected),
        })
    }
}

#[test]
fn w_tinylfu_admits_what_was_seen_more_often() {
    check("w-tinylfu", 33, |random, run| {
        let mut share =
            |usual| [0.0, usual, usual, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
        let shares = [share(0.01), share(0.8)];
        let sample = [1, 3, 10][random.below(3) as usize];
        let width = (2 * u64::from(run.frames.max(8))).next_power_of_two();
        let sample_accesses = u64::from(sample * run.frames);
        let seen = Frequencies { seed: 1, width, sample: sample_accesses, ..Frequencies::default() };
        let params = json!({"window": shares[0], "protected": shares[1], "sample": sample});
        (params, TinyLfu { shares, seen, ..TinyLfu::default() })
    });
}
