//! A record of what a clock was asked for: every operation with its die and what it waits for, in the order of the calls.
//!
//! With the record every time can be computed again by other means. Nothing is recorded, and nothing is paid for, until
//! [`Clock::record`] is called.

use super::model::{Apart, Model, Timing, either};
use super::{Clock, ClockTimes, Finished, OpTarget, Release, Resolved, Ticket, TimingModel, Waits};
use crate::ledger::Op;
use crate::types::{Nanos, Ppn};

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
    /// Two tickets, at least one of which is not a time, were joined.
    Join {
        /// The first.
        a: Ticket,
        /// The second.
        b: Ticket,
        /// Resolves when both have.
        both: Ticket,
    },
    /// The caller wants to know when all programs are over whose tickets resolve earlier, of those since the last such call.
    Programmed {
        /// Resolves then.
        ticket: Ticket,
    },
    /// The caller wants to be told when a ticket resolves.
    Watch {
        /// The ticket.
        ticket: Ticket,
        /// What the clock gives back then.
        token: u64,
    },
    /// Time was let pass while something was left to do at this instant: dies begin with what had been issued.
    Settle,
}

/// A call and the time at which it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordedCall {
    /// Simulated time.
    pub at: Nanos,
    /// The call.
    pub call: Call,
}

/// A model whose calls are recorded: it stands behind a pointer as others do, so that a clock that records nothing pays nothing.
#[derive(Debug)]
struct Recording {
    model: Model,
    calls: Vec<RecordedCall>,
}

impl Recording {
    fn note(&mut self, call: Call) {
        self.calls.push(RecordedCall { at: Nanos(self.now()), call });
    }
    fn note_settling(&mut self) {
        if self.next_event() == Some(self.now()) {
            self.note(Call::Settle);
        }
    }
}

impl Timing for Recording {
    fn issue(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        let ticket = either!(&mut self.model, m => m.issue(target, die, op, after, release));
        self.note(Call::Operation(Operation { op, die, after, release, ticket, target }));
        ticket
    }
    fn take_programmed(&mut self) -> Ticket {
        let ticket = either!(&mut self.model, m => m.take_programmed());
        self.note(Call::Programmed { ticket });
        ticket
    }
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        let both = either!(&mut self.model, m => m.join(a, b));
        self.note(Call::Join { a, b, both });
        both
    }
    fn watch(&mut self, t: Ticket, token: u64) {
        self.note(Call::Watch { ticket: t, token });
        either!(&mut self.model, m => m.watch(t, token));
    }
    fn recorded(&self) -> &[RecordedCall] {
        &self.calls
    }
    fn record_anew(&mut self) -> bool {
        self.calls.clear();
        true
    }

    fn now(&self) -> u64 {
        either!(&self.model, m => m.now())
    }
    fn time(&self, t: Ticket) -> Option<u64> {
        either!(&self.model, m => m.time(t))
    }
    fn resolved(&mut self) -> &mut Resolved {
        either!(&mut self.model, m => m.resolved())
    }
    fn step(&mut self) -> bool {
        self.note_settling();
        either!(&mut self.model, m => m.step())
    }
    fn wait(&mut self, to: u64) -> bool {
        self.note_settling();
        either!(&mut self.model, m => m.wait(to))
    }
    fn next_event(&self) -> Option<u64> {
        either!(&self.model, m => m.next_event())
    }
    fn advance(&mut self, to: u64) {
        self.note_settling();
        either!(&mut self.model, m => m.advance(to));
    }
    fn drain(&mut self) {
        either!(&mut self.model, m => m.drain());
    }
    fn die_busy_until(&self, die: u32) -> u64 {
        either!(&self.model, m => m.die_busy_until(die))
    }
    fn has_begun_writes(&self, page: Ppn) -> bool {
        either!(&self.model, m => m.has_begun_writes(page))
    }
    fn die_work_until(&self, die: u32) -> u64 {
        either!(&self.model, m => m.die_work_until(die))
    }
    fn die_work_from(&self, die: u32) -> u64 {
        either!(&self.model, m => m.die_work_from(die))
    }
    fn finished(&self) -> &Finished {
        either!(&self.model, m => m.finished())
    }
    fn in_flight(&self) -> usize {
        either!(&self.model, m => m.in_flight())
    }
    fn slab_len(&self) -> usize {
        either!(&self.model, m => m.slab_len())
    }
    fn waits(&self) -> Option<&Waits> {
        either!(&self.model, m => m.waits())
    }
    fn forget_waits(&mut self) {
        either!(&mut self.model, m => m.forget_waits());
    }
}

impl Clock {
    /// Begins a record, or starts it over.
    pub fn record(&mut self) {
        if either!(&mut self.model, m => m.record_anew()) {
            return;
        }
        let nothing =
            Self::new(TimingModel::named("serial"), ClockTimes::cells(Nanos::ZERO, Nanos::ZERO, Nanos::ZERO), 1, 1);
        let model = std::mem::replace(&mut self.model, nothing.model);
        self.model = Model::Apart(Apart::Boxed(Box::new(Recording { model, calls: Vec::new() })));
    }

    /// The calls recorded so far; empty if nothing is recorded.
    pub fn recorded(&self) -> &[RecordedCall] {
        either!(&self.model, m => m.recorded())
    }
}
