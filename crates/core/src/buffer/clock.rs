//! clock - CLOCK, second chance on a ring
//!
//! # Source
//! Fernando J. Corbató, "A paging experiment with the Multics system", in "In honor of Philip M. Morse", MIT Press 1969;
//! the form of the textbooks.
//!
//! # What it does
//! Reads and writes are cached by page. The frames form a ring with one reference bit each; a hit sets the bit. To make
//! room the hand goes round: a set bit is cleared, the first page without it is the victim and the hand stops behind
//! it. A dirty victim is written back alone, a clean one dropped. O(1), amortised over the hits that set the bits.
//!
//! # Deviations and chosen readings
//! - Free frames fill in order before the hand moves for the first time; the hand starts at the first frame. The new page
//!   takes the frame of the victim.
//! - A page that leaves for another reason (trim, fewer frames) leaves its frame free, and the hand passes over it; the
//!   frame freed last is used first.
//! - A page that the host flushed stays where it is, clean, with its bit.
//!
//! # Known ambiguities
//! Textbooks differ in the bit of a new page: `insert_ref`.

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::{Access, Buffer, BufferShape, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// The reference bit of a new page. With 1 the first round of the hand is FIFO.
        insert_ref: u32 = 0, in 0..=1;
    }
}

/// A frame of the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Free,
    Unreferenced,
    Referenced,
}

/// CLOCK: a ring of frames with a reference bit each, and a hand.
#[derive(Debug)]
pub struct Clock {
    /// By slot: slots are the frames of the ring.
    ring: Vec<Place>,
    hand: usize,
    new_page: Place,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Clock, ConfigError> {
    shape.need_frames("clock", shape.frames.dram, 1, "one page")?;
    let new_page = if params.insert_ref == 1 { Place::Referenced } else { Place::Unreferenced };
    Ok(Clock { ring: Vec::new(), hand: 0, new_page })
}

impl Buffer for Clock {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.ring[slot.index()] = Place::Referenced;
    }
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        // After one round no bit is set.
        for _ in 0..2 * self.ring.len() {
            let at = self.hand;
            self.hand = if at + 1 == self.ring.len() { 0 } else { at + 1 };
            match self.ring[at] {
                Place::Free => {}
                Place::Referenced => self.ring[at] = Place::Unreferenced,
                Place::Unreferenced => {
                    self.ring[at] = Place::Free;
                    return plan.evict(Slot::from(at), slots);
                }
            }
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.ring, Place::Free);
        self.ring[slot.index()] = self.new_page;
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.ring[slot.index()] = Place::Free;
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |(at, place): (usize, &Place)| {
            if *place == Place::Free {
                return Value::Null;
            }
            slots.golden_flag(Slot::from(at), "ref", *place == Place::Referenced)
        };
        json!({"slots": self.ring.iter().enumerate().map(page).collect::<Vec<_>>(), "hand": self.hand})
    }
}

impl Prefetch for Clock {
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.ring, slot.index());
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        // The first frame that the hand may clear; frames follow each other in memory.
        let at = |step| (self.hand + step) % self.ring.len().max(1);
        let first = (0..4).map(at).find(|at| self.ring.get(*at) == Some(&Place::Unreferenced));
        [first.map_or(Slot::NONE, Slot::from), Slot::NONE]
    }
}
