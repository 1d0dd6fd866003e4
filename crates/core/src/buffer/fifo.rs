//! fifo - First in, first out
//!
//! # Source
//! The common baseline.
//!
//! # What it does
//! Reads and writes are cached by page in the order in which they came; a hit changes nothing. The victim is the page
//! that came first: a dirty one is written back alone, a clean one dropped. O(1).
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

/// First in, first out: pages in order of arrival, whatever hits them.
#[derive(Debug, Default)]
pub struct Fifo {
    links: Links,
    /// Newest first.
    queue: List,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(_: Params, shape: &BufferShape) -> Result<Fifo, ConfigError> {
    shape.need_frames("fifo", shape.frames.dram, 1, "one page")?;
    Ok(Fifo::default())
}

impl Buffer for Fifo {
    #[inline]
    fn on_hit(&mut self, _: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {}
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.links.pop_back(&mut self.queue) {
            plan.evict(Slot(victim), slots);
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.links.push_front(&mut self.queue, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.links.remove(&mut self.queue, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        json!({"fifo": self.links.iter(&self.queue).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>()})
    }
}

impl Prefetch for Fifo {
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        self.links.last_two(&self.queue)
    }
}
