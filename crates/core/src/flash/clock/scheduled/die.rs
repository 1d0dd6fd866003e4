//! A die: what its cells do, what its registers hold, and what waits for it.

#![expect(clippy::inline_always, reason = "as in run")]

use super::queues::Queues;
use super::{OpClass, Task};
use crate::flash::clock::slab::{Kind, NONE, Node};

/// The operations that a die executes together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    /// The first of them, linked in their order; of reads, the first one that is not transferred. [`NONE`]: no command.
    pub(super) first: u32,
    pub(super) kind: Kind,
    pub(super) class: OpClass,
    /// What the cells take for all of them, ns, and on how many planes.
    pub(super) cells: u64,
    pub(super) planes: u32,
}

impl Command {
    pub(super) const NO: Self = Self { first: NONE, kind: Kind::Read, class: OpClass::MapRead, cells: 0, planes: 1 };

    /// Leaves none behind.
    #[inline]
    pub(super) const fn take(&mut self) -> Self {
        let command = *self;
        self.first = NONE;
        command
    }
}

/// What the cells of a die do with the command of its data registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cells {
    /// Nothing: there is no such command.
    Idle,
    /// It waits for the channel, or uses it, to be told.
    Command,
    Work,
    /// What they did is being suspended, and with the suspended ones already.
    Suspending,
    /// Its pages are read and wait for the cache registers.
    Done,
}

/// What the cache registers of a die hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Registers {
    Empty,
    /// Pages to program: they wait for the channel, or use it.
    Load,
    /// All of them: they wait for the cells.
    Loaded,
    /// Pages that were read, none of which waits for the channel yet.
    Read,
    /// One of them does, or uses it.
    Transfer,
}

#[derive(Clone, Debug)]
pub(super) struct Die {
    /// The command that the cells execute.
    pub(super) array: Command,
    pub(super) cells: Cells,
    /// The command whose pages are in the cache registers, or are loaded into the only ones if the end of that is not foreseen.
    pub(super) cache: Command,
    pub(super) registers: Registers,
    /// The operation that uses the channel, or wants to.
    pub(super) turn: u32,
    /// Class of what it took, or went on with, last.
    pub(super) class: OpClass,
    pub(super) channel: u32,
    /// Its number among the dies of its channel.
    pub(super) local: u8,
    /// Since when it waits for its channel, if it does.
    pub(super) requested: u64,
    /// End of what the cells do; they may begin later, after the use of the channel that takes so long.
    pub(super) end: u64,
    pub(super) telling: u64,
    /// Since when one of its commands waits for what it does for the other.
    pub(super) since: u64,
    /// The command that is suspended,
    pub(super) suspended: Command,
    /// what its cells still have to do, ns, and since when it is.
    pub(super) rest: u64,
    pub(super) suspended_at: u64,
    /// How long what it programs or erases, or has suspended, was suspended before.
    pub(super) suspended_for: u64,
    /// Service time of what is in the queues, and of what was asked for and is not begun.
    pub(super) backlog: u64,
    pub(super) asked: u64,
    pub(super) queues: Queues,
}

impl Die {
    /// The die with this number, of a device with this many channels.
    pub(super) const fn new(number: u32, channels: u32) -> Self {
        Self {
            array: Command::NO,
            cells: Cells::Idle,
            cache: Command::NO,
            registers: Registers::Empty,
            turn: NONE,
            class: OpClass::MapRead,
            channel: number % channels,
            local: (number / channels) as u8,
            requested: 0,
            end: 0,
            telling: 0,
            since: 0,
            suspended: Command::NO,
            rest: 0,
            suspended_at: 0,
            suspended_for: 0,
            backlog: 0,
            asked: 0,
            queues: Queues::new(),
        }
    }

    /// True if it can take any operation.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.cells == Cells::Idle && self.registers == Registers::Empty
    }

    /// An operation has left its queues; it is the first of its command on its plane, or not.
    #[inline(always)]
    pub(super) const fn begin(&mut self, node: &mut Node<Task>, now: u64, opens: bool) {
        node.next = NONE;
        (node.more.begun, node.more.opens) = (now, opens);
        let service = node.more.service;
        (self.backlog, self.asked) = (self.backlog - service, self.asked - service);
    }

    #[inline]
    pub(super) const fn is_suspended(&self) -> bool {
        self.suspended.first != NONE
    }
}
