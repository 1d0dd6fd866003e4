//! What the campaigns share.

use std::ops::Range;

/// Seeds as they are given, FIRST..LAST.
pub fn seeds(text: &str) -> Option<Range<u64>> {
    let (first, last) = text.split_once("..")?;
    let seeds = first.parse().ok()?..last.parse().ok()?;
    (!seeds.is_empty()).then_some(seeds)
}
