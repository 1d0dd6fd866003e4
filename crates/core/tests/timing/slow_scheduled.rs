//! The scheduled model word by word (its manual page): lists that are searched, nothing clever.

mod choose;
mod command;
mod judge;
mod overlap;
mod time;

use nandlab::flash::clock::{CLASSES, ClockShape, OpClass, OpTarget, Planes, Release, Suspend};
use nandlab::ledger::{Cause, Op};

/// A ticket: all of some operations and a time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct After {
    ops: Vec<usize>,
    at: u64,
    /// The ends of these programs, whose tickets resolve earlier.
    pub ends: Vec<usize>,
    /// It is the ticket of one operation, not a combination.
    pub own: bool,
    /// Least urgent class in it, and its number in the order of issue.
    class: OpClass,
    number: usize,
}

impl After {
    /// A time.
    pub fn at(at: u64) -> Self {
        Self { at, ..Self::default() }
    }
}

#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
enum State {
    /// For its dependency,
    Waiting,
    /// for the operation of its block that comes before it,
    Behind,
    /// for the reads of its block.
    AwaitingReads,
    /// Half of a copy inside a plane: nothing holds it back but the other half.
    AwaitingHalf,
    Queued,
    /// The read that comes before it in the same command is in the queue.
    Attached,
    Executing,
    Suspended,
    Done,
}

#[derive(Clone, Debug)]
pub struct SlowOp {
    pub die: usize,
    pub op: Op,
    pub class: OpClass,
    block: usize,
    release: Release,
    after: After,
    before: Option<usize>,
    /// Page whose contents it copies, or that was asked for.
    copied_from: Option<usize>,
    /// The erase that comes after this read of a page that is being moved.
    erased_by: Option<usize>,
    /// It is such a read.
    pub moved: bool,
    /// It is half of a copy inside a plane, and that is the other half.
    pub inside: bool,
    half: Option<usize>,
    state: State,
    /// What its cells take, and on which plane and unit of its block they are.
    pub cells: u64,
    plane: usize,
    unit: usize,
    /// It is in its queue before what it waits for is over.
    pub leans: bool,
    /// What it took on its die for the others of its command.
    pub company: u64,
    /// How long it waited on its die for another command, by class of that.
    held: [u64; CLASSES],
    /// When its cells began.
    worked: u64,
    number: usize,
    pub issued: u64,
    arrived: u64,
    order: usize,
    started: u64,
    /// What its cells have to do when it goes on, and since when it is suspended.
    rest: u64,
    suspended_at: u64,
    pub suspensions: u64,
    pub suspended: u64,
    channel_wait: u64,
    pub finished: Option<u64>,
    pub resolved: Option<u64>,
}

/// A step of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// Its die uses the channel for an operation so long, which then has left the RAM or is finished.
    Bus(usize, u64),
    /// The cells of all work.
    Cells(u64),
}

/// A command that a die executes.
#[derive(Clone, Debug)]
struct Command {
    ops: Vec<usize>,
    class: OpClass,
    /// What it still has to do, and since when it could go on with that.
    phases: Vec<Phase>,
    ready: u64,
}

#[derive(Clone, Debug)]
struct Die {
    /// The commands that execute, in the order in which they were taken: one, or with cache registers two.
    commands: Vec<Command>,
    /// Something ended on it, or joined its queues: it may take a second one.
    looks: bool,
    /// The operations of a command that is suspended.
    suspended: Vec<usize>,
    /// It is being told to suspend, until then.
    suspending: Option<u64>,
    cells_until: Option<u64>,
    work: [u64; CLASSES],
    served: u64,
    /// What it took last had waited too long.
    was_overdue: bool,
    /// What it did: (from, class). The last one goes on.
    log: Vec<(u64, OpClass)>,
}

pub struct Slow {
    shape: ClockShape,
    pub now: u64,
    pub ops: Vec<SlowOp>,
    /// The page of each.
    pub pages: Vec<usize>,
    dies: Vec<Die>,
    /// (time of the request, operation).
    wants_bus: Vec<Vec<(u64, usize)>>,
    on_bus: Vec<Option<(u64, usize)>>,
    numbers: usize,
    joined: usize,
    urgent: usize,
    /// Reads, and programs, that a die took while it still had another command.
    pub beside: [u64; 2],
    /// The ends of all programs whose tickets resolve earlier.
    pub programmed: After,
}

impl Slow {
    pub fn new(shape: ClockShape) -> Self {
        let die = Die {
            commands: vec![],
            looks: false,
            suspended: vec![],
            suspending: None,
            cells_until: None,
            work: [0; CLASSES],
            served: 0,
            was_overdue: false,
            log: vec![],
        };
        Self {
            shape,
            now: 0,
            ops: vec![],
            pages: vec![],
            dies: vec![die; shape.dies as usize],
            wants_bus: vec![vec![]; shape.channels as usize],
            on_bus: vec![None; shape.channels as usize],
            numbers: 0,
            joined: 0,
            urgent: 0,
            beside: [0; 2],
            programmed: After::default(),
        }
    }

    pub fn dies(&self) -> u32 {
        self.shape.dies
    }

    /// No command serves several operations: what is issued begins at once.
    fn is_single(&self) -> bool {
        let commands = &self.shape.commands;
        self.shape.blocks == 0 || commands.unit_pages == 1 && (commands.planes == Planes::One || self.shape.planes == 1)
    }

    fn keeps_order(&self) -> bool {
        self.shape.scheduler.policy.rule().keeps_order
    }

    fn channel(&self, die: usize) -> usize {
        die % self.shape.channels as usize
    }

    pub fn issue(&mut self, target: OpTarget, die: usize, op: Op, after: &After, release: Release) -> After {
        let OpTarget { page, cause, cells, inside } = target;
        let page = page.0 as usize;
        let t = self.shape.times;
        let usual = [t.page_read.0, t.page_program.0, t.block_erase.0][op as usize];
        let cells = if cells.0 == 0 { usual } else { cells.0 };
        let asked = page;
        let rewrites = matches!(cause, Cause::MapUpdate | Cause::MapEvict);
        let goes_ahead = op == Op::Read && (rewrites || OpClass::of(op, cause) <= OpClass::HostRead);
        let moved = if goes_ahead && self.is_resolved(after) { self.where_it_is(page, !rewrites) } else { None };
        let (page, die) = moved.map_or((page, die), |(at, _)| (at, self.block(at) % self.shape.dies as usize));
        let block = self.block(page);
        let plane = block / self.shape.dies as usize % self.shape.planes as usize;
        let unit = page % self.shape.pages_per_block as usize / self.shape.commands.unit_pages as usize;
        let moves = rewrites || matches!(cause, Cause::Gc | Cause::Merge | Cause::MapGc | Cause::Wear | Cause::Refresh);
        let read = after.ops.first().filter(|id| after.own && self.ops[**id].op == Op::Read);
        let read = read.filter(|id| self.ops[**id].resolved.is_none() && moves && op == Op::Program);
        let copied_from = if op == Op::Read { Some(asked) } else { read.and_then(|id| self.ops[*id].copied_from) };
        let is_before = |id: &usize| {
            let earlier = &self.ops[*id];
            let same = if op == Op::Read { self.pages[*id] == page && earlier.op == Op::Program } else { true };
            earlier.block == block && earlier.op != Op::Read && earlier.finished.is_none() && same
        };
        let before = (0..self.ops.len()).rev().find(is_before).filter(|_| moved.is_none());
        let (id, class) = (self.ops.len(), OpClass::of(op, cause));
        self.numbers += 1;
        self.pages.push(page);
        let ticket = After { ops: vec![id], own: true, class, number: self.numbers, ..After::default() };
        self.ops.push(SlowOp {
            die,
            op,
            class,
            block,
            release,
            before,
            copied_from,
            erased_by: moved.and_then(|(_, erase)| erase),
            moved: moved.is_some(),
            inside,
            half: None,
            state: State::Waiting,
            cells,
            plane,
            unit,
            leans: false,
            company: 0,
            held: [0; CLASSES],
            worked: 0,
            number: self.numbers,
            issued: self.now,
            arrived: 0,
            order: 0,
            started: 0,
            rest: 0,
            suspended_at: 0,
            suspensions: 0,
            suspended: 0,
            channel_wait: 0,
            finished: None,
            resolved: None,
            after: after.clone(),
        });
        if op == Op::Program && release == Release::Transfer {
            self.numbers += 1;
            let end = After { ends: vec![id], class, number: self.numbers, ..After::default() };
            self.programmed = self.join(self.programmed.clone(), end);
        }
        self.first_step(id, inside && op == Op::Program);
        ticket
    }

    /// An operation was issued: it goes on, or waits.
    fn first_step(&mut self, id: usize, is_second_half: bool) {
        let after = self.ops[id].after.clone();
        if is_second_half {
            let read = after.ops[0];
            (self.ops[read].half, self.ops[id].half) = (Some(id), Some(read));
        }
        let is_resolved = self.is_resolved(&after);
        if is_resolved || is_second_half || after.own && self.is_ahead(after.ops[0], id) {
            self.ops[id].leans = !is_resolved;
            self.go_on(id);
            if self.is_single() {
                self.without_completions();
            }
        } else {
            self.hurry(self.ops[id].class, &after);
        }
    }

    fn block(&self, page: usize) -> usize {
        page / self.shape.pages_per_block as usize
    }

    /// The old place of a page that is being moved, and the erase that it has to be read before.
    fn where_it_is(&self, page: usize, before_queue: bool) -> Option<(usize, Option<usize>)> {
        let (mut at, mut until) = (page, self.ops.len());
        loop {
            let is_program = |id: &usize| {
                self.ops[*id].op == Op::Program && self.pages[*id] == at && self.ops[*id].finished.is_none()
            };
            let Some(copy) = (0..until).rev().find(is_program) else { break };
            at = self.ops[copy].copied_from?;
            until = self.ops[copy].after.ops[0];
        }
        if at == page || self.keeps_order() {
            return None;
        }
        let mut erases = (until..self.ops.len()).filter(|id| {
            let o = &self.ops[*id];
            o.op == Op::Erase && o.block == self.block(at)
        });
        let erase = erases.next();
        let begun = |id: usize| matches!(self.ops[id].state, State::Executing | State::Suspended | State::Done);
        let is_late = |id: usize| begun(id) || !before_queue && self.ops[id].state >= State::Queued;
        (!erase.is_some_and(is_late)).then_some((at, erase))
    }

    /// The queue of its die keeps the first before the second.
    fn is_ahead(&self, first: usize, second: usize) -> bool {
        let (a, b) = (&self.ops[first], &self.ops[second]);
        a.state >= State::Queued && a.die == b.die && (self.keeps_order() || a.class == b.class)
    }

    fn hurry(&mut self, class: OpClass, after: &After) {
        if !self.is_resolved(after) && class <= OpClass::HostWrite && after.class > OpClass::HostWrite {
            self.urgent = self.urgent.max(after.number);
        }
    }

    pub fn watch(&mut self, after: &After) {
        self.hurry(OpClass::HostWrite, after);
    }

    /// Whoever joins something with what has resolved gets that something.
    pub fn join(&mut self, a: After, b: After) -> After {
        if a == b || self.is_resolved(&b) {
            return a;
        }
        if self.is_resolved(&a) {
            return b;
        }
        let class = [&a, &b].into_iter().filter(|t| !self.is_resolved(t)).map(|t| t.class).max().unwrap_or_default();
        let mut ops = [a.ops, b.ops].concat();
        ops.retain(|&id| self.ops[id].resolved.is_none());
        self.numbers += 1;
        let mut ends = [a.ends, b.ends].concat();
        ends.retain(|&id| self.ops[id].finished.is_none());
        After { ops, at: a.at.max(b.at), ends, own: false, class, number: self.numbers }
    }

    fn is_resolved(&self, after: &After) -> bool {
        let ends = after.ends.iter().all(|id| self.ops[*id].finished.is_some());
        ends && after.at <= self.now && after.ops.iter().all(|id| self.ops[*id].resolved.is_some())
    }

    /// Its dependency is met.
    fn go_on(&mut self, id: usize) {
        self.ops[id].state = State::Behind;
        let before = self.ops[id].before.filter(|before| self.ops[*before].finished.is_none());
        let is_behind = before.is_some_and(|before| self.is_ahead(before, id));
        self.ops[id].leans |= is_behind;
        if let Some(before) = before.filter(|_| !is_behind) {
            let (class, number) = (self.ops[before].class, self.ops[before].number);
            if self.ops[id].class <= OpClass::HostWrite && class > OpClass::HostWrite {
                self.urgent = self.urgent.max(number);
            }
            return;
        }
        self.await_reads(id);
    }

    fn await_reads(&mut self, id: usize) {
        self.ops[id].state = State::AwaitingReads;
        if self.reads_have_left(id) {
            self.arrive(id);
        }
    }

    /// An erase need not wait for reads of its block any more.
    fn reads_have_left(&self, id: usize) -> bool {
        let has_left = |o: &SlowOp| o.finished.is_some() || self.keeps_order() && o.state >= State::Queued;
        let mut earlier = self.ops[..id].iter().filter(|o| o.op == Op::Read && o.block == self.ops[id].block);
        let mut moved = self.ops.iter().filter(|o| o.erased_by == Some(id));
        self.ops[id].op != Op::Erase || earlier.all(has_left) && moved.all(|o| o.finished.is_some())
    }

    fn arrive(&mut self, id: usize) {
        let mut id = id;
        if self.ops[id].inside {
            self.ops[id].state = State::AwaitingHalf;
            let Some(half) = self.ops[id].half.filter(|half| self.ops[*half].state == State::AwaitingHalf) else {
                return;
            };
            let program = id.max(half);
            self.ops[program].state = State::Attached;
            id = id.min(half);
        }
        let (die, class) = (self.ops[id].die, self.ops[id].class);
        if !self.ops.iter().any(|o| o.state == State::Queued && o.die == die && o.class == class) {
            let Die { work, served, .. } = &mut self.dies[die];
            work[class as usize] = work[class as usize].max(*served);
        }
        self.joined += 1;
        let op = &mut self.ops[id];
        (op.state, op.arrived, op.order) = (State::Queued, self.now, self.joined);
        self.dies[die].looks = true;
        if class <= OpClass::HostRead {
            self.suspend(die);
        }
    }

    /// A read waits for the die: what its cells do is suspended if that is allowed and worth it.
    fn suspend(&mut self, die: usize) {
        let rules = self.shape.scheduler;
        let Some(until) = self.dies[die].cells_until else { return };
        // The next program has the register that the read would need.
        let [Command { ops, .. }] = &self.dies[die].commands[..] else { return };
        let (op, ops) = (&self.ops[ops[0]], ops.clone());
        let allowed = match op.op {
            Op::Read => false,
            Op::Program => rules.suspend == Suspend::EraseAndProgram,
            Op::Erase => rules.suspend != Suspend::None,
        };
        let left = until - self.now;
        if !allowed || self.now - op.started >= rules.most_wait.0 || left <= rules.suspend_time.0 {
            return;
        }
        let rest = if op.rest == 0 { left } else { left.min(op.rest) };
        let d = &mut self.dies[die];
        (d.suspended, d.cells_until) = (ops, None);
        d.suspending = Some(self.now + rules.suspend_time.0);
        d.commands.clear();
        for id in d.suspended.clone() {
            let op = &mut self.ops[id];
            // What is left of resuming it starts over.
            op.suspended -= left - rest;
            (op.state, op.rest, op.suspended_at) = (State::Suspended, rest, self.now);
        }
    }
}
