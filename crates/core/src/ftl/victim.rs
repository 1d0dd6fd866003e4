//! Which closed block is collected: the victim policies of all page-mapped FTLs.
//!
//! Ages count blocks closed since the block was closed, so that results do not depend on the timing model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::ConfigError;

/// A victim policy. Ties go to the block closed earliest unless it says otherwise.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Victim {
    /// Fewest valid pages.
    #[default]
    Greedy,
    /// Fewest valid pages; ties: lowest block number (FlashSim).
    GreedyLowest,
    /// Closed earliest (LRU cleaning).
    Fifo,
    /// Uniformly random among the closed blocks.
    Random,
    /// Fewest valid pages of `d` random closed blocks (Van Houdt, "A mean field model for a class of garbage collection
    /// algorithms in flash-based solid state drives", 2013).
    DChoices(u32),
    /// Fewest valid pages among the `w` blocks closed earliest (Hu and others, "Write amplification analysis in
    /// flash-based solid state drives", 2009).
    WindowedGreedy(u32),
    /// Largest `age * (1 - u) / (2 u)`, where `u` is the valid share (Rosenblum and Ousterhout, "The design and
    /// implementation of a log-structured file system", 1992; `2 u` because a victim is read and written back:
    /// Kawaguchi, Nishioka and Motoda, "A flash-memory based file system", 1995).
    CostBenefit,
    /// Least `u / (1 - u) * (erases + 1) / age` (Chiang and Chang, "Cleaning policies in mobile computers using flash
    /// memory", 1999: cleaning cost, 1 / age, number of cleanings). Chosen readings: the age enters as it is, not through
    /// a table of steps, and one is added to the number of cleanings, so that the first ones do not all tie at 0.
    CostAgeTimes,
}

impl Victim {
    /// Refuses a policy that can pick nothing.
    ///
    /// # Errors
    /// Says so.
    pub fn validate(self) -> Result<(), ConfigError> {
        match self {
            Self::DChoices(0) | Self::WindowedGreedy(0) => {
                Err(ConfigError::new("ftl.victim", "0 choices leave no victim", "use 1 or more"))
            }
            _ => Ok(()),
        }
    }

    /// How much a scoring policy wants a block of which `valid` of `pages` pages are valid, `age` blocks were closed
    /// since it was, and which was erased `erases` times.
    pub(super) fn score(self, valid: u32, pages: u32, age: u64, erases: u32) -> f64 {
        let (valid, invalid, age) = (f64::from(valid), f64::from(pages - valid), age as f64);
        match self {
            _ if valid == 0.0 => f64::INFINITY,
            // Inverted, so that the largest is wanted here too.
            Self::CostAgeTimes => age * invalid / (valid * (f64::from(erases) + 1.0)),
            _ => age * invalid / (2.0 * valid),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn do_the_scores_follow_their_formulas() {
        // u = 1/4: cost-benefit 12 * (3/4) / (2/4) = 18; cost-age-times 1 / ((1/4) / (3/4) * 3 / 12) = 12.
        assert_eq!(Victim::CostBenefit.score(4, 16, 12, 2), 18.0);
        assert_eq!(Victim::CostAgeTimes.score(4, 16, 12, 2), 12.0);
        for policy in [Victim::CostBenefit, Victim::CostAgeTimes] {
            assert_eq!(policy.score(0, 16, 1, 9), f64::INFINITY, "an empty block costs nothing");
            assert_eq!(policy.score(16, 16, 100, 0), 0.0, "a full block yields nothing");
        }
        assert!(Victim::CostAgeTimes.score(4, 16, 12, 1) > Victim::CostAgeTimes.score(4, 16, 12, 2));
    }
}
