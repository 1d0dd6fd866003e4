//! A record of what a clock was asked for: every operation with its die and what it waits for, in the order of the calls.
//!
//! Whoever has the record can compute every time again by other means. Nothing is recorded, and nothing is paid for but one
//! comparison an operation, until [`Clock::record`] is called.

use super::{Clock, OpTarget, Release, Ticket};
use crate::ledger::Op;
use crate::types::Nanos;

/// A flash operation as it was handed to the clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// What it is.
    pub op: Op,
    /// Die that executes it.
    pub die: u32,
    /// What it waits for.
    pub after: Ticket,
    /// When its ticket resolves.
    pub release: Release,
    /// Its ticket.
    pub ticket: Ticket,
    /// What it is about.
    pub target: OpTarget,
}

/// A call of a clock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// An operation was issued.
    Operation(Operation),
    /// Two tickets were joined, of which at least one is not a time.
    Join {
        /// The first.
        a: Ticket,
        /// The second.
        b: Ticket,
        /// Resolves when both have.
        both: Ticket,
    },
    /// Somebody wants to be told when a ticket resolves.
    Watch {
        /// The ticket.
        ticket: Ticket,
        /// What the clock gives back then.
        token: u64,
    },
}

/// A call and the time at which it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedCall {
    /// Simulated time.
    pub at: Nanos,
    /// The call.
    pub call: Call,
}

impl Clock {
    /// Begins a record, or starts it over.
    pub fn record(&mut self) {
        self.record = Some(Vec::new());
    }

    /// The calls recorded so far; empty if nothing is recorded.
    pub fn recorded(&self) -> &[RecordedCall] {
        self.record.as_deref().unwrap_or_default()
    }

    /// Adds a call.
    #[cold]
    pub(super) fn note(&mut self, call: Call) {
        let at = self.now();
        if let Some(record) = &mut self.record {
            record.push(RecordedCall { at, call });
        }
    }
}
