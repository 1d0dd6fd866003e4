//! Which closed block is collected: the victim policies of all page-mapped FTLs, one file and one line each.
//!
//! Ages count blocks closed since the block was closed, so that results do not depend on the timing model.

pub use crate::ftl::blocks::pool::{Candidates, VictimRule};
use crate::registry::Plugin;
use crate::registry::rules::{self, Choice, Number, rules};

rules! {
    /// All victim policies; the first is the default.
    VICTIMS: VictimRule, "victim";
    greedy,
    greedy_lowest,
    fifo,
    random,
    d_choices,
    windowed_greedy,
    cost_benefit,
    cost_age_times,
}

impl rules::Rule for VictimRule {
    const KIND: &'static str = "victim";
    const ALL: &'static [Plugin<Self>] = VICTIMS;
    const KEY: &'static str = "ftl.victim";
    const CHOSEN_BY: &'static str = "FTLs that map pages";
    fn number(&self) -> Option<Number> {
        self.number.map(Number::Named)
    }
}

/// A victim policy with its number, as a configuration names it.
pub type Victim = Choice<VictimRule>;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<Victim, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn victim_that_is_wrong_is_named_with_what_is_right() {
        for (value, wanted) in [
            (json!({"d_choices": 0}), "use 1 or more (blocks drawn at random)"),
            (json!("d_choices"), "takes a number (blocks drawn at random)"),
            (json!({"fifo": 3}), "takes no number"),
            (json!({"d_choices": 3, "fifo": 1}), "one victim at a time"),
            (json!({}), "names no victim"),
            (json!(3), "the name of a victim, or { NAME = number }"),
        ] {
            let error = read(value.clone()).unwrap_err();
            assert!(error.contains(wanted), "{value}: {error}");
        }
        assert!(read(json!("greedy")).unwrap() == Victim::default());
    }
}
