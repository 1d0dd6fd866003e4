//! What a timing model is.

use std::fmt::Debug;
use std::ops::ControlFlow;

use super::{ClockShape, Finished, OpTarget, Parallel, RecordedCall, Release, Resolved, Scheduled, Ticket, Waits};
use crate::ledger::Op;
use crate::types::Ppn;

/// When operations start and end. The methods are those of [`Clock`](super::Clock), where they are described; times are in ns.
pub(super) trait Timing: Debug + Send {
    /// The current time.
    fn now(&self) -> u64;
    /// An operation and what it is about.
    fn issue(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket;
    /// When all programs since the last call whose tickets resolve earlier ([`Release::Transfer`]) are over.
    fn take_programmed(&mut self) -> Ticket;
    /// Of two tickets, at least one of which is not a time.
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket;
    /// Of a ticket that is not a time.
    fn time(&self, t: Ticket) -> Option<u64>;
    fn watch(&mut self, t: Ticket, token: u64);
    fn resolved(&mut self) -> &mut Resolved;
    fn step(&mut self) -> bool;
    fn wait(&mut self, to: u64) -> bool;
    fn next_event(&self) -> Option<u64>;
    fn advance(&mut self, to: u64);
    fn drain(&mut self);
    fn die_busy_until(&self, die: u32) -> u64;
    /// True if no program and no erase waits that was asked of a page's block. Only models with a scheduler tell.
    fn has_begun_writes(&self, _page: Ppn) -> bool {
        false
    }
    fn die_work_until(&self, die: u32) -> u64 {
        self.die_busy_until(die)
    }
    /// A lower bound of [`Timing::die_work_until`] that takes less to compute.
    fn die_work_from(&self, _die: u32) -> u64 {
        self.now()
    }
    /// How much each die has done.
    fn finished(&self) -> &Finished;
    /// None if the end of every operation is known when it is issued.
    fn in_flight(&self) -> usize {
        0
    }
    /// None if nothing waits.
    fn slab_len(&self) -> usize {
        0
    }
    /// Only counted by models with a scheduler.
    fn waits(&self) -> Option<&Waits> {
        None
    }
    fn forget_waits(&mut self) {}
    /// What was asked of it, if that is recorded.
    fn recorded(&self) -> &[RecordedCall] {
        &[]
    }
    /// Starts a record over; false if nothing is recorded.
    fn record_anew(&mut self) -> bool {
        false
    }
}

/// [`Clock::least_work`](super::Clock::least_work) of a model.
pub(super) fn least_work<T: Timing + ?Sized>(
    model: &T,
    mut dies: impl Iterator<Item = (u32, u32)>,
    may: impl Fn(u32) -> bool,
) -> Option<u32> {
    let (now, mut least, mut found) = (model.now(), u64::MAX, None);
    _ = dies.try_for_each(|(position, die)| {
        if model.die_work_from(die) < least && may(position) {
            let until = model.die_work_until(die);
            if until < least {
                (least, found) = (until, Some(position));
            }
        }
        // No die is done before.
        if least == now { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    found
}

/// The model that runs: the one that is compiled into the path of every operation, or another behind a pointer. A third
/// case to tell apart in each call would cost twentieths of the time.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one clock per device, and it must not cost an indirection per operation"
)]
pub(super) enum Model {
    Inline(Parallel),
    Apart(Apart),
}

/// A model that is not compiled into that path. The one that is measured too is called by its name, the others are not.
#[derive(Debug)]
pub(super) enum Apart {
    Plain(Box<Scheduled<true>>),
    Boxed(Box<dyn Timing>),
}

impl Model {
    /// A model behind a pointer.
    pub(super) fn boxed<T: Timing + 'static>(shape: &ClockShape, new: fn(&ClockShape) -> T) -> Self {
        Self::Apart(Apart::Boxed(Box::new(new(shape))))
    }
}

/// What every write asks for, without what [`either`] passes through memory.
impl Apart {
    #[inline]
    pub(super) fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        match self {
            Self::Plain(m) => m.join(a, b),
            Self::Boxed(m) => m.join(a, b),
        }
    }
    #[cold]
    #[inline(never)]
    pub(super) fn watch(&mut self, t: Ticket, token: u64) {
        match self {
            Self::Plain(m) => m.watch(t, token),
            Self::Boxed(m) => m.watch(t, token),
        }
    }
    #[inline]
    pub(super) fn in_flight(&self) -> usize {
        match self {
            Self::Plain(m) => m.in_flight(),
            Self::Boxed(m) => m.in_flight(),
        }
    }
    pub(super) fn least_work(&self, dies: impl Iterator<Item = (u32, u32)>, may: impl Fn(u32) -> bool) -> Option<u32> {
        match self {
            Self::Plain(m) => least_work(&**m, dies, may),
            Self::Boxed(m) => least_work(&**m, dies, may),
        }
    }
}

/// Carries out a call of such a model apart from the code of the other one, which stays small enough to be inlined.
#[cold]
#[inline(never)]
pub(super) fn apart<R>(call: impl FnOnce() -> R) -> R {
    call()
}

/// Calls the same method on whichever model runs.
macro_rules! either {
    ($clock:expr, $model:ident => $call:expr) => {
        match $clock {
            Model::Inline($model) => $call,
            Model::Apart(model) => $crate::flash::clock::model::apart(move || match model {
                $crate::flash::clock::model::Apart::Plain($model) => $call,
                $crate::flash::clock::model::Apart::Boxed($model) => $call,
            }),
        }
    };
}
pub(super) use either;
