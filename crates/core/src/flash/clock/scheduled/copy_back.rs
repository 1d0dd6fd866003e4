//! Copy-back: a page that is moved inside a plane is read into the data register and programmed from there.
//!
//! Its read and its program are two operations that go together: neither joins a queue before both could, the queue holds the
//! read, and the die goes on with the program when the cells have read.

use super::Scheduled;
use super::die::{Cells, Command};
use super::task::{Hold, Task};
use crate::flash::clock::slab::{Kind, NONE, index_of};
use crate::types::Nanos;

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// What an operation takes of its channel.
    #[inline]
    pub(super) fn bus_of(&self, kind: Kind, inside: bool) -> u64 {
        if inside { self.command } else { self.bus[kind.op()] }
    }

    /// The program of a copy was issued; its read has this ticket.
    pub(super) fn pair(&mut self, program: u32, read: u64) {
        let index = index_of(read);
        let class = self.tickets.slab.get(program).more.class;
        let node = self.tickets.slab.get_mut(index);
        let is_read = node.ticket == read && node.kind == Kind::Read && node.more.inside && node.more.class == class;
        assert!(is_read && node.more.partner == NONE, "the program of a copy-back comes after its read");
        node.more.partner = program;
        self.tickets.slab.get_mut(program).more.partner = index;
    }

    /// Nothing but its other half holds back half of a copy. If nothing holds back that: the read and the program.
    pub(super) fn both_halves(&mut self, index: u32) -> Option<(u32, u32)> {
        let node = self.tickets.slab.get_mut(index);
        node.more.hold = Hold::Half;
        let (kind, partner) = (node.kind, node.more.partner);
        if partner == NONE || self.tickets.slab.get(partner).more.hold != Hold::Half {
            return None;
        }
        Some(if kind == Kind::Read { (index, partner) } else { (partner, index) })
    }

    /// What the program of a read keeps its die busy for, if they are a copy inside a plane.
    pub(super) fn copy_service(&self, read: u32) -> u64 {
        let Task { inside, partner, .. } = self.tickets.slab.get(read).more;
        if inside { self.command + self.tickets.slab.get(partner).more.cells } else { 0 }
    }

    /// The cells of a die have read a page that is copied inside its plane.
    #[inline(never)]
    pub(super) fn program_what_was_read(&mut self, die: u32) {
        let Command { first: read, class, .. } = self.dies[die as usize].array.take();
        let program = self.tickets.slab.get(read).more.partner;
        self.finish(die, read, 0);
        self.begin(die, program, true);
        let task = &mut self.tickets.slab.get_mut(program).more;
        task.works = task.cells;
        let Task { issued, cells, .. } = *task;
        self.waits.of_mut(class).dependency += Nanos(self.now - issued);
        let d = &mut self.dies[die as usize];
        d.array = Command { first: program, kind: Kind::Program, class, cells, ..Command::NO };
        if self.command == 0 {
            self.begin_cells(die);
        } else {
            d.cells = Cells::Command;
            self.request(die, program);
        }
    }
}
