//! What must come before what on the pages of a block, whatever asks for it.
//!
//! Contents change at once, in the order of the calls; here time catches up. A page is read after it was programmed, the
//! programs of a block go in the order in which they were asked for, a block is erased after all reads and programs of its
//! pages, and programmed again after that.

use super::task::Hold;
use super::{Scheduled, Task, Waiting};
use crate::divisor::Divisor;
use crate::flash::clock::Ticket;
use crate::flash::clock::slab::{Kind, NONE, Node, index_of};
use crate::ledger::{Cause, Op};
use crate::types::Ppn;

/// What is under way on a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    /// Programs and erases that are not finished, in the order in which they were issued: first and last node.
    pub(super) head: u32,
    pub(super) tail: u32,
    /// Reads that are not finished and that no erase waits for.
    pub(super) reads: u32,
}

/// The erases of a block, and the program that a read of it waited for last: what plain programs and reads need not look at.
#[derive(Clone, Copy, Debug)]
struct Erases {
    /// First and last of the erases that are not finished.
    first: u32,
    last: u32,
    /// Ticket of the erase that began last.
    began: u64,
    /// Ticket of the program that was looked for last: blocks are read in ascending order, and the next one follows it.
    found: u64,
}

/// All blocks of an array.
#[derive(Clone, Debug)]
pub(super) struct Order {
    by_block: Divisor,
    blocks: Vec<Block>,
    erases: Vec<Erases>,
}

impl Order {
    pub(super) fn new(blocks: u32, pages_per_block: u32) -> Self {
        let idle = Block { head: NONE, tail: NONE, reads: 0 };
        let no_erases = Erases { first: NONE, last: NONE, began: 0, found: 0 };
        let (blocks, erases) = (vec![idle; blocks as usize], vec![no_erases; blocks as usize]);
        Self { by_block: Divisor::new(pages_per_block), blocks, erases }
    }

    /// The block of a page, with its number, if there is an array.
    #[inline]
    pub(super) fn find(&mut self, page: Ppn) -> Option<(u32, &mut Block)> {
        let number = self.block_of(page);
        Some((number, self.blocks.get_mut(number as usize)?))
    }

    /// An operation on a page (an erase: the first page of its block) was issued: enters it, and what it waits for.
    pub(super) fn enter(&mut self, tasks: &mut Waiting, index: u32, op: Op, page: Ppn) {
        if self.blocks.is_empty() || page.is_none() {
            return;
        }
        let number = self.block_of(page);
        let mut before = 0;
        if op == Op::Read {
            before = self.program_of(tasks, page).map_or(0, |program| program.ticket);
        }
        let block = &mut self.blocks[number as usize];
        if op == Op::Read {
            block.reads += 1;
        } else {
            let last = std::mem::replace(&mut block.tail, index);
            if block.head == NONE {
                block.head = index;
            } else {
                let last = tasks.slab.get_mut(last);
                last.more.in_block = index;
                before = last.ticket;
            }
        }
        let task = &mut tasks.slab.get_mut(index).more;
        (task.page, task.block) = (page, number);
        task.before = before;
        if op == Op::Erase {
            task.reads = std::mem::take(&mut block.reads);
            let erases = &mut self.erases[number as usize];
            let last = std::mem::replace(&mut erases.last, index);
            if erases.first == NONE {
                erases.first = index;
            } else {
                tasks.slab.get_mut(last).more.partner = index;
            }
        }
    }

    /// A read of a page that is being moved was issued, in its old place; the erase of that block waits for it.
    pub(super) fn enter_moved_read(&mut self, tasks: &mut Waiting, index: u32, page: Ppn, erase: u32) {
        let block = self.block_of(page);
        let task = &mut tasks.slab.get_mut(index).more;
        (task.page, task.block) = (page, block);
        if erase == NONE {
            self.blocks[block as usize].reads += 1;
        } else {
            tasks.slab.get_mut(erase).more.reads += 1;
        }
    }

    /// The program or erase of a page's block that was issued last, if it is not finished.
    pub(super) fn last_write<'a>(&self, tasks: &'a Waiting, page: Ppn) -> Option<&'a Node<Task>> {
        let block = self.blocks.get(self.block_of(page) as usize)?;
        (block.head != NONE).then(|| tasks.slab.get(block.tail))
    }

    /// The unfinished program of the contents that a page has now.
    pub(super) fn program_of<'a>(&mut self, tasks: &'a Waiting, page: Ppn) -> Option<&'a Node<Task>> {
        let number = self.block_of(page);
        let head = self.blocks.get(number as usize)?.head;
        if head == NONE {
            return None;
        }
        let erases = &mut self.erases[number as usize];
        let last_erase = if erases.first == NONE { NONE } else { erases.last };
        let mut program = None;
        if tasks.slab.is_pending(Ticket(erases.found)) {
            let found = tasks.slab.get(index_of(erases.found));
            if last_erase == NONE || found.ticket > tasks.slab.get(last_erase).ticket {
                program = find_program(tasks, index_of(found.ticket), page);
            }
        }
        let since = if last_erase == NONE { head } else { last_erase };
        program = program.or_else(|| find_program(tasks, since, page));
        erases.found = program.map_or(erases.found, |program| program.ticket);
        program
    }

    /// The unfinished program of the contents that a page had just before a ticket was issued.
    fn program_before<'a>(&self, tasks: &'a Waiting, page: Ppn, before: u64) -> Option<&'a Node<Task>> {
        let block = self.blocks.get(self.block_of(page) as usize)?;
        let erase = self.erases(tasks, page).take_while(|erase| erase.ticket < before).last();
        let since = erase.map_or(block.head, |erase| index_of(erase.ticket));
        find_program(tasks, since, page).filter(|program| program.ticket < before)
    }

    /// The first unfinished erase of a page's block that was issued after a ticket; [`NONE`] without one.
    fn erase_after(&self, tasks: &Waiting, page: Ppn, ticket: u64) -> u32 {
        let mut erases = self.erases(tasks, page);
        erases.find(|erase| erase.ticket > ticket).map_or(NONE, |erase| index_of(erase.ticket))
    }

    /// An erase begins.
    pub(super) fn begin_erase(&mut self, ticket: u64, block: u32) {
        if let Some(erases) = self.erases.get_mut(block as usize) {
            erases.began = ticket;
        }
    }

    /// True if an erase of a page's block has begun that was issued after a ticket. Not all FTLs let the erase of a block
    /// wait for all the copies that were taken from it.
    fn was_erased_after(&self, page: Ppn, ticket: u64) -> bool {
        self.erases[self.block_of(page) as usize].began > ticket
    }

    /// Unfinished erases of a page's block, in the order in which they were issued.
    fn erases<'a>(&self, tasks: &'a Waiting, page: Ppn) -> impl Iterator<Item = &'a Node<Task>> {
        let first = self.erases.get(self.block_of(page) as usize).map_or(NONE, |erases| erases.first);
        chain(tasks, first, |erase| erase.partner)
    }

    /// Number of a page's block.
    #[inline]
    pub(super) const fn block_of(&self, page: Ppn) -> u32 {
        self.by_block.quotient(page.0)
    }

    /// An operation is over, or has taken its place in a queue that keeps the order. The erase that waited for nothing else.
    #[inline]
    pub(super) fn leave_read(&mut self, tasks: &mut Waiting, block: u32) -> Option<u32> {
        let under_way = self.blocks.get_mut(block as usize)?;
        if under_way.head == NONE {
            under_way.reads -= 1;
            return None;
        }
        self.leave_read_before_writes(tasks, block)
    }

    /// The same where something else is done to the block.
    #[inline(never)]
    fn leave_read_before_writes(&mut self, tasks: &mut Waiting, block: u32) -> Option<u32> {
        let mut at = self.erases[block as usize].first;
        while at != NONE {
            let erase = &mut tasks.slab.get_mut(at).more;
            if erase.reads > 0 {
                erase.reads -= 1;
                if erase.reads > 0 || erase.hold != Hold::Reads {
                    return None;
                }
                erase.hold = Hold::Nothing;
                return Some(at);
            }
            at = erase.partner;
        }
        self.blocks[block as usize].reads -= 1;
        None
    }

    /// A program or an erase is finished: it is the first one of its block.
    #[inline]
    pub(super) fn leave_write(&mut self, index: u32, kind: Kind, task: &Task) {
        let Some(block) = self.blocks.get_mut(task.block as usize) else { return };
        assert_eq!(block.head, index, "the writes of a block finish in their order");
        block.head = task.in_block;
        if kind == Kind::Erase {
            self.erases[task.block as usize].first = task.partner;
        }
    }
}

/// Nodes from one on, each the one that the one before names.
fn chain(tasks: &Waiting, first: u32, next: fn(&Task) -> u32) -> impl Iterator<Item = &Node<Task>> {
    let mut at = first;
    std::iter::from_fn(move || {
        let node = (at != NONE).then(|| tasks.slab.get(at))?;
        at = next(&node.more);
        Some(node)
    })
}

/// The program of a page, from an unfinished program or erase of its block on and up to the next erase.
fn find_program(tasks: &Waiting, since: u32, page: Ppn) -> Option<&Node<Task>> {
    let is_erase = |write: &Node<Task>| write.kind.op() == Op::Erase as usize;
    let writes = chain(tasks, since, |write| write.in_block).enumerate();
    let programs = writes.take_while(|(n, write)| *n == 0 || !is_erase(write)).map(|(_, write)| write);
    programs.filter(|write| !is_erase(write)).find(|program| program.more.page == page)
}

/// True if what is programmed for it is the contents of another page.
#[inline]
pub(super) const fn moves(cause: Cause) -> bool {
    matches!(cause, Cause::Gc | Cause::Merge | Cause::MapGc | Cause::Wear | Cause::Refresh) || rewrites(cause)
}

/// True if that is a translation page: RAM has its mappings that change until they are programmed.
#[inline]
pub(super) const fn rewrites(cause: Cause) -> bool {
    matches!(cause, Cause::MapUpdate | Cause::MapEvict)
}

impl<const PLAIN: bool> Scheduled<PLAIN> {
    /// Where a page is read that is being moved, if it can be read there now, and the erase that waits for that: with
    /// `before_queue` one that is in the queue of its die too.
    pub(super) fn where_it_is(&mut self, page: Ppn, before_queue: bool) -> Option<(Ppn, u32)> {
        let (mut at, mut before) = (page, 0);
        let mut program = self.order.program_of(&self.tickets, page);
        while let Some(Node { more: Task { contents_of, read, .. }, .. }) = program {
            if contents_of.is_none() {
                return None;
            }
            (at, before) = (*contents_of, *read);
            program = self.order.program_before(&self.tickets, at, before);
        }
        if at == page || self.order.was_erased_after(at, before) {
            return None;
        }
        let erase = self.order.erase_after(&self.tickets, at, before);
        let is_late = !before_queue && erase != NONE && self.tickets.slab.get(erase).arrived;
        (!is_late).then_some((at, erase))
    }

    pub(super) fn die_of(&self, page: Ppn) -> u32 {
        self.order.block_of(page) % self.dies.len() as u32
    }

    /// The page of which a program is a copy: what it waits for is the read of that page, and what moves it leaves its contents
    /// alone.
    pub(super) fn copied_from(&self, cause: Cause, after: Ticket) -> Ppn {
        if !moves(cause) || !self.tickets.slab.is_pending(after) {
            return Ppn::NONE;
        }
        let read = self.tickets.slab.get(index_of(after.0));
        if read.kind == Kind::Read { read.more.contents_of } else { Ppn::NONE }
    }
}
