//! always - Whenever a page is missing
//!
//! # What it does
//! Every block that is written back is completed first, so that it replaces the old one without a merge: BPLRU's page
//! padding.

use super::{PaddingRule, Start};

pub(super) const RULE: PaddingRule = PaddingRule { start: |_| Start::fixed(0.0), ..super::FIXED };
