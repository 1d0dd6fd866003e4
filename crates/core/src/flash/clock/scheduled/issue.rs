//! Operations are issued, and tickets joined.

use super::order::rewrites;
use super::{OpTarget, Scheduled, Task};
use crate::flash::clock::slab::{Kind, NONE, index_of};
use crate::flash::clock::{OpClass, Release, Ticket, Timing};
use crate::ledger::Op;
use crate::types::{Nanos, Ppn};

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// Any operation is issued.
    #[inline(never)]
    pub(super) fn issue_any(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket, release: Release) -> Ticket {
        let OpTarget { page, cause, cells, inside } = target;
        let kind = match op {
            Op::Read => Kind::Read,
            Op::Program => Kind::Program,
            Op::Erase => Kind::Erase,
        };
        let class = OpClass::of(op, cause);
        let contents_of = match op {
            Op::Read => page,
            Op::Program => self.copied_from(cause, after),
            Op::Erase => Ppn::NONE,
        };
        let is_ready = after.0 <= self.now || !self.tickets.slab.is_pending(after) && !after.is_time();
        debug_assert!(!PLAIN || !inside, "this device moves nothing inside a plane");
        let inside = !PLAIN && inside;
        // Host and map reads go before an erase that waits for the die.
        let is_first = class.suspends_others();
        let may_move = op == Op::Read && (is_first || rewrites(cause)) && page.is_some();
        let moved = if is_ready && may_move && !self.keeps_order { self.where_it_is(page, is_first) } else { None };
        let die = moved.map_or(die, |(from, _)| self.die_of(from));
        self.in_flight += 1;
        let cells = if cells == Nanos::ZERO { self.cell[kind.op()] } else { cells.0 };
        let service = self.bus_of(kind, inside) + cells;
        self.dies[die as usize].asked += service;
        let task =
            Task { class, contents_of, cells, service, inside, read: after.0, issued: self.now, ..Task::default() };
        let (index, mut ticket) = self.tickets.slab.allocate_for(kind, die, 0, false, task);
        let mut loaded = NONE;
        if op == Op::Program && release == Release::Transfer {
            let task = Task { class, ..Task::default() };
            (loaded, ticket) = self.tickets.slab.allocate_for(Kind::ProgramLoaded, die, 0, false, task);
            self.tickets.slab.get_mut(index).more.loaded = loaded;
        }
        match moved {
            Some((from, erase)) => self.order.enter_moved_read(&mut self.tickets, index, from, erase),
            None => self.order.enter(&mut self.tickets, index, op, page),
        }
        if loaded != NONE {
            let end = self.tickets.follow(self.tickets.slab.get(index).ticket);
            self.tickets.slab.get_mut(index_of(end.0)).more.class = class;
            self.programmed = self.join(self.programmed, end);
        }
        // The program of a copy-back waits for its read in its own way.
        let is_half = inside && op == Op::Program;
        if is_half {
            self.pair(index, after.0);
        }
        if is_ready || is_half || !self.waits_for(index, after) {
            self.go_on(index);
            if !self.is_settled() && self.commands.are_single() {
                self.end_instant();
            }
        }
        Ticket(ticket)
    }

    /// True if an operation must wait for a ticket (or time), as it then does.
    fn waits_for(&mut self, index: u32, after: Ticket) -> bool {
        if after.is_time() {
            let ticket = self.tickets.slab.get(index).ticket;
            self.tickets.set_timer(after.0, ticket);
            self.next_timer();
            return true;
        }
        if self.is_behind(index, after) {
            self.tickets.slab.get_mut(index).more.leans = true;
            return false;
        }
        self.tickets.slab.wait_for(after.0, index);
        let class = self.tickets.slab.get(index).more.class;
        self.hurry(class, after);
        true
    }

    /// A ticket is over, or the queue of the die keeps its operation before this one.
    #[inline]
    pub(super) fn is_behind(&self, index: u32, before: Ticket) -> bool {
        let first = self.tickets.slab.get(index_of(before.0));
        let second = self.tickets.slab.get(index);
        first.ticket != before.0
            || first.arrived && first.die == second.die && (self.keeps_order || first.more.class == second.more.class)
    }

    /// A program or an erase that the queue will keep behind the one before it on its block, as soon as that is there.
    #[inline]
    pub(super) fn follows(&self, index: u32, before: Ticket) -> bool {
        let first = self.tickets.slab.get(index_of(before.0));
        let second = self.tickets.slab.get(index);
        let same_queue = self.keeps_order || first.more.class == second.more.class;
        second.kind != Kind::Read && first.die == second.die && same_queue
    }

    /// Something of this class waits for a ticket: for the host, everything issued up to that is urgent.
    #[inline]
    pub(super) fn hurry(&mut self, class: OpClass, before: Ticket) {
        let waited_for = self.tickets.slab.get(index_of(before.0)).more.class;
        if class <= OpClass::HostWrite && waited_for > OpClass::HostWrite {
            self.urgent = self.urgent.max(before.0);
        }
    }

    /// Two tickets are joined that may both be pending.
    #[inline(never)]
    pub(super) fn join_any(&mut self, a: Ticket, b: Ticket) -> Ticket {
        let both = self.tickets.join_any(self.now, a, b);
        if both != a && both != b && self.tickets.slab.is_pending(both) {
            let class = |t: Ticket| {
                if self.tickets.slab.is_pending(t) {
                    self.tickets.slab.get(index_of(t.0)).more.class
                } else {
                    OpClass::MapRead
                }
            };
            let least_urgent = class(a).max(class(b));
            self.tickets.slab.get_mut(index_of(both.0)).more.class = least_urgent;
        }
        both
    }
}
