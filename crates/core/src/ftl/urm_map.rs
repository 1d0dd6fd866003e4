//! urm-map - Page mapping with URM's compressed mapping table
//!
//! # Source
//! Xiaochang Li, Jichen Chen, Zhengjun Zhai, Mingchen Feng and Xin Ye, "URM: a unified RAM management scheme for NAND
//! flash storage devices", Discrete Dynamics in Nature and Society 2022, article 3376904, sections 4.2 to 4.5, figures 4
//! and 5: the mapping side.
//!
//! # What it does
//! Pages are mapped one by one, as in `page`, but the table in RAM is kept by translation pages (TP) in compressed form:
//! one entry of 6 bytes tells up to 32 consecutive pages in consecutive places. Sequentially written data needs little
//! RAM, and what the table leaves is data buffer: the RAM it takes is told after every change.
//!
//! `mode = "resident"`: the whole table is in RAM. `mode = "demand"`: the TPs lie on flash and RAM holds compressed TPs
//! within `map_budget`, in LRU order. A look-up that misses reads the TP and loads `load_entries` of its mappings,
//! beginning with the one wanted; least recently used TPs then leave until the rest fits. A dirty one is programmed
//! again, after reading it if only a part of it was loaded.
//!
//! # Parameters
//! An entry has 10 bits for the place in a TP, so `entries_per_tp` is at most 1024.
//!
//! RAM: `8 + min(6 * entries, 4 * entries_per_tp)` bytes for every TP in RAM, and with `demand` 4 bytes a TP for the
//! directory.
//!
//! # Deviations and chosen readings
//! - Runs are runs of physical page numbers, and pages of a block have consecutive ones. With `frontiers = "die"` page `l`
//!   goes to die `l mod dies` (or where `placement` says), so that on more than one die no two pages written in a row are
//!   neighbours and nothing is compressed: use `single`, as the paper's table supposes, when the size of the table
//!   matters. Sequential writes then use one die at a time.
//! - The paper's "ratio up to 43" counts 8 bytes a pair; against the 4 bytes that make its 32 MB table it is 21.3.
//! - Every TP in RAM has a header of 8 bytes. A raw TP is compressed again when its runs certainly take less.
//! - The RAM of `demand` may exceed the budget while a request is served (collections change cached mappings).
//! - Look-ups are counted as for `dftl`: one for every page that is read, written or trimmed; padding shares it.
//! - A host that predicts how many mappings a stream will need says so in the hint of each request: a miss of such a
//!   read loads that many, rounded up to a tenth of a TP, in place of `load_entries`. What a buffer writes back carries
//!   no hint.
//! - Recovery as in `dftl`; a resident table is rebuilt from the OOB of data pages.
//!
//! # Known ambiguities
//! - Whether the table is resident or paged, and how two runs are joined, is not told. The example "LPN 2055 is RLPN 6
//!   of TP 1" contradicts 1,024 mappings a TP (it is RLPN 7 of TP 2).

use serde::{Deserialize, Serialize};

use super::{Ftl, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::blocks::recover::Winners;
use crate::ftl::cache::compressed::{ENTRY_BYTES, Format, MAX_ENTRIES, MAX_RUN, RAW_BYTES};
use crate::ftl::cache::urm_table::{HEADER_BYTES, Table};
use crate::ftl::frame::space::Frontiers;
use crate::ftl::frame::translation::{MapCache, Moved, Translation};
use crate::ftl::frame::{Common, Frame, MapPolicy, Wanted, demand_params};
use crate::ledger::Cause;
use crate::types::{Bytes, Lpn, Ppn};

demand_params! {
    /// Where the table lies; figures 6 and 7 need `resident`.
    mode: Mode = Mode::Resident;
    /// Longest run of an entry, whose length has 5 bits.
    max_run: u32 = MAX_RUN, in 1..=MAX_RUN, "pages";
    /// A TP whose entries would take as much as the uncompressed 4 bytes a page is kept uncompressed ("random data are not
    /// compressed"); false = always compressed, up to 1.5 times larger.
    raw_fallback: bool = true;
    /// RAM for compressed TPs and their headers.
    map_budget: Bytes = Bytes::mib(1), with mode = "demand";
    /// What a miss loads: a multiple of a tenth of a TP (102 of 1024).
    load_entries: Option<u32> = None, in 1.., "mappings", absent "the whole TP", with mode = "demand";
    /// One data and one translation frontier, or a data frontier on every die and a translation frontier on every channel (with
    /// `gc_slice` in slices: on every die).
    frontiers: Frontiers = Frontiers::Die;
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

/// The FTL.
pub type UrmMap = Frame<Compressed>;

/// URM's part of the map in RAM: compressed translation pages.
#[derive(Debug)]
pub struct Compressed {
    table: Table,
    mode: Mode,
    budget: u64,
    entries: u32,
    load_entries: u32,
}

impl Compressed {
    /// Mappings that a miss loads: the class of what the host predicts, or what the device loads without a prediction.
    fn to_load(&self, predicted: u16) -> u32 {
        if predicted == 0 {
            return self.load_entries;
        }
        length_of_class(length_class(u32::from(predicted), self.entries), self.entries)
    }
}

/// Builds the FTL.
///
/// # Errors
/// When a relation between parameters and device is broken.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    Ok(Box::new(UrmMap::with(&params, shape)?))
}

/// Refuses parameters out of range and a budget that cannot hold one translation page.
fn validate(params: &Params, entries: u32) -> Result<(), ConfigError> {
    if params.mode == Mode::Resident {
        return Ok(());
    }
    let largest = HEADER_BYTES + u64::from(entries * if params.raw_fallback { RAW_BYTES } else { ENTRY_BYTES });
    if params.map_budget.0 < largest {
        let problem = format!("{} cannot hold one translation page of {largest}B", params.map_budget);
        return Err(ConfigError::new("ftl.map_budget", problem, format!("use {largest}B or more")));
    }
    let step = (entries / 10).max(1);
    match params.load_entries {
        Some(load) if load % step != 0 || load > entries => {
            let problem = format!("{load} is not one of {step}, {}, .. {}", 2 * step, entries / step * step);
            Err(ConfigError::new("ftl.load_entries", problem, "use a multiple of a tenth of a translation page"))
        }
        _ => Ok(()),
    }
}

impl UrmMap {
    /// The FTL by its own type, for tests.
    ///
    /// # Errors
    /// When a relation between parameters and device is broken.
    pub fn with(params: &Params, shape: &Shape) -> Result<Self, ConfigError> {
        let default = (shape.geometry.page_bytes / 4).min(MAX_ENTRIES);
        let wanted = params.entries_per_tp.unwrap_or(default);
        let common = Common { entries_per_tp: Some(wanted), ..params.common(params.frontiers) };
        let entries = common.entries(shape)?;
        if entries > MAX_ENTRIES {
            let problem = format!("{entries} is more than {MAX_ENTRIES}: RLPN has 10 bits");
            return Err(ConfigError::new("ftl.entries_per_tp", problem, "use 1024 or less"));
        }
        validate(params, entries)?;
        let map = common.translation(shape, u32::from(params.mode == Mode::Demand))?;
        let format = Format { entries_per_tp: entries, max_run: params.max_run, raw_fallback: params.raw_fallback };
        let cache = Compressed {
            table: Table::new(format, shape.logical_pages, params.mode == Mode::Resident),
            mode: params.mode,
            budget: params.map_budget.0,
            entries,
            load_entries: params.load_entries.unwrap_or(entries),
        };
        Ok(Self::new(map, cache, shape))
    }
}

/// Class of a run of that many mappings, 0 to 9: tenths of a translation page, rounded up.
pub fn length_class(run: u32, entries_per_tp: u32) -> u32 {
    run.div_ceil((entries_per_tp / 10).max(1)).clamp(1, 10) - 1
}

/// Mappings that a run of a class has at most and that are loaded for it (102 a step of 1,024).
pub fn length_of_class(class: u32, entries_per_tp: u32) -> u32 {
    (class + 1) * (entries_per_tp / 10).max(1)
}

impl Compressed {
    fn evict(&mut self, flash: &mut Flash, map: &mut Translation, tp: u32, after: Ticket) -> Ticket {
        if !self.table.is_dirty(tp) {
            self.table.drop(tp);
            return after;
        }
        let whole = map.range(tp).all(|lpn| self.table.is_loaded(Lpn(lpn)));
        let patch = |cache: &mut Self, map: &mut Translation| {
            for lpn in map.range(tp).map(Lpn).filter(|lpn| cache.table.is_loaded(*lpn)) {
                map.patch(lpn, cache.table.look_up(lpn));
            }
        };
        let done = map.write_back(flash, self, tp, whole, patch, after);
        self.table.drop(tp);
        done
    }
}

impl MapCache for Compressed {
    #[inline]
    fn moved(&mut self, lpn: Lpn, to: Ppn) -> Moved {
        if !self.table.is_loaded(lpn) {
            return Moved::Nowhere;
        }
        self.table.update(lpn, to);
        Moved::InRam
    }
}

impl MapPolicy for Compressed {
    type Entry = Lpn;

    #[inline]
    fn look_up(&mut self, flash: &mut Flash, map: &mut Translation, wanted: Wanted, after: Ticket) -> (Lpn, Ticket) {
        let lpn = wanted.lpn;
        if self.mode == Mode::Resident {
            return (lpn, after);
        }
        let tp = map.tp(lpn);
        if self.table.is_loaded(lpn) {
            flash.ledger.map_hits += 1;
            self.table.touch(tp);
            return (lpn, after);
        }
        flash.ledger.map_misses += 1;
        let ready = map.fetch(flash, tp, Cause::MapMiss, after);
        let all = map.range(tp);
        // A TP that is not on flash maps nothing, and ten steps are the whole TP.
        let load = self.to_load(wanted.mappings);
        let whole = !map.exists(tp) || load >= length_of_class(9, self.entries);
        let part = if whole { all.clone() } else { lpn.0..(lpn.0 + load).min(all.end) };
        self.table.load(tp, part, map);
        self.table.touch(tp);
        (lpn, self.shrink(flash, map, lpn, ready))
    }
    #[inline]
    fn ppn(&self, entry: Lpn) -> Ppn {
        self.table.look_up(entry)
    }
    #[inline]
    fn set(&mut self, entry: Lpn, ppn: Ppn) {
        if ppn.is_some() { self.table.update(entry, ppn) } else { self.table.unmap(entry) }
    }
    /// Evicts least recently used translation pages until the rest fits the budget.
    fn shrink(&mut self, flash: &mut Flash, map: &mut Translation, keep: Lpn, after: Ticket) -> Ticket {
        let mut ready = after;
        for _ in 0..map.pages() {
            if self.mode == Mode::Resident || self.table.bytes() <= self.budget {
                break;
            }
            let Some(victim) = self.table.victim().filter(|victim| *victim != map.tp(keep)) else { break };
            ready = self.evict(flash, map, victim, ready);
        }
        ready
    }
    fn newest(&self, lpn: Lpn) -> Option<Ppn> {
        self.table.is_loaded(lpn).then(|| self.table.look_up(lpn))
    }
    fn is_empty(&self) -> bool {
        self.mode == Mode::Demand && self.table.victim().is_none()
    }
    fn restart(&mut self, winners: &Winners) {
        self.table.clear();
        if self.mode == Mode::Resident {
            self.table.load_all(&winners.data);
        }
    }
    fn bytes(&self) -> u64 {
        self.table.bytes()
    }
    fn bytes_most(&self, _: &Translation) -> u64 {
        match self.mode {
            Mode::Resident => self.table.bytes_most(),
            Mode::Demand => self.budget,
        }
    }
    fn check(&self, map: &Translation) {
        self.table.check(map);
    }
}
