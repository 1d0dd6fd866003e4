//! What happens on the dies of a plain device, where nothing is suspended, cached or moved inside a plane and every operation has
//! a command of its own.
//!
//! The steps are those of `run`, `command`, `channel` and `registers`, as far as such a die takes them, each in one piece: what
//! it looks up it looks up once. W1 with a scheduler takes 13 % fewer instructions so (docs/benchmarks.md).

#![expect(clippy::inline_always, reason = "as in run")]

use super::die::{Cells, Registers};
use super::order::moves;
use super::task::Hold;
use super::{OpTarget, Scheduled, Task};
use crate::flash::clock::lanes::{CELL, LOAD, TRANSFER};
use crate::flash::clock::slab::{Kind, NONE, Node, Slab, index_of};
use crate::flash::clock::{OpClass, Ticket};
use crate::ledger::{Cause, Op};
use crate::types::{Nanos, Ppn};

/// What holds back an operation that is issued, if anything does: a ticket, and the class of what that is. The last program or
/// erase of its block, if there is one, is not over.
#[inline(always)]
fn hold(
    slab: &Slab<Task>,
    task: &mut Task,
    (cause, die, keeps_order): (Cause, u32, bool),
    last: u32,
) -> Option<(u64, OpClass)> {
    // True if the queue of the die keeps this operation behind another one, once that is there.
    let (class, after) = (task.class, Ticket(task.read));
    let is_kept = |other: &Node<Task>| other.die == die && (keeps_order || other.more.class == class);
    let mut held = None;
    if slab.is_pending(after) {
        let first = slab.get(index_of(after.0));
        if task.contents_of.is_none() && first.kind == Kind::Read && moves(cause) {
            task.contents_of = first.more.contents_of;
        }
        held = (!first.arrived || !is_kept(first)).then_some((after.0, first.more.class));
    }
    if last == NONE {
        return held;
    }
    let before = slab.get(last);
    task.before = before.ticket;
    if held.is_none() && !(before.arrived && is_kept(before)) {
        task.hold = if is_kept(before) { Hold::Place } else { Hold::Nothing };
        held = Some((before.ticket, before.more.class));
    }
    held
}

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// An operation is issued, if it is a program, or a read of a block to which nothing is done and that nothing waits for.
    #[inline(always)]
    pub(super) fn plain_issue(&mut self, target: OpTarget, die: u32, op: Op, after: Ticket) -> Option<Ticket> {
        let OpTarget { page, cause, cells, .. } = target;
        let (now, class, slab) = (self.now, OpClass::of(op, cause), &mut self.tickets.slab);
        let (block, under_way) = self.order.find(page)?;
        let last = if under_way.head == NONE { NONE } else { under_way.tail };
        let (kind, contents_of) = match op {
            Op::Read if last == NONE && !class.suspends_others() && !self.keeps_order => (Kind::Read, page),
            Op::Program => (Kind::Program, Ppn::NONE),
            _ => return None,
        };
        if after.is_time() && after.0 > now {
            return None;
        }
        let cells = if cells == Nanos::ZERO { self.cell[kind.op()] } else { cells.0 };
        let service = self.bus[kind.op()] + cells;
        // It joins its queue now, or the last two are set again when it does.
        let (read, issued, arrived, order) = (after.0, now, now, self.joined + 1);
        let times = Task { arrived, order, issued, cells, service, ..Task::default() };
        let mut task = Task { class, page, block, contents_of, read, ..times };
        let held = hold(slab, &mut task, (cause, die, self.keeps_order), last);
        let (index, ticket) = slab.allocate_for(kind, die, 0, held.is_none(), task);
        if kind == Kind::Read {
            under_way.reads += 1;
        } else {
            if last == NONE {
                under_way.head = index;
            } else {
                slab.get_mut(last).more.in_block = index;
            }
            under_way.tail = index;
        }
        self.in_flight += 1;
        match held {
            None => self.plain_join(die, index, class, service),
            Some((first, waited_for)) => {
                self.dies[die as usize].asked += service;
                if task.hold == Hold::Nothing {
                    slab.wait_for(first, index);
                }
                if class <= OpClass::HostWrite && waited_for > OpClass::HostWrite {
                    self.urgent = self.urgent.max(first);
                }
            }
        }
        Some(Ticket(ticket))
    }

    /// An operation joins the queue of its die when it is issued.
    #[inline(always)]
    fn plain_join(&mut self, die: u32, index: u32, class: OpClass, service: u64) {
        self.joined += 1;
        let d = &mut self.dies[die as usize];
        d.queues.pass(self.now, d.class, &mut self.waits);
        d.queues.push(&mut self.tickets, index, class);
        d.backlog += service;
        d.asked += service;
        if d.is_idle() {
            self.plain_take(die, true);
            if !self.is_settled() {
                self.end_instant();
            }
        }
    }

    /// The cells of a die are done: if with a program or an erase, that is over.
    #[inline(always)]
    pub(super) fn plain_cells_are_done(&mut self, die: u32) -> Option<(u32, u32)> {
        let is_over = self.is_over();
        let d = &mut self.dies[die as usize];
        let first = d.array.take().first;
        d.cells = Cells::Idle;
        if d.array.kind != Kind::Read {
            return Some((die, first));
        }
        d.registers = Registers::Transfer;
        (d.cache.first, d.turn) = (first, first);
        let channel = d.channel;
        let c = &mut self.channels[channel as usize];
        if c.busy || c.free_at > self.now || !is_over {
            self.wait_for_channel(die, channel);
        } else {
            (c.busy, c.user) = (true, die);
            self.events.set(TRANSFER, self.dies.len() as u32 + channel, self.now + self.transfer);
        }
        None
    }

    /// The use of a channel ends: if of a page that was read, its read is over.
    #[inline(always)]
    pub(super) fn plain_leave_bus(&mut self, channel: u32) -> Option<(u32, u32)> {
        let c = &mut self.channels[channel as usize];
        c.busy = false;
        let (die, loaded) = (c.user, std::mem::replace(&mut c.loaded, NONE));
        if c.head != c.tail {
            self.ungranted.push(channel);
        }
        if loaded != NONE {
            self.resolve(loaded);
        }
        if die == NONE {
            return None;
        }
        let d = &mut self.dies[die as usize];
        (d.registers, d.cache.first) = (Registers::Empty, NONE);
        Some((die, d.turn))
    }

    /// An operation of a die is over, which takes the next one, now or at the end of this instant.
    #[inline(always)]
    pub(super) fn plain_finish(&mut self, die: u32, index: u32) {
        let Node { kind, watched, data, waiters, more: task, .. } = self.tickets.slab.release(index);
        let op = kind.op();
        self.in_flight -= 1;
        self.finished.count(die, op);
        if task.cells != self.cell[op] {
            let longer = task.cells.cast_signed() - self.cell[op].cast_signed();
            self.finished.took_longer(die, (longer, 0));
        }
        self.waits.of_mut(task.class).latency.record(Nanos(self.now - task.issued));
        if kind != Kind::Read {
            self.order.leave_write(index, kind, &task);
        } else if !self.keeps_order {
            self.leave_read(task.block);
        }
        if watched {
            self.tickets.resolved.push(self.now, data);
        }
        if waiters != NONE && self.tickets.wake(self.now, waiters) {
            self.next_timer();
        }
        if self.is_over() {
            self.plain_take(die, true);
        } else {
            self.idle.push(die);
        }
    }

    /// A die that was idle takes the operation whose turn it is: two operations of one instant may both have found it idle.
    #[inline(always)]
    pub(super) fn plain_choose(&mut self, die: u32, is_alone: bool) {
        if self.dies[die as usize].is_idle() {
            self.plain_take(die, is_alone);
        }
    }

    /// An idle die takes the operation whose turn it is. If it is alone, no other die will ask for its channel at this instant
    /// before channels are granted.
    #[inline(always)]
    fn plain_take(&mut self, die: u32, is_alone: bool) {
        let (now, channels_from) = (self.now, self.dies.len() as u32);
        let d = &mut self.dies[die as usize];
        d.queues.pass(now, d.class, &mut self.waits);
        if d.queues.is_empty() {
            d.queues.rest();
            return;
        }
        let (class, is_overdue) = d.queues.choose(&self.tickets, &self.rules, now, self.urgent);
        let first = d.queues.first(class);
        let node = self.tickets.slab.get_mut(first);
        let service = node.more.service;
        d.queues.pop(class, node.next, service);
        d.queues.was_overdue = is_overdue;
        node.next = NONE;
        (d.backlog, d.asked, d.class) = (d.backlog - service, d.asked - service, class);
        let (kind, cells) = (node.kind, node.more.cells);
        (d.array.first, d.array.kind, d.array.class, d.array.cells) = (first, kind, class, cells);
        if kind == Kind::Erase {
            let (ticket, block) = (node.ticket, node.more.block);
            self.order.begin_erase(ticket, block);
        }
        let mut end = now + cells;
        if kind == Kind::Program || self.command > 0 {
            d.turn = first;
            let channel = d.channel;
            let c = &mut self.channels[channel as usize];
            if c.busy || c.free_at > now || c.head != c.tail || !is_alone {
                match kind {
                    Kind::Program => d.registers = Registers::Load,
                    _ => d.cells = Cells::Command,
                }
                self.wait_for_channel(die, channel);
                return;
            }
            d.telling = if kind == Kind::Program { self.transfer + self.command } else { self.command };
            c.free_at = now + d.telling;
            end += d.telling;
            // Nothing waits for the channel, but something may wait for the page to leave the RAM.
            c.loaded = std::mem::replace(&mut node.more.loaded, NONE);
            if c.loaded != NONE {
                (c.busy, c.user) = (true, NONE);
                self.events.set(LOAD, channels_from + channel, c.free_at);
            }
        }
        (d.cells, d.end) = (Cells::Work, end);
        self.events.set(CELL + kind.op(), die, end);
    }
}
