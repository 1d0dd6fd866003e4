//! Power cuts: what is on the cells at the moment of a cut, and how the array comes back.
//!
//! The FTL code above stays straight-line: an armed cut takes a snapshot of the cells at the chosen operation and lets
//! the doomed run go on; [`Flash::restore`] throws that run away and puts the snapshot back.

use std::collections::BTreeMap;

use super::{Cells, ERASED, Flash, Media, Oob, TORN};
use crate::types::{Lpn, Pbn, Ppn};

/// Tombstones from which the journal of trims is compacted; later from twice those that were kept.
pub const JOURNAL_LIMIT: usize = 1024;

/// What becomes of the flash operation during which the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CutMode {
    /// It did not happen.
    Before,
    /// It finished.
    After,
    /// A program left its page unreadable, an erase every page of its block, which must be erased again.
    Torn,
    /// As [`CutMode::Torn`]; in addition the program of an upper page, one at an odd offset, destroyed the page before
    /// it, its lower page in the same cells (MLC). What was acknowledged there may be lost: [`Flash::lost_page`].
    TornPair,
}

/// A trim that must survive a power cut: older copies of `lpn` are dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tombstone {
    /// The trimmed page.
    pub lpn: Lpn,
    /// Version at the trim; contents with a smaller version are dead.
    pub version: u64,
}

#[derive(Debug, Default)]
pub(super) struct Power {
    /// Programs and erases until the cut, with what happens to that operation.
    armed: Option<(u64, CutMode)>,
    snapshot: Option<Box<Cells>>,
    /// OOB of the lower page that the cut destroyed.
    lost: Option<Oob>,
    /// Programs and erases since the array was made.
    steps: u64,
    /// Tombstones that the last compaction of the journal kept.
    kept_tombstones: usize,
}

impl Flash {
    /// Arms a power cut at the `nth` program or erase from now (1 = the next one).
    ///
    /// # Panics
    /// Without media, because there would be nothing to recover, or if `nth` is 0.
    pub fn arm_cut(&mut self, nth: u64, mode: CutMode) {
        assert!(self.media == Media::Memory, "a power cut needs media = memory");
        assert!(nth > 0, "cuts are counted from 1");
        self.power.armed = Some((nth, mode));
        self.power.snapshot = None;
        self.power.lost = None;
    }
    /// True once the armed cut has happened: nothing acknowledged after that moment counts.
    pub const fn is_cut(&self) -> bool {
        self.power.snapshot.is_some()
    }
    /// What lay in the lower page that the last cut destroyed ([`CutMode::TornPair`]).
    pub const fn lost_page(&self) -> Option<Oob> {
        self.power.lost
    }

    /// Puts the cells back to the moment of the cut (or leaves them as they are if none was armed or reached) and
    /// forgets everything volatile: validity, pending operations.
    pub fn restore(&mut self) {
        if let Some(cells) = self.power.snapshot.take() {
            self.cells = *cells;
        }
        self.power.armed = None;
        self.clock.drain();
        self.valid.fill(0);
        for block in &mut self.cells.blocks {
            block.valid_pages = 0;
        }
        // A mode begins with the first program.
        for (slc, block) in self.cells.slc.iter_mut().zip(&self.cells.blocks) {
            *slc &= block.next_page > 0;
        }
    }

    /// Recovery found that this programmed page is the current copy of its content.
    pub fn mark_valid(&mut self, ppn: Ppn) {
        assert!(!self.is_valid(ppn) && self.is_programmed(ppn));
        self.valid[ppn.index() / 64] |= 1 << (ppn.0 % 64);
        self.cells.blocks[self.geometry.pbn(ppn).index()].valid_pages += 1;
    }

    /// True if any page of the block was programmed (or torn) since its last erase.
    pub fn is_block_used(&self, pbn: Pbn) -> bool {
        self.cells.blocks[pbn.index()].next_page > 0
    }

    /// Writes trims to a journal in the system area, so that they survive a cut. The area and its programs lie outside
    /// the array: they are neither timed nor counted (docs/models.md). Nothing to do without media.
    ///
    /// A trim must be journalled before the next erase: else the trimmed copy could be erased while an older one
    /// survives and comes back.
    pub fn journal(&mut self, trims: &[Tombstone]) {
        if self.media == Media::Memory && !self.is_cut() {
            self.cells.tombstones.extend_from_slice(trims);
            if self.cells.tombstones.len() >= JOURNAL_LIMIT.max(2 * self.power.kept_tombstones) {
                self.compact_journal();
            }
        }
    }
    /// Journalled trims that may still be needed.
    pub fn tombstones(&self) -> &[Tombstone] {
        &self.cells.tombstones
    }

    /// Of a page's tombstones the newest is needed, and only while an older copy of the page is on the cells. The new
    /// journal takes the place of the old at once.
    fn compact_journal(&mut self) {
        let mut newest = BTreeMap::new();
        for stone in &self.cells.tombstones {
            let (version, _) = newest.entry(stone.lpn.0).or_insert((0, false));
            *version = stone.version.max(*version);
        }
        for (page, owner) in self.cells.owner.stored() {
            if let Some((version, is_needed)) = newest.get_mut(&owner) {
                *is_needed |= self.stamp(Ppn(page as u32)).0 < *version;
            }
        }
        newest.retain(|_, (_, is_needed)| *is_needed);
        self.cells.tombstones =
            newest.into_iter().map(|(lpn, (version, _))| Tombstone { lpn: Lpn(lpn), version }).collect();
        self.power.kept_tombstones = self.cells.tombstones.len();
    }

    /// Counts one program or erase; says whether the armed cut falls on it. Never without media.
    #[inline]
    pub(super) fn power_due(&mut self) -> Option<CutMode> {
        if self.media == Media::None {
            return None;
        }
        self.power.steps += 1;
        let (left, mode) = self.power.armed?;
        self.power.armed = (left > 1).then_some((left - 1, mode));
        (left == 1).then_some(mode)
    }

    /// Takes a snapshot of the cells as they are now: before an operation that did not happen, or after one that
    /// finished.
    pub(super) fn snapshot(&mut self) {
        self.power.snapshot = Some(Box::new(self.cells.clone()));
    }

    /// Takes a snapshot of the cells after the program of `ppn` was interrupted.
    pub(super) fn snapshot_torn_page(&mut self, ppn: Ppn, mode: CutMode) {
        let mut cells = Box::new(self.cells.clone());
        cells.owner.set(ppn.index(), TORN);
        let is_upper = self.geometry.page_in_block(ppn) % 2 == 1;
        if mode == CutMode::TornPair && is_upper {
            let lower = Ppn(ppn.0 - 1);
            if self.is_programmed(lower) {
                self.power.lost = Some(self.oob(lower));
                cells.owner.set(lower.index(), TORN);
            }
        }
        self.power.snapshot = Some(cells);
    }

    /// Takes a snapshot of the cells after the erase of `pbn` was interrupted.
    pub(super) fn snapshot_torn_block(&mut self, pbn: Pbn) {
        let mut cells = Box::new(self.cells.clone());
        let pages = self.geometry.pages_per_block;
        let first = self.geometry.first_page(pbn).index();
        for page in first..first + pages as usize {
            cells.programmed_pages += u64::from(cells.owner.replace(page, TORN) == ERASED);
        }
        cells.blocks[pbn.index()].next_page = pages;
        self.power.snapshot = Some(cells);
    }
}
