//! s3-fifo - Three static FIFO queues
//!
//! # Source
//! Juncheng Yang, Yazhuo Zhang, Ziyue Qiu, Yao Yue and K. V. Rashmi, "FIFO queues are all you need for cache eviction",
//! SOSP 2023, algorithm 1 and section 4.1. A yardstick from general caching: it does not know that writes cost more than
//! reads.
//!
//! # What it does
//! Reads and writes are cached by page in a small queue and a main one, with a count from 0 to 3 each; the numbers of pages
//! that left the small queue are remembered in a ghost queue as long as the main one. A hit raises the count and moves
//! nothing. A missed page enters the main queue if its number is remembered, else the small one, with a count of 0.
//!
//! To make room, the small queue gives a victim if it has its share of the frames or more, else the main one. From the
//! small queue: the oldest page moves to the main queue with a count of 0 if it was hit twice or more, else it is the
//! victim and its number is remembered. From the main queue: the oldest page moves to the front with a count one less if
//! that was not 0, else it is the victim. A dirty victim is written back alone, a clean one dropped. O(1) amortised.
//!
//! # Deviations and chosen readings
//! - When a page moved from the small queue makes the main one longer than the rest of the frames, the main queue gives the
//!   victim, and that is the one that is asked for: the algorithm as printed would go on and evict a second page.
//! - `compat = "libcachesim"` has the hit counts of libCacheSim from 20 frames on (`benches/libcachesim.py`). With fewer,
//!   where its small queue has less than two pages, libCacheSim caches nothing or stops; here there is always one page.
//! - Numbers are remembered exactly, not as fingerprints. A number that comes back is forgotten.
//! - A page that the host flushed stays where it is, clean, with its count.
//!
//! # Known ambiguities
//! How a buffer fills, and whether a long main queue stops the small one: see `compat`.

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::tools::compat::YardstickCompat;
use super::tools::ghosts::Ghosts;
use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lpn, Slot};

crate::params! {
    pub struct Params: Copy {
        /// Share of the small queue, rounded half up, at least one page; the default is the paper's.
        small: f64 = 0.1, in 0.0..=1.0, "fraction of the frames";
        /// Whose reading. With `libcachesim` (S3FIFO.c), until room is made for the first time, a full small queue sends new
        /// pages to the main one; the small queue goes on until it gives a victim, however long the main one becomes; 0.9 of
        /// the frames are remembered, whatever `small` is; both shares are rounded down.
        compat: YardstickCompat = YardstickCompat::Spec;
    }
}

const COUNT_MAX: u8 = 3;
/// Hits from which on a page of the small queue is worth keeping.
const KEEP_FROM: u8 = 2;
/// Numbers that libCacheSim remembers, as a fraction of the frames.
const LIBCACHESIM_GHOSTS: f64 = 0.9;

/// What is known of a page.
#[derive(Clone, Copy, Default, Debug)]
struct Page {
    count: u8,
    in_main: bool,
}

/// S3-FIFO: a small and a main queue of pages, and a ghost queue of those that left the small one.
#[derive(Debug)]
pub struct S3Fifo {
    params: Params,
    small_pages: u32,
    main_pages: u32,
    /// Pages beyond a full small queue enter the main one.
    overflows: bool,
    links: Links,
    /// Newest first.
    small: List,
    main: List,
    ghosts: Ghosts,
    /// The missed page was remembered.
    returns: bool,
    /// By slot.
    pages: Vec<Page>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<S3Fifo, ConfigError> {
    shape.need_frames("s3-fifo", shape.frames.dram, 1, "one page")?;
    Ok(S3Fifo {
        params,
        small_pages: 0,
        main_pages: 0,
        overflows: params.compat == YardstickCompat::Libcachesim,
        links: Links::default(),
        small: List::default(),
        main: List::default(),
        ghosts: Ghosts::new(shape.logical_pages),
        returns: false,
        pages: Vec::new(),
    })
}

impl S3Fifo {
    fn push(&mut self, id: u32, page: Page) {
        self.pages[id as usize] = page;
        self.links.push_front(if page.in_main { &mut self.main } else { &mut self.small }, id);
    }

    fn victim(&mut self, slots: &Slots) -> Option<u32> {
        if self.small.len() >= self.small_pages || self.main.is_empty() {
            while let Some(id) = self.links.pop_back(&mut self.small) {
                if self.pages[id as usize].count < KEEP_FROM {
                    self.ghosts.add(0, slots.lpn(Slot(id)));
                    return Some(id);
                }
                self.push(id, Page { count: 0, in_main: true });
                if self.params.compat == YardstickCompat::Spec && self.main.len() > self.main_pages {
                    break;
                }
            }
        }
        // Every round lowers a count, so it ends.
        while let Some(id) = self.links.pop_back(&mut self.main) {
            let count = self.pages[id as usize].count;
            if count == 0 {
                return Some(id);
            }
            self.push(id, Page { count: count - 1, in_main: true });
        }
        None
    }
}

impl Buffer for S3Fifo {
    fn resize(&mut self, frames: Frames) {
        let Params { small, compat } = self.params;
        self.small_pages = compat.share(small, frames.dram).max(1);
        self.main_pages = frames.dram.saturating_sub(self.small_pages);
        self.ghosts.set_limit(match compat {
            YardstickCompat::Spec => self.main_pages,
            YardstickCompat::Libcachesim => compat.share(LIBCACHESIM_GHOSTS, frames.dram),
        });
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        let count = &mut self.pages[slot.index()].count;
        *count = (*count + 1).min(COUNT_MAX);
    }
    #[inline]
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.returns = self.ghosts.take(access.lpn).is_some();
        Admission::Admit(Medium::Dram)
    }
    #[inline]
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.overflows = false;
        if let Some(victim) = self.victim(slots) {
            plan.evict(Slot(victim), slots);
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.pages, Page::default());
        let in_main = self.returns || self.overflows && self.small.len() >= self.small_pages;
        self.push(slot.0, Page { count: 0, in_main });
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        let list = if self.pages[slot.index()].in_main { &mut self.main } else { &mut self.small };
        self.links.remove(list, slot.0);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| {
            let mut page = slots.golden(Slot(id));
            page["count"] = json!(self.pages[id as usize].count);
            page
        };
        let queue = |list| self.links.iter(list).map(page).collect::<Vec<_>>();
        let ghosts: Vec<u32> = self.ghosts.iter(0).map(|lpn| lpn.0).collect();
        json!({"small": queue(&self.small), "main": queue(&self.main), "ghosts": ghosts})
    }
}

impl Prefetch for S3Fifo {
    #[inline]
    fn far(&self, lpn: Lpn) {
        self.ghosts.look_ahead(lpn);
    }
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.pages, slot.index());
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        let queue = if self.small.len() >= self.small_pages { &self.small } else { &self.main };
        self.links.last_two(queue)
    }
}
