//! age - Two tables ordered by counters of hits
//!
//! # Source
//! FlashSim for DiskSim (`dftl.c`), which calls it a segmented LRU.
//!
//! # What it does
//! An entry has an age that a hit raises by 1. A miss enters the protected segment with the largest age in it plus 1; when the
//! segment is full, its entry with the smallest age goes to probation. A hit in probation exchanges the entry with the youngest
//! age of the protected segment if that is not larger. The victim is the entry of probation with the smallest age. Ties: the
//! lower page number.

use super::{Cmt, CmtOrderRule, PROBATION, PROTECTED};

pub(super) const RULE: CmtOrderRule = CmtOrderRule { by_rank: true, protects: true };

pub(super) fn hit(table: &mut Cmt, at: u32) {
    let from = usize::from(table.slab[at].segment);
    table.leave(at);
    table.slab[at].rank += 1;
    let youngest = table.youngest(PROTECTED);
    match youngest.filter(|other| from == PROBATION && table.slab[*other].rank <= table.slab[at].rank) {
        Some(other) => {
            table.change_segment(Some(other), PROBATION);
            table.enter(at, PROTECTED);
        }
        None => table.enter(at, from),
    }
}

pub(super) fn admit(table: &mut Cmt) -> (u64, usize) {
    let segment = if table.protected_capacity == 0 { PROBATION } else { PROTECTED };
    if segment == PROTECTED && table.segment_len(PROTECTED) >= table.protected_capacity {
        table.change_segment(table.youngest(PROTECTED), PROBATION);
    }
    (table.ages[segment].last().map_or(1, |(age, _)| age + 1), segment)
}

pub(super) fn victim(table: &mut Cmt) -> Option<u32> {
    table.youngest(PROBATION).or_else(|| table.youngest(PROTECTED))
}
