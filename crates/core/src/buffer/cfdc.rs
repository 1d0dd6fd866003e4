//! cfdc - Clean first, dirty clustered
//!
//! # Source
//! Yi Ou, Theo Härder and Peiquan Jin, "CFDC: a flash-aware replacement policy for database buffer management", DaMoN
//! 2009, as the rules quoted in SNK-DB and the paper of AALRU describe it.
//!
//! # What it does
//! Reads and writes are cached by page. All pages enter the working region, a recency list; a page that does not fit there
//! is demoted to the priority region: a clean page to the recency list of clean pages, a dirty one to the cluster of its
//! neighbours. The victim is the least recent clean page of that list; else a page of the cluster with the lowest priority
//! `IPD / (n^2 * age)`. `n` is its number of pages, IPD (inter-page distance) the sum of the distances of pages that were
//! demoted one after the other, so clusters that are large, sequential and old leave first; `age` counts demotions of dirty
//! pages since the cluster was created or lost a page to a hit. A page that is hit goes back to the working region.
//! O(1) per hit and per victim, but O(clusters) to choose a cluster.
//!
//! # Deviations and chosen readings
//! - The distance of a cluster of one page is 1, the least age is 1. Equal priorities: the older time stamp, then the
//!   smaller cluster.
//! - When a page leaves the middle of a cluster, its neighbours in the order of demotion become neighbours.
//! - If the priority region is empty, the least recent page of the working region leaves.
//! - A page of a cluster that the host flushed becomes the most recent clean page; the cluster keeps its time stamp.
//! - Fewer frames shrink the working region at the next access or eviction.
//!
//! # Known ambiguities
//! - `priority_ratio`. SNK-DB's own code always ends with a distance of 1, against its comments.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::share;
use super::tools::groups::{Group, Groups};
use super::{Access, Buffer, BufferShape, Frames, Grain, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

/// What is written back of a cluster.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Writeback {
    /// Its oldest page; the cluster stays the first choice (priority 0) until it is empty.
    #[default]
    Page,
    /// All its pages at once (AALRU's wording).
    Cluster,
}

crate::params! {
    pub struct Params {
        /// Size of the priority region, rounded half up.
        priority_ratio: f64 = 0.5, in 0.0..=1.0, "share of the frames";
        /// Consecutive pages that form a cluster; SNK-DB has 16.
        cluster_pages: Option<u32> = None, in 1.., "pages", absent "a logical block";
        /// What is written back of a cluster.
        writeback: Writeback = Writeback::Page;
    }
}

/// Where a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Place {
    #[default]
    Working,
    Clean,
    Cluster,
}

#[derive(Clone, Copy, Debug, Default)]
struct Cluster {
    /// Most recently demoted page first.
    pages: List,
    stamp: u64,
    /// Sum of the distances of neighbours in `pages`.
    distance: u64,
}

/// CFDC: a working region in LRU order; below it clean pages leave first, then dirty ones by cluster.
#[derive(Debug)]
pub struct Cfdc {
    params: Params,
    working_limit: u32,
    links: Links,
    working: List,
    clean: List,
    /// By slot.
    place: Vec<Place>,
    groups: Groups,
    /// By group.
    clusters: Vec<Cluster>,
    /// By group: whether it exists.
    alive: List,
    alive_links: Links,
    /// The cluster that loses its pages one by one, until it is empty.
    chosen: Option<Group>,
    /// Demotions of dirty pages so far.
    global_time: u64,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one frame or a parameter is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<Cfdc, ConfigError> {
    shape.need_frames("cfdc", shape.frames.dram, 1, "one page")?;
    let cluster_pages = params.cluster_pages.unwrap_or(shape.pages_per_block);
    let mut cfdc = Cfdc {
        params,
        working_limit: 0,
        links: Links::default(),
        working: List::default(),
        clean: List::default(),
        place: Vec::new(),
        groups: Groups::new(shape.logical_pages, cluster_pages),
        clusters: Vec::new(),
        alive: List::default(),
        alive_links: Links::default(),
        chosen: None,
        global_time: 0,
    };
    cfdc.resize(shape.frames);
    Ok(cfdc)
}

impl Cfdc {
    /// Demotes what does not fit the working region.
    fn settle(&mut self, slots: &Slots) {
        while self.working.len() > self.working_limit {
            let Some(id) = self.links.pop_back(&mut self.working) else { return };
            if slots.is_dirty(Slot(id)) {
                self.join_cluster(Slot(id), slots);
            } else {
                self.place[id as usize] = Place::Clean;
                self.links.push_front(&mut self.clean, id);
            }
        }
    }

    fn join_cluster(&mut self, slot: Slot, slots: &Slots) {
        let (group, created) = self.groups.insert(slot, slots);
        if created {
            self.clusters.resize(self.groups.id_count().max(self.clusters.len()), Cluster::default());
            self.clusters[group.index()] = Cluster { stamp: self.global_time, ..Cluster::default() };
            self.alive_links.push_front(&mut self.alive, group.0);
        }
        let cluster = &mut self.clusters[group.index()];
        if let Some(newest) = cluster.pages.front() {
            cluster.distance += u64::from(slots.lpn(slot).0.abs_diff(slots.lpn(Slot(newest)).0));
        }
        self.links.push_front(&mut cluster.pages, slot.0);
        self.place[slot.index()] = Place::Cluster;
        self.global_time += 1;
    }

    /// Takes a page out of its cluster; the cluster, if it still has pages.
    fn leave_cluster(&mut self, slot: Slot, slots: &Slots) -> Option<Group> {
        let distance = |a: u32, b: u32| u64::from(slots.lpn(Slot(a)).0.abs_diff(slots.lpn(Slot(b)).0));
        let (newer, older) = (self.links.newer(slot.0), self.links.older(slot.0));
        let (group, emptied) = self.groups.remove(slot, slots);
        let cluster = &mut self.clusters[group.index()];
        cluster.distance -= newer.map_or(0, |newer| distance(newer, slot.0));
        cluster.distance -= older.map_or(0, |older| distance(older, slot.0));
        if let (Some(newer), Some(older)) = (newer, older) {
            cluster.distance += distance(newer, older);
        }
        self.links.remove(&mut cluster.pages, slot.0);
        if emptied {
            self.alive_links.remove(&mut self.alive, group.0);
            self.chosen = self.chosen.filter(|chosen| *chosen != group);
        }
        (!emptied).then_some(group)
    }

    /// Takes a page out of where it is; the cluster it left.
    fn unlink(&mut self, slot: Slot, slots: &Slots) -> Option<Group> {
        match self.place[slot.index()] {
            Place::Working => self.links.remove(&mut self.working, slot.0),
            Place::Clean => self.links.remove(&mut self.clean, slot.0),
            Place::Cluster => return self.leave_cluster(slot, slots),
        }
        None
    }

    /// Numerator and denominator of the priority.
    fn priority(&self, group: Group) -> (u128, u128) {
        let cluster = &self.clusters[group.index()];
        let pages = u128::from(cluster.pages.len());
        let age = (self.global_time - cluster.stamp).max(1);
        let distance = if self.chosen == Some(group) { 0 } else { cluster.distance.max(1) };
        (u128::from(distance), pages * pages * u128::from(age))
    }

    fn lowest(&self) -> Option<Group> {
        if self.chosen.is_some() {
            return self.chosen;
        }
        self.alive_links.iter(&self.alive).map(Group).min_by(|a, b| {
            let ((x, p), (y, q)) = (self.priority(*a), self.priority(*b));
            let tie = |group: &Group| (self.clusters[group.index()].stamp, self.groups.lbn(*group));
            (x * q).cmp(&(y * p)).then_with(|| tie(a).cmp(&tie(b)))
        })
    }
}

impl Buffer for Cfdc {
    fn resize(&mut self, frames: Frames) {
        self.working_limit = frames.dram - share(self.params.priority_ratio, frames.dram);
    }
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        if let Some(group) = self.unlink(slot, slots) {
            self.clusters[group.index()].stamp = self.global_time;
        }
        self.place[slot.index()] = Place::Working;
        self.links.push_front(&mut self.working, slot.0);
        self.settle(slots);
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        self.settle(slots);
        if let Some(id) = self.links.pop_back(&mut self.clean) {
            return plan.drop_page(Slot(id));
        }
        let Some(group) = self.lowest() else {
            if let Some(id) = self.links.pop_back(&mut self.working) {
                plan.evict(Slot(id), slots);
            }
            return;
        };
        if self.params.writeback == Writeback::Cluster {
            plan.write_back(self.groups.pages(group, slots), false);
            while self.links.pop_back(&mut self.clusters[group.index()].pages).is_some() {}
            self.alive_links.remove(&mut self.alive, group.0);
            self.groups.take(group);
        } else if let Some(oldest) = self.clusters[group.index()].pages.back() {
            self.chosen = Some(group);
            self.leave_cluster(Slot(oldest), slots);
            plan.write_back([Slot(oldest)], false);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        if slot.index() >= self.place.len() {
            self.place.resize(slot.index() + 1, Place::Working);
        }
        self.place[slot.index()] = Place::Working;
        self.links.push_front(&mut self.working, slot.0);
        self.settle(slots);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        self.unlink(slot, slots);
    }
    fn on_clean(&mut self, slot: Slot, slots: &Slots) -> bool {
        if self.place[slot.index()] == Place::Cluster {
            self.leave_cluster(slot, slots);
            self.place[slot.index()] = Place::Clean;
            self.links.push_front(&mut self.clean, slot.0);
        }
        true
    }
    fn grain(&self) -> Grain {
        match self.params.writeback {
            Writeback::Page => Grain::Page,
            Writeback::Cluster => Grain::Block,
        }
    }
    fn sees_neighbours(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let list = |list: &List| self.links.iter(list).map(|id| slots.golden(Slot(id))).collect::<Vec<_>>();
        let mut groups: Vec<Group> = self.alive_links.iter(&self.alive).map(Group).collect();
        groups.sort_by_key(|group| self.groups.lbn(*group));
        let cluster = |group: Group| {
            let cluster = &self.clusters[group.index()];
            let mut pages: Vec<u32> = self.links.iter(&cluster.pages).map(|id| slots.lpn(Slot(id)).0).collect();
            pages.reverse();
            json!({
                "block": self.groups.lbn(group).0, "pages_oldest_first": pages, "ts": cluster.stamp,
                "frozen": u8::from(self.chosen == Some(group)), "priority": fraction(self.priority(group)),
            })
        };
        json!({
            "working": list(&self.working), "clean": list(&self.clean),
            "clusters": groups.into_iter().map(cluster).collect::<Vec<_>>(), "globaltime": self.global_time,
        })
    }
}

/// `a / b` in lowest terms, without a denominator of 1.
fn fraction((a, b): (u128, u128)) -> String {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    if b == x { (a / x).to_string() } else { format!("{}/{}", a / x, b / x) }
}
