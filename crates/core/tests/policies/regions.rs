//! cfdc and vbbms.

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, enough_runs};
use super::paged::half_up;
use crate::kit::{Dice, Event};

/// A dirty cluster: its pages from the one that was demoted first on.
struct Cluster {
    number: u32,
    pages: Vec<u32>,
    stamp: u64,
    frozen: bool,
}

impl Cluster {
    /// Numerator and denominator of the priority.
    fn priority(&self, global_time: u64) -> (u64, u64) {
        let distance: u32 = self.pages.windows(2).map(|pair| pair[0].abs_diff(pair[1])).sum();
        let n = self.pages.len() as u64;
        let ipd = if n == 1 { 1 } else { u64::from(distance) };
        (if self.frozen { 0 } else { ipd }, n * n * 1.max(global_time - self.stamp))
    }
}

/// The regions most recent first.
struct Cfdc {
    frames: u32,
    ratio: f64,
    cluster_pages: u32,
    block_pages: u32,
    whole_clusters: bool,
    working: Vec<(u32, bool)>,
    clean: Vec<u32>,
    clusters: Vec<Cluster>,
    global_time: u64,
}

impl Cfdc {
    fn resident(&self) -> usize {
        self.working.len() + self.clean.len() + self.clusters.iter().map(|cluster| cluster.pages.len()).sum::<usize>()
    }
    fn settle(&mut self) {
        while self.working.len() > self.frames as usize - half_up(self.ratio, self.frames) {
            let (lpn, dirty) = self.working.pop().unwrap();
            if !dirty {
                self.clean.insert(0, lpn);
                continue;
            }
            let number = lpn / self.cluster_pages;
            if let Some(cluster) = self.clusters.iter_mut().find(|cluster| cluster.number == number) {
                cluster.pages.push(lpn);
            } else {
                let stamp = self.global_time;
                self.clusters.push(Cluster { number, pages: vec![lpn], stamp, frozen: false });
            }
            self.global_time += 1;
        }
    }
    /// Takes a page out: whether it was dirty, or `None` if it is not resident.
    fn take(&mut self, lpn: u32, is_hit: bool) -> Option<bool> {
        if let Some(at) = self.working.iter().position(|page| page.0 == lpn) {
            return Some(self.working.remove(at).1);
        }
        if let Some(at) = self.clean.iter().position(|page| *page == lpn) {
            self.clean.remove(at);
            return Some(false);
        }
        let cluster = self.clusters.iter_mut().find(|cluster| cluster.pages.contains(&lpn))?;
        cluster.pages.retain(|page| *page != lpn);
        if is_hit {
            cluster.stamp = self.global_time;
        }
        self.clusters.retain(|cluster| !cluster.pages.is_empty());
        Some(true)
    }
    fn evict(&mut self, done: &mut Vec<Event>) {
        self.settle();
        if let Some(lpn) = self.clean.pop() {
            return done.push(Event::Drop(lpn));
        }
        let now = self.global_time;
        let key = |cluster: &Cluster| {
            let (a, b) = cluster.priority(now);
            (a as f64 / b as f64, cluster.stamp, cluster.number)
        };
        let lowest = (0..self.clusters.len())
            .min_by(|a, b| key(&self.clusters[*a]).partial_cmp(&key(&self.clusters[*b])).unwrap());
        let Some(lowest) = lowest else {
            let (lpn, dirty) = self.working.pop().unwrap();
            return done.push(if dirty { Event::write(&[lpn]) } else { Event::Drop(lpn) });
        };
        if self.whole_clusters {
            let mut pages = self.clusters.remove(lowest).pages;
            pages.sort_unstable();
            return done.push(Event::write(&pages));
        }
        self.clusters[lowest].frozen = true;
        let oldest = self.clusters[lowest].pages[0];
        self.take(oldest, false);
        done.push(Event::write(&[oldest]));
    }
}

impl Reference for Cfdc {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let found = self.take(lpn, true);
        if found.is_none() {
            while self.resident() >= self.frames as usize {
                self.evict(done);
            }
            if !is_write {
                done.push(Event::Read(Cause::Host, vec![lpn]));
            }
        }
        self.working.insert(0, (lpn, is_write || found == Some(true)));
        self.settle();
        done.push(Event::Access { lpn, write: is_write, hit: found.is_some() });
    }
    fn trim(&mut self, lpn: u32) {
        self.take(lpn, false);
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut dirty: Vec<u32> = self.working.iter().filter(|page| page.1).map(|page| page.0).collect();
        self.working.iter_mut().for_each(|page| page.1 = false);
        let mut demoted: Vec<u32> = self.clusters.drain(..).flat_map(|cluster| cluster.pages).collect();
        demoted.sort_unstable();
        dirty.extend(&demoted);
        dirty.sort_unstable();
        let together = |a: &u32, b: &u32| self.whole_clusters && a / self.block_pages == b / self.block_pages;
        done.extend(dirty.chunk_by(together).map(Event::write));
        for lpn in demoted {
            self.clean.insert(0, lpn);
        }
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.frames = frames.dram;
        while self.resident() > self.frames as usize {
            self.evict(done);
        }
    }
    fn state(&self) -> Value {
        let page = |(lpn, dirty): &(u32, bool)| json!({"lpn": lpn, "dirty": u8::from(*dirty)});
        let mut clusters: Vec<&Cluster> = self.clusters.iter().collect();
        clusters.sort_by_key(|cluster| cluster.number);
        let cluster = |cluster: &&Cluster| {
            let (a, b) = cluster.priority(self.global_time);
            let divisor = (1..=b).rev().find(|n| a.is_multiple_of(*n) && b.is_multiple_of(*n)).unwrap();
            let priority = if b == divisor { (a / b).to_string() } else { format!("{}/{}", a / divisor, b / divisor) };
            json!({
                "block": cluster.number, "pages_oldest_first": cluster.pages, "ts": cluster.stamp,
                "frozen": u8::from(cluster.frozen), "priority": priority,
            })
        };
        json!({
            "working": self.working.iter().map(page).collect::<Vec<_>>(),
            "clean": self.clean.iter().map(|lpn| page(&(*lpn, false))).collect::<Vec<_>>(),
            "clusters": clusters.iter().map(cluster).collect::<Vec<_>>(), "globaltime": self.global_time,
        })
    }
}

fn cfdc(run: &Run, random: &mut Dice) -> (Value, Cfdc) {
    let ratio = [0.0, 0.5, 1.0, f64::from(random.below(101)) / 100.0][random.below(4) as usize];
    let given = [None, Some(1), Some(16), Some(1 + random.below(20))][random.below(4) as usize];
    let whole_clusters = random.one_in(2);
    let writeback = if whole_clusters { "cluster" } else { "page" };
    let reference = Cfdc {
        frames: run.frames,
        ratio,
        cluster_pages: given.unwrap_or(run.block_pages),
        block_pages: run.block_pages,
        whole_clusters,
        working: vec![],
        clean: vec![],
        clusters: vec![],
        global_time: 0,
    };
    (json!({"priority_ratio": ratio, "cluster_pages": given, "writeback": writeback}), reference)
}

#[test]
fn cfdc_evicts_clean_pages_first_and_then_the_cluster_of_least_priority() {
    enough_runs(61, false, |run, random, label| {
        let (params, mut reference) = cfdc(run, random);
        let label = format!("{label}, {params}");
        compare(&label, &mut *device("cfdc", params, run), &mut reference, run, random, 500)
    });
}

/// Virtual blocks with their pages and dirty bits, newest first.
struct Region {
    block: u32,
    quota: u32,
    blocks: Vec<(u32, Vec<(u32, bool)>)>,
}

impl Region {
    fn used(&self, reserves: bool) -> u32 {
        if reserves {
            self.blocks.len() as u32 * self.block
        } else {
            self.blocks.iter().map(|b| b.1.len() as u32).sum()
        }
    }
    fn evict(&mut self, done: &mut Vec<Event>) {
        let pages = self.blocks.pop().unwrap().1;
        let dirty: Vec<u32> = pages.iter().filter(|page| page.1).map(|page| page.0).collect();
        if !dirty.is_empty() {
            done.push(Event::write(&dirty));
        }
        done.extend(pages.iter().filter(|page| !page.1).map(|page| Event::Drop(page.0)));
    }
}

struct Vbbms {
    block_pages: u32,
    ratio: [u32; 2],
    seq_min_pages: u32,
    reserves: bool,
    request: u32,
    /// Dice, sequential.
    regions: [Region; 2],
}

impl Vbbms {
    fn share_out(&mut self, frames: u32) {
        let [random, sequential] = self.ratio.map(f64::from);
        self.regions[0].quota = half_up(random / (random + sequential), frames) as u32;
        self.regions[1].quota = frames - self.regions[0].quota;
    }
}

impl Reference for Vbbms {
    fn begin(&mut self, pages: u32, _: u64) {
        self.request = pages;
    }
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        for (kind, region) in self.regions.iter_mut().enumerate() {
            let at = region.blocks.iter().position(|block| block.1.iter().any(|page| page.0 == lpn));
            let Some(at) = at else { continue };
            let page = region.blocks[at].1.iter_mut().find(|page| page.0 == lpn).unwrap();
            page.1 |= is_write;
            if kind == 0 {
                let block = region.blocks.remove(at);
                region.blocks.insert(0, block);
            }
            return done.push(Event::Access { lpn, write: is_write, hit: true });
        }
        let kind = usize::from(self.request >= self.seq_min_pages);
        let reserves = self.reserves;
        let region = &mut self.regions[kind];
        if region.quota < if reserves { region.block } else { 1 } {
            done.push(if is_write { Event::write(&[lpn]) } else { Event::Read(Cause::Host, vec![lpn]) });
            return done.push(Event::Access { lpn, write: is_write, hit: false });
        }
        let number = lpn / region.block;
        let owns = |region: &Region| region.blocks.iter().any(|block| block.0 == number);
        let need = |region: &Region| match reserves {
            true if owns(region) => 0,
            true => region.block,
            false => 1,
        };
        while region.used(reserves) + need(region) > region.quota && need(region) > 0 {
            region.evict(done);
        }
        if !is_write {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        }
        match region.blocks.iter().position(|block| block.0 == number) {
            None => region.blocks.insert(0, (number, vec![(lpn, is_write)])),
            Some(at) => {
                region.blocks[at].1.push((lpn, is_write));
                region.blocks[at].1.sort_unstable();
                if kind == 0 {
                    let block = region.blocks.remove(at);
                    region.blocks.insert(0, block);
                }
            }
        }
        done.push(Event::Access { lpn, write: is_write, hit: false });
    }
    fn trim(&mut self, lpn: u32) {
        for region in &mut self.regions {
            region.blocks.iter_mut().for_each(|block| block.1.retain(|page| page.0 != lpn));
            region.blocks.retain(|block| !block.1.is_empty());
        }
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut dirty = vec![];
        for (lpn, is_dirty) in self.regions.iter_mut().flat_map(|region| &mut region.blocks).flat_map(|b| &mut b.1) {
            if std::mem::take(is_dirty) {
                dirty.push(*lpn);
            }
        }
        dirty.sort_unstable();
        done.extend(dirty.chunk_by(|a, b| a / self.block_pages == b / self.block_pages).map(Event::write));
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.share_out(frames.dram);
        for region in &mut self.regions {
            while region.used(self.reserves) > region.quota {
                region.evict(done);
            }
        }
    }
    fn state(&self) -> Value {
        let block = |(number, pages): &(u32, Vec<(u32, bool)>)| {
            let part = |dirty| pages.iter().filter(|page| page.1 == dirty).map(|page| page.0).collect::<Vec<_>>();
            json!({"vblock": number, "dirty": part(true), "clean": part(false)})
        };
        let [random, sequential] =
            self.regions.each_ref().map(|region| region.blocks.iter().map(block).collect::<Vec<_>>());
        json!({"rrsr_lru": random, "srsr_fifo": sequential})
    }
}

#[test]
fn vbbms_keeps_random_and_sequential_requests_apart() {
    enough_runs(62, false, |run, random, label| {
        let run = &Run { frames: run.frames.max(2), logical_pages: run.logical_pages + 1, ..*run };
        let ratio =
            [[1, 1], [3, 2], [0, 1], [1, 0], [1 + random.below(5), 1 + random.below(5)]][random.below(5) as usize];
        let blocks = [[3, 4], [1, 1], [1 + random.below(9), 1 + random.below(9)]][random.below(3) as usize];
        let (seq_min_pages, reserves) = (1 + random.below(6), random.one_in(2));
        let params = json!({
            "ratio": ratio, "vb_random": blocks[0], "vb_seq": blocks[1], "seq_min_pages": seq_min_pages,
            "reserve_frames": reserves,
        });
        let regions = blocks.map(|block| Region { block, quota: 0, blocks: vec![] });
        let mut reference = Vbbms { block_pages: run.block_pages, ratio, seq_min_pages, reserves, request: 0, regions };
        reference.share_out(run.frames);
        let label = format!("{label}, {params}");
        compare(&label, &mut *device("vbbms", params, run), &mut reference, run, random, 500)
    });
}
