//! least-busy - The die that will be idle first
//!
//! # Source
//! Dynamic allocation to idle dies: J.-Y. Shin, Z.-L. Xia, N.-Y. Xu, R. Gao, X.-F. Cai, S. Maeng, F.-H. Hsu, "FTL Design
//! Exploration in Reconfigurable High-Performance SSD for Server Applications", ICS 2009. EagleTree calls it shortest queue.
//!
//! # What it does
//! Every page goes to the die with the least work under way and queued, copies of garbage collection included; among equals to
//! the one that comes first after that of the page before, in the order of `stripe`. A die that is full of valid pages is left
//! out. The work of a die is its service time, without waiting for the channel; what still waits for something else counts with
//! the timing model `scheduled`, not with `parallel`. With `serial` all dies are as busy as the device, and
//! the next one is taken.

use super::{Clock, Dies, PageToPlace, PlacementRule};

pub(super) const RULE: PlacementRule = PlacementRule { by_number: false };

// Not in line: the others are a few instructions.
#[inline(never)]
pub(super) fn position(dies: &Dies, _: PageToPlace, clock: &Clock) -> u32 {
    let first = dies.wrap(dies.last() + 1);
    clock.least_work(dies.positions_from(first), |position| dies.has_room(position)).unwrap_or(first)
}
