//! cflru - Clean-first LRU
//!
//! # Source
//! Seon-yeong Park, Dawoon Jung, Jeong-uk Kang, Jin-soo Kim and Joonwon Lee, "CFLRU: a replacement algorithm for flash
//! memory", CASES 2006, as the papers of AALRU and URM describe it.
//!
//! # What it does
//! Reads and writes are cached by page in one recency list. Its least recent `window` pages are the clean-first
//! window: the victim is the least recently used clean page of the window, which is dropped; if the window has none,
//! the least recently used page, which is written back alone.
//!
//! O(1): the list is kept in two parts, the working part and the window, and the clean pages of the window are linked
//! among themselves in the same order. Nothing scans the window.
//!
//! With `dynamic`, the window moves by hill climbing: every `period` page accesses the cost `cost_read * pages read +
//! cost_write * pages written` of the buffer since the last check is compared with the one before; a higher cost turns
//! the direction, then the window moves by `step` pages, within 0 and the number of frames. The first move widens it.
//!
//! # Deviations and chosen readings
//! - A page that the host flushed stays where it is, clean. The links of clean pages are then rebuilt at the next
//!   eviction, in one pass over the window.
//! - When the number of frames changes, the window follows `window_ratio`; what `dynamic` has learned is kept as a
//!   number of pages added to it.
//!
//! # Known ambiguities
//! - The original adapts its window from flash read and write counts; its rule could not be read, `dynamic` is ours.
//! - Some implementations round the window down.

mod climb;

use serde_json::{Value, json};

use super::tools::clean::CleanLinks;
use super::{Access, Buffer, BufferShape, Frames, Plan, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;
use climb::Climb;

crate::params! {
    pub struct Params: Copy {
        /// The window, rounded half up. URM and the public lab simulator use 0.5, AALRU 0.4.
        window_ratio: f64 = 0.5, in 0.0..=1.0, "fraction of the frames";
        /// Whether the window adapts. The papers use static windows only.
        dynamic: bool = false;
        /// Time between two adaptations; the default is that of TONYQQ123/CFLRU-Page-Replacement-Algorithm-Simulation.
        period: u32 = 1000, in 1.., "page accesses", with dynamic = true;
        /// How far the window moves at a time; the default is from the same place.
        step: Option<u32> = None, in 1.., "pages", absent "a twentieth of the frames, at least 1",
            with dynamic = true;
        /// Cost of a page read.
        cost_read: Option<f64> = None, in 0.0.., "any common unit", absent "the page read time of the device, in ns",
            with dynamic = true;
        /// Cost of a page write.
        cost_write: Option<f64> = None, in 0.0.., "any common unit", absent "the page program time of the device, in ns",
            with dynamic = true;
    }
}

/// CFLRU: LRU that looks for a clean victim in a window at the least recently used end.
#[derive(Debug)]
pub struct Cflru {
    ratio: f64,
    climb: Option<Climb>,
    frames: u32,
    /// Pages that the window is to have.
    window_pages: u32,
    /// Pages that hill climbing has added to the window.
    learned: i64,
    links: Links,
    /// The recency list is `working`, then `window`; the window is as long as it may be.
    working: List,
    window: List,
    /// By slot: whether it is in the window.
    in_window: Vec<bool>,
    clean_links: CleanLinks,
    /// Clean pages of the window.
    clean: List,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Cflru, ConfigError> {
    shape.need_frames("cflru", shape.frames.dram, 1, "one page")?;
    let climb = Climb::new(&params, shape);
    Ok(Cflru {
        ratio: params.window_ratio,
        climb: params.dynamic.then_some(climb),
        frames: 0,
        window_pages: 0,
        learned: 0,
        links: Links::default(),
        working: List::default(),
        window: List::default(),
        in_window: Vec::new(),
        clean_links: CleanLinks::default(),
        clean: List::default(),
    })
}

impl Cflru {
    /// The window of the ratio alone.
    fn base(&self) -> i64 {
        i64::from(share(self.ratio, self.frames))
    }

    /// Sets the window's size from the ratio and what was learned.
    fn set_window(&mut self) {
        let pages = (self.base() + self.learned).clamp(0, i64::from(self.frames));
        self.learned = pages - self.base();
        self.window_pages = pages as u32;
    }

    /// Moves the border between the two parts to where it belongs: one page after most changes.
    #[inline]
    fn balance(&mut self, slots: &Slots) {
        while self.window.len() < self.window_pages {
            let Some(id) = self.links.pop_back(&mut self.working) else { break };
            self.links.push_front(&mut self.window, id);
            self.in_window[id as usize] = true;
            if !slots.is_dirty(Slot(id)) {
                self.clean_links.push_front(&mut self.clean, Slot(id));
            }
        }
        while self.window.len() > self.window_pages {
            let Some(id) = self.window.front() else { break };
            self.unlink(id);
            self.links.push_back(&mut self.working, id);
        }
    }

    /// Takes a page out of its part.
    #[inline]
    fn unlink(&mut self, id: u32) {
        if self.in_window[id as usize] {
            self.in_window[id as usize] = false;
            self.links.remove(&mut self.window, id);
            self.clean_links.remove(&mut self.clean, Slot(id));
        } else {
            self.links.remove(&mut self.working, id);
        }
    }
}

impl Buffer for Cflru {
    fn resize(&mut self, frames: Frames) {
        self.frames = frames.dram;
        self.set_window();
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        if self.in_window[slot.index()] {
            self.unlink(slot.0);
            self.links.push_front(&mut self.working, slot.0);
            self.balance(slots);
        } else {
            self.links.move_front(&mut self.working, slot.0);
        }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.balance(slots);
        self.clean_links.rebuild(&self.links, [(&self.window, &mut self.clean)], slots);
        let victim = self.clean.back().or(self.window.back()).or(self.working.back());
        let victim = victim.expect("a full buffer has pages");
        self.unlink(victim);
        plan.evict(Slot(victim), slots);
        self.balance(slots);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.in_window, false);
        self.links.push_front(&mut self.working, slot.0);
        self.balance(slots);
    }
    #[inline]
    fn after_access(&mut self, _: &Access, _: bool, slots: &Slots, sense: &Sense<'_>, _: &mut Plan) {
        let climb = self.climb.as_mut();
        if let Some(pages) = climb.and_then(|climb| climb.count(self.frames, sense.ledger)) {
            self.learned += pages;
            self.set_window();
            self.balance(slots);
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.unlink(slot.0);
        self.balance(slots);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        self.clean_links.spoil();
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let pages = self.links.iter(&self.working).chain(self.links.iter(&self.window));
        json!({"lru": pages.map(|id| slots.golden(Slot(id))).collect::<Vec<_>>(), "window": self.window_pages})
    }
}
