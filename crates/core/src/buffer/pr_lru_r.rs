//! pr-lru-r - Probability of reference LRU (reconstruction)
//!
//! # Source
//! A **reconstruction** of PR-LRU (Y. Yuan, Y. Shen, W. Li, D. Yu, L. Yan and Y. Wang, "PR-LRU: a novel buffer
//! replacement algorithm based on the probability of reference for flash memory", IEEE Access 5, 2017) from what papers
//! say of it: a probability of reference from three variables; the pages with the lowest go to a victim LRU list, whose
//! clean pages leave first (related work of the AALRU and URM papers, abstract). The original text was not available, so
//! results must not be published as those of PR-LRU.
//!
//! # What it does
//! Reads and writes are cached by page. Page accesses are numbered. A page that was referenced `n` times since it came,
//! last `d` accesses ago and on average every `g` accesses (0 after one reference), has the value `n / (1 + d + g)`. The
//! victim list holds the `victim_size` pages of the lowest value. The victim is the least recently used clean page of the
//! list, else its least recently used page. A dirty one is written back alone, a clean one dropped. Values are compared as
//! exact fractions.
//!
//! An eviction looks at every resident page, O(frames): values of different pages change at different speed.
//!
//! # Deviations and chosen readings
//! - All formulas are ours. Of equal values the page used less recently counts as lower.
//! - A page that the host flushed stays, clean.
//!
//! # Known ambiguities
//! The three variables of the original, its formula and its sizes are unknown.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::{Access, Admission, Buffer, BufferShape, Frames, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Length of the victim list; the default is our choice.
        victim_size: Option<u32> = None, in 1.., "pages", absent "a tenth of the frames, at least 1";
    }
}

/// References of a page since it came.
#[derive(Clone, Copy, Default, Debug)]
struct Page {
    count: u64,
    first: u64,
    last: u64,
}

impl Page {
    /// Numerator and denominator of `n / (1 + d + g)` at an access, both multiplied by the number of gaps.
    fn value(self, now: u64) -> (u128, u128) {
        let gaps = u128::from(self.count - 1).max(1);
        let span = u128::from(self.last - self.first);
        (u128::from(self.count) * gaps, gaps * u128::from(1 + now - self.last) + span)
    }
    /// Lowest value first, of equal ones the page used less recently.
    fn rank(self, other: Self, now: u64) -> Ordering {
        let ((n, d), (other_n, other_d)) = (self.value(now), other.value(now));
        (n * other_d).cmp(&(other_n * d)).then(self.last.cmp(&other.last))
    }
}

/// PR-LRU (reconstruction): pages by their probability of reference; victims are clean pages of low probability first.
#[derive(Debug)]
pub struct PrLruR {
    victim_size: Option<u32>,
    victims: usize,
    /// By slot.
    pages: Vec<Page>,
    accesses: u64,
    /// Scratch: all resident pages.
    candidates: Vec<(Page, Slot)>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<PrLruR, ConfigError> {
    shape.need_frames("pr-lru-r", shape.frames.dram, 1, "one page")?;
    Ok(PrLruR { victim_size: params.victim_size, victims: 1, pages: Vec::new(), accesses: 0, candidates: Vec::new() })
}

impl Buffer for PrLruR {
    fn resize(&mut self, frames: Frames) {
        self.victims = self.victim_size.unwrap_or(frames.dram / 10).max(1) as usize;
    }
    #[inline]
    fn on_hit(&mut self, slot: Slot, _: &Access, _: &Slots, _: &Sense<'_>) {
        self.accesses += 1;
        let page = &mut self.pages[slot.index()];
        page.count += 1;
        page.last = self.accesses;
    }
    fn on_miss(&mut self, _: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.accesses += 1;
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let now = self.accesses;
        self.candidates.clear();
        self.candidates.extend(slots.iter().map(|slot| (self.pages[slot.index()], slot)));
        let Some(last) = self.victims.min(self.candidates.len()).checked_sub(1) else { return };
        self.candidates.select_nth_unstable_by(last, |a, b| a.0.rank(b.0, now));
        let listed = &self.candidates[..=last];
        let (_, victim) =
            listed.iter().min_by_key(|(page, slot)| (slots.is_dirty(*slot), page.last)).expect("not empty");
        plan.evict(*victim, slots);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.pages, Page::default());
        self.pages[slot.index()] = Page { count: 1, first: self.accesses, last: self.accesses };
    }
    fn on_remove(&mut self, _: Slot, _: &Slots) {}
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let mut newest_first: Vec<Slot> = slots.iter().collect();
        newest_first.sort_by_key(|slot| std::cmp::Reverse(self.pages[slot.index()].last));
        let page = |slot: Slot| {
            let Page { count, first, last } = self.pages[slot.index()];
            let mut page = slots.golden(slot);
            (page["refs"], page["last"], page["first"]) = (json!(count), json!(last), json!(first));
            page
        };
        json!({"lru": newest_first.into_iter().map(page).collect::<Vec<_>>()})
    }
}
