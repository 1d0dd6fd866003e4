//! hitstat - HitStat: groups by age rank over size, padding by a model of the merges below
//!
//! # Source
//! You-Chiuan Su (advisor Li-Ping Chang), "An efficient buffer management algorithm for solid-state disk", master's
//! thesis, National Chiao Tung University, 2009, chapters 3.3 to 3.5 with equations 3 to 5, sections 4.1 to 4.4 and table 2.
//!
//! # What it does
//! Writes are buffered in groups, one per logical block; reads bypass the buffer. A group knows when it was written
//! last, counted in write requests. The ages at which groups were hit lately (a ring) are sorted and cut into `levels`
//! ranges: the youngest age has the highest rank. The victim is
//! 1. a whole group, the oldest; else
//! 2. the oldest group among the list ends that is older than `age_threshold`; else
//! 3. among the oldest group of every weight class (sectors held) the one with the smallest rank / weight.
//!
//! A whole group replaces its block. Another one is completed (padded) if it has at least `B_w` pages, where `B_w`
//! follows what merges cost lately (equations 3 to 5 of the thesis); else its pages go to the log blocks as one cluster.
//! O(weight classes) per victim.
//!
//! # Deviations and chosen readings
//! Weight is the sectors in RAM: a page whose rest was fetched counts whole, a page of which the host wrote a part and
//! nothing was fetched (`partial_write = "mask"`) counts that part. "Whole" and `B_w` count pages. A request that fills
//! up a group of which it touched an earlier page logs its age once.
//! Ranks: with n ages sorted and k = min(levels - 1, n), cut i of k is entry ceil(i n / k); an age up to the first cut
//! has rank k + 1, beyond the last cut 1. One level makes every rank 1, which is FAB. Equal quotients: the larger
//! weight (after adj), then the older, then the smaller block. The group being written is not protected.
//! A read does not move a group. A page that the host flushed leaves. A group that a trim shrinks into another weight
//! class goes to the front of it.
//! The model is used on FTLs with log blocks (bast, fast, superblock, last); elsewhere `"model"` never pads: the block
//! FTL completes blocks itself, page-mapped FTLs have no merges. Never padding means `B_w` = a whole block, for `adj`
//! too. Before the first merge `B_w` is a whole block, on FAST 0.33 of it (thesis). One write-back may cause several
//! merges; the window is then as long as it must be to cover `pad_window`. The first adaptation of `levels` has
//! nothing to compare with and moves up.
//!
//! # Known ambiguities
//! `levels_*`, `pad_window`, `full_flush`; whether equal quotients compare weights before or after adj.

mod ages;
mod classes;
mod levels;
mod params;

use serde_json::{Value, json};

use super::tools::groups::{Group, Groups};
use super::tools::padding::Padding;
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lbn, Slot};
use ages::Ages;
use classes::Classes;
use levels::Levels;
pub use params::{FullFlush, Params};

/// HitStat: evicts the group with the lowest age rank over size, padding by a model of the merges below.
#[derive(Debug)]
pub struct HitStat {
    params: Params,
    page_sectors: f64,
    groups: Groups,
    classes: Classes,
    /// By slot: its sectors in the weight of its group.
    sectors: Vec<u8>,
    /// Whole groups, most recently written first; they are in `classes` as well.
    full: List,
    full_links: Links,
    ages: Ages,
    levels: Levels,
    /// Write requests so far.
    counter: u32,
    request: u64,
    /// Logical block that the current request touched last.
    touched: Lbn,
    padding: Padding,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame or a parameter is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<HitStat, ConfigError> {
    shape.need_frames("hitstat", shape.frames.dram, 1, "one page")?;
    Ok(HitStat {
        page_sectors: f64::from(shape.page_sectors),
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        ages: Ages::new(&params),
        levels: Levels::new(&params)?,
        classes: Classes::new(&params, shape)?,
        sectors: Vec::new(),
        full: List::default(),
        full_links: Links::default(),
        counter: 0,
        request: 0,
        touched: Lbn::NONE,
        padding: Padding::new(params.padding, params.pad_window, shape),
        params,
    })
}

impl HitStat {
    /// Counts a page write: a new request, the first touch of a group by it.
    fn count_write(&mut self, lbn: Lbn, request: u64) {
        if request != self.request {
            self.request = request;
            self.levels.begin_request(self.counter);
            self.counter += 1;
            self.touched = Lbn::NONE;
        }
        if lbn == self.touched {
            return;
        }
        self.touched = lbn;
        match self.groups.find(lbn) {
            Some(group) => self.ages.push(self.age(group)),
            None => self.levels.count_miss(),
        }
    }

    #[inline]
    fn age(&self, group: Group) -> u32 {
        self.counter - self.classes.last(group)
    }

    /// The page in `slot` was written: its group's weight, and the front of its lists.
    #[inline]
    fn written(&mut self, group: Group, slot: Slot, slots: &Slots) {
        let held = slots.sectors_in_ram(slot);
        let before = u32::from(std::mem::replace(&mut self.sectors[slot.index()], held as u8));
        if held != before {
            self.classes.set_weight(group, self.classes.weight(group) + held - before);
        }
        self.classes.write(group, self.counter);
        if self.full_links.is_linked(group.0) {
            self.full_links.move_front(&mut self.full, group.0);
        } else if self.groups.is_full(group) {
            self.full_links.push_front(&mut self.full, group.0);
        }
    }

    /// The group is whole no more, or no more at all.
    fn leave_full(&mut self, group: Group) {
        if self.full_links.is_linked(group.0) {
            self.full_links.remove(&mut self.full, group.0);
        }
    }

    /// Rules 1 to 3.
    fn victim(&mut self) -> Option<Group> {
        if let Some(oldest) = self.full.back() {
            return Some(Group(oldest));
        }
        let oldest = self.classes.ends().min_by_key(|group| self.seniority(*group))?;
        if self.age(oldest) > self.params.age_threshold {
            return Some(oldest);
        }
        self.ages.cut(self.levels.now());
        let least = if self.params.adj { self.padding.threshold_pages() * self.page_sectors } else { 0.0 };
        // Quotients of small whole numbers are equal as floats exactly when they are equal.
        let priority = |group: Group| {
            let weight = f64::from(self.classes.weight(group)).max(least);
            (f64::from(self.ages.rank(self.age(group))) / weight, -weight)
        };
        let ends = self.classes.ends().map(|group| (priority(group), group));
        let best = ends.min_by(|(a, x), (b, y)| {
            let order = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
            order.then_with(|| self.seniority(*x).cmp(&self.seniority(*y)))
        });
        best.map(|(_, group)| group)
    }

    /// Older first, then the smaller block.
    #[inline]
    fn seniority(&self, group: Group) -> (u32, Lbn) {
        (self.classes.last(group), self.groups.lbn(group))
    }

    fn write_back(&mut self, group: Group, slots: &Slots, plan: &mut Plan) {
        self.classes.remove(group);
        self.leave_full(group);
        self.groups.write_back(group, &self.padding, slots, plan);
    }
}

impl Buffer for HitStat {
    #[inline]
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            self.count_write(slots.lbn(slot), access.request);
            let group = self.groups.of(slot, slots);
            self.written(group, slot, slots);
        }
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, _: &Sense<'_>) -> Admission {
        if !access.write {
            return Admission::Bypass;
        }
        self.count_write(slots.lbn_of(access.lpn), access.request);
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        if let Some(victim) = self.victim() {
            self.write_back(victim, slots, plan);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        slots.extend_table(&mut self.sectors, 0);
        self.sectors[slot.index()] = 0;
        let (group, created) = self.groups.insert(slot, slots);
        if created {
            self.classes.create(group);
        }
        self.written(group, slot, slots);
    }
    #[inline]
    fn after_access(&mut self, _: &Access, _: bool, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        if self.params.full_flush == FullFlush::Eager {
            while let Some(whole) = self.full.back() {
                self.write_back(Group(whole), slots, plan);
            }
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let (group, emptied) = self.groups.remove(slot, slots);
        self.leave_full(group);
        if emptied {
            self.classes.remove(group);
        } else {
            self.classes.set_weight(group, self.classes.weight(group) - u32::from(self.sectors[slot.index()]));
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let (ages, cuts) = self.ages.golden(self.levels.now());
        json!({"lists": self.classes.golden(&self.groups), "hit_log": ages, "cuts": cuts})
    }
}
