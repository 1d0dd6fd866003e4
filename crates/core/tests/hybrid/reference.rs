//! Do the reconstructed FTLs follow their rules? Slow models that answer every question by a
//! scan say where each page must lie after every operation.

use std::collections::VecDeque;

use nandlab::flash::{Flash, Media, ProgramOrder, Ticket};
use nandlab::ftl::{Batch, Ftl, PageWrite};
use nandlab::ledger::Cause;
use nandlab::types::{Lpn, Nanos, Ppn};
use rand_pcg::Pcg64Mcg;
use serde_json::json;

use crate::{below, build, flash, page, shape};

/// Where a page lies: block and slot.
type Place = Option<(usize, usize)>;

/// Blocks as lists of what was programmed; a skipped slot holds nothing.
struct Array {
    slots: usize,
    blocks: Vec<Vec<Option<usize>>>,
    free: VecDeque<usize>,
    newest: Vec<Place>,
    programs: u64,
    erases: u64,
}

impl Array {
    fn new(slots: u32, blocks: u32, logical_pages: u32) -> Self {
        Self {
            slots: slots as usize,
            blocks: vec![Vec::new(); blocks as usize],
            free: (0..blocks as usize).collect(),
            newest: vec![None; logical_pages as usize],
            programs: 0,
            erases: 0,
        }
    }
    fn logical_blocks(&self) -> usize {
        self.newest.len().div_ceil(self.slots)
    }
    /// Addresses of a logical block.
    fn lpns(&self, lbn: usize) -> std::ops::Range<usize> {
        lbn * self.slots..((lbn + 1) * self.slots).min(self.newest.len())
    }
    fn is_full(&self, block: usize) -> bool {
        self.blocks[block].len() == self.slots
    }
    fn append(&mut self, block: usize, lpn: usize) {
        self.program(block, self.blocks[block].len(), lpn);
    }
    fn program(&mut self, block: usize, slot: usize, lpn: usize) {
        assert!(slot >= self.blocks[block].len() && slot < self.slots);
        self.blocks[block].resize(slot, None);
        self.blocks[block].push(Some(lpn));
        self.newest[lpn] = Some((block, slot));
        self.programs += 1;
    }
    /// Pages whose newest copy is in the block, by slot.
    fn valid(&self, block: usize) -> Vec<usize> {
        let slots = self.blocks[block].iter().enumerate();
        slots.filter_map(|(slot, lpn)| lpn.filter(|lpn| self.newest[*lpn] == Some((block, slot)))).collect()
    }
    fn erase(&mut self, block: usize) {
        assert!(self.valid(block).is_empty());
        self.blocks[block].clear();
        self.erases += 1;
    }
}

trait Model {
    fn array(&self) -> &Array;
    /// Consecutive pages.
    fn write(&mut self, run: std::ops::Range<usize>);
    fn trim(&mut self, lpn: usize);
}

struct SuperblockModel {
    array: Array,
    data: usize,
    updates: usize,
    updates_total: usize,
    reserve: Option<usize>,
    /// Blocks, oldest first, the last one added is written; when it was written last.
    groups: Vec<(Vec<usize>, u64)>,
    now: u64,
}

impl SuperblockModel {
    fn new(mut array: Array, data: u32, updates: u32, updates_total: u32) -> Self {
        let reserve = array.free.pop_back();
        let groups = vec![(Vec::new(), 0); array.logical_blocks().div_ceil(data as usize)];
        let (data, updates, updates_total) = (data as usize, updates as usize, updates_total as usize);
        Self { array, data, updates, updates_total, reserve, groups, now: 0 }
    }
    fn data_of(&self, group: usize) -> usize {
        self.data.min(self.array.logical_blocks() - group * self.data)
    }
    fn updates_of(&self, group: usize) -> usize {
        self.groups[group].0.len().saturating_sub(self.data_of(group))
    }
    fn has_room(&self, group: usize) -> bool {
        self.groups[group].0.last().is_some_and(|block| !self.array.is_full(*block))
    }
    fn collect(&mut self, group: usize) {
        let closed = self.groups[group].0.iter().copied().filter(|block| self.array.is_full(*block));
        let victim = closed.min_by_key(|block| self.array.valid(*block).len()).unwrap();
        for lpn in self.array.valid(victim) {
            if !self.has_room(group) {
                let fresh = self.array.free.pop_front().or_else(|| self.reserve.take());
                self.groups[group].0.push(fresh.unwrap());
            }
            self.array.append(*self.groups[group].0.last().unwrap(), lpn);
        }
        self.groups[group].0.retain(|block| *block != victim);
        self.array.erase(victim);
        if self.reserve.is_none() {
            self.reserve = Some(victim);
        } else {
            self.array.free.push_back(victim);
        }
    }
}

impl Model for SuperblockModel {
    fn array(&self) -> &Array {
        &self.array
    }
    fn write(&mut self, run: std::ops::Range<usize>) {
        for lpn in run {
            let group = lpn / self.array.slots / self.data;
            while !self.has_room(group) {
                let all: usize = (0..self.groups.len()).map(|group| self.updates_of(group)).sum();
                let updates = self.updates_of(group);
                if self.groups[group].0.len() < self.data_of(group)
                    || updates < self.updates && all < self.updates_total
                {
                    let fresh = self.array.free.pop_front().unwrap();
                    self.groups[group].0.push(fresh);
                } else if updates > 0 {
                    self.collect(group);
                } else {
                    let others = (0..self.groups.len()).filter(|group| self.updates_of(*group) > 0);
                    let coldest = others.min_by_key(|group| self.groups[*group].1).unwrap();
                    let before = self.groups[coldest].0.len();
                    while self.groups[coldest].0.len() == before {
                        self.collect(coldest);
                    }
                }
            }
            self.now += 1;
            self.groups[group].1 = self.now;
            self.array.append(*self.groups[group].0.last().unwrap(), lpn);
        }
    }
    fn trim(&mut self, lpn: usize) {
        self.array.newest[lpn] = None;
    }
}

struct LastModel {
    array: Array,
    threshold: usize,
    data: Vec<Option<usize>>,
    /// Logical block and its log block, written least recently first.
    sequential: Vec<(usize, usize)>,
    sequential_limit: usize,
    /// Hot and cold: blocks, oldest first, and the most there may be.
    random: [(Vec<usize>, usize); 2],
}

impl LastModel {
    fn take(&mut self) -> usize {
        self.array.free.pop_front().unwrap()
    }
    fn erase(&mut self, block: usize) {
        self.array.erase(block);
        self.array.free.push_back(block);
    }
    /// Copies what `target` misses from slot `from` on, then makes it the data block.
    fn complete(&mut self, lbn: usize, target: usize, from: usize) {
        for lpn in self.array.lpns(lbn).skip(from) {
            if self.array.newest[lpn].is_some() {
                self.array.program(target, lpn % self.array.slots, lpn);
            }
        }
        if let Some(old) = self.data[lbn].replace(target) {
            self.erase(old);
        }
        if let Some(at) = self.sequential.iter().position(|(owner, _)| *owner == lbn) {
            let (_, log) = self.sequential.remove(at);
            if log != target {
                self.erase(log);
            }
        }
    }
    /// True if the first slots of the log block hold the newest copies of offsets 0, 1, 2, ...
    fn is_in_order(&self, lbn: usize, log: usize, count: usize) -> bool {
        let lpns: Vec<usize> = self.array.lpns(lbn).take(count).collect();
        lpns.len() == count && lpns.iter().enumerate().all(|(slot, lpn)| self.array.newest[*lpn] == Some((log, slot)))
    }
    fn full_merge(&mut self, lbn: usize) {
        let fresh = self.take();
        self.complete(lbn, fresh, 0);
    }
    /// A log block with offsets 0, 1, 2, ... in order is completed (by nothing: a switch), any other merged in full.
    fn merge(&mut self, lbn: usize) {
        let log = self.sequential.iter().find(|(owner, _)| *owner == lbn).unwrap().1;
        let written = self.array.blocks[log].len();
        if self.is_in_order(lbn, log, written) {
            self.complete(lbn, log, written);
        } else {
            self.full_merge(lbn);
        }
    }
    fn write_sequential(&mut self, lpn: usize) {
        let lbn = lpn / self.array.slots;
        let own = |model: &Self| model.sequential.iter().position(|(owner, _)| *owner == lbn);
        if own(self).is_some_and(|at| self.array.is_full(self.sequential[at].1)) {
            self.merge(lbn);
        }
        if own(self).is_none() {
            if self.sequential.len() == self.sequential_limit {
                self.merge(self.sequential[0].0);
            }
            let fresh = self.take();
            self.sequential.push((lbn, fresh));
        }
        let entry = self.sequential.remove(own(self).unwrap());
        self.sequential.push(entry);
        self.array.append(entry.1, lpn);
        if self.is_in_order(lbn, entry.1, self.array.lpns(lbn).len()) {
            self.merge(lbn);
        }
    }
    fn write_random(&mut self, lpn: usize) {
        let at = self.array.newest[lpn].map(|(block, _)| block);
        let hot = at.is_some_and(|block| self.random.iter().any(|(blocks, _)| blocks.contains(&block)));
        let partition = usize::from(!hot);
        if self.random[partition].0.last().is_none_or(|block| self.array.is_full(*block)) {
            let (blocks, limit) = &self.random[partition];
            if blocks.len() == *limit {
                let owners = |block: usize| {
                    let mut lbns: Vec<usize> =
                        self.array.valid(block).iter().map(|lpn| lpn / self.array.slots).collect();
                    lbns.sort_unstable();
                    lbns.dedup();
                    lbns.len()
                };
                let victim = blocks.iter().copied().min_by_key(|block| owners(*block)).unwrap();
                self.random[partition].0.retain(|block| *block != victim);
                while let Some(lpn) = self.array.valid(victim).first().copied() {
                    self.full_merge(lpn / self.array.slots);
                }
                self.erase(victim);
            }
            let fresh = self.take();
            self.random[partition].0.push(fresh);
        }
        self.array.append(*self.random[partition].0.last().unwrap(), lpn);
    }
}

impl Model for LastModel {
    fn array(&self) -> &Array {
        &self.array
    }
    fn write(&mut self, run: std::ops::Range<usize>) {
        let is_sequential = run.len() >= self.threshold;
        for lpn in run {
            let (lbn, offset) = (lpn / self.array.slots, lpn % self.array.slots);
            if self.array.newest[lpn].is_none() {
                if self.data[lbn].is_none() {
                    self.data[lbn] = Some(self.take());
                }
                let data = self.data[lbn].unwrap();
                if self.array.blocks[data].len() <= offset {
                    self.array.program(data, offset, lpn);
                    continue;
                }
            }
            if is_sequential {
                self.write_sequential(lpn);
            } else {
                self.write_random(lpn);
            }
        }
    }
    fn trim(&mut self, lpn: usize) {
        self.array.newest[lpn] = None;
    }
}

/// Runs FTL and model side by side.
fn compare(name: &str, ftl: &mut Box<dyn Ftl>, flash: &mut Flash, model: &mut dyn Model, rng: &mut Pcg64Mcg) {
    let logical = model.array().newest.len() as u32;
    let slots = model.array().slots as u32;
    for step in 0..400 {
        let now = Ticket::at(Nanos::ZERO);
        let span = if below(rng, 2) == 0 { logical } else { logical.div_ceil(5) };
        let lpn = below(rng, span);
        if below(rng, 8) == 0 {
            ftl.trim(flash, Lpn(lpn), now);
            model.trim(lpn as usize);
        } else {
            // Whole logical blocks, short runs, single pages.
            let (from, end) = match below(rng, 4) {
                0 => (lpn / slots * slots, lpn / slots * slots + slots),
                1 => (lpn, lpn + 1 + below(rng, slots)),
                _ => (lpn, lpn + 1),
            };
            let run = from..end.min(logical);
            let pages: Vec<PageWrite> = run.clone().map(|lpn| page(lpn, Cause::Host)).collect();
            ftl.write(flash, Batch::new(&pages, &[]), now);
            model.write(run.start as usize..run.end as usize);
        }
        ftl.check(flash);
        let place = |lpn: u32| match ftl.locate(flash, Lpn(lpn)) {
            Ppn::NONE => None,
            ppn => {
                let geometry = flash.geometry();
                Some((geometry.pbn(ppn).index(), geometry.page_in_block(ppn) as usize))
            }
        };
        let places: Vec<Place> = (0..logical).map(place).collect();
        let expected = model.array();
        assert_eq!(places, expected.newest, "{name}, step {step}");
        let counted = (flash.ledger.programs(), flash.ledger.erases());
        assert_eq!(counted, (expected.programs, expected.erases), "{name}, step {step}: programs and erases");
    }
}

#[test]
fn superblock_ftl_follows_its_rules() {
    let mut rng = Pcg64Mcg::new(23);
    let mut erases = 0;
    for _ in 0..60 {
        let pages = 4 + below(&mut rng, 5);
        let logical = pages * (2 + below(&mut rng, 9)) - below(&mut rng, pages);
        let (data, updates, total) = (1 + below(&mut rng, 4), 1 + below(&mut rng, 3), 1 + below(&mut rng, 5));
        let blocks = logical.div_ceil(pages) + total + 1 + below(&mut rng, 3);
        let params = json!({"superblock_blocks": data, "update_blocks": updates, "update_blocks_total": total});
        // It only appends, so that it runs where pages may not be skipped.
        let shape = shape(pages, blocks, logical, ProgramOrder::Strict);
        let mut ftl = build("superblock", &params, &shape).unwrap();
        let mut flash = flash(&shape, Media::None);
        let mut model = SuperblockModel::new(Array::new(pages, blocks, logical), data, updates, total);
        let name = format!("{params}, {blocks} blocks of {pages} for {logical} pages");
        compare(&name, &mut ftl, &mut flash, &mut model, &mut rng);
        erases += flash.ledger.erases();
    }
    assert!(erases > 5_000, "{erases} erases");
}

#[test]
fn last_follows_its_rules() {
    let mut rng = Pcg64Mcg::new(29);
    let mut merges = [0; 4];
    for _ in 0..60 {
        let pages = 4 + below(&mut rng, 5);
        let logical = pages * (2 + below(&mut rng, 9)) - below(&mut rng, pages);
        let [sequential, hot, cold] = [(); 3].map(|()| 1 + below(&mut rng, 4));
        let threshold = 1 + below(&mut rng, 4);
        let blocks = logical.div_ceil(pages) + sequential + hot + cold + 2 + below(&mut rng, 3);
        let params = json!({"seq_blocks": sequential, "hot_blocks": hot, "cold_blocks": cold, "threshold": threshold});
        let shape = shape(pages, blocks, logical, ProgramOrder::Ascending);
        let mut ftl = build("last", &params, &shape).unwrap();
        let mut flash = flash(&shape, Media::None);
        let array = Array::new(pages, blocks, logical);
        let mut model = LastModel {
            threshold: threshold as usize,
            data: vec![None; array.logical_blocks()],
            sequential: Vec::new(),
            sequential_limit: sequential as usize,
            random: [(Vec::new(), hot as usize), (Vec::new(), cold as usize)],
            array,
        };
        let name = format!("{params}, {blocks} blocks of {pages} for {logical} pages");
        compare(&name, &mut ftl, &mut flash, &mut model, &mut rng);
        let l = &flash.ledger;
        let kinds = [l.merges_switch, l.merges_partial, l.merges_full, l.merges_dead];
        merges.iter_mut().zip(kinds).for_each(|(sum, n)| *sum += n);
    }
    assert!(merges.iter().all(|n| *n > 100), "switch, partial, full, dead: {merges:?}");
}
