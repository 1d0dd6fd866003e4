//! fifo - Closed earliest
//!
//! # What it does
//! The block closed earliest, whatever it holds: LRU cleaning, which wears all blocks alike.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule = VictimRule {
    number: None,
    by_age: true,
    lowest_first: false,
    pick: |closed: &mut Candidates<'_>, _| closed.oldest(),
};
