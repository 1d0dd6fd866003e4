//! segmented - Segmented LRU: entries that were hit again are protected
//!
//! # Source
//! Ramakrishna Karedla, J. Spencer Love and Bradley G. Wherry, "Caching strategies to improve disk system performance", IEEE
//! Computer 27(3), 1994, which DFTL cites.
//!
//! # What it does
//! A miss enters at the MRU end of the probation segment; a hit there moves the entry to the MRU end of the protected segment,
//! whose LRU entry goes back to the MRU end of probation when the segment is full. The victim is the LRU entry of probation,
//! else of protected. With a protected segment of 0 entries it is a plain LRU.

use super::{Cmt, CmtOrderRule, PROBATION, PROTECTED};

pub(super) const RULE: CmtOrderRule = CmtOrderRule { by_rank: false, protects: true };

#[inline]
pub(super) fn hit(table: &mut Cmt, at: u32) {
    if usize::from(table.slab[at].segment) == PROTECTED {
        return table.links.move_front(&mut table.lists[PROTECTED], at);
    }
    if table.protected_capacity == 0 {
        return table.links.move_front(&mut table.lists[PROBATION], at);
    }
    table.leave(at);
    if table.segment_len(PROTECTED) >= table.protected_capacity {
        table.change_segment(table.lists[PROTECTED].back(), PROBATION);
    }
    table.enter(at, PROTECTED);
}

#[inline]
pub(super) const fn admit(_: &mut Cmt) -> (u64, usize) {
    (0, PROBATION)
}

#[inline]
pub(super) fn victim(table: &mut Cmt) -> Option<u32> {
    table.lists[PROBATION].back().or(table.lists[PROTECTED].back())
}
