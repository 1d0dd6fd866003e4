//! Work under way: how far it is, warnings about it, and the request to stop it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::error::Error;

/// The wish that work ends. Clones share it; the holder of any one may stop the work, from any thread. Work looks at it at least
/// once for every batch of requests, and ends with [`Error::Stopped`] or with what was finished. An error of one of several
/// simulations stops the others by it, so that each piece of work has a `Stop` of its own.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks the work to end.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// The work is to end.
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The flag itself, for readers of traces.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
    /// Lets the work go on, or ends it.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the work is to end.
    pub fn check(&self) -> Result<(), Error> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// The wall time: it is measured and reported, and a search with a budget in minutes ends by it. No other result depends on it.
#[expect(clippy::disallowed_methods, reason = "the one place where the laboratory looks at a clock")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// What a simulation does at the moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Phase {
    /// The device is built and filled.
    #[default]
    Building,
    /// The writes of the trace are carried out before the measurement.
    Preconditioning,
    /// The requests are replayed and measured.
    Replaying,
}

/// What work tells while it is under way.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event<'a> {
    /// How far all of it is, from 0 to 1, and what the simulation that reported last does. A new phase begins at 0 again.
    Progress(Phase, f64),
    /// Something to be wary of in what is read, once for each [`Watch`].
    Warning(&'a str),
}

/// How work is watched: it tells how far it is, and can be stopped.
pub struct Watch<'a> {
    /// Ends the work when it is set.
    pub stop: Stop,
    /// Called with what happens, from any thread.
    pub tell: Box<dyn Fn(Event<'_>) + Sync + 'a>,
    /// The trace was looked at.
    looked: AtomicBool,
}

impl<'a> Watch<'a> {
    /// Tells `tell` everything; `stop` ends the work.
    pub fn new(stop: Stop, tell: impl Fn(Event<'_>) + Sync + 'a) -> Self {
        Self { stop, tell: Box::new(tell), looked: AtomicBool::new(false) }
    }
    /// True the first time.
    pub(crate) fn looks(&self) -> bool {
        !self.looked.swap(true, Ordering::Relaxed)
    }
    /// Work of that many parts, which take about equally long.
    pub(crate) fn work(&self, parts: usize) -> Work<'_> {
        Work { watch: self, parts: parts as u64, done: AtomicU64::new(0) }
    }
}

impl Default for Watch<'_> {
    /// Nobody watches.
    fn default() -> Self {
        Self::new(Stop::default(), |_| ())
    }
}

/// Steps in which the progress of a part is told.
const STEPS: u64 = 1000;

/// Work of several parts.
pub(crate) struct Work<'a> {
    watch: &'a Watch<'a>,
    parts: u64,
    /// Steps done, of all parts.
    done: AtomicU64,
}

impl Work<'_> {
    /// Begins one of the parts.
    pub(crate) fn part(&self) -> Part<'_> {
        Part { work: self, phase: Cell::default(), done: Cell::new(0) }
    }
}

/// A part of the work; complete when it is dropped.
pub(crate) struct Part<'a> {
    work: &'a Work<'a>,
    phase: Cell<Phase>,
    /// Steps done.
    done: Cell<u64>,
}

impl<'a> Part<'a> {
    /// Who watches.
    pub(crate) fn watch(&self) -> &'a Watch<'a> {
        self.work.watch
    }
    /// A pass over the trace begins: its progress counts from nothing.
    pub(crate) fn begin(&self, phase: Phase) {
        self.phase.set(phase);
        self.tell(0);
    }
    /// That much of the pass is done.
    pub(crate) fn show(&self, done: u64, whole: u64) {
        let steps = u128::from(done.min(whole)) * u128::from(STEPS) / u128::from(whole.max(1));
        if steps as u64 != self.done.get() {
            self.tell(steps as u64);
        }
    }
    fn tell(&self, steps: u64) {
        let before = self.done.replace(steps);
        let known = self.work.done.fetch_add(steps.wrapping_sub(before), Ordering::Relaxed);
        let done = known.wrapping_add(steps).wrapping_sub(before);
        let share = done as f64 / (self.work.parts.max(1) * STEPS) as f64;
        (self.work.watch.tell)(Event::Progress(self.phase.get(), share));
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.tell(STEPS);
    }
}
