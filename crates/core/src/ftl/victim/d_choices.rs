//! d-choices - Fewest valid pages of d random blocks
//!
//! # Source
//! Benny Van Houdt: A mean field model for a class of garbage collection algorithms in flash-based solid state drives.
//! SIGMETRICS 2013.
//!
//! # What it does
//! Draws `d` closed blocks at random, possibly one more than once, and takes the one with the fewest valid pages; ties go
//! to the one drawn first. `d` = 1 is `random`, a large `d` is near `greedy`. It stops after 64 draws for each closed block: by
//! then every one was drawn (except with a chance below 1e-20), and more draws change nothing.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule =
    VictimRule { number: Some("blocks drawn at random"), by_age: false, lowest_first: false, pick };

/// Draws for each closed block after which all of them were drawn: of `n` one is missing with a chance below `n * exp(-64)`.
const DRAWS_OF_A_BLOCK: u32 = 64;

fn pick(closed: &mut Candidates<'_>, d: u32) -> u32 {
    let mut best = closed.random();
    for _ in 1..d.min(closed.count().saturating_mul(DRAWS_OF_A_BLOCK)) {
        let other = closed.random();
        if closed.valid(other) < closed.valid(best) {
            best = other;
        }
    }
    best
}
