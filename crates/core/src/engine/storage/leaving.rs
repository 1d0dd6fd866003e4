//! Frames whose pages are on their way to flash: those that were written ahead of need, those that stay, and those that a policy
//! gives up together with the one that a request waits for.
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
    frames: [Queue; 2],
    /// By slot: when the latest write is over at which its page stayed, if there was one.
    writing: Vec<Ticket>,
    /// A frame may have been given up whose page is not written yet.
    is_any: bool,
}

/// Frames in the order in which they were given up; those of one command are written together.
#[derive(Debug, Default)]
struct Queue {
    commands: VecDeque<(Ticket, u32)>,
    len: u32,
}

impl Queue {
    fn push(&mut self, done: Ticket) {
        self.len += 1;
        match self.commands.back_mut().filter(|(last, _)| *last == done) {
            Some((_, frames)) => *frames += 1,
            None => self.commands.push_back((done, 1)),
        }
    }
    fn pop(&mut self) -> Option<Ticket> {
        let (done, frames) = self.commands.front_mut()?;
        let done = *done;
        (*frames, self.len) = (*frames - 1, self.len - 1);
        if *frames == 0 {
            self.commands.pop_front();
        }
        Some(done)
    }
    /// Drops those that are written.
    fn settle(&mut self, clock: &Clock) {
        self.commands.retain(|(done, _)| !is_over(clock, *done));
        self.len = self.commands.iter().map(|(_, frames)| frames).sum();
    }
}

/// True if the ticket has resolved.
pub(super) fn is_over(clock: &Clock, ticket: Ticket) -> bool {
    clock.time(ticket).is_some_and(|at| at <= clock.now())
}

impl Leaving {
    /// A frame was given up whose page is written when `done` resolves.
    pub(super) fn give_up(&mut self, medium: Medium, done: Ticket) {
        self.frames[medium as usize].push(done);
        self.is_any = true;
    }
    /// The page stays in its frame and is written when `done` resolves.
    pub(super) fn keep(&mut self, slots: &mut Slots, slot: Slot, done: Ticket) {
        slots.set_writing(slot);
        if slot.index() >= self.writing.len() {
            self.writing.resize(slot.index() + 1, Ticket::at(Nanos::ZERO));
        }
        self.writing[slot.index()] = done;
    }
    /// True if a page ever stayed in its frame while it was written.
    pub(super) const fn has_kept(&self) -> bool {
        !self.writing.is_empty()
    }
    /// What the frame of this clean page waits for, if anything.
    pub(super) fn kept(&self, slots: &Slots, slot: Slot, clock: &Clock) -> Option<Ticket> {
        slots.is_writing(slot).then(|| self.writing[slot.index()]).filter(|done| !is_over(clock, *done))
    }
    /// True if a frame may have been given up whose page is not written yet.
    #[inline]
    pub(super) const fn is_any(&self) -> bool {
        self.is_any
    }
    /// A page takes a frame: what that waits for, if no other frame is free.
    pub(super) fn take(&mut self, medium: Medium, slots: &Slots, clock: &Clock) -> Option<Ticket> {
        let waiting = &mut self.frames[medium as usize];
        let (frames, used) = (slots.frames(), slots.used());
        let free = match medium {
            Medium::Dram => frames.dram.saturating_sub(used.dram),
            Medium::Nvram => frames.nvram.saturating_sub(used.nvram),
        };
        // Most of the time there are others even if none of these were over: then there is no need to look.
        if waiting.len < free {
            return None;
        }
        waiting.settle(clock);
        // Frames that a shared map has taken since are its own.
        while waiting.len > free {
            waiting.pop();
        }
        let taken = if waiting.len < free { None } else { waiting.pop() };
        self.is_any = self.frames.iter().any(|frames| frames.len > 0);
        taken
    }
    /// Power fails.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }
}
