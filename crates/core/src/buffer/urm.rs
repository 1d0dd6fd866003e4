//! urm - Zones by access pattern, with hints of the host
//!
//! # Source
//! URM: unified RAM management for SSDs (specs/policies.md 3.19, 'Buffer'). The compressed map that shares the RAM is
//! an FTL; the pattern classifier and the run lengths come from the host in the hint of every request.
//!
//! # What it does
//! Reads and writes are cached by page in four zones that share one pool without quotas: sequential, random, clustered
//! hot, looping. A page lies in the zone of the last access to it. The victim comes from the first zone in that order
//! which is not empty: the least recently used page of the sequential and random zones; in the other two a page of the
//! program location (PC) with the largest period, least recently used first. A dirty victim is written back alone.
//! A read miss of a sequential, looping or clustered access reads the rest of the predicted run ahead: the absent pages
//! up to `run_pages`, at most the frames less one. O(1), and O(PCs) for victims of the clustered and looping zones.
//!
//! # Parameters
//! - `loop_victim` (default `lru`): which page of that PC leaves the looping zone: `lru` or `mru`.
//! - `consumed_first` (default `false`): pages of the sequential zone that the host has accessed leave before pages that
//!   were read ahead and wait for their access. Not in the paper, which can evict pages before they are used.
//!
//! # Deviations and chosen readings
//! - Zone movement applies to writes too; the paper describes it for reads.
//! - The period of a PC is the one in the latest access of that PC; 0 (unknown) counts as the shortest. Equal periods:
//!   the least (or most) recently used page of all those PCs.
//! - Room for reading ahead is made in the normal order, but neither the missed page nor resident pages of the run are
//!   evicted for it; when nothing else is left, fewer pages are read. The run ends with the device.
//! - Pages read ahead enter the zone of the access that asked for them, in ascending order.
//! - The pool is the DRAM; it follows the map's share of the RAM at once. Without a frame everything passes by.
//! - A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! - The paper defines neither the order inside the zones nor the amount of data read ahead (its `PC_len` also serves
//!   for mappings); here `PC_len` is data, and the order is that of the specification.

use std::cmp::Reverse;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::list::{Links, List};
use super::{Access, Admission, Buffer, BufferShape, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::{Lpn, Pattern, Slot};

/// Parameters of [`Urm`]; the manual page explains them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which page of the PC with the largest period leaves the looping zone.
    pub loop_victim: LoopVictim,
    /// Accessed pages of the sequential zone leave before pages read ahead.
    pub consumed_first: bool,
}

/// Which page of the PC with the largest period leaves the looping zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoopVictim {
    /// The least recently used.
    #[default]
    Lru,
    /// The most recently used.
    Mru,
}

/// The list a page is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// Sequential zone.
    Seq,
    /// Sequential zone, read ahead and not accessed yet (with `consumed_first`).
    Ahead,
    /// Random zone.
    Rnd,
    /// Clustered (0) or looping (1) zone: the list of the PC with this index.
    OfPc { zone: usize, pc: u32 },
}

const CLU: usize = 0;
const LOOP: usize = 1;

/// A PC with pages in the clustered or the looping zone.
#[derive(Clone, Debug)]
struct Pc {
    number: u32,
    period: u32,
    zones: [List; 2],
}

#[derive(Clone, Copy, Debug)]
struct Page {
    place: Place,
    /// PC of the last access.
    pc: u32,
    /// Number of the last access.
    last: u64,
}

/// See the module text.
#[derive(Debug)]
pub struct Urm {
    params: Params,
    logical_pages: u32,
    links: Links,
    seq: List,
    ahead: List,
    rnd: List,
    /// By index; those without pages are in `unused`.
    pcs: Vec<Pc>,
    unused: Vec<u32>,
    /// Indexes of the PCs with pages, ascending by number.
    by_number: Vec<u32>,
    /// By slot.
    pages: Vec<Page>,
    accesses: u64,
    /// Pages read ahead that the engine is about to insert.
    expected: usize,
    /// Scratch: pages to read ahead.
    wanted: Vec<Lpn>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Urm, ConfigError> {
    shape.need_frames("urm", shape.frames.dram, 1, "one page")?;
    Ok(Urm {
        params,
        logical_pages: shape.logical_pages,
        links: Links::default(),
        seq: List::default(),
        ahead: List::default(),
        rnd: List::default(),
        pcs: Vec::new(),
        unused: Vec::new(),
        by_number: Vec::new(),
        pages: Vec::new(),
        accesses: 0,
        expected: 0,
        wanted: Vec::new(),
    })
}

impl Urm {
    fn change(&mut self, place: Place, with: impl FnOnce(&mut Links, &mut List)) {
        let list = match place {
            Place::Seq => &mut self.seq,
            Place::Ahead => &mut self.ahead,
            Place::Rnd => &mut self.rnd,
            Place::OfPc { zone, pc } => &mut self.pcs[pc as usize].zones[zone],
        };
        with(&mut self.links, list);
    }

    /// Where the PC stands in `by_number`, or where it would.
    fn find_pc(&self, number: u32) -> Result<usize, usize> {
        self.by_number.binary_search_by_key(&number, |index| self.pcs[*index as usize].number)
    }

    /// Index of a PC that is about to get a page.
    fn pc_for_page(&mut self, number: u32, period: u32) -> u32 {
        match self.find_pc(number) {
            Ok(at) => self.by_number[at],
            Err(at) => {
                let pc = Pc { number, period, zones: [List::default(); 2] };
                let index = self.unused.pop().unwrap_or(self.pcs.len() as u32);
                if index as usize == self.pcs.len() {
                    self.pcs.push(pc);
                } else {
                    self.pcs[index as usize] = pc;
                }
                self.by_number.insert(at, index);
                index
            }
        }
    }

    /// Puts a page at the front of the zone of the access.
    fn link(&mut self, slot: Slot, access: &Access, ahead: bool) {
        let place = match access.hint.pattern {
            Pattern::Sequential if ahead && self.params.consumed_first => Place::Ahead,
            Pattern::Sequential => Place::Seq,
            Pattern::Random => Place::Rnd,
            pattern => {
                let zone = if pattern == Pattern::Looping { LOOP } else { CLU };
                Place::OfPc { zone, pc: self.pc_for_page(access.hint.pc, access.hint.period) }
            }
        };
        self.accesses += 1;
        let page = Page { place, pc: access.hint.pc, last: self.accesses };
        if slot.index() >= self.pages.len() {
            self.pages.resize(slot.index() + 1, page);
        }
        self.pages[slot.index()] = page;
        self.change(place, |links, list| links.push_front(list, slot.0));
    }

    fn unlink(&mut self, slot: Slot) {
        let place = self.pages[slot.index()].place;
        self.change(place, |links, list| links.remove(list, slot.0));
        if let Place::OfPc { pc, .. } = place {
            let Pc { number, zones, .. } = &self.pcs[pc as usize];
            if zones.iter().all(List::is_empty)
                && let Ok(at) = self.find_pc(*number)
            {
                self.by_number.remove(at);
                self.unused.push(pc);
            }
        }
    }

    /// The hint of an access renews the period of its PC.
    fn learn_period(&mut self, access: &Access) {
        if let Ok(at) = self.find_pc(access.hint.pc) {
            self.pcs[self.by_number[at] as usize].period = access.hint.period;
        }
    }

    /// The page to evict, not one of `spared`.
    fn victim(&self, spared: &Range<u32>, slots: &Slots) -> Option<Slot> {
        let allowed = |id: &u32| !spared.contains(&slots.lpn(Slot(*id)).0);
        let least_recent = |list: &List| self.links.iter_back(list).find(allowed);
        for list in [&self.seq, &self.ahead, &self.rnd] {
            if let Some(id) = least_recent(list) {
                return Some(Slot(id));
            }
        }
        for zone in [CLU, LOOP] {
            let mru = zone == LOOP && self.params.loop_victim == LoopVictim::Mru;
            let candidate = |index: &u32| {
                let Pc { period, zones, .. } = &self.pcs[*index as usize];
                let list = &zones[zone];
                let id = if mru { self.links.iter(list).find(allowed) } else { least_recent(list) }?;
                let last = self.pages[id as usize].last;
                Some((*period, if mru { last } else { u64::MAX - last }, id))
            };
            if let Some((_, _, id)) = self.by_number.iter().filter_map(candidate).max() {
                return Some(Slot(id));
            }
        }
        None
    }

    /// The absent pages of the run into `wanted`; returns the run.
    fn choose_ahead(&mut self, access: &Access, slots: &Slots) -> Range<u32> {
        let first = access.lpn.0;
        let end = first.saturating_add(access.hint.run_pages).clamp(first + 1, self.logical_pages);
        let at_most = slots.frames().dram.saturating_sub(1) as usize;
        let absent = (first + 1..end).map(Lpn).filter(|lpn| slots.find(*lpn).is_none());
        self.wanted.clear();
        self.wanted.extend(absent.take(at_most));
        first..end
    }
}

impl Buffer for Urm {
    fn on_hit(&mut self, slot: Slot, access: &Access, _: &Slots, _: &Sense<'_>) {
        self.learn_period(access);
        let Page { place, pc, .. } = self.pages[slot.index()];
        let stays = match place {
            Place::Seq => access.hint.pattern == Pattern::Sequential,
            Place::Rnd => access.hint.pattern == Pattern::Random,
            Place::OfPc { zone: CLU, .. } => access.hint.pattern == Pattern::ClusteredHot && pc == access.hint.pc,
            Place::OfPc { .. } => access.hint.pattern == Pattern::Looping && pc == access.hint.pc,
            Place::Ahead => false,
        };
        if stays {
            self.accesses += 1;
            self.pages[slot.index()] = Page { place, pc: access.hint.pc, last: self.accesses };
            self.change(place, |links, list| links.move_front(list, slot.0));
        } else {
            self.unlink(slot);
            self.link(slot, access, false);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.learn_period(access);
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if let Some(victim) = self.victim(&(0..0), slots) {
            self.unlink(victim);
            plan.evict(victim, slots);
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, _: &Slots) {
        let ahead = self.expected > 0;
        self.expected = self.expected.saturating_sub(1);
        self.link(slot, access, ahead);
    }
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let missed_run = !hit && !access.write && access.hint.run_pages > 1;
        if !missed_run || access.hint.pattern == Pattern::Random || slots.find(access.lpn).is_none() {
            return;
        }
        let run = self.choose_ahead(access, slots);
        let mut room = slots.frames().dram.saturating_sub(slots.used().dram) as usize;
        while room < self.wanted.len() {
            let Some(victim) = self.victim(&run, slots) else { break };
            self.unlink(victim);
            plan.evict(victim, slots);
            room += 1;
        }
        self.wanted.truncate(room);
        self.expected = self.wanted.len();
        for lpn in &self.wanted {
            plan.prefetch(*lpn);
        }
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.unlink(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let mut resident: Vec<Slot> = slots.iter().collect();
        resident.sort_by_key(|slot| Reverse(self.pages[slot.index()].last));
        let page = |slot: &Slot| {
            let Page { pc, .. } = self.pages[slot.index()];
            json!({"lpn": slots.lpn(*slot).0, "dirty": u8::from(slots.is_dirty(*slot)), "pc": pc})
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
