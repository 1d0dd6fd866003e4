//! URM's zones: which list a page is in, and which page leaves first (sections 4.2 to 4.5 of its paper).
//!
//! The sequential and the random zone are one list each; the clustered and the looping zone have a list for every program
//! location (PC), because the period of the PC comes before the age of the page there.

use std::cmp::Reverse;

use serde_json::{Value, json};

use super::pcs::{Pc, Pcs};
use crate::buffer::Slots;
use crate::list::{Links, List};
use crate::types::{Hint, Pattern, Slot};

/// The list a page is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Sequential zone.
    Seq,
    /// Sequential zone, read ahead and not accessed yet.
    Ahead,
    /// Random zone.
    Rnd,
    /// Clustered (0) or looping (1) zone: the list of the PC with this index.
    OfPc { zone: usize, pc: u32 },
}

const CLU: usize = 0;
const LOOP: usize = 1;

#[derive(Clone, Copy, Debug)]
struct Page {
    place: Place,
    /// PC of the last access.
    pc: u32,
    /// Number of the last access.
    last: u64,
}

/// URM's four zones (sequential, random, clustered, looping) as recency lists of pages. Every list has its most
/// recently used page at the front.
#[derive(Debug, Default)]
pub(super) struct Zones {
    links: Links,
    seq: List,
    ahead: List,
    rnd: List,
    pcs: Pcs,
    /// By slot.
    pages: Vec<Page>,
    accesses: u64,
}

impl Zones {
    fn change(&mut self, place: Place, with: impl FnOnce(&mut Links, &mut List)) {
        let list = match place {
            Place::Seq => &mut self.seq,
            Place::Ahead => &mut self.ahead,
            Place::Rnd => &mut self.rnd,
            Place::OfPc { zone, pc } => self.pcs.list(pc, zone),
        };
        with(&mut self.links, list);
    }

    /// Puts a page at the front of the zone of its access; `ahead` parts it from the accessed pages of the sequential zone.
    pub fn enter(&mut self, slot: Slot, hint: &Hint, ahead: bool) {
        let place = match hint.pattern {
            Pattern::Sequential if ahead => Place::Ahead,
            Pattern::Sequential => Place::Seq,
            Pattern::Random => Place::Rnd,
            pattern => {
                let zone = if pattern == Pattern::Looping { LOOP } else { CLU };
                Place::OfPc { zone, pc: self.pcs.enter(hint.pc, hint.period) }
            }
        };
        self.accesses += 1;
        let page = Page { place, pc: hint.pc, last: self.accesses };
        if slot.index() >= self.pages.len() {
            self.pages.resize(slot.index() + 1, page);
        }
        self.pages[slot.index()] = page;
        self.change(place, |links, list| links.push_front(list, slot.0));
    }

    /// Takes a page out.
    pub fn leave(&mut self, slot: Slot) {
        let place = self.pages[slot.index()].place;
        self.change(place, |links, list| links.remove(list, slot.0));
        if let Place::OfPc { pc, .. } = place {
            self.pcs.leave(pc);
        }
    }

    /// A page was accessed: it goes to the front of the zone of this access.
    pub fn touch(&mut self, slot: Slot, hint: &Hint) {
        let Page { place, pc, .. } = self.pages[slot.index()];
        let stays = match place {
            Place::Seq => hint.pattern == Pattern::Sequential,
            Place::Rnd => hint.pattern == Pattern::Random,
            Place::OfPc { zone: CLU, .. } => hint.pattern == Pattern::ClusteredHot && pc == hint.pc,
            Place::OfPc { .. } => hint.pattern == Pattern::Looping && pc == hint.pc,
            Place::Ahead => false,
        };
        if stays {
            self.accesses += 1;
            self.pages[slot.index()] = Page { place, pc: hint.pc, last: self.accesses };
            self.change(place, |links, list| links.move_front(list, slot.0));
        } else {
            self.leave(slot);
            self.enter(slot, hint, false);
        }
    }

    /// The hint of an access renews the period of its PC.
    pub fn learn_period(&mut self, hint: &Hint) {
        self.pcs.learn_period(hint.pc, hint.period);
    }

    /// The allowed page that leaves first; the looping zone gives its most recently used one with `loop_mru`.
    pub fn victim(&self, loop_mru: bool, allowed: impl Fn(Slot) -> bool) -> Option<Slot> {
        let allowed = |id: &u32| allowed(Slot(*id));
        let least_recent = |list: &List| self.links.iter_back(list).find(allowed);
        if let Some(id) = [&self.seq, &self.ahead, &self.rnd].into_iter().find_map(least_recent) {
            return Some(Slot(id));
        }
        let of_zone = |zone: usize| {
            let mru = zone == LOOP && loop_mru;
            let candidate = |pc: &Pc| {
                let list = &pc.zones[zone];
                let id = if mru { self.links.iter(list).find(allowed) } else { least_recent(list) }?;
                let last = self.pages[id as usize].last;
                Some((pc.period, if mru { last } else { u64::MAX - last }, id))
            };
            self.pcs.iter().filter_map(candidate).max()
        };
        [CLU, LOOP].into_iter().find_map(of_zone).map(|(_, _, id)| Slot(id))
    }

    /// The zones in the form of the golden files.
    pub fn golden(&self, slots: &Slots) -> Value {
        let mut resident: Vec<Slot> = slots.iter().collect();
        resident.sort_by_key(|slot| Reverse(self.pages[slot.index()].last));
        let page = |slot: &Slot| {
            let mut page = slots.golden(*slot);
            page["pc"] = json!(self.pages[slot.index()].pc);
            page
        };
        let zone = |wanted: fn(Place) -> bool| {
            let pages = resident.iter().filter(|slot| wanted(self.pages[slot.index()].place));
            pages.map(page).collect::<Vec<_>>()
        };
        json!({
            "SEQ": zone(|p| matches!(p, Place::Seq | Place::Ahead)),
            "RND": zone(|p| p == Place::Rnd),
            "CLU": zone(|p| matches!(p, Place::OfPc { zone: CLU, .. })),
            "LOOP": zone(|p| matches!(p, Place::OfPc { zone: LOOP, .. })),
        })
    }
}
