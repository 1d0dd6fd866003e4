//! parallel - Dies work at the same time, channels are shared by their dies
//!
//! # What it does
//! Event-driven, first come first served on every die and every channel:
//! - read = (command on the channel), `t_R` on the die, transfer on the channel (the die is held until it ends);
//! - program = (command) + transfer on the channel, `t_PROG` on the die (held from the moment the operation leaves
//!   the die's queue);
//! - erase = (command), `t_BERS` on the die. A command time of zero means that there is no command phase.
//!
//! A die takes the head of its queue when it is idle. A channel serves the request that is oldest, among equals the
//! operation that was issued first. At one instant all completions come first (a die that becomes idle takes its next
//! operation at once), then the operations released by them join their dies' queues in issue order, then idle channels
//! are granted.
//!
//! When an operation joins its die's queue depends on its `after`:
//! - resolved, or an operation that is queued or executing on the same die: at once (the queue keeps the order);
//! - a later time: at that time;
//! - anything else: when `after` resolves. Operations without such a dependency pass it meanwhile, on its die too:
//!   code that needs the order of two operations on one die says so with `after`.
//!
//! A scalar 'busy until' per resource would be simpler and wrong by factors: it reserves the channel in the far future
//! for a read behind a program, and everything issued later waits for an idle channel.

#![expect(clippy::inline_always, reason = "as Clock::issue_for: an operation is issued without a call in between")]

// What makes it fast: events are kept in [`lanes`] and cost the same however many dies there are; everything that
// waits is linked through one slab of 32-byte nodes (`super::slab`); what executes is in its die. Nothing is allocated,
// hashed or sorted per operation once the slab has its size (only what happens at one and the same instant is put in order).

mod events;

use super::lanes::{self, Lanes, NEVER};
use super::slab::{Kind, NONE, index_of};
use super::tickets::Tickets;
use super::{
    ClockShape, DIES_PER_CHANNEL, END_OF_TIME, Finished, Model, OpTarget, ROWS, Release, Resolved, Ticket, Timing,
    TimingRule,
};
use crate::ledger::Op;

pub(super) const RULE: TimingRule = TimingRule { build: |shape| Model::Inline(Parallel::new(shape)), schedules: false };

#[derive(Clone, Debug)]
#[repr(align(64))]
struct Die {
    /// Ticket bits of the operation that executes; 0 = idle.
    ticket: u64,
    /// Since when it waits for its channel; [`NEVER`] when it does not.
    requested: u64,
    /// End of the operation that executes if it need not wait (any more) for the channel.
    end: u64,
    /// Service time of the queue.
    backlog: u64,
    head: u32,
    tail: u32,
    channel: u32,
    /// Its number among the dies of its channel.
    local: u8,
    kind: Kind,
    /// What it does, or wants to do, on the channel: a lane.
    bus: u8,
}

impl Die {
    /// Takes an operation that ends at `end` if it need not wait for the channel; returns the channel.
    #[inline]
    fn take(&mut self, kind: Kind, ticket: u64, end: u64) -> u32 {
        (self.kind, self.ticket, self.end) = (kind, ticket, end);
        self.channel
    }
}

#[derive(Clone, Debug)]
#[repr(align(128))]
struct Channel {
    /// End of the last use granted.
    free_at: u64,
    /// There is an event at `free_at`: it is not needed as long as nothing waits.
    wake: bool,
    /// Ring of the dies that wait for it (their numbers on this channel), first come first.
    head: u32,
    tail: u32,
    waiting: [u8; DIES_PER_CHANNEL],
}

/// The parallel model: dies work at the same time and share their channels, first come first served.
#[derive(Debug)]
pub(super) struct Parallel {
    pub(super) now: u64,
    lanes: Lanes,
    channel_count: u32,
    /// Duration of [`lanes::LOAD`], [`lanes::COMMAND`] and [`lanes::TRANSFER`].
    length: [u64; 4],
    /// From the start of an operation (if there is no command phase), or from when it is granted the channel for its
    /// command or its data, to the end of its cell phase.
    cell_after: [u64; 4],
    pub(super) service: [u64; ROWS],
    pub(super) tickets: Tickets<()>,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Idle channels that something may wait for, granted at the end of this instant.
    ungranted: Vec<u32>,
    /// Resolves when all programs whose tickets resolve earlier are over.
    programmed: Ticket,
    in_flight: usize,
    finished: Finished,
}

impl Parallel {
    pub(super) fn new(shape: &ClockShape) -> Self {
        let ClockShape { times, channels, dies, .. } = *shape;
        let [read, program, erase, _] = times.cell_ns();
        let (command, transfer) = (times.command.0, times.page_transfer.0);
        let die = |d| Die {
            ticket: 0,
            requested: NEVER,
            end: 0,
            backlog: 0,
            head: NONE,
            tail: NONE,
            channel: d % channels,
            local: (d / channels) as u8,
            kind: Kind::Read,
            bus: 0,
        };
        let channel = Channel { free_at: 0, wake: false, head: 0, tail: 0, waiting: [0; DIES_PER_CHANNEL] };
        Self {
            now: 0,
            lanes: Lanes::new(dies, channels),
            channel_count: channels,
            length: [command + transfer, command, transfer, 0],
            cell_after: [command + read, command + transfer + program, command + erase, 0],
            service: times.service_ns(),
            tickets: Tickets::new(),
            dies: (0..dies).map(die).collect(),
            channels: vec![channel; channels as usize],
            ungranted: Vec::new(),
            programmed: Ticket(0),
            in_flight: 0,
            finished: Finished::new(channels, dies),
        }
    }

    /// An operation that cannot join the queue of its die yet.
    #[inline(always)]
    fn defer(&mut self, die: u32, kind: Kind, after: Ticket) -> Option<Ticket> {
        if after.0 <= self.now {
            return None;
        }
        if after.is_time() {
            let (_, ticket) = self.tickets.slab.allocate(kind, die, 0, false);
            self.set_timer(after.0, ticket);
            return Some(Ticket(ticket));
        }
        let before = self.tickets.slab.get(index_of(after.0));
        if before.ticket != after.0 || before.arrived && before.die == die {
            return None;
        }
        let (node, ticket) = self.tickets.slab.allocate(kind, die, 0, false);
        self.tickets.slab.wait_for(after.0, node);
        Some(Ticket(ticket))
    }

    /// A program was issued whose ticket resolves before its end.
    #[inline(never)]
    fn follow_to_its_end(&mut self, loaded: Ticket) {
        let end = self.tickets.end_of(loaded);
        self.programmed = self.tickets.join(self.now, self.programmed, end);
    }

    /// `who` is a channel or the ticket of a node.
    fn set_timer(&mut self, time: u64, who: u64) {
        self.tickets.set_timer(time, who);
        self.next_timer();
    }

    pub(super) fn next_timer(&mut self) {
        self.lanes.set_timer(self.tickets.first_timer().unwrap_or(NEVER));
    }
}

impl Timing for Parallel {
    #[inline(always)]
    fn issue(&mut self, _: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        let kind = match op {
            Op::Read => Kind::Read,
            Op::Erase => Kind::Erase,
            Op::Program if release == Release::Transfer => Kind::ProgramLoaded,
            Op::Program => Kind::Program,
        };
        self.in_flight += 1;
        if let Some(ticket) = self.defer(die, kind, after) {
            if kind == Kind::ProgramLoaded {
                self.follow_to_its_end(ticket);
            }
            return ticket;
        }
        let (node, ticket) = self.tickets.slab.allocate(kind, die, 0, true);
        self.arrive(node, die, kind, ticket);
        // Only if something at this instant takes no time. At most the channel of this die is to be granted.
        if let Some(channel) = self.ungranted.pop() {
            self.grant(channel);
        }
        if kind == Kind::ProgramLoaded {
            self.follow_to_its_end(Ticket(ticket));
        }
        Ticket(ticket)
    }

    fn take_programmed(&mut self) -> Ticket {
        std::mem::replace(&mut self.programmed, Ticket(0))
    }

    #[inline(always)]
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        self.tickets.join(self.now, a, b)
    }

    #[inline]
    fn time(&self, t: Ticket) -> Option<u64> {
        self.tickets.time(self.now, t)
    }

    #[inline]
    fn watch(&mut self, t: Ticket, token: u64) {
        if self.tickets.watch(self.now, t, token) {
            self.next_timer();
        }
    }

    #[inline]
    fn resolved(&mut self) -> &mut Resolved {
        &mut self.tickets.resolved
    }

    #[inline]
    fn next_event(&self) -> Option<u64> {
        let event = self.lanes.next();
        (event != NEVER).then_some(lanes::time_of(event))
    }

    #[inline]
    fn step(&mut self) -> bool {
        let event = self.lanes.next();
        if event == NEVER {
            return false;
        }
        self.run(lanes::time_of(event), false);
        true
    }

    #[inline]
    fn wait(&mut self, to: u64) -> bool {
        let is_pending = self.lanes.next() != NEVER;
        self.run(to, true);
        is_pending
    }

    #[inline]
    fn advance(&mut self, to: u64) {
        self.run(to, false);
        self.now = self.now.max(to);
    }

    fn drain(&mut self) {
        self.run(END_OF_TIME, false);
        assert!(self.in_flight == 0, "{} operations wait for something that never happens", self.in_flight);
    }

    fn die_busy_until(&self, die: u32) -> u64 {
        let die = &self.dies[die as usize];
        if die.ticket == 0 {
            return self.now;
        }
        let waited = if die.requested == NEVER { 0 } else { self.now - die.requested };
        self.now + (die.end + waited).saturating_sub(self.now).max(1) + die.backlog
    }

    #[inline]
    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn slab_len(&self) -> usize {
        self.tickets.slab.len()
    }

    #[inline]
    fn now(&self) -> u64 {
        self.now
    }

    fn finished(&self) -> &Finished {
        &self.finished
    }
}
