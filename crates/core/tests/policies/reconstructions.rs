//! clru-r, carf-r, pr-lru-r and ref-r.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::harness::Run;
use super::paged::{Order, Pages, check, half_up, take, to_front};
use crate::kit::Dice;

/// Four queues by name, most recent first, and when each page was last used.
struct Clru {
    hot_max: f64,
    hot_pages: usize,
    now: u64,
    queues: [Vec<u32>; 4],
    last: Vec<(u32, u64)>,
}

impl Clru {
    fn last(&self, lpn: u32) -> u64 {
        self.last.iter().find(|page| page.0 == lpn).unwrap().1
    }
    fn stamp(&mut self, lpn: u32) {
        self.now += 1;
        self.last.retain(|page| page.0 != lpn);
        self.last.push((lpn, self.now));
    }
}

impl Order for Clru {
    fn hit(&mut self, lpn: u32, _: bool, pages: &Pages) {
        let now = self.now + 1;
        let kind = usize::from(pages.is_dirty(lpn));
        let spacing = now - self.last(lpn);
        let was_hot = self.queues[2].contains(&lpn) || self.queues[3].contains(&lpn);
        let age = self.queues[2 + kind].last().map(|oldest| now - self.last(*oldest));
        let hot = was_hot || age.is_none_or(|age| spacing <= age);
        self.queues.iter_mut().for_each(|queue| queue.retain(|page| *page != lpn));
        self.queues[2 * usize::from(hot) + kind].insert(0, lpn);
        self.stamp(lpn);
        while self.queues[2].len() + self.queues[3].len() > self.hot_pages {
            let ends = self.queues[2].last().into_iter().chain(self.queues[3].last());
            let cooled = *ends.min_by_key(|lpn| self.last(**lpn)).unwrap();
            self.queues.iter_mut().for_each(|queue| queue.retain(|page| *page != cooled));
            self.queues[usize::from(pages.is_dirty(cooled))].insert(0, cooled);
        }
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        self.queues.iter_mut().find(|queue| !queue.is_empty()).unwrap().pop().unwrap()
    }
    fn insert(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        self.queues[usize::from(is_write)].insert(0, lpn);
        self.stamp(lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.queues.iter_mut().for_each(|queue| queue.retain(|page| *page != lpn));
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        self.hot_pages = half_up(self.hot_max, frames);
    }
    fn state(&self, pages: &Pages) -> Value {
        let page = |lpn: &u32| {
            let mut page = pages.golden(*lpn);
            page["last"] = json!(self.last(*lpn));
            page
        };
        let [cc, cd, hc, hd] = &self.queues;
        let list = |queue: &Vec<u32>| queue.iter().map(page).collect::<Vec<_>>();
        json!({"CC": list(cc), "CD": list(cd), "HC": list(hc), "HD": list(hd)})
    }
}

#[test]
fn clru_r_warms_and_cools_pages_as_written() {
    check("clru-r", 21, |random, _| {
        let hot_max = [0.0, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(4) as usize];
        (json!({"hot_max": hot_max}), Clru { hot_max, hot_pages: 0, now: 0, queues: Default::default(), last: vec![] })
    });
}

/// Page, weight at its last access, number of that access.
struct Carf {
    lam: f64,
    costs: [f64; 2],
    now: u64,
    pages: Vec<(u32, f64, u64)>,
}

impl Carf {
    fn decayed(&self, page: &(u32, f64, u64)) -> f64 {
        page.1 * 2.0_f64.powf(-self.lam * (self.now - page.2) as f64)
    }
    fn ranked(&self) -> Vec<(u32, f64, u64)> {
        let mut pages = self.pages.clone();
        // Relative to the younger of the two, so that neither decays to nothing.
        pages.sort_by(|a, b| {
            let apart = -self.lam * a.2.abs_diff(b.2) as f64;
            let (x, y) = if a.2 > b.2 { (a.1, b.1 * 2.0_f64.powf(apart)) } else { (a.1 * 2.0_f64.powf(apart), b.1) };
            x.partial_cmp(&y).unwrap().then(a.2.cmp(&b.2))
        });
        pages
    }
}

impl Order for Carf {
    fn hit(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        self.now += 1;
        let at = self.pages.iter().position(|page| page.0 == lpn).unwrap();
        let page = self.pages.remove(at);
        self.pages.push((lpn, self.costs[usize::from(is_write)] + self.decayed(&page), self.now));
    }
    fn miss(&mut self, _: u32) {
        self.now += 1;
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        let victim = self.ranked()[0].0;
        self.pages.retain(|page| page.0 != victim);
        victim
    }
    fn insert(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        self.pages.push((lpn, self.costs[usize::from(is_write)], self.now));
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.pages.retain(|page| page.0 != lpn);
    }
    fn state(&self, pages: &Pages) -> Value {
        let page = |known: (u32, f64, u64)| {
            let mut page = pages.golden(known.0);
            (page["last"], page["weight"]) = (json!(known.2), json!(self.decayed(&known)));
            page
        };
        json!({"by_weight_desc": self.ranked().into_iter().rev().map(page).collect::<Vec<_>>()})
    }
}

fn carf(random: &mut Dice, _: &Run) -> (Value, Carf) {
    // With whole numbers every power of two is exact, and equal weights are equal. Weights of pages unused for more than a
    // thousand halvings would vanish in the reference only.
    let lam = [0.0, 1.0, 2.0][random.below(3) as usize];
    let costs = [[1.0, 4.0], [1.0, 1.0], [3.0, f64::from(1 + random.below(9))]][random.below(3) as usize];
    (json!({"lam": lam, "cost_read": costs[0], "cost_write": costs[1]}), Carf { lam, costs, now: 0, pages: vec![] })
}

#[test]
fn carf_r_evicts_the_smallest_decayed_weight() {
    check("carf-r", 22, carf);
}

/// Page, references, first, last.
struct PrLru {
    victim_size: Option<u32>,
    listed: usize,
    now: u128,
    pages: Vec<(u32, u128, u128, u128)>,
}

impl Order for PrLru {
    fn hit(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.now += 1;
        let page = self.pages.iter_mut().find(|page| page.0 == lpn).unwrap();
        page.1 += 1;
        page.3 = self.now;
    }
    fn miss(&mut self, _: u32) {
        self.now += 1;
    }
    fn victim(&mut self, _: Option<u32>, pages: &Pages) -> u32 {
        let now = self.now;
        // n / (1 + d + g) with g = span / (n - 1), as a fraction of whole numbers.
        let value = |(_, n, first, last): (u32, u128, u128, u128)| match n {
            1 => (1, 1 + now - last),
            _ => (n * (n - 1), (1 + now - last) * (n - 1) + last - first),
        };
        let order = |a: &(u32, u128, u128, u128), b: &(u32, u128, u128, u128)| -> Ordering {
            let ((n, d), (m, e)) = (value(*a), value(*b));
            (n * e).cmp(&(m * d)).then(a.3.cmp(&b.3))
        };
        self.pages.sort_by(order);
        let mut listed = self.pages[..self.listed.min(self.pages.len())].to_vec();
        listed.sort_by_key(|page| page.3);
        let victim = listed.iter().find(|page| !pages.is_dirty(page.0)).unwrap_or(&listed[0]).0;
        self.remove(victim, pages);
        victim
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.pages.push((lpn, 1, self.now, self.now));
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        self.pages.retain(|page| page.0 != lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        self.listed = self.victim_size.unwrap_or((frames / 10).max(1)) as usize;
    }
    fn state(&self, pages: &Pages) -> Value {
        let mut newest_first = self.pages.clone();
        newest_first.sort_by_key(|page| std::cmp::Reverse(page.3));
        let page = |(lpn, refs, first, last): (u32, u128, u128, u128)| {
            let mut page = pages.golden(lpn);
            (page["refs"], page["last"], page["first"]) = (json!(refs as u64), json!(last as u64), json!(first as u64));
            page
        };
        json!({"lru": newest_first.into_iter().map(page).collect::<Vec<_>>()})
    }
}

#[test]
fn pr_lru_r_prefers_clean_pages_of_low_value() {
    check("pr-lru-r", 23, |random, _| {
        let victim_size = random.one_in(2).then(|| 1 + random.below(20));
        let params = victim_size.map_or(json!({}), |size| json!({"victim_size": size}));
        (params, PrLru { victim_size, listed: 0, now: 0, pages: vec![] })
    });
}

/// Most recently written first.
struct Ref {
    ratio: f64,
    window: usize,
    most: usize,
    block_pages: u32,
    lru: Vec<u32>,
    victims: Vec<u32>,
}

impl Ref {
    fn window(&self) -> &[u32] {
        &self.lru[self.lru.len().saturating_sub(self.window)..]
    }
}

impl Order for Ref {
    fn is_write_buffer(&self) -> bool {
        true
    }
    fn hit(&mut self, lpn: u32, is_write: bool, _: &Pages) {
        if is_write {
            to_front(&mut self.lru, lpn);
        }
    }
    fn victim(&mut self, _: Option<u32>, _: &Pages) -> u32 {
        let block = |lpn: &u32| lpn / self.block_pages;
        if !self.window().iter().any(|lpn| self.victims.contains(&block(lpn))) {
            // In the order of their least recently written pages; the sort keeps it among equals.
            let mut blocks: Vec<u32> = self.window().iter().rev().map(block).collect();
            let all = blocks.clone();
            let mut seen = vec![];
            blocks.retain(|block| {
                !seen.contains(block) && {
                    seen.push(*block);
                    true
                }
            });
            blocks.sort_by_key(|block| std::cmp::Reverse(all.iter().filter(|other| *other == block).count()));
            blocks.truncate(self.most);
            self.victims = blocks;
        }
        let victim = *self.window().iter().rev().find(|lpn| self.victims.contains(&block(lpn))).unwrap();
        take(&mut self.lru, victim);
        victim
    }
    fn insert(&mut self, lpn: u32, _: bool, _: &Pages) {
        self.lru.insert(0, lpn);
    }
    fn remove(&mut self, lpn: u32, _: &Pages) {
        take(&mut self.lru, lpn);
    }
    fn resize(&mut self, frames: u32, _: &Pages) {
        self.window = half_up(self.ratio, frames).max(1);
    }
    fn state(&self, _: &Pages) -> Value {
        json!({"lru": self.lru, "victim_blocks": self.victims})
    }
}

#[test]
fn ref_r_stays_with_its_victim_blocks() {
    check("ref-r", 24, |random, run| {
        let ratio = [0.0, 0.75, 1.0, f64::from(random.below(101)) / 100.0][random.below(4) as usize];
        let most = 1 + random.below(4) as usize;
        let order = Ref { ratio, window: 0, most, block_pages: run.block_pages, lru: vec![], victims: vec![] };
        (json!({"victim_window": ratio, "victim_blocks": most}), order)
    });
}
