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

use crate::divisor::Divisor;
use crate::flash::{Flash, Geometry, PageKind, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lpn, Pbn, Ppn};

mod layout;

use self::layout::counts;
pub use self::layout::{Layout, validate};
use super::Shape;
use super::heat::Heat;
use super::pool::Pool;
use super::recover::Winners;

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
    /// Frontier of a group for the pages of cold blocks.
    Cold(u32),
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
    /// To divide by the groups and by those dies.
    by_group: Divisor,
    by_die: Divisor,
    logical_pages: u32,
    /// By block: the data frontier that it was opened for, if it holds data. Empty without units and streams.
    home: Vec<u32>,
    heat: Heat,
    /// By group: where the pages of cold blocks go.
    cold: Vec<Frontier>,
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
            by_group: Divisor::new(1),
            by_die: Divisor::new(1),
            logical_pages: shape.logical_pages,
            home: vec![0; if layout.sorted_pages.is_some() || layout.streams > 1 { blocks } else { 0 }],
            heat: Heat::new(layout.streams, shape.logical_pages),
            cold: Vec::new(),
        };
        space.forget();
        space
    }

    fn forget(&mut self) {
        let Layout { alloc, victim, frontiers, .. } = self.layout;
        let (groups, dies) = counts(frontiers, &self.geometry);
        let ranges = self.layout.sorted_pages.map_or(self.layout.streams, |pages| self.logical_pages.div_ceil(pages));
        let pool = |first| Pool::new(first, groups, self.geometry.blocks(), alloc, victim, self.seed);
        let closed = Frontier { pbn: Pbn::NONE, next: self.geometry.pages_per_block };
        self.pools = (0..groups).map(pool).collect();
        self.dies = dies;
        (self.by_group, self.by_die) = (Divisor::new(groups), Divisor::new(dies));
        self.data = vec![closed; (dies * ranges) as usize];
        self.map = vec![closed; groups as usize];
        self.cold = vec![closed; groups as usize];
        self.holds_map.fill(false);
        if self.heat.is_on() {
            self.heat.forget();
        }
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
    /// Data frontier for a page that the host writes.
    #[inline]
    pub fn host_place(&mut self, lpn: Lpn) -> Place {
        let Place::Data(mut number) = self.data_place(lpn) else { unreachable!("data") };
        if self.heat.is_on() {
            self.heat.count(lpn);
            number += self.heat.stream(lpn) * self.dies;
        }
        Place::Data(number)
    }
    /// Data frontier of a page, the coldest stream of it.
    #[inline]
    fn data_place(&self, lpn: Lpn) -> Place {
        let first = self.layout.sorted_pages.map_or(0, |pages| lpn.0 / pages * self.dies);
        Place::Data(first + self.by_die.remainder(lpn.0))
    }
    /// RAM that telling hot pages from cold ones takes, bytes.
    pub const fn heat_bytes(&self) -> u64 {
        self.heat.bytes()
    }
    /// Data frontier to which the pages of a victim go: that of its unit or die, in its stream.
    pub fn copy_place(&self, victim: Pbn) -> Place {
        let die = if self.dies == 1 { 0 } else { self.geometry.die(victim) };
        Place::Data(self.home.get(victim.index()).copied().unwrap_or(die))
    }
    /// Group of a frontier.
    #[inline]
    pub fn group(&self, place: Place) -> u32 {
        match place {
            Place::Data(number) => self.by_group.remainder(number),
            Place::Map(group) | Place::Cold(group) => group,
        }
    }
    /// Group of a page's block.
    #[inline]
    pub fn group_of(&self, ppn: Ppn) -> u32 {
        self.by_group.remainder(self.geometry.pbn(ppn).0)
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
            Place::Cold(group) => &self.cold[group as usize],
        }
    }
    #[inline]
    fn frontier_mut(&mut self, place: Place) -> &mut Frontier {
        match place {
            Place::Data(number) => &mut self.data[number as usize],
            Place::Map(group) => &mut self.map[group as usize],
            Place::Cold(group) => &mut self.cold[group as usize],
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
                let die = self.by_die.remainder(number);
                pool.take_near(flash, |pbn| geometry.die(pbn) == die)
            }
            Place::Cold(_) => pool.take_worn(flash),
            _ => pool.take(flash),
        };
        self.holds_map[pbn.index()] = matches!(place, Place::Map(_));
        let near = if self.dies == 1 { 0 } else { self.geometry.die(pbn) };
        if let Some(home) = self.home.get_mut(pbn.index()) {
            *home = if let Place::Data(number) = place { number } else { near };
        }
        let frontier = self.frontier_mut(place);
        *frontier = Frontier { pbn, next: 0 };
    }

    /// The next page of an open frontier; the block is closed with its last page.
    #[inline]
    pub fn append(&mut self, place: Place) -> Ppn {
        let frontier = self.frontier_mut(place);
        let Frontier { pbn, next } = *frontier;
        frontier.next += 1;
        assert!(next < self.geometry.pages_per_block, "the frontier is full");
        let ppn = self.geometry.page(pbn, next);
        if next + 1 == self.geometry.pages_per_block {
            let group = self.group(place);
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
        let open = open.map(|frontier| frontier.pbn).filter(move |pbn| self.by_group.remainder(pbn.0) == group);
        let unit = |pbn: Pbn| (pbn, (!self.holds_map(pbn)).then(|| self.home[pbn.index()]));
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

    /// Static wear levelling: a closed block whose pages are to move, because it was erased much less than the most
    /// erased one of its group. `erased` was erased last; without `may_move` the counts are only followed.
    pub fn pick_cold(&mut self, flash: &Flash, erased: Pbn, may_move: bool) -> Option<Pbn> {
        let threshold = self.layout.wear_threshold?;
        let group = self.by_group.remainder(erased.0);
        self.pools[group as usize].pick_cold(flash, erased, if may_move { threshold } else { u32::MAX })
    }

    /// True if collecting the best closed block of a group gains a page.
    pub fn can_gain(&mut self, flash: &Flash, group: u32) -> bool {
        let fewest = self.pools[group as usize].fewest_valid_pages(flash);
        fewest.is_some_and(|valid| valid < self.geometry.pages_per_block)
    }

    /// Erases a victim and gives it back to its group.
    pub fn release(&mut self, flash: &mut Flash, pbn: Pbn, cause: Cause, after: Ticket) {
        let kind = if self.holds_map(pbn) { BlockKind::Map } else { BlockKind::Data };
        flash.erase(pbn, kind, cause, after);
        self.holds_map[pbn.index()] = false;
        let group = self.by_group.remainder(pbn.0);
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
                let group = self.by_group.remainder(pbn.0);
                self.pools[group as usize].close(pbn);
                if !self.home.is_empty() {
                    let page = flash.next_valid(pbn, 0).expect("winners are valid");
                    let Place::Data(number) = self.data_place(Lpn(flash.oob(page).number)) else {
                        unreachable!("data")
                    };
                    self.home[pbn.index()] = number;
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
        for frontier in self.data.iter().chain(&self.map).chain(&self.cold).filter(|f| f.next < pages) {
            assert_eq!(flash.next_page(frontier.pbn), frontier.next, "open block {}", frontier.pbn.0);
            uses[frontier.pbn.index()] += 1;
        }
        for pbn in (0..self.geometry.blocks()).map(Pbn) {
            let group = self.by_group.remainder(pbn.0);
            uses[pbn.index()] += u32::from(self.pools[group as usize].is_closed(pbn));
            assert_eq!(uses[pbn.index()], 1, "block {} is not in exactly one of free, open, closed", pbn.0);
        }
    }
}
