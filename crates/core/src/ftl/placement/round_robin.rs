//! round-robin - The next die for every write
//!
//! # What it does
//! Every page goes to the die after that of the page before, in the order of `stripe`: writes use all dies alike, whatever
//! pages they are for. A die that is full of valid pages is left out.

use super::{Clock, Dies, PageToPlace, PlacementRule};

pub(super) const RULE: PlacementRule = PlacementRule { by_number: false };

#[inline]
pub(super) fn position(dies: &Dies, _: PageToPlace, _: &Clock) -> u32 {
    dies.wrap(dies.last() + 1)
}
