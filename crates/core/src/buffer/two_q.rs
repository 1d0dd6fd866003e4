//! two-q - 2Q, full version
//!
//! # Source
//! Theodore Johnson and Dennis Shasha, "2Q: a low overhead high performance buffer management replacement algorithm",
//! VLDB 1994, the full version. A yardstick from general caching: it does not know that writes cost more than reads.
//! (`two-q`, since names of policies start with a letter.)
//!
//! # What it does
//! Reads and writes are cached by page in a FIFO queue `A1in` of pages seen once and a recency list `Am`; the numbers of
//! pages that left `A1in` are remembered in a FIFO queue `A1out`. A hit in `Am` moves the page to its front, a hit in
//! `A1in` changes nothing. A missed page enters `Am` if its number is remembered, else `A1in`.
//!
//! The victim is the oldest page of `A1in` if that has more than `kin` pages; its number is remembered, and the oldest
//! number beyond `kout` is forgotten. Else the victim is the least recently used page of `Am`, which is not remembered. A
//! dirty victim is written back alone, a clean one dropped. O(1).
//!
//! # Deviations and chosen readings
//! - A number that comes back is forgotten before room is made.
//! - With `Am` empty the victim comes from `A1in`, however short that is.
//! - A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! None.

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::tools::ghosts::Ghosts;
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Prefetch, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lpn, Slot};

crate::params! {
    pub struct Params: Copy {
        /// Pages of `A1in`, rounded half up; the default is the paper's.
        kin: f64 = 0.25, in 0.0..=1.0, "fraction of the frames";
        /// Numbers remembered, rounded half up; the default is the paper's.
        kout: f64 = 0.5, in 0.0..=10.0, "times the frames";
    }
}

/// 2Q: a FIFO of new pages (A1in), ghosts of those that left it (A1out), and an LRU of those that came back (Am).
#[derive(Debug)]
pub struct TwoQ {
    params: Params,
    a1in_pages: u32,
    links: Links,
    a1in: List,
    am: List,
    a1out: Ghosts,
    /// The missed page was remembered.
    returns: bool,
    /// By slot.
    in_am: Vec<bool>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<TwoQ, ConfigError> {
    shape.need_frames("two-q", shape.frames.dram, 1, "one page")?;
    Ok(TwoQ {
        params,
        a1in_pages: 0,
        links: Links::default(),
        a1in: List::default(),
        am: List::default(),
        a1out: Ghosts::new(shape.logical_pages),
        returns: false,
        in_am: Vec::new(),
    })
}

impl Buffer for TwoQ {
    fn resize(&mut self, frames: Frames) {
        self.a1in_pages = share(self.params.kin, frames.dram);
        self.a1out.set_limit(share(self.params.kout, frames.dram));
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        if self.in_am[slot.index()] {
            self.links.move_front(&mut self.am, slot.0);
        }
    }
    #[inline]
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.returns = self.a1out.take(access.lpn).is_some();
        Admission::Admit(Medium::Dram)
    }
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let victim = if self.a1in.len() > self.a1in_pages || self.am.is_empty() {
            let oldest = self.links.pop_back(&mut self.a1in);
            oldest.inspect(|id| self.a1out.add(0, slots.lpn(Slot(*id))))
        } else {
            self.links.pop_back(&mut self.am)
        };
        if let Some(victim) = victim {
            plan.evict(Slot(victim), slots);
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.in_am, false);
        self.in_am[slot.index()] = self.returns;
        self.links.push_front(if self.returns { &mut self.am } else { &mut self.a1in }, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        let list = if self.in_am[slot.index()] { &mut self.am } else { &mut self.a1in };
        self.links.remove(list, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let list = |list| self.links.iter(list).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>();
        let a1out: Vec<u32> = self.a1out.iter(0).map(|lpn| lpn.0).collect();
        json!({"a1in": list(&self.a1in), "am": list(&self.am), "a1out": a1out})
    }
}

impl Prefetch for TwoQ {
    #[inline]
    fn far(&self, lpn: Lpn) {
        self.a1out.look_ahead(lpn);
    }
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.in_am, slot.index());
        self.links.look_ahead(slot.0);
    }
    #[inline]
    fn now(&self, slot: Slot) {
        self.links.look_closer(slot.0);
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        let from_a1in = self.a1in.len() > self.a1in_pages || self.am.is_empty();
        self.links.last_two(if from_a1in { &self.a1in } else { &self.am })
    }
}
