//! cost-benefit - Largest age times what is gained over what it costs
//!
//! # Source
//! Mendel Rosenblum, John K. Ousterhout: The design and implementation of a log-structured file system. ACM Transactions on
//! Computer Systems 10(1), 1992. With `2 u`, because a victim is read and written back: Atsuo Kawaguchi, Shingo Nishioka,
//! Hiroshi Motoda: A flash-memory based file system. USENIX 1995.
//!
//! # What it does
//! The block with the largest `age * (1 - u) / (2 u)`, where `u` is the share of valid pages. Ties go to the block closed
//! earliest.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule = VictimRule {
    number: None,
    by_age: false,
    lowest_first: false,
    pick: |closed: &mut Candidates<'_>, _| closed.best(|valid, pages, age, _| score(valid, pages, age)),
};

fn score(valid: u32, pages: u32, age: u64) -> f64 {
    if valid == 0 {
        return f64::INFINITY;
    }
    let (invalid, valid) = (f64::from(pages - valid), f64::from(valid));
    age as f64 * invalid / (2.0 * valid)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn cost_benefit_follows_its_formula() {
        // u = 1/4: 12 * (3/4) / (2/4) = 18.
        assert_eq!(score(4, 16, 12), 18.0);
        assert_eq!(score(0, 16, 1), f64::INFINITY, "an empty block costs nothing");
        assert_eq!(score(16, 16, 100), 0.0, "a full block yields nothing");
    }
}
