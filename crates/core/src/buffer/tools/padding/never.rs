//! never - Never
//!
//! # What it does
//! Blocks are written back as they are; what is missing stays on flash.

use super::{PaddingRule, Start};

pub(super) const RULE: PaddingRule = PaddingRule { start: |_| Start::fixed(1.0), ..super::FIXED };
