//! fraction - From this share of a block's pages on: 0 is always, 1 is never
//!
//! # What it does
//! A block of which at least this share of the pages is written back is completed first.

use super::{PaddingRule, Start};
use crate::registry::rules::Number;

pub(super) const RULE: PaddingRule = PaddingRule {
    number: Some(Number::Alone("share of a block's pages")),
    start: |setting| Start::fixed(setting.number),
    ..super::FIXED
};
