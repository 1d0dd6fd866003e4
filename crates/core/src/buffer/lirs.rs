//! lirs - Low inter-reference recency set
//!
//! # Source
//! Song Jiang and Xiaodong Zhang, "LIRS: an efficient low inter-reference recency set replacement policy to improve
//! buffer cache performance", SIGMETRICS 2002, section 3. A yardstick from general caching: it does not know that writes
//! cost more than reads.
//!
//! # What it does
//! Reads and writes are cached by page. Most frames hold LIR pages, whose last two accesses had few other pages between
//! them; the others hold resident HIR pages, in a queue. A stack orders pages by recency: all LIR pages, and the HIR pages
//! accessed since the LIR page at its bottom, resident or remembered by number only. Pruning takes HIR pages off the bottom
//! until a LIR page is there.
//!
//! - LIR page hit: to the top of the stack; prune.
//! - Resident HIR page hit: to the top of the stack. If it was in the stack, it becomes LIR and leaves the queue, and the
//!   LIR page at the bottom becomes HIR at the end of the queue; prune. Else it moves to the end of the queue.
//! - Miss: the page at the front of the queue is the victim; if it is in the stack, its number stays there. The new page goes
//!   to the top of the stack. If its number was in the stack, it becomes LIR as above, else HIR at the end of the queue.
//! - While there are fewer LIR pages than there may be, every page accessed becomes LIR.
//!
//! A dirty victim is written back alone, a clean one dropped. O(1) amortised.
//!
//! # Deviations and chosen readings
//! - Beyond `history` the number remembered first is forgotten, even if that is the missed page's own.
//! - When a LIR page leaves because of a trim, another page accessed becomes LIR; when there are fewer frames, LIR pages at
//!   the bottom become HIR.
//! - A page that the host flushed stays where it is, clean.
//! - `compat = "libcachesim"` leaves out one rule of libCacheSim, which contradicts the paper: there a hit of a resident HIR
//!   page that is not in the stack makes the LIR page at the bottom HIR although none becomes LIR, and a HIR page leaves
//!   although none came. With room for one HIR page only (fewer than 200 frames) that is the page just hit, and libCacheSim
//!   counts further hits of it. Over 1 to 8 million reads (Zipf 0.8 and 1.0, 20 to 100,000 frames) the hit counts
//!   are 0 to 52 in a million reads apart.
//!
//! # Known ambiguities
//! How the stack is bounded: see `history` and `compat`.

use prefetch_index::prefetch_index;
use serde_json::{Value, json};

use super::tools::compat::YardstickCompat;
use super::{Access, Buffer, BufferShape, Frames, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::sparse::SparseTable;
use crate::types::{Lpn, Slot};

crate::params! {
    pub struct Params: Copy {
        /// Frames for resident HIR pages, rounded half up, at least one; the default is the paper's.
        hir: f64 = 0.01, in 0.0..=1.0, "fraction of the frames";
        /// Most numbers remembered, rounded half up; the default is our choice. The paper bounds them by pruning only.
        history: f64 = 2.0, in 0.0..=100.0, "times the frames";
        /// Whose reading. With `libcachesim` (LIRS.c) `history` bounds the whole stack, resident pages included, and is
        /// looked at when an access is over; `hir` is rounded down.
        compat: YardstickCompat = YardstickCompat::Spec;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Lir,
    Hir,
    /// Not resident: its number is in the stack.
    Remembered,
}

/// A page of the stack or the queue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    lpn: Lpn,
    slot: Slot,
    state: State,
}

const NONE: u32 = u32::MAX;

/// LIRS: pages with a short distance between their last two accesses (LIR) keep their frames, the others (HIR) pass
/// through.
#[derive(Debug)]
pub struct Lirs {
    params: Params,
    lir_pages: u32,
    lir_pages_max: u32,
    /// Most numbers remembered; as libCacheSim reads it, most pages in the stack.
    history_max: u32,
    entries: Vec<Entry>,
    unused: Vec<u32>,
    stack_links: Links,
    /// Most recent first.
    stack: List,
    links: Links,
    /// Resident HIR pages, newest first.
    queue: List,
    /// Pages not resident, newest first.
    remembered: List,
    /// By slot: its entry.
    entry_of: Vec<u32>,
    /// By LPN: the entry of a page that is not resident, or `NONE`.
    remembered_as: SparseTable<u32>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Lirs, ConfigError> {
    shape.need_frames("lirs", shape.frames.dram, 1, "one page")?;
    Ok(Lirs {
        params,
        lir_pages: 0,
        lir_pages_max: 0,
        history_max: 0,
        entries: Vec::new(),
        unused: Vec::new(),
        stack_links: Links::default(),
        stack: List::default(),
        links: Links::default(),
        queue: List::default(),
        remembered: List::default(),
        entry_of: Vec::new(),
        remembered_as: SparseTable::new(shape.logical_pages as usize),
    })
}

impl Lirs {
    fn put_on_top(&mut self, entry: u32) {
        if self.stack_links.is_linked(entry) {
            self.stack_links.move_front(&mut self.stack, entry);
        } else {
            self.stack_links.push_front(&mut self.stack, entry);
        }
    }

    /// A page at the top of the stack, in no other list, becomes LIR; with too many of them, that at the bottom becomes HIR.
    fn promote(&mut self, entry: u32) {
        self.entries[entry as usize].state = State::Lir;
        self.lir_pages += 1;
        if self.lir_pages > self.lir_pages_max {
            self.demote();
        }
    }

    /// The LIR page at the bottom of the stack becomes HIR.
    fn demote(&mut self) {
        let bottom = self.stack_links.pop_back(&mut self.stack).expect("there are LIR pages");
        self.entries[bottom as usize].state = State::Hir;
        self.links.push_front(&mut self.queue, bottom);
        self.lir_pages -= 1;
        self.prune();
    }

    /// Takes HIR pages off the bottom of the stack.
    fn prune(&mut self) {
        while let Some(bottom) = self.stack.back() {
            match self.entries[bottom as usize].state {
                State::Lir => return,
                State::Hir => self.stack_links.remove(&mut self.stack, bottom),
                State::Remembered => self.forget(bottom),
            }
        }
    }

    fn forget(&mut self, entry: u32) {
        self.stack_links.remove(&mut self.stack, entry);
        self.links.remove(&mut self.remembered, entry);
        self.remembered_as.take(self.entries[entry as usize].lpn.index());
        self.unused.push(entry);
    }

    /// The page at the front of the queue leaves.
    fn victim(&mut self) -> Option<Slot> {
        let entry = self.links.pop_back(&mut self.queue)?;
        let Entry { lpn, slot, state } = &mut self.entries[entry as usize];
        let slot = *slot;
        if !self.stack_links.is_linked(entry) {
            self.unused.push(entry);
            return Some(slot);
        }
        *state = State::Remembered;
        self.remembered_as.set(lpn.index(), entry);
        self.links.push_front(&mut self.remembered, entry);
        Some(slot)
    }

    /// Forgets the numbers remembered first.
    fn bound_history(&mut self) {
        let bounded = |lirs: &Self| match lirs.params.compat {
            YardstickCompat::Spec => lirs.remembered.len(),
            YardstickCompat::Libcachesim => lirs.stack.len(),
        };
        while bounded(self) > self.history_max {
            let Some(oldest) = self.remembered.back() else { return };
            self.forget(oldest);
        }
    }
}

impl Buffer for Lirs {
    fn resize(&mut self, frames: Frames) {
        let Params { hir, history, compat } = self.params;
        let hir_pages = compat.share(hir, frames.dram).max(1);
        self.lir_pages_max = frames.dram.saturating_sub(hir_pages);
        self.history_max = compat.share(history, frames.dram);
        while self.lir_pages > self.lir_pages_max {
            self.demote();
        }
        self.bound_history();
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        let entry = self.entry_of[slot.index()];
        let in_stack = self.stack_links.is_linked(entry);
        self.put_on_top(entry);
        if self.entries[entry as usize].state == State::Hir {
            if in_stack || self.lir_pages < self.lir_pages_max {
                self.links.remove(&mut self.queue, entry);
                self.promote(entry);
            } else {
                self.links.move_front(&mut self.queue, entry);
                // The stack is one longer.
                self.bound_history();
            }
        }
        self.prune();
    }
    #[inline]
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.victim() {
            plan.evict(victim, slots);
        }
        // As libCacheSim reads it, the number of a missed page is looked for before.
        if access.is_none() || self.params.compat == YardstickCompat::Spec {
            self.bound_history();
        }
    }
    #[inline]
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        slots.extend_table(&mut self.entry_of, NONE);
        let new = Entry { lpn: access.lpn, slot, state: State::Hir };
        let found = self.remembered_as.take(access.lpn.index());
        let entry = if found == NONE {
            self.unused.pop().unwrap_or(self.entries.len() as u32)
        } else {
            self.links.remove(&mut self.remembered, found);
            found
        };
        if entry as usize == self.entries.len() {
            self.entries.push(new);
        }
        self.entries[entry as usize] = new;
        self.entry_of[slot.index()] = entry;
        self.put_on_top(entry);
        if found != NONE || self.lir_pages < self.lir_pages_max {
            self.promote(entry);
        } else {
            self.links.push_front(&mut self.queue, entry);
        }
        self.prune();
        self.bound_history();
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        let entry = self.entry_of[slot.index()];
        if self.entries[entry as usize].state == State::Lir {
            self.lir_pages -= 1;
        } else {
            self.links.remove(&mut self.queue, entry);
        }
        if self.stack_links.is_linked(entry) {
            self.stack_links.remove(&mut self.stack, entry);
        }
        self.unused.push(entry);
        self.prune();
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(self)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let in_stack = |entry| {
            let Entry { lpn, state, .. } = self.entries[entry as usize];
            json!({"lpn": lpn.0, "state": format!("{state:?}").to_lowercase()})
        };
        let in_queue = |entry| slots.golden(self.entries[entry as usize].slot);
        json!({
            "stack": self.stack_links.iter(&self.stack).map(in_stack).collect::<Vec<_>>(),
            "queue": self.links.iter(&self.queue).map(in_queue).collect::<Vec<_>>(),
        })
    }
}

impl Prefetch for Lirs {
    #[inline]
    fn far(&self, lpn: Lpn) {
        self.remembered_as.prefetch(lpn.index());
    }
    #[inline]
    fn soon(&self, slot: Slot) {
        prefetch_index(&self.entry_of, slot.index());
    }
    #[inline]
    fn now(&self, slot: Slot) {
        let entry = self.entry_of[slot.index()];
        self.stack_links.look_ahead(entry);
        prefetch_index(&self.entries, entry as usize);
    }
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        self.links.last_two(&self.queue).map(|id| self.entries.get(id.index()).map_or(Slot::NONE, |entry| entry.slot))
    }
}
