//! fifo, clock, lru-wsr, ccf-lru and ad-lru.

use serde_json::{Value, json};

use super::paged::{Order, Pages, check, half_up, take, to_front};

/// First in, first out; newest first.
struct Fifo(Vec<u32>);

impl Order for Fifo {
    fn hit(&mut self, _: u32, _: bool, _: &Pages) {}
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        self.0.pop().unwrap()
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.0.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        take(&mut self.0, lpn);
    }
    fn state(&self, pages: &Pages) -> Value {
        json!({"fifo": pages.golden_list(&self.0)})
    }
}

#[test]
fn fifo_evicts_the_page_that_came_first() {
    check("fifo", 11, |_, _| (json!({}), Fifo(vec![])));
}

/// Frames with page and reference bit; a freed frame waits on a stack.
struct Clock {
    ring: Vec<Option<(u32, bool)>>,
    free: Vec<usize>,
    hand: usize,
    insert_ref: bool,
}

impl Clock {
    fn place(&self, lpn: u32) -> usize {
        self.ring.iter().position(|place| place.is_some_and(|(page, _)| page == lpn)).unwrap()
    }
}

impl Order for Clock {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        let at = self.place(lpn);
        self.ring[at] = Some((lpn, true));
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        loop {
            let at = self.hand;
            self.hand = (self.hand + 1) % self.ring.len();
            match self.ring[at] {
                None => {}
                Some((lpn, true)) => self.ring[at] = Some((lpn, false)),
                Some((lpn, false)) => {
                    self.remove(lpn, &Pages::default());
                    return lpn;
                }
            }
        }
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        let page = Some((lpn, self.insert_ref));
        match self.free.pop() {
            Some(at) => self.ring[at] = page,
            None => self.ring.push(page),
        }
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        let at = self.place(lpn);
        self.ring[at] = None;
        self.free.push(at);
    }
    fn state(&self, pages: &Pages) -> Value {
        let place = |place: &Option<(u32, bool)>| {
            let Some((lpn, referenced)) = *place else { return Value::Null };
            json!({"lpn": lpn, "dirty": u8::from(pages.is_dirty(lpn)), "ref": u8::from(referenced)})
        };
        json!({"slots": self.ring.iter().map(place).collect::<Vec<_>>(), "hand": self.hand})
    }
}

#[test]
fn clock_hand_takes_the_first_page_without_its_bit() {
    check("clock", 12, |random, _| {
        let insert_ref = random.one_in(2);
        let order = Clock { ring: vec![], free: vec![], hand: 0, insert_ref };
        (json!({"insert_ref": u8::from(insert_ref)}), order)
    });
}

fn flagged(pages: &Pages, list: &[u32], cold: &[u32]) -> Value {
    let page = |lpn: &u32| {
        let mut page = pages.golden(*lpn);
        page["cold"] = json!(u8::from(cold.contains(lpn)));
        page
    };
    list.iter().map(page).collect()
}

/// Most recent first, and the cold pages.
#[derive(Default)]
struct Wsr {
    lru: Vec<u32>,
    cold: Vec<u32>,
}

impl Order for Wsr {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.cold.retain(|page| *page != lpn);
        to_front(&mut self.lru, lpn);
    }
    fn victim(&mut self, _: Option<u32>, pages: &Pages) -> u32 {
        loop {
            let lpn = self.lru.pop().unwrap();
            if !pages.is_dirty(lpn) || self.cold.contains(&lpn) {
                self.cold.retain(|page| *page != lpn);
                return lpn;
            }
            self.cold.push(lpn);
            self.lru.insert(0, lpn);
        }
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.lru.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.cold.retain(|page| *page != lpn);
        take(&mut self.lru, lpn);
    }
    fn state(&self, pages: &Pages) -> Value {
        json!({"lru": flagged(pages, &self.lru, &self.cold)})
    }
}

#[test]
fn lru_wsr_gives_dirty_pages_a_second_chance_and_clean_ones_none() {
    check("lru-wsr", 13, |_, _| (json!({}), Wsr::default()));
}

struct Ccf {
    new_dirty_cold: bool,
    lab: bool,
    mixed: Vec<u32>,
    cold_clean: Vec<u32>,
    cold: Vec<u32>,
}

impl Order for Ccf {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.remove(lpn, &Pages::default());
        self.mixed.insert(0, lpn);
    }
    fn victim(&mut self, _: Option<u32>, pages: &Pages) -> u32 {
        if let Some(lpn) = self.cold_clean.pop() {
            self.remove(lpn, pages);
            return lpn;
        }
        while let Some(lpn) = self.mixed.pop() {
            match (self.cold.contains(&lpn), pages.is_dirty(lpn), self.lab) {
                (true, true, _) | (true, false, false) => {
                    self.remove(lpn, pages);
                    return lpn;
                }
                (true, false, true) => self.cold_clean.insert(0, lpn),
                (false, true, _) | (false, false, true) => {
                    self.cold.push(lpn);
                    self.mixed.insert(0, lpn);
                }
                (false, false, false) => {
                    self.cold.push(lpn);
                    self.cold_clean.insert(0, lpn);
                }
            }
        }
        let lpn = self.cold_clean.pop().unwrap();
        self.remove(lpn, pages);
        lpn
    }
    fn insert(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        if !is_write || self.new_dirty_cold {
            self.cold.push(lpn);
        }
        if is_write { &mut self.mixed } else { &mut self.cold_clean }.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        for list in [&mut self.mixed, &mut self.cold_clean, &mut self.cold] {
            list.retain(|page| *page != lpn);
        }
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| flagged(pages, list, &self.cold);
        json!({"mixed": list(&self.mixed), "cold_clean": list(&self.cold_clean)})
    }
}

#[test]
fn ccf_lru_scans_as_described_and_as_the_lab_does() {
    let mut runs = [0; 2];
    check("ccf-lru", 14, |random, _| {
        let (new_dirty_cold, lab) = (random.one_in(2), random.one_in(2));
        runs[usize::from(lab)] += 1;
        let order = Ccf { new_dirty_cold, lab, mixed: vec![], cold_clean: vec![], cold: vec![] };
        let compat = if lab { "lab" } else { "spec" };
        (json!({"new_dirty_cold": u8::from(new_dirty_cold), "compat": compat}), order)
    });
    assert!(runs.iter().all(|runs| *runs >= 10), "{runs:?}");
}

struct AdLru {
    min_lc: f64,
    cold_min: usize,
    cold: Vec<u32>,
    hot: Vec<u32>,
    flagged: Vec<u32>,
}

impl Order for AdLru {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.remove(lpn, &Pages::default());
        self.hot.insert(0, lpn);
    }
    fn victim(&mut self, _: Option<u32>, pages: &Pages) -> u32 {
        let from_cold = self.cold.len() > self.cold_min || self.hot.is_empty();
        let queue = if from_cold { &mut self.cold } else { &mut self.hot };
        if let Some(at) = queue.iter().rposition(|lpn| !pages.is_dirty(*lpn)) {
            let lpn = queue[at];
            self.remove(lpn, pages);
            return lpn;
        }
        loop {
            let lpn = queue.pop().unwrap();
            if self.flagged.contains(&lpn) {
                self.remove(lpn, pages);
                return lpn;
            }
            self.flagged.push(lpn);
            queue.insert(0, lpn);
        }
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.cold.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        for list in [&mut self.cold, &mut self.hot, &mut self.flagged] {
            list.retain(|page| *page != lpn);
        }
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        self.cold_min = half_up(self.min_lc, frames);
    }
    fn state(&self, pages: &Pages) -> Value {
        let list = |list| flagged(pages, list, &self.flagged);
        json!({"cold": list(&self.cold), "hot": list(&self.hot)})
    }
}

#[test]
fn ad_lru_finds_the_clean_page_that_a_scan_of_its_queue_finds() {
    check("ad-lru", 15, |random, _| {
        let min_lc = [0.0, 0.2, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(5) as usize];
        (json!({"min_lc": min_lc}), AdLru { min_lc, cold_min: 0, cold: vec![], hot: vec![], flagged: vec![] })
    });
}
