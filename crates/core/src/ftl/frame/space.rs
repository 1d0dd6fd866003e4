//! Blocks of the FTLs that map pages: free, open (*frontiers*) and closed ones, in groups.
//!
//! With `frontiers = "single"` the device is one *group* of blocks with one data frontier. With `"die"` every die has a data
//! frontier, and a group is the blocks of a die, or (with translation pages, as papers have them) of a channel: there each
//! data frontier prefers free blocks of its die and takes another one of the channel when the die has none. With `"plane"`
//! the same holds of every plane of every die, which is called a die in what follows. A group has one translation frontier. A
//! page belongs to the die that the placement tells, so what a group must hold is bounded. `die = pbn % dies` and
//! `channel = die % channels` make a group the blocks of one residue.
//!
//! With `sorted_pages` every range of that many logical pages has blocks of its own on each die: a *region*, which is a
//! data frontier and is collected as a whole (`translation`).

#![expect(
    clippy::inline_always,
    reason = "measured: calls between the steps of a page's write cost as much as the steps"
)]

use crate::divisor::Divisor;
use crate::flash::{Clock, Flash, Geometry, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lpn, Pbn, Ppn};

mod layout;
mod map;
mod regions;
mod slc;
mod units;
mod whole;

pub use self::layout::{Frontiers, GcFrontier, Layout, Sharing, Upkeep, validate};
pub use self::slc::Slc;
use self::slc::SlcCache;
use self::units::Units;
use crate::ftl::Shape;
use crate::ftl::blocks::pool::Pool;
use crate::ftl::frame::heat::Heat;
use crate::ftl::placement::{Dies, PageToPlace};

/// What a frontier is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// Pages of the host, and copies that stay with them.
    Data,
    /// Copies of garbage collection.
    Copies,
    /// Pages of cold blocks.
    Cold,
    /// Translation pages.
    Map,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    pbn: Pbn,
    next: u32,
    /// Pages that the block holds.
    end: u32,
    group: u32,
    kind: Kind,
}

/// Names a frontier of a [`Space`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrontierId(u32);

/// A block that is being emptied.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The block.
    pub victim: Pbn,
    /// Pages that were valid when it was chosen.
    pub valid: u32,
    /// Offset at which to look for the next valid page.
    pub from: u32,
    /// When its pages are where they go.
    pub done: Ticket,
    /// Where that is.
    pub to: FrontierId,
    /// Why.
    pub cause: Cause,
    /// Static wear levelling may follow its erase.
    pub levels: bool,
}

/// All blocks of a device.
#[derive(Debug)]
pub struct Space {
    geometry: Geometry,
    layout: Layout,
    seed: u64,
    /// Free blocks of a group at which collection starts.
    reserve: u32,
    /// The same in slices, for which there is time.
    watermark: u32,
    /// Free and closed blocks by group.
    pools: Vec<Pool>,
    /// Data frontiers (by stream or range, then by die), those of copies by die, of cold pages and of the map by group.
    frontiers: Vec<Frontier>,
    /// Data frontiers, which with ranges of their own are regions.
    regions: u32,
    /// By group: a collection that goes on slice by slice.
    pub sliced: Vec<Option<Job>>,
    /// By block: it holds (or last held) translation pages.
    holds_map: Vec<bool>,
    /// To divide by the groups.
    by_group: Divisor,
    /// The dies with frontiers of their own.
    dies: Dies,
    /// A die has one data frontier.
    one_for_a_die: bool,
    units: Units,
    logical_pages: u32,
    /// By block: the data frontier that it was opened for, if it holds data. Empty without regions and streams.
    home: Vec<u32>,
    heat: Heat,
    slc: SlcCache,
}

impl Space {
    /// All blocks free. `map_pages` translation pages are written in that many `copies`.
    pub fn new(layout: Layout, shape: &Shape, map_pages: u32, copies: u32) -> Self {
        let geometry = shape.geometry;
        let blocks = geometry.blocks() as usize;
        let (groups, dies) = layout.counts(&geometry);
        let reserve = layout.kept_free(&geometry, copies);
        let most_valid = layout.most_data(&geometry, map_pages, copies);
        let order = if dies == 1 { vec![0] } else { layout.stripe.order(&geometry, dies / geometry.dies()) };
        let apart = layout.sorted_pages.is_some() || layout.upkeep.streams > 1;
        let mut space = Self {
            geometry,
            layout,
            seed: shape.seed,
            reserve,
            watermark: reserve + layout.blocks_ahead(copies),
            pools: Vec::new(),
            frontiers: Vec::new(),
            regions: 0,
            sliced: Vec::new(),
            holds_map: vec![false; blocks],
            by_group: Divisor::new(groups),
            dies: Dies::new(layout.placement, geometry.dies(), order, groups, most_valid),
            one_for_a_die: !apart && !layout.upkeep.whole_units,
            units: Units::new(shape.unit_pages),
            logical_pages: shape.logical_pages,
            home: vec![0; if apart { blocks } else { 0 }],
            heat: Heat::new(layout.upkeep.streams, shape.logical_pages),
            slc: SlcCache::new(layout.upkeep.slc, layout.slc_blocks(&geometry), shape.slc_pages, groups),
        };
        space.forget();
        space
    }

    fn forget(&mut self) {
        let Layout { alloc, victim, sorted_pages, upkeep, .. } = self.layout;
        let (groups, dies) = self.layout.counts(&self.geometry);
        let ranges = sorted_pages.map_or(upkeep.streams, |pages| self.logical_pages.div_ceil(pages));
        let pool = |first| Pool::new(first, groups, self.geometry.blocks(), alloc, victim, self.seed);
        self.pools = (0..groups).map(pool).collect();
        self.regions = dies * ranges;
        let (pbn, next) = (Pbn::NONE, self.geometry.pages_per_block);
        let some = |kind, count: u32| {
            (0..count).map(move |number| Frontier { pbn, next, end: next, group: number % groups, kind })
        };
        let data = some(Kind::Data, self.regions).chain(some(Kind::Copies, dies));
        let map = some(Kind::Map, groups);
        self.frontiers = data.chain(some(Kind::Cold, groups)).chain(map).collect();
        self.sliced = vec![None; groups as usize];
        self.holds_map.fill(false);
        self.home.fill(0);
        self.dies.forget();
        self.units.forget(upkeep.whole_units.then_some(upkeep.streams));
        self.slc.forget();
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
    /// How it is laid out.
    #[inline]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }
    /// Free blocks of a group at which collection starts.
    #[inline]
    pub const fn reserve(&self) -> u32 {
        self.reserve
    }
    /// Free blocks of a group at which collection in slices starts.
    #[inline]
    pub const fn watermark(&self) -> u32 {
        self.watermark
    }
    /// True if a group has fewer free blocks than it must keep; a victim that is collected in slices may hold one.
    #[inline]
    pub fn is_short(&self, group: u32) -> bool {
        self.free(group) + u32::from(self.sliced[group as usize].is_some()) < self.reserve
    }
    /// True if the number of a page tells its die.
    pub const fn is_striped(&self) -> bool {
        self.dies.count() > 1 && self.dies.is_by_number()
    }
    /// Free blocks of a group, without those that are set aside for its SLC cache.
    #[inline]
    pub fn free(&self, group: u32) -> u32 {
        self.pools[group as usize].free_count().saturating_sub(self.slc.set_aside(group))
    }
    /// Free blocks of the device.
    pub fn free_blocks(&self) -> u32 {
        self.pools.iter().map(Pool::free_count).sum()
    }
    /// RAM that telling hot pages from cold ones takes, bytes.
    pub const fn heat_bytes(&self) -> u64 {
        self.heat.bytes()
    }

    /// Data frontier for a page that the host writes.
    #[inline(always)]
    pub fn host_frontier(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause) -> FrontierId {
        if self.one_for_a_die {
            return FrontierId(self.dies.place(PageToPlace { lpn, stream: 0 }, &flash.clock));
        }
        self.one_of_several(flash, lpn, cause)
    }
    /// The same where a die has several, by range or by stream, and with whole units.
    #[inline(never)]
    fn one_of_several(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause) -> FrontierId {
        let mut stream = 0;
        if self.heat.is_on() {
            if cause == Cause::Host {
                self.heat.count(lpn);
            }
            stream = self.heat.stream(lpn);
        }
        let id = FrontierId(self.data_frontier(&flash.clock, lpn, stream));
        if self.layout.upkeep.whole_units {
            self.leave_unit(flash, id);
        }
        id
    }
    /// Number of the data frontier of a page in a stream.
    #[inline]
    fn data_frontier(&mut self, clock: &Clock, lpn: Lpn, stream: u32) -> u32 {
        if let Some(id) = self.unit_of(stream, clock) {
            return id;
        }
        let die = self.dies.place(PageToPlace { lpn, stream }, clock);
        let range = self.layout.sorted_pages.map_or(stream, |pages| lpn.0 / pages);
        let id = range * self.dies.count() + die;
        self.units.fill(stream, id);
        id
    }
    /// Number of the die of a block among those with frontiers of their own.
    fn die(&self, pbn: Pbn) -> u32 {
        if self.dies.count() == 1 { 0 } else { self.dies.wrap(pbn.0) }
    }
    /// Frontier to which the pages of a victim go: the collector's, or that of its region or die, in its stream.
    pub fn copy_frontier(&self, victim: Pbn) -> FrontierId {
        let die = self.die(victim);
        match self.layout.upkeep.gc_frontier {
            GcFrontier::Separate => FrontierId(self.regions + die),
            GcFrontier::Shared => FrontierId(self.home.get(victim.index()).copied().unwrap_or(die)),
        }
    }
    /// Frontier of a group for the pages of cold blocks.
    pub const fn cold_frontier(&self, group: u32) -> FrontierId {
        FrontierId(self.regions + self.dies.count() + group)
    }
    /// Group of a frontier.
    #[inline]
    pub fn group(&self, id: FrontierId) -> u32 {
        self.frontiers[id.0 as usize].group
    }
    /// Group of a block.
    #[inline]
    pub fn group_of(&self, pbn: Pbn) -> u32 {
        self.by_group.remainder(pbn.0)
    }
    fn pool(&mut self, pbn: Pbn) -> &mut Pool {
        &mut self.pools[self.by_group.remainder(pbn.0) as usize]
    }
    /// Pages that can be appended before a frontier needs another block.
    #[inline]
    pub fn tail(&self, id: FrontierId) -> u32 {
        let frontier = &self.frontiers[id.0 as usize];
        frontier.end - frontier.next
    }
    /// Where the next page of a frontier lies in its block.
    pub fn offset(&self, id: FrontierId) -> u32 {
        self.frontiers[id.0 as usize].next
    }

    /// Gives a full frontier a free block.
    pub fn open(&mut self, flash: &mut Flash, id: FrontierId) {
        assert_eq!(self.tail(id), 0, "the frontier is still open");
        let Frontier { group, kind, .. } = self.frontiers[id.0 as usize];
        let beyond = self.free(group).saturating_sub(self.reserve);
        let slc = if kind == Kind::Data { self.slc.next_block(group, beyond) } else { None };
        let pool = &mut self.pools[group as usize];
        let pbn = match kind {
            Kind::Cold => pool.take_worn(flash),
            Kind::Data | Kind::Copies if self.dies.count() as usize > self.sliced.len() => {
                let die = self.dies.wrap(if kind == Kind::Data { id.0 } else { id.0 - self.regions });
                pool.take_near(|pbn| self.dies.wrap(pbn.0) == die)
            }
            _ => pool.take(),
        };
        if slc.is_some() {
            flash.use_as_slc(pbn);
            self.slc.add(group);
        }
        self.holds_map[pbn.index()] = kind == Kind::Map;
        let die = self.die(pbn);
        if let Some(home) = self.home.get_mut(pbn.index()) {
            // What collection and levelling gather has proved to be cold.
            *home = if kind == Kind::Data { id.0 } else { die };
        }
        let frontier = &mut self.frontiers[id.0 as usize];
        (frontier.pbn, frontier.next) = (pbn, 0);
        frontier.end = slc.unwrap_or(self.geometry.pages_per_block);
    }

    /// The next page of an open frontier; the block is closed with its last page.
    #[inline(always)]
    pub fn append(&mut self, id: FrontierId) -> Ppn {
        let frontier = &mut self.frontiers[id.0 as usize];
        let Frontier { pbn, next, end, group, .. } = *frontier;
        assert!(next < end, "the frontier is full");
        frontier.next += 1;
        if next + 1 == end {
            self.close(group, pbn, end != self.geometry.pages_per_block);
        }
        self.geometry.page(pbn, next)
    }

    /// The same for a page of the host: one more is valid.
    #[inline(always)]
    pub fn append_new(&mut self, id: FrontierId) -> Ppn {
        if !self.dies.is_by_number() {
            self.dies.add(self.group(id));
        }
        self.append(id)
    }

    /// A page of the host is not needed any more.
    #[inline(always)]
    pub fn drop_copy(&mut self, flash: &mut Flash, ppn: Ppn) {
        let pbn = flash.invalidate(ppn);
        let (position, group) = self.by_group.parts(pbn.0);
        self.dies.drop(group);
        self.pools[group as usize].touched(position);
    }

    /// Takes a victim by the policy out of a group's closed blocks.
    pub fn pick_victim(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        self.pools[group as usize].pick_victim(flash)
    }

    /// Takes the closed block with the fewest valid pages, whatever the policy.
    pub fn pick_fewest_valid(&mut self, flash: &Flash, group: u32) -> Option<Pbn> {
        self.pools[group as usize].pick_fewest_valid(flash)
    }

    /// Takes a block, if it is closed.
    pub fn take_closed(&mut self, pbn: Pbn) -> bool {
        let group = self.group_of(pbn);
        if self.slc.is_on() && !self.slc.is_shared() && self.slc.take(group, pbn) {
            return true;
        }
        let closed = self.pool(pbn).is_closed(pbn);
        if closed {
            self.pool(pbn).reopen(pbn);
        }
        closed
    }

    /// Static wear levelling: a closed block whose pages are to move, because it was erased much less than the most
    /// erased one of its group. `erased` was erased last; without `may_move` the counts are only followed.
    #[inline]
    pub fn pick_cold(&mut self, flash: &Flash, erased: Pbn, may_move: bool) -> Option<Pbn> {
        let threshold = self.layout.upkeep.wear_threshold?;
        self.pool(erased).pick_cold(flash, erased, if may_move { threshold } else { u32::MAX })
    }

    /// True if no more than `enough` blocks of a group are free and collecting one would gain a page, or goes on already.
    #[inline]
    pub fn wants_space(&mut self, flash: &Flash, group: u32, enough: u32) -> bool {
        self.sliced[group as usize].is_some() || self.would_gain(flash, group, enough)
    }
    fn would_gain(&mut self, flash: &Flash, group: u32, enough: u32) -> bool {
        let pages = self.geometry.pages_per_block;
        self.free(group) <= enough
            && self.pools[group as usize].fewest_valid_pages(flash).is_some_and(|valid| valid < pages)
    }

    /// Erases a victim and gives it back to its group.
    pub fn release(&mut self, flash: &mut Flash, pbn: Pbn, cause: Cause, after: Ticket) -> Ticket {
        let kind = if self.holds_map(pbn) { BlockKind::Map } else { BlockKind::Data };
        if self.slc.is_on() && flash.is_slc(pbn) {
            self.slc.remove(self.group_of(pbn), pbn);
        }
        let erased = flash.erase(pbn, kind, cause, after);
        self.holds_map[pbn.index()] = false;
        self.pool(pbn).give_back(flash, pbn);
        erased
    }
}
