//! ref-r - Recently evicted first (reconstruction)
//!
//! # Source
//! A **reconstruction** of REF (Dongyoung Seo and Dongkun Shin, "Recently-evicted-first buffer replacement policy for
//! flash storage devices", IEEE Transactions on Consumer Electronics 54(3), 2008) from its abstract: the victim page is
//! chosen "considering the recent victim page sent to the flash log buffer". The original text was not available, so
//! results must not be published as those of REF.
//!
//! # What it does
//! A write buffer: reads are served from it but never enter it. Pages are in one recency list; the window is its least
//! recently written part. Some logical blocks are victim blocks, so that the log blocks below see few blocks at a time.
//! The victim is the least recently written page of the window that belongs to a victim block. If there is none, the
//! blocks with the most pages in the window become the victim blocks (of equal ones, that of the page written least
//! recently). The victim is written back alone. O(victim blocks) an eviction, O(blocks in the window) to choose them.
//!
//! # Deviations and chosen readings
//! - A write hit moves the page to the front, a read hit moves nothing.
//! - The window is a part of the frames, not of the resident pages.
//! - A page that the host flushed leaves the buffer. A trim leaves the victim blocks as they are.
//!
//! # Known ambiguities
//! The size of the window and the number of victim blocks of the original are unknown.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::tools::groups::{Group, Groups};
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lbn, Slot};

crate::params! {
    pub struct Params: Copy {
        /// The window, rounded half up, at least one page; the default is our choice.
        victim_window: f64 = 0.75, in 0.0..=1.0, "fraction of the frames";
        /// Victim blocks at a time; the default is our choice. 1 fits FAST; on BAST give the number of its log blocks.
        victim_blocks: u32 = 1, in 1..;
    }
}

/// REF (reconstruction): pages leave from a few victim blocks until these are evicted.
#[derive(Debug)]
pub struct RefR {
    ratio: f64,
    window_pages: u32,
    victim_blocks_max: usize,
    links: Links,
    recency: List,
    /// By slot: number of the last write, which tells of two pages which is the older.
    written: Vec<u64>,
    writes: u64,
    window: Window,
    victim_blocks: Vec<Lbn>,
}

/// The least recently written pages, also by block. It follows the recency list from one eviction to the next.
#[derive(Debug)]
struct Window {
    pages: u32,
    /// Its most recent page.
    newest: Option<u32>,
    blocks: Groups,
    /// By block: its pages of the window, the most recent first.
    lists: Vec<List>,
    links: Links,
}

impl Window {
    /// Follows the recency list: of its least recent pages `limit` are in the window.
    fn follow(&mut self, links: &Links, recency: &List, limit: u32, slots: &Slots) {
        while let Some(newest) = self.newest.filter(|_| self.pages > limit) {
            self.leave(newest, links, slots);
        }
        while self.pages < limit {
            let Some(next) = self.newest.map_or(recency.back(), |newest| links.newer(newest)) else { return };
            let (block, _) = self.blocks.insert(Slot(next), slots);
            self.lists.resize(self.blocks.id_count().max(self.lists.len()), List::default());
            self.links.push_front(&mut self.lists[block.index()], next);
            self.newest = Some(next);
            self.pages += 1;
        }
    }

    /// A page leaves its place in the recency list, where it still is.
    fn leave(&mut self, id: u32, links: &Links, slots: &Slots) {
        if !self.links.is_linked(id) {
            return;
        }
        if self.newest == Some(id) {
            self.newest = links.older(id);
        }
        let (block, _) = self.blocks.remove(Slot(id), slots);
        self.links.remove(&mut self.lists[block.index()], id);
        self.pages -= 1;
    }

    /// Least recent page of a block.
    fn oldest(&self, lbn: Lbn) -> Option<u32> {
        self.lists[self.blocks.find(lbn)?.index()].back()
    }
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<RefR, ConfigError> {
    shape.need_frames("ref-r", shape.frames.dram, 1, "one page")?;
    let Params { victim_window: ratio, victim_blocks } = params;
    Ok(RefR {
        ratio,
        window_pages: 1,
        victim_blocks_max: victim_blocks as usize,
        links: Links::default(),
        recency: List::default(),
        written: Vec::new(),
        writes: 0,
        window: Window {
            pages: 0,
            newest: None,
            blocks: Groups::new(shape.logical_pages, shape.pages_per_block),
            lists: Vec::new(),
            links: Links::default(),
        },
        victim_blocks: Vec::new(),
    })
}

impl RefR {
    /// The least recently written page of the victim blocks.
    fn victim(&self) -> Option<u32> {
        let oldest = self.victim_blocks.iter().filter_map(|lbn| self.window.oldest(*lbn));
        oldest.min_by_key(|id| self.written[*id as usize])
    }

    /// The blocks with the most pages in the window become the victim blocks.
    fn choose_blocks(&mut self) {
        let Self { window, written, .. } = self;
        let rank = |(block, list): (usize, &List)| {
            let oldest = list.back()?;
            Some((Reverse(list.len()), written[oldest as usize], window.blocks.lbn(Group(block as u32))))
        };
        let mut blocks: Vec<_> = window.lists.iter().enumerate().filter_map(rank).collect();
        if blocks.len() > self.victim_blocks_max {
            blocks.select_nth_unstable(self.victim_blocks_max);
            blocks.truncate(self.victim_blocks_max);
        }
        blocks.sort_unstable();
        self.victim_blocks = blocks.into_iter().map(|(.., lbn)| lbn).collect();
    }

    /// A page leaves its place in the recency list.
    fn unlink(&mut self, id: u32, slots: &Slots) {
        self.window.leave(id, &self.links, slots);
        self.links.remove(&mut self.recency, id);
    }

    /// A written page comes to the front of the recency list.
    fn push_front(&mut self, id: u32) {
        self.writes += 1;
        self.written[id as usize] = self.writes;
        self.links.push_front(&mut self.recency, id);
    }
}

impl Buffer for RefR {
    fn resize(&mut self, frames: Frames) {
        self.window_pages = share(self.ratio, frames.dram).max(1);
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            self.unlink(slot.0, slots);
            self.push_front(slot.0);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.window.follow(&self.links, &self.recency, self.window_pages, slots);
        let victim = self.victim().or_else(|| {
            self.choose_blocks();
            self.victim()
        });
        if let Some(victim) = victim {
            self.unlink(victim, slots);
            plan.evict(Slot(victim), slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.written, 0);
        self.push_front(slot.0);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.unlink(slot.0, slots);
    }
    fn sees_neighbours(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let pages: Vec<u32> = self.links.iter(&self.recency).map(|id| slots.lpn(Slot(id)).0).collect();
        json!({"lru": pages, "victim_blocks": self.victim_blocks.iter().map(|lbn| lbn.0).collect::<Vec<_>>()})
    }
}
