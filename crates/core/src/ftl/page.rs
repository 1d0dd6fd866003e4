//! page - Page-level mapping
//!
//! # Source
//! The ideal page-mapped FTL of the field: specs of URM (section 2, 4 B a page), EagleTree, MQSim; victim policies:
//! Desnoyers (FIFO, greedy), Van Houdt (d-choices), Rosenblum and Ousterhout (cost-benefit).
//!
//! # What it does
//! The whole map is in RAM. Pages are appended to an open block (frontier); when it is full and no more than `reserve`
//! blocks are free, garbage collection copies the valid pages of a victim and erases it. With `frontiers = "single"`
//! there is one frontier for the device, with `"die"` one on every die, each with its own blocks, reserve and garbage
//! collection, so that writes run in parallel.
//!
//! # Parameters
//! - `victim` (default `greedy`): `greedy`, `greedy_lowest` (ties as in FlashSim), `fifo`, `random`,
//!   `{ d_choices = 10 }`, `{ windowed_greedy = 16 }`, `cost_benefit`.
//! - `alloc` (default `fifo`): `fifo` or `min_erase`.
//! - `reserve` (blocks, default 1): free blocks (per frontier group) at which garbage collection starts.
//! - `frontiers` (default `die`): `single` or `die`.
//! - `gc_frontier` (default `shared`): `shared` = copies go to the frontier of the host; `separate` = to their own.
//! - `placement` (default `lpn`): die of a page with `frontiers = "die"`: `lpn` = `lpn % dies` (static striping), or
//!   `round_robin` = next die for every write.
//!
//! RAM: 4 bytes a logical page.
//!
//! # Deviations and chosen readings
//! - Order of one write: make room (which may copy the page about to be overwritten), program, invalidate, map.
//! - With a shared frontier the collector opens a fresh block for its copies and the host goes on in the rest of it.
//! - Effective physical size for the closed forms: `T = (blocks - reserve) * pages_per_block` with a shared frontier.
//!
//! # Known ambiguities
//! - Simulators disagree on when collection starts and on separate frontiers, and few state it: both are parameters.

use serde::{Deserialize, Serialize};

use super::pool::{Alloc, Pool, Victim};
use super::{Batch, Found, Ftl, Shape, recover};
use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, Oob, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lpn, Pbn, Ppn};

/// Parameters of [`Page`]; the manual page explains them.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// Free blocks per frontier group at which garbage collection starts.
    pub reserve: u32,
    /// One frontier for the device or one on every die.
    pub frontiers: Frontiers,
    /// Where garbage collection writes.
    pub gc_frontier: GcFrontier,
    /// Die of a page when every die has a frontier.
    pub placement: Placement,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            victim: Victim::Greedy,
            alloc: Alloc::Fifo,
            reserve: 1,
            frontiers: Frontiers::Die,
            gc_frontier: GcFrontier::Shared,
            placement: Placement::Lpn,
        }
    }
}

/// How many open blocks the host writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// One for the device.
    Single,
    /// One on every die.
    Die,
}

/// Where garbage collection writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcFrontier {
    /// To the frontier of the host.
    Shared,
    /// To a frontier of its own.
    Separate,
}

/// Die of a page when every die has a frontier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// `lpn % dies`.
    Lpn,
    /// The next die for every write.
    RoundRobin,
}

/// An open block.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    pbn: Pbn,
    next: u32,
}

impl Frontier {
    const NONE: Self = Self { pbn: Pbn::NONE, next: u32::MAX };
}

/// Blocks that are collected together: the device, or one die.
#[derive(Debug)]
struct Group {
    pool: Pool,
    host: Frontier,
    gc: Frontier,
}

/// See the module text.
#[derive(Debug)]
pub struct Page {
    params: Params,
    geometry: Geometry,
    map: Vec<Ppn>,
    groups: Vec<Group>,
    next_group: u32,
    seed: u64,
}

/// Builds the FTL.
///
/// # Errors
/// When the logical pages do not fit beside the reserve, or a parameter is out of range.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    let geometry = shape.geometry;
    let groups = if params.frontiers == Frontiers::Single { 1 } else { geometry.dies() };
    if params.reserve == 0 {
        return Err(ConfigError::new(
            "ftl.reserve",
            "0 leaves garbage collection no block to copy to",
            "use 1 or more",
        ));
    }
    if let Victim::DChoices(0) | Victim::WindowedGreedy(0) = params.victim {
        return Err(ConfigError::new("ftl.victim", "0 choices leave no victim", "use 1 or more"));
    }
    let separate = u64::from(params.gc_frontier == GcFrontier::Separate);
    let open = (u64::from(params.reserve) + 1 + separate) * u64::from(groups);
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
        // Overwrites leave the dies unevenly full; each must be able to hold its share plus a drift of one block.
        shape.need_blocks(
            "ftl.placement",
            data_blocks + open + 2 * u64::from(groups),
            "round_robin placement drifts",
        )?;
    }
    Ok(Box::new(Page::new(params, shape)))
}

impl Page {
    fn new(params: Params, shape: &Shape) -> Self {
        let mut page = Self {
            params,
            geometry: shape.geometry,
            map: vec![Ppn::NONE; shape.logical_pages as usize],
            groups: Vec::new(),
            next_group: 0,
            seed: shape.seed,
        };
        page.forget();
        page
    }

    /// All blocks free, nothing mapped.
    fn forget(&mut self) {
        let groups = if self.params.frontiers == Frontiers::Single { 1 } else { self.geometry.dies() };
        let Params { alloc, victim, .. } = self.params;
        let group = |first| Group {
            pool: Pool::new(first, groups, self.geometry.blocks(), alloc, victim, self.seed),
            host: Frontier::NONE,
            gc: Frontier::NONE,
        };
        self.groups = (0..groups).map(group).collect();
        self.map.fill(Ppn::NONE);
    }

    #[inline]
    fn group_of(&mut self, lpn: Lpn) -> usize {
        let groups = self.groups.len() as u32;
        if groups == 1 {
            return 0;
        }
        match self.params.placement {
            Placement::Lpn if groups.is_power_of_two() => (lpn.0 & (groups - 1)) as usize,
            Placement::Lpn => (lpn.0 % groups) as usize,
            Placement::RoundRobin => {
                self.next_group = (self.next_group + 1) % groups;
                self.next_group as usize
            }
        }
    }

    #[inline]
    fn group_of_block(&self, pbn: Pbn) -> usize {
        if self.groups.len() == 1 { 0 } else { self.geometry.die(pbn) as usize }
    }

    /// The next page of the group's host frontier, after making room for it.
    #[inline]
    fn next_host_page(&mut self, flash: &mut Flash, group: usize, after: Ticket) -> Ppn {
        let pages = self.geometry.pages_per_block;
        if self.groups[group].host.next >= pages {
            self.open_host_frontier(flash, group, after);
        }
        let frontier = &mut self.groups[group].host;
        let ppn = self.geometry.page(frontier.pbn, frontier.next);
        frontier.next += 1;
        if frontier.next == pages {
            self.groups[group].pool.close(self.geometry.pbn(ppn));
        }
        ppn
    }

    fn open_host_frontier(&mut self, flash: &mut Flash, group: usize, after: Ticket) {
        let pages = self.geometry.pages_per_block;
        // Each collection of a victim that is not fully valid yields space. Policies that do not look at valid pages
        // may miss such victims for long, so after as many turns as there are blocks the best one is taken.
        for turn in 0..=2 * self.geometry.blocks() {
            let g = &mut self.groups[group];
            if g.host.next < pages {
                return;
            }
            if g.pool.free_count() > self.params.reserve {
                g.host = Frontier { pbn: g.pool.take(flash), next: 0 };
                return;
            }
            self.collect(flash, group, turn > self.geometry.blocks(), after);
        }
        panic!("garbage collection makes no progress: more data is valid than the group can hold");
    }

    /// Collects one victim: the one with the fewest valid pages if space is `urgent`, else by the policy.
    fn collect(&mut self, flash: &mut Flash, group: usize, urgent: bool, after: Ticket) {
        flash.ledger.gc_runs += 1;
        let pool = &mut self.groups[group].pool;
        let victim = if urgent { pool.pick_fewest_valid(flash) } else { pool.pick_victim(flash) };
        let victim = victim.expect("a closed block exists when space runs out");
        let separate = self.params.gc_frontier == GcFrontier::Separate;
        let mut from = 0;
        let mut last = after;
        while let Some(source) = flash.next_valid(victim, from) {
            from = self.geometry.page_in_block(source) + 1;
            let target = self.next_gc_page(flash, group, separate);
            let lpn = flash.oob(source).number;
            last = flash.copy(source, target, Cause::Gc, after);
            self.map[lpn as usize] = target;
        }
        // Copies may go to other dies (single frontier): the erase waits for the last of them.
        flash.erase(victim, BlockKind::Data, Cause::Gc, last);
        self.groups[group].pool.give_back(victim);
    }

    #[inline]
    fn next_gc_page(&mut self, flash: &Flash, group: usize, separate: bool) -> Ppn {
        let pages = self.geometry.pages_per_block;
        let g = &mut self.groups[group];
        let frontier = if separate { &mut g.gc } else { &mut g.host };
        if frontier.next >= pages {
            *frontier = Frontier { pbn: g.pool.take(flash), next: 0 };
        }
        let ppn = self.geometry.page(frontier.pbn, frontier.next);
        frontier.next += 1;
        if frontier.next == pages {
            let full = frontier.pbn;
            g.pool.close(full);
        }
        ppn
    }

    #[inline]
    fn drop_copy(&mut self, flash: &mut Flash, ppn: Ppn) {
        flash.invalidate(ppn);
        let pbn = self.geometry.pbn(ppn);
        let group = self.group_of_block(pbn);
        self.groups[group].pool.touched(pbn);
    }
}

impl Ftl for Page {
    fn read(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause, after: Ticket) -> Found {
        let ppn = self.map[lpn.index()];
        let ticket = if ppn.is_some() { flash.read(ppn, cause, after) } else { after };
        Found { ticket, ppn }
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut done = after;
        for (page, data) in batch.iter() {
            let group = self.group_of(page.lpn);
            let target = self.next_host_page(flash, group, after);
            let oob = Oob::data(page.lpn, page.version);
            let ticket = flash.program(target, oob, data, page.cause, after);
            let old = std::mem::replace(&mut self.map[page.lpn.index()], target);
            if old.is_some() {
                self.drop_copy(flash, old);
            }
            done = if batch.pages.len() == 1 { ticket } else { flash.clock.join(done, ticket) };
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let old = std::mem::replace(&mut self.map[lpn.index()], Ppn::NONE);
        if old.is_some() {
            self.drop_copy(flash, old);
        }
        after
    }

    fn map_bytes(&self) -> u64 {
        4 * self.map.len() as u64
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.map[lpn.index()]
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.map.len() as u32);
        self.forget();
        for (lpn, ppn) in winners.mapped() {
            self.map[lpn.index()] = ppn;
            flash.mark_valid(ppn);
        }
        // Blocks that were open are sealed: they may hold a torn page, so nothing is appended to them.
        let now = Ticket::at(flash.now());
        for group in &mut self.groups {
            let blocks: Vec<Pbn> = group.pool.free_blocks().collect();
            group.pool.keep_free(|pbn| !flash.is_block_used(pbn));
            for pbn in blocks {
                if !flash.is_block_used(pbn) {
                    continue;
                }
                if winners.in_block(pbn) == 0 {
                    flash.erase(pbn, BlockKind::Data, Cause::Recover, now);
                    group.pool.give_back(pbn);
                } else {
                    group.pool.close(pbn);
                }
            }
        }
    }

    fn check(&self, flash: &Flash) {
        let mut mapped = vec![0; self.geometry.blocks() as usize];
        for (lpn, ppn) in self.map.iter().enumerate().filter(|(_, ppn)| ppn.is_some()) {
            assert!(flash.is_valid(*ppn), "lpn {lpn} maps to an invalid page");
            assert_eq!(flash.oob(*ppn).number as usize, lpn, "OOB of the page that lpn {lpn} maps to");
            mapped[self.geometry.pbn(*ppn).index()] += 1;
        }
        for (pbn, count) in mapped.iter().enumerate() {
            assert_eq!(flash.valid_pages(Pbn(pbn as u32)), *count, "valid pages of block {pbn}");
        }
        for group in &self.groups {
            for pbn in group.pool.free_blocks() {
                assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
            }
            let floor = self.params.reserve - u32::from(self.params.gc_frontier == GcFrontier::Separate);
            assert!(group.pool.free_count() >= floor, "reserve used up");
        }
    }

    fn free_blocks(&self) -> u32 {
        self.groups.iter().map(|g| g.pool.free_count()).sum()
    }
}
