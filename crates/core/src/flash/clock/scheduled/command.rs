//! Commands: the operations that a die executes together, from when it takes them to their end.

#![expect(
    clippy::inline_always,
    reason = "measured: calls between the steps of one event cost a tenth of the model's time"
)]

use super::die::Command;
use super::{ClockShape, OpClass, Scheduled, Task};
use crate::divisor::Divisor;
use crate::flash::clock::Planes;
use crate::flash::clock::slab::{Kind, NONE, Node};
use crate::ledger::Op;
use crate::types::{Nanos, Ppn};

/// Operations of a queue that are looked at for each that a command can have.
const LOOK_AHEAD: u32 = 4;

/// Which operations go with each other.
#[derive(Clone, Debug)]
pub(super) struct Commands {
    /// Most operations of one command.
    most: u32,
    planes: Planes,
    has_cache: bool,
    cache_read: bool,
    cache_program: bool,
    by_block: Divisor,
    by_unit: Divisor,
    by_die: Divisor,
    by_plane: Divisor,
}

/// Where a page lies, as commands see it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    plane: u32,
    block: u32,
    /// Number of its unit in the block.
    unit: u32,
}

impl Commands {
    pub(super) fn new(shape: &ClockShape) -> Self {
        let planes = if shape.commands.planes == Planes::One { 1 } else { shape.planes };
        // Without an array it is not known where an operation belongs.
        let most = if shape.blocks == 0 { 1 } else { planes * shape.commands.unit_pages };
        Self {
            most,
            planes: shape.commands.planes,
            has_cache: shape.commands.cache_read || shape.commands.cache_program,
            cache_read: shape.commands.cache_read,
            cache_program: shape.commands.cache_program,
            by_block: Divisor::new(shape.pages_per_block),
            by_unit: Divisor::new(shape.commands.unit_pages),
            by_die: Divisor::new(shape.dies),
            by_plane: Divisor::new(shape.planes),
        }
    }

    /// True if every operation has a command of its own.
    pub(super) const fn are_single(&self) -> bool {
        self.most == 1
    }

    /// True if operations of any kind may begin while the die still has another command.
    #[inline]
    pub(super) const fn has_cache(&self) -> bool {
        self.has_cache
    }

    /// True if those of a kind may.
    pub(super) fn caches(&self, kind: Kind) -> bool {
        if kind == Kind::Read { self.cache_read } else { self.cache_program }
    }

    fn place(&self, page: Ppn) -> Place {
        let block = self.by_block.quotient(page.0);
        let unit = self.by_unit.quotient(self.by_block.remainder(page.0));
        Place { plane: self.by_plane.remainder(self.by_die.quotient(block)), block, unit }
    }

    /// If a page of a `kind` goes with those of a command, whether it is the first one on its plane.
    fn goes_with(&self, kind: Kind, mut command: impl Iterator<Item = Place>, place: Place) -> Option<bool> {
        let first = command.next().expect("a command has an operation");
        let others = match self.planes {
            Planes::One => false,
            Planes::SamePage => kind == Kind::Erase || first.unit == place.unit,
            Planes::AnyPage => true,
        };
        match std::iter::once(first).chain(command).find(|other| other.plane == place.plane) {
            Some(same_plane) => (kind != Kind::Erase && same_plane == place).then_some(false),
            None => others.then_some(true),
        }
    }
}

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// A die takes the first operation of a class, and what goes with it.
    #[inline(always)]
    pub(super) fn take_command(&mut self, die: u32, class: OpClass) -> Command {
        let d = &mut self.dies[die as usize];
        let first = d.queues.first(class);
        let node = self.tickets.slab.get_mut(first);
        let Node { kind, next, ticket, more: Task { block, cells, service, inside, .. }, .. } = *node;
        d.begin(node, self.now, true);
        node.more.works = cells;
        d.queues.pop(class, next, service);
        if kind == Kind::Erase {
            self.order.begin_erase(ticket, block);
        }
        let mut command = Command { first, kind, class, cells, planes: 1 };
        if inside {
            let program = self.copy_service(first);
            self.dies[die as usize].queues.works_longer(class, program);
        } else if self.commands.most > 1 {
            (command.cells, command.planes) = self.take_company(die, command);
        }
        command
    }

    /// Takes what goes with the first operation of a command out of the queue; what the cells take, and on how many planes.
    /// Reads that wait for nothing in the queue may pass what does not go along: a queue of copies has a program behind every
    /// read.
    #[inline(never)]
    fn take_company(&mut self, die: u32, mut command: Command) -> (u64, u32) {
        let Command { first, kind, class, .. } = command;
        let follows = !self.dies[die as usize].is_idle();
        let (mut last, mut count) = (first, 1);
        let (mut passed, mut at) = (NONE, self.dies[die as usize].queues.first_if_any(class));
        for _ in 0..LOOK_AHEAD * self.commands.most {
            let Some(next) = at.filter(|_| count < self.commands.most) else { break };
            let node = *self.tickets.slab.get(next);
            at = (node.next != NONE).then_some(node.next);
            let may_follow = !follows || !self.waits_for_another(next);
            let opens = self.opens(die, first, next, passed != NONE).filter(|_| may_follow);
            let Some(opens) = opens else {
                if kind != Kind::Read || self.keeps_order {
                    break;
                }
                passed = next;
                continue;
            };
            let data = if kind == Kind::Erase { 0 } else { self.transfer };
            let service = data + if opens { self.command } else { 0 };
            self.dies[die as usize].queues.take_along(&mut self.tickets, class, (passed, next), service);
            command.cells = command.cells.max(node.more.cells);
            command.planes += u32::from(opens);
            self.begin(die, next, opens);
            self.tickets.slab.get_mut(last).next = next;
            (last, count) = (next, count + 1);
        }
        self.tickets.slab.get_mut(first).more.works = command.cells;
        (command.cells, command.planes)
    }

    /// If an operation goes with a command, whether it is the first on its plane.
    fn opens(&self, die: u32, first: u32, next: u32, passes: bool) -> Option<bool> {
        let kind = self.tickets.slab.get(first).kind;
        let Node { kind: other, more: Task { page, reads, leans, inside, .. }, .. } = *self.tickets.slab.get(next);
        let queues = &self.dies[die as usize].queues;
        let overtakes = self.keeps_order && !queues.is_oldest(&self.tickets, next);
        if other != kind || reads > 0 || overtakes || inside || passes && leans {
            return None;
        }
        let command = self.command_from(first).map(|(_, node)| self.commands.place(node.more.page));
        self.commands.goes_with(kind, command, self.commands.place(page))
    }

    /// An operation has left the queue of its die.
    pub(super) fn begin(&mut self, die: u32, index: u32, opens: bool) {
        let node = self.tickets.slab.get_mut(index);
        self.dies[die as usize].begin(node, self.now, opens);
        let Node { kind, ticket, more: Task { block, .. }, .. } = *node;
        if kind == Kind::Erase {
            self.order.begin_erase(ticket, block);
        }
    }

    /// The operations of a command from one of them on.
    fn command_from(&self, first: u32) -> impl Iterator<Item = (u32, &Node<Task>)> {
        let mut at = first;
        std::iter::from_fn(move || {
            let node = (at != NONE).then(|| (at, self.tickets.slab.get(at)))?;
            at = node.1.next;
            Some(node)
        })
    }

    /// How many they are.
    pub(super) fn together(&self, first: u32) -> u64 {
        self.command_from(first).count() as u64
    }

    /// What a die does for a command after its cells: it transfers what they have read, or programs it.
    pub(super) fn after_cells(&self, command: &Command) -> u64 {
        if command.kind != Kind::Read || command.first == NONE {
            0
        } else if self.is_inside(command) {
            self.copy_service(command.first)
        } else {
            self.transfer * self.together(command.first)
        }
    }

    /// Time of the pages of a command from one of them on, which its die has yet to load.
    pub(super) fn loads_left(&self, first: u32) -> u64 {
        self.command_from(first).map(|(at, _)| self.load(at)).sum()
    }

    /// Time of one page that is loaded.
    pub(super) fn load(&self, at: u32) -> u64 {
        self.transfer + if PLAIN || self.tickets.slab.get(at).more.opens { self.command } else { 0 }
    }

    /// The programs or erases of a command are done.
    #[inline(always)]
    pub(super) fn finish_command(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        let Command { first, class, .. } = d.array.take();
        let suspended_for = std::mem::take(&mut d.suspended_for);
        let mut at = first;
        while at != NONE {
            let next = self.tickets.slab.get(at).next;
            self.finish(die, at, suspended_for);
            at = next;
        }
        self.cells_are_free(die, class);
    }

    /// An operation is done that was suspended for this long.
    #[inline(always)]
    pub(super) fn finish(&mut self, die: u32, index: u32, suspended: u64) {
        self.in_flight -= 1;
        let Node { kind, more: task, .. } = self.tickets.slab.get(index);
        let (kind, block) = (*kind, task.block);
        self.finished.count(die, kind.op());
        let cell = self.cell[kind.op()];
        if task.works != cell || task.inside || !task.opens {
            let transfer = if task.inside { self.transfer } else { 0 };
            let saved = (transfer + if task.opens { 0 } else { self.command }).cast_signed();
            self.finished.took_longer(die, (task.works.cast_signed() - cell.cast_signed() - saved, -saved));
        }
        let waits = self.waits.of_mut(task.class);
        waits.latency.record(Nanos(self.now - task.issued));
        waits.suspended += Nanos(suspended);
        waits.company += Nanos(self.now - task.begun - task.service - task.on_die - suspended);
        if kind.op() != Op::Read as usize {
            self.order.leave_write(index, kind, task);
        } else if !self.keeps_order {
            self.leave_read(block);
        }
        self.resolve(index);
    }
}
