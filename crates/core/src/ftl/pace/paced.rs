//! paced - As fast as the host uses up what is free
//!
//! # What it does
//! As soon as no more than the reserve is free (where translation pages lie on flash, and a block for each of their
//! frontiers in the group), collection copies before every page of the host what it has to copy until a block more is free,
//! divided by the pages that the host can still write before it needs that block, rounded up. So it ends when the block is
//! needed: not before, because pages that the host overwrites meanwhile need no copy, and not after, because the host would
//! wait for all the rest. Copies take blocks too: a victim with `v` of `n` pages valid gains `n - v` pages, so that in the
//! steady state `v / (n - v)` pages are copied before each page of the host, and a block of the host takes `n / (n - v)`
//! victims. How many it takes is foreseen from the valid pages of the victim at hand.
//! Where several frontiers take blocks of one group, because of streams or because dies share it, what counts is the room of
//! the one that is written, and the block may be needed sooner.

use super::PaceRule;

pub(super) const RULE: PaceRule =
    PaceRule { number: None, slice: Some(|slice| slice.copies.div_ceil(slice.room.max(1)).max(1)) };
