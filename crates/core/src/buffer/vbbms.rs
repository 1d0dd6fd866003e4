//! vbbms - Virtual-block-based buffer management
//!
//! # Source
//! Chenjie Du, Yingbiao Yao, Jie Zhou and Xiaorong Xu, "VBBMS: a novel buffer management strategy for NAND flash storage
//! devices", IEEE Transactions on Consumer Electronics 65(2), 2019: abstract, and as the papers of URM and WPA describe
//! it.
//!
//! # What it does
//! Reads and writes are cached in two regions of fixed size: one for random requests (RRSR), one for sequential ones
//! (SRSR). A region consists of virtual blocks of a few consecutive pages. In RRSR a virtual block that is used becomes the
//! most recent one; in SRSR virtual blocks stay in the order in which they were created. The victim of a full region is
//! its last virtual block: its dirty pages are written back as one cluster, its clean pages dropped. A page is found in
//! either region and never moves between them. O(1).
//!
//! # Deviations and chosen readings
//! - The share of RRSR is rounded half up. A region without a frame (with `reserve_frames`: without room for a virtual
//!   block) lets its misses bypass it.
//! - With `reserve_frames` a page enters a virtual block that exists without an eviction.
//! - Pages that the host flushed stay, clean. A trimmed page leaves its virtual block without changing the order.
//! - Virtual blocks that lie in two logical blocks are still one command.
//!
//! # Known ambiguities
//! - All parameters but the ratio of URM: neither the abstract nor the citing papers give them.

use serde_json::{Value, json};

use super::tools::groups::{Group, Groups};
use super::{Access, Admission, Buffer, BufferShape, Fill, Frames, Grain, Medium, Plan, Sense, Slots, share};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lpn, Slot};

crate::params! {
    pub struct Params {
        /// Frames of RRSR to frames of SRSR. The default is URM's; the original is possibly 3:2.
        ratio: [u32; 2] = [1, 1];
        /// Virtual blocks of RRSR.
        vb_random: u32 = 3, in 1..=1024, "pages";
        /// Virtual blocks of SRSR.
        vb_seq: u32 = 4, in 1..=1024, "pages";
        /// From this length on a request is sequential.
        seq_min_pages: u32 = 4, "pages";
        /// A virtual block takes all its frames at once, used or not (WPA: "unused pages in the virtual block").
        reserve_frames: bool = false;
    }
}

#[derive(Debug)]
struct Region {
    /// Pages of a virtual block.
    block: u32,
    quota: u32,
    pages: u32,
    reserves: bool,
    groups: Groups,
    links: Links,
    /// Most recent first.
    order: List,
}

impl Region {
    /// Frames taken.
    fn used(&self) -> u32 {
        if self.reserves { self.groups.count() * self.block } else { self.pages }
    }
    fn fits(&self, lpn: Lpn) -> bool {
        if self.reserves {
            self.groups.find_page(lpn).is_some() || self.used() + self.block <= self.quota
        } else {
            self.pages < self.quota
        }
    }
    fn evict(&mut self, slots: &Slots, plan: &mut Plan) {
        if let Some(group) = self.links.pop_back(&mut self.order).map(Group) {
            self.pages -= self.groups.len(group);
            self.groups.evict(group, false, slots, plan);
        }
    }
    fn golden(&self, slots: &Slots) -> Vec<Value> {
        let groups = self.links.iter(&self.order);
        groups.map(|id| self.groups.golden_split(Group(id), "vblock", slots)).collect()
    }
}

const RANDOM: usize = 0;
const SEQUENTIAL: usize = 1;

/// VBBMS: a random and a sequential region, each a list of virtual blocks.
#[derive(Debug)]
pub struct Vbbms {
    params: Params,
    regions: [Region; 2],
    /// Region of the request that missed last.
    target: usize,
}

/// Builds the policy.
///
/// # Errors
/// If there are not two frames, or neither region has a share of them.
pub fn build(params: Params, shape: &BufferShape) -> Result<Vbbms, ConfigError> {
    shape.need_frames("vbbms", shape.frames.dram, 2, "one page for random and one for sequential requests")?;
    if params.ratio == [0, 0] {
        return Err(ConfigError::new(
            "buffer.ratio",
            "0:0 gives no frame to either region",
            "give two shares, as [1, 1]",
        ));
    }
    let region = |block| Region {
        block,
        quota: 0,
        pages: 0,
        reserves: params.reserve_frames,
        groups: Groups::new(shape.logical_pages, block),
        links: Links::default(),
        order: List::default(),
    };
    let mut vbbms = Vbbms { regions: [region(params.vb_random), region(params.vb_seq)], target: RANDOM, params };
    vbbms.resize(shape.frames);
    Ok(vbbms)
}

impl Vbbms {
    fn region_of(&self, slot: Slot, slots: &Slots) -> usize {
        if self.regions[RANDOM].groups.contains(slots.lpn(slot)) { RANDOM } else { SEQUENTIAL }
    }
}

impl Buffer for Vbbms {
    fn resize(&mut self, frames: Frames) {
        let [random, sequential] = self.params.ratio.map(f64::from);
        let quota = share(random / (random + sequential), frames.dram);
        self.regions[RANDOM].quota = quota;
        self.regions[SEQUENTIAL].quota = frames.dram - quota;
    }
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        if self.region_of(slot, slots) == RANDOM {
            let region = &mut self.regions[RANDOM];
            let group = region.groups.of(slot, slots);
            region.links.move_front(&mut region.order, group.0);
        }
    }
    fn on_miss(&mut self, access: &Access, _: &Slots, _: &Sense<'_>) -> Admission {
        self.target = usize::from(access.request_pages >= self.params.seq_min_pages);
        let region = &self.regions[self.target];
        let least = if region.reserves { region.block } else { 1 };
        if region.quota < least { Admission::Bypass } else { Admission::Admit(Medium::Dram) }
    }
    fn has_room(&self, access: Option<&Access>, _: &Slots) -> bool {
        match access {
            Some(access) => self.regions[self.target].fits(access.lpn),
            None => self.regions.iter().all(|region| region.used() <= region.quota),
        }
    }
    fn fill(&self, _: &Slots) -> Option<Fill> {
        let sum = |count: fn(&Region) -> u32| self.regions.iter().map(count).sum();
        Some(Fill { used: sum(Region::used), frames: sum(|region| region.quota) })
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        let over = |region: &Region| region.used() > region.quota;
        let from = match access {
            Some(_) => self.target,
            // Nobody in particular wants a frame: the region of which the greater share is in use gives one.
            None => self.regions.iter().position(over).unwrap_or_else(|| {
                let [random, sequential] = self.regions.each_ref().map(|r| (u64::from(r.used()), u64::from(r.quota)));
                usize::from(random.0 * sequential.1 <= sequential.0 * random.1)
            }),
        };
        self.regions[from].evict(slots, plan);
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        let region = &mut self.regions[self.target];
        let (group, created) = region.groups.insert(slot, slots);
        region.pages += 1;
        if created {
            region.links.push_front(&mut region.order, group.0);
        } else if self.target == RANDOM {
            region.links.move_front(&mut region.order, group.0);
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        let from = self.region_of(slot, slots);
        let region = &mut self.regions[from];
        region.pages -= 1;
        let (group, emptied) = region.groups.remove(slot, slots);
        if emptied {
            region.links.remove(&mut region.order, group.0);
        }
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let [random, sequential] = &self.regions;
        json!({"rrsr_lru": random.golden(slots), "srsr_fifo": sequential.golden(slots)})
    }
}
