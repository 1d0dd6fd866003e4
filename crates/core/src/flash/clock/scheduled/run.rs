//! What happens at an instant, and in which order: the manual page has it in words.

#![expect(
    clippy::inline_always,
    reason = "measured: calls between the steps of one event cost a tenth of the model's time"
)]

use super::die::{Cells, Registers};
use super::events::Who;
use super::task::Hold;
use super::{Scheduled, Task};
use crate::flash::clock::lanes::CELL;
use crate::flash::clock::slab::{Kind, NONE, Node};
use crate::flash::clock::{OpClass, Ticket};
use crate::types::Nanos;

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// Processes every instant up to `to`, or if `wait`, up to the first at which something watched has resolved.
    pub(super) fn run(&mut self, to: u64, wait: bool) {
        loop {
            let time = self.events.next();
            if time > self.now {
                if !self.is_settled() {
                    self.end_instant();
                    continue;
                }
                if time > to || wait && self.tickets.resolved.is_some() {
                    return;
                }
                self.now = time;
            }
            match self.events.take() {
                Who::Timer => self.fire_timer(),
                Who::Resource(who) => self.is_done(who),
            }
        }
    }

    /// A die or a channel is done with what it did.
    #[inline(always)]
    fn is_done(&mut self, who: u32) {
        let channel = who.checked_sub(self.dies.len() as u32);
        if PLAIN {
            let finished = match channel {
                Some(channel) => self.plain_leave_bus(channel),
                None => self.plain_cells_are_done(who),
            };
            if let Some((die, index)) = finished {
                self.plain_finish(die, index);
            }
        } else if let Some(channel) = channel {
            self.leave_bus(channel);
        } else {
            self.cells_are_done(who);
        }
    }

    /// True if nothing is left to do at this instant but its completions.
    #[inline]
    pub(super) fn is_settled(&self) -> bool {
        self.tickets.arrivals.len() | self.idle.len() | self.ungranted.len() == 0
    }

    /// True if dies have yet to choose among what was issued at this instant. Where operations share commands they do so when
    /// all of it is there.
    #[inline]
    pub(super) fn is_to_settle(&self) -> bool {
        !PLAIN && !self.is_settled()
    }

    /// True if nothing at all is left to do at this instant.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.is_settled() && self.events.next() > self.now
    }

    /// This instant has no completions left: what was released joins its queue, idle dies choose, idle channels are granted.
    /// That can bring new completions, if a phase takes no time.
    #[inline(never)]
    pub(super) fn end_instant(&mut self) {
        while !self.tickets.arrivals.is_empty() {
            self.arrive_all();
        }
        // Before the last one chooses nothing else is left.
        while let Some(die) = self.idle.pop() {
            self.choose_of_many(die);
        }
        while let Some(channel) = self.ungranted.pop() {
            self.grant(channel);
        }
    }

    #[inline(never)]
    fn fire_timer(&mut self) {
        if let Some(who) = self.tickets.take_timer() {
            self.tickets.fire(self.now, who);
            self.next_timer();
        }
    }

    fn arrive_all(&mut self) {
        if self.tickets.arrivals.len() > 1 {
            self.tickets.sort_arrivals();
        }
        // What these release in turn joins after them.
        let mut arrivals = std::mem::take(&mut self.tickets.arrivals);
        while let Some(index) = arrivals.pop() {
            self.go_on_released(index);
        }
        if self.tickets.arrivals.is_empty() {
            self.tickets.arrivals = arrivals;
        }
    }

    #[inline(never)]
    fn go_on_released(&mut self, index: u32) {
        self.go_on(index);
    }

    /// What an operation was asked to wait for is over: it joins the queue of its die, unless something on its block must
    /// come first.
    #[inline(always)]
    pub(super) fn go_on(&mut self, index: u32) {
        let Node { more: Task { class, before, reads, inside, .. }, .. } = *self.tickets.slab.get(index);
        let before = Ticket(before);
        let is_pending = self.tickets.slab.is_pending(before);
        if is_pending && self.is_behind(index, before) {
            self.tickets.slab.get_mut(index).more.leans = true;
        } else if is_pending {
            if self.follows(index, before) {
                self.tickets.slab.get_mut(index).more.hold = Hold::Place;
            } else {
                self.tickets.slab.wait_for(before.0, index);
            }
            self.hurry(class, before);
            return;
        }
        if reads > 0 {
            self.tickets.slab.get_mut(index).more.hold = Hold::Reads;
            return;
        }
        let (mut first, mut last) = (index, index);
        if !PLAIN && inside {
            let Some((read, program)) = self.both_halves(index) else { return };
            self.tickets.slab.get_mut(program).arrived = true;
            (first, last) = (read, program);
        }
        self.join_queue(first, last);
    }

    /// An operation joins the queue of its die; `last` is it, or the program that it is copied by inside its plane.
    #[inline(always)]
    fn join_queue(&mut self, index: u32, last: u32) {
        self.joined += 1;
        let node = self.tickets.slab.get_mut(index);
        (node.arrived, node.next) = (true, NONE);
        (node.more.arrived, node.more.order) = (self.now, self.joined);
        let Node { die, kind, more: Task { class, block, issued, loaded, mut in_block, mut service, .. }, .. } = *node;
        let waited = &mut self.waits.of_mut(class).dependency;
        *waited += Nanos(self.now - issued);
        if loaded != NONE {
            self.tickets.slab.get_mut(loaded).arrived = true;
        }
        if last != index {
            service += self.copy_service(index);
            in_block = self.tickets.slab.get(last).more.in_block;
        }
        if in_block != NONE {
            let follower = &mut self.tickets.slab.get_mut(in_block).more;
            if follower.hold == Hold::Place {
                follower.hold = Hold::Nothing;
                self.tickets.arrivals.push(in_block);
            }
        }
        if kind == Kind::Read && self.keeps_order {
            self.leave_read(block);
        }
        let d = &mut self.dies[die as usize];
        d.queues.pass(self.now, d.class, &mut self.waits);
        d.queues.push(&mut self.tickets, index, class);
        d.backlog += service;
        if d.is_idle() {
            self.idle.push(die);
            return;
        }
        if !PLAIN && d.cells == Cells::Work && class.suspends_others() {
            self.suspend(die);
        }
        self.look_for_next(die);
    }

    /// A read is over, or its queue keeps it before the erase of its block.
    #[inline]
    pub(super) fn leave_read(&mut self, block: u32) {
        if let Some(erase) = self.order.leave_read(&mut self.tickets, block) {
            self.tickets.arrivals.push(erase);
        }
    }

    /// A die may take something at the end of this instant, which can be now. The last thing to do for a completion.
    #[inline(always)]
    pub(super) fn is_free(&mut self, die: u32) {
        if self.is_over() {
            self.choose(die);
        } else {
            self.idle.push(die);
        }
    }

    /// An idle die takes the operation whose turn it is, or goes on with the one that it suspended; one that has room for it
    /// takes what follows.
    #[inline(always)]
    fn choose(&mut self, die: u32) {
        // Two operations of one instant may both have found it idle.
        if self.dies[die as usize].is_idle() {
            self.begin_or_resume(die);
            if !self.has_cache() {
                return;
            }
        }
        if self.has_cache() {
            self.follow(die);
        }
        if self.dies[die as usize].registers == Registers::Read {
            self.send_page(die);
        }
    }

    #[inline(never)]
    fn choose_of_many(&mut self, die: u32) {
        if PLAIN {
            // A die that does not share its channel with another one of them gets it at once.
            let channel = self.dies[die as usize].channel;
            let is_alone = self.idle.iter().all(|other| self.dies[*other as usize].channel != channel);
            self.plain_choose(die, is_alone);
        } else {
            self.choose(die);
        }
    }

    #[inline(always)]
    fn begin_or_resume(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.queues.pass(self.now, d.class, &mut self.waits);
        let class = if d.is_suspended() {
            let begun = self.tickets.slab.get(d.suspended.first).more.begun;
            if !d.queues.has_urgent() || self.now - begun >= self.rules.most_wait.0 {
                self.resume(die);
                return;
            }
            d.queues.most_urgent()
        } else if d.queues.is_empty() {
            d.queues.rest();
            return;
        } else {
            let (class, is_overdue) = d.queues.choose(&self.tickets, &self.rules, self.now, self.urgent);
            d.queues.was_overdue = is_overdue;
            class
        };
        self.start(die, class);
    }

    /// A die takes the first operation of a class, with what goes along, into the registers or the cells.
    #[inline(always)]
    pub(super) fn start(&mut self, die: u32, class: OpClass) {
        let command = self.take_command(die, class);
        let d = &mut self.dies[die as usize];
        d.class = class;
        if command.kind == Kind::Program {
            d.registers = Registers::Load;
            *(if self.foresees { &mut d.array } else { &mut d.cache }) = command;
        } else {
            d.array = command;
            if self.command == 0 {
                self.begin_cells(die);
                return;
            }
            d.cells = Cells::Command;
            // What was read before goes out after that.
            d.since = self.now;
        }
        self.request(die, command.first);
    }

    /// The cells of a die begin with what it executes.
    #[inline(always)]
    pub(super) fn begin_cells(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.cells = Cells::Work;
        d.end = self.now + d.array.cells;
        self.events.set(CELL + d.array.kind.op(), die, d.end);
        if d.queues.has_urgent() {
            self.suspend(die);
        }
    }

    /// A read waits: suspends what the cells of a die do, if that is allowed and worth it. There must be a register for the
    /// read: what is suspended keeps one, the next program has the other.
    #[inline(never)]
    fn suspend(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        let Node { kind, more: Task { begun, .. }, .. } = *self.tickets.slab.get(d.array.first);
        let rules = &self.rules;
        if kind == Kind::Read
            || d.registers != Registers::Empty
            || !rules.suspends(kind == Kind::Erase)
            || self.now - begun >= rules.most_wait.0
            || d.end - self.now <= rules.suspend_time.0
        {
            return;
        }
        self.events.cancel(CELL + kind.op(), die);
        // While it was being resumed nothing of the rest was done.
        let rest = d.end - self.now;
        if d.rest != 0 && rest > d.rest {
            // It was still being resumed, which starts over.
            d.suspended_for -= rest - d.rest;
        }
        d.rest = if d.rest == 0 { rest } else { rest.min(d.rest) };
        d.suspended = d.array.take();
        d.suspended_at = self.now;
        d.cells = Cells::Suspending;
        d.end = self.now + rules.suspend_time.0;
        self.events.set_apart(die, d.end);
    }

    #[inline(never)]
    fn resume(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.array = d.suspended.take();
        d.class = d.array.class;
        d.cells = Cells::Work;
        d.end = self.now + self.rules.resume_time.0 + d.rest;
        self.events.set_apart(die, d.end);
        d.suspended_for += self.now - d.suspended_at + self.rules.resume_time.0;
        let (first, class) = (d.array.first, d.class);
        self.waits.of_mut(class).suspensions += self.together(first);
    }

    /// The cells of a die are done with what they did.
    #[inline(always)]
    fn cells_are_done(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        if d.cells == Cells::Suspending {
            d.cells = Cells::Idle;
            self.idle.push(die);
            return;
        }
        if !d.is_suspended() {
            d.rest = 0;
        }
        let (array, registers) = (d.array, d.registers);
        if array.kind != Kind::Read {
            self.finish_command(die);
        } else if self.is_inside(&array) {
            self.program_what_was_read(die);
        } else if registers == Registers::Empty {
            self.pages_are_read(die);
        } else {
            let d = &mut self.dies[die as usize];
            (d.cells, d.since) = (Cells::Done, self.now);
        }
    }
}
