//! How fast garbage collection goes between the pages that the host writes: one file and one line each.

use crate::registry::Plugin;
use crate::registry::rules::{self, Choice, Number};

rules::rules! {
    /// All paces; the first is the default.
    PACES: PaceRule, "pace";
    whole,
    paced,
    early,
    pages,
}

/// A pace of collection.
#[derive(Clone, Copy, Debug)]
pub struct PaceRule {
    /// The number that it takes.
    number: Option<Number>,
    /// Pages that collection copies before a page of the host; none: a victim is collected at once, when a block is needed.
    slice: Option<fn(Slice) -> u32>,
}

impl rules::Rule for PaceRule {
    const KIND: &'static str = "pace";
    const ALL: &'static [Plugin<Self>] = PACES;
    const KEY: &'static str = "ftl.gc_slice";
    const CHOSEN_BY: &'static str = "FTLs that map pages";
    fn number(&self) -> Option<Number> {
        self.number
    }
}

/// A pace, as a configuration names it.
pub type Pace = Choice<PaceRule>;

/// What a pace may depend on, in pages.
#[derive(Clone, Copy, Debug)]
struct Slice {
    /// Pages that collection has to copy until the host can have another block.
    pub copies: u32,
    /// Pages that the host can write before it needs another block.
    pub room: u32,
    /// The number of the pace.
    pub number: u32,
}

impl Pace {
    /// True if a victim is collected in slices.
    #[inline]
    pub fn has_slices(self) -> bool {
        self.index() != 0
    }
    /// Pages that collection copies before a page of the host: 1 or more, if there are slices.
    #[inline]
    pub fn slice(self, copies: u32, room: u32) -> u32 {
        let slice = self.rule().slice.expect("there are slices");
        slice(Slice { copies, room, number: self.number() as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_pace_has_no_slices() {
        for (index, plugin) in PACES.iter().enumerate() {
            assert_eq!(plugin.build.slice.is_none(), index == 0, "{}", plugin.name());
        }
    }

    #[test]
    fn paced_collection_ends_when_the_host_needs_a_block() {
        for (copies, room) in [(0, 256), (1, 256), (100, 256), (255, 256), (200, 64), (7, 1), (9, 0)] {
            let (mut left, mut room) = (copies, room);
            while room > 0 {
                left -= Pace::named("paced").slice(left, room).min(left);
                room -= 1;
            }
            assert!(left == 0 || room == 0 && copies == 9, "{left} of {copies} pages are left");
            assert!(Pace::named("paced").slice(9, 0) >= 9, "without room all is copied");
        }
    }

    #[test]
    fn early_collection_is_done_long_before_the_host_needs_a_block() {
        let mut left = 200;
        for room in (49..=64).rev() {
            left -= Pace::named("early").slice(left, room).min(left);
        }
        // Of a share of (3/4)^4 and what is rounded up.
        assert!((50..=64).contains(&left), "{left} of 200 pages are left when the host has written a quarter");
        assert!(Pace::named("early").slice(9, 0) >= 9, "without room all is copied");
    }
}
