//! Pages with several copies: which of them is read.

use super::{Flash, Ticket};
use crate::ledger::Cause;
use crate::types::{Nanos, Ppn};

impl Flash {
    /// Reads one of several equal copies: the first whose channel is idle at this moment, else the one whose channel
    /// becomes idle first (RFTL section 3.2; ties in the order given). Returns the ticket and the copy chosen.
    pub fn read_any(&mut self, copies: &[Ppn], cause: Cause, after: Ticket) -> (Ticket, usize) {
        let now = self.clock.now();
        let busy_until = |ppn: &Ppn| {
            let channel = self.geometry.channel_of_die(self.geometry.die(self.geometry.pbn(*ppn)));
            self.clock.channel_busy_until(channel).max(now)
        };
        let chosen = first_idle_copy(copies.iter().map(busy_until), now);
        (self.read(copies[chosen], cause, after), chosen)
    }
}

/// RFTL's choice among copies, given the time at which the channel of each becomes idle.
pub fn first_idle_copy(busy_until: impl Iterator<Item = Nanos>, now: Nanos) -> usize {
    let mut best = (Nanos(u64::MAX), 0);
    for (copy, until) in busy_until.enumerate() {
        if until <= now {
            return copy;
        }
        if until < best.0 {
            best = (until, copy);
        }
    }
    best.1
}
