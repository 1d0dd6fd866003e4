//! random - Any chain
//!
//! # What it does
//! A chain drawn at random, all alike.

use super::{ChainCandidates, ChainVictimRule};

pub(super) const RULE: ChainVictimRule =
    ChainVictimRule { by_use: false, pick: |chains: &mut ChainCandidates<'_>| chains.random() };
