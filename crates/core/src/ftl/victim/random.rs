//! random - Any closed block
//!
//! # What it does
//! A closed block drawn at random, all alike.

use super::{Candidates, Rule};

pub(super) const RULE: Rule =
    Rule { number: None, by_age: false, lowest_first: false, pick: |closed: &mut Candidates<'_>, _| closed.random() };
