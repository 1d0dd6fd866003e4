//! What must come before what on the pages of a block, whoever asks for it.
//!
//! Contents change at once, in the order of the calls; here time catches up. A page is read after it was programmed, the
//! programs of a block go in the order in which they were asked for, a block is erased after all reads and programs of its
//! pages, and programmed again after that.

use super::Waiting;
use crate::divisor::Divisor;
use crate::flash::clock::slab::{NONE, index_of};
use crate::ledger::Op;
use crate::types::Ppn;

/// What is under way on a block.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// Programs and erases that are not finished, in the order in which they were issued: first and last node.
    head: u32,
    tail: u32,
    /// Reads that are not finished and that no erase waits for.
    reads: u32,
}

/// All blocks of an array.
#[derive(Clone, Debug)]
pub(super) struct Order {
    by_block: Divisor,
    blocks: Vec<Block>,
}

impl Order {
    pub(super) fn new(blocks: u32, pages_per_block: u32) -> Self {
        let block = Block { head: NONE, tail: NONE, reads: 0 };
        Self { by_block: Divisor::new(pages_per_block), blocks: vec![block; blocks as usize] }
    }

    /// An operation on a page (an erase: the first page of its block) was issued: enters it, and what it waits for.
    pub(super) fn enter(&mut self, tasks: &mut Waiting, index: u32, op: Op, page: Ppn) {
        if self.blocks.is_empty() || page.is_none() {
            return;
        }
        let number = self.by_block.quotient(page.0);
        let block = &mut self.blocks[number as usize];
        let mut before = 0;
        if op == Op::Read {
            block.reads += 1;
            let mut at = block.head;
            while at != NONE {
                let write = tasks.slab.get(at);
                if write.more.page == page && write.kind.op() == Op::Program as usize {
                    before = write.ticket;
                }
                at = write.more.in_block;
            }
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
        task.page = page;
        task.before = before;
        task.in_block = NONE;
        if op == Op::Erase {
            task.reads = std::mem::take(&mut block.reads);
        }
    }

    /// An operation is over, or has taken its place in a queue that keeps the order. The erase that waited for nothing else.
    pub(super) fn leave_read(&mut self, tasks: &mut Waiting, page: Ppn) -> Option<u32> {
        if self.blocks.is_empty() || page.is_none() {
            return None;
        }
        let block = &mut self.blocks[self.by_block.quotient(page.0) as usize];
        let mut at = block.head;
        while at != NONE {
            let write = tasks.slab.get_mut(at);
            if write.kind.op() == Op::Erase as usize && write.more.reads > 0 {
                write.more.reads -= 1;
                return (write.more.reads == 0 && std::mem::take(&mut write.more.awaits_reads)).then_some(at);
            }
            at = write.more.in_block;
        }
        block.reads -= 1;
        None
    }

    /// A program or an erase is finished: it is the first one of its block.
    pub(super) fn leave_write(&mut self, tasks: &Waiting, ticket: u64, page: Ppn) {
        if self.blocks.is_empty() || page.is_none() {
            return;
        }
        let block = &mut self.blocks[self.by_block.quotient(page.0) as usize];
        assert_eq!(block.head, index_of(ticket), "the writes of a block finish in their order");
        block.head = tasks.slab.get(block.head).more.in_block;
    }
}
