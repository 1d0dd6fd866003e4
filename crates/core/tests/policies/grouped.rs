//! A policy that evicts whole logical blocks as plainly as it can be written: which block is the next victim. All else is
//! the same for all of them.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::harness::{Reference, Run, compare, device, enough_runs};
use crate::kit::{Dice, Event};

/// Resident pages: whether they are dirty.
pub struct Buffered {
    logical_pages: u32,
    block_pages: u32,
    resident: BTreeMap<u32, bool>,
}

impl Buffered {
    pub fn block(&self, lpn: u32) -> u32 {
        lpn / self.block_pages
    }
    /// Buffered pages of a block, ascending.
    pub fn of(&self, block: u32) -> Vec<u32> {
        self.resident.keys().copied().filter(|lpn| self.block(*lpn) == block).collect()
    }
    /// All pages of a block; the last one may be short.
    pub fn all_of(&self, block: u32) -> Vec<u32> {
        (0..self.logical_pages).filter(|lpn| self.block(*lpn) == block).collect()
    }
    pub fn is_full(&self, block: u32) -> bool {
        self.of(block) == self.all_of(block)
    }
    fn part(&self, block: u32, dirty: bool) -> Vec<u32> {
        self.of(block).into_iter().filter(|lpn| self.resident[lpn] == dirty).collect()
    }
    /// A block in the form of the golden files.
    pub fn golden(&self, block: u32) -> Value {
        json!({"block": block, "pages": self.of(block)})
    }
    pub fn golden_list(&self, blocks: &[u32]) -> Value {
        blocks.iter().map(|block| self.golden(*block)).collect()
    }
    pub fn golden_split(&self, blocks: &[u32]) -> Value {
        let split =
            |block: &u32| json!({"block": block, "dirty": self.part(*block, true), "clean": self.part(*block, false)});
        blocks.iter().map(split).collect()
    }
}

/// Which pages flash holds.
pub struct Flash {
    holds: Vec<bool>,
    /// Pages that were sent to it.
    pub programmed: u64,
}

impl Flash {
    pub fn new(run: &Run) -> Self {
        Self { holds: vec![run.filled; run.logical_pages as usize], programmed: 0 }
    }
    pub fn trim(&mut self, lpn: u32) {
        self.holds[lpn as usize] = false;
    }
    pub fn send(&mut self, lpns: Vec<u32>, padded: Vec<u32>, done: &mut Vec<Event>) {
        for lpn in &lpns {
            self.holds[*lpn as usize] = true;
        }
        self.programmed += lpns.len() as u64;
        done.push(Event::Write { lpns, padded });
    }
    /// Writes a whole block: what is neither dirty nor a clean copy in RAM is read first, and left out if it was never
    /// written.
    pub fn complete(&mut self, dirty: &[u32], whole: &[u32], clean: &[u32], done: &mut Vec<Event>) {
        let missing: Vec<u32> = whole.iter().copied().filter(|lpn| !dirty.contains(lpn)).collect();
        let fetched: Vec<u32> = missing.iter().copied().filter(|lpn| !clean.contains(lpn)).collect();
        if !fetched.is_empty() {
            done.push(Event::Read(Cause::Pad, fetched));
        }
        let known = |lpn: &u32| clean.contains(lpn) || self.holds[*lpn as usize];
        let padded: Vec<u32> = missing.into_iter().filter(known).collect();
        let mut lpns = [dirty, &padded].concat();
        lpns.sort_unstable();
        self.send(lpns, padded, done);
    }
}

/// Whether a block with that many dirty pages is completed. Rounded, so that a share that is not a binary fraction does
/// not miss by its last bit.
pub fn pads(share: f64, dirty: &[u32], whole: &[u32]) -> bool {
    !dirty.is_empty() && dirty.len() < whole.len() && dirty.len() as f64 >= share * whole.len() as f64 - 1e-9
}

/// The order in which blocks leave.
pub trait Order {
    /// Pages that were read are kept too.
    fn caches_reads(&self) -> bool {
        false
    }
    /// Every run of consecutive pages is a command of its own, unless the block is padded.
    fn writes_runs(&self) -> bool {
        false
    }
    /// A page that misses finds the buffer full and is read past it.
    fn evicts_for_reads(&self) -> bool {
        false
    }
    /// Before anything else is done for the page.
    fn look(&mut self, _lpn: u32, _pages: &Buffered) {}
    /// The page was found.
    fn hit(&mut self, lpn: u32, is_write: bool, pages: &Buffered);
    /// The page is in the buffer now.
    fn insert(&mut self, lpn: u32, pages: &Buffered);
    /// Takes out the block that leaves: for a page, or because there are fewer frames.
    fn victim(&mut self, incoming: Option<u32>, pages: &Buffered) -> u32;
    /// A page of the block left without an eviction; perhaps it was the last one.
    fn lost(&mut self, block: u32, pages: &Buffered);
    fn state(&self, pages: &Buffered) -> Value;
}

/// When an incomplete victim is completed.
pub enum Padding {
    /// From this share of the block's pages on; never at 1.
    Share(f64),
    Aalru(Amplification),
}

/// AALRU's threshold in pages of a whole block, new at the first eviction after every 8192 pages of finished requests.
pub struct Amplification {
    pub threshold: f64,
    /// Pages of finished requests and of the one that runs, programs of the FTL and of pages that the buffer sent.
    pub accesses: u64,
    pub request: u64,
    pub below: u64,
    pub above: u64,
    /// The same when the period began.
    pub start: [u64; 3],
    /// How often the threshold was neither 0 nor a whole block.
    pub between: u64,
}

impl Amplification {
    fn look(&mut self, block_pages: u32) {
        if self.accesses - self.start[0] < 8192 {
            return;
        }
        let [below, above] = [self.below - self.start[1], self.above - self.start[2]];
        self.start = [self.accesses, self.below, self.above];
        if above == 0 {
            return;
        }
        let wf = (below + above) as f64 / above as f64;
        let whole = f64::from(block_pages);
        self.threshold = match wf {
            _ if wf <= 1.0 => whole,
            _ if wf >= 5.0 => 0.0,
            _ => whole - whole / 5.0 * wf,
        };
        self.between += u64::from(self.threshold > 0.0 && self.threshold < whole);
    }
}

/// A buffer around an order.
pub struct Grouped<O> {
    pub frames: u32,
    pub pages: Buffered,
    pub padding: Padding,
    pub flash: Flash,
    pub order: O,
}

impl<O: Order> Grouped<O> {
    pub fn new(run: &Run, padding: Padding, order: O) -> Self {
        let Run { logical_pages, block_pages, frames, .. } = *run;
        let pages = Buffered { logical_pages, block_pages, resident: BTreeMap::new() };
        Self { frames, pages, padding, flash: Flash::new(run), order }
    }
    fn share(&mut self) -> f64 {
        match &mut self.padding {
            Padding::Share(share) => *share,
            Padding::Aalru(wf) => {
                wf.above = self.flash.programmed;
                wf.look(self.pages.block_pages);
                wf.threshold / f64::from(self.pages.block_pages)
            }
        }
    }
    fn send(&mut self, lpns: Vec<u32>, done: &mut Vec<Event>) {
        self.flash.send(lpns, vec![], done);
    }
    fn evict(&mut self, incoming: Option<u32>, done: &mut Vec<Event>) {
        let block = self.order.victim(incoming, &self.pages);
        let (dirty, clean) = (self.pages.part(block, true), self.pages.part(block, false));
        let whole = self.pages.all_of(block);
        let share = self.share();
        if pads(share, &dirty, &whole) {
            self.flash.complete(&dirty, &whole, &clean, done);
        } else if self.order.writes_runs() {
            for run in dirty.chunk_by(|a, b| a + 1 == *b) {
                self.send(run.to_vec(), done);
            }
        } else if !dirty.is_empty() {
            self.send(dirty, done);
        }
        done.extend(clean.into_iter().map(Event::Drop));
        let Buffered { block_pages, resident, .. } = &mut self.pages;
        resident.retain(|lpn, _| lpn / *block_pages != block);
    }
}

impl<O: Order> Reference for Grouped<O> {
    fn begin(&mut self, pages: u32, from_below: u64) {
        if let Padding::Aalru(wf) = &mut self.padding {
            wf.accesses += wf.request;
            wf.request = u64::from(pages);
            wf.below = from_below;
        }
    }
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        self.order.look(lpn, &self.pages);
        let hit = self.pages.resident.contains_key(&lpn);
        let enters = is_write || self.order.caches_reads();
        let is_full = self.pages.resident.len() >= self.frames as usize;
        if hit {
            *self.pages.resident.get_mut(&lpn).unwrap() |= is_write;
            self.order.hit(lpn, is_write, &self.pages);
        } else if enters {
            if is_full {
                self.evict(Some(lpn), done);
            }
            if !is_write {
                done.push(Event::Read(Cause::Host, vec![lpn]));
            }
            self.pages.resident.insert(lpn, is_write);
            self.order.insert(lpn, &self.pages);
        } else {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        }
        done.push(Event::Access { lpn, write: is_write, hit });
        if !hit && !enters && is_full && self.order.evicts_for_reads() {
            self.evict(Some(lpn), done);
        }
    }
    fn trim(&mut self, lpn: u32) {
        self.flash.trim(lpn);
        if self.pages.resident.remove(&lpn).is_some() {
            self.order.lost(self.pages.block(lpn), &self.pages);
        }
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        for block in 0..self.pages.logical_pages.div_ceil(self.pages.block_pages) {
            let dirty = self.pages.part(block, true);
            if dirty.is_empty() {
                continue;
            }
            self.send(dirty.clone(), done);
            for lpn in dirty {
                if self.order.caches_reads() {
                    self.pages.resident.insert(lpn, false);
                } else {
                    self.pages.resident.remove(&lpn);
                    self.order.lost(block, &self.pages);
                }
            }
        }
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.frames = frames.dram;
        while self.pages.resident.len() > self.frames as usize {
            self.evict(None, done);
        }
    }
    fn state(&self) -> Value {
        self.order.state(&self.pages)
    }
}

/// A random rule of padding: its parameter, and from which share on.
pub fn padding(random: &mut Dice) -> (Value, f64) {
    let share = f64::from(random.below(101)) / 100.0;
    [(json!("never"), 1.0), (json!("always"), 0.0), (json!(0.5), 0.5), (json!(share), share)][random.below(4) as usize]
        .clone()
}

/// Compares a policy with its order on random devices; `choose` draws parameters and builds the order. The rule of padding
/// is drawn here.
pub fn check<O: Order>(policy: &str, seed: u64, mut choose: impl FnMut(&mut Dice, &Run) -> (Value, O)) {
    enough_runs(seed, true, |run, random, label| {
        let (mut params, order) = choose(random, run);
        let (rule, share) = padding(random);
        params["padding"] = rule;
        let label = format!("{label}, {params}");
        let mut reference = Grouped::new(run, Padding::Share(share), order);
        compare(&label, &mut *device(policy, params, run), &mut reference, run, random, 600)
    });
}
