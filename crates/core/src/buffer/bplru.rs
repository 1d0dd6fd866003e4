//! bplru - Block padding LRU
//!
//! # Source
//! H. Kim and S. Ahn, "BPLRU: a buffer management scheme for improving random writes in flash storage", FAST 2008, as
//! the papers of AALRU, URM, WPA and HitStat describe it (specs/policies.md 3.8).
//!
//! # What it does
//! Writes are cached in groups, the buffered pages of one logical block, in one recency list of groups. Every write
//! makes its group the most recently used; the victim is the least recently used group. It is written back as a whole
//! block: missing pages are read from flash (padding). Reads of buffered pages are served and change nothing; other
//! reads pass by.
//!
//! LRU compensation: a block that was written completely and in order is not expected to be written again soon, so it
//! is the next victim.
//!
//! # Parameters
//! - `compensation` (default `seq`):
//!   - `seq`: the write that fills the group sends it to the least recent end, if every write since the group was
//!     created went to the next offset, from 0 on. A later write makes it an ordinary group again.
//!   - `full_first`: the least recently used full group is evicted before any other (HitStat, table 2).
//!   - `none`.
//! - `padding` (the golden files say `pad_min`; default `"always"`: AALRU says it pads "all write-back blocks"): when an
//!   incomplete victim is completed: `"never"`, `"always"`, from a share of its block on (0 to 1; HitStat's variant: 0.5),
//!   `"model"` (HitStat) or `"aalru"` (AALRU's threshold).
//!
//! # Deviations and chosen readings
//! - `full_first` acts at the next eviction, not at once.
//! - The share of `padding` is that of the pages the block has: fewer for a short last block of the device.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean; a host flush never pads.
//! - A trimmed page leaves its group without changing the order of groups.
//!
//! # Known ambiguities
//! - The exact sequential test of the original. The public lab simulator sends a block to the least recent end after
//!   half a block of consecutive accesses to it, reads included, and evicts on read misses.
//! - Which memory a hybrid buffer (WPA) would give to it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::groups::{Group, Groups};
use super::list::{Links, List};
use super::padding::{Padding, PaddingRule};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

/// Which groups are evicted out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compensation {
    /// Groups that were filled in order.
    #[default]
    Seq,
    /// Full groups.
    FullFirst,
    /// No groups.
    None,
}

/// Parameters; the manual page explains them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which groups are evicted out of order.
    pub compensation: Compensation,
    /// When an incomplete victim is completed.
    #[serde(alias = "pad_min")]
    pub padding: PaddingRule,
}

impl Default for Params {
    fn default() -> Self {
        Self { compensation: Compensation::Seq, padding: PaddingRule::Always }
    }
}

/// [`Bplru::runs`] of a group that was not written in order.
const BROKEN: u32 = u32::MAX;

/// See the module text.
#[derive(Debug)]
pub struct Bplru {
    compensation: Compensation,
    padding: Padding,
    groups: Groups,
    links: Links,
    recency: List,
    /// Full groups in the same order; only with `full_first`.
    full_links: Links,
    full: List,
    /// By group: pages written in order from offset 0 on, or [`BROKEN`].
    runs: Vec<u32>,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block, or `padding` is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<Bplru, ConfigError> {
    shape.need_block("bplru")?;
    Ok(Bplru {
        compensation: params.compensation,
        padding: Padding::of(params.padding, shape)?,
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        links: Links::default(),
        recency: List::default(),
        full_links: Links::default(),
        full: List::default(),
        runs: Vec::new(),
    })
}

impl Bplru {
    /// Takes the group out of the list of full groups, if it is there.
    #[inline]
    fn unlink_full(&mut self, group: Group) {
        if self.full_links.is_linked(group.0) {
            self.full_links.remove(&mut self.full, group.0);
        }
    }
}

impl Buffer for Bplru {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            let group = self.groups.of(slot, slots);
            self.runs[group.index()] = BROKEN;
            self.links.move_front(&mut self.recency, group.0);
            if self.full_links.is_linked(group.0) {
                self.full_links.move_front(&mut self.full, group.0);
            }
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let victim = self.full.back().or(self.recency.back()).expect("a full buffer has groups");
        self.links.remove(&mut self.recency, victim);
        self.unlink_full(Group(victim));
        let victim = Group(victim);
        let pads = self.padding.pads(self.groups.len(victim), self.groups.block_pages(victim));
        plan.write_back(self.groups.pages(victim, slots), pads);
        self.groups.take(victim);
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        let (group, created) = self.groups.insert(slot, slots);
        if created {
            self.runs.resize(self.groups.id_count().max(self.runs.len()), 0);
            self.runs[group.index()] = 0;
            self.links.push_front(&mut self.recency, group.0);
        } else {
            self.links.move_front(&mut self.recency, group.0);
        }
        let run = &mut self.runs[group.index()];
        *run = if *run == self.groups.offset(access.lpn) { *run + 1 } else { BROKEN };
        let in_order = *run == self.groups.block_pages(group);
        if self.groups.is_full(group) {
            match self.compensation {
                Compensation::Seq if in_order => self.links.move_back(&mut self.recency, group.0),
                Compensation::FullFirst => self.full_links.push_front(&mut self.full, group.0),
                _ => {}
            }
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let (group, emptied) = self.groups.remove(slot, slots);
        self.unlink_full(group);
        if emptied {
            self.links.remove(&mut self.recency, group.0);
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let groups = self.links.iter(&self.recency).map(|id| self.groups.golden(Group(id)));
        json!({"groups": groups.collect::<Vec<_>>()})
    }
}
