//! greedy-lowest - Fewest valid pages, then the lowest number
//!
//! # What it does
//! As `greedy`, but ties go to the block with the lowest number, as in FlashSim (the simulator of the DFTL paper).

use super::VictimRule;

pub(super) const RULE: VictimRule = VictimRule { lowest_first: true, ..super::greedy::RULE };
