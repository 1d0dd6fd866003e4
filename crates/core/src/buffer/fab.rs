//! fab - Flash-aware buffer (largest block first)
//!
//! # Source
//! H. Jo et al., "FAB: flash-aware buffer management policy for portable media players", IEEE Transactions on
//! Consumer Electronics 52(2), 2006, as the papers of AALRU and HitStat describe it (specs/policies.md 3.7).
//!
//! # What it does
//! Writes are cached in groups, the buffered pages of one logical block. Every write makes its group the most recently
//! used. The victim is the group with most pages, among equals the least recently used; its pages are written back
//! ascending, as one cluster, never padded. Reads of buffered pages are served and change nothing; other reads pass by.
//!
//! O(1): one recency list for every group size; the largest size in use is known.
//!
//! # Parameters
//! None.
//!
//! # Deviations and chosen readings
//! - The block that is being written is not protected: it may be the victim, the new page then starts a new group.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean.
//! - A trimmed page leaves its group without changing the group's recency; keeping that order looks at the groups of
//!   the new size one after the other.
//!
//! # Known ambiguities
//! - The original also caches reads: that is another policy here. The public lab simulator breaks ties towards the most
//!   recently used block, protects the requested block, lets read hits reorder, and sends each run of consecutive pages
//!   as a request of its own.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::groups::{Group, Groups};
use super::list::{Links, List};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

/// No parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// See the module text.
#[derive(Debug)]
pub struct Fab {
    groups: Groups,
    links: Links,
    /// By number of pages: the groups of that size, most recently written first.
    sizes: Vec<List>,
    /// No group has more pages than this.
    largest: usize,
    /// By group: when it was written last, in writes.
    written: Vec<u64>,
    writes: u64,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(_: Params, shape: &BufferShape) -> Result<Fab, ConfigError> {
    shape.need_block("fab")?;
    Ok(Fab {
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        links: Links::default(),
        sizes: vec![List::default(); shape.pages_per_block as usize + 1],
        largest: 0,
        written: Vec::new(),
        writes: 0,
    })
}

impl Fab {
    /// The group is the most recently written one of its size.
    #[inline]
    fn stamp(&mut self, group: Group) {
        self.writes += 1;
        self.written[group.index()] = self.writes;
    }

    /// A page leaves; returns its group if that still has pages, in no list.
    fn shrink(&mut self, slot: Slot, slots: &Slots) -> Option<Group> {
        let group = self.groups.of(slot, slots);
        let size = self.groups.len(group) as usize;
        self.links.remove(&mut self.sizes[size], group.0);
        let (_, emptied) = self.groups.remove(slot, slots);
        (!emptied).then_some(group)
    }
}

impl Buffer for Fab {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            let group = self.groups.of(slot, slots);
            let size = self.groups.len(group) as usize;
            self.links.move_front(&mut self.sizes[size], group.0);
            self.stamp(group);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        // Each step down was paid for by a page that joined a group.
        while self.sizes[self.largest].is_empty() {
            self.largest = self.largest.checked_sub(1).expect("a full buffer has groups");
        }
        if let Some(victim) = self.links.pop_back(&mut self.sizes[self.largest]) {
            plan.write_back(self.groups.pages(Group(victim), slots), false);
            self.groups.take(Group(victim));
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        let (group, created) = self.groups.insert(slot, slots);
        let size = self.groups.len(group) as usize;
        if created {
            self.written.resize(self.groups.id_count().max(self.written.len()), 0);
        } else {
            self.links.remove(&mut self.sizes[size - 1], group.0);
        }
        self.links.push_front(&mut self.sizes[size], group.0);
        self.largest = self.largest.max(size);
        self.stamp(group);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let Some(group) = self.shrink(slot, slots) else { return };
        let size = self.groups.len(group) as usize;
        let written = self.written[group.index()];
        let newer = self.links.iter(&self.sizes[size]).take_while(|id| self.written[*id as usize] > written);
        let newer = newer.last();
        self.links.insert_after(&mut self.sizes[size], newer, group.0);
    }
    fn on_clean(&mut self, slot: Slot, slots: &Slots) -> bool {
        // The other pages of the group follow before anything else happens: its place does not matter.
        if let Some(group) = self.shrink(slot, slots) {
            let size = self.groups.len(group) as usize;
            self.links.push_back(&mut self.sizes[size], group.0);
        }
        false
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let mut ids: Vec<u32> = self.sizes.iter().flat_map(|list| self.links.iter(list)).collect();
        ids.sort_by_key(|id| std::cmp::Reverse(self.written[*id as usize]));
        json!({"groups": ids.into_iter().map(|id| self.groups.golden(Group(id))).collect::<Vec<_>>()})
    }
}
