//! min-erase - Erased least
//!
//! # Source
//! FlashSim, the simulator of the authors of DFTL.
//!
//! # What it does
//! The block that was erased least often; of several the one with the lowest number.

use super::AllocRule;

pub(super) const RULE: AllocRule = AllocRule { rank: |pbn, erases| u64::from(erases) << 32 | u64::from(pbn.0) };
