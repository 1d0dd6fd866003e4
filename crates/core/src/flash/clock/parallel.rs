//! Dies in parallel, channels shared, first come first served: the event-driven model.
//!
//! What makes it fast: events are kept in [`super::lanes`] and cost the same however many dies there are; everything
//! that waits is linked through one slab of 32-byte nodes; what executes is in its die. Nothing is allocated, hashed or
//! sorted per operation once the slab has its size (only what happens at one and the same instant is put in order).

#![expect(clippy::inline_always, reason = "measured: calls between the steps of one event cost a fifth of its time")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::lanes::{self, CELL, COMMAND, LOAD, Lanes, NEVER, TIMER, TRANSFER};
use super::{ClockTimes, DIES_PER_CHANNEL, END_OF_TIME, Finished, PENDING, ROWS, Release, Resolved, Ticket};
use crate::ledger::Op;

/// No node, no die.
const NONE: u32 = u32::MAX;

/// A ticket is `PENDING | sequence << INDEX_BITS | index`. The sequence grows with every node handed out, so it is both
/// the issue order and what tells a ticket from a later one with the same index.
const INDEX_BITS: u32 = 23;
const INDEX_MASK: u64 = (1 << INDEX_BITS) - 1;
const STEP: u64 = 1 << INDEX_BITS;

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Kind {
    Read = 0,
    Program = 1,
    Erase = 2,
    /// Resolves with the ticket it waits for and the one in `data`.
    Join = 3,
    /// A program whose ticket resolves at the end of its transfer. (The two low bits are those of a program.)
    ProgramLoaded = 5,
    /// Reports the token in `data`.
    Watch = 7,
}

impl Kind {
    /// Row in the tables by operation, and at the same time the lane of its cell phase.
    #[inline]
    const fn op(self) -> usize {
        self as usize & 3
    }
}

/// Something that waits, or the operation that a die executes.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The bits of its ticket; 0 when the place is free, which no ticket is.
    ticket: u64,
    data: u64,
    /// Next in the list that the node is on: a die's queue, the waiters of another node, or the free places.
    next: u32,
    /// First node that waits for this one.
    waiters: u32,
    die: u32,
    kind: Kind,
    /// Queued or executing on its die.
    arrived: bool,
    /// An operation that reports the token in `data` when its ticket resolves.
    watched: bool,
}

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

#[derive(Clone, Debug)]
#[repr(align(128))]
struct Channel {
    /// End of the last use granted.
    free_at: u64,
    /// There is an event at `free_at`: nobody needs one as long as nobody waits.
    wake: bool,
    /// Ring of the dies that wait for it (their numbers on this channel), first come first.
    head: u32,
    tail: u32,
    waiting: [u8; DIES_PER_CHANNEL],
}

/// The parallel model. See the module text of [`super`].
#[derive(Clone, Debug)]
pub(super) struct Parallel {
    pub(super) now: u64,
    lanes: Lanes,
    channel_count: u32,
    /// Duration of [`LOAD`], [`COMMAND`] and [`TRANSFER`].
    length: [u64; 4],
    /// From the start of an operation (if there is no command phase), or from when it is granted the channel for its
    /// command or its data, to the end of its cell phase.
    cell_after: [u64; 4],
    pub(super) service: [u64; ROWS],
    pub(super) bus: [u64; ROWS],
    /// Next sequence number, shifted to its place in a ticket.
    sequence: u64,
    /// First free node.
    free: u32,
    nodes: Vec<Node>,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Operations released at this instant, which join their dies' queues once all completions are processed.
    arrivals: Vec<u32>,
    /// Idle channels that somebody may wait for, granted at the end of this instant.
    ungranted: Vec<u32>,
    /// Lists of waiters yet to be released at this instant.
    cascade: Vec<u32>,
    /// Nodes that wait for a time and channels that somebody waits for, as (time, ticket bits or channel).
    timers: BinaryHeap<Reverse<(u64, u64)>>,
    pub(super) in_flight: usize,
    pub(super) resolved: Resolved,
    pub(super) finished: Finished,
}

impl Parallel {
    pub(super) fn new(times: ClockTimes, channels: u32, dies: u32) -> Self {
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
            lanes: Lanes::new(dies),
            channel_count: channels,
            length: [command + transfer, command, transfer, 0],
            cell_after: [command + read, command + transfer + program, command + erase, 0],
            service: times.service_ns(),
            bus: times.bus_ns(),
            sequence: PENDING,
            free: NONE,
            nodes: Vec::new(),
            dies: (0..dies).map(die).collect(),
            channels: vec![channel; channels as usize],
            arrivals: Vec::new(),
            ungranted: Vec::new(),
            cascade: Vec::new(),
            timers: BinaryHeap::new(),
            in_flight: 0,
            resolved: Resolved::default(),
            finished: Finished::new(channels, dies),
        }
    }

    // ---- What the caller does -------------------------------------------------------------------------------------

    pub(super) fn issue(&mut self, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        let kind = match op {
            Op::Read => Kind::Read,
            Op::Erase => Kind::Erase,
            Op::Program if release == Release::Transfer => Kind::ProgramLoaded,
            Op::Program => Kind::Program,
        };
        self.in_flight += 1;
        let node = self.allocate(kind, die, 0);
        let ticket = self.nodes[node as usize].ticket;
        if after.0 > self.now {
            if after.is_time() {
                self.set_timer(after.0, ticket);
                return Ticket(ticket);
            }
            let before = &mut self.nodes[(after.0 & INDEX_MASK) as usize];
            if before.ticket == after.0 && !(before.arrived && before.die == die) {
                let first = std::mem::replace(&mut before.waiters, node);
                self.nodes[node as usize].next = first;
                return Ticket(ticket);
            }
        }
        self.arrive(node, die, kind, ticket);
        // Only if something at this instant takes no time. At most the channel of this die is to be granted.
        if let Some(channel) = self.ungranted.pop() {
            self.grant(channel);
        }
        Ticket(ticket)
    }

    pub(super) fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        match (self.is_pending(a), self.is_pending(b)) {
            (true, true) if a == b => a,
            (true, true) => self.join_nodes(a, b),
            (true, false) if b.is_time() && b.0 > self.now => self.join_nodes(a, b),
            (false, true) if a.is_time() && a.0 > self.now => self.join_nodes(b, a),
            (true, false) => a,
            (false, true) => b,
            // At least one resolved earlier, at a time that is forgotten.
            (false, false) => {
                let known = |t: Ticket| if t.is_time() { t.0 } else { self.now };
                Ticket(known(a).max(known(b)))
            }
        }
    }

    /// A node that waits for the pending ticket `first` and then for `second`.
    fn join_nodes(&mut self, first: Ticket, second: Ticket) -> Ticket {
        let node = self.allocate(Kind::Join, NONE, second.0);
        self.wait_for(first.0, node);
        Ticket(self.nodes[node as usize].ticket)
    }

    #[inline]
    pub(super) fn time(&self, t: Ticket) -> Option<u64> {
        (!self.is_pending(t)).then_some(self.now)
    }

    pub(super) fn watch(&mut self, t: Ticket, token: u64) {
        if self.is_pending(t) {
            let watched = &mut self.nodes[(t.0 & INDEX_MASK) as usize];
            if !watched.watched && watched.kind != Kind::Join {
                watched.watched = true;
                watched.data = token;
                return;
            }
            let node = self.allocate(Kind::Watch, NONE, token);
            self.wait_for(t.0, node);
        } else if t.is_time() && t.0 > self.now {
            let node = self.allocate(Kind::Watch, NONE, token);
            self.set_timer(t.0, self.nodes[node as usize].ticket);
        } else {
            self.resolved.push(self.now, token);
        }
    }

    #[inline]
    pub(super) fn next_event(&self) -> Option<u64> {
        let event = self.lanes.next();
        (event != NEVER).then_some(lanes::time_of(event))
    }

    #[inline]
    pub(super) fn step(&mut self) -> bool {
        let event = self.lanes.next();
        if event == NEVER {
            return false;
        }
        self.run(lanes::time_of(event));
        true
    }

    #[inline]
    pub(super) fn advance(&mut self, to: u64) {
        self.run(to);
        self.now = self.now.max(to);
    }

    pub(super) fn drain(&mut self) {
        self.run(END_OF_TIME);
        assert!(self.in_flight == 0, "{} operations wait for something that never happens", self.in_flight);
    }

    pub(super) fn channel_busy_until(&self, channel: u32) -> u64 {
        let load = |die: &Die| {
            if die.ticket == 0 {
                return 0;
            }
            let waited = if die.requested == NEVER { 0 } else { self.now - die.requested };
            (die.end + waited).saturating_sub(self.now).max(1) + die.backlog
        };
        let dies = self.dies[channel as usize..].iter().step_by(self.channels.len());
        self.now + dies.map(load).max().unwrap_or(0)
    }

    pub(super) fn slab_len(&self) -> usize {
        self.nodes.len()
    }

    // ---- Nodes ----------------------------------------------------------------------------------------------------

    #[inline(always)]
    fn allocate(&mut self, kind: Kind, die: u32, data: u64) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let ticket = self.sequence | u64::from(index);
        self.sequence = self.sequence.checked_add(STEP).expect("2^40 tickets are enough for one run");
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        *node = Node { ticket, data, next: NONE, waiters: NONE, die, kind, arrived: false, watched: false };
        index
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.nodes.len();
        let new = (old * 2).max(64).min(1 << INDEX_BITS);
        assert!(new > old, "more than 2^{INDEX_BITS} operations are in flight");
        let empty = Node {
            ticket: 0,
            data: 0,
            next: NONE,
            waiters: NONE,
            die: NONE,
            kind: Kind::Read,
            arrived: false,
            watched: false,
        };
        self.nodes.resize(new, empty);
        for index in (old..new).rev() {
            self.nodes[index].next = std::mem::replace(&mut self.free, index as u32);
        }
    }

    /// Frees a node and returns its waiters.
    #[inline(always)]
    fn release(&mut self, index: u32) -> u32 {
        let node = &mut self.nodes[index as usize];
        node.ticket = 0;
        node.next = self.free;
        self.free = index;
        node.waiters
    }

    #[inline]
    fn is_pending(&self, t: Ticket) -> bool {
        !t.is_time() && self.nodes[(t.0 & INDEX_MASK) as usize].ticket == t.0
    }

    /// Puts `node` on the list of what waits for the pending ticket `before`.
    #[inline]
    fn wait_for(&mut self, before: u64, node: u32) {
        let waiters = &mut self.nodes[(before & INDEX_MASK) as usize].waiters;
        let first = std::mem::replace(waiters, node);
        self.nodes[node as usize].next = first;
    }

    fn set_timer(&mut self, time: u64, who: u64) {
        self.timers.push(Reverse((time, who)));
        self.next_timer();
    }

    fn next_timer(&mut self) {
        self.lanes.set_timer(self.timers.peek().map_or(NEVER, |&Reverse((time, _))| time));
    }

    /// The ticket of a node resolves now.
    #[inline(always)]
    fn resolve(&mut self, index: u32) {
        let Node { watched, data, .. } = self.nodes[index as usize];
        let waiters = self.release(index);
        if watched {
            self.resolved.push(self.now, data);
        }
        if waiters != NONE {
            self.wake(waiters);
        }
    }

    /// Lets a list of waiters go on, and those that wait for joins among them. Their order does not matter: operations
    /// join their queues in issue order later, tokens are put in order when they are taken.
    #[inline(never)]
    fn wake(&mut self, waiters: u32) {
        self.cascade.push(waiters);
        while let Some(mut index) = self.cascade.pop() {
            while index != NONE {
                let next = self.nodes[index as usize].next;
                self.wake_one(index);
                index = next;
            }
        }
    }

    #[inline]
    fn wake_one(&mut self, index: u32) {
        let Node { kind, data, ticket, .. } = self.nodes[index as usize];
        match kind {
            Kind::Watch => {
                self.resolved.push(self.now, data);
                self.release(index);
            }
            Kind::Join => {
                let other = Ticket(data);
                if self.is_pending(other) {
                    self.wait_for(data, index);
                } else if other.is_time() && data > self.now {
                    self.set_timer(data, ticket);
                } else {
                    let waiters = self.release(index);
                    self.cascade.push(waiters);
                }
            }
            _ => self.arrivals.push(index),
        }
    }

    // ---- Events ---------------------------------------------------------------------------------------------------

    /// Processes every instant up to `to`.
    fn run(&mut self, to: u64) {
        loop {
            let event = self.lanes.next();
            let time = lanes::time_of(event);
            if time > self.now {
                if self.arrivals.len() | self.ungranted.len() != 0 {
                    self.end_instant();
                    continue;
                }
                if time > to {
                    return;
                }
                self.now = time;
            }
            let lane = lanes::lane_of(event);
            if lane == TIMER {
                self.fire_timer();
                continue;
            }
            let die = self.lanes.pop(lane);
            if lane == CELL {
                self.request(die, TRANSFER);
                continue;
            }
            if lane < CELL {
                self.leave_bus(die);
                if lane != TRANSFER {
                    self.loaded(die, lane);
                    continue;
                }
            }
            self.finish(die);
        }
    }

    /// This instant has no completions left. What happens here can bring new ones if a phase takes no time.
    #[inline(never)]
    fn end_instant(&mut self) {
        if !self.arrivals.is_empty() {
            self.arrive_all();
            return;
        }
        while let Some(channel) = self.ungranted.pop() {
            self.grant(channel);
        }
    }

    #[inline(never)]
    fn fire_timer(&mut self) {
        if let Some(Reverse((_, who))) = self.timers.pop() {
            self.next_timer();
            if who < PENDING {
                self.channels[who as usize].wake = false;
                self.ungranted.push(who as u32);
                return;
            }
            let index = (who & INDEX_MASK) as u32;
            self.nodes[index as usize].next = NONE;
            self.wake(index);
        }
    }

    #[inline(always)]
    fn leave_bus(&mut self, die: u32) {
        let channel = self.dies[die as usize].channel;
        let c = &mut self.channels[channel as usize];
        c.wake = false;
        if c.head != c.tail {
            self.ungranted.push(channel);
        }
    }

    /// If a page to program is in its die now, somebody may wait for that.
    #[inline(always)]
    fn loaded(&mut self, die: u32, lane: usize) {
        let Die { kind, ticket, .. } = self.dies[die as usize];
        if lane == LOAD && kind == Kind::ProgramLoaded {
            self.resolve((ticket & INDEX_MASK) as u32);
        }
    }

    /// The operation on `die` is done; the next one of its queue starts.
    #[inline(always)]
    fn finish(&mut self, die: u32) {
        self.in_flight -= 1;
        let d = &mut self.dies[die as usize];
        let (kind, done) = (d.kind, (d.ticket & INDEX_MASK) as u32);
        d.ticket = 0;
        self.finished.count(die, kind.op());
        // First, so that the next operation knows who else starts at this instant.
        if kind != Kind::ProgramLoaded {
            self.resolve(done);
        }
        let d = &mut self.dies[die as usize];
        if d.head != NONE {
            let Node { next, kind, ticket, .. } = self.nodes[d.head as usize];
            d.head = next;
            d.backlog -= self.service[kind.op()];
            self.start(die, kind, ticket);
        }
    }

    #[cold]
    fn sort_arrivals(&mut self) {
        let nodes = &self.nodes;
        self.arrivals.sort_unstable_by_key(|&index| nodes[index as usize].ticket);
    }

    #[inline(never)]
    fn arrive_all(&mut self) {
        if self.arrivals.len() > 1 {
            self.sort_arrivals();
        }
        for i in 0..self.arrivals.len() {
            let index = self.arrivals[i];
            let Node { die, kind, ticket, .. } = self.nodes[index as usize];
            self.arrive(index, die, kind, ticket);
        }
        self.arrivals.clear();
    }

    /// An operation joins its die's queue.
    #[inline(always)]
    fn arrive(&mut self, index: u32, die: u32, kind: Kind, ticket: u64) {
        let node = &mut self.nodes[index as usize];
        node.arrived = true;
        node.next = NONE;
        let d = &mut self.dies[die as usize];
        if d.ticket == 0 {
            self.start(die, kind, ticket);
            return;
        }
        d.backlog += self.service[kind.op()];
        let last = std::mem::replace(&mut d.tail, index);
        if d.head == NONE {
            d.head = index;
        } else {
            self.nodes[last as usize].next = index;
        }
    }

    /// An idle die takes an operation.
    #[inline(always)]
    fn start(&mut self, die: u32, kind: Kind, ticket: u64) {
        let op = kind.op();
        let d = &mut self.dies[die as usize];
        d.ticket = ticket;
        d.kind = kind;
        d.end = self.now + self.service[op];
        if op == Op::Program as usize {
            self.request(die, LOAD);
        } else if self.length[COMMAND] != 0 {
            self.request(die, COMMAND);
        } else {
            self.lanes.push(CELL + op, self.now + self.cell_after[op], die);
        }
    }

    /// A die wants its channel from now on.
    #[inline(always)]
    fn request(&mut self, die: u32, lane: usize) {
        let channel = self.dies[die as usize].channel;
        let c = &self.channels[channel as usize];
        let idle = !c.wake & (c.free_at <= self.now) & (c.head == c.tail);
        // Nothing else happens at this instant, so nobody can have an older claim.
        let alone = (self.arrivals.len() | self.ungranted.len() == 0) & (lanes::time_of(self.lanes.next()) > self.now);
        if idle & alone {
            self.occupy(die, channel, lane);
        } else {
            self.wait_for_bus(die, channel, lane);
        }
    }

    /// A die gets its channel.
    #[inline(always)]
    fn occupy(&mut self, die: u32, channel: u32, lane: usize) {
        let c = &mut self.channels[channel as usize];
        let length = self.length[lane];
        c.free_at = self.now + length;
        c.wake = lane == TRANSFER || c.head != c.tail || length == 0;
        if lane != TRANSFER {
            let kind = self.dies[die as usize].kind;
            c.wake |= kind == Kind::ProgramLoaded;
            // Nothing can delay the cell phase any more: its end is known.
            let op = kind.op();
            self.lanes.push(CELL + op, self.now + self.cell_after[op], die);
        }
        if self.channels[channel as usize].wake {
            self.lanes.push(lane, self.now + length, die);
        }
    }

    #[inline(never)]
    fn wait_for_bus(&mut self, die: u32, channel: u32, lane: usize) {
        let d = &mut self.dies[die as usize];
        d.requested = self.now;
        d.bus = lane as u8;
        let (ticket, local) = (d.ticket, d.local);
        let c = &mut self.channels[channel as usize];
        let mut place = c.tail;
        c.tail = c.tail.wrapping_add(1);
        // Requests come in the order of time; those of one instant are put in issue order.
        while place != c.head {
            let before = c.waiting[place.wrapping_sub(1) as usize % DIES_PER_CHANNEL];
            let b = &self.dies[(u32::from(before) * self.channel_count + channel) as usize];
            if b.requested != self.now || b.ticket < ticket {
                break;
            }
            c.waiting[place as usize % DIES_PER_CHANNEL] = before;
            place = place.wrapping_sub(1);
        }
        c.waiting[place as usize % DIES_PER_CHANNEL] = local;
        if c.wake {
            return;
        }
        if c.free_at <= self.now {
            self.ungranted.push(channel);
        } else {
            c.wake = true;
            let at = c.free_at;
            self.set_timer(at, u64::from(channel));
        }
    }

    /// An idle channel serves the first die that waits for it, if there is one.
    #[inline(never)]
    fn grant(&mut self, channel: u32) {
        let c = &mut self.channels[channel as usize];
        if c.wake || c.free_at > self.now || c.head == c.tail {
            return;
        }
        let die = u32::from(c.waiting[c.head as usize % DIES_PER_CHANNEL]) * self.channel_count + channel;
        c.head = c.head.wrapping_add(1);
        let d = &mut self.dies[die as usize];
        d.end += self.now - d.requested;
        d.requested = NEVER;
        let lane = usize::from(d.bus);
        self.occupy(die, channel, lane);
    }
}
