//! sieve - SIEVE, a queue with a moving hand
//!
//! # Source
//! Yazhuo Zhang, Juncheng Yang, Yao Yue, Ymir Vigfusson and K. V. Rashmi, "SIEVE is simpler than LRU: an efficient
//! turn-key eviction algorithm for web caches", NSDI 2024, algorithm 1. A yardstick from general caching: it does not
//! know that writes cost more than reads.
//!
//! # What it does
//! Reads and writes are cached by page in one queue, newest first, with a visited bit each. A hit sets the bit and moves
//! nothing. To make room the hand goes from the old end towards the new one, and from there to the old end again: a set
//! bit is cleared, the first page without it is the victim, and the hand stays at its newer neighbour. A dirty victim is
//! written back alone, a clean one dropped. O(1), amortised over the hits that set the bits.
//!
//! # Deviations and chosen readings
//! - When the page under the hand leaves for another reason (trim), the hand moves to its newer neighbour.
//! - A page that the host flushed stays where it is, clean, with its bit.
//!
//! # Known ambiguities
//! None.

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::{Access, Buffer, BufferShape, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! { pub struct Params {} }

/// SIEVE: a queue in order of arrival with a visited bit for each page, and a moving hand.
#[derive(Debug, Default)]
pub struct Sieve {
    links: Links,
    /// Newest first.
    queue: List,
    /// By slot.
    visited: Vec<bool>,
    /// Where the next search starts; `None`: at the old end.
    hand: Option<u32>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(_: Params, shape: &BufferShape) -> Result<Sieve, ConfigError> {
    shape.need_frames("sieve", shape.frames.dram, 1, "one page")?;
    Ok(Sieve::default())
}

impl Buffer for Sieve {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.visited[slot.index()] = true;
    }
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        // After one round no bit is set.
        while let Some(at) = self.hand.or(self.queue.back()) {
            self.hand = self.links.newer(at);
            if !std::mem::replace(&mut self.visited[at as usize], false) {
                self.links.remove(&mut self.queue, at);
                return plan.evict(Slot(at), slots);
            }
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.visited, false);
        self.visited[slot.index()] = false;
        self.links.push_front(&mut self.queue, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        if self.hand == Some(slot.0) {
            self.hand = self.links.newer(slot.0);
        }
        self.links.remove(&mut self.queue, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| {
            let mut page = slots.golden(Slot(id));
            page["visited"] = json!(u8::from(self.visited[id as usize]));
            page
        };
        let hand = self.hand.map(|id| slots.lpn(Slot(id)).0);
        json!({"queue": self.links.iter(&self.queue).map(page).collect::<Vec<_>>(), "hand": hand})
    }
}

impl Prefetch for Sieve {
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.visited, slot.index());
    }
}
