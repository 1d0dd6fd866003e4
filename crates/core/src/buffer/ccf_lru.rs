//! ccf-lru - Cold-clean-first LRU
//!
//! # Source
//! Zhi Li, Peiquan Jin, Xuan Su, Kai Cui and Lihua Yue, "CCF-LRU: a new buffer replacement algorithm for flash memory",
//! IEEE Transactions on Consumer Electronics 55(3), 2009, as the AALRU paper describes it and public implementations do
//! it.
//!
//! # What it does
//! Reads and writes are cached by page in two recency lists with a cold flag for each page: the cold clean pages, and the
//! mixed list of dirty pages and hot clean ones. A missed read enters the cold clean list, a missed write the mixed
//! list. A hit makes the page hot and moves it to the front of the mixed list.
//!
//! The victim is the least recently used cold clean page. Without one, the mixed list is scanned from its end: a cold
//! page is the victim; a hot dirty page is made cold and moved to the front; a hot clean page is made cold and moved to
//! the front of the cold clean list, and the scan goes on. If it empties the mixed list, the least recently used cold
//! clean page is the victim. A dirty victim is written back alone, a clean one dropped. O(1) amortised.
//!
//! # Deviations and chosen readings
//! A page that the host flushed stays where it is, clean, with its flag. A cold one in the mixed list is then dropped
//! when the scan meets it, with `lab` moved to the cold clean list.
//!
//! # Known ambiguities
//! What the scan does with hot clean pages: see `compat`.

use serde_json::{Value, json};

use super::tools::compat::Compat;
use super::{Access, Buffer, BufferShape, Plan, Prefetch, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// The cold flag of a page that a write brought in. Referenced once means cold in the public lab simulator and one
        /// other implementation; a third takes 0.
        new_dirty_cold: u32 = 1, in 0..=1;
        /// Whose reading of the scan. With `lab` (SimpleSSDsim) it makes a hot clean page cold and moves it to the front of
        /// the mixed list, and moves it to the cold clean list only when it meets it again.
        compat: Compat = Compat::Spec;
    }
}

/// What is known of a page.
#[derive(Clone, Copy, Default, Debug)]
struct Page {
    cold: bool,
    in_cold_clean: bool,
}

/// CCF-LRU: a queue of cold clean pages, which leave first, and a mixed queue of the others.
#[derive(Debug)]
pub struct CcfLru {
    new_dirty_cold: bool,
    compat: Compat,
    links: Links,
    mixed: List,
    cold_clean: List,
    /// By slot.
    pages: Vec<Page>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<CcfLru, ConfigError> {
    shape.need_frames("ccf-lru", shape.frames.dram, 1, "one page")?;
    let Params { new_dirty_cold, compat } = params;
    Ok(CcfLru {
        new_dirty_cold: new_dirty_cold == 1,
        compat,
        links: Links::default(),
        mixed: List::default(),
        cold_clean: List::default(),
        pages: Vec::new(),
    })
}

impl CcfLru {
    fn unlink(&mut self, slot: Slot) {
        let list = if self.pages[slot.index()].in_cold_clean { &mut self.cold_clean } else { &mut self.mixed };
        self.links.remove(list, slot.0);
    }

    fn push(&mut self, slot: Slot, page: Page) {
        self.pages[slot.index()] = page;
        let list = if page.in_cold_clean { &mut self.cold_clean } else { &mut self.mixed };
        self.links.push_front(list, slot.0);
    }

    /// Takes the victim out of its list.
    fn victim(&mut self, slots: &Slots) -> Option<Slot> {
        if let Some(id) = self.links.pop_back(&mut self.cold_clean) {
            return Some(Slot(id));
        }
        // The scan leaves no page as it was, so it ends within two rounds.
        while let Some(id) = self.links.pop_back(&mut self.mixed) {
            let slot = Slot(id);
            let (cold, dirty) = (self.pages[slot.index()].cold, slots.is_dirty(slot));
            if cold && (dirty || self.compat == Compat::Spec) {
                return Some(slot);
            }
            let in_cold_clean = !dirty && (cold || self.compat == Compat::Spec);
            self.push(slot, Page { cold: true, in_cold_clean });
        }
        self.links.pop_back(&mut self.cold_clean).map(Slot)
    }
}

impl Buffer for CcfLru {
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.unlink(slot);
        self.push(slot, Page { cold: false, in_cold_clean: false });
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.victim(slots) {
            plan.evict(victim, slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        slots.extend_table(&mut self.pages, Page::default());
        self.push(slot, Page { cold: !access.write || self.new_dirty_cold, in_cold_clean: !access.write });
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.unlink(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        Some(&self.links)
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| slots.golden_flag(Slot(id), "cold", self.pages[id as usize].cold);
        let list = |list| self.links.iter(list).map(page).collect::<Vec<_>>();
        json!({"mixed": list(&self.mixed), "cold_clean": list(&self.cold_clean)})
    }
}
