//! clru-r - Cold/hot clean and dirty LRU (reconstruction)
//!
//! # Source
//! A **reconstruction** of CLRU (G. Xu, F. Lin and Y. Xiao, "CLRU: a new page replacement algorithm for NAND
//! flash-based consumer electronics", IEEE Transactions on Consumer Electronics 60(1), 2014) from what papers say of it:
//! CCF-LRU extended by hot and cold after the "relative access spacing", with separate queues for clean and dirty pages
//! (related work of the AALRU paper). The original text was not available, so results must not be published as those of
//! CLRU.
//!
//! # What it does
//! Reads and writes are cached by page in four recency queues: cold clean, cold dirty, hot clean, hot dirty. Page accesses
//! are numbered. A missed page enters the cold queue of its kind. A hit after a spacing of `s` accesses makes the page hot
//! if it was hot, or the hot queue of its kind is empty, or `s` is not more than the age of that queue's least recently
//! used page; the page moves to the front of its queue. While more than `hot_max` pages are hot, the older of the two
//! hot pages used least recently moves to the front of the cold queue of its kind.
//!
//! The victim is the least recently used page of the first queue that is not empty, in the order above. A dirty one is
//! written back alone, a clean one dropped. O(1).
//!
//! # Deviations and chosen readings
//! - All formulas are ours.
//! - A page that the host flushed stays where it is until it is hit or leaves the hot pages; as a victim it is dropped.
//!
//! # Known ambiguities
//! The original's measure of spacing, its order of victims and its sizes are unknown.

use serde_json::{Value, json};

use super::{Access, Buffer, BufferShape, Frames, Plan, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Most hot pages, rounded half up; the default is our choice.
        hot_max: f64 = 0.5, in 0.0..=1.0, "fraction of the frames";
    }
}

/// Names of the queues, in the order in which they give victims.
const NAMES: [&str; 4] = ["CC", "CD", "HC", "HD"];
/// The first hot queue.
const HOT: usize = 2;

/// What is known of a page.
#[derive(Clone, Copy, Default, Debug)]
struct Page {
    queue: usize,
    /// Number of the last access.
    last: u64,
}

/// CLRU (reconstruction): hot and cold pages, clean and dirty ones in queues of their own.
#[derive(Debug)]
pub struct ClruR {
    hot_max: f64,
    hot_pages_max: u32,
    links: Links,
    queues: [List; 4],
    /// By slot.
    pages: Vec<Page>,
    accesses: u64,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<ClruR, ConfigError> {
    shape.need_frames("clru-r", shape.frames.dram, 1, "one page")?;
    Ok(ClruR {
        hot_max: params.hot_max,
        hot_pages_max: 0,
        links: Links::default(),
        queues: [List::default(); 4],
        pages: Vec::new(),
        accesses: 0,
    })
}

impl ClruR {
    fn push(&mut self, slot: Slot, hot: bool, slots: &Slots) {
        let queue = if hot { HOT } else { 0 } + usize::from(slots.is_dirty(slot));
        self.pages[slot.index()].queue = queue;
        self.links.push_front(&mut self.queues[queue], slot.0);
    }

    fn unlink(&mut self, slot: Slot) {
        self.links.remove(&mut self.queues[self.pages[slot.index()].queue], slot.0);
    }

    /// Number of the last access to the least recently used page of a queue.
    fn oldest(&self, queue: usize) -> Option<(u64, Slot)> {
        self.queues[queue].back().map(|id| (self.pages[id as usize].last, Slot(id)))
    }

    /// Makes the hot pages used least recently cold while there are too many.
    fn cool(&mut self, slots: &Slots) {
        while self.queues[HOT].len() + self.queues[HOT + 1].len() > self.hot_pages_max {
            let oldest = [self.oldest(HOT), self.oldest(HOT + 1)].into_iter().flatten().min();
            let (_, slot) = oldest.expect("there are hot pages");
            self.unlink(slot);
            self.push(slot, false, slots);
        }
    }
}

impl Buffer for ClruR {
    fn resize(&mut self, frames: Frames) {
        self.hot_pages_max = share(self.hot_max, frames.dram);
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        self.accesses += 1;
        let Page { queue, last } = self.pages[slot.index()];
        // The spacing is not more than an age when the access before is not older.
        let rival = self.oldest(HOT + usize::from(slots.is_dirty(slot)));
        let hot = queue >= HOT || rival.is_none_or(|(oldest, _)| last >= oldest);
        self.unlink(slot);
        self.pages[slot.index()].last = self.accesses;
        self.push(slot, hot, slots);
        self.cool(slots);
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.queues.iter().find_map(List::back) {
            self.unlink(Slot(victim));
            plan.evict(Slot(victim), slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.pages, Page::default());
        self.accesses += 1;
        self.pages[slot.index()].last = self.accesses;
        self.push(slot, false, slots);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.unlink(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| {
            let mut page = slots.golden(Slot(id));
            page["last"] = json!(self.pages[id as usize].last);
            page
        };
        let queue = |(name, list): (&&str, &List)| ((*name).to_owned(), self.links.iter(list).map(page).collect());
        Value::Object(NAMES.iter().zip(&self.queues).map(queue).collect())
    }
}
