//! urm - Zones by access pattern, with hints of the host
//!
//! # Source
//! Xiaochang Li, Jichen Chen, Zhengjun Zhai, Mingchen Feng and Xin Ye, "URM: a unified RAM management scheme for NAND
//! flash storage devices", Discrete Dynamics in Nature and Society 2022, article 3376904, section 4. The compressed map
//! that shares the RAM is an FTL; the pattern classifier and the run lengths come from the host in the hint of every
//! request.
//!
//! # What it does
//! Reads and writes are cached by page in four zones that share one pool without quotas: sequential, random, clustered
//! hot, looping. A page lies in the zone of the last access to it. The victim comes from the first zone in that order
//! which is not empty: the least recently used page of the sequential and random zones; in the other two a page of the
//! program location (PC) with the largest period, least recently used first. A dirty victim is written back alone.
//! A read miss of a sequential, looping or clustered access reads the rest of the predicted run ahead: the absent pages
//! up to `run_pages`, at most the frames less one. O(1), and O(PCs) for victims of the clustered and looping zones.
//!
//! # Deviations and chosen readings
//! - Zone movement applies to writes too; the paper describes it for reads.
//! - The period of a PC is the one in the latest access of that PC, and counts for the eviction that this access causes;
//!   0 (unknown) counts as the shortest. Equal periods: the least (or most) recently used page of all those PCs.
//! - Room for reading ahead is made in the normal order, but neither the missed page nor resident pages of the run are
//!   evicted for it; when nothing else is left, fewer pages are read. The run ends with the device.
//! - Pages read ahead enter the zone of the access that asked for them, in ascending order.
//! - The pool is the DRAM; it follows the map's share of the RAM at once. Without a frame everything bypasses the
//!   buffer.
//! - A page that the host flushed stays where it is, clean.
//!
//! # Known ambiguities
//! - The paper defines neither the order inside the zones nor the amount of data read ahead (its `PC_len` also serves
//!   for mappings); here `PC_len` is data, and the order is that of the specification.
//! - Of a request of several pages that misses, the pages behind the first are read ahead, and are in the buffer when their turn
//!   comes: hits by the paper's definition (section 3.1), for which the host waits. `hits.at_arrival` leaves them out.
//! - Whether a new period counts at once or from the next access on, and whether reading ahead may evict a resident page of
//!   the run that it completes: here at once, and not.

mod pcs;
mod zones;

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Access, Admission, Buffer, BufferShape, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::{Lpn, Pattern, Slot};
use zones::Zones;

crate::params! {
    pub struct Params {
        /// Which page of the PC with the largest period leaves the looping zone.
        loop_victim: LoopVictim = LoopVictim::Lru;
        /// Pages of the sequential zone that the host has accessed leave before pages that were read ahead and wait for
        /// their access. Not in the paper, which can evict pages before they are used.
        consumed_first: bool = false;
    }
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

/// URM: zones by access pattern, which hints of the host tell.
#[derive(Debug)]
pub struct Urm {
    params: Params,
    logical_pages: u32,
    zones: Zones,
    /// Scratch: pages to read ahead.
    wanted: Vec<Lpn>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Urm, ConfigError> {
    shape.need_frames("urm", shape.frames.dram, 1, "one page")?;
    Ok(Urm { params, logical_pages: shape.logical_pages, zones: Zones::default(), wanted: Vec::new() })
}

impl Urm {
    /// Plans the eviction of the next page that is not one of `spared`: false if there is none.
    fn evict(&mut self, spared: &Range<u32>, slots: &Slots, plan: &mut Plan) -> bool {
        let loop_mru = self.params.loop_victim == LoopVictim::Mru;
        let victim = self.zones.victim(loop_mru, |slot| !spared.contains(&slots.lpn(slot).0));
        if let Some(victim) = victim {
            self.zones.leave(victim);
            plan.evict(victim, slots);
        }
        victim.is_some()
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
        self.zones.learn_period(&access.hint);
        self.zones.touch(slot, &access.hint);
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.zones.learn_period(&access.hint);
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.evict(&(0..0), slots, plan);
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, _: &Slots) {
        self.zones.enter(slot, &access.hint, access.ahead && self.params.consumed_first);
    }
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let missed_run = !hit && !access.write && access.hint.run_pages > 1;
        if !missed_run || access.hint.pattern == Pattern::Random || slots.find(access.lpn).is_none() {
            return;
        }
        let run = self.choose_ahead(access, slots);
        let mut room = slots.frames().dram.saturating_sub(slots.used().dram) as usize;
        while room < self.wanted.len() && self.evict(&run, slots, plan) {
            room += 1;
        }
        self.wanted.truncate(room);
        for lpn in &self.wanted {
            plan.prefetch(*lpn);
        }
    }
    fn on_remove(&mut self, slot: Slot, _: &Slots) {
        self.zones.leave(slot);
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn sees_neighbours(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        self.zones.golden(slots)
    }
}
