//! How far the times of collection may lag behind the host.
//!
//! Contents of the flash change when an operation is issued, its time comes later. So a group can have a free block all of
//! whose copies and whose erase still wait behind the host, as long as the clock lets them yield; when the host needs the block,
//! it waits for all of them at once. Bounding what is put off spreads that wait over the pages of the host.

use std::collections::VecDeque;

use crate::flash::{Flash, Ticket};
use crate::types::Nanos;

/// The slices of every group that need not be over yet.
#[derive(Debug)]
pub(super) struct Lag {
    /// Slices that may be under way when a page of the host is programmed; none: any number.
    most: Option<usize>,
    groups: Vec<Slices>,
}

#[derive(Clone, Debug)]
struct Slices {
    /// The ends of the last ones,
    ends: VecDeque<Ticket>,
    /// and of all before. One that only erases may be over before one that came earlier.
    due: Ticket,
}

impl Lag {
    pub(super) fn new(most: Option<u32>, groups: u32) -> Self {
        let none = Slices { ends: VecDeque::new(), due: Ticket::at(Nanos::ZERO) };
        Self {
            most: most.map(|most| most as usize),
            groups: vec![none; if most.is_some() { groups as usize } else { 0 }],
        }
    }

    /// Nothing is under way.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.most.map(|most| most as u32), self.groups.len() as u32);
    }

    /// A slice with this end was issued before a page of the host that is `ready`: when the page may be programmed.
    pub(super) fn slice(&mut self, flash: &mut Flash, group: u32, end: Ticket, ready: Ticket) -> Ticket {
        let Some(most) = self.most else { return ready };
        let Slices { ends, due } = &mut self.groups[group as usize];
        ends.push_back(end);
        if ends.len() > most
            && let Some(end) = ends.pop_front()
        {
            *due = flash.clock.join(*due, end);
        }
        flash.clock.join(ready, *due)
    }
}
