//! min-erase - Erased least
//!
//! # Source
//! FlashSim, the simulator of the authors of DFTL.
//!
//! # What it does
//! The block that was erased least often; of several the one with the lowest number. Takes a look at every free block.

use super::{AllocRule, FreeBlocks};

pub(super) const RULE: AllocRule = AllocRule { pick: |free: &FreeBlocks<'_>| free.least(|pbn, erases| (erases, pbn)) };
