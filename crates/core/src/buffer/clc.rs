//! clc - Cold and largest cluster first
//!
//! # Source
//! Sooyong Kang, Sungmin Park, Hoyoung Jung, Hyoki Shim and Jaehyuk Cha, "Performance trade-offs in using NVRAM write
//! buffer for flash memory-based storage devices", IEEE Transactions on Computers 58(6), 2009, as the paper of AALRU
//! describes it.
//!
//! # What it does
//! Writes are cached in clusters, the buffered pages of one logical block. A cluster that is written is the most recent
//! one of the size-independent list. That list holds `alpha` of the clusters; what is beyond it leaves at its least
//! recent end for the size-dependent list. The victim is the largest cluster of the size-dependent list, so one that is
//! cold and large; among equals the one that has been there longest. Without such a cluster the least recent one of the
//! other list leaves. Reads of buffered pages are served and change nothing; other reads bypass the buffer. O(1).
//!
//! # Deviations and chosen readings
//! - The size-independent list may hold `floor(alpha * clusters)`, but at least one unless `alpha` is 0. It is brought to
//!   this length after every write, eviction and trim.
//! - Pages that the host flushed leave the buffer, since it holds nothing clean.
//! - A trimmed page leaves its cluster without changing the cluster's recency.
//!
//! # Known ambiguities
//! - `alpha` as a share of clusters (AALRU: "ratio of the number of blocks") or of pages, and its value.

use serde_json::{Value, json};

use super::tools::by_size::BySize;
use super::tools::groups::{Group, Groups};
use super::tools::padding::{Padding, PaddingChoice};
use super::{Access, Admission, Buffer, BufferShape, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::Slot;

crate::params! {
    pub struct Params: Copy {
        /// Clusters protected from eviction by size: 0 evicts the largest cluster, 1 the least recently written one.
        alpha: f64 = 0.5, in 0.0..=1.0, "share of the clusters";
        /// When an incomplete victim is completed.
        padding: PaddingChoice = PaddingChoice::named("never"), in 0.0..=1.0, "share of its block";
    }
}

/// CLC: hot clusters in LRU order, cold ones by size; the largest cold cluster leaves.
#[derive(Debug)]
pub struct Clc {
    alpha: f64,
    padding: Padding,
    groups: Groups,
    links: Links,
    recent: List,
    cold: BySize,
}

/// Builds the policy.
///
/// # Errors
/// If the frames do not hold one logical block.
pub fn build(params: Params, shape: &BufferShape) -> Result<Clc, ConfigError> {
    shape.need_block("clc")?;
    Ok(Clc {
        alpha: params.alpha,
        padding: Padding::of(params.padding, shape),
        groups: Groups::new(shape.logical_pages, shape.pages_per_block),
        links: Links::default(),
        recent: List::default(),
        cold: BySize::new(shape.pages_per_block),
    })
}

impl Clc {
    /// The cluster, in no list, is written.
    fn enter(&mut self, group: Group) {
        self.links.push_front(&mut self.recent, group.0);
        self.settle();
    }

    /// Brings the size-independent list to its length.
    fn settle(&mut self) {
        let share = (self.alpha * f64::from(self.groups.count())).floor() as u32;
        let limit = share.max(u32::from(self.alpha > 0.0));
        while self.recent.len() > limit {
            let Some(id) = self.links.pop_back(&mut self.recent) else { return };
            self.cold.insert(Group(id), self.groups.len(Group(id)));
        }
    }

    /// Takes a cluster of `pages` out of its list.
    fn unlink(&mut self, group: Group, pages: u32) {
        if self.cold.contains(group) {
            self.cold.remove(group, pages);
        } else {
            self.links.remove(&mut self.recent, group.0);
        }
    }
}

impl Buffer for Clc {
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if access.write {
            let group = self.groups.of(slot, slots);
            self.unlink(group, self.groups.len(group));
            self.enter(group);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        if access.write { Admission::Admit(Medium::Dram) } else { Admission::Bypass }
    }
    fn make_room(&mut self, _: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let Some(group) = self.cold.largest().or(self.recent.back().map(Group)) else { return };
        self.unlink(group, self.groups.len(group));
        self.groups.write_back(group, &self.padding, slots, plan);
        self.settle();
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        let (group, created) = self.groups.insert(slot, slots);
        if !created {
            self.unlink(group, self.groups.len(group) - 1);
        }
        self.enter(group);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let group = self.groups.of(slot, slots);
        let pages = self.groups.len(group);
        let was_cold = self.cold.contains(group);
        if was_cold {
            self.cold.remove(group, pages);
        }
        match (self.groups.remove(slot, slots).1, was_cold) {
            (false, true) => self.cold.put_back(group, pages - 1),
            (true, false) => self.links.remove(&mut self.recent, group.0),
            _ => {}
        }
        self.settle();
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, _: &Slots) -> Value {
        let recent: Vec<Value> = self.links.iter(&self.recent).map(|id| self.groups.golden(Group(id))).collect();
        let cold: Vec<Value> = self.cold.newest_first().into_iter().map(|group| self.groups.golden(group)).collect();
        json!({"size_independent": recent, "size_dependent": cold})
    }
}
