//! lpn - Die by the number of the page
//!
//! # What it does
//! The number of a page modulo the number of dies tells the die, in the order of `stripe` (static striping): consecutive
//! pages lie on different dies, and a page stays on its die. Every die holds its share of the pages, however they are
//! written.

use super::{Clock, Dies, PageToPlace, PlacementRule};

pub(super) const RULE: PlacementRule = PlacementRule { by_number: true };

#[inline]
pub(super) fn position(dies: &Dies, page: PageToPlace, _: &Clock) -> u32 {
    dies.wrap(page.lpn.0)
}
