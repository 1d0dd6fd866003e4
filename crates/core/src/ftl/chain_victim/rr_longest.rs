//! rr-longest - The longest of the next chains, round robin
//!
//! # Source
//! The thesis of HitStat, table 3 (section 5.1): the manual page of the buffer `hitstat` names it.
//!
//! # What it does
//! Looks at the next `lookahead` chains in the order of their beginnings, from the one after the last victim on, and takes the
//! longest; of several the first.

use super::{ChainCandidates, ChainVictimRule};
use crate::types::Lbn;

pub(super) const RULE: ChainVictimRule = ChainVictimRule { by_use: false, pick };

fn pick(chains: &mut ChainCandidates<'_>) -> Lbn {
    let longer = |a: Lbn, b: Lbn| if chains.log_blocks(b) > chains.log_blocks(a) { b } else { a };
    chains.next_in_turn().reduce(longer).expect("there is a chain")
}
