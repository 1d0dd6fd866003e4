//! page - Page-level mapping
//!
//! # Source
//! The ideal page-mapped FTL of the field: 4 bytes a page as in section 2 of the URM paper, in EagleTree and
//! MQSim. Greedy and FIFO collection: Peter Desnoyers, "Analytic modeling of SSD write performance", SYSTOR 2012.
//!
//! # What it does
//! The whole map is in RAM. Pages are appended to an open block (frontier); when it is full and no more than `reserve`
//! blocks are free, garbage collection copies the valid pages of a victim and erases it. With `frontiers = "single"`
//! there is one frontier for the device, with `"die"` one on every die, each with its own blocks, reserve and garbage
//! collection, so that writes run in parallel.
//!
//! # Parameters
//! - `victim` (default `greedy`): `greedy`, `greedy_lowest` (ties as in FlashSim), `fifo`, `random`,
//!   `{ d_choices = 10 }`, `{ windowed_greedy = 16 }`, `cost_benefit` (largest `age * (1 - u) / (2 u)`),
//!   `cost_age_times` (least `u / (1 - u) * (erases + 1) / age`).
//! - `alloc` (default `fifo`): free block that is taken. `fifo` = free for longest; `min_erase` = least erased (dynamic
//!   wear levelling).
//! - `reserve` (blocks, default 1): free blocks (per frontier group) at which garbage collection starts.
//! - `frontiers` (default `die`): `single` or `die`.
//! - `gc_frontier` (default `shared`): `shared` = copies go to the frontier of the host; `separate` = to their own.
//! - `placement` (default `lpn`): die of a page with `frontiers = "die"`: `lpn` = `lpn % dies` (static striping), or
//!   `round_robin` = next die for every write.
//! - `stripe` (default `cwd`): order in which consecutive pages or writes go over the dies: which of channel, way (chip)
//!   and die (of the chip) runs fastest. `cwd`, `cdw`, `wcd`, `wdc`, `dcw`, `dwc`.
//! - `streams` (1 to 7, default 1): host frontiers of a group, by update frequency of the page. Every page has a counter
//!   of its writes, halved after as many page writes as there are logical pages; stream 1 begins at a count of 4,
//!   stream 2 at 8, and so on.
//! - `gc_slice` (pages, default none): collection copies at most this many pages before every page that the host
//!   writes, from the moment that only the reserve is free. Needs `gc_frontier = "separate"`. Without it a victim is
//!   collected at once.
//! - `idle_free` (blocks, default 0 = off): in idle time, collection goes on until this many blocks beyond the reserve
//!   are free in every group.
//! - `wear_threshold` (erases, default none): static wear levelling: when the most and the least erased block of a group
//!   are further apart, the pages of the least erased closed block move to the most erased free one (cause `wear`).
//!
//! RAM: 4 bytes a logical page; 5 with more than one stream.
//!
//! # Deviations and chosen readings
//! - Order of one write: make room (which may copy the page about to be overwritten), program, invalidate, map.
//! - With a shared frontier the collector opens a fresh block for its copies and the host goes on in the rest of it.
//! - Effective physical size for the closed forms: `T = (blocks - reserve) * pages_per_block` with a shared frontier.
//! - Streams: copies of a shared frontier stay in the stream of their block, so that a collection opens one block at
//!   most. Counters are volatile: after a power cut every page is cold until it is written again.
//! - Slices: when the host needs a block and the victim is not yet empty, the rest is collected at once.
//! - Idle time: a collection starts only if copying a whole block one page after the other would end before the next
//!   request, and takes the block with the fewest valid pages whatever the policy. The engine knows when that request
//!   comes (open loop, or hosts that all think); waits for other dies of the same channel are not foreseen.
//! - Wear levelling happens after an erase, one block each time. Cold pages gather in an open block of their own, so
//!   that blocks which were not fully valid do not waste the worn one. The spread is that of a group.
//!
//! # Known ambiguities
//! - Simulators disagree on when collection starts and on separate frontiers, and few state it: both are parameters.
//! - Cost-age-times is given as in later papers that cite it; how the original steps the age is not modelled.

mod collect;
mod group;
mod params;

use self::group::Group;
pub use self::params::{Frontiers, GcFrontier, Params, Placement};
use super::heat::Heat;
use super::{Batch, Found, Ftl, PageRead, PageWrite, Shape, recover};
use crate::divisor::Divisor;
use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, Oob, Ticket};
use crate::ledger::Cause;
use crate::sparse::SparseTable;
use crate::types::{Lpn, Nanos, Pbn, Ppn};

/// See the module text.
#[derive(Debug)]
pub struct Page {
    params: Params,
    geometry: Geometry,
    map: SparseTable<Ppn>,
    groups: Vec<Group>,
    /// To divide by their number.
    by_group: Divisor,
    /// Groups in the order in which pages go over them.
    order: Vec<u32>,
    next_group: u32,
    /// Valid pages at which a group is full, for round-robin placement.
    most_valid: u32,
    heat: Heat,
    /// By block: the stream it was opened for; empty with one stream.
    stream_of_block: Vec<u8>,
    seed: u64,
}

/// Builds the FTL.
///
/// # Errors
/// When the logical pages do not fit beside the reserve, or a parameter is out of range.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    params.validate()?;
    let geometry = shape.geometry;
    let groups = if params.frontiers == Frontiers::Single { 1 } else { geometry.dies() };
    let frontiers = params.streams
        + u32::from(params.gc_frontier == GcFrontier::Separate)
        + u32::from(params.wear_threshold.is_some());
    let open = (u64::from(params.reserve) + u64::from(frontiers)) * u64::from(groups);
    let data_blocks = if params.placement == Placement::RoundRobin || groups == 1 {
        u64::from(shape.logical_blocks())
    } else {
        let per_group = u64::from(shape.logical_pages).div_ceil(u64::from(groups));
        per_group.div_ceil(u64::from(geometry.pages_per_block)) * u64::from(groups)
    };
    shape.need_blocks(
        "ftl.reserve",
        data_blocks + open,
        &format!("{data_blocks} of data and {open} of reserve and frontiers in {groups} group(s)"),
    )?;
    if params.placement == Placement::RoundRobin && groups > 1 {
        let why = "round_robin placement fills the dies unevenly and needs two blocks more on each";
        shape.need_blocks("ftl.placement", data_blocks + open + 2 * u64::from(groups), why)?;
    }
    let usable = geometry.blocks() / groups - params.reserve - frontiers;
    Ok(Box::new(Page::new(params, shape, usable * geometry.pages_per_block)))
}

impl Page {
    fn new(params: Params, shape: &Shape, most_valid: u32) -> Self {
        let geometry = shape.geometry;
        let single = params.frontiers == Frontiers::Single;
        let order = if single { vec![0] } else { params.stripe.order(&geometry) };
        let mut page = Self {
            params,
            geometry,
            map: SparseTable::new(shape.logical_pages as usize),
            groups: Vec::new(),
            by_group: Divisor::new(order.len() as u32),
            order,
            next_group: 0,
            most_valid,
            heat: Heat::new(params.streams, shape.logical_pages),
            stream_of_block: vec![0; if params.streams > 1 { geometry.blocks() as usize } else { 0 }],
            seed: shape.seed,
        };
        page.forget();
        page
    }

    /// All blocks free, nothing mapped.
    fn forget(&mut self) {
        let groups = self.order.len() as u32;
        let group = |first| Group::new(first, groups, self.geometry, &self.params, self.seed);
        self.groups = (0..groups).map(group).collect();
        self.map.clear();
        self.heat.forget();
        self.stream_of_block.fill(0);
    }

    #[inline]
    fn group_of(&mut self, lpn: Lpn) -> usize {
        let place = match self.params.placement {
            Placement::RoundRobin if self.groups.len() > 1 => self.next_with_room(),
            _ => self.by_group.remainder(lpn.0),
        };
        self.order[place as usize] as usize
    }

    /// The next group of the round that can hold one page more: a host could otherwise fill one die with pages that it
    /// never overwrites.
    fn next_with_room(&mut self) -> u32 {
        let groups = self.groups.len() as u32;
        for _ in 0..groups {
            self.next_group = (self.next_group + 1) % groups;
            if self.groups[self.order[self.next_group as usize] as usize].valid < self.most_valid {
                return self.next_group;
            }
        }
        unreachable!("the groups together hold more than all logical pages")
    }

    /// Host frontier of a page.
    #[inline]
    fn host_place(&mut self, lpn: Lpn, cause: Cause) -> usize {
        if !self.heat.is_on() {
            return 0;
        }
        if cause == Cause::Host {
            self.heat.count(lpn);
        }
        self.heat.stream(lpn) as usize
    }

    #[inline]
    fn write_page(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        let group = self.group_of(page.lpn);
        let place = self.host_place(page.lpn, page.cause);
        if let Some(most) = self.params.gc_slice {
            self.collect_slice(flash, group, most, after);
        }
        let mut open = &mut self.groups[group];
        if open.is_full(place) {
            self.make_room(flash, group, place, after);
            open = &mut self.groups[group];
        }
        let target = open.append(place);
        open.valid += 1;
        let oob = Oob::data(page.lpn, page.version);
        let ticket = flash.program_released(target, oob, data, page.cause, page.release, after);
        let old = self.map.replace(page.lpn.index(), target);
        if old.is_some() {
            self.drop_copy(flash, old);
        }
        ticket
    }

    #[inline(never)]
    fn write_pages(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        batch.write_each(flash, after, |flash, page, data| self.write_page(flash, page, data, after))
    }

    #[inline]
    fn drop_copy(&mut self, flash: &mut Flash, ppn: Ppn) {
        let pbn = flash.invalidate(ppn);
        let group = &mut self.groups[self.by_group.remainder(pbn.0) as usize];
        group.valid -= 1;
        group.pool.touched(pbn);
    }
}

impl Ftl for Page {
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        let ppn = self.map.at(lpn.index());
        let ticket = if ppn.is_some() { flash.read(ppn, cause, after) } else { after };
        if flash.ages() {
            self.relocate_disturbed(flash, after);
        }
        Found { ticket, ppn: self.map.at(lpn.index()) }
    }

    fn sees_neighbours(&self) -> bool {
        self.groups.len() > 1 && self.params.placement == Placement::Lpn
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let done = match batch.pages {
            // Most batches; in the loop they cost half as much again.
            [page] => self.write_page(flash, page, batch.bytes, after),
            _ => self.write_pages(flash, batch, after),
        };
        if flash.ages() {
            self.relocate_disturbed(flash, after);
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let old = self.map.take(lpn.index());
        if old.is_some() {
            self.drop_copy(flash, old);
        }
        after
    }

    fn relocates_disturbed(&self) -> bool {
        true
    }

    fn works_in_idle_time(&self) -> bool {
        self.params.idle_free > 0
    }

    fn idle(&mut self, flash: &mut Flash, until: Nanos) {
        if self.params.idle_free > 0 {
            self.collect_in_idle_time(flash, until);
        }
    }

    fn map_bytes(&self) -> u64 {
        4 * self.map.len() as u64 + self.heat.bytes()
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.map.at(lpn.index())
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.map.len() as u32);
        self.forget();
        for (lpn, ppn) in winners.mapped() {
            self.map.set(lpn.index(), ppn);
            flash.mark_valid(ppn);
            let group = self.by_group.remainder(self.geometry.pbn(ppn).0);
            self.groups[group as usize].valid += 1;
        }
        for group in &mut self.groups {
            group.recover(flash, &winners);
        }
    }

    fn check(&self, flash: &Flash) {
        let mut mapped = vec![0; self.geometry.blocks() as usize];
        for (lpn, ppn) in self.map.stored() {
            assert!(flash.is_valid(ppn), "lpn {lpn} maps to an invalid page");
            assert_eq!(flash.oob(ppn).number as usize, lpn, "OOB of the page that lpn {lpn} maps to");
            mapped[self.geometry.pbn(ppn).index()] += 1;
        }
        for (pbn, count) in mapped.iter().enumerate() {
            assert_eq!(flash.valid_pages(Pbn(pbn as u32)), *count, "valid pages of block {pbn}");
        }
        let mut uses = vec![0; self.geometry.blocks() as usize];
        for group in &self.groups {
            group.check(flash, self.params.reserve, &mut uses);
        }
        assert_eq!(self.groups.iter().map(|g| g.valid).sum::<u32>(), mapped.iter().sum::<u32>(), "valid pages");
        for (pbn, uses) in uses.iter().enumerate() {
            assert_eq!(*uses, 1, "block {pbn} is not in exactly one of free, open, closed, in collection");
        }
    }

    fn free_blocks(&self) -> u32 {
        self.groups.iter().map(|g| g.pool.free_count()).sum()
    }
}
