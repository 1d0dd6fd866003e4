//! Shape of the array and where an address lies in it.

use serde::{Deserialize, Serialize};

use crate::types::{Lbn, Lpn, Pbn, Ppn};

/// Shape of the flash array.
///
/// Erase blocks are numbered so that consecutive blocks lie on consecutive dies, and consecutive dies on consecutive
/// channels: `die = pbn % dies`, `channel = die % channels`. An FTL that takes blocks in ascending order therefore
/// spreads them over the whole device, and an FTL that wants its own blocks on every die takes them by residue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    /// Channels (buses).
    pub channels: u32,
    /// Chips (packages) on each channel.
    pub chips_per_channel: u32,
    /// Dies in each chip; a die executes one operation at a time.
    pub dies_per_chip: u32,
    /// Planes in each die. Block `b` lies on plane `b / dies % planes_per_die` of its die; which of them work at the
    /// same time is `device.commands.planes`.
    pub planes_per_die: u32,
    /// Erase blocks in each plane.
    pub blocks_per_plane: u32,
    /// Pages in each erase block.
    pub pages_per_block: u32,
    /// Bytes of a page: a multiple of 512.
    pub page_bytes: u32,
}

/// Order in which the pages of a block may be programmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramOrder {
    /// Any erased page (old SLC parts).
    Any,
    /// Offsets ascend, some may be skipped and are lost until the next erase.
    #[default]
    Ascending,
    /// Offsets ascend without a gap.
    Strict,
}

impl Geometry {
    /// A device of one die with one plane.
    pub const fn single_die(blocks: u32, pages_per_block: u32, page_bytes: u32) -> Self {
        Self {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: blocks,
            pages_per_block,
            page_bytes,
        }
    }
    /// Dies of the device.
    #[inline]
    pub const fn dies(&self) -> u32 {
        self.channels * self.chips_per_channel * self.dies_per_chip
    }
    /// Erase blocks of the device.
    #[inline]
    pub const fn blocks(&self) -> u32 {
        self.dies() * self.planes_per_die * self.blocks_per_plane
    }
    /// Erase blocks of one die.
    #[inline]
    pub const fn blocks_per_die(&self) -> u32 {
        self.planes_per_die * self.blocks_per_plane
    }
    /// Physical pages of the device.
    #[inline]
    pub const fn pages(&self) -> u64 {
        self.blocks() as u64 * self.pages_per_block as u64
    }
    /// Sectors of a page.
    #[inline]
    pub const fn page_sectors(&self) -> u32 {
        self.page_bytes / 512
    }
    /// Block of a page.
    #[inline]
    pub const fn pbn(&self, ppn: Ppn) -> Pbn {
        if self.pages_per_block.is_power_of_two() {
            Pbn(ppn.0 >> self.pages_per_block.trailing_zeros())
        } else {
            Pbn(ppn.0 / self.pages_per_block)
        }
    }
    /// Offset of a page in its block.
    #[inline]
    pub const fn page_in_block(&self, ppn: Ppn) -> u32 {
        if self.pages_per_block.is_power_of_two() {
            ppn.0 & (self.pages_per_block - 1)
        } else {
            ppn.0 % self.pages_per_block
        }
    }
    /// First page of a block.
    #[inline]
    pub const fn first_page(&self, pbn: Pbn) -> Ppn {
        Ppn(pbn.0 * self.pages_per_block)
    }
    /// Page `offset` of a block.
    #[inline]
    pub const fn page(&self, pbn: Pbn, offset: u32) -> Ppn {
        Ppn(pbn.0 * self.pages_per_block + offset)
    }
    /// Logical block of a logical page.
    #[inline]
    pub const fn lbn(&self, lpn: Lpn) -> Lbn {
        if self.pages_per_block.is_power_of_two() {
            Lbn(lpn.0 >> self.pages_per_block.trailing_zeros())
        } else {
            Lbn(lpn.0 / self.pages_per_block)
        }
    }
    /// Offset of a logical page in its logical block.
    #[inline]
    pub const fn offset(&self, lpn: Lpn) -> u32 {
        self.page_in_block(Ppn(lpn.0))
    }
    /// Logical page at `offset` of a logical block.
    #[inline]
    pub const fn lpn(&self, lbn: Lbn, offset: u32) -> Lpn {
        Lpn(lbn.0 * self.pages_per_block + offset)
    }
    /// Die of a block.
    #[inline]
    pub const fn die(&self, pbn: Pbn) -> u32 {
        let dies = self.dies();
        if dies.is_power_of_two() { pbn.0 & (dies - 1) } else { pbn.0 % dies }
    }
    /// Number of a page's plane among those of all dies: planes with consecutive numbers lie on consecutive dies.
    #[inline]
    pub const fn plane(&self, ppn: Ppn) -> u32 {
        self.pbn(ppn).0 % (self.dies() * self.planes_per_die)
    }
    /// Channel of a die.
    #[inline]
    pub const fn channel_of_die(&self, die: u32) -> u32 {
        die % self.channels
    }
}
