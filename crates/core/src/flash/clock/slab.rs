//! Everything that waits: one slab of nodes of 32 bytes and what a timing model adds to them, linked by index.

#![expect(clippy::inline_always, reason = "measured: calls between the steps of one event cost a fifth of its time")]

use super::{PENDING, Ticket};

/// No node, no die.
pub(super) const NONE: u32 = u32::MAX;

/// A ticket is `PENDING | sequence << INDEX_BITS | index`. The sequence grows with every node handed out, so it is both
/// the issue order and what tells a ticket from a later one with the same index.
const INDEX_BITS: u32 = 23;
const STEP: u64 = 1 << INDEX_BITS;

/// The index in the bits of a ticket.
#[inline]
pub(super) const fn index_of(ticket: u64) -> u32 {
    (ticket & (STEP - 1)) as u32
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    Read = 0,
    Program = 1,
    Erase = 2,
    /// Resolves with the ticket it waits for and the one in `data`.
    Join = 3,
    /// A program whose ticket resolves at the end of its transfer. (The two low bits are those of a program.) In `data` is the
    /// ticket that resolves at its end, if there is one.
    ProgramLoaded = 5,
    /// Reports the token in `data`.
    Watch = 7,
}

impl Kind {
    /// Row in the tables by operation, which is the number of [`crate::ledger::Op`].
    #[inline]
    pub(super) const fn op(self) -> usize {
        self as usize & 3
    }

    /// It has room for the token of its watcher.
    #[inline]
    pub(super) const fn takes_token(self) -> bool {
        (self as u8) < Self::Join as u8
    }
}

/// Something that waits, or the operation that a die executes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node<X> {
    /// The bits of its ticket; 0 when the place is free, which no ticket is.
    pub(super) ticket: u64,
    pub(super) data: u64,
    /// Next in the list that the node is on: a die's queue, the waiters of another node, or the free places.
    pub(super) next: u32,
    /// First node that waits for this one.
    pub(super) waiters: u32,
    pub(super) die: u32,
    pub(super) kind: Kind,
    /// Queued or executing on its die.
    pub(super) arrived: bool,
    /// An operation that reports the token in `data` when its ticket resolves.
    pub(super) watched: bool,
    /// What else a timing model must know of it.
    pub(super) more: X,
}

/// The nodes. Free ones are linked, so that the last one used is the next one handed out.
#[derive(Clone, Debug)]
pub(super) struct Slab<X> {
    nodes: Vec<Node<X>>,
    /// First free node.
    free: u32,
    /// Next sequence number, shifted to its place in a ticket.
    sequence: u64,
}

impl<X: Copy + Default> Slab<X> {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), free: NONE, sequence: PENDING }
    }

    /// Nodes, free ones included.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline(always)]
    pub(super) fn get(&self, index: u32) -> &Node<X> {
        &self.nodes[index as usize]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, index: u32) -> &mut Node<X> {
        &mut self.nodes[index as usize]
    }

    /// A new node: its index and its ticket.
    #[inline(always)]
    pub(super) fn allocate(&mut self, kind: Kind, die: u32, data: u64, arrived: bool) -> (u32, u64) {
        self.allocate_for(kind, die, data, arrived, X::default())
    }

    /// The same, with what the model knows of it from the start.
    #[inline(always)]
    pub(super) fn allocate_for(&mut self, kind: Kind, die: u32, data: u64, arrived: bool, more: X) -> (u32, u64) {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let ticket = self.sequence | u64::from(index);
        self.sequence = self.sequence.checked_add(STEP).expect("2^40 tickets are enough for one run");
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        *node = Node { ticket, data, next: NONE, waiters: NONE, die, kind, arrived, watched: false, more };
        (index, ticket)
    }

    #[cold]
    fn grow(&mut self) {
        let old = self.nodes.len();
        let new = (old * 2).clamp(64, 1 << INDEX_BITS);
        assert!(
            new > old,
            "one flush or request asks for more than 2^{INDEX_BITS} flash operations at once: take a smaller ram.dram, shorter \
             blocks or an FTL that does not merge whole blocks for a page"
        );
        let (kind, next) = (Kind::Watch, NONE);
        let (waiters, die, more) = (NONE, NONE, X::default());
        let node = Node { ticket: 0, data: 0, next, waiters, die, kind, arrived: false, watched: false, more };
        self.nodes.resize(new, node);
        for index in (old..new).rev() {
            self.nodes[index].next = std::mem::replace(&mut self.free, index as u32);
        }
    }

    /// Frees a node and returns what it was.
    #[inline(always)]
    pub(super) fn release(&mut self, index: u32) -> Node<X> {
        let node = &mut self.nodes[index as usize];
        let released = *node;
        node.ticket = 0;
        node.next = self.free;
        self.free = index;
        released
    }

    /// True for the ticket of a node that has not resolved.
    #[inline]
    pub(super) fn is_pending(&self, t: Ticket) -> bool {
        !t.is_time() && self.get(index_of(t.0)).ticket == t.0
    }

    /// Puts `node` on the list of what waits for the pending ticket `before`.
    #[inline]
    pub(super) fn wait_for(&mut self, before: u64, node: u32) {
        let waiters = &mut self.get_mut(index_of(before)).waiters;
        let first = std::mem::replace(waiters, node);
        self.get_mut(node).next = first;
    }
}
