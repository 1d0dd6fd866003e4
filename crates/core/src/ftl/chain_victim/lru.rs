//! lru - Written least recently
//!
//! # What it does
//! The chain that was written least recently: a logical block that is still written keeps its log blocks.

use super::{ChainCandidates, ChainVictimRule};

pub(super) const RULE: ChainVictimRule =
    ChainVictimRule { by_use: true, pick: |chains: &mut ChainCandidates<'_>| chains.first() };
