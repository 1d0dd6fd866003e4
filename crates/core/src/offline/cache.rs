//! The cache that decisions made in advance are replayed in: it counts what happens, whatever the plan was.

use super::AccessCounts;
use super::history::History;

/// States of a page; any greater number is the epoch of the write that made it dirty.
const ABSENT: u32 = 0;
const CLEAN: u32 = 1;

/// Pages in frames, and the count of what they cost.
pub(super) struct Cache {
    frames: usize,
    /// By page number.
    states: Vec<u32>,
    used: usize,
    dirty: u64,
    /// Rises with every flush: pages that were dirty before it are clean.
    epoch: u32,
    counts: AccessCounts,
}

impl Cache {
    /// Empty frames.
    pub fn new(history: &History, frames: u32) -> Self {
        let counts = AccessCounts { reads: history.reads(), writes: history.writes(), ..AccessCounts::default() };
        Self {
            frames: frames as usize,
            states: vec![ABSENT; history.pages()],
            used: 0,
            dirty: 0,
            epoch: CLEAN + 1,
            counts,
        }
    }

    /// An access, after which the page is resident: until [`Self::settled`] it may be one more than there are frames,
    /// because a page that leaves at once bypassed the buffer.
    #[inline]
    pub fn access(&mut self, page: u32, write: bool) {
        let state = &mut self.states[page as usize];
        let hit = *state != ABSENT;
        self.used += usize::from(!hit);
        if write {
            self.counts.write_hits += u64::from(hit);
            self.dirty += u64::from(*state != self.epoch);
            *state = self.epoch;
        } else if hit {
            self.counts.read_hits += 1;
        } else {
            self.counts.pages_in += 1;
            *state = CLEAN;
        }
    }

    /// True if the pages fit the frames.
    #[inline]
    pub const fn settled(&self) -> bool {
        self.used <= self.frames
    }
    #[inline]
    pub fn is_resident(&self, page: u32) -> bool {
        self.states[page as usize] != ABSENT
    }
    #[inline]
    pub fn is_dirty(&self, page: u32) -> bool {
        self.states[page as usize] == self.epoch
    }
    /// Resident pages.
    pub const fn used(&self) -> usize {
        self.used
    }

    /// A resident page leaves: a dirty one is written back.
    #[inline]
    pub fn evict(&mut self, page: u32) {
        let was_dirty = self.is_dirty(page);
        self.leave(page);
        self.counts.pages_out += u64::from(was_dirty);
    }

    /// The page is trimmed: it leaves, if it is there, and nothing is written.
    pub fn trim(&mut self, page: u32) {
        if self.is_resident(page) {
            self.leave(page);
        }
    }

    #[inline]
    fn leave(&mut self, page: u32) {
        assert!(self.is_resident(page), "page {page} leaves, but is not there");
        self.dirty -= u64::from(self.is_dirty(page));
        self.states[page as usize] = ABSENT;
        self.used -= 1;
    }

    /// The host flushes: all dirty pages are written back and stay.
    pub const fn flush(&mut self) {
        self.counts.pages_out += self.dirty;
        self.dirty = 0;
        self.epoch += 1;
    }

    /// The end: what is dirty is written back.
    pub fn finish(mut self) -> AccessCounts {
        self.flush();
        self.counts
    }
}
