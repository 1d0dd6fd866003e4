//! cbm-r and clock-dnv: DRAM and NVRAM.

use std::collections::BTreeMap;

use nandlab::buffer::Frames;
use nandlab::ledger::Cause;
use serde_json::{Value, json};

use super::grouped::{Flash, padding, pads};
use super::harness::{Reference, Run, compare, device, run_enough};
use super::paged::{take, to_front};
use crate::kit::{Dice, Event};

/// A device with NVRAM of at least one block.
fn hybrid_run(random: &mut Dice) -> Run {
    let block_pages = [2, 3, 4, 8, 64, 70][random.below(6) as usize];
    let frames = 1 + random.below(30);
    let nvram = block_pages + random.below(7 * block_pages.min(20));
    let logical_pages = frames + nvram + block_pages + random.below(4 * (frames + nvram));
    Run { logical_pages, block_pages, frames, nvram, filled: random.one_in(2), roomy: false }
}

fn enough_hybrid_runs(seed: u64, one: impl FnMut(&Run, &mut Dice, &str) -> u64) {
    run_enough(seed, hybrid_run, one);
}

/// All pages of a block.
fn whole(run: &Run, block: u32) -> Vec<u32> {
    (0..run.logical_pages).filter(|lpn| lpn / run.block_pages == block).collect()
}

/// A block of the block region.
struct Block {
    number: u32,
    /// Ascending.
    pages: Vec<u32>,
    popularity: u64,
}

/// All lists most recent first.
struct Cbm<'a> {
    run: &'a Run,
    flash: Flash,
    frames: Frames,
    thr_migrate: usize,
    lru: bool,
    /// On a full write buffer the oldest page moves.
    moves: bool,
    share: f64,
    read_cache: Vec<u32>,
    page_region: Vec<u32>,
    block_region: Vec<Block>,
}

impl Cbm<'_> {
    fn written_pages(&self) -> usize {
        self.page_region.len() + self.block_region.iter().map(|block| block.pages.len()).sum::<usize>()
    }
    fn block_of(&mut self, lpn: u32) -> Option<&mut Block> {
        let number = lpn / self.run.block_pages;
        self.block_region.iter_mut().find(|block| block.number == number)
    }
    /// A write to a block of the block region.
    fn written(&mut self, number: u32) {
        let at = self.block_region.iter().position(|block| block.number == number).unwrap();
        let mut block = self.block_region.remove(at);
        block.popularity += 1;
        self.block_region.insert(0, block);
    }
    fn migrate(&mut self, number: u32) {
        let block_pages = self.run.block_pages;
        let mut pages: Vec<u32> = self.page_region.iter().copied().filter(|lpn| lpn / block_pages == number).collect();
        pages.sort_unstable();
        self.page_region.retain(|lpn| lpn / block_pages != number);
        let popularity = pages.len() as u64;
        self.block_region.insert(0, Block { number, pages, popularity });
    }
    /// `moving` is a page of the read cache that is on its way here.
    fn evict_block(&mut self, moving: Option<u32>, done: &mut Vec<Event>) {
        if self.moves
            && let Some(oldest) = self.page_region.pop()
        {
            if let Some(block) = self.block_of(oldest) {
                block.pages.push(oldest);
                block.pages.sort_unstable();
            } else {
                let number = oldest / self.run.block_pages;
                self.block_region.insert(0, Block { number, pages: vec![oldest], popularity: 1 });
            }
        } else if self.block_region.is_empty() {
            self.migrate(self.page_region.last().unwrap() / self.run.block_pages);
        }
        let mut victim = self.block_region.len() - 1;
        if !self.lru {
            for at in (0..victim).rev() {
                let (new, old) = (&self.block_region[at], &self.block_region[victim]);
                let larger = new.popularity == old.popularity && new.pages.len() > old.pages.len();
                if new.popularity < old.popularity || larger {
                    victim = at;
                }
            }
        }
        let Block { number, pages, .. } = self.block_region.remove(victim);
        let all = whole(self.run, number);
        if pads(self.share, &pages, &all) {
            // All that is in RAM need not be read, though it be of the page region and stay there.
            let in_ram: Vec<u32> = self.read_cache.iter().chain(&self.page_region).copied().chain(moving).collect();
            self.flash.complete(&pages, &all, &in_ram, done);
        } else {
            self.flash.send(pages, vec![], done);
        }
    }
    /// The page comes into the write buffer.
    fn enter(&mut self, lpn: u32, was_read: bool, done: &mut Vec<Event>) {
        while self.written_pages() >= self.frames.nvram as usize {
            self.evict_block(was_read.then_some(lpn), done);
        }
        let number = lpn / self.run.block_pages;
        if let Some(block) = self.block_of(lpn) {
            block.pages.push(lpn);
            block.pages.sort_unstable();
            return self.written(number);
        }
        self.page_region.insert(0, lpn);
        let block_pages = self.run.block_pages;
        if self.page_region.iter().filter(|page| *page / block_pages == number).count() >= self.thr_migrate {
            self.migrate(number);
        }
    }
}

impl Reference for Cbm<'_> {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let hit = Event::Access { lpn, write: is_write, hit: true };
        if self.block_of(lpn).is_some_and(|block| block.pages.contains(&lpn)) {
            if is_write {
                self.written(lpn / self.run.block_pages);
            }
            done.push(hit);
        } else if self.page_region.contains(&lpn) {
            to_front(&mut self.page_region, lpn);
            done.push(hit);
        } else if self.read_cache.contains(&lpn) {
            done.push(hit);
            if !is_write {
                return to_front(&mut self.read_cache, lpn);
            }
            take(&mut self.read_cache, lpn);
            if self.frames.nvram == 0 {
                self.flash.send(vec![lpn], vec![], done);
            } else {
                self.enter(lpn, true, done);
            }
        } else {
            if is_write && self.frames.nvram > 0 {
                self.enter(lpn, false, done);
            } else if is_write {
                self.flash.send(vec![lpn], vec![], done);
            } else {
                if self.frames.dram > 0 && self.read_cache.len() >= self.frames.dram as usize {
                    done.push(Event::Drop(self.read_cache.pop().unwrap()));
                }
                done.push(Event::Read(Cause::Host, vec![lpn]));
                if self.frames.dram > 0 {
                    self.read_cache.insert(0, lpn);
                }
            }
            done.push(Event::Access { lpn, write: is_write, hit: false });
        }
    }
    fn trim(&mut self, lpn: u32) {
        self.flash.trim(lpn);
        self.read_cache.retain(|page| *page != lpn);
        self.page_region.retain(|page| *page != lpn);
        self.block_region.iter_mut().for_each(|block| block.pages.retain(|page| *page != lpn));
        self.block_region.retain(|block| !block.pages.is_empty());
    }
    /// Nothing in DRAM is dirty.
    fn flush(&mut self, _: &mut Vec<Event>) {}
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.frames = frames;
        while self.read_cache.len() > frames.dram as usize {
            done.push(Event::Drop(self.read_cache.pop().unwrap()));
        }
        while self.written_pages() > frames.nvram as usize {
            self.evict_block(None, done);
        }
    }
    fn state(&self) -> Value {
        let block =
            |block: &Block| json!({"block": block.number, "pages": block.pages, "popularity": block.popularity});
        json!({
            "read_cache": self.read_cache, "page_region": self.page_region,
            "block_region": self.block_region.iter().map(block).collect::<Vec<_>>(),
        })
    }
}

#[test]
fn cbm_r_moves_pages_from_the_read_cache_to_the_page_region_to_blocks() {
    enough_hybrid_runs(71, |run, random, label| {
        let given = [None, Some(1), Some(1 + random.below(6))][random.below(3) as usize];
        let (lru, moves) = (random.one_in(2), random.one_in(2));
        let (rule, share) = padding(random);
        let params = json!({
            "thr_migrate": given, "victim": if lru { "lru" } else { "least_popular" }, "padding": rule,
            "full": if moves { "move_page" } else { "evict_block" },
        });
        let mut reference = Cbm {
            run,
            flash: Flash::new(run),
            frames: Frames { dram: run.frames, nvram: run.nvram },
            thr_migrate: given.unwrap_or(2.max(run.block_pages / 8)) as usize,
            lru,
            moves,
            share,
            read_cache: vec![],
            page_region: vec![],
            block_region: vec![],
        };
        let label = format!("{label}, {params}");
        compare(&label, &mut *device("cbm-r", params, run), &mut reference, run, random, 500)
    });
}

/// A page of the DRAM.
struct Page {
    lpn: u32,
    dirty: bool,
    referenced: bool,
}

/// A block frame of the NVRAM: pages with their dirty bits.
struct Frame {
    block: u32,
    pages: BTreeMap<u32, bool>,
    referenced: bool,
}

/// Both rings clockwise from the hand.
struct Dnv<'a> {
    run: &'a Run,
    flash: Flash,
    dram_pages: usize,
    /// The NVRAM is counted in pages, else in blocks.
    in_pages: bool,
    /// That many of them.
    nvram_frames: usize,
    write_first: bool,
    share: f64,
    dram: Vec<Page>,
    nvram: Vec<Frame>,
}

impl Dnv<'_> {
    fn has_frame(&self, lpn: u32) -> bool {
        self.nvram.iter().any(|frame| frame.block == lpn / self.run.block_pages)
    }
    fn evict_block(&mut self, done: &mut Vec<Event>) {
        while self.nvram[0].referenced {
            self.nvram[0].referenced = false;
            self.nvram.rotate_left(1);
        }
        let Frame { block, pages, .. } = self.nvram.remove(0);
        let block_pages = self.run.block_pages;
        let in_block = |page: &&Page| page.lpn / block_pages == block;
        let nvram = |wanted: bool| pages.iter().filter(move |page| *page.1 == wanted).map(|page| *page.0);
        let mut dirty: Vec<u32> = nvram(true).collect();
        dirty.extend(self.dram.iter().filter(in_block).filter(|page| page.dirty).map(|page| page.lpn));
        dirty.sort_unstable();
        let dropped: Vec<u32> = nvram(false).collect();
        let mut clean = dropped.clone();
        clean.extend(self.dram.iter().filter(in_block).filter(|page| !page.dirty).map(|page| page.lpn));
        let all = whole(self.run, block);
        if pads(self.share, &dirty, &all) {
            self.flash.complete(&dirty, &all, &clean, done);
        } else if !dirty.is_empty() {
            self.flash.send(dirty.clone(), vec![], done);
        }
        self.dram.retain(|page| !dirty.contains(&page.lpn));
        done.extend(dropped.into_iter().map(Event::Drop));
    }
    fn used(&self) -> usize {
        if self.in_pages { self.nvram.iter().map(|frame| frame.pages.len()).sum() } else { self.nvram.len() }
    }
    fn make_frame(&mut self, lpn: u32, done: &mut Vec<Event>) {
        let joins = self.has_frame(lpn) && !self.in_pages;
        if !joins && self.used() >= self.nvram_frames {
            self.evict_block(done);
        }
    }
    fn enter_frame(&mut self, lpn: u32, dirty: bool) {
        let block = lpn / self.run.block_pages;
        match self.nvram.iter_mut().find(|frame| frame.block == block) {
            Some(frame) => {
                frame.referenced = true;
                frame.pages.insert(lpn, dirty);
            }
            None => self.nvram.push(Frame { block, pages: BTreeMap::from([(lpn, dirty)]), referenced: false }),
        }
    }
    fn demote(&mut self, done: &mut Vec<Event>) {
        while self.dram[0].referenced {
            self.dram[0].referenced = false;
            self.dram.rotate_left(1);
        }
        let Page { lpn, dirty, .. } = self.dram[0];
        if self.nvram_frames == 0 {
            self.dram.remove(0);
            if dirty {
                self.flash.send(vec![lpn], vec![], done);
            } else {
                done.push(Event::Drop(lpn));
            }
            return;
        }
        self.make_frame(lpn, done);
        // It is gone already if it was dirty and its own block left.
        if self.dram.iter().any(|page| page.lpn == lpn) {
            self.dram.retain(|page| page.lpn != lpn);
            self.enter_frame(lpn, dirty);
        }
    }
    fn place(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let to_dram = is_write == self.write_first && self.dram_pages > 0;
        if !is_write {
            done.push(Event::Read(Cause::Host, vec![lpn]));
        }
        if to_dram {
            while self.dram.len() >= self.dram_pages {
                self.demote(done);
            }
            self.dram.push(Page { lpn, dirty: is_write, referenced: false });
        } else if self.nvram_frames > 0 {
            self.make_frame(lpn, done);
            self.enter_frame(lpn, is_write);
        } else if is_write {
            self.flash.send(vec![lpn], vec![], done);
        }
    }
}

impl Reference for Dnv<'_> {
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>) {
        let mut hit = true;
        if let Some(page) = self.dram.iter_mut().find(|page| page.lpn == lpn) {
            page.referenced = true;
            page.dirty |= is_write;
        } else if let Some(frame) = self.nvram.iter_mut().find(|frame| frame.pages.contains_key(&lpn)) {
            frame.referenced = true;
            *frame.pages.get_mut(&lpn).unwrap() |= is_write;
        } else {
            hit = false;
            self.place(lpn, is_write, done);
        }
        done.push(Event::Access { lpn, write: is_write, hit });
    }
    fn trim(&mut self, lpn: u32) {
        self.flash.trim(lpn);
        self.dram.retain(|page| page.lpn != lpn);
        self.nvram.iter_mut().for_each(|frame| {
            frame.pages.remove(&lpn);
        });
        self.nvram.retain(|frame| !frame.pages.is_empty());
    }
    fn flush(&mut self, done: &mut Vec<Event>) {
        let mut dirty: Vec<u32> = self.dram.iter().filter(|page| page.dirty).map(|page| page.lpn).collect();
        dirty.sort_unstable();
        for unit in dirty.chunk_by(|a, b| a / self.run.block_pages == b / self.run.block_pages) {
            self.flash.send(unit.to_vec(), vec![], done);
        }
        self.dram.iter_mut().for_each(|page| page.dirty = false);
    }
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>) {
        self.dram_pages = frames.dram as usize;
        self.nvram_frames = nvram_frames(self.run, frames.nvram, self.in_pages);
        while self.dram.len() > self.dram_pages {
            self.demote(done);
        }
        while self.used() > self.nvram_frames {
            self.evict_block(done);
        }
    }
    fn state(&self) -> Value {
        let bit = u8::from;
        let page = |page: &Page| json!({"lpn": page.lpn, "dirty": bit(page.dirty), "ref": bit(page.referenced)});
        let frame = |frame: &Frame| {
            let part =
                |dirty| frame.pages.iter().filter(|page| *page.1 == dirty).map(|page| *page.0).collect::<Vec<_>>();
            json!({"block": frame.block, "ref": bit(frame.referenced), "dirty": part(true), "clean": part(false)})
        };
        json!({
            "dram_ring_from_hand": self.dram.iter().map(page).collect::<Vec<_>>(),
            "nvram_ring_from_hand": self.nvram.iter().map(frame).collect::<Vec<_>>(),
        })
    }
}

fn nvram_frames(run: &Run, pages: u32, in_pages: bool) -> usize {
    (if in_pages { pages } else { pages / run.block_pages }) as usize
}

/// One run of CLOCK-DNV along with the reference.
fn compare_dnv(placement: &str, in_pages: bool, run: &Run, random: &mut Dice, label: &str) -> u64 {
    let (rule, share) = padding(random);
    let unit = if in_pages { "page" } else { "block" };
    let params = json!({"placement": placement, "padding": rule, "nvram_unit": unit});
    let mut reference = Dnv {
        run,
        flash: Flash::new(run),
        dram_pages: run.frames as usize,
        in_pages,
        nvram_frames: nvram_frames(run, run.nvram, in_pages),
        write_first: placement == "write_first_D",
        share,
        dram: vec![],
        nvram: vec![],
    };
    let label = format!("{label}, {params}");
    compare(&label, &mut *device("clock-dnv", params, run), &mut reference, run, random, 500)
}

#[test]
fn clock_dnv_ages_pages_into_blocks_in_both_placements() {
    for (seed, name) in [(72, "wpa_text"), (73, "write_first_D")] {
        enough_hybrid_runs(seed, |run, random, label| compare_dnv(name, false, run, random, label));
    }
}

#[test]
fn clock_dnv_with_an_nvram_of_pages_decides_like_a_plain_reference() {
    for (seed, name) in [(74, "wpa_text"), (75, "write_first_D")] {
        enough_hybrid_runs(seed, |run, random, label| compare_dnv(name, true, run, random, label));
    }
}
