//! clock-dnv - Two clocks: pages in DRAM, block frames in NVRAM
//!
//! # Source
//! Dong Hyun Kang, Sang Jin Han, Young-Chang Kim and Young Ik Eom, "CLOCK-DNV: a write buffer algorithm for flash storage
//! devices of consumer electronics", IEEE Transactions on Consumer Electronics 63(1), 2017, as the paper of WPA describes
//! it; the text of the original was not available.
//!
//! # What it does
//! The DRAM is a ring of pages (CLOCK-D), the NVRAM a ring of block frames with clean and dirty pages of one logical block
//! each (CLOCK-NV). Whatever enters a ring stands just behind its hand with the reference bit clear, a later access sets it.
//! When the DRAM is full, its clock victim moves to the frame of its block. When a frame is needed, the clock victim of
//! CLOCK-NV leaves: its dirty pages and the dirty DRAM pages of the same block ("dirty page padding") are written back
//! together, its clean pages are dropped. O(1) amortised, O(pages of a block) for the eviction of a block.
//!
//! # Parameters
//! RAM: `ram.dram` pages and `ram.nvram / block` block frames, or `ram.nvram` pages; the paper of WPA has 1 : 4.
//!
//! # Deviations and chosen readings
//! - A missed page is read before room is made. The DRAM victim is chosen first, then room is made for it, and it moves
//!   even if DRAM pages left together with the evicted block, unless it left itself: with `nvram_unit = "page"` that block
//!   may be its own: then a dirty victim is written back with it, and a clean one moves, as the first page of its block.
//! - A write to a page in DRAM makes it dirty there. A page that moves into a frame that exists sets its bit.
//! - Clean DRAM pages of an evicted block stay. Host flush: DRAM pages are written back and stay, clean.
//! - A block frame whose last page is trimmed is free. Without DRAM frames all pages enter the NVRAM; without a block frame
//!   DRAM victims leave alone and pages for the NVRAM bypass the buffer.
//!
//! # Known ambiguities
//! - `placement`; the capacity of the NVRAM in block frames (the example of WPA) or in pages: `nvram_unit`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tools::groups::block_frames::{BlockFrames, NvramUnit};
use super::tools::padding::{Padding, PaddingChoice};
use super::{Access, Admission, Buffer, BufferShape, Fill, Frames, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lbn, Slot};

/// Where missed pages go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub enum Placement {
    /// Pages that are read enter the DRAM, pages that are written the NVRAM.
    #[default]
    #[serde(rename = "wpa_text")]
    WpaText,
    /// Pages that are written enter the DRAM and age into the NVRAM, which fits the title of the paper better.
    #[serde(rename = "write_first_D")]
    WriteFirstD,
}

crate::params! {
    pub struct Params: Copy {
        /// Where missed pages go.
        placement: Placement = Placement::WpaText;
        /// When a victim is completed to a whole block beyond its dirty page padding.
        padding: PaddingChoice = PaddingChoice::named("never"), in 0.0..=1.0, "share of its block";
        /// What a page takes of the NVRAM. The default is that of `wpa`, whose paper is the source here and has block frames in
        /// its example; the paper of WPA compares the two, so both should be given the same.
        nvram_unit: NvramUnit = NvramUnit::Block;
    }
}

/// A ring over dense ids: the hand is at the front, the place behind it is the back.
#[derive(Debug, Default)]
struct Ring {
    links: Links,
    order: List,
    /// By id.
    referenced: Vec<bool>,
}

impl Ring {
    fn insert(&mut self, id: u32) {
        if id as usize >= self.referenced.len() {
            self.referenced.resize(id as usize + 1, false);
        }
        self.referenced[id as usize] = false;
        self.links.push_back(&mut self.order, id);
    }
    fn remove(&mut self, id: u32) {
        self.links.remove(&mut self.order, id);
    }
    fn contains(&self, id: u32) -> bool {
        self.links.is_linked(id)
    }
    /// Where the hand stops: it clears every bit on its way.
    fn victim(&mut self) -> Option<u32> {
        while let Some(hand) = self.order.front().filter(|hand| self.referenced[*hand as usize]) {
            self.referenced[hand as usize] = false;
            self.links.move_back(&mut self.order, hand);
        }
        self.order.front()
    }
    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.links.iter(&self.order)
    }
}

/// CLOCK-DNV: a clock of pages in DRAM above a clock of block frames in NVRAM.
#[derive(Debug)]
pub struct ClockDnv {
    placement: Placement,
    padding: Padding,
    pages_per_block: u32,
    logical_pages: u32,
    /// DRAM pages by slot.
    pages: Ring,
    /// Logical blocks with pages in the NVRAM.
    blocks: Ring,
    nvram: BlockFrames,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one DRAM page or not one NVRAM frame, or a parameter is out of range.
pub fn build(params: Params, shape: &BufferShape) -> Result<ClockDnv, ConfigError> {
    let nvram = BlockFrames::new("clock-dnv", params.nvram_unit, false, shape)?;
    Ok(ClockDnv {
        placement: params.placement,
        padding: Padding::of(params.padding, shape),
        pages_per_block: shape.pages_per_block,
        logical_pages: shape.logical_pages,
        pages: Ring::default(),
        blocks: Ring::default(),
        nvram,
    })
}

impl ClockDnv {
    /// A page enters the NVRAM.
    fn enter_block(&mut self, lbn: Lbn) {
        if self.nvram.enter(lbn) {
            self.blocks.insert(lbn.0);
        } else {
            self.blocks.referenced[lbn.index()] = true;
        }
    }

    /// The clock victim of the DRAM goes to the NVRAM.
    fn demote(&mut self, slots: &Slots, plan: &mut Plan) {
        let Some(id) = self.pages.victim() else { return };
        if self.nvram.is_none() {
            self.pages.remove(id);
            return plan.evict(Slot(id), slots);
        }
        let lbn = slots.lbn(Slot(id));
        if !self.nvram.fits(lbn) {
            self.evict_block(slots, plan);
        }
        // It may have left together with its own block.
        if self.pages.contains(id) {
            self.pages.remove(id);
            plan.move_page(Slot(id), Medium::Nvram);
            self.enter_block(lbn);
        }
    }

    /// The clock victim of the NVRAM leaves, together with its dirty pages in DRAM.
    fn evict_block(&mut self, slots: &Slots, plan: &mut Plan) {
        let Some(lbn) = self.blocks.victim().map(Lbn) else { return };
        self.blocks.remove(lbn.0);
        self.nvram.free(lbn);
        let (dirty, clean): (Vec<Slot>, Vec<Slot>) = slots.of_block(lbn).partition(|slot| slots.is_dirty(*slot));
        for slot in dirty.iter().filter(|slot| slots.medium(**slot) == Medium::Dram) {
            self.pages.remove(slot.0);
        }
        if !dirty.is_empty() {
            let block_pages = self.pages_per_block.min(self.logical_pages - lbn.0 * self.pages_per_block);
            let pads = self.padding.pads(dirty.len() as u32, block_pages);
            plan.write_back(dirty, pads);
        }
        for slot in clean.into_iter().filter(|slot| slots.medium(*slot) == Medium::Nvram) {
            plan.drop_page(slot);
        }
    }
}

impl Buffer for ClockDnv {
    fn resize(&mut self, frames: Frames) {
        self.nvram.resize(frames);
    }
    fn on_hit(&mut self, slot: Slot, _: &Access, slots: &Slots, _: &Sense<'_>) {
        match slots.medium(slot) {
            Medium::Dram => self.pages.referenced[slot.index()] = true,
            Medium::Nvram => self.blocks.referenced[slots.lbn(slot).index()] = true,
        }
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, _: &Sense<'_>) -> Admission {
        self.nvram.admit(access.write == (self.placement == Placement::WriteFirstD), slots)
    }
    fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        self.nvram.has_room(access, slots)
    }
    fn fill(&self, _: &Slots) -> Option<Fill> {
        Some(self.nvram.fill())
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        self.padding.observe(sense.ledger);
        match self.nvram.lacks_room(access, slots) {
            Medium::Dram => self.demote(slots, plan),
            Medium::Nvram => self.evict_block(slots, plan),
        }
    }
    fn on_insert(&mut self, slot: Slot, _: &Access, slots: &Slots) {
        match slots.medium(slot) {
            Medium::Dram => self.pages.insert(slot.0),
            Medium::Nvram => self.enter_block(slots.lbn(slot)),
        }
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        if slots.medium(slot) == Medium::Dram {
            return self.pages.remove(slot.0);
        }
        let lbn = slots.lbn(slot);
        if self.nvram.leave(lbn) {
            self.blocks.remove(lbn.0);
        }
    }
    fn on_clean(&mut self, _: Slot, _: &Slots) -> bool {
        true
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn fetches_first(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id: u32| slots.golden_flag(Slot(id), "ref", self.pages.referenced[id as usize]);
        let block = |id: u32| {
            let mut block = BlockFrames::golden(Lbn(id), slots);
            block["ref"] = json!(u8::from(self.blocks.referenced[id as usize]));
            block
        };
        json!({
            "dram_ring_from_hand": self.pages.iter().map(page).collect::<Vec<_>>(),
            "nvram_ring_from_hand": self.blocks.iter().map(block).collect::<Vec<_>>(),
        })
    }
}
