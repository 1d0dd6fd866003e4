//! fab-rw - Flash-aware buffer that also caches reads
//!
//! # Source
//! Heeseung Jo, Jeong-Uk Kang, Seon-Yeong Park, Jin-Soo Kim and Joonwon Lee, "FAB: flash-aware buffer management policy
//! for portable media players", IEEE Transactions on Consumer Electronics 52(2), 2006: the original caches reads too,
//! from memory; its text was not available. The papers of AALRU and HitStat use the write buffer `fab`.
//!
//! # What it does
//! Pages that are read or written are cached in groups, the buffered pages of one logical block. Every access makes its
//! group the most recently used. The victim is the group with most pages, clean ones included, among equals the least
//! recently used; its clean pages are dropped, its dirty pages written back as one cluster. O(1).
//!
//! # Parameters
//! A victim is incomplete whose dirty pages are not a whole block; its clean pages serve as padding before they are
//! dropped.
//!
//! # Deviations and chosen readings
//! - The block that is being accessed is not protected: it may be the victim, the new page then starts a new group.
//! - Pages that the host flushed stay, clean.
//! - A trimmed page leaves its group without changing the group's recency.
//!
//! # Known ambiguities
//! - Whether clean pages count for the size of a group, and whether a read is a use. Here both.

use serde_json::{Value, json};

use super::tools::by_size::BySize;
use super::tools::groups::Groups;
use super::tools::padding::Padding;
pub use super::tools::padding::Params;
use super::{Access, Buffer, BufferShape, Grain, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

/// FAB for reads and writes: the group with the most pages leaves, its clean pages are dropped.
#[derive(Debug)]
pub struct FabRw {
    padding: Padding,
    groups: Groups,
    order: BySize,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(params: Params, shape: &BufferShape) -> Result<FabRw, ConfigError> {
    shape.need_block("fab-rw")?;
    Ok(FabRw {
        padding: Padding::of(params.padding, shape),
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        order: BySize::new(shape.pages_per_block),
    })
}

impl Buffer for FabRw {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        let group = self.groups.of(slot, slots);
        self.order.touch(group, self.groups.len(group));
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let Some(group) = self.order.largest() else { return };
        self.order.remove(group, self.groups.len(group));
        let pads = self.padding.pads(self.groups.dirty_pages(group, slots), self.groups.block_pages(group));
        self.groups.evict(group, pads, slots, plan);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        self.order.join(&mut self.groups, slot, slots);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.order.leave(&mut self.groups, slot, slots);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let groups = self.order.newest_first().into_iter();
        json!({"groups": groups.map(|group| self.groups.golden_split(group, "block", slots)).collect::<Vec<_>>()})
    }
}
