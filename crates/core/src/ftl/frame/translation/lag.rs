//! How far the times of collection may lag behind the host.
//!
//! Contents of the flash change when an operation is issued, its time comes later. So a group can have a free block all of
//! whose copies and whose erase still wait behind the host, as long as the clock lets them yield; when the host needs the block,
//! it waits for all of them at once. Bounding what is put off spreads that wait over the pages of the host.

use crate::flash::{Flash, Ticket};
use crate::types::Nanos;

/// Pages of the host go to a block in runs of `gc_lag`. A run begins when all is over that was collected for pages of the group
/// before the previous run began: pages of one run wait for the same, so that one command can program them. What other work
/// collects (translation pages that need room, idle time) is not counted.
#[derive(Debug)]
pub(super) struct Lag {
    /// Pages of a run; none: nothing waits.
    run: Option<u32>,
    groups: Vec<Runs>,
}

/// When collection is over that came before a run, or will. A slice that only erases may be over before an earlier one: so
/// all are joined.
#[derive(Clone, Copy, Debug)]
struct Runs {
    /// Before the previous run: what the pages of this one wait for.
    due: Ticket,
    /// Before this run,
    before: Ticket,
    /// and up to now.
    now: Ticket,
}

impl Lag {
    pub(super) fn new(run: Option<u32>, groups: u32) -> Self {
        let over = Ticket::at(Nanos::ZERO);
        let none = Runs { due: over, before: over, now: over };
        Self { run, groups: vec![none; if run.is_some() { groups as usize } else { 0 }] }
    }

    /// Nothing is under way.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.run, self.groups.len() as u32);
    }

    /// A page of the host is about to be put at this offset of its block, behind this many dummy pages, as soon as it is `ready`;
    /// before that, collection was issued that ends at `collected`, if any was. Resolves when the page may be programmed.
    pub(super) fn page(
        &mut self,
        flash: &mut Flash,
        (group, offset): (u32, u32),
        dummies: u32,
        collected: Option<Ticket>,
        ready: Ticket,
    ) -> Ticket {
        let Some(run) = self.run else { return ready };
        let Runs { due, before, now } = &mut self.groups[group as usize];
        if offset % run <= dummies {
            *due = std::mem::replace(before, *now);
        }
        if let Some(end) = collected {
            *now = flash.clock.join(*now, end);
        }
        flash.clock.join(ready, *due)
    }
}
