//! bplru - Block padding LRU
//!
//! # Source
//! Hyojun Kim and Seongjun Ahn, "BPLRU: a buffer management scheme for improving random writes in flash storage", FAST
//! 2008, as the papers of AALRU, URM, WPA and HitStat describe it.
//!
//! # What it does
//! Writes are cached in groups, the buffered pages of one logical block, in one recency list of groups. Every write
//! makes its group the most recently used; the victim is the least recently used group. It is written back as a whole
//! block: missing pages are read from flash (padding). Reads of buffered pages are served and change nothing; other
//! reads bypass the buffer.
//!
//! LRU compensation: a block that was written completely and in order is not expected to be written again soon, so it
//! is the next victim.
//!
//! # Deviations and chosen readings
//! - `full_first` acts at the next eviction, not at once.
//! - The share of `padding` is that of the pages the block has: fewer for a short last block of the device.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean; a host flush never pads.
//! - A trimmed page leaves its group without changing the order of groups.
//! - `compat = "lab"`: the eviction for a missed read follows that read. What the simulator does besides is not part of it:
//!   victims that are not padded are written here (there they are sent to the FTL as reads, so their data is lost); pads
//!   are read through the FTL, with copies in RAM first (there a fixed time for each); and the flash read of every write
//!   miss is a setting of the device.
//!
//! # Known ambiguities
//! - The exact sequential test of the original: see `compensation` and `compat`.
//! - Which memory a hybrid buffer (WPA) would give to it: docs/results/wpa.md has the DRAM alone, and as much as both.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tools::compat::Compat;
use super::tools::groups::{Group, Groups};
use super::tools::padding::{Padding, PaddingChoice};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lbn, Lpn, Slot};

/// Which groups are evicted out of order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compensation {
    /// The write that fills the group sends it to the least recent end, if every write since the group was created went to
    /// the next offset, from 0 on. A later write makes it an ordinary group again.
    Seq,
    /// The least recently used full group is evicted before any other (HitStat, table 2).
    FullFirst,
    /// A write that is at least the `B / 2`-th access in a row to its block, reads included, sends the block to the least
    /// recent end; `B` is the number of pages of a block (the public lab simulator).
    Run,
    /// None.
    None,
}

crate::params! {
    pub struct Params: Copy {
        /// Which groups are evicted out of order.
        compensation: Option<Compensation> = None, absent "`seq`, with `compat = \"lab\"` `run`";
        /// When an incomplete victim is completed (the golden files say `pad_min`). AALRU says that BPLRU pads "all write-back
        /// blocks"; HitStat's variant is 0.5.
        #[serde(alias = "pad_min")]
        padding: Option<PaddingChoice> = None, in 0.0..=1.0, "share of its block",
            absent "`always`, with `compat = \"lab\"` 0.5";
        /// Whose reading. With `lab` (BPLRU.c of May 2018), reads that miss a full buffer evict too, although they do not enter
        /// it; the block that is accessed is spared if there is another; and the two defaults above.
        compat: Compat = Compat::Spec;
    }
}

/// [`Bplru::runs`] of a group that was not written in order.
const BROKEN: u32 = u32::MAX;

/// BPLRU: one recency list of logical blocks; a victim block is padded and written whole.
#[derive(Debug)]
pub struct Bplru {
    compensation: Compensation,
    padding: Padding,
    compat: Compat,
    groups: Groups,
    links: Links,
    recency: List,
    /// Full groups in the same order; only with `full_first`.
    full_links: Links,
    full: List,
    /// By group: pages written in order from offset 0 on, or [`BROKEN`].
    runs: Vec<u32>,
    /// The block accessed last and how often in a row; only with `run`.
    streak: (Lbn, u32),
    /// From how many accesses in a row on a block is compensated.
    streak_min: u32,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(params: Params, shape: &BufferShape) -> Result<Bplru, ConfigError> {
    shape.need_block("bplru")?;
    let lab = params.compat == Compat::Lab;
    let compensation = params.compensation.unwrap_or(if lab { Compensation::Run } else { Compensation::Seq });
    let padding =
        params.padding.unwrap_or(if lab { PaddingChoice::alone(0.5) } else { PaddingChoice::named("always") });
    Ok(Bplru {
        compensation,
        padding: Padding::of(padding, shape),
        compat: params.compat,
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        links: Links::default(),
        recency: List::default(),
        full_links: Links::default(),
        full: List::default(),
        runs: Vec::new(),
        streak: (Lbn::NONE, 0),
        streak_min: shape.pages_per_block / 2,
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

    /// One more access.
    #[inline]
    fn count(&mut self, lpn: Lpn, slots: &Slots) {
        if self.compensation == Compensation::Run {
            let lbn = slots.lbn_of(lpn);
            self.streak = if self.streak.0 == lbn { (lbn, self.streak.1 + 1) } else { (lbn, 1) };
        }
    }

    /// True if the block was accessed so often in a row that it is compensated. The first access to a block never counts.
    #[inline]
    const fn is_streak(&self) -> bool {
        self.streak.1 > 1 && self.streak.1 >= self.streak_min
    }

    /// The group that leaves: the least recently used, but not that of the requested block where the lab spares it.
    fn victim(&self, access: Option<&Access>) -> Option<Group> {
        let requested = access.filter(|_| self.compat == Compat::Lab).and_then(|a| self.groups.find_page(a.lpn));
        let full_first = self.full_links.iter_back(&self.full).chain(self.links.iter_back(&self.recency));
        full_first.map(Group).find(|group| Some(*group) != requested).or(requested)
    }

    fn evict(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let Some(victim) = self.victim(access) else { return };
        self.links.remove(&mut self.recency, victim.0);
        self.unlink_full(victim);
        self.groups.write_back(victim, &self.padding, slots, plan);
    }
}

impl Buffer for Bplru {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        self.count(access.lpn, slots);
        if access.write {
            let group = self.groups.of(slot, slots);
            self.runs[group.index()] = BROKEN;
            if self.is_streak() {
                self.links.move_back(&mut self.recency, group.0);
            } else {
                self.links.move_front(&mut self.recency, group.0);
            }
            if self.full_links.is_linked(group.0) {
                self.full_links.move_front(&mut self.full, group.0);
            }
        }
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, _: &Sense<'_>) -> Admission {
        self.count(access.lpn, slots);
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.evict(access, slots, sense, plan);
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
        if self.is_streak() {
            self.links.move_back(&mut self.recency, group.0);
        }
    }
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        if self.compat == Compat::Lab && !access.write && !hit && !slots.has_room() {
            self.evict(Some(access), slots, sense, plan);
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
