//! random - Any closed block
//!
//! # What it does
//! A closed block drawn at random, all alike.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule = VictimRule {
    number: None,
    by_age: false,
    lowest_first: false,
    pick: |closed: &mut Candidates<'_>, _| closed.random(),
};
