//! fifo - Free longest
//!
//! # What it does
//! The block that has been free longest. All blocks take turns: a dynamic wear levelling without a look at the wear.

use super::{AllocRule, FreeBlocks};

pub(super) const RULE: AllocRule = AllocRule { pick: |free: &FreeBlocks<'_>| free.longest_free() };
