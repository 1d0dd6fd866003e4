//! greedy - Fewest valid pages
//!
//! # What it does
//! The block with the fewest valid pages: the cheapest now. Ties go to the block closed earliest.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule = VictimRule {
    number: None,
    by_age: false,
    lowest_first: false,
    pick: |closed: &mut Candidates<'_>, _| closed.fewest_valid(),
};
