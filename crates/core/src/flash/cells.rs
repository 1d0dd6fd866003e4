//! What cells take, where pages and blocks differ: types of pages, blocks in SLC mode, reads that are tried again.
//!
//! The models are stated in docs/models.md, 'Cells'.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use super::reliability::fraction;
use super::{ClockTimes, Flash, Geometry};
use crate::endurance::CellType;
use crate::error::ConfigError;
use crate::ledger::Op;
use crate::types::{Nanos, Pbn, Ppn};

/// Most types of pages.
const TYPES: usize = 8;
const NANOS_PER_DAY: f64 = 86_400e9;
/// No time.
const NEVER: Nanos = Nanos(u64::MAX);

/// Times of the types of pages of a block: `["50us", "70us", "90us"]`. Empty: all pages are alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageTimes {
    times: [Nanos; TYPES],
    count: u8,
}

impl PageTimes {
    /// These times.
    ///
    /// # Errors
    /// With more than 8 of them.
    pub fn new(given: &[Nanos]) -> Result<Self, String> {
        let mut times = [Nanos::ZERO; TYPES];
        let Some(first) = times.get_mut(..given.len()) else {
            return Err(format!("{} times are too many: a block has at most {TYPES} types of pages", given.len()));
        };
        first.copy_from_slice(given);
        Ok(Self { times, count: given.len() as u8 })
    }
    /// By type.
    pub fn as_slice(&self) -> &[Nanos] {
        &self.times[..usize::from(self.count)]
    }
    /// Their mean, rounded down; none without types.
    pub fn mean(&self) -> Option<Nanos> {
        let sum: u64 = self.as_slice().iter().map(|time| time.0).sum();
        sum.checked_div(u64::from(self.count)).map(Nanos)
    }
}

impl Serialize for PageTimes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.as_slice().serialize(s)
    }
}

impl<'de> Deserialize<'de> for PageTimes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::new(&Vec::<Nanos>::deserialize(d)?).map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for PageTimes {
    fn schema_name() -> Cow<'static, str> {
        "PageTimes".into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let items = generator.subschema_for::<Nanos>();
        json!({"type": "array", "items": items, "maxItems": TYPES, "description": "Times of the types of pages"})
            .try_into()
            .expect("an object is a schema")
    }
}

/// How pages and blocks differ in what their cells take. For the timing model `scheduled`; by default they do not.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CellConfig {
    /// `t_R` of the types of pages: unit `i` of a block (`device.commands.unit_pages`) has type `i` modulo their number. Their
    /// mean is `device.timing.page_read`.
    pub read_by_type: PageTimes,
    /// `t_PROG` of the types of pages; their mean is `device.timing.page_program`.
    pub program_by_type: PageTimes,
    /// `t_R` in a block in SLC mode. With `slc_program`, FTLs that map pages can have an SLC cache (`ftl.slc_blocks`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_read: Option<Nanos>,
    /// `t_PROG` in a block in SLC mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_program: Option<Nanos>,
    /// `t_BERS` of a block in SLC mode; that of all blocks without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slc_erase: Option<Nanos>,
    /// Times that a page must be sensed again, on average, for every 1,000 P/E cycles of its block. 0 to 100.
    pub retries_per_1000_cycles: f64,
    /// The same for every day since its block was first programmed. 0 to 100.
    pub retries_per_day: f64,
    /// P/E cycles that every block had before the run, 0 to 10,000,000.
    pub cycles_before: u32,
    /// Age of what was written before the measurement, days. 0 to 3,650.
    pub days_before: f64,
}

impl CellConfig {
    /// True if it says anything.
    pub fn is_some(&self) -> bool {
        *self != Self::default()
    }

    fn retries(&self) -> bool {
        self.retries_per_1000_cycles > 0.0 || self.retries_per_day > 0.0
    }

    /// Pages of a block in SLC mode: as many units as its cells hold with one bit each. 0 without that mode.
    pub fn slc_pages(&self, cell: CellType, geometry: &Geometry, unit_pages: u32) -> u32 {
        if self.slc_program.is_none() {
            return 0;
        }
        let units = geometry.pages_per_block / unit_pages;
        units / cell.bits() * unit_pages
    }

    /// Refuses what would be without effect or contradicts the times of the array.
    ///
    /// # Errors
    /// Names the key.
    pub fn check(&self, schedules: bool, times: &ClockTimes, cell: CellType) -> Result<(), ConfigError> {
        let error = |key: &str, problem: String, help: &str| {
            Err(ConfigError::new(format!("device.cells.{key}"), problem, help))
        };
        if !schedules && self.is_some() {
            let problem = "in this timing model all pages take the same times";
            return Err(ConfigError::new("device.cells", problem, "use device.timing.model = \"scheduled\""));
        }
        let by_type = [
            ("read_by_type", &self.read_by_type, "device.timing.page_read", times.page_read),
            ("program_by_type", &self.program_by_type, "device.timing.page_program", times.page_program),
        ];
        for (key, list, mean_key, given) in by_type {
            if list.as_slice().iter().any(|time| !(1..=1_000_000_000).contains(&time.0)) {
                return error(key, "a time is outside 1ns to 1s".to_owned(), "times have a unit, as in 50us");
            }
            if let Some(mean) = list.mean()
                && mean.0.abs_diff(given.0) > 1
            {
                let problem = format!("the mean of the types is {mean}, {mean_key} is {given}");
                return error(key, problem, &format!("set {mean_key} to {}ns: policies reckon with it", mean.0));
            }
        }
        let slc = [("slc_read", self.slc_read), ("slc_program", self.slc_program), ("slc_erase", self.slc_erase)];
        for (key, time) in slc {
            if time.is_some_and(|time| !(1..=1_000_000_000).contains(&time.0)) {
                return error(key, "it is outside 1ns to 1s".to_owned(), "times have a unit, as in 50us");
            }
        }
        if self.slc_read.is_some() != self.slc_program.is_some() || self.slc_erase.is_some() && self.slc_read.is_none()
        {
            let problem = "an SLC mode has a time to read and a time to program".to_owned();
            return error("slc_read", problem, "give slc_read and slc_program, or neither");
        }
        if self.slc_program.is_some() && cell == CellType::Slc {
            let problem = "cells of one bit have no other mode".to_owned();
            return error("slc_program", problem, "leave it out, or set device.endurance.cell");
        }
        let rates = [
            ("retries_per_1000_cycles", self.retries_per_1000_cycles, 100.0),
            ("retries_per_day", self.retries_per_day, 100.0),
            ("days_before", self.days_before, 3_650.0),
        ];
        for (key, value, most) in rates {
            if !(0.0..=most).contains(&value) {
                return error(key, format!("{value} is outside 0 to {most}"), "leave it out for none");
            }
        }
        if self.cycles_before > 10_000_000 {
            return error("cycles_before", format!("{} is outside 0 to 10000000", self.cycles_before), "use fewer");
        }
        if self.cycles_before > 0 && self.retries_per_1000_cycles == 0.0 {
            let problem = "cycles change nothing without retries_per_1000_cycles".to_owned();
            return error("cycles_before", problem, "set device.cells.retries_per_1000_cycles, or leave it out");
        }
        if self.days_before > 0.0 && self.retries_per_day == 0.0 {
            let problem = "age changes nothing without retries_per_day".to_owned();
            return error("days_before", problem, "set device.cells.retries_per_day, or leave it out");
        }
        Ok(())
    }
}

/// The times of an array whose pages or blocks differ.
#[derive(Clone, Debug)]
pub(super) struct CellTimes {
    config: CellConfig,
    usual: [Nanos; 3],
    unit_pages: u32,
    slc_pages: u32,
    seed: u64,
    /// Reads so far, of which each draws its own number of retries.
    reads: u64,
    /// The block erased last was in SLC mode.
    erased_slc: bool,
    /// By block: when its first page was programmed, if age matters; [`NEVER`] since its erase, or if it was not told.
    since: Vec<Nanos>,
    /// End of the preconditioning: what was written until then is old.
    measured_from: Nanos,
}

impl CellTimes {
    /// Times to sense a page of a block with this many erases, at a given time.
    fn senses(&mut self, pbn: Pbn, erases: u32, now: Nanos) -> u64 {
        if !self.config.retries() {
            return 1;
        }
        let cycles = f64::from(erases) + f64::from(self.config.cycles_before);
        let mut expected = cycles / 1_000.0 * self.config.retries_per_1000_cycles;
        if let Some(since) = self.since.get(pbn.index()) {
            let since = if *since == NEVER { Nanos::ZERO } else { *since };
            let before = if since < self.measured_from { self.config.days_before } else { 0.0 };
            let days = (now - since).0 as f64 / NANOS_PER_DAY + before;
            expected += days * self.config.retries_per_day;
        }
        self.reads += 1;
        let more = fraction(self.seed.rotate_left(16), self.reads) < expected.fract();
        1 + expected as u64 + u64::from(more)
    }
}

impl Flash {
    /// Makes pages and blocks differ in what their cells take, before the first use. Blocks hold `slc_pages` pages in SLC mode.
    pub fn set_cells(&mut self, config: CellConfig, times: &ClockTimes, unit_pages: u32, slc_pages: u32, seed: u64) {
        if !config.is_some() {
            return;
        }
        let blocks = self.geometry.blocks() as usize;
        self.cells.slc = vec![false; if slc_pages > 0 { blocks } else { 0 }];
        self.times = Some(Box::new(CellTimes {
            config,
            usual: [times.page_read, times.page_program, times.block_erase],
            unit_pages,
            slc_pages,
            seed,
            reads: 0,
            erased_slc: false,
            since: vec![NEVER; if config.retries_per_day > 0.0 { blocks } else { 0 }],
            measured_from: Nanos::ZERO,
        }));
    }

    /// An erased block holds one bit in a cell from now on, until its next erase.
    ///
    /// # Panics
    /// If the array has no such mode or the block is not erased.
    pub fn use_as_slc(&mut self, pbn: Pbn) {
        assert_eq!(self.next_page(pbn), 0, "block {} is not erased", pbn.0);
        self.cells.slc[pbn.index()] = true;
    }
    /// True if the block is in SLC mode.
    #[inline]
    pub fn is_slc(&self, pbn: Pbn) -> bool {
        self.cells.slc.get(pbn.index()).is_some_and(|slc| *slc)
    }
    /// Pages that a block holds in its mode.
    #[inline]
    pub fn capacity(&self, pbn: Pbn) -> u32 {
        match &self.times {
            Some(times) if self.is_slc(pbn) => times.slc_pages,
            _ => self.geometry.pages_per_block,
        }
    }

    /// A block is being erased: the next one that uses it decides on its mode.
    pub(super) fn end_slc(&mut self, pbn: Pbn) {
        let was_slc = self.cells.slc.get_mut(pbn.index()).is_some_and(std::mem::take);
        self.ledger.slc_erases += u64::from(was_slc);
        if let Some(times) = &mut self.times {
            times.erased_slc = was_slc;
        }
    }

    /// What the cells take for an operation, and the operation without any waiting. `inside` the plane what is read is not
    /// checked, so that nothing is read again, nor transferred.
    #[inline(never)]
    pub(super) fn times_of(&mut self, op: Op, pbn: Pbn, ppn: Ppn, inside: bool) -> (Nanos, Nanos) {
        let slc = self.is_slc(pbn);
        let offset = self.geometry.page_in_block(ppn);
        let (erases, now) = (self.erase_count(pbn), self.now());
        let bus = self.clock.channel_time(if inside { Op::Erase } else { op });
        let times = self.times.as_mut().expect("the caller has looked");
        let CellTimes { config, usual, unit_pages, slc_pages, .. } = &**times;
        let by_type = |list: &PageTimes| {
            let list = list.as_slice();
            (!list.is_empty()).then(|| list[(offset / unit_pages) as usize % list.len()])
        };
        let mode = |time: Option<Nanos>| time.filter(|_| slc);
        let cells = match op {
            Op::Read => mode(config.slc_read).or_else(|| by_type(&config.read_by_type)),
            Op::Program => mode(config.slc_program).or_else(|| by_type(&config.program_by_type)),
            Op::Erase => config.slc_erase.filter(|_| times.erased_slc),
        };
        let mut cells = cells.unwrap_or(usual[op as usize]);
        match op {
            Op::Read if inside => {}
            Op::Read => cells = cells * times.senses(pbn, erases, now),
            Op::Program => {
                assert!(!slc || offset < *slc_pages, "block {} holds {slc_pages} pages in SLC mode", pbn.0);
                self.ledger.slc_programs += u64::from(slc);
                // Not all FTLs begin at the first page of a block.
                if let Some(since) = times.since.get_mut(pbn.index()).filter(|since| **since == NEVER) {
                    *since = now;
                }
            }
            Op::Erase => {
                if let Some(since) = times.since.get_mut(pbn.index()) {
                    *since = NEVER;
                }
            }
        }
        (cells, cells + bus)
    }

    /// The preconditioning is over.
    pub(crate) fn age_contents(&mut self) {
        let now = self.now();
        if let Some(times) = &mut self.times {
            times.measured_from = now;
        }
    }
}
