//! fab - Flash-aware buffer (largest block first)
//!
//! # Source
//! Heeseung Jo, Jeong-Uk Kang, Seon-Yeong Park, Jin-Soo Kim and Joonwon Lee, "FAB: flash-aware buffer management policy
//! for portable media players", IEEE Transactions on Consumer Electronics 52(2), 2006, as the papers of AALRU and HitStat
//! describe it.
//!
//! # What it does
//! Writes are cached in groups, the buffered pages of one logical block. Every write makes its group the most recently
//! used. The victim is the group with most pages, among equals the least recently used; its pages are written back
//! ascending, as one cluster. Reads of buffered pages are served and change nothing; other reads bypass the buffer.
//!
//! O(1): one recency list for every group size; the largest size in use is known.
//!
//! # Deviations and chosen readings
//! - The block that is being written is not protected: it may be the victim, the new page then starts a new group.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean.
//! - A trimmed page leaves its group without changing the group's recency; keeping that order looks at the groups of
//!   the new size one after the other.
//!
//! # Known ambiguities
//! - The original also caches reads: that is `fab-rw`.

use serde_json::{Value, json};

use super::tools::by_size::BySize;
use super::tools::compat::Compat;
use super::tools::groups::{Group, Groups};
use super::tools::padding::{Padding, PaddingChoice};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// When an incomplete victim is completed; never, as all papers say, if nothing else is set.
        padding: PaddingChoice = PaddingChoice::named("never"), in 0.0..=1.0, "share of its block";
        /// Whose reading. With `lab` (FAB.c), among the largest groups the most recently used one leaves, never the one being
        /// written if there is another; reads of buffered pages make their group the most recent one; each run of consecutive
        /// pages is a command of its own, unless the block is padded.
        compat: Compat = Compat::Spec;
    }
}

/// FAB: the group with the most pages leaves; among equals the least recently used.
#[derive(Debug)]
pub struct Fab {
    padding: Padding,
    compat: Compat,
    groups: Groups,
    order: BySize,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(params: Params, shape: &BufferShape) -> Result<Fab, ConfigError> {
    shape.need_block("fab")?;
    Ok(Fab {
        padding: Padding::of(params.padding, shape),
        compat: params.compat,
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        order: BySize::new(shape.pages_per_block),
    })
}

impl Fab {
    fn victim(&mut self, access: Option<&Access>) -> Option<Group> {
        if self.compat == Compat::Spec {
            return self.order.largest();
        }
        let requested = access.and_then(|access| self.groups.find_page(access.lpn));
        let other = self.order.descending().find(|group| Some(*group) != requested);
        other.or(requested)
    }

    /// One command for every run of consecutive pages.
    fn write_runs(&self, group: Group, slots: &Slots, plan: &mut Plan) {
        let pages: Vec<Slot> = self.groups.pages(group, slots).collect();
        for run in pages.chunk_by(|a, b| slots.lpn(*a).0 + 1 == slots.lpn(*b).0) {
            plan.write_back(run.iter().copied(), false);
        }
    }
}

impl Buffer for Fab {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write || self.compat == Compat::Lab {
            let group = self.groups.of(slot, slots);
            self.order.touch(group, self.groups.len(group));
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let Some(group) = self.victim(access) else { return };
        let pages = self.groups.len(group);
        self.order.remove(group, pages);
        let pads = self.padding.pads(pages, self.groups.block_pages(group));
        if self.compat == Compat::Lab && !pads {
            self.write_runs(group, slots, plan);
        } else {
            plan.write_back(self.groups.pages(group, slots), pads);
        }
        self.groups.take(group);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        self.order.join(&mut self.groups, slot, slots);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.order.leave(&mut self.groups, slot, slots);
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let groups = self.order.newest_first().into_iter();
        json!({"groups": groups.map(|group| self.groups.golden(group)).collect::<Vec<_>>()})
    }
}
