//! greedy-lowest - Fewest valid pages, then the lowest number
//!
//! # What it does
//! As `greedy`, but ties go to the block with the lowest number, as in FlashSim (the simulator of the DFTL paper).

use super::Rule;

pub(super) const RULE: Rule = Rule { lowest_first: true, ..super::greedy::RULE };
