//! What LRU does at every size, from one pass over the history.
//!
//! Sources: stack distances (Mattson et al., IBM Systems Journal 9(2), 1970): an access hits in every LRU buffer with more
//! frames than its distance. Dirty level (Thompson and Smith, ACM TOCS 7(1), 1989): since its last write a page stayed in
//! the buffers with more frames than the greatest of its distances, and is dirty in these alone; in all others it was
//! written back. Trims: the place of a trimmed page stays in the stack as a hole, which is a free frame of every buffer
//! that reaches so far. An access from below it, or of a new page, fills the topmost hole, and leaves one where the page
//! came from, because in larger buffers nothing had to move.

use std::collections::BinaryHeap;

use super::AccessCounts;
use super::history::{AHEAD, Event, History, Kind, NEVER, look_ahead};
use crate::stack::Stack;

/// A page of the pass.
#[derive(Clone, Copy)]
struct Page {
    /// Position on the line of accesses; [`NEVER`] if it is not in the stack.
    position: u32,
    /// Greatest distance since its last write.
    level: u32,
    /// Flushes until its last write, from 1; 0 without a write since it was trimmed.
    epoch: u32,
}

/// Hits and write-backs of LRU at every buffer size, from one pass over the history.
#[derive(Clone, Debug)]
pub struct LruCurve {
    reads: u64,
    writes: u64,
    /// By frames: read hits, write hits, and writes whose page was overwritten or trimmed before it was written back.
    points: Vec<[u32; 3]>,
}

struct Pass {
    stack: Stack,
    pages: Vec<Page>,
    /// Positions of the holes, the topmost first.
    holes: BinaryHeap<u32>,
    /// Flushes so far, from 1.
    epoch: u32,
    /// Those of [`LruCurve`], not yet summed up.
    points: Vec<[u32; 3]>,
}

impl Pass {
    #[inline]
    fn step(&mut self, event: Event) {
        let (number, kind) = (event.page() as usize, event.kind());
        let depth = match kind {
            Kind::Flush => {
                self.epoch += 1;
                return;
            }
            Kind::Trim => self.stack.depth(self.pages[number].position),
            Kind::Read | Kind::Write => self.touch(number),
        };
        // What is at this depth is in buffers with one frame more.
        let page = &mut self.pages[number];
        page.level = page.level.max(depth);
        if kind == Kind::Read {
            if depth != NEVER {
                self.points[depth as usize + 1][0] += 1;
            }
            return;
        }
        if page.epoch == self.epoch && page.level != NEVER {
            self.points[page.level as usize + 1][2] += 1;
        }
        (page.level, page.epoch) = (0, self.epoch);
        if kind == Kind::Trim {
            self.holes.push(std::mem::replace(&mut page.position, NEVER));
            page.epoch = 0;
        } else if depth != NEVER {
            self.points[depth as usize + 1][1] += 1;
        }
    }

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
    /// One pass. 24 bytes for each different page.
    pub fn new(history: &History) -> Self {
        let none = Page { position: NEVER, level: 0, epoch: 0 };
        let pages = vec![none; history.pages()];
        let mut pass = Pass {
            stack: Stack::default(),
            pages,
            holes: BinaryHeap::new(),
            epoch: 1,
            points: vec![[0; 3]; history.pages() + 1],
        };
        for ahead in history.events().chunks(AHEAD) {
            look_ahead(ahead.iter().map(|event| pass.pages.get(event.page() as usize).map_or(0, |page| page.position)));
            for event in ahead {
                pass.step(*event);
            }
        }
        let mut points = pass.points;
        for frames in 1..points.len() {
            let fewer = points[frames - 1];
            for (count, fewer) in points[frames].iter_mut().zip(fewer) {
                *count += fewer;
            }
        }
        Self { reads: history.reads(), writes: history.writes(), points }
    }

    /// LRU with that many frames, as if it were simulated with them alone.
    pub fn at(&self, frames: u32) -> AccessCounts {
        let [read_hits, write_hits, saved] = self.points[(frames as usize).min(self.points.len() - 1)].map(u64::from);
        let Self { reads, writes, .. } = *self;
        let (pages_in, pages_out) = (reads - read_hits, writes - saved);
        AccessCounts { reads, writes, read_hits, write_hits, pages_in, pages_out }
    }
}
