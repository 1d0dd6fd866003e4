//! fifo - Begun first
//!
//! # What it does
//! The chain that was begun first, however it was written since.

use super::{ChainCandidates, ChainVictimRule};

pub(super) const RULE: ChainVictimRule =
    ChainVictimRule { by_use: false, pick: |chains: &mut ChainCandidates<'_>| chains.first() };
