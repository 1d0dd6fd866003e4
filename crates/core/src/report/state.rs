//! State at the end of a run: RAM and wear.

use serde::Serialize;

use crate::engine::Ssd;
use crate::flash;
use crate::types::Pbn;

/// RAM in use when the last request was complete.
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
    /// Of these, frames whose page is dirty.
    pub frames_dirty: u32,
    /// Bytes that the mapping takes, by the formula in the manual page of the FTL.
    pub map_bytes: u64,
}

impl Ram {
    pub(super) fn new(device: &dyn Ssd) -> Self {
        let slots = device.slots();
        let frames = slots.frames();
        Self {
            dram_frames: frames.dram,
            nvram_frames: frames.nvram,
            data_bytes: u64::from(frames.total()) * u64::from(device.flash().geometry().page_bytes),
            frames_used: slots.used().total(),
            frames_dirty: slots.iter().filter(|slot| slots.is_dirty(*slot)).count() as u32,
            map_bytes: device.ftl().map_bytes(),
        }
    }
}

/// Erase counts of the blocks since the device was made, preconditioning included.
#[derive(Clone, PartialEq, Debug, Serialize, schemars::JsonSchema)]
pub struct Wear {
    /// Erase blocks.
    pub blocks: u32,
    /// Erases of all blocks.
    pub erases: u64,
    /// Blocks that failed in use (`device.reliability.wear_out`), replaced by spare ones as long as there were some.
    pub retired_blocks: u32,
    /// Erases of the blocks that were replaced, which no other figure here counts.
    pub retired_erases: u64,
    /// Erases of the least worn block.
    pub min: u32,
    /// Mean erases of a block.
    pub mean: f64,
    /// Erases of the most worn block.
    pub max: u32,
    /// Standard deviation over the blocks (of the population: divided by the number of blocks).
    pub stddev: f64,
    /// Blocks by erase count: at most 64 bins of equal width from `min` to `max`.
    pub histogram: Vec<WearBin>,
    /// Heat map: erases by block number. On devices with more than 4,096 blocks an entry stands for `blocks_per_entry`
    /// neighbouring blocks and holds the greatest of their counts.
    pub per_block: Vec<u32>,
    /// Blocks that one entry of `per_block` stands for (the last one for fewer): 1 on devices of at most 4,096 blocks.
    pub blocks_per_entry: u32,
}

/// Blocks whose erase counts lie between two bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, schemars::JsonSchema)]
pub struct WearBin {
    /// Least erase count of the bin.
    pub from: u32,
    /// Greatest erase count of the bin.
    pub to: u32,
    /// Blocks.
    pub blocks: u32,
}

/// Bins of the histogram, at most.
const BINS: u32 = 64;
/// Entries of the heat map, at most.
const ENTRIES: u32 = 4096;

impl Wear {
    pub(super) fn new(flash: &flash::Flash) -> Self {
        let counts: Vec<u32> = (0..flash.geometry().blocks()).map(|pbn| flash.erase_count(Pbn(pbn))).collect();
        let (retired_blocks, retired_erases) = (flash.retired_blocks(), flash.retired_erases());
        Self { retired_blocks, retired_erases, ..Self::of(&counts) }
    }

    /// From the erase counts of all blocks, of which there is at least one.
    fn of(counts: &[u32]) -> Self {
        let blocks = counts.len() as u32;
        let erases: u64 = counts.iter().map(|n| u64::from(*n)).sum();
        let squares: u128 = counts.iter().map(|n| u128::from(*n) * u128::from(*n)).sum();
        let (min, max) = counts.iter().fold((u32::MAX, 0), |(min, max), n| (min.min(*n), max.max(*n)));
        let width = (max - min) / BINS + 1;
        let bin = |from: u32| WearBin { from, to: max.min(from.saturating_add(width - 1)), blocks: 0 };
        let mut histogram: Vec<WearBin> = (min..=max).step_by(width as usize).map(bin).collect();
        for n in counts {
            histogram[((n - min) / width) as usize].blocks += 1;
        }
        let blocks_per_entry = blocks.div_ceil(ENTRIES);
        let entries = counts.chunks(blocks_per_entry as usize);
        // Exact integers until the last step: n * sum of squares - square of the sum.
        let spread = u128::from(blocks) * squares - u128::from(erases) * u128::from(erases);
        Self {
            blocks,
            erases,
            retired_blocks: 0,
            retired_erases: 0,
            min,
            mean: erases as f64 / f64::from(blocks),
            max,
            stddev: (spread as f64).sqrt() / f64::from(blocks),
            histogram,
            per_block: entries.map(|counts| counts.iter().copied().max().unwrap_or(0)).collect(),
            blocks_per_entry,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_and_heat_map_match_a_hand_calculation() {
        let wear = Wear::of(&[3, 1, 1, 4]);
        let bins: Vec<_> = wear.histogram.iter().map(|bin| (bin.from, bin.to, bin.blocks)).collect();
        assert_eq!(bins, [(1, 1, 2), (2, 2, 0), (3, 3, 1), (4, 4, 1)]);
        assert_eq!((wear.per_block, wear.blocks_per_entry), (vec![3, 1, 1, 4], 1));
        // (0.75^2 + 1.25^2 + 1.25^2 + 1.75^2) / 4 = 1.6875
        assert_eq!((wear.min, wear.mean, wear.max, wear.stddev), (1, 2.25, 4, 1.6875_f64.sqrt()));
    }

    #[test]
    fn wide_spread_stays_within_the_bins_and_a_large_device_within_the_map() {
        let counts: Vec<u32> = (0..10_000).collect();
        let wear = Wear::of(&counts);
        assert_eq!((wear.blocks_per_entry, wear.per_block.len()), (3, 3334));
        assert_eq!((wear.per_block[0], wear.per_block[3332], wear.per_block[3333]), (2, 9998, 9999));
        // Width 9999 / 64 + 1 = 157: 63 full bins and 109 counts in the last one.
        assert_eq!(wear.histogram.len(), 64);
        assert_eq!(wear.histogram[63], WearBin { from: 9891, to: 9999, blocks: 109 });
        assert!(wear.histogram[..63].iter().all(|bin| bin.blocks == 157 && bin.to - bin.from == 156));
    }

    #[test]
    fn block_at_the_limit_of_counting_is_in_its_bin() {
        let wear = Wear::of(&[0, u32::MAX]);
        assert!(wear.histogram.len() <= 64 && wear.histogram[wear.histogram.len() - 1].to == u32::MAX);
    }
}
