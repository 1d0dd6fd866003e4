//! Copies: a valid page is read and programmed elsewhere, over the channel or inside its plane.

use super::clock::{OpClass, OpTarget};
use super::{Flash, Media, Release, Ticket};
use crate::ledger::{Cause, Op};
use crate::types::{Nanos, Pbn, Ppn};

impl Flash {
    /// Pages that are copied inside a plane are not transferred from now on (`device.commands.copy_back`).
    pub const fn use_copy_back(&mut self) {
        self.copy_back = true;
    }

    /// Reads the valid page `from` and programs it to `to`, contents and version kept; `from` becomes invalid.
    #[expect(
        clippy::inline_always,
        reason = "collection looks at the page before: what it read need not be read again"
    )]
    #[inline(always)]
    pub fn copy(&mut self, from: Ppn, to: Ppn, cause: Cause, after: Ticket) -> Ticket {
        assert!(self.is_valid(from), "copy of page {} that is not valid", from.0);
        if self.copy_back && self.is_inside(from, to, cause) {
            return self.copy_inside(from, to, cause, after);
        }
        let source = self.sense(from);
        let read = self.operate(Op::Read, source, from, cause, Release::Done, after);
        let target = self.carry_over(from, to);
        let done = self.operate(Op::Program, target, to, cause, Release::Done, read);
        self.invalidate_in(source, from);
        done
    }

    /// The same inside a plane.
    #[inline(never)]
    fn copy_inside(&mut self, from: Ppn, to: Ppn, cause: Cause, after: Ticket) -> Ticket {
        let source = self.sense(from);
        let read = self.operate_inside(Op::Read, source, from, cause, after);
        let target = self.carry_over(from, to);
        let done = self.operate_inside(Op::Program, target, to, cause, read);
        self.invalidate_in(source, from);
        done
    }

    /// What is in one page is in another one as well; its block.
    #[expect(
        clippy::inline_always,
        reason = "both ways to copy stay one function each: no call is added to the usual one"
    )]
    #[inline(always)]
    fn carry_over(&mut self, from: Ppn, to: Ppn) -> Pbn {
        if self.times.is_some() && self.is_slc(self.block_of(from)) {
            self.ledger.slc_pages_folded += 1;
        }
        let pbn = self.block_of(to);
        if self.media == Media::Memory {
            let (oob, data) = (self.oob(from), self.bytes(from).to_vec());
            self.program_cells(to, pbn, oob, &data);
        } else {
            self.set_programmed(to, pbn, self.cells.owner.at(from.index()));
        }
        pbn
    }

    /// True if a copy stays in its plane, and its read and its program are of one class: they are one piece of work for a die.
    #[inline(never)]
    const fn is_inside(&self, from: Ppn, to: Ppn, cause: Cause) -> bool {
        let [read, program] = [OpClass::of(Op::Read, cause), OpClass::of(Op::Program, cause)];
        read as u8 == program as u8 && self.geometry.plane(from) == self.geometry.plane(to)
    }

    /// Half of a copy inside a plane: the channel carries its command only.
    #[inline(never)]
    fn operate_inside(&mut self, op: Op, pbn: Pbn, ppn: Ppn, cause: Cause, after: Ticket) -> Ticket {
        let mut cells = Nanos::ZERO;
        let mut service = self.clock.service(op) - self.clock.channel_time(op) + self.clock.channel_time(Op::Erase);
        if self.times.is_some() {
            (cells, service) = self.times_of(op, pbn, ppn, true);
        }
        self.ledger.add(op, cause, service.0);
        let target = OpTarget { page: ppn, cause, cells, inside: true };
        self.clock.issue_for(target, self.by_die.remainder(pbn.0), op, after, Release::Done)
    }
}
