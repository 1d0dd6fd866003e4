//! The same ordeal for every FTL: random operations with all invariants checked after each, and power cuts at every
//! program and erase of short runs. FTL, parameters, device and seed name the stream of a run, and no two are equal.

pub mod ordeal;
pub mod outage;
pub mod rig;
pub mod streams;
pub mod variants;

use std::fmt;
use std::ops::AddAssign;

use nandlab::flash::CutMode;
use streams::Seen;

/// What becomes of the operation on which a cut falls.
pub const MODES: [CutMode; 4] = [CutMode::Before, CutMode::After, CutMode::Torn, CutMode::TornPair];

/// What an FTL went through. Of cuts, those on equal cells with equal promises count once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Host operations with all invariants checked after each.
    pub operations: u64,
    /// Programs and erases of short runs at which the power failed first.
    pub cut_points: u64,
    /// Those of them that fell after a compaction of the journal of trims.
    pub compacted_cuts: u64,
    /// Cuts that followed in the same run after it went on.
    pub further_cuts: u64,
    /// Cuts inside a recovery.
    pub recovery_cuts: u64,
    /// Lower pages of a pair that went down with what was promised or on its way.
    pub lower_pages: u64,
    /// Acknowledged pages that came back older because such a page was the only copy.
    pub lost_pages: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.operations += other.operations;
        self.cut_points += other.cut_points;
        self.compacted_cuts += other.compacted_cuts;
        self.further_cuts += other.further_cuts;
        self.recovery_cuts += other.recovery_cuts;
        self.lower_pages += other.lower_pages;
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
        let Self { operations, cut_points, compacted_cuts, further_cuts, recovery_cuts, lower_pages, lost_pages } =
            self;
        write!(
            f,
            "{operations} operations, {} cuts: {cut_points} cut points ({compacted_cuts} after a compaction of the journal), \
             {further_cuts} further cuts, {recovery_cuts} inside a recovery; {lower_pages} lower pages went down, \
             {lost_pages} were the only copy",
            self.cuts()
        )
    }
}

/// Random operations on one FTL in all its variants, `each` for a variant and device.
pub fn operate(ftl: &str, seed: u64, each: u32, seen: &mut Seen) -> Counts {
    let mut sum = Counts::default();
    for params in variants::variants(ftl) {
        for size in variants::SIZES {
            for start in rig::STARTS {
                sum += ordeal::operations(ftl, &params, (size, start), seed, each, seen);
            }
        }
    }
    sum
}

/// Power cuts at every program and erase of runs of `each` operations on one FTL in all its variants.
pub fn cut(ftl: &str, seed: u64, each: u32, seen: &mut Seen) -> Counts {
    let mut sum = Counts::default();
    for params in variants::variants(ftl) {
        for device in variants::CUT_DEVICES {
            sum += ordeal::cuts(ftl, &params, device, seed, each, seen);
        }
    }
    if ftl == "page" {
        for (number, params) in variants::page_combinations().iter().enumerate() {
            let device = variants::CUT_DEVICES[number % variants::CUT_DEVICES.len()];
            sum += ordeal::cuts(ftl, params, device, seed, each / 2, seen);
        }
    }
    sum
}
