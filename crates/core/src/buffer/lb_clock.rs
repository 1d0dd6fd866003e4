//! lb-clock - Large block clock
//!
//! # Source
//! Biplob Debnath, Sunil Subramanya, David Du and David J. Lilja, "Large block CLOCK (LB-CLOCK): a write caching
//! algorithm for solid state disks", MASCOTS 2009, as its abstract and later papers describe it.
//!
//! # What it does
//! Writes are cached by page; the logical blocks that have buffered pages form a ring with a recency bit each and a
//! hand. The first page of a block enters it just behind the hand with the bit clear, each later write sets the bit. To
//! make room, the hand clears bits that are set until it stands at a block whose bit is clear; the victim is the largest
//! of all blocks whose bit is clear, among equals the first one from the hand on. All its pages are written back as one
//! cluster. A write that completes a block at its last page clears the bit, because the block was probably written in
//! order and will not be written again soon. Reads of buffered pages are served and change nothing; other reads bypass
//! the buffer. O(blocks in the buffer) per victim.
//!
//! # Deviations and chosen readings
//! - First the hand sweeps, then the victim is chosen; a public implementation (Z. Fan) does it the other way round, does
//!   not know the rule for completed blocks, and takes block 0 for none.
//! - The block that is being written is not protected.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean. A trimmed page leaves its block without
//!   changing the block's bit or place.
//!
//! # Known ambiguities
//! - The order of sweep and choice; the rule for completed blocks, which the abstract does not mention.

use serde_json::{Value, json};

use super::tools::groups::{Group, Groups};
use super::tools::padding::Padding;
pub use super::tools::padding::Params;
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

/// LB-CLOCK: a clock of logical blocks; of those without their reference bit the largest leaves.
#[derive(Debug)]
pub struct LbClock {
    padding: Padding,
    groups: Groups,
    links: Links,
    /// Blocks from the hand on: the hand is at the front, the place behind it is the back.
    ring: List,
    /// By group: its recency bit.
    recent: Vec<bool>,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(params: Params, shape: &BufferShape) -> Result<LbClock, ConfigError> {
    shape.need_block("lb-clock")?;
    Ok(LbClock {
        padding: Padding::of(params.padding, shape),
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        links: Links::default(),
        ring: List::default(),
        recent: Vec::new(),
    })
}

impl LbClock {
    /// Sweeps, then chooses.
    fn victim(&mut self) -> Option<Group> {
        // Every step clears a bit, so that one round is the most.
        while let Some(hand) = self.ring.front().filter(|hand| self.recent[*hand as usize]) {
            self.recent[hand as usize] = false;
            self.links.move_back(&mut self.ring, hand);
        }
        let mut best: Option<(u32, Group)> = None;
        for group in self.links.iter(&self.ring).map(Group) {
            let pages = self.groups.len(group);
            if !self.recent[group.index()] && best.is_none_or(|(most, _)| pages > most) {
                best = Some((pages, group));
            }
        }
        best.map(|(_, group)| group)
    }
}

impl Buffer for LbClock {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            let group = self.groups.of(slot, slots);
            self.recent[group.index()] = true;
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let Some(group) = self.victim() else { return };
        self.links.remove(&mut self.ring, group.0);
        self.groups.write_back(group, &self.padding, slots, plan);
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        let (group, created) = self.groups.insert(slot, slots);
        if created {
            self.recent.resize(self.groups.id_count().max(self.recent.len()), false);
            self.links.push_back(&mut self.ring, group.0);
        }
        let last_page = self.groups.offset(access.lpn) + 1 == self.groups.block_pages(group);
        self.recent[group.index()] = !(created || last_page && self.groups.is_full(group));
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let (group, emptied) = self.groups.remove(slot, slots);
        if emptied {
            self.links.remove(&mut self.ring, group.0);
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let block = |id: u32| {
            let mut block = self.groups.golden(Group(id));
            block["ref"] = json!(u8::from(self.recent[id as usize]));
            block
        };
        json!({"ring_from_hand": self.links.iter(&self.ring).map(block).collect::<Vec<_>>()})
    }
}
