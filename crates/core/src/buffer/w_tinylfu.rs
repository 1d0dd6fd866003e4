//! w-tinylfu - Window TinyLFU
//!
//! # Source
//! Gil Einziger, Roy Friedman and Ben Manes, "TinyLFU: a highly efficient cache admission policy", ACM Transactions on
//! Storage 13(4), 2017, section 4. A yardstick from general caching: it does not know that writes cost more than reads.
//!
//! # What it does
//! Reads and writes are cached by page: new pages in a small window, a recency list, the others in the main region, two
//! recency lists (segmented LRU). A page enters the main region in probation; a hit there moves it to the protected list,
//! whose least recently used page beyond its size falls back into probation. A sketch counts how often every page was
//! accessed lately, resident or not.
//!
//! A page that the full window gives up is a candidate for the main region. While that is full the candidate meets its
//! victim, the least recently used page in probation: the one that the sketch has seen more often stays, and the victim
//! if both are equal. A dirty page that leaves is written back alone, a clean one dropped. O(1) amortised.
//!
//! # Deviations and chosen readings
//! - Room is made before the missed page enters, so the candidate is the page that it will push out of the window.
//! - With probation empty the victim is the least recently used protected page.
//! - The sketch (see `sketch.rs`) is built for the frames at the start and stays as it is when their number changes. Its
//!   hashes depend on the seed of the run only.
//! - The window has a fixed size. Later implementations adapt it.
//! - A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! - The paper leaves the size of the sketch and the hash functions open.
//! - There is no reading of the simulator libCacheSim 0.3.5 (WTinyLFU.c) with its hit counts: they hang on its hash functions,
//!   whose places collide. It has no doorkeeper, ages after 32 hits of the main region for each of its frames, counts a
//!   candidate once more when it meets its victim and no hit in the window, and raises all ten counts of a page, not the
//!   least. Hit ratio there, here, and here with `sample = 32` over a million reads, Zipf 1.0: 50.26 %, 48.61 % and 49.96 %
//!   with 1,000 frames; 64.16 %, 63.81 % and 65.29 % with 10,000; 75.99 %, 76.14 % and 76.14 % with 100,000.

use serde_json::{Value, json};

use super::tools::sketch::Sketch;
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Prefetch, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Frames of the window, rounded half up, at least one; the default is the paper's.
        window: f64 = 0.01, in 0.0..=1.0, "fraction of the frames";
        /// Most protected pages, rounded half up; the default is the paper's.
        protected: f64 = 0.8, in 0.0..=1.0, "fraction of the main region";
        /// Accesses after which the sketch ages.
        sample: u32 = 10, in 1..=1000, "times the frames";
    }
}

/// Lists of pages.
const WINDOW: usize = 0;
const PROBATION: usize = 1;
const PROTECTED: usize = 2;

/// W-TinyLFU: an LRU window before a segmented LRU, which a page enters if it was accessed more often than the victim.
#[derive(Debug)]
pub struct WTinylfu {
    params: Params,
    window_pages: u32,
    main_pages: u32,
    protected_pages: u32,
    sketch: Sketch,
    links: Links,
    lists: [List; 3],
    /// By slot: its list.
    list_of: Vec<usize>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<WTinylfu, ConfigError> {
    shape.need_frames("w-tinylfu", shape.frames.dram, 1, "one page")?;
    let frames = shape.frames.dram;
    Ok(WTinylfu {
        params,
        window_pages: 0,
        main_pages: 0,
        protected_pages: 0,
        sketch: Sketch::new(frames, u64::from(params.sample) * u64::from(frames), shape.seed),
        links: Links::default(),
        lists: [List::default(); 3],
        list_of: Vec::new(),
    })
}

impl WTinylfu {
    fn unlink(&mut self, id: u32) {
        self.links.remove(&mut self.lists[self.list_of[id as usize]], id);
    }

    fn push(&mut self, id: u32, list: usize) {
        self.list_of[id as usize] = list;
        self.links.push_front(&mut self.lists[list], id);
    }

    /// The least recently used page of a list becomes the most recent in probation.
    fn move_to_probation(&mut self, list: usize) {
        if let Some(id) = self.links.pop_back(&mut self.lists[list]) {
            self.push(id, PROBATION);
        }
    }

    fn bound_protected(&mut self) {
        while self.lists[PROTECTED].len() > self.protected_pages {
            self.move_to_probation(PROTECTED);
        }
    }

    fn main_len(&self) -> u32 {
        self.lists[PROBATION].len() + self.lists[PROTECTED].len()
    }

    /// The page that leaves, taken out of its list.
    fn victim(&mut self, slots: &Slots) -> Option<u32> {
        while self.lists[WINDOW].len() > self.window_pages && self.main_len() < self.main_pages {
            self.move_to_probation(WINDOW);
        }
        let full = self.lists[WINDOW].len() >= self.window_pages;
        let candidate = self.lists[WINDOW].back();
        let victim = self.lists[PROBATION].back().or(self.lists[PROTECTED].back());
        let leaves = match (candidate, victim) {
            (Some(candidate), Some(victim)) if full => {
                let [seen, rival] = [candidate, victim].map(|id| self.sketch.estimate(slots.lpn(Slot(id))));
                if seen > rival {
                    self.move_to_probation(WINDOW);
                    victim
                } else {
                    candidate
                }
            }
            (candidate, victim) => victim.or(candidate)?,
        };
        self.unlink(leaves);
        Some(leaves)
    }
}

impl Buffer for WTinylfu {
    fn resize(&mut self, frames: Frames) {
        self.window_pages = share(self.params.window, frames.dram).max(1);
        self.main_pages = frames.dram.saturating_sub(self.window_pages);
        self.protected_pages = share(self.params.protected, self.main_pages);
        self.bound_protected();
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, _: &Slots, _: &Sense<'_>) {
        self.sketch.record(access.lpn);
        match self.list_of[slot.index()] {
            PROBATION => {
                self.unlink(slot.0);
                self.push(slot.0, PROTECTED);
                self.bound_protected();
            }
            list => self.links.move_front(&mut self.lists[list], slot.0),
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.sketch.record(access.lpn);
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.victim(slots) {
            plan.evict(Slot(victim), slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.list_of, WINDOW);
        self.push(slot.0, WINDOW);
        // There was room, so the main region has room for what the window gives up.
        if self.lists[WINDOW].len() > self.window_pages {
            self.move_to_probation(WINDOW);
        }
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.unlink(slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(&self.links)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let list =
            |list: usize| self.links.iter(&self.lists[list]).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>();
        json!({"window": list(WINDOW), "probation": list(PROBATION), "protected": list(PROTECTED)})
    }
}
