//! What happens at an instant, and in which order. See the text of [`crate::flash::clock`].

#![expect(clippy::inline_always, reason = "measured: calls between the steps of one event cost a fifth of its time")]

use super::{Die, Parallel};
use crate::flash::clock::lanes::{self, CELL, COMMAND, LOAD, NEVER, TIMER, TRANSFER};
use crate::flash::clock::slab::{Kind, NONE, Node, index_of};
use crate::flash::clock::{DIES_PER_CHANNEL, PENDING};
use crate::ledger::Op;

impl Parallel {
    /// The ticket of a node resolves now.
    #[inline(always)]
    fn resolve(&mut self, index: u32) {
        if self.tickets.resolve(self.now, index) {
            self.next_timer();
        }
    }

    /// Processes every instant up to `to`, or if `wait`, up to the first at which something watched has resolved.
    pub(super) fn run(&mut self, to: u64, wait: bool) {
        loop {
            let event = self.lanes.next();
            let time = lanes::time_of(event);
            if time > self.now {
                if self.tickets.arrivals.len() | self.ungranted.len() != 0 {
                    self.end_instant();
                    continue;
                }
                if time > to || wait && self.tickets.resolved.is_some() {
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
            let Die { channel, kind, ticket, .. } = self.dies[die as usize];
            if lane == CELL {
                self.request(die, channel, kind, TRANSFER);
                continue;
            }
            if lane < CELL {
                self.leave_bus(channel);
                if lane != TRANSFER {
                    if lane == LOAD && kind == Kind::ProgramLoaded {
                        self.has_left_ram(die, ticket);
                    }
                    continue;
                }
            }
            self.finish(die, kind, ticket);
        }
    }

    /// This instant has no completions left. What happens here can bring new ones if a phase takes no time.
    #[inline(never)]
    fn end_instant(&mut self) {
        if !self.tickets.arrivals.is_empty() {
            self.arrive_all();
            return;
        }
        while let Some(channel) = self.ungranted.pop() {
            self.grant(channel);
        }
    }

    #[inline(never)]
    fn fire_timer(&mut self) {
        let Some(who) = self.tickets.take_timer() else { return };
        if who < PENDING {
            self.channels[who as usize].wake = false;
            self.ungranted.push(who as u32);
        } else {
            self.tickets.fire(self.now, who);
        }
        self.next_timer();
    }

    #[inline(always)]
    fn leave_bus(&mut self, channel: u32) {
        let c = &mut self.channels[channel as usize];
        c.wake = false;
        if c.head != c.tail {
            self.ungranted.push(channel);
        }
    }

    /// A page to program is in its die now, and something may wait for that. From now on the die has the ticket of its end.
    #[inline(never)]
    fn has_left_ram(&mut self, die: u32, loaded: u64) {
        self.dies[die as usize].ticket = self.tickets.slab.get(index_of(loaded)).data;
        self.resolve(index_of(loaded));
    }

    /// The operation on `die` is done; the next one of its queue starts.
    #[inline(always)]
    fn finish(&mut self, die: u32, kind: Kind, ticket: u64) {
        self.in_flight -= 1;
        self.finished.count(die, kind.op());
        let next = self.take_next(die);
        // First, so that the next operation knows who else starts at this instant.
        self.resolve(index_of(ticket));
        if let Some((channel, kind)) = next {
            self.start(die, channel, kind);
        }
    }

    /// A die takes the head of its queue; its channel and what it does.
    #[inline(always)]
    fn take_next(&mut self, die: u32) -> Option<(u32, Kind)> {
        let d = &mut self.dies[die as usize];
        if d.head == NONE {
            d.ticket = 0;
            return None;
        }
        let Node { next, kind, ticket, .. } = *self.tickets.slab.get(d.head);
        let service = self.service[kind.op()];
        d.head = next;
        d.backlog -= service;
        Some((d.take(kind, ticket, self.now + service), kind))
    }

    #[inline(never)]
    fn arrive_all(&mut self) {
        if self.tickets.arrivals.len() > 1 {
            self.tickets.sort_arrivals();
        }
        // Emptied one by one, so that the last one sees that it is the last one.
        while let Some(index) = self.tickets.arrivals.pop() {
            let node = self.tickets.slab.get_mut(index);
            (node.arrived, node.next) = (true, NONE);
            let Node { die, kind, ticket, .. } = *node;
            self.arrive(index, die, kind, ticket);
        }
    }

    /// An operation joins its die's queue, at the end.
    #[inline(always)]
    pub(super) fn arrive(&mut self, index: u32, die: u32, kind: Kind, ticket: u64) {
        let service = self.service[kind.op()];
        let d = &mut self.dies[die as usize];
        if d.ticket == 0 {
            let channel = d.take(kind, ticket, self.now + service);
            self.start(die, channel, kind);
            return;
        }
        d.backlog += service;
        let last = std::mem::replace(&mut d.tail, index);
        if d.head == NONE {
            d.head = index;
        } else {
            self.tickets.slab.get_mut(last).next = index;
        }
    }

    /// A die begins with the operation that it took.
    #[inline(always)]
    fn start(&mut self, die: u32, channel: u32, kind: Kind) {
        let op = kind.op();
        if op == Op::Program as usize {
            self.request(die, channel, kind, LOAD);
        } else if self.length[COMMAND] != 0 {
            self.request(die, channel, kind, COMMAND);
        } else {
            self.lanes.push(CELL + op, self.now + self.cell_after[op], die, die);
        }
    }

    /// A die wants its channel from now on.
    #[inline(always)]
    fn request(&mut self, die: u32, channel: u32, kind: Kind, lane: usize) {
        let c = &self.channels[channel as usize];
        let idle = !c.wake && c.free_at <= self.now;
        // Nothing else happens at this instant, so nothing can have an older claim. (What waits for an idle
        // channel is among the ungranted.)
        let alone =
            self.tickets.arrivals.len() | self.ungranted.len() == 0 && lanes::time_of(self.lanes.next()) > self.now;
        if idle && alone {
            self.occupy(die, channel, kind, lane);
        } else {
            self.wait_for_bus(die, channel, lane);
        }
    }

    /// A die gets its channel.
    #[inline(always)]
    fn occupy(&mut self, die: u32, channel: u32, kind: Kind, lane: usize) {
        let length = self.length[lane];
        let c = &mut self.channels[channel as usize];
        c.free_at = self.now + length;
        c.wake = lane == TRANSFER || kind == Kind::ProgramLoaded || c.head != c.tail || length == 0;
        if c.wake {
            self.lanes.push(lane, self.now + length, self.dies.len() as u32 + channel, die);
        }
        if lane != TRANSFER {
            // Nothing can delay the cell phase any more: its end is known.
            let op = kind.op();
            self.lanes.push(CELL + op, self.now + self.cell_after[op], die, die);
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
    pub(super) fn grant(&mut self, channel: u32) {
        let c = &mut self.channels[channel as usize];
        if c.wake || c.free_at > self.now || c.head == c.tail {
            return;
        }
        let die = u32::from(c.waiting[c.head as usize % DIES_PER_CHANNEL]) * self.channel_count + channel;
        c.head = c.head.wrapping_add(1);
        let d = &mut self.dies[die as usize];
        d.end += self.now - d.requested;
        d.requested = NEVER;
        let (kind, lane) = (d.kind, usize::from(d.bus));
        self.occupy(die, channel, kind, lane);
    }
}
