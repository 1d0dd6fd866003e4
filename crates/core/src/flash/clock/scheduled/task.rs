//! What the scheduler knows of each operation.

use crate::flash::clock::OpClass;
use crate::flash::clock::slab::NONE;
use crate::flash::clock::tickets::Tickets;
use crate::types::Ppn;

/// What holds an operation back that no ticket tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Hold {
    #[default]
    Nothing,
    /// The reads of its block; only an erase waits for them.
    Reads,
    /// The operation of its block that comes before it has not joined the queue.
    Place,
    /// The other half of a copy inside a plane.
    Half,
}

/// When an operation began that waits.
pub(super) const NOT_BEGUN: u64 = u64::MAX;

/// What the scheduler knows of an operation; of a combination of tickets, the least urgent class among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) class: OpClass,
    /// What holds it back that no ticket tells.
    pub(super) hold: Hold,
    /// It joined its queue because that keeps it behind something that it waits for.
    pub(super) leans: bool,
    /// Where it is, and the block of that; [`NONE`], which no block is, if it is not known.
    pub(super) page: Ppn,
    pub(super) block: u32,
    /// A read: the page that was asked for. A program: the page whose contents it copies.
    pub(super) contents_of: Ppn,
    /// Next unfinished program or erase of its block.
    pub(super) in_block: u32,
    /// Reads of the block that an erase still waits for.
    pub(super) reads: u32,
    /// Node whose ticket resolves when the page has left the RAM.
    pub(super) loaded: u32,
    /// The other half of a copy inside a plane, once that is known; of an erase, the next unfinished one of its block.
    pub(super) partner: u32,
    /// Ticket of the operation of its block that must be over before it.
    pub(super) before: u64,
    /// When it joined the queue of its die,
    pub(super) arrived: u64,
    /// how many had joined any queue before,
    pub(super) order: u64,
    /// and when the die took it ([`NOT_BEGUN`] before).
    pub(super) begun: u64,
    /// The time that cells are counted to work for it: what they take for the whole command, of the first operation of it.
    pub(super) works: u64,
    /// How long it waited on its die, for the channel or for another command.
    pub(super) on_die: u64,
    /// Ticket, or time, that it was asked to wait for: of a copy, its read.
    pub(super) read: u64,
    /// When it was issued.
    pub(super) issued: u64,
    /// What its cells take, and with them its channel.
    pub(super) cells: u64,
    pub(super) service: u64,
    /// The first on its plane of those that share its command.
    pub(super) opens: bool,
    /// It is half of a copy inside a plane.
    pub(super) inside: bool,
}

impl Default for Task {
    fn default() -> Self {
        Self {
            class: OpClass::default(),
            hold: Hold::Nothing,
            leans: false,
            page: Ppn::NONE,
            block: NONE,
            in_block: NONE,
            reads: 0,
            loaded: NONE,
            contents_of: Ppn::NONE,
            read: 0,
            before: 0,
            issued: 0,
            arrived: 0,
            order: 0,
            begun: NOT_BEGUN,
            cells: 0,
            service: 0,
            works: 0,
            on_die: 0,
            opens: false,
            inside: false,
            partner: NONE,
        }
    }
}

/// Tickets of operations that a scheduler orders.
pub(super) type Waiting = Tickets<Task>;
