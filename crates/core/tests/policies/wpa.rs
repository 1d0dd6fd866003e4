//! WPA against a slow reference.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::error::ConfigError;
use nandlab::ledger::Cause;
use nandlab::types::HostOp;
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, rig, run_enough};
use crate::kit::{Dice, Event, submit};

struct WpaReference {
    dram_pages: usize,
    /// The NVRAM is counted in pages, else in blocks.
    in_pages: bool,
    /// That many of them.
    nvram_frames: usize,
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
    fn evict_block(&mut self, done: &mut Vec<Event>) {
        let (lbn, pages) = self.nvram.remove(0);
        done.extend(pages.iter().filter(|(_, dirty)| !**dirty).map(|(lpn, _)| Event::Drop(*lpn)));
        let mut cluster: Vec<u32> = pages.iter().filter(|(_, dirty)| **dirty).map(|(lpn, _)| *lpn).collect();
        cluster.extend(self.dram.iter().map(|page| page.0).filter(|lpn| lpn / self.block == lbn));
        cluster.sort_unstable();
        self.dram.retain(|page| page.0 / self.block != lbn);
        if !cluster.is_empty() {
            done.push(Event::write(&cluster));
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
    fn nvram_used(&self) -> usize {
        if self.in_pages { self.nvram.iter().map(|(_, pages)| pages.len()).sum() } else { self.nvram.len() }
    }
    fn make_nvram_room(&mut self, lpn: u32, done: &mut Vec<Event>) {
        let owns = self.nvram.iter().any(|(block, _)| *block == lpn / self.block);
        let joins = owns && !self.in_pages && !self.when_full;
        if self.nvram_used() >= self.nvram_frames && !joins {
            self.evict_block(done);
        }
    }
    fn demote(&mut self, done: &mut Vec<Event>) {
        let group = |page: &(u32, bool, bool)| 2 * u8::from(page.1) + u8::from(page.2);
        let lowest = self.dram.iter().map(group).min().unwrap();
        let lpn = self.dram.iter().find(|page| group(page) == lowest).unwrap().0;
        if self.nvram_frames == 0 {
            done.push(Event::write(&[lpn]));
            self.remember(&[lpn]);
        } else {
            self.make_nvram_room(lpn, done);
            if self.dram.iter().any(|page| page.0 == lpn) {
                self.enter_nvram(lpn, true);
            }
        }
        self.dram.retain(|page| page.0 != lpn);
    }
}

impl Reference for WpaReference {
    fn access(&mut self, lpn: u32, write: bool, done: &mut Vec<Event>) {
        let found = Event::Access { lpn, write, hit: true };
        if let Some(at) = self.dram.iter().position(|page| page.0 == lpn) {
            let (_, reref, ow) = self.dram.remove(at);
            self.dram.push((lpn, reref, ow || write));
            return done.push(found);
        }
        if let Some(dirty) = self.nvram.iter().find_map(|(_, pages)| pages.get(&lpn)).copied() {
            self.enter_nvram(lpn, dirty || write);
            return done.push(found);
        }
        if !write {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        }
        if write && self.dram_pages > 0 {
            if self.dram.len() >= self.dram_pages {
                self.demote(done);
            }
            let known = self.pel.contains(&lpn);
            if known && self.remove_on_hit {
                self.pel.retain(|l| *l != lpn);
            }
            self.dram.push((lpn, known, false));
        } else if self.nvram_frames > 0 {
            self.make_nvram_room(lpn, done);
            self.enter_nvram(lpn, write);
        } else if write {
            done.push(Event::write(&[lpn]));
        }
        done.push(Event::Access { lpn, write, hit: false });
    }
    fn trim(&mut self, lpn: u32) {
        self.dram.retain(|page| page.0 != lpn);
        self.nvram.iter_mut().for_each(|(_, pages)| {
            pages.remove(&lpn);
        });
        self.nvram.retain(|(_, pages)| !pages.is_empty());
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut blocks: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for page in self.dram.drain(..) {
            blocks.entry(page.0 / self.block).or_default().push(page.0);
        }
        for lpns in blocks.values_mut() {
            lpns.sort_unstable();
            done.push(Event::write(lpns));
        }
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.dram_pages = frames.dram as usize;
        self.nvram_frames = nvram_frames(frames, self.in_pages, self.block);
        self.remember(&[]);
        while self.dram.len() > self.dram_pages {
            self.demote(done);
        }
        while self.nvram_used() > self.nvram_frames {
            self.evict_block(done);
        }
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

fn nvram_frames(frames: Frames, in_pages: bool, block: u32) -> usize {
    (if in_pages { frames.nvram } else { frames.nvram / block }) as usize
}

/// A device of 250 pages, nothing of it written.
fn shape(dram: u32, nvram: u32, block_pages: u32) -> Run {
    Run { logical_pages: 250, block_pages, frames: dram, nvram, filled: false, roomy: false }
}

/// Runs WPA and the reference with random parameters.
fn compare_all(seed: u64, in_pages: bool) {
    let make = |random: &mut Dice| {
        let block = 2 + random.below(7);
        let blocks = (1 + random.below(6)) * block;
        let nvram = if in_pages { 1 + random.below(blocks) } else { blocks };
        Run { filled: random.one_in(2), ..shape(1 + random.below(16), nvram, block) }
    };
    run_enough(seed, make, |run, random, label| {
        let frames = Frames { dram: run.frames, nvram: run.nvram };
        let pel_size = random.one_in(2).then(|| random.below(20));
        let (remove_on_hit, when_full) = (random.one_in(2), random.one_in(3));
        let mut params =
            json!({"pel_size": pel_size, "pel_remove_on_hit": remove_on_hit, "evict_when_full": when_full});
        if in_pages {
            params["nvram_unit"] = json!("page");
        }
        let mut reference = WpaReference {
            dram_pages: frames.dram as usize,
            in_pages,
            nvram_frames: nvram_frames(frames, in_pages, run.block_pages),
            block: run.block_pages,
            pel_size: pel_size.map(|n| n as usize),
            remove_on_hit,
            when_full,
            dram: Vec::new(),
            nvram: Vec::new(),
            pel: Vec::new(),
        };
        let label = format!("{label}, {params}");
        compare(&label, &mut *device("wpa", params, run), &mut reference, run, random, 1500)
    });
}

#[test]
fn wpa_decides_like_a_plain_reference() {
    compare_all(71, false);
}

#[test]
fn wpa_with_an_nvram_of_pages_decides_like_a_plain_reference() {
    compare_all(72, true);
}

/// Why a policy refuses its memories.
fn refused(policy: &str, params: Value, dram: u32, nvram: u32) -> ConfigError {
    let rig = rig(&shape(dram, nvram, 4));
    rig.try_device(policy, params, rig.ftl()).err().expect("it is refused")
}

#[test]
fn wpa_is_refused_without_a_block_frame() {
    for (dram, nvram, key) in [(0, 8, "ram"), (4, 3, "ram.nvram")] {
        let error = refused("wpa", json!({}), dram, nvram);
        assert_eq!(error.key, key, "{error}");
    }
}

#[test]
fn nvram_of_pages_may_be_smaller_than_a_block() {
    for policy in ["wpa", "clock-dnv"] {
        let params = json!({"nvram_unit": "page"});
        device(policy, params.clone(), &shape(4, 1, 4));
        let error = refused(policy, params, 4, 0);
        assert_eq!(error.key, "ram.nvram", "{error}");
    }
}

/// One page of every block is read: block frames hold one page each, pages fill the NVRAM.
#[test]
fn scattered_reads_fill_an_nvram_of_pages_only() {
    for (policy, op) in [("wpa", HostOp::Read), ("clock-dnv", HostOp::Write)] {
        let held = |unit| {
            let mut device = device(policy, json!({"nvram_unit": unit}), &shape(2, 20, 5));
            (0..40).for_each(|block| submit(&mut *device, op, 5 * block, 1));
            device.slots().used().nvram
        };
        assert_eq!((held("block"), held("page")), (4, 20), "{policy}");
    }
}
