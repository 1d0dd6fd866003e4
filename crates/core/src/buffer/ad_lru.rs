//! ad-lru - Adaptive double LRU
//!
//! # Source
//! Peiquan Jin, Yi Ou, Theo Härder and Zhi Li, "AD-LRU: an efficient buffer replacement algorithm for flash-based
//! databases", Data and Knowledge Engineering 72, 2012, as the AALRU paper describes it and public implementations do it.
//!
//! # What it does
//! Reads and writes are cached by page in two recency queues, with a flag each. A missed page enters the cold queue, a hit
//! moves the page to the front of the hot queue; both clear its flag.
//!
//! The victim comes from the cold queue while that has more than `m` pages, else from the hot one. In the queue it is the
//! least recently used clean page, whatever its flag. Without a clean page it is found by second chance: the page at the
//! end is the victim if its flag is set, else its flag is set and it moves to the front. A dirty victim is written back
//! alone, a clean one dropped. Hot pages never become cold. O(1) amortised: the clean pages of each queue are linked among
//! themselves.
//!
//! # Deviations and chosen readings
//! - With no page in the queue that the rule names, the victim comes from the other one.
//! - A page that the host flushed stays where it is, clean, with its flag. The links of clean pages are then rebuilt at
//!   the next eviction, in one pass.
//!
//! # Known ambiguities
//! The usual `min_lc`.

use serde_json::{Value, json};

use super::tools::clean::CleanLinks;
use super::{Access, Buffer, BufferShape, Frames, Plan, Prefetch, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Least size of the cold queue (`m`), rounded half up. 0.2 is AALRU's setting; others take 0.1 and 0.5.
        min_lc: f64 = 0.2, in 0.0..=1.0, "fraction of the frames";
    }
}

#[derive(Debug, Default)]
struct Queue {
    pages: List,
    /// Its clean pages.
    clean: List,
}

const COLD: usize = 0;
const HOT: usize = 1;

/// AD-LRU: a cold and a hot queue; clean pages leave first, and the cold queue keeps a minimum size.
#[derive(Debug)]
pub struct AdLru {
    min_lc: f64,
    /// The cold queue gives victims while it has more pages.
    cold_pages_min: u32,
    links: Links,
    clean_links: CleanLinks,
    queues: [Queue; 2],
    /// By slot: its queue.
    queue_of: Vec<usize>,
    /// By slot: had its second chance.
    flagged: Vec<bool>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<AdLru, ConfigError> {
    shape.need_frames("ad-lru", shape.frames.dram, 1, "one page")?;
    Ok(AdLru {
        min_lc: params.min_lc,
        cold_pages_min: 0,
        links: Links::default(),
        clean_links: CleanLinks::default(),
        queues: [Queue::default(), Queue::default()],
        queue_of: Vec::new(),
        flagged: Vec::new(),
    })
}

impl AdLru {
    fn unlink(&mut self, slot: Slot) {
        let queue = &mut self.queues[self.queue_of[slot.index()]];
        self.links.remove(&mut queue.pages, slot.0);
        self.clean_links.remove(&mut queue.clean, slot);
    }

    /// Puts a page at the front of a queue, without a flag.
    fn push(&mut self, slot: Slot, queue: usize, slots: &Slots) {
        self.queue_of[slot.index()] = queue;
        self.flagged[slot.index()] = false;
        let queue = &mut self.queues[queue];
        self.links.push_front(&mut queue.pages, slot.0);
        if !slots.is_dirty(slot) {
            self.clean_links.push_front(&mut queue.clean, slot);
        }
    }

    /// The next victim, still in its queue.
    fn victim(&mut self) -> Option<Slot> {
        let [cold, hot] = &self.queues;
        let takes_cold = cold.pages.len() > self.cold_pages_min || hot.pages.is_empty();
        let queue = &mut self.queues[if takes_cold { COLD } else { HOT }];
        if let Some(id) = queue.clean.back() {
            return Some(Slot(id));
        }
        while let Some(id) = queue.pages.back() {
            if self.flagged[id as usize] {
                return Some(Slot(id));
            }
            self.flagged[id as usize] = true;
            self.links.move_front(&mut queue.pages, id);
        }
        None
    }
}

impl Buffer for AdLru {
    fn resize(&mut self, frames: Frames) {
        self.cold_pages_min = share(self.min_lc, frames.dram);
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        self.unlink(slot);
        self.push(slot, HOT, slots);
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let queues = self.queues.iter_mut().map(|Queue { pages, clean }| (&*pages, clean));
        self.clean_links.rebuild(&self.links, queues, slots);
        if let Some(victim) = self.victim() {
            self.unlink(victim);
            plan.evict(victim, slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.queue_of, COLD);
        slots.extend_table(&mut self.flagged, false);
        self.push(slot, COLD, slots);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.unlink(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        self.clean_links.spoil();
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(&self.links)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| slots.golden_flag(Slot(id), "cold", self.flagged[id as usize]);
        let queue = |queue: &Queue| self.links.iter(&queue.pages).map(page).collect::<Vec<_>>();
        json!({"cold": queue(&self.queues[COLD]), "hot": queue(&self.queues[HOT])})
    }
}
