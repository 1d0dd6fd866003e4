//! The same ordeal for every FTL: random operations with all invariants checked after each, and power cuts at every
//! program and erase of short runs.

pub mod ordeal;
pub mod rig;
pub mod variants;

use std::fmt;
use std::ops::{AddAssign, Range};

use nandlab::flash::CutMode;

/// What becomes of the operation on which a cut falls.
pub const MODES: [CutMode; 4] = [CutMode::Before, CutMode::After, CutMode::Torn, CutMode::TornPair];

/// What an FTL went through.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Host operations with all invariants checked after each.
    pub operations: u64,
    /// Programs and erases, counted once for each variant, device, seed and mode, at which the power failed first.
    pub cut_points: u64,
    /// Cuts that followed in the same run after it went on.
    pub further_cuts: u64,
    /// Cuts inside a recovery.
    pub recovery_cuts: u64,
    /// Acknowledged pages that went down with the lower page of a pair.
    pub lost_pages: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.cut_points += other.cut_points;
        self.further_cuts += other.further_cuts;
        self.recovery_cuts += other.recovery_cuts;
        self.lost_pages += other.lost_pages;
    }
}

impl Counts {
    /// Cuts of all kinds.
    pub const fn cuts(&self) -> u64 {
        self.cut_points + self.further_cuts + self.recovery_cuts
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operations, cut_points, further_cuts, recovery_cuts, lost_pages } = self;
        write!(
            f,
            "{operations} operations, {cut_points} cut points, {further_cuts} further cuts, {recovery_cuts} cuts inside a \
             recovery, {lost_pages} lower pages lost"
        )
    }
}

/// Random operations on one FTL in all its variants, `each` for a variant, device and seed.
pub fn operate(ftl: &str, seeds: Range<u64>, each: u32) -> Counts {
    let mut sum = Counts::default();
    for params in variants::variants(ftl) {
        for size in variants::SIZES {
            for start in rig::STARTS {
                for seed in seeds.clone() {
                    sum += ordeal::operations(ftl, &params, size, start, seed, each);
                }
            }
        }
    }
    sum
}

/// Power cuts at every program and erase of runs of `each` operations on one FTL in all its variants.
pub fn cut(ftl: &str, seeds: Range<u64>, each: u32) -> Counts {
    let mut sum = Counts::default();
    for params in variants::variants(ftl) {
        for (size, start) in variants::CUT_DEVICES {
            for seed in seeds.clone() {
                sum += ordeal::cuts(ftl, &params, size, start, seed, each);
            }
        }
    }
    if ftl == "page" {
        for (number, params) in variants::page_combinations().iter().enumerate() {
            let (size, start) = variants::CUT_DEVICES[number % variants::CUT_DEVICES.len()];
            for seed in seeds.clone() {
                sum += ordeal::cuts(ftl, params, size, start, seed, each / 2);
            }
        }
    }
    sum
}
