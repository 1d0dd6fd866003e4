//! arc - Adaptive replacement cache
//!
//! # Source
//! N. Megiddo and D. S. Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4. A yardstick from
//! general caching: it does not know that writes cost more than reads.
//!
//! # What it does
//! Reads and writes are cached by page in two recency lists: `T1` of pages seen once, `T2` of pages seen again. The numbers
//! of pages that left them are remembered in `B1` and `B2`: never more than `c` numbers in `T1` and `B1` and `2c` in all
//! four, where `c` is the number of frames. A hit moves the page to the front of `T2`. A missed page enters `T2` if its
//! number is remembered, else `T1`.
//!
//! `p` is the size that `T1` should have. A miss remembered in `B1` raises it by `max(1, |B2| / |B1|)`, one remembered in
//! `B2` lowers it by `max(1, |B1| / |B2|)`, within 0 and `c`. The victim is the least recently used page of `T1` if `T1` is
//! longer than `p` (or as long, and the missed page was in `B2`), else that of `T2`; its number is remembered. If `T1` fills
//! all frames and the missed page is new, its least recently used page leaves without being remembered. A dirty victim is
//! written back alone, a clean one dropped. O(1).
//!
//! # Parameters
//! None: that is its point.
//!
//! # Deviations and chosen readings
//! - With `T2` empty the victim comes from `T1`, whatever `p` says.
//! - A trimmed page is not remembered, and the next miss then needs no victim.
//! - With fewer frames, pages leave as for a miss that is not remembered, and the oldest numbers beyond the bounds after
//!   them; `p` stays within the frames.
//! - A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! Hit ratios on the paper's OLTP string are those that it prints for 2,000, 5,000, 10,000 and 15,000 pages. For 1,000 pages
//! it prints 38.93 %; this gives 38.95 %, and so does libCacheSim.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ghosts::Ghosts;
use super::list::{Links, List};
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::{Lpn, Slot};

/// No parameters.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// Where the number of a missed page was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Nowhere,
    B1,
    B2,
}

/// See the module text.
#[derive(Debug)]
pub struct Arc {
    /// `c`.
    frames: u32,
    /// `p`.
    target: f64,
    links: Links,
    t1: List,
    t2: List,
    b1: Ghosts,
    b2: Ghosts,
    /// By slot.
    in_t2: Vec<bool>,
    missed: Found,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(_: Params, shape: &BufferShape) -> Result<Arc, ConfigError> {
    shape.need_frames("arc", shape.frames.dram, 1, "one page")?;
    Ok(Arc {
        frames: shape.frames.dram,
        target: 0.0,
        links: Links::default(),
        t1: List::default(),
        t2: List::default(),
        b1: Ghosts::new(shape.logical_pages),
        b2: Ghosts::new(shape.logical_pages),
        in_t2: Vec::new(),
        missed: Found::Nowhere,
    })
}

impl Arc {
    /// Numbers in `T1` and `B1`.
    fn seen_once(&self) -> u32 {
        self.t1.len() + self.b1.len()
    }
    /// Numbers in all lists.
    fn seen(&self) -> u32 {
        self.seen_once() + self.t2.len() + self.b2.len()
    }

    /// Takes the victim out of its list and remembers it (REPLACE of figure 4, and the case that forgets).
    fn victim(&mut self, missed: Option<Found>, slots: &Slots) -> Option<u32> {
        if missed == Some(Found::Nowhere) && self.t1.len() >= self.frames {
            return self.links.pop_back(&mut self.t1);
        }
        let length = f64::from(self.t1.len());
        let too_long = length > self.target || missed == Some(Found::B2) && length == self.target;
        let from_t1 = !self.t1.is_empty() && too_long || self.t2.is_empty();
        let (list, ghosts) = if from_t1 { (&mut self.t1, &mut self.b1) } else { (&mut self.t2, &mut self.b2) };
        let victim = self.links.pop_back(list)?;
        ghosts.add(slots.lpn(Slot(victim)));
        Some(victim)
    }

    /// Forgets the oldest numbers beyond the bounds.
    fn forget(&mut self) {
        while self.seen_once() > self.frames && self.b1.remove_oldest() {}
        while self.seen() > 2 * self.frames && self.b2.remove_oldest() {}
    }
}

impl Buffer for Arc {
    fn resize(&mut self, frames: Frames) {
        self.frames = frames.dram;
        self.target = self.target.min(f64::from(frames.dram));
        self.b1.set_limit(2 * frames.dram);
        self.b2.set_limit(2 * frames.dram);
        self.forget();
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        if std::mem::replace(&mut self.in_t2[slot.index()], true) {
            self.links.move_front(&mut self.t2, slot.0);
        } else {
            self.links.remove(&mut self.t1, slot.0);
            self.links.push_front(&mut self.t2, slot.0);
        }
    }
    #[inline]
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        let (b1, b2) = (f64::from(self.b1.len()), f64::from(self.b2.len()));
        if self.b1.take(access.lpn) {
            self.missed = Found::B1;
            self.target = (self.target + (b2 / b1).max(1.0)).min(f64::from(self.frames));
        } else if self.b2.take(access.lpn) {
            self.missed = Found::B2;
            self.target = (self.target - (b1 / b2).max(1.0)).max(0.0);
        } else {
            self.missed = Found::Nowhere;
            if self.seen_once() >= self.frames {
                self.b1.remove_oldest();
            } else if self.seen() >= 2 * self.frames {
                self.b2.remove_oldest();
            }
        }
        Admission::Admit(Medium::Dram)
    }
    #[inline]
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.victim(access.map(|_| self.missed), slots) {
            plan.evict(Slot(victim), slots);
        }
        if access.is_none() {
            self.forget();
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        if self.in_t2.len() <= slot.index() {
            self.in_t2.resize(slots.slot_count(), false);
        }
        let again = self.missed != Found::Nowhere;
        self.in_t2[slot.index()] = again;
        self.links.push_front(if again { &mut self.t2 } else { &mut self.t1 }, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        let list = if self.in_t2[slot.index()] { &mut self.t2 } else { &mut self.t1 };
        self.links.remove(list, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    #[inline]
    fn look_ahead(&self, slot: Slot) {
        prefetch_index(&self.in_t2, slot.index());
        self.links.look_ahead(slot.0);
    }
    #[inline]
    fn look_ahead_missing(&self, lpn: Lpn) {
        self.b1.look_ahead(lpn);
        self.b2.look_ahead(lpn);
    }
    #[inline]
    fn look_closer(&self, slot: Slot) {
        self.links.look_closer(slot.0);
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let list = |list| self.links.iter(list).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>();
        let ghosts = |ghosts: &Ghosts| ghosts.iter().map(|lpn| lpn.0).collect::<Vec<_>>();
        json!({
            "t1": list(&self.t1), "t2": list(&self.t2),
            "b1": ghosts(&self.b1), "b2": ghosts(&self.b2), "p": self.target,
        })
    }
}
