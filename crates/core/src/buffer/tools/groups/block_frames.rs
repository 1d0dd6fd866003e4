//! An NVRAM that is emptied by whole logical blocks, next to a DRAM of pages (CLOCK-DNV, WPA).
//!
//! Either a block owns a frame as large as itself while a page of it lies in the NVRAM, or every page takes the frame of a
//! page. The order of the blocks is the policy's.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::buffer::{Access, Admission, BufferShape, Fill, Frames, Medium, Slots};
use crate::error::ConfigError;
use crate::types::Lbn;

/// What a page takes of the NVRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NvramUnit {
    /// A frame for its whole block, which the other pages of the block share.
    #[default]
    Block,
    /// A frame of its own.
    Page,
}

/// The frames of an NVRAM that is emptied by whole logical blocks.
#[derive(Debug)]
pub struct BlockFrames {
    pages_per_block: u32,
    unit: NvramUnit,
    /// Frames there are, and frames in use.
    frames: u32,
    used: u32,
    /// By logical block: its pages in the NVRAM.
    pages: Vec<u32>,
    /// A block must leave whenever no frame is free, even for a page whose block has one.
    strict: bool,
    /// Where the page that was missed last goes.
    target: Medium,
}

impl BlockFrames {
    /// All frames are free. With `strict` a page of a block that owns a frame finds no room there when no frame is free.
    ///
    /// # Errors
    /// If there is not one DRAM page or not one frame.
    pub fn new(policy: &str, unit: NvramUnit, strict: bool, shape: &BufferShape) -> Result<Self, ConfigError> {
        shape.need_frames(policy, shape.frames.dram, 1, "one DRAM page")?;
        let (have, pages_per_block) = (shape.frames.nvram, shape.pages_per_block);
        if unit == NvramUnit::Block && have < pages_per_block {
            let problem = format!("{have} page frames, but `{policy}` keeps whole blocks of {pages_per_block} there");
            let help = "give the NVRAM at least one block (the paper of WPA has four times the DRAM), or count it in pages \
                        with nvram_unit = \"page\"";
            return Err(ConfigError::new("ram.nvram", problem, help));
        }
        if have == 0 {
            let problem = format!("no frame, but `{policy}` keeps pages there");
            return Err(ConfigError::new("ram.nvram", problem, "give the NVRAM at least one page"));
        }
        let pages = vec![0; shape.logical_blocks() as usize];
        let mut nvram = Self { pages_per_block, unit, frames: 0, used: 0, pages, strict, target: Medium::Dram };
        nvram.resize(shape.frames);
        Ok(nvram)
    }
    /// The number of page frames changed.
    pub const fn resize(&mut self, frames: Frames) {
        self.frames = match self.unit {
            NvramUnit::Block => frames.nvram / self.pages_per_block,
            NvramUnit::Page => frames.nvram,
        };
    }
    /// True if the NVRAM is too small for any page.
    #[inline]
    pub const fn is_none(&self) -> bool {
        self.frames == 0
    }
    /// How full it is.
    pub const fn fill(&self) -> Fill {
        Fill { used: self.used, frames: self.frames }
    }
    /// True if a page of this block can enter.
    #[inline]
    pub fn fits(&self, lbn: Lbn) -> bool {
        let shares = self.unit == NvramUnit::Block && self.pages[lbn.index()] > 0 && !self.strict;
        self.used < self.frames || shares
    }
    /// Frames that `pages` pages of one block take.
    const fn frames_of(&self, pages: u32) -> u32 {
        match self.unit {
            NvramUnit::Block if pages > 0 => 1,
            NvramUnit::Block => 0,
            NvramUnit::Page => pages,
        }
    }
    fn set_pages(&mut self, lbn: Lbn, pages: u32) {
        self.used = self.used + self.frames_of(pages) - self.frames_of(self.pages[lbn.index()]);
        self.pages[lbn.index()] = pages;
    }
    /// A page enters: true if it is the first one of its block.
    pub fn enter(&mut self, lbn: Lbn) -> bool {
        self.set_pages(lbn, self.pages[lbn.index()] + 1);
        self.pages[lbn.index()] == 1
    }
    /// A page leaves: true if it was the last one of its block.
    pub fn leave(&mut self, lbn: Lbn) -> bool {
        self.set_pages(lbn, self.pages[lbn.index()] - 1);
        self.pages[lbn.index()] == 0
    }
    /// All pages of a block leave.
    pub fn free(&mut self, lbn: Lbn) {
        self.set_pages(lbn, 0);
    }

    /// Where a missed page goes: to the DRAM if the policy wants that and there is one, else to the NVRAM.
    pub fn admit(&mut self, to_dram: bool, slots: &Slots) -> Admission {
        let to_dram = to_dram && slots.frames().dram > 0;
        self.target = if to_dram { Medium::Dram } else { Medium::Nvram };
        if to_dram || !self.is_none() { Admission::Admit(self.target) } else { Admission::Bypass }
    }
    /// True if the missed page fits where it goes; without an access: if the pages fit both memories.
    pub fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        let (used, dram) = (slots.used().dram, slots.frames().dram);
        match (access, self.target) {
            (None, _) => used <= dram && self.used <= self.frames,
            (Some(_), Medium::Dram) => used < dram,
            (Some(access), Medium::Nvram) => self.fits(slots.lbn_of(access.lpn)),
        }
    }
    /// The memory that must give a frame when there is no room.
    pub fn lacks_room(&self, access: Option<&Access>, slots: &Slots) -> Medium {
        match access {
            Some(_) => self.target,
            None if slots.used().dram > slots.frames().dram => Medium::Dram,
            None => Medium::Nvram,
        }
    }
    /// The pages of a block in the NVRAM in the form of the golden files.
    pub fn golden(lbn: Lbn, slots: &Slots) -> Value {
        let of = |dirty| {
            let pages = slots.of_block(lbn).filter(|slot| slots.medium(*slot) == Medium::Nvram);
            let pages = pages.filter(|slot| slots.is_dirty(*slot) == dirty);
            pages.map(|slot| slots.lpn(slot).0).collect::<Vec<_>>()
        };
        json!({"block": lbn.0, "dirty": of(true), "clean": of(false)})
    }
}
