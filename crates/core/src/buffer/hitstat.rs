//! hitstat - HitStat: groups by age rank over size, padding by a model of the merges below
//!
//! # Source
//! Thesis of HitStat, chapters 3.3 to 3.5 with equations 3 to 5 (specs/policies.md 3.17).
//!
//! # What it does
//! Writes are buffered in groups, one per logical block; reads pass by. A group knows when it was written last,
//! counted in write requests. The ages at which groups were hit lately (a ring) are sorted and cut into `levels`
//! ranges: the youngest age has the highest rank. The victim is
//! 1. a whole group, the oldest; else
//! 2. the oldest group among the list ends that is older than `age_threshold`; else
//! 3. among the oldest group of every weight class (sectors held) the one with the smallest rank / weight.
//!
//! A whole group replaces its block. Another one is completed (padded) if it has at least `B_w` pages, where `B_w`
//! follows what merges cost lately ([`super::padding`]); else its pages go to the log blocks as one cluster.
//! O(weight classes) per victim.
//!
//! # Parameters
//! - `adj`: HitStat(adj): in rule 3 no weight counts less than `B_w` pages. For FAST; on BAST it worsens thrashing of
//!   log blocks (thesis). Off.
//! - `padding` (the golden files say `pad_threshold`): `"model"`, `"never"`, `"always"`, a share of the block's pages, or
//!   `"aalru"` (AALRU's threshold); `"model"` (thesis).
//! - `pad_window`: merges that the model averages over; 64 (ours, the thesis does not say).
//! - `levels`: ranks, at the start if they adapt; 32 (thesis).
//! - `levels_adapt`: whether they adapt; true. Every `levels_period` = 2000 write requests group misses are compared
//!   with the period before; if they rose the direction turns; then `levels` moves by `levels_step` = 4 between 1 and
//!   `hit_log_len` + 1 (ours: the thesis adapts but gives neither rule nor period).
//! - `hit_log_len`: ages remembered; 64 (thesis). `initial_log`: ages to start with; none.
//! - `list_bounds`: upper bounds of the weight classes in sectors; absent: 2, 4, 6, 8, 12, 16, 24, 32 and so on up to
//!   a whole block (thesis, 512 KiB blocks).
//! - `age_threshold`: of rule 2, write requests; 150000 (thesis).
//! - `full_flush`: whole groups leave at the next eviction (`lazy`) or at once (`eager`); `lazy`: the thesis says both.
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

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::groups::{Group, Groups};
use super::list::{Links, List};
use super::padding::{self, Padding, PaddingRule};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::types::{Lbn, Slot};

/// When a whole group leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullFlush {
    /// At the next eviction.
    #[default]
    Lazy,
    /// At once.
    Eager,
}

/// See the module text.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// In rule 3 no weight counts less than the padding threshold.
    pub adj: bool,
    /// From how many pages on a group is padded.
    #[serde(alias = "pad_threshold")]
    pub padding: PaddingRule,
    /// Merges that the model averages over.
    pub pad_window: u32,
    /// Ranks of ages.
    pub levels: u32,
    /// Whether `levels` adapts.
    pub levels_adapt: bool,
    /// Write requests between two adaptations.
    pub levels_period: u32,
    /// Step of an adaptation.
    pub levels_step: u32,
    /// Ages remembered.
    pub hit_log_len: u32,
    /// Ages to start with, oldest first.
    pub initial_log: Vec<u32>,
    /// Upper bounds of the weight classes, sectors, ascending.
    pub list_bounds: Option<Vec<u32>>,
    /// Write requests after which a group leaves whatever its weight.
    pub age_threshold: u32,
    /// When a whole group leaves.
    pub full_flush: FullFlush,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            adj: false,
            padding: PaddingRule::default(),
            pad_window: padding::DEFAULT_WINDOW,
            levels: 32,
            levels_adapt: true,
            levels_period: 2000,
            levels_step: 4,
            hit_log_len: 64,
            initial_log: Vec::new(),
            list_bounds: None,
            age_threshold: 150_000,
            full_flush: FullFlush::default(),
        }
    }
}

/// Ages of hits, and the cuts that turn an age into a rank.
#[derive(Clone, Debug, Default)]
struct HitLog {
    /// A ring once it is full.
    ages: Vec<u32>,
    capacity: usize,
    /// Where the next age goes when the ring is full: the oldest entry.
    next: usize,
    /// Ascending; valid unless `stale`.
    cuts: Vec<u32>,
    sorted: Vec<u32>,
    stale: bool,
}

impl HitLog {
    fn push(&mut self, age: u32) {
        if self.ages.len() < self.capacity {
            self.ages.push(age);
        } else {
            self.ages[self.next] = age;
            self.next = (self.next + 1) % self.capacity;
        }
        self.stale = true;
    }
    fn refresh(&mut self, levels: u32) {
        if !self.stale {
            return;
        }
        self.stale = false;
        self.sorted.clone_from(&self.ages);
        self.sorted.sort_unstable();
        let ages = self.sorted.len();
        let cuts = ages.min(levels as usize - 1);
        self.cuts.clear();
        self.cuts.extend((1..=cuts).map(|i| self.sorted[(i * ages).div_ceil(cuts) - 1]));
    }
    /// The rank of an age; the cuts must be fresh.
    fn rank(&self, age: u32) -> u32 {
        (self.cuts.len() + 1 - self.cuts.partition_point(|cut| *cut < age)) as u32
    }
}

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Number of the write request that wrote it last.
    last: u32,
    /// Sectors in RAM.
    weight: u32,
    /// Weight class.
    class: u32,
}

/// See the module text.
#[derive(Debug)]
pub struct HitStat {
    params: Params,
    page_sectors: f64,
    groups: Groups,
    /// By group.
    facts: Vec<Facts>,
    /// By slot: its sectors in the weight of its group.
    sectors: Vec<u8>,
    /// By weight class, upper bound in sectors and groups, most recently written first.
    bounds: Vec<u32>,
    lists: Vec<List>,
    links: Links,
    /// Whole groups, most recently written first; they are in `lists` as well.
    full: List,
    full_links: Links,
    log: HitLog,
    levels: u32,
    rising: bool,
    misses: u32,
    misses_before: Option<u32>,
    /// Write requests so far.
    counter: u32,
    request: u64,
    /// Logical block that the current request touched last.
    touched: Lbn,
    padding: Padding,
}

/// The thesis' bounds, 2, 4, 6, 8, 12, 16, 24, ..., up to a whole block.
fn default_bounds(block_sectors: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(4u32), |p| p.checked_mul(2));
    let mut bounds = vec![2];
    bounds.extend(powers.take_while(|p| *p < block_sectors).flat_map(|p| [p, p + p / 2]));
    bounds.retain(|bound| *bound < block_sectors);
    bounds.push(block_sectors);
    bounds
}

fn refuse(key: &str, problem: String, mend: &str) -> ConfigError {
    ConfigError::new(format!("buffer.{key}"), problem, mend)
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame or a parameter is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<HitStat, ConfigError> {
    shape.need_frames("hitstat", shape.frames.dram, 1, "one page")?;
    if params.hit_log_len == 0 {
        return Err(refuse("hit_log_len", "there is no place for an age".into(), "give at least 1"));
    }
    let levels_max = params.hit_log_len + 1;
    if !(1..=levels_max).contains(&params.levels) {
        let mend = format!("give 1 to {levels_max} (hit_log_len + 1)");
        return Err(refuse("levels", format!("{} levels", params.levels), &mend));
    }
    if params.levels_period == 0 {
        return Err(refuse("levels_period", "0 requests are no period".into(), "or switch levels_adapt off"));
    }
    let bounds = match &params.list_bounds {
        Some(bounds) => bounds.clone(),
        None => default_bounds(shape.pages_per_block * shape.page_sectors),
    };
    if bounds.is_empty() || !bounds.is_sorted_by(|a, b| a < b) {
        return Err(refuse("list_bounds", format!("{bounds:?} do not ascend"), "give ascending sector counts"));
    }
    let capacity = params.hit_log_len as usize;
    let mut log = HitLog { capacity, stale: true, ..HitLog::default() };
    for age in &params.initial_log {
        log.push(*age);
    }
    Ok(HitStat {
        padding: Padding::new(params.padding, params.pad_window, shape)?,
        page_sectors: f64::from(shape.page_sectors),
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        facts: Vec::new(),
        sectors: Vec::new(),
        lists: vec![List::default(); bounds.len()],
        bounds,
        links: Links::default(),
        full: List::default(),
        full_links: Links::default(),
        log,
        levels: params.levels,
        rising: true,
        misses: 0,
        misses_before: None,
        counter: 0,
        request: 0,
        touched: Lbn::NONE,
        params,
    })
}

impl HitStat {
    /// Counts a page write: a new request, the first touch of a group by it.
    fn count_write(&mut self, lbn: Lbn, request: u64) {
        if request != self.request {
            self.request = request;
            if self.params.levels_adapt && self.counter > 0 && self.counter.is_multiple_of(self.params.levels_period) {
                self.adapt_levels();
            }
            self.counter += 1;
            self.touched = Lbn::NONE;
        }
        if lbn == self.touched {
            return;
        }
        self.touched = lbn;
        match self.groups.find(lbn) {
            Some(group) => self.log.push(self.age(group.0)),
            None => self.misses += 1,
        }
    }

    fn adapt_levels(&mut self) {
        let misses = std::mem::take(&mut self.misses);
        if self.misses_before.replace(misses).is_some_and(|before| misses > before) {
            self.rising = !self.rising;
        }
        let step = self.params.levels_step;
        let moved = if self.rising { self.levels.saturating_add(step) } else { self.levels.saturating_sub(step) };
        self.levels = moved.clamp(1, self.params.hit_log_len + 1);
        self.log.stale = true;
    }

    #[inline]
    fn age(&self, group: u32) -> u32 {
        self.counter - self.facts[group as usize].last
    }

    /// The page in `slot` was written: its group's weight, and the front of its lists.
    #[inline]
    fn written(&mut self, group: Group, slot: Slot, slots: &Slots) {
        let held = slots.sectors_in_ram(slot);
        let before = u32::from(std::mem::replace(&mut self.sectors[slot.index()], held as u8));
        if held != before {
            self.set_weight(group, self.facts[group.index()].weight + held - before);
        }
        let facts = &mut self.facts[group.index()];
        facts.last = self.counter;
        self.links.move_front(&mut self.lists[facts.class as usize], group.0);
        if self.full_links.is_linked(group.0) {
            self.full_links.move_front(&mut self.full, group.0);
        } else if self.groups.is_full(group) {
            self.full_links.push_front(&mut self.full, group.0);
        }
    }

    /// Moves a group to the front of another class if its new weight is there. Weight 0: it is in no class yet.
    fn set_weight(&mut self, group: Group, weight: u32) {
        let class = self.bounds.partition_point(|bound| *bound < weight).min(self.bounds.len() - 1);
        let facts = &mut self.facts[group.index()];
        let listed = facts.weight > 0;
        facts.weight = weight;
        if listed && facts.class as usize == class {
            return;
        }
        if listed {
            self.links.remove(&mut self.lists[facts.class as usize], group.0);
        }
        facts.class = class as u32;
        self.links.push_front(&mut self.lists[class], group.0);
    }

    /// The group is whole no more, or no more at all.
    fn leave_full(&mut self, group: Group) {
        if self.full_links.is_linked(group.0) {
            self.full_links.remove(&mut self.full, group.0);
        }
    }

    /// The group is no more.
    fn unlist(&mut self, group: Group) {
        self.links.remove(&mut self.lists[self.facts[group.index()].class as usize], group.0);
        self.leave_full(group);
    }

    /// Rules 1 to 3.
    fn victim(&mut self) -> Option<Group> {
        if let Some(oldest) = self.full.back() {
            return Some(Group(oldest));
        }
        let ends = || self.lists.iter().filter_map(List::back);
        let oldest = ends().min_by_key(|group| self.seniority(*group))?;
        if self.age(oldest) > self.params.age_threshold {
            return Some(Group(oldest));
        }
        self.log.refresh(self.levels);
        let least = if self.params.adj { self.padding.threshold_pages() * self.page_sectors } else { 0.0 };
        // Quotients of small whole numbers are equal as floats exactly when they are equal.
        let priority = |group: u32| {
            let weight = f64::from(self.facts[group as usize].weight).max(least);
            (f64::from(self.log.rank(self.age(group))) / weight, -weight)
        };
        let ends = self.lists.iter().filter_map(List::back).map(|group| (priority(group), group));
        let best = ends.min_by(|(a, x), (b, y)| {
            let order = a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1));
            order.then_with(|| self.seniority(*x).cmp(&self.seniority(*y)))
        });
        best.map(|(_, group)| Group(group))
    }

    /// Older first, then the smaller block.
    #[inline]
    fn seniority(&self, group: u32) -> (u32, Lbn) {
        (self.facts[group as usize].last, self.groups.lbn(Group(group)))
    }

    fn write_back(&mut self, group: Group, slots: &Slots, plan: &mut Plan) {
        let pad = self.padding.pads(self.groups.len(group), self.groups.block_pages(group));
        plan.write_back(self.groups.pages(group, slots), pad);
        self.unlist(group);
        self.groups.take(group);
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
        self.count_write(slots.geometry().lbn(access.lpn), access.request);
        Admission::Admit(Medium::Dram)
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        if let Some(victim) = self.victim() {
            self.write_back(victim, slots, plan);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        if self.sectors.len() < slots.slot_count() {
            self.sectors.resize(slots.slot_count(), 0);
        }
        self.sectors[slot.index()] = 0;
        let (group, created) = self.groups.insert(slot, slots);
        if created {
            self.facts.resize(self.groups.id_count(), Facts::default());
            self.facts[group.index()] = Facts::default();
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
        if emptied {
            self.unlist(group);
        } else {
            self.leave_full(group);
            self.set_weight(group, self.facts[group.index()].weight - u32::from(self.sectors[slot.index()]));
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let mut log = self.log.clone();
        log.stale = true;
        log.refresh(self.levels);
        log.ages.rotate_left(log.next);
        let group = |id: u32| {
            let mut group = self.groups.golden(Group(id));
            group["last"] = json!(self.facts[id as usize].last);
            group
        };
        let classes = self.bounds.iter().zip(&self.lists);
        let lists: serde_json::Map<String, Value> =
            classes.map(|(bound, list)| (bound.to_string(), self.links.iter(list).map(group).collect())).collect();
        json!({"lists": lists, "hit_log": log.ages, "cuts": log.cuts})
    }
}
