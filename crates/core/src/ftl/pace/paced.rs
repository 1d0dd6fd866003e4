//! paced - As fast as the host uses up what is free
//!
//! # What it does
//! As soon as no more than the reserve is free, collection copies before every page of the host the valid pages that are left
//! in the victim, divided by the pages that the host can still write before it needs a block, rounded up. So it ends when the
//! block is needed: not before, because pages that the host overwrites meanwhile need no copy, and not after, because the host
//! would wait for all the rest. In the steady state a victim with `v` of `n` pages valid costs `v / n` copies before each page.
//! Where several frontiers take blocks of one group, because of streams or because dies share it, what counts is the room of
//! the one that is written, and the block may be needed sooner.

use super::PaceRule;

pub(super) const RULE: PaceRule =
    PaceRule { number: None, slice: Some(|slice| slice.valid.div_ceil(slice.room.max(1)).max(1)) };
