//! What LRU does at every size, from one pass over the history.
//!
//! Sources: stack distances (Mattson et al., IBM Systems Journal 9(2), 1970): an access hits in every LRU buffer with more
//! frames than its distance. Dirty level (Thompson and Smith, ACM TOCS 7(1), 1989): since its last write a page stayed in
//! the buffers with more frames than the greatest of its distances, and is dirty in these alone; in all others it was
//! written back. Trims: the place of a trimmed page stays in the stack as a hole, which is a free frame of every buffer
//! that reaches so far. An access from below it, or of a new page, fills the topmost hole, and leaves one where the page
//! came from, because in larger buffers nothing had to move.

use std::collections::BinaryHeap;

use super::Counts;
use super::history::{History, Kind};
use crate::stack::Stack;

/// Not in the stack.
const NEVER: u32 = u32::MAX;

/// A page of the pass.
#[derive(Clone, Copy)]
struct Page {
    /// Position on the line of accesses, or [`NEVER`].
    position: u32,
    /// Greatest distance since its last write.
    level: u32,
    /// Flushes until its last write, from 1; 0 without a write since it was trimmed.
    epoch: u32,
}

/// Counts of LRU at every size. See the module text.
#[derive(Clone, Debug)]
pub struct LruCurve {
    reads: u64,
    writes: u64,
    /// By frames: read hits, write hits, and writes whose page was overwritten or trimmed before it was written back.
    points: Vec<[u64; 3]>,
}

struct Pass {
    stack: Stack,
    pages: Vec<Page>,
    /// Positions of the holes, the topmost first.
    holes: BinaryHeap<u32>,
}

impl Pass {
    /// Moves a page to the top; returns how deep it was, or [`NEVER`] if it was not there.
    #[inline]
    fn touch(&mut self, number: usize) -> u32 {
        if self.stack.is_full() {
            self.renumber();
        }
        let position = self.pages[number].position;
        let hole = self.holes.peek().copied().filter(|hole| position == NEVER || *hole > position);
        let depth = match (position, hole) {
            (NEVER, None) => NEVER,
            (_, None) => self.stack.pull(position),
            (_, Some(hole)) => {
                let depth = if position == NEVER { NEVER } else { self.stack.depth(position) };
                self.fill(hole, position);
                depth
            }
        };
        self.pages[number].position = self.stack.push();
        depth
    }

    /// The topmost hole is filled, and the page that does it leaves one at its position.
    #[cold]
    fn fill(&mut self, hole: u32, position: u32) {
        self.holes.pop();
        self.stack.pull(hole);
        if position != NEVER {
            self.holes.push(position);
        }
    }

    #[cold]
    fn renumber(&mut self) {
        let mut holes = std::mem::take(&mut self.holes).into_vec();
        let positions = self.pages.iter_mut().map(|page| &mut page.position).filter(|position| **position != NEVER);
        self.stack.renumber(positions.chain(&mut holes));
        self.holes = holes.into();
    }
}

impl LruCurve {
    /// One pass. 12 bytes and 24 for its points for each different page.
    pub fn new(history: &History) -> Self {
        let none = Page { position: NEVER, level: 0, epoch: 0 };
        let mut pass = Pass { stack: Stack::default(), pages: vec![none; history.pages()], holes: BinaryHeap::new() };
        let mut points = vec![[0; 3]; history.pages() + 1];
        let mut epoch = 1;
        for event in history.events() {
            let number = event.page() as usize;
            let kind = event.kind();
            let depth = match kind {
                Kind::Flush => {
                    epoch += 1;
                    continue;
                }
                Kind::Trim => pass.stack.depth(pass.pages[number].position),
                Kind::Read | Kind::Write => pass.touch(number),
            };
            // An access of depth d is one of a buffer with d + 1 frames.
            let page = &mut pass.pages[number];
            page.level = page.level.max(depth);
            if kind == Kind::Read {
                if depth != NEVER {
                    points[depth as usize + 1][0] += 1;
                }
                continue;
            }
            if page.epoch == epoch && page.level != NEVER {
                points[page.level as usize + 1][2] += 1;
            }
            (page.level, page.epoch) = (0, epoch);
            if kind == Kind::Trim {
                pass.holes.push(std::mem::replace(&mut page.position, NEVER));
                page.epoch = 0;
            } else if depth != NEVER {
                points[depth as usize + 1][1] += 1;
            }
        }
        for frames in 1..points.len() {
            let fewer = points[frames - 1];
            for (count, fewer) in points[frames].iter_mut().zip(fewer) {
                *count += fewer;
            }
        }
        Self { reads: history.reads(), writes: history.writes(), points }
    }

    /// LRU with so many frames, as if it were simulated with them alone.
    pub fn at(&self, frames: u32) -> Counts {
        let [read_hits, write_hits, saved] = self.points[(frames as usize).min(self.points.len() - 1)];
        let Self { reads, writes, .. } = *self;
        let (pages_in, pages_out) = (reads - read_hits, writes - saved);
        Counts { reads, writes, read_hits, write_hits, pages_in, pages_out }
    }
}
