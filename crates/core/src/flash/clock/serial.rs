//! serial - One operation at a time on the whole device
//!
//! # Source
//! FlashSim (the simulator of the DFTL paper) and DiskSim with its flash extension.
//!
//! # What it does
//! The whole device does one operation at a time. An operation starts when the device is free and its dependency is met,
//! and takes command + cell + transfer. Every ticket is a time at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{ClockShape, Finished, Model, OpTarget, ROWS, Release, Resolved, Ticket, Timing, TimingRule};
use crate::ledger::Op;

pub(super) const RULE: TimingRule = TimingRule { build: |shape| Model::boxed(shape, Serial::new), schedules: false };

/// The serial model: flash operations one at a time.
#[derive(Debug)]
pub(super) struct Serial {
    pub(super) now: u64,
    /// End of the last operation issued.
    free: u64,
    /// End of the last program whose ticket resolves earlier.
    programmed: u64,
    pub(super) service: [u64; ROWS],
    bus: [u64; ROWS],
    finished: Finished,
    pub(super) resolved: Resolved,
    /// Watched times that lie in the future, as (time, token).
    watched: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Serial {
    pub(super) fn new(shape: &ClockShape) -> Self {
        let ClockShape { times, channels, dies, .. } = *shape;
        Self {
            now: 0,
            free: 0,
            programmed: 0,
            service: times.service_ns(),
            bus: times.bus_ns(),
            finished: Finished::new(channels, dies),
            resolved: Resolved::default(),
            watched: BinaryHeap::new(),
        }
    }

    /// Reports the watched times up to `to`.
    #[inline(never)]
    fn report(&mut self, to: u64) {
        while self.next_event().is_some_and(|time| time <= to) {
            let Some(Reverse((time, token))) = self.watched.pop() else { break };
            self.resolved.push(time, token);
        }
    }
}

impl Timing for Serial {
    #[inline]
    fn issue(&mut self, _: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        debug_assert!(after.is_time(), "a ticket of another clock");
        let start = self.free.max(after.0).max(self.now);
        let op = op as usize;
        self.free = start + self.service[op];
        self.finished.count(die, op);
        let transferred = release == Release::Transfer && op == Op::Program as usize;
        if !transferred {
            return Ticket(self.free);
        }
        self.programmed = self.free;
        Ticket(start + self.bus[op])
    }

    fn take_programmed(&mut self) -> Ticket {
        Ticket(std::mem::take(&mut self.programmed))
    }

    /// Only reached with a ticket of another clock, as the tickets of this one are times.
    #[cold]
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        unreachable!("tickets of another clock: {a:?}, {b:?} at {}", self.now)
    }

    /// Only reached with a ticket of another clock, as the tickets of this one are times.
    #[cold]
    fn time(&self, t: Ticket) -> Option<u64> {
        unreachable!("ticket of another clock: {t:?} at {}", self.now)
    }

    fn watch(&mut self, t: Ticket, token: u64) {
        if t.0 <= self.now {
            self.resolved.push(self.now, token);
        } else {
            self.watched.push(Reverse((t.0, token)));
        }
    }

    #[inline]
    fn resolved(&mut self) -> &mut Resolved {
        &mut self.resolved
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        self.watched.peek().map(|&Reverse((time, _))| time)
    }

    #[inline]
    fn step(&mut self) -> bool {
        let Some(time) = self.next_event() else { return false };
        self.advance(time);
        true
    }

    #[inline]
    fn wait(&mut self, to: u64) -> bool {
        let next = self.next_event();
        if let Some(time) = next.filter(|time| *time <= to) {
            self.advance(time);
        }
        next.is_some()
    }

    #[inline]
    fn advance(&mut self, to: u64) {
        if self.next_event().is_some_and(|time| time <= to) {
            self.report(to);
        }
        self.now = self.now.max(to);
    }

    fn drain(&mut self) {
        while self.step() {}
        self.now = self.now.max(self.free);
    }

    fn die_busy_until(&self, _: u32) -> u64 {
        self.free.max(self.now)
    }

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn finished(&self) -> &Finished {
        &self.finished
    }
}
