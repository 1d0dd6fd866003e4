//! fifo - Free longest
//!
//! # What it does
//! The block that has been free longest. All blocks take turns: a dynamic wear levelling without a look at the wear.

use super::AllocRule;

pub(super) const RULE: AllocRule = AllocRule { rank: |_, _| 0 };
