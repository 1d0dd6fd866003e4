//! cost-age-times - Least cost, with age and wear
//!
//! # Source
//! Mei-Ling Chiang, Ruei-Chuan Chang: Cleaning policies in mobile computers using flash memory. Journal of Systems and
//! Software 48(3), 1999: cleaning cost, 1 / age, number of cleanings.
//!
//! # What it does
//! The block with the least `u / (1 - u) * (erases + 1) / age`, where `u` is the share of valid pages. Ties go to the block
//! closed earliest.
//!
//! # Deviations and chosen readings
//! - The age enters as it is, not through a table of steps.
//! - One is added to the number of cleanings, so that the first ones do not all tie at 0.

use super::{Candidates, VictimRule};

pub(super) const RULE: VictimRule = VictimRule {
    number: None,
    by_age: false,
    lowest_first: false,
    pick: |closed: &mut Candidates<'_>, _| closed.best(score),
};

/// The formula turned over, so that the largest is wanted.
fn score(valid: u32, pages: u32, age: u64, erases: u32) -> f64 {
    if valid == 0 {
        return f64::INFINITY;
    }
    let (invalid, valid) = (f64::from(pages - valid), f64::from(valid));
    age as f64 * invalid / (valid * (f64::from(erases) + 1.0))
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn cost_age_times_follows_its_formula() {
        // u = 1/4: 1 / ((1/4) / (3/4) * 3 / 12) = 12.
        assert_eq!(score(4, 16, 12, 2), 12.0);
        assert!(score(4, 16, 12, 1) > score(4, 16, 12, 2), "wear counts against a block");
        assert_eq!(score(0, 16, 1, 9), f64::INFINITY, "an empty block costs nothing");
        assert_eq!(score(16, 16, 100, 0), 0.0, "a full block yields nothing");
    }
}
