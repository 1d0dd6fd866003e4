//! lru-wsr - LRU with write sequence reordering
//!
//! # Source
//! Hoyoung Jung, Hyoki Shim, Sungmin Park, Sooyong Kang and Jaehyuk Cha, "LRU-WSR: integration of LRU and writes sequence
//! reordering for flash memory", IEEE Transactions on Consumer Electronics 54(3), 2008, as public implementations do it.
//!
//! # What it does
//! Reads and writes are cached by page in one recency list, with a cold flag each. To make room the least recently used
//! page is looked at: a clean one is dropped; a dirty one that is cold is written back alone; a dirty one that is not is
//! made cold and moved to the front, and the next is looked at. A hit takes the flag away and moves the page to the
//! front. A victim is found after at most one step more than there are pages, O(1) amortised.
//!
//! # Deviations and chosen readings
//! A page that the host flushed stays where it is, clean, with its flag.
//!
//! # Known ambiguities
//! None: three public implementations agree.

use serde_json::{Value, json};

use super::{Access, Buffer, BufferShape, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! { pub struct Params {} }

/// LRU-WSR: one recency list in which cold dirty pages get a second chance.
#[derive(Debug, Default)]
pub struct LruWsr {
    links: Links,
    recency: List,
    /// By slot: had its second chance.
    cold: Vec<bool>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(_: Params, shape: &BufferShape) -> Result<LruWsr, ConfigError> {
    shape.need_frames("lru-wsr", shape.frames.dram, 1, "one page")?;
    Ok(LruWsr::default())
}

impl Buffer for LruWsr {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.cold[slot.index()] = false;
        self.links.move_front(&mut self.recency, slot.0);
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        while let Some(id) = self.recency.back() {
            let slot = Slot(id);
            if slots.is_dirty(slot) && !self.cold[slot.index()] {
                self.cold[slot.index()] = true;
                self.links.move_front(&mut self.recency, id);
            } else {
                self.links.remove(&mut self.recency, id);
                return plan.evict(slot, slots);
            }
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.cold, false);
        self.cold[slot.index()] = false;
        self.links.push_front(&mut self.recency, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.links.remove(&mut self.recency, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(&self.links)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| slots.golden_flag(Slot(id), "cold", self.cold[id as usize]);
        json!({"lru": self.links.iter(&self.recency).map(page).collect::<Vec<_>>()})
    }
}
