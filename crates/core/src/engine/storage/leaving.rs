//! Frames whose pages are on their way to flash although no request waits for that.
//!
//! In state such a frame is free, or holds a clean page, at once. In time it can be used when the write of its page is over:
//! the request that takes it waits for that, and only if no other frame is free.

use std::collections::VecDeque;

use crate::buffer::{Medium, Slots};
use crate::flash::{Clock, Ticket};
use crate::types::{Nanos, Slot};

/// See the module text.
#[derive(Debug, Default)]
pub(in crate::engine) struct Leaving {
    /// By memory: what the frames that are free in state wait for, the oldest first.
    frames: [VecDeque<Ticket>; 2],
    /// By slot: when the latest write is over that left its page in the frame.
    writing: Vec<Ticket>,
}

/// True if the ticket has resolved.
pub(super) fn is_over(clock: &Clock, ticket: Ticket) -> bool {
    clock.time(ticket).is_some_and(|at| at <= clock.now())
}

impl Leaving {
    /// A frame was given up whose page is written when `done` resolves.
    pub(super) fn give_up(&mut self, medium: Medium, done: Ticket) {
        self.frames[medium as usize].push_back(done);
    }
    /// The page stays in its frame and is written when `done` resolves.
    pub(in crate::engine) fn keep(&mut self, slot: Slot, done: Ticket) {
        if slot.index() >= self.writing.len() {
            self.writing.resize(slot.index() + 1, Ticket::at(Nanos::ZERO));
        }
        self.writing[slot.index()] = done;
    }
    /// What the frame of this clean page waits for, if anything.
    pub(super) fn kept(&self, slot: Slot, clock: &Clock) -> Option<Ticket> {
        self.writing.get(slot.index()).copied().filter(|done| !is_over(clock, *done))
    }
    /// True if a frame may have been given up whose page is not written yet.
    pub(super) fn is_any(&self) -> bool {
        self.frames.iter().any(|frames| !frames.is_empty())
    }
    /// A page takes a frame: what that waits for, if no other frame is free.
    pub(super) fn take(&mut self, medium: Medium, slots: &Slots, clock: &Clock) -> Option<Ticket> {
        let waiting = &mut self.frames[medium as usize];
        waiting.retain(|done| !is_over(clock, *done));
        let (frames, used) = (slots.frames(), slots.used());
        let free = match medium {
            Medium::Dram => frames.dram.saturating_sub(used.dram),
            Medium::Nvram => frames.nvram.saturating_sub(used.nvram),
        };
        // Frames that a shared map has taken since are its own.
        while waiting.len() > free as usize {
            waiting.pop_front();
        }
        if waiting.len() < free as usize { None } else { waiting.pop_front() }
    }
    /// Power fails.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
