//! urm-map - Page mapping with URM's compressed mapping table
//!
//! # Source
//! URM, mapping side (section 4.2, figure 5); specs/ftls.md 2.11 and policies.md 3.19.
//!
//! # What it does
//! Pages are mapped one by one, as in `page`, but the table in RAM is kept by translation pages (TP) in compressed form:
//! one entry of 6 bytes tells up to 32 consecutive pages in consecutive places. Sequentially written data needs little
//! RAM, and what the table leaves is data buffer: the RAM it takes is told after every change.
//!
//! `mode = "resident"`: the whole table is in RAM. `mode = "demand"`: the TPs lie on flash and RAM holds compressed TPs
//! within `map_budget`, in LRU order. A look-up that misses reads the TP and loads `load_entries` of its mappings,
//! beginning with the one wanted; least recently used TPs then leave until the rest fits. A dirty one is programmed
//! anew, after reading it if only a part of it was loaded.
//!
//! # Parameters
//! - `mode` (default `resident`, which figures 6 and 7 need): `resident` or `demand`.
//! - `entries_per_tp` (mappings, default `page_bytes / 4`, at most 1024: 10 bits).
//! - `max_run` (pages, default 32: 5 bits): longest run of an entry.
//! - `raw_fallback` (default true): a TP whose entries would take as much as the uncompressed 4 bytes a page is kept
//!   uncompressed ("random data are not compressed"); false = always compressed, up to 1.5 times larger.
//! - `map_budget` (bytes, default 1MiB; `demand` only): RAM for compressed TPs and their headers.
//! - `load_entries` (mappings, default the whole TP; `demand` only): a multiple of a tenth of a TP (102 of 1024).
//! - `reserve` (blocks, default 3), `victim` (default `greedy`), `alloc` (default `fifo`), `frontiers` (default `die`):
//!   as for `dftl`; resident tables allow a reserve of 1.
//!
//! RAM: `8 + min(6 * entries, 4 * entries_per_tp)` bytes for every TP in RAM, and with `demand` 4 bytes a TP for the
//! directory.
//!
//! # Deviations and chosen readings
//! - The paper's "ratio up to 43" counts 8 bytes a pair; against the 4 bytes that make its 32 MB table it is 21.3.
//! - Every TP in RAM has a header of 8 bytes. A raw TP is compressed again when its runs certainly take less.
//! - The RAM of `demand` may exceed the budget while a request is served (collections change cached mappings).
//! - A read of pages to be padded counts no look-up: the write of the same page follows and looks it up.
//! - The host may predict how many mappings of a stream are worth loading: [`UrmMap::set_load_entries`] takes the
//!   prediction for the misses that follow. No request carries it by itself.
//! - Recovery as in `dftl`; a resident table is rebuilt from the OOB of data pages.
//!
//! # Known ambiguities
//! - Whether the table is resident or paged, and how two runs are joined, is not told. The example "LPN 2055 is RLPN 6
//!   of TP 1" contradicts 1,024 mappings a TP (it is RLPN 7 of TP 2).

use serde::{Deserialize, Serialize};

use super::compressed::{ENTRY_BYTES, Format, MAX_ENTRIES, MAX_RUN, RAW_BYTES};
use super::dftl::entries_per_tp;
use super::page::Frontiers;
use super::pool::{Alloc, Victim};
use super::space::{self, Layout};
use super::translation::Translation;
use super::urm_table::{HEADER_BYTES, Table};
use super::{Batch, Found, Ftl, Shape, recover};
use crate::error::ConfigError;
use crate::flash::{Flash, Oob, Ticket};
use crate::ledger::Cause;
use crate::types::{Bytes, Lbn, Lpn, Nanos, Ppn};

/// Parameters of [`UrmMap`]; the manual page explains them.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Where the table lies.
    pub mode: Mode,
    /// Mappings of a translation page; default `page_bytes / 4`, at most 1024.
    pub entries_per_tp: Option<u32>,
    /// Longest run of an entry.
    pub max_run: u32,
    /// Keep translation pages uncompressed where compression does not pay.
    pub raw_fallback: bool,
    /// RAM for compressed translation pages with `demand`.
    pub map_budget: Bytes,
    /// Mappings loaded on a miss with `demand`; default the whole translation page.
    pub load_entries: Option<u32>,
    /// Free blocks at which garbage collection starts.
    pub reserve: u32,
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// One frontier for the device or one on every die.
    pub frontiers: Frontiers,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            mode: Mode::Resident,
            entries_per_tp: None,
            max_run: MAX_RUN,
            raw_fallback: true,
            map_budget: Bytes::mib(1),
            load_entries: None,
            reserve: 3,
            victim: Victim::Greedy,
            alloc: Alloc::Fifo,
            frontiers: Frontiers::Die,
        }
    }
}

/// Where the table lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// In RAM.
    Resident,
    /// On flash; RAM holds what is used.
    Demand,
}

/// See the module text.
#[derive(Debug)]
pub struct UrmMap {
    translation: Translation,
    table: Table,
    mode: Mode,
    budget: u64,
    load_step: u32,
    load_entries: u32,
    logical_pages: u32,
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    Ok(Box::new(UrmMap::new(&params, shape)?))
}

/// Refuses parameters out of range and a budget that cannot hold one translation page.
fn validate(params: &Params, entries: u32) -> Result<(), ConfigError> {
    if !(1..=MAX_RUN).contains(&params.max_run) {
        let problem = format!("{} is outside 1 to {MAX_RUN}: the length has 5 bits", params.max_run);
        return Err(ConfigError::new("ftl.max_run", problem, "use 32"));
    }
    if params.mode == Mode::Resident {
        return match params.load_entries {
            None => Ok(()),
            Some(_) => Err(ConfigError::new("ftl.load_entries", "a resident table loads nothing", "leave it out")),
        };
    }
    let largest = HEADER_BYTES + u64::from(entries * if params.raw_fallback { RAW_BYTES } else { ENTRY_BYTES });
    if params.map_budget.0 < largest {
        let problem = format!("{} cannot hold one translation page of {largest}B", params.map_budget);
        return Err(ConfigError::new("ftl.map_budget", problem, format!("use {largest}B or more")));
    }
    let step = (entries / 10).max(1);
    match params.load_entries {
        Some(load) if load == 0 || load % step != 0 || load > entries => {
            let problem = format!("{load} is not one of {step}, {}, .. {}", 2 * step, entries / step * step);
            Err(ConfigError::new("ftl.load_entries", problem, "use a multiple of a tenth of a translation page"))
        }
        _ => Ok(()),
    }
}

impl UrmMap {
    /// The FTL by its own type, for hosts that predict lengths.
    ///
    /// # Errors
    /// When a relation between parameters and device is broken.
    pub fn new(params: &Params, shape: &Shape) -> Result<Self, ConfigError> {
        let default = (shape.geometry.page_bytes / 4).min(MAX_ENTRIES);
        let entries = entries_per_tp(Some(params.entries_per_tp.unwrap_or(default)), shape)?;
        if entries > MAX_ENTRIES {
            let problem = format!("{entries} is more than {MAX_ENTRIES}: RLPN has 10 bits");
            return Err(ConfigError::new("ftl.entries_per_tp", problem, "use 1024 or less"));
        }
        validate(params, entries)?;
        let copies = u32::from(params.mode == Mode::Demand);
        let layout =
            Layout { victim: params.victim, alloc: params.alloc, reserve: params.reserve, frontiers: params.frontiers };
        space::validate(&layout, shape, shape.logical_pages.div_ceil(entries), copies)?;
        let format = Format { entries_per_tp: entries, max_run: params.max_run, raw_fallback: params.raw_fallback };
        Ok(Self {
            translation: Translation::new(layout, shape, entries, copies),
            table: Table::new(format, shape.logical_pages, params.mode == Mode::Resident),
            mode: params.mode,
            budget: params.map_budget.0,
            load_step: (entries / 10).max(1),
            load_entries: params.load_entries.unwrap_or(entries),
            logical_pages: shape.logical_pages,
        })
    }

    /// How many mappings the misses that follow load: the host's prediction for the stream, rounded up to a multiple of
    /// a tenth of a translation page.
    pub fn set_load_entries(&mut self, predicted: u32) {
        self.load_entries = predicted.max(1).div_ceil(self.load_step) * self.load_step;
    }

    /// Makes sure that the mapping of a page is in RAM.
    #[inline]
    fn look_up(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        if self.mode == Mode::Resident {
            return after;
        }
        let tp = self.translation.tp(lpn);
        if self.table.is_loaded(lpn) {
            flash.ledger.map_hits += 1;
            self.table.touch(tp);
            return after;
        }
        flash.ledger.map_misses += 1;
        let ready = self.translation.fetch(flash, tp, Cause::MapMiss, after);
        let all = self.translation.range(tp);
        // A TP that is not on flash maps nothing, and ten steps are the whole TP.
        let whole = !self.translation.exists(tp) || self.load_entries / self.load_step >= 10;
        let part = if whole { all.clone() } else { lpn.0..(lpn.0 + self.load_entries).min(all.end) };
        self.table.load(tp, part, &self.translation);
        self.table.touch(tp);
        self.shrink(flash, tp, ready)
    }

    /// Evicts least recently used translation pages other than `keep` until the rest fits the budget.
    fn shrink(&mut self, flash: &mut Flash, keep: u32, after: Ticket) -> Ticket {
        let mut ready = after;
        for _ in 0..self.translation.pages() {
            if self.mode == Mode::Resident || self.table.bytes() <= self.budget {
                break;
            }
            let Some(victim) = self.table.victim().filter(|victim| *victim != keep) else { break };
            ready = self.evict(flash, victim, ready);
        }
        ready
    }

    fn evict(&mut self, flash: &mut Flash, tp: u32, after: Ticket) -> Ticket {
        if !self.table.is_dirty(tp) {
            self.table.drop(tp);
            return after;
        }
        // Still cached: collecting may move its pages.
        self.translation.room_for_map(flash, &mut self.table, tp, after);
        let whole = self.translation.range(tp).all(|lpn| self.table.is_loaded(Lpn(lpn)));
        let read = if whole { after } else { self.translation.fetch(flash, tp, Cause::MapEvict, after) };
        for lpn in self.translation.range(tp).map(Lpn) {
            if self.table.is_loaded(lpn) {
                self.translation.patch(lpn, self.table.look_up(lpn));
            }
        }
        self.table.drop(tp);
        self.translation.rewrite(flash, tp, Cause::MapEvict, read)
    }

    /// The newest mapping, counting nothing.
    fn newest(&self, lpn: Lpn) -> Ppn {
        if self.table.is_loaded(lpn) { self.table.look_up(lpn) } else { self.translation.content(lpn) }
    }
}

impl Ftl for UrmMap {
    fn read(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause, after: Ticket) -> Found {
        let (ppn, ready) = if cause == Cause::Pad {
            (self.newest(lpn), after)
        } else {
            let ready = self.look_up(flash, lpn, after);
            (self.table.look_up(lpn), ready)
        };
        let ticket = if ppn.is_some() { flash.read(ppn, cause, ready) } else { ready };
        Found { ticket, ppn }
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut done = after;
        for (page, data) in batch.iter() {
            let ready = self.look_up(flash, page.lpn, after);
            let place = self.translation.room_for_data(flash, &mut self.table, page.lpn, after);
            let target = self.translation.space.append(place);
            let mut ticket = flash.program(target, Oob::data(page.lpn, page.version), data, page.cause, ready);
            let old = self.table.look_up(page.lpn);
            if old.is_some() {
                self.translation.space.drop_copy(flash, old);
            }
            self.table.update(page.lpn, target);
            ticket = self.shrink(flash, self.translation.tp(page.lpn), ticket);
            done = if batch.pages.len() == 1 { ticket } else { flash.clock.join(done, ticket) };
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let ready = self.look_up(flash, lpn, after);
        let old = self.table.look_up(lpn);
        if old.is_some() {
            self.translation.space.drop_copy(flash, old);
        }
        self.table.unmap(lpn);
        self.shrink(flash, self.translation.tp(lpn), ready)
    }

    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        if self.mode == Mode::Demand && self.table.victim().is_none() {
            self.translation.fill(flash, &mut self.table, batch);
        } else {
            self.write_block(flash, lbn, batch, Ticket::at(Nanos::ZERO));
        }
    }

    fn filled(&mut self, flash: &mut Flash) {
        self.translation.write_all(flash, &mut self.table, Cause::MapEvict);
    }

    fn map_bytes(&self) -> u64 {
        self.table.bytes() + 4 * u64::from(self.translation.pages())
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        let winners = recover::scan(flash, self.logical_pages);
        self.table.clear();
        if self.mode == Mode::Resident {
            self.table.load_all(&winners.data);
        }
        self.translation.rebuild(flash, &mut self.table, &winners);
    }

    fn check(&self, flash: &Flash) {
        self.table.check(&self.translation);
        self.translation.check(flash, |lpn| self.newest(lpn), self.logical_pages);
    }

    fn free_blocks(&self) -> u32 {
        self.translation.space.free_blocks()
    }
}
