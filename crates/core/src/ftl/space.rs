//! Blocks of the demand-mapped FTLs: one free list for data and translation blocks, and the open blocks of both.
//!
//! With `frontiers = "single"` the device is one *group* of blocks with one data and one translation frontier. With
//! `"die"` every channel is a group: each of its dies has a data frontier that prefers free blocks of that die (and
//! takes another one of the channel when the die has none), and the channel has one translation frontier. A page
//! belongs to the data frontier `lpn % dies`, so what a channel must hold is bounded. `die = pbn % dies` and
//! `channel = die % channels` make a group the blocks of one residue.
//!
//! With `sorted_pages` every range of so many logical pages has blocks of its own on each die: a *unit*, which is a data
//! frontier and is collected as a whole ([`super::translation`]).

use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, PageKind, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lpn, Pbn, Ppn};

use super::Shape;
use super::page::Frontiers;
use super::pool::{Alloc, Pool, Victim};
use super::recover::Winners;

/// How blocks are allocated and collected.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// Free blocks of a group at which garbage collection starts.
    pub reserve: u32,
    /// One group with one data frontier, or one group per channel with a data frontier on every die.
    pub frontiers: Frontiers,
    /// Logical pages whose blocks hold no others and are collected together; none: all pages share blocks.
    pub sorted_pages: Option<u32>,
}

impl Layout {
    /// Blocks that the valid pages of a unit fill, 0 without units.
    fn unit_blocks(&self, geometry: &Geometry) -> u32 {
        let dies = counts(self.frontiers, geometry).1;
        self.sorted_pages.map_or(0, |pages| pages.div_ceil(dies).div_ceil(geometry.pages_per_block))
    }
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    pbn: Pbn,
    next: u32,
}

/// Names a frontier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// Data frontier by number (the die or 0; with units, those of one range of pages after those of another).
    Data(u32),
    /// Translation frontier of a group.
    Map(u32),
}

/// See the module text.
#[derive(Debug)]
pub struct Space {
    geometry: Geometry,
    layout: Layout,
    seed: u64,
    pools: Vec<Pool>,
    data: Vec<Frontier>,
    map: Vec<Frontier>,
    /// By block: it holds (or last held) translation pages.
    holds_map: Vec<bool>,
    /// Dies with frontiers of their own.
    dies: u32,
    logical_pages: u32,
    /// By block: the unit that it belongs to, if it holds data. Empty without units.
    unit: Vec<u32>,
}

impl Space {
    /// All blocks free.
    pub fn new(layout: Layout, shape: &Shape) -> Self {
        let geometry = shape.geometry;
        let blocks = geometry.blocks() as usize;
        let mut space = Self {
            geometry,
            layout,
            seed: shape.seed,
            pools: Vec::new(),
            data: Vec::new(),
            map: Vec::new(),
            holds_map: vec![false; blocks],
            dies: 1,
            logical_pages: shape.logical_pages,
            unit: vec![0; if layout.sorted_pages.is_some() { blocks } else { 0 }],
        };
        space.forget();
        space
    }

    fn forget(&mut self) {
        let Layout { alloc, victim, frontiers, .. } = self.layout;
        let (groups, dies) = counts(frontiers, &self.geometry);
        let ranges = self.layout.sorted_pages.map_or(1, |pages| self.logical_pages.div_ceil(pages));
        let pool = |first| Pool::new(first, groups, self.geometry.blocks(), alloc, victim, self.seed);
        let closed = Frontier { pbn: Pbn::NONE, next: self.geometry.pages_per_block };
        self.pools = (0..groups).map(pool).collect();
        self.dies = dies;
        self.data = vec![closed; (dies * ranges) as usize];
        self.map = vec![closed; groups as usize];
        self.holds_map.fill(false);
    }

    /// Groups of blocks.
    #[inline]
    pub fn groups(&self) -> u32 {
        self.pools.len() as u32
    }
    /// Pages of a block.
    #[inline]
    pub const fn pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block
    }
    /// Free blocks at which collection starts: with units, enough to write one anew.
    #[inline]
    pub fn reserve(&self) -> u32 {
        self.layout.reserve + self.layout.unit_blocks(&self.geometry)
    }
    /// True if ranges of pages have blocks of their own.
    pub const fn has_units(&self) -> bool {
        self.layout.sorted_pages.is_some()
    }
    /// Free blocks of a group.
    #[inline]
    pub fn free(&self, group: u32) -> u32 {
        self.pools[group as usize].free_count()
    }
    /// Free blocks of the device.
    pub fn free_blocks(&self) -> u32 {
        self.pools.iter().map(Pool::free_count).sum()
    }
    /// Data frontier of a page.
    #[inline]
    pub fn data_place(&self, lpn: Lpn) -> Place {
        let first = self.layout.sorted_pages.map_or(0, |pages| lpn.0 / pages * self.dies);
        Place::Data(first + remainder(lpn.0, self.dies))
    }
    /// Data frontier to which the pages of a victim go: that of its unit or die.
    pub fn copy_place(&self, victim: Pbn) -> Place {
        let die = if self.dies == 1 { 0 } else { self.geometry.die(victim) };
        Place::Data(self.unit.get(victim.index()).copied().unwrap_or(die))
    }
    /// Group of a frontier.
    #[inline]
    pub fn group(&self, place: Place) -> u32 {
        match place {
            Place::Data(number) => remainder(number, self.groups()),
            Place::Map(group) => group,
        }
    }
    /// Group of a page's block.
    #[inline]
    pub fn group_of(&self, ppn: Ppn) -> u32 {
        remainder(self.geometry.pbn(ppn).0, self.groups())
    }
    /// True if the block holds translation pages.
    #[inline]
    pub fn holds_map(&self, pbn: Pbn) -> bool {
        self.holds_map[pbn.index()]
    }

    #[inline]
    fn frontier(&self, place: Place) -> &Frontier {
        match place {
            Place::Data(number) => &self.data[number as usize],
            Place::Map(group) => &self.map[group as usize],
        }
    }
    /// Pages that can be appended before a frontier needs another block.
    #[inline]
    pub fn tail(&self, place: Place) -> u32 {
        self.geometry.pages_per_block - self.frontier(place).next
    }

    /// Gives a full frontier a free block.
    pub fn open(&mut self, flash: &Flash, place: Place) {
        assert_eq!(self.tail(place), 0, "the frontier is still open");
        let group = self.group(place);
        let (geometry, dies) = (self.geometry, self.dies);
        let pool = &mut self.pools[group as usize];
        let pbn = match place {
            Place::Data(number) if dies > 1 => {
                let die = remainder(number, dies);
                pool.take_near(flash, |pbn| geometry.die(pbn) == die)
            }
            _ => pool.take(flash),
        };
        self.holds_map[pbn.index()] = matches!(place, Place::Map(_));
        if let (Place::Data(number), Some(unit)) = (place, self.unit.get_mut(pbn.index())) {
            *unit = number;
        }
        let frontier = match place {
            Place::Data(number) => &mut self.data[number as usize],
            Place::Map(group) => &mut self.map[group as usize],
        };
        *frontier = Frontier { pbn, next: 0 };
    }

    /// The next page of an open frontier; the block is closed with its last page.
    #[inline]
    pub fn append(&mut self, place: Place) -> Ppn {
        let frontier = match place {
            Place::Data(number) => &mut self.data[number as usize],
            Place::Map(group) => &mut self.map[group as usize],
        };
        assert!(frontier.next < self.geometry.pages_per_block, "the frontier is full");
        let ppn = self.geometry.page(frontier.pbn, frontier.next);
        frontier.next += 1;
        if frontier.next == self.geometry.pages_per_block {
            let (pbn, group) = (frontier.pbn, self.group(place));
            self.pools[group as usize].close(pbn);
        }
        ppn
    }

    /// A page is not needed any more.
    #[inline]
    pub fn drop_copy(&mut self, flash: &mut Flash, ppn: Ppn) {
        flash.invalidate(ppn);
        let group = self.group_of(ppn);
        self.pools[group as usize].touched(self.geometry.pbn(ppn));
    }

    /// Takes a victim by the policy out of a group's closed blocks.
    pub fn pick_victim(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        self.pools[group as usize].pick_victim(flash)
    }

    /// Takes the closed block with the fewest valid pages, whatever the policy.
    pub fn pick_fewest_valid(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        self.pools[group as usize].pick_fewest_valid(flash)
    }

    /// Takes the closed translation block with the fewest valid pages, if collecting it frees a page at all.
    pub fn pick_map_victim(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        let pool = &mut self.pools[group as usize];
        let blocks = (group..self.geometry.blocks()).step_by(self.map.len()).map(Pbn);
        let closed = blocks.filter(|pbn| self.holds_map[pbn.index()] && pool.is_closed(*pbn));
        let victim = closed.min_by_key(|pbn| (flash.valid_pages(*pbn), *pbn))?;
        if flash.valid_pages(victim) == self.geometry.pages_per_block {
            return None;
        }
        pool.reopen(victim);
        Some(victim)
    }

    /// Data frontiers, which with ranges of their own are units.
    pub fn units(&self) -> u32 {
        self.data.len() as u32
    }

    /// Blocks of a group that can be collected, with their units (none: translation pages); open data blocks too.
    pub fn collectable(&self, group: u32) -> impl Iterator<Item = (Pbn, Option<u32>)> + '_ {
        let open = self.data.iter().filter(|frontier| frontier.next < self.geometry.pages_per_block);
        let open = open.map(|frontier| frontier.pbn).filter(move |pbn| remainder(pbn.0, self.groups()) == group);
        let unit = |pbn: Pbn| (pbn, (!self.holds_map(pbn)).then(|| self.unit[pbn.index()]));
        self.pools[group as usize].closed_blocks().chain(open).map(unit)
    }

    /// Takes all blocks of a unit, the open one too, which is full afterwards.
    pub fn take_unit(&mut self, place: Place) -> Vec<Pbn> {
        let (group, Place::Data(number)) = (self.group(place), place) else { unreachable!("units hold data") };
        let mut blocks: Vec<Pbn> =
            self.collectable(group).filter(|(_, unit)| *unit == Some(number)).map(|(pbn, _)| pbn).collect();
        blocks.sort_unstable();
        let pool = &mut self.pools[group as usize];
        for pbn in &blocks {
            if pool.is_closed(*pbn) {
                pool.reopen(*pbn);
            }
        }
        self.data[number as usize] = Frontier { pbn: Pbn::NONE, next: self.geometry.pages_per_block };
        blocks
    }

    /// Erases a victim and gives it back to its group.
    pub fn release(&mut self, flash: &mut Flash, pbn: Pbn, cause: Cause, after: Ticket) {
        let kind = if self.holds_map(pbn) { BlockKind::Map } else { BlockKind::Data };
        flash.erase(pbn, kind, cause, after);
        self.holds_map[pbn.index()] = false;
        let group = remainder(pbn.0, self.groups());
        self.pools[group as usize].give_back(pbn);
    }

    /// After a power cut: blocks without a winner are erased (all translation blocks among them), the others are
    /// closed. Blocks that were open are not appended to, because they may hold a torn page.
    pub fn recover(&mut self, flash: &mut Flash, winners: &Winners) {
        self.forget();
        for pool in &mut self.pools {
            pool.keep_free(|pbn| !flash.is_block_used(pbn));
        }
        let now = Ticket::at(flash.now());
        for pbn in (0..self.geometry.blocks()).map(Pbn) {
            if !flash.is_block_used(pbn) {
                continue;
            }
            if winners.in_block(pbn) == 0 {
                let mut pages = (0..self.geometry.pages_per_block).map(|offset| self.geometry.page(pbn, offset));
                let readable = pages.find(|ppn| flash.is_programmed(*ppn));
                self.holds_map[pbn.index()] = readable.is_some_and(|ppn| flash.oob(ppn).kind == PageKind::Map);
                self.release(flash, pbn, Cause::Recover, now);
            } else {
                let group = remainder(pbn.0, self.groups());
                self.pools[group as usize].close(pbn);
                if self.has_units() {
                    let page = flash.next_valid(pbn, 0).expect("winners are valid");
                    let Place::Data(number) = self.data_place(Lpn(flash.oob(page).number)) else { unreachable!() };
                    self.unit[pbn.index()] = number;
                }
            }
        }
    }

    /// Checks that every block is in exactly one state, free blocks are erased and the reserve is there; panics on a
    /// violation. For tests.
    pub fn check(&self, flash: &Flash) {
        let mut uses = vec![0; self.geometry.blocks() as usize];
        for (group, pool) in self.pools.iter().enumerate() {
            assert!(pool.free_count() >= self.reserve(), "reserve of group {group} used up");
            for pbn in pool.free_blocks() {
                assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
                uses[pbn.index()] += 1;
            }
        }
        let pages = self.geometry.pages_per_block;
        for frontier in self.data.iter().chain(&self.map).filter(|f| f.next < pages) {
            assert_eq!(flash.next_page(frontier.pbn), frontier.next, "open block {}", frontier.pbn.0);
            uses[frontier.pbn.index()] += 1;
        }
        for pbn in (0..self.geometry.blocks()).map(Pbn) {
            let group = remainder(pbn.0, self.groups());
            uses[pbn.index()] += u32::from(self.pools[group as usize].is_closed(pbn));
            assert_eq!(uses[pbn.index()], 1, "block {} is not in exactly one of free, open, closed", pbn.0);
        }
    }
}

/// Groups and data frontiers.
fn counts(frontiers: Frontiers, geometry: &Geometry) -> (u32, u32) {
    if frontiers == Frontiers::Single { (1, 1) } else { (geometry.channels, geometry.dies()) }
}

/// `number % of`, fast where `of` is a power of two.
#[inline]
pub(super) const fn remainder(number: u32, of: u32) -> u32 {
    if of.is_power_of_two() { number & (of - 1) } else { number % of }
}

/// Refuses layouts that cannot always make room (the argument is in [`super::translation`]): `copies` is the number of
/// copies of each of `map_pages` translation pages.
///
/// # Errors
/// Names the relation that is broken.
pub fn validate(layout: &Layout, shape: &Shape, map_pages: u32, copies: u32) -> Result<(), ConfigError> {
    let (floor, why) = if copies > 0 {
        (3, "collecting a data block can take a block for its pages and one for translation pages")
    } else {
        (1, "garbage collection needs a block to copy to")
    };
    if layout.reserve < floor {
        let problem = format!("{} is too few: {why}", layout.reserve);
        return Err(ConfigError::new("ftl.reserve", problem, format!("use {floor} or more")));
    }
    layout.victim.validate()?;
    let pages = u64::from(shape.geometry.pages_per_block);
    let (groups, frontiers) = counts(layout.frontiers, &shape.geometry);
    let together = if groups == 1 { u64::from(copies) } else { u64::from(copies.min(1)) };
    let map = u64::from(copies) * u64::from(map_pages.div_ceil(groups));
    let dies = u64::from(frontiers / groups);
    let unit = u64::from(layout.unit_blocks(&shape.geometry));
    let (blocks, open) = match layout.sorted_pages {
        // Every unit may end in the middle of a block.
        Some(range) => (u64::from(shape.logical_pages.div_ceil(range)) * dies * unit + map.div_ceil(pages), 0),
        None => ((u64::from(shape.logical_pages.div_ceil(frontiers)) * dies + map) / pages, dies),
    };
    let (reserve, open) = (u64::from(layout.reserve) + unit, open + u64::from(copies.min(1)));
    let need = blocks + reserve + open + together.div_ceil(pages).max(1);
    let why = format!(
        "{groups} group(s) of {blocks} blocks for pages, {reserve} in reserve, {open} open and one to turn over"
    );
    shape.need_blocks("ftl.reserve", need * u64::from(groups), &why)
}
