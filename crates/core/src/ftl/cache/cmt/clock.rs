//! clock - Queues of clean and dirty entries, clean ones first; each hit spares one turn
//!
//! # Source
//! EagleTree (`ftl_cache`).
//!
//! # What it does
//! Two queues, of clean and of dirty entries. An entry is hot 1 when it enters, and a hit adds 1. The hand takes the oldest
//! entry of the clean queue: a dirty one moves to the dirty queue, a hot one becomes 1 less hot and goes to the end, a cold one
//! is the victim. When a whole turn finds none, the dirty queue has its turn in the same way, and so on.

use super::{Cmt, CmtOrderRule, PROBATION, PROTECTED};

pub(super) const RULE: CmtOrderRule = CmtOrderRule { by_rank: false, protects: false };

/// The queues.
const CLEAN: usize = PROBATION;
const DIRTY: usize = PROTECTED;

#[inline]
pub(super) fn hit(table: &mut Cmt, at: u32) {
    table.slab[at].rank += 1;
}

#[inline]
pub(super) const fn admit(_: &mut Cmt) -> (u64, usize) {
    (1, CLEAN)
}

/// Turns the hand until it finds a cold entry. Every step but the last takes back the heat of a hit or moves an entry once, so
/// that it ends.
pub(super) fn victim(table: &mut Cmt) -> Option<u32> {
    while !table.slab.is_empty() {
        for queue in [CLEAN, DIRTY] {
            for _ in 0..table.lists[queue].len() {
                let at = table.lists[queue].back().expect("counted above");
                let entry = &mut table.slab[at];
                let home = if entry.mapping.dirty { DIRTY } else { CLEAN };
                if home == queue && entry.rank == 0 {
                    return Some(at);
                }
                entry.rank -= u64::from(home == queue);
                table.change_segment(Some(at), home);
            }
        }
    }
    None
}
