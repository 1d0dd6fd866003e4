//! wpa - Write pages in DRAM, block frames in NVRAM
//!
//! # Source
//! Jun-Hyeong Choi, Kyung Min Kim and Jong Wook Kwak, "WPA: write pattern aware hybrid disk buffer management for
//! improving lifespan of NAND flash memory", IEEE Transactions on Consumer Electronics 66(2), 2020, algorithm 1 and
//! figure 4: PaMP-LRU and the page eviction list of a hybrid DRAM and NVRAM buffer.
//!
//! # What it does
//! Written pages enter the DRAM, pages that were read enter the NVRAM. A DRAM page belongs to one of four groups,
//! `mpg = 2 * re-referenced + overwritten`, each a recency list; re-referenced means that its number was in the page
//! eviction list (PEL) when it came, overwritten that it was written again since. When the DRAM is full, the least
//! recently used page of the lowest group moves to the NVRAM. The NVRAM consists of block frames in recency order, which
//! hold clean and dirty pages of one logical block. When a frame is needed, the least recently used block leaves: its
//! dirty pages and the DRAM pages of the same block are written back together, its clean pages dropped, and the
//! numbers of the written pages enter the PEL. O(1), O(pages of a block) for the eviction of a block.
//!
//! # Parameters
//! RAM: `ram.dram` pages and `ram.nvram / block` block frames, or `ram.nvram` pages; the paper has 1 : 4.
//!
//! # Deviations and chosen readings
//! - The page to move is chosen first, then room is made for it, and it moves even if DRAM pages left together with the
//!   evicted block.
//! - The missed page is read before the eviction (algorithm 1 and figure 4 do not say when). No padding.
//! - Written pages enter the PEL in ascending order, the last one is the newest; known numbers become the newest.
//! - A page in the NVRAM that is written stays there.
//! - Host flush: DRAM pages are written back by block and leave; NVRAM pages survive a power cut and stay. The PEL does
//!   not change, because nothing was evicted.
//! - A block frame whose last page is trimmed is free.
//! - Without DRAM frames writes enter the NVRAM; without a block frame DRAM victims are written back alone.
//! - A page to move that left with the evicted block, which can be its own with `evict_when_full` or `nvram_unit = "page"`,
//!   does not move any more.
//!
//! # Known ambiguities
//! - Capacity of the NVRAM in block frames, so that it has gaps, or in pages: see `nvram_unit`. The paper says neither how
//!   large its memories are nor how full.
//! - Whether merged DRAM pages leave the DRAM (here: yes, figure 4), and whether a read of a DRAM page changes its group
//!   (here: only its place in it).

use serde_json::{Value, json};

use super::tools::ghosts::Ghosts;
use super::tools::groups::block_frames::{BlockFrames, NvramUnit};
use super::{Access, Admission, Buffer, BufferShape, Fill, Frames, Grain, Medium, Plan, Sense, Slots};
use crate::error::ConfigError;
use crate::list::{Links, List};
use crate::types::{Lbn, Slot};

crate::params! {
    pub struct Params {
        /// Length of the PEL.
        pel_size: Option<u32> = None, "pages", absent "the DRAM frames";
        /// A number leaves the PEL when it is used.
        pel_remove_on_hit: bool = false;
        /// A block leaves whenever no frame is free, even if the block of the incoming page has one (algorithm 1 to the
        /// letter). With `nvram_unit = "page"` a full NVRAM is full for all pages anyway.
        evict_when_full: bool = false;
        /// What a page takes of the NVRAM. The default is how the paper speaks: the NVRAM of its example is "3 blocks with 4
        /// pages in each block", and algorithm 1 evicts a block to get a "free block", into which the one page goes that was
        /// read. But only `page` fills the NVRAM where accesses are scattered, and it comes nearer to the hit ratios that the
        /// paper prints; docs/results/wpa.md has both.
        nvram_unit: NvramUnit = NvramUnit::Block;
    }
}

/// Bit of the group of a page that was in the PEL when it came.
const RE_REFERENCED: u8 = 2;
/// Bit of the group of a page that was written again.
const OVERWRITTEN: u8 = 1;

/// WPA: pages in DRAM by how they were written, above an NVRAM of block frames.
#[derive(Debug)]
pub struct Wpa {
    params: Params,
    /// DRAM pages by slot, in the list of their group.
    links: Links,
    groups: [List; 4],
    /// By slot: its group.
    group: Vec<u8>,
    /// Logical blocks with pages in the NVRAM, most recently used first.
    block_links: Links,
    blocks: List,
    nvram: BlockFrames,
    pel: Ghosts,
}

/// Builds the policy.
///
/// # Errors
/// If there is not one DRAM page or not one NVRAM frame.
pub fn build(params: Params, shape: &BufferShape) -> Result<Wpa, ConfigError> {
    let nvram = BlockFrames::new("wpa", params.nvram_unit, params.evict_when_full, shape)?;
    let mut wpa = Wpa {
        params,
        links: Links::default(),
        groups: [List::default(); 4],
        group: Vec::new(),
        block_links: Links::default(),
        blocks: List::default(),
        nvram,
        pel: Ghosts::new(shape.logical_pages),
    };
    wpa.resize(shape.frames);
    Ok(wpa)
}

impl Wpa {
    fn unlink_dram(&mut self, slot: Slot) {
        self.links.remove(&mut self.groups[usize::from(self.group[slot.index()])], slot.0);
    }

    /// A page enters the NVRAM.
    fn enter_block(&mut self, lbn: Lbn) {
        if self.nvram.enter(lbn) {
            self.block_links.push_front(&mut self.blocks, lbn.0);
        } else {
            self.block_links.move_front(&mut self.blocks, lbn.0);
        }
    }

    /// The least recently used DRAM page of the lowest group goes to the NVRAM.
    fn demote(&mut self, slots: &Slots, plan: &mut Plan) {
        let Some(id) = self.groups.iter().find_map(List::back) else { return };
        let (slot, lbn) = (Slot(id), slots.lbn(Slot(id)));
        if self.nvram.is_none() {
            self.unlink_dram(slot);
            self.pel.add(0, slots.lpn(slot));
            return plan.write_back([slot], false);
        }
        if !self.nvram.fits(lbn) {
            self.evict_block(slots, plan);
        }
        // It may have left together with its own block.
        if self.links.is_linked(id) {
            self.unlink_dram(slot);
            plan.move_page(slot, Medium::Nvram);
            self.enter_block(lbn);
        }
    }

    /// The least recently used block leaves the NVRAM, together with its pages in DRAM.
    fn evict_block(&mut self, slots: &Slots, plan: &mut Plan) {
        let Some(lbn) = self.block_links.pop_back(&mut self.blocks).map(Lbn) else { return };
        self.nvram.free(lbn);
        let mut dirty = 0;
        for slot in slots.of_block(lbn) {
            if slots.medium(slot) == Medium::Dram {
                self.unlink_dram(slot);
            } else if !slots.is_dirty(slot) {
                plan.drop_page(slot);
                continue;
            }
            self.pel.add(0, slots.lpn(slot));
            dirty += 1;
        }
        if dirty > 0 {
            plan.write_back(slots.of_block(lbn).filter(|slot| slots.is_dirty(*slot)), false);
        }
    }
}

impl Buffer for Wpa {
    fn resize(&mut self, frames: Frames) {
        self.nvram.resize(frames);
        self.pel.set_limit(self.params.pel_size.unwrap_or(frames.dram));
    }
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, _: &Sense<'_>) {
        if slots.medium(slot) == Medium::Nvram {
            return self.block_links.move_front(&mut self.blocks, slots.lbn(slot).0);
        }
        self.unlink_dram(slot);
        let group = &mut self.group[slot.index()];
        *group |= if access.write { OVERWRITTEN } else { 0 };
        self.links.push_front(&mut self.groups[usize::from(*group)], slot.0);
    }
    fn on_miss(&mut self, access: &Access, slots: &Slots, _: &Sense<'_>) -> Admission {
        self.nvram.admit(access.write, slots)
    }
    fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        self.nvram.has_room(access, slots)
    }
    fn fill(&self, _: &Slots) -> Option<Fill> {
        Some(self.nvram.fill())
    }
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, _: &Sense<'_>, plan: &mut Plan) {
        match self.nvram.lacks_room(access, slots) {
            Medium::Dram => self.demote(slots, plan),
            Medium::Nvram => self.evict_block(slots, plan),
        }
    }
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots) {
        if slots.medium(slot) == Medium::Nvram {
            return self.enter_block(slots.lbn(slot));
        }
        let known = self.pel.contains(access.lpn);
        if known && self.params.pel_remove_on_hit {
            self.pel.take(access.lpn);
        }
        if slot.index() >= self.group.len() {
            self.group.resize(slot.index() + 1, 0);
        }
        let group = if known { RE_REFERENCED } else { 0 };
        self.group[slot.index()] = group;
        self.links.push_front(&mut self.groups[usize::from(group)], slot.0);
    }
    fn on_remove(&mut self, slot: Slot, slots: &Slots) {
        if slots.medium(slot) == Medium::Dram {
            return self.unlink_dram(slot);
        }
        let lbn = slots.lbn(slot);
        if self.nvram.leave(lbn) {
            self.block_links.remove(&mut self.blocks, lbn.0);
        }
    }
    fn grain(&self) -> Grain {
        Grain::Block
    }
    fn fetches_first(&self) -> bool {
        true
    }
    fn golden_state(&self, slots: &Slots) -> Value {
        let page = |id| {
            let group = self.group[id as usize];
            json!({"lpn": slots.lpn(Slot(id)).0, "reref": group / RE_REFERENCED, "ow": group & OVERWRITTEN})
        };
        let list = |list: &List| self.links.iter(list).map(page).collect::<Vec<_>>();
        let block = |lbn| BlockFrames::golden(Lbn(lbn), slots);
        json!({
            "dram_mpg3_to_mpg0": self.groups.iter().rev().map(list).collect::<Vec<_>>(),
            "nvram_blocks": self.block_links.iter(&self.blocks).map(block).collect::<Vec<_>>(),
            "pel_newest_first": self.pel.iter(0).map(|lpn| lpn.0).collect::<Vec<_>>(),
        })
    }
}
