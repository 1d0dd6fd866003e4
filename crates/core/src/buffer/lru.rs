//! lru - Least recently used
//!
//! # Source
//! The common baseline of every paper.
//!
//! # What it does
//! Reads and writes are cached by page in one recency list. The victim is the least recently used page: a dirty one
//! is written back alone, a clean one dropped. O(1).
//!
//! # Deviations and chosen readings
//! A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! None.

use serde_json::{Value, json};

use super::{Access, Buffer, BufferShape, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! { pub struct Params {} }

/// Least recently used: one recency list of pages.
#[derive(Debug, Default)]
pub struct Lru {
    links: Links,
    recency: List,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(_: Params, shape: &BufferShape) -> Result<Lru, ConfigError> {
    shape.need_frames("lru", shape.frames.dram, 1, "one page")?;
    Ok(Lru::default())
}

impl Buffer for Lru {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.links.move_front(&mut self.recency, slot.0);
    }
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.links.pop_back(&mut self.recency) {
            plan.evict(Slot(victim), slots);
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.links.push_front(&mut self.recency, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.links.remove(&mut self.recency, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        json!({"lru": self.links.iter(&self.recency).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>()})
    }
}

impl Prefetch for Lru {
    #[inline]
    fn soon(&self, slot: Slot) {
        self.links.look_ahead(slot.0);
    }
    #[inline]
    fn now(&self, slot: Slot) {
        self.links.look_closer(slot.0);
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        self.links.last_two(&self.recency)
    }
}
