//! cbm-r - Cooperative read cache in DRAM and write buffer in NVRAM (reconstruction)
//!
//! # Source
//! Qingsong Wei, Cheng Chen and Jun Yang, "CBM: a cooperative buffer management for SSD", MSST 2014: only its abstract
//! and the description in the paper of WPA were available. The rules below that they do not give are ours.
//!
//! # What it does
//! Pages that were read lie in the DRAM, the read cache, by recency. Written pages lie in the NVRAM, the write buffer, which
//! has a page region (pages by recency) and a block region (blocks with their popularity). A written page joins its block if
//! that is in the block region, else the page region; when `thr_migrate` pages of its block are there, all of them move to
//! the block region. When the write buffer is full, a block leaves the block region as one cluster; what moves there before
//! is the choice of `full`. A write to a page of the read cache moves the page
//! to the write buffer. Writes to a block raise its popularity by 1; it starts with the number of pages that moved.
//! O(1), O(blocks of the block region) per victim with `least_popular`.
//!
//! # Parameters
//! RAM: `ram.dram` pages of read cache and `ram.nvram` pages of write buffer; WPA's paper has 1 : 4.
//!
//! # Deviations and chosen readings
//! - A write to a page of the read cache is a hit and counts as a write in DRAM and a move to the NVRAM.
//! - The page that moves may serve as padding for the block that makes room for it: its newest contents are in RAM.
//! - Reads make pages of the page region and of the read cache the most recent ones and leave blocks as they are.
//! - A read that misses while there is no DRAM bypasses the buffer. Without NVRAM (its frames can be taken away) every
//!   write goes through to flash, and a written page of the read cache leaves. Pages in NVRAM survive a host flush and
//!   a power cut as they are.
//! - The abstract also has clean pages of the read cache written with the block that leaves: with `padding` those that a
//!   victim lacks are taken from RAM where they are there, and read where not.
//! - A trimmed page leaves its block without changing popularity or order.
//!
//! # Known ambiguities
//! - The thresholds, the rule of the victim, and whether reads count for popularity.
//! - When pages move without a threshold. The paper of WPA (II-B): on a full write buffer the least recent page of the page
//!   region does (`full = "move_page"`). With the least popular block as victim that page mostly leaves at once, alone, and
//!   blocks stay, which the abstract's "destage sequentiality" speaks against; so a block leaves here while there is one.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tools::groups::{Group, Groups};
use super::tools::padding::{Padding, PaddingChoice};
use super::{Access, Admission, Buffer, BufferShape, Fill, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lpn, Slot};

/// Which block leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// The least popular; among equals the larger, then the least recently written.
    #[default]
    LeastPopular,
    /// The least recently written.
    Lru,
}

/// What happens when the write buffer is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Full {
    /// A block leaves the block region; if there is none, the block of the least recent page of the page region moves there
    /// first.
    #[default]
    EvictBlock,
    /// The least recent page of the page region moves to the block region every time, alone, and then a block leaves: what
    /// the paper of WPA says of CBM.
    MovePage,
}

crate::params! {
    pub struct Params: Copy {
        /// Pages of a block in the page region that move it to the block region.
        thr_migrate: Option<u32> = None, in 1.., "pages", absent "an eighth of a block, at least 2";
        /// Which block leaves.
        victim: Victim = Victim::LeastPopular;
        /// What happens when the write buffer is full.
        full: Full = Full::EvictBlock;
        /// When an incomplete victim is completed.
        padding: PaddingChoice = PaddingChoice::named("never"), in 0.0..=1.0, "share of its block";
    }
}

/// CBM (reconstruction): a read cache in DRAM that cooperates with a write buffer of pages and blocks in NVRAM.
#[derive(Debug)]
pub struct CbmR {
    victim: Victim,
    full: Full,
    padding: Padding,
    thr_migrate: u32,
    /// Pages of the read cache and of the page region.
    links: Links,
    read_cache: List,
    page_region: List,
    /// Pages of the page region by block.
    loose: Groups,
    /// Blocks of the block region, most recently written first.
    blocks: Groups,
    block_links: Links,
    block_region: List,
    /// By group of `blocks`.
    popularity: Vec<u64>,
    /// A page of the read cache that was written: it moves when the access is over.
    moving: Option<Slot>,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one page of DRAM and one of NVRAM.
pub fn build(params: Params, shape: &BufferShape) -> Result<CbmR, ConfigError> {
    shape.need_frames("cbm-r", shape.frames.dram, 1, "one DRAM page")?;
    if shape.frames.nvram == 0 {
        let help = "give the write buffer at least one page; the paper of WPA has four times the DRAM";
        return Err(ConfigError::new("ram.nvram", "no page frames, but `cbm-r` keeps written pages there", help));
    }
    let groups = || Groups::new(shape.logical_pages, shape.pages_per_block);
    Ok(CbmR {
        victim: params.victim,
        full: params.full,
        padding: Padding::of(params.padding, shape),
        thr_migrate: params.thr_migrate.unwrap_or((shape.pages_per_block / 8).max(2)),
        links: Links::default(),
        read_cache: List::default(),
        page_region: List::default(),
        loose: groups(),
        blocks: groups(),
        block_links: Links::default(),
        block_region: List::default(),
        popularity: Vec::new(),
        moving: None,
    })
}

impl CbmR {
    /// A page enters the write buffer, where there is room for it.
    fn enter(&mut self, slot: Slot, slots: &Slots) {
        if let Some(block) = self.blocks.find_page(slots.lpn(slot)) {
            self.blocks.insert(slot, slots);
            return self.written(block);
        }
        self.links.push_front(&mut self.page_region, slot.0);
        let (group, _) = self.loose.insert(slot, slots);
        if self.loose.len(group) >= self.thr_migrate {
            self.migrate(group, slots);
        }
    }

    fn written(&mut self, block: Group) {
        self.popularity[block.index()] += 1;
        self.block_links.move_front(&mut self.block_region, block.0);
    }

    /// A block moves from the page region to the block region, where it is not yet.
    fn migrate(&mut self, group: Group, slots: &Slots) {
        let pages: Vec<Slot> = self.loose.pages(group, slots).collect();
        self.loose.take(group);
        let mut block = Group(0);
        for slot in &pages {
            self.links.remove(&mut self.page_region, slot.0);
            block = self.blocks.insert(*slot, slots).0;
        }
        self.popularity.resize(self.blocks.id_count().max(self.popularity.len()), 0);
        self.popularity[block.index()] = pages.len() as u64;
        self.block_links.push_front(&mut self.block_region, block.0);
    }

    /// A page moves from the page region to the block region, alone.
    fn migrate_page(&mut self, slot: Slot, slots: &Slots) {
        self.links.remove(&mut self.page_region, slot.0);
        self.loose.remove(slot, slots);
        let (block, is_new) = self.blocks.insert(slot, slots);
        if is_new {
            self.popularity.resize(self.blocks.id_count().max(self.popularity.len()), 0);
            self.popularity[block.index()] = 1;
            self.block_links.push_front(&mut self.block_region, block.0);
        }
    }

    /// A block leaves the write buffer.
    fn evict_block(&mut self, slots: &Slots, plan: &mut Plan) {
        match self.page_region.back().map(Slot) {
            Some(oldest) if self.full == Full::MovePage => self.migrate_page(oldest, slots),
            Some(oldest) if self.block_region.is_empty() => self.migrate(self.loose.of(oldest, slots), slots),
            _ => {}
        }
        let victim = match self.victim {
            Victim::Lru => self.block_region.back(),
            // Of equals the first, so the one written least recently.
            Victim::LeastPopular => self
                .block_links
                .iter_back(&self.block_region)
                .min_by_key(|id| (self.popularity[*id as usize], std::cmp::Reverse(self.blocks.len(Group(*id))))),
        };
        let Some(block) = victim.map(Group) else { return };
        self.block_links.remove(&mut self.block_region, block.0);
        self.blocks.write_back(block, &self.padding, slots, plan);
    }

    fn is_in_block_region(&self, lpn: Lpn) -> bool {
        self.blocks.contains(lpn)
    }
}

impl Buffer for CbmR {
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        match slots.medium(slot) {
            Medium::Dram if access.write => {
                self.links.remove(&mut self.read_cache, slot.0);
                self.moving = Some(slot);
            }
            Medium::Dram => self.links.move_front(&mut self.read_cache, slot.0),
            Medium::Nvram if !self.is_in_block_region(access.lpn) => {
                self.links.move_front(&mut self.page_region, slot.0);
            }
            Medium::Nvram if access.write => {
                let block = self.blocks.of(slot, slots);
                self.written(block);
            }
            Medium::Nvram => {}
        }
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, _: &Sense<'_>) -> Admission {
        let frames = slots.frames();
        match access.write {
            true if frames.nvram > 0 => Admission::Admit(Medium::Nvram),
            false if frames.dram > 0 => Admission::Admit(Medium::Dram),
            _ => Admission::Bypass,
        }
    }
    fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        let (used, frames) = (slots.used(), slots.frames());
        match access {
            None => used.dram <= frames.dram && used.nvram <= frames.nvram,
            Some(access) if access.write => used.nvram < frames.nvram,
            Some(_) => used.dram < frames.dram,
        }
    }
    fn fill(&self, slots: &Slots) -> Option<Fill> {
        Some(Fill { used: slots.used().nvram, frames: slots.frames().nvram })
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        let from_dram = access.map_or(slots.used().dram > slots.frames().dram, |access| !access.write);
        if from_dram {
            if let Some(id) = self.links.pop_back(&mut self.read_cache) {
                plan.drop_page(Slot(id));
            }
        } else {
            self.evict_block(slots, plan);
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        match slots.medium(slot) {
            Medium::Dram => self.links.push_front(&mut self.read_cache, slot.0),
            Medium::Nvram => self.enter(slot, slots),
        }
    }
    fn after_access(&mut self, _: &Access, _: bool, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        let Some(slot) = self.moving.take() else { return };
        if slots.frames().nvram == 0 {
            return plan.write_back([slot], false);
        }
        if slots.used().nvram >= slots.frames().nvram {
            self.padding.observe(sense.ledger);
            self.evict_block(slots, plan);
        }
        plan.move_page(slot, Medium::Nvram);
        self.enter(slot, slots);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        if slots.medium(slot) == Medium::Dram {
            self.links.remove(&mut self.read_cache, slot.0);
        } else if self.is_in_block_region(slots.lpn(slot)) {
            let (block, emptied) = self.blocks.remove(slot, slots);
            if emptied {
                self.block_links.remove(&mut self.block_region, block.0);
            }
        } else {
            self.links.remove(&mut self.page_region, slot.0);
            self.loose.remove(slot, slots);
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let list = |list: &List| self.links.iter(list).map(|id| slots.lpn(Slot(id)).0).collect::<Vec<_>>();
        let block = |id: u32| {
            let mut block = self.blocks.golden(Group(id));
            block["popularity"] = json!(self.popularity[id as usize]);
            block
        };
        let blocks: Vec<Value> = self.block_links.iter(&self.block_region).map(block).collect();
        json!({"read_cache": list(&self.read_cache), "page_region": list(&self.page_region), "block_region": blocks})
    }
}
