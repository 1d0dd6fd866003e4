//! whole - A victim at once, when a block is needed
//!
//! # What it does
//! When a page of the host needs a block and no more than the reserve is free, victims are emptied one after the other until
//! there is room. That is how the papers describe collection, and what their simulators do. With a timing model that serves
//! what comes first, the page waits for all of it.

use super::PaceRule;

pub(super) const RULE: PaceRule = PaceRule { number: None, slice: None };
