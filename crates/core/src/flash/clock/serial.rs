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

use super::{ClockShape, Finished, Model, ROWS, Release, Resolved, Ticket, TimingRule, Waits};
use crate::ledger::{Cause, Op};
use crate::types::{Nanos, Ppn};

pub(super) const RULE: TimingRule = TimingRule { build: |shape| Model::Serial(Serial::new(shape)), schedules: false };

/// The serial model: flash operations one at a time.
#[derive(Clone, Debug)]
pub(super) struct Serial {
    pub(super) now: u64,
    /// End of the last operation issued.
    free: u64,
    pub(super) service: [u64; ROWS],
    pub(super) bus: [u64; ROWS],
    pub(super) finished: Finished,
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
            service: times.service_ns(),
            bus: times.bus_ns(),
            finished: Finished::new(channels, dies),
            resolved: Resolved::default(),
            watched: BinaryHeap::new(),
        }
    }

    #[inline]
    pub(super) fn issue(&mut self, (_, _): (Ppn, Cause), die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        debug_assert!(after.is_time(), "a ticket of another clock");
        let start = self.free.max(after.0).max(self.now);
        let op = op as usize;
        self.free = start + self.service[op];
        self.finished.count(die, op);
        let transferred = release == Release::Transfer && op == Op::Program as usize;
        Ticket(if transferred { start + self.bus[op] } else { self.free })
    }

    /// Only reached with a ticket of another clock, as the tickets of this one are times.
    #[cold]
    pub(super) fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        unreachable!("tickets of another clock: {a:?}, {b:?} at {}", self.now)
    }

    /// Only reached with a ticket of another clock, as the tickets of this one are times.
    #[cold]
    pub(super) fn time(&self, t: Ticket) -> Option<u64> {
        unreachable!("ticket of another clock: {t:?} at {}", self.now)
    }

    pub(super) fn watch(&mut self, t: Ticket, token: u64) {
        if t.0 <= self.now {
            self.resolved.push(self.now, token);
        } else {
            self.watched.push(Reverse((t.0, token)));
        }
    }

    #[inline]
    pub(super) fn take_resolved(&mut self) -> Option<(u64, Nanos)> {
        self.resolved.take()
    }

    #[inline]
    pub(super) fn next_event(&self) -> Option<u64> {
        self.watched.peek().map(|&Reverse((time, _))| time)
    }

    #[inline]
    pub(super) fn step(&mut self) -> bool {
        let Some(time) = self.next_event() else { return false };
        self.advance(time);
        true
    }

    #[inline]
    pub(super) fn wait(&mut self, to: u64) -> bool {
        let next = self.next_event();
        if let Some(time) = next.filter(|time| *time <= to) {
            self.advance(time);
        }
        next.is_some()
    }

    #[inline]
    pub(super) fn advance(&mut self, to: u64) {
        if self.next_event().is_some_and(|time| time <= to) {
            self.report(to);
        }
        self.now = self.now.max(to);
    }

    /// Reports the watched times up to `to`.
    #[inline(never)]
    fn report(&mut self, to: u64) {
        while self.next_event().is_some_and(|time| time <= to) {
            let Some(Reverse((time, token))) = self.watched.pop() else { break };
            self.resolved.push(time, token);
        }
    }

    pub(super) fn drain(&mut self) {
        while self.step() {}
        self.now = self.now.max(self.free);
    }

    /// None: the end of every operation is known when it is issued.
    #[expect(clippy::unused_self, reason = "other models count")]
    pub(super) const fn in_flight(&self) -> usize {
        0
    }

    /// None: nothing waits.
    #[expect(clippy::unused_self, reason = "other models allocate")]
    pub(super) const fn slab_len(&self) -> usize {
        0
    }

    /// Not counted: whoever wants to know takes the model `scheduled` with the scheduler `fifo`.
    #[expect(clippy::unused_self, reason = "other models count")]
    pub(super) const fn waits(&self) -> Option<&Waits> {
        None
    }

    #[expect(clippy::unused_self, reason = "other models count")]
    pub(super) const fn forget_waits(&mut self) {}

    pub(super) fn channel_busy_until(&self, channel: u32) -> u64 {
        assert!(channel < self.finished.channels, "channel {channel} of {}", self.finished.channels);
        self.free.max(self.now)
    }
}
