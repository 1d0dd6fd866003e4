//! State at the end of a run: RAM and wear.

use serde::Serialize;

use crate::flash;
use crate::ssd::Device;
use crate::types::Pbn;

/// RAM in use at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct Ram {
    /// DRAM frames for data pages.
    pub dram_frames: u32,
    /// NVRAM frames for data pages.
    pub nvram_frames: u32,
    /// Bytes of all frames.
    pub data_bytes: u64,
    /// Frames that hold a page.
    pub frames_used: u32,
    /// Bytes that the mapping takes, by the formula in the manual page of the FTL.
    pub map_bytes: u64,
}

impl Ram {
    pub(super) fn new(device: &dyn Device) -> Self {
        let frames = device.slots().frames();
        Self {
            dram_frames: frames.dram,
            nvram_frames: frames.nvram,
            data_bytes: u64::from(frames.total()) * u64::from(device.flash().geometry().page_bytes),
            frames_used: device.slots().used().total(),
            map_bytes: device.ftl().map_bytes(),
        }
    }
}

/// Erase counts of the blocks since the device was made, preconditioning included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Wear {
    /// Erase blocks.
    pub blocks: u32,
    /// Erases of all blocks.
    pub erases: u64,
    /// Erases of the least worn block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Erases of the most worn block.
    pub max: u32,
    /// Standard deviation over the blocks (of the population: divided by the number of blocks).
    pub stddev: f64,
}

impl Wear {
    pub(super) fn new(flash: &flash::Flash) -> Self {
        let blocks = flash.geometry().blocks();
        let counts = || (0..blocks).map(|pbn| flash.erase_count(Pbn(pbn)));
        let erases: u64 = counts().map(u64::from).sum();
        let squares: u128 = counts().map(|n| u128::from(n) * u128::from(n)).sum();
        // Exact integers until the last step: n * sum of squares - square of the sum.
        let spread = u128::from(blocks) * squares - u128::from(erases) * u128::from(erases);
        Self {
            blocks,
            erases,
            min: counts().min().unwrap_or(0),
            mean: erases as f64 / f64::from(blocks),
            max: counts().max().unwrap_or(0),
            stddev: (spread as f64).sqrt() / f64::from(blocks),
        }
    }
}
