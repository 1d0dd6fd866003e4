//! arc - Adaptive replacement cache
//!
//! # Source
//! Nimrod Megiddo and Dharmendra S. Modha, "ARC: a self-tuning, low overhead replacement cache", FAST 2003, figure 4. A
//! yardstick from general caching: it does not know that writes cost more than reads.
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
use serde_json::{Value, json};

use super::tools::ghosts::Ghosts;
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lpn, Slot};

crate::params! { pub struct Params {} }

/// Index of `T1` and `B1`, the pages seen once.
const ONCE: usize = 0;
/// Index of `T2` and `B2`, the pages seen again.
const AGAIN: usize = 1;

/// ARC: pages seen once (T1) and more often (T2), with ghosts of both that steer their shares.
#[derive(Debug)]
pub struct Arc {
    /// `c`.
    frames: u32,
    /// `p`.
    target: f64,
    links: Links,
    /// `T1` and `T2`: chosen by an index, because a branch would often be mispredicted.
    resident: [List; 2],
    /// `B1` and `B2`.
    ghosts: Ghosts<2>,
    /// By slot: in which of the two lists.
    list_of: Vec<u8>,
    /// The list of ghosts in which the missed page was found.
    missed: Option<usize>,
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
        resident: [List::default(); 2],
        ghosts: Ghosts::new(shape.logical_pages),
        list_of: Vec::new(),
        missed: None,
    })
}

impl Arc {
    /// Numbers in `T1` and `B1`, or in `T2` and `B2`.
    fn seen(&self, list: usize) -> u32 {
        self.resident[list].len() + self.ghosts.len(list)
    }
    /// Numbers in all lists.
    fn all(&self) -> u32 {
        self.seen(ONCE) + self.seen(AGAIN)
    }

    /// The list that gives the next victim (REPLACE of figure 4); `missed` as in [`Arc::missed`].
    #[inline]
    fn victims(&self, missed: Option<usize>) -> usize {
        let length = f64::from(self.resident[ONCE].len());
        let too_long = if missed == Some(AGAIN) { length >= self.target } else { length > self.target };
        let from_once = too_long && !self.resident[ONCE].is_empty() || self.resident[AGAIN].is_empty();
        usize::from(!from_once)
    }

    /// Forgets the oldest numbers beyond the bounds.
    fn forget(&mut self) {
        while self.seen(ONCE) > self.frames && self.ghosts.remove_oldest(ONCE) {}
        while self.all() > 2 * self.frames && self.ghosts.remove_oldest(AGAIN) {}
    }
}

impl Buffer for Arc {
    fn resize(&mut self, frames: Frames) {
        self.frames = frames.dram;
        self.target = self.target.min(f64::from(frames.dram));
        self.ghosts.set_limit(2 * frames.dram);
        self.forget();
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        let list = std::mem::replace(&mut self.list_of[slot.index()], AGAIN as u8);
        self.links.remove(&mut self.resident[usize::from(list)], slot.0);
        self.links.push_front(&mut self.resident[AGAIN], slot.0);
    }
    #[inline]
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        let [b1, b2] = [ONCE, AGAIN].map(|list| f64::from(self.ghosts.len(list)));
        self.missed = self.ghosts.take(access.lpn);
        match self.missed {
            Some(ONCE) => self.target = (self.target + (b2 / b1).max(1.0)).min(f64::from(self.frames)),
            Some(_) => self.target = (self.target - (b1 / b2).max(1.0)).max(0.0),
            None if self.seen(ONCE) >= self.frames => {
                self.ghosts.remove_oldest(ONCE);
            }
            None if self.all() >= 2 * self.frames => {
                self.ghosts.remove_oldest(AGAIN);
            }
            None => {}
        }
        Admission::Admit(Medium::Dram)
    }
    #[inline]
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let missed = access.and(self.missed);
        // T1 fills all frames, and the page is new: the victim is not remembered.
        let full = access.is_some() && missed.is_none() && self.resident[ONCE].len() >= self.frames;
        let list = if full { ONCE } else { self.victims(missed) };
        if let Some(victim) = self.links.pop_back(&mut self.resident[list]).map(Slot) {
            if !full {
                self.ghosts.add(list, slots.lpn(victim));
            }
            plan.evict(victim, slots);
        }
        if access.is_none() {
            self.forget();
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.list_of, 0);
        let list = usize::from(self.missed.is_some());
        self.list_of[slot.index()] = list as u8;
        self.links.push_front(&mut self.resident[list], slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        let list = usize::from(self.list_of[slot.index()]);
        self.links.remove(&mut self.resident[list], slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let [t1, t2] =
            self.resident.map(|list| self.links.iter(&list).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>());
        let [b1, b2] = [ONCE, AGAIN].map(|list| self.ghosts.iter(list).map(|lpn| lpn.0).collect::<Vec<_>>());
        json!({"t1": t1, "t2": t2, "b1": b1, "b2": b2, "p": self.target})
    }
}

impl Prefetch for Arc {
    #[inline]
    fn far(&self, lpn: Lpn) {
        self.ghosts.look_ahead(lpn);
    }
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.list_of, slot.index());
        self.links.look_ahead(slot.0);
    }
    #[inline]
    fn now(&self, slot: Slot) {
        self.links.look_closer(slot.0);
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        self.links.last_two(&self.resident[self.victims(None)])
    }
}
