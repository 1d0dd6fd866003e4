//! Registers: a die whose cells work can hold pages that come in for its next program, or go out of its last read.

#![expect(
    clippy::inline_always,
    reason = "measured: calls between the steps of one event cost a tenth of the model's time"
)]

use super::die::{Cells, Command, Registers};
use super::{Scheduled, Task};
use crate::flash::clock::slab::{Kind, NONE, Node};
use crate::flash::clock::{OpClass, Ticket};
use crate::types::Nanos;

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// A die has begun a command, or some of its pages have left: with cache registers it may have room for what follows.
    #[inline]
    pub(super) fn look_for_next(&mut self, die: u32) {
        if self.has_cache() {
            self.idle.push(die);
        }
    }

    /// The kind of the operations for which a die has room besides what it does.
    fn room(&self, die: u32) -> Option<Kind> {
        let d = &self.dies[die as usize];
        if d.is_suspended() {
            return None;
        }
        let kind = match (d.cells, d.registers) {
            (Cells::Work, Registers::Empty) if d.array.kind == Kind::Program && !self.is_inside(&d.array) => {
                Kind::Program
            }
            (Cells::Idle, Registers::Read) => Kind::Read,
            // A command goes over the channel before the next page does.
            (Cells::Idle, Registers::Transfer) if self.command == 0 => Kind::Read,
            _ => return None,
        };
        self.commands.caches(kind).then_some(kind)
    }

    /// Takes what follows the command of a die, if it is its turn and there is room.
    #[inline(never)]
    pub(super) fn follow(&mut self, die: u32) {
        let Some(kind) = self.room(die) else { return };
        let queues = &self.dies[die as usize].queues;
        if queues.is_empty() {
            return;
        }
        let (class, is_overdue) = queues.choose(&self.tickets, &self.rules, self.now, self.urgent);
        let first = queues.first(class);
        let Node { kind: next, more: Task { inside, .. }, .. } = *self.tickets.slab.get(first);
        if next != kind || inside || self.waits_for_another(first) {
            return;
        }
        let d = &mut self.dies[die as usize];
        d.queues.pass(self.now, d.class, &mut self.waits);
        d.queues.was_overdue = is_overdue;
        self.start(die, class);
    }

    /// True if a command is half of a copy inside a plane.
    pub(super) fn is_inside(&self, command: &Command) -> bool {
        self.tickets.slab.get(command.first).more.inside
    }

    /// True if an operation is in its queue before what it was asked to wait for is over.
    #[inline]
    pub(super) fn waits_for_another(&self, index: u32) -> bool {
        self.tickets.slab.is_pending(Ticket(self.tickets.slab.get(index).more.read))
    }

    /// The operations of a command have waited since then for what their die did for another class.
    #[inline(never)]
    fn waited(&mut self, command: &Command, since: u64, busy: OpClass) {
        let ns = self.now - since;
        let mut at = command.first;
        while at != NONE {
            let node = self.tickets.slab.get_mut(at);
            at = node.next;
            node.more.on_die += ns;
            self.waits.of_mut(node.more.class).die[busy as usize] += Nanos(ns);
        }
    }

    /// The command of a read or of an erase is over.
    #[inline(never)]
    pub(super) fn command_is_told(&mut self, die: u32) {
        let d = &self.dies[die as usize];
        if d.registers == Registers::Read {
            let (waiting, since, busy) = (d.cache, d.since, d.array.class);
            self.waited(&waiting, since, busy);
            self.idle.push(die);
        }
        self.begin_cells(die);
    }

    /// All pages of a command are in the cache registers.
    #[inline(always)]
    pub(super) fn all_is_loaded(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.since = self.now;
        d.registers = Registers::Loaded;
        if d.cells == Cells::Idle {
            self.program(die);
        }
    }

    /// The cells have time for what is loaded.
    #[inline(always)]
    pub(super) fn program(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.array = d.cache.take();
        d.registers = Registers::Empty;
        self.begin_cells(die);
        self.look_for_next(die);
    }

    #[inline(never)]
    fn program_apart(&mut self, die: u32) {
        self.program(die);
    }

    /// The cells are done with a program or an erase: what is loaded has waited for that.
    #[inline(always)]
    pub(super) fn cells_are_free(&mut self, die: u32, busy: OpClass) {
        let d = &mut self.dies[die as usize];
        d.cells = Cells::Idle;
        if d.registers == Registers::Loaded {
            let (loaded, since) = (d.cache, d.since);
            self.waited(&loaded, since, busy);
            self.program_apart(die);
        } else {
            self.is_free(die);
        }
    }

    /// The pages that the cells have read go into the cache registers.
    #[inline(always)]
    pub(super) fn pages_are_read(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        d.cache = d.array.take();
        (d.cells, d.registers) = (Cells::Idle, Registers::Read);
        if self.has_cache() {
            self.idle.push(die);
        } else {
            self.send_page(die);
        }
    }

    /// A page has left the cache registers.
    #[inline(always)]
    pub(super) fn page_has_left(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        if d.cache.first == NONE {
            d.registers = Registers::Empty;
            if d.cells == Cells::Done {
                let (waiting, since, busy) = (d.array, d.since, d.cache.class);
                self.waited(&waiting, since, busy);
                self.pages_are_read(die);
                return;
            }
        } else {
            d.registers = Registers::Read;
        }
        self.is_free(die);
    }

    /// A die that holds pages that were read, and has nothing to be told, lets the next of them go out.
    #[inline(never)]
    pub(super) fn send_page(&mut self, die: u32) {
        let d = &mut self.dies[die as usize];
        if d.registers == Registers::Read && d.cells != Cells::Command {
            d.registers = Registers::Transfer;
            let page = d.cache.first;
            self.request(die, page);
        }
    }
}
