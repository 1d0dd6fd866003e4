//! ref-r - Recently evicted first (reconstruction)
//!
//! # Source
//! A **reconstruction** of REF (D. Seo and D. Shin, "Recently-evicted-first buffer replacement policy for flash storage
//! devices", IEEE Transactions on Consumer Electronics 54(3), 2008) from its abstract: the victim page is chosen
//! "considering the recent victim page sent to the flash log buffer". The original text was not available, so results
//! must not be published as those of REF.
//!
//! # What it does
//! A write buffer: reads are served from it but never enter it. Pages are in one recency list; the window is its least
//! recently written part. Some logical blocks are victim blocks, so that the log blocks below see few blocks at a time.
//! The victim is the least recently written page of the window that belongs to a victim block. If there is none, the
//! blocks with the most pages in the window become the victim blocks (of equal ones, that of the page written least
//! recently). The victim is written back alone. O(window) an eviction.
//!
//! # Parameters
//! - `victim_window` (fraction of the frames, 0 to 1, default 0.75, our choice): the window, rounded half up, at least one
//!   page.
//! - `victim_blocks` (at least 1, default 1, our choice): victim blocks at a time. 1 fits FAST; on BAST give the number of
//!   its log blocks.
//!
//! # Deviations and chosen readings
//! - A write hit moves the page to the front, a read hit moves nothing.
//! - The window is a part of the frames, not of the resident pages.
//! - A page that the host flushed leaves the buffer. A trim leaves the victim blocks as they are.
//!
//! # Known ambiguities
//! The size of the window and the number of victim blocks of the original are unknown.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::list::{Links, List};
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Sense, Slots, need_share, share};
use crate::error::ConfigError;
use crate::types::{Lbn, Slot};

/// Parameters; the manual page explains them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Window as a fraction of the frames.
    pub victim_window: f64,
    /// Victim blocks at a time.
    pub victim_blocks: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { victim_window: 0.75, victim_blocks: 1 }
    }
}

/// See the module text.
#[derive(Debug)]
pub struct RefR {
    ratio: f64,
    window_pages: usize,
    victim_blocks_max: usize,
    links: Links,
    recency: List,
    victim_blocks: Vec<Lbn>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame, the window is no share, or there are no victim blocks.
pub fn build(params: Params, shape: &BufferShape) -> Result<RefR, ConfigError> {
    shape.need_frames("ref-r", shape.frames.dram, 1, "one page")?;
    let Params { victim_window: ratio, victim_blocks } = params;
    need_share("victim_window", ratio)?;
    if victim_blocks == 0 {
        let problem = "0 victim blocks have no victim";
        return Err(ConfigError::new("buffer.victim_blocks", problem, "give at least 1"));
    }
    Ok(RefR {
        ratio,
        window_pages: 1,
        victim_blocks_max: victim_blocks as usize,
        links: Links::default(),
        recency: List::default(),
        victim_blocks: Vec::new(),
    })
}

impl RefR {
    /// Pages of the window, the least recently written first, with their blocks.
    fn window<'a>(&'a self, slots: &'a Slots) -> impl Iterator<Item = (Lbn, u32)> + 'a {
        let oldest_first = self.links.iter_back(&self.recency);
        oldest_first.take(self.window_pages).map(|id| (slots.lbn(Slot(id)), id))
    }

    fn victim(&self, slots: &Slots) -> Option<u32> {
        self.window(slots).find(|(lbn, _)| self.victim_blocks.contains(lbn)).map(|(_, id)| id)
    }

    /// The blocks with the most pages in the window become the victim blocks.
    fn choose_blocks(&mut self, slots: &Slots) {
        let mut pages: Vec<(Lbn, usize)> = self.window(slots).enumerate().map(|(age, (lbn, _))| (lbn, age)).collect();
        pages.sort_unstable();
        let blocks = pages.chunk_by(|a, b| a.0 == b.0).map(|pages| (Reverse(pages.len()), pages[0].1, pages[0].0));
        let mut blocks: Vec<_> = blocks.collect();
        blocks.sort_unstable();
        self.victim_blocks = blocks.into_iter().take(self.victim_blocks_max).map(|(.., lbn)| lbn).collect();
    }
}

impl Buffer for RefR {
    fn resize(&mut self, frames: Frames) {
        self.window_pages = share(self.ratio, frames.dram).max(1) as usize;
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, _: &Slots, _: &Sense<'_>) {
        if access.write {
            self.links.move_front(&mut self.recency, slot.0);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let victim = self.victim(slots).or_else(|| {
            self.choose_blocks(slots);
            self.victim(slots)
        });
        if let Some(victim) = victim {
            self.links.remove(&mut self.recency, victim);
            plan.evict(Slot(victim), slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, _: &Slots) {
        self.links.push_front(&mut self.recency, slot.0);
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.links.remove(&mut self.recency, slot.0);
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let pages: Vec<u32> = self.links.iter(&self.recency).map(|id| slots.lpn(Slot(id)).0).collect();
        json!({"lru": pages, "victim_blocks": self.victim_blocks.iter().map(|lbn| lbn.0).collect::<Vec<_>>()})
    }
}
