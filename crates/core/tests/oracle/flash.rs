//! The oracle's flash: blocks of pages, a list of free blocks, and one operation at a time.

use std::collections::{BTreeMap, VecDeque};

use nandlab::ledger::{BlockKind, Cause, Op};

use super::counts::Counts;

/// Block and page inside it.
pub type Addr = (usize, usize);

/// What a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owner {
    Data(u32),
    Map(u32),
}

/// A programmed page: one word for every sector.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    pub owner: Owner,
    pub version: u64,
    pub data: Vec<u64>,
    pub valid: bool,
}

/// Nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    pub read: u64,
    pub program: u64,
    pub erase: u64,
    pub transfer: u64,
    pub command: u64,
}

impl Times {
    /// Read, program, erase: cells and channel.
    pub fn service(&self) -> [u64; 3] {
        let Self { read, program, erase, transfer, command } = *self;
        [read + transfer + command, program + transfer + command, erase + command]
    }
}

pub struct Array {
    /// `None` is an erased page.
    pub blocks: Vec<Vec<Option<Page>>>,
    pub erases: Vec<u32>,
    /// First in, first out.
    pub free: VecDeque<usize>,
    pub times: Times,
    /// The admission of the request that is served.
    pub now: u64,
    /// End of the last operation.
    pub idle_at: u64,
    /// Pages of the buffer count as gone when they have left the RAM.
    pub until_transfer: bool,
    /// End of the last program of such a page.
    pub programmed: u64,
    /// When each page from above left the RAM last, by its address.
    pub written: BTreeMap<u32, u64>,
    pub counts: Counts,
    /// When the old copies were read that the pages of a write needed.
    pub old_copies: Vec<u64>,
}

impl Array {
    pub fn new(blocks: usize, pages_per_block: usize, times: Times) -> Self {
        Self {
            blocks: vec![vec![None; pages_per_block]; blocks],
            erases: vec![0; blocks],
            free: (0..blocks).collect(),
            times,
            now: 0,
            idle_at: 0,
            until_transfer: false,
            programmed: 0,
            written: BTreeMap::new(),
            counts: Counts::default(),
            old_copies: Vec::new(),
        }
    }

    pub fn pages_per_block(&self) -> usize {
        self.blocks[0].len()
    }
    pub fn page(&self, at: Addr) -> &Page {
        self.blocks[at.0][at.1].as_ref().expect("a programmed page")
    }
    /// First page that may still be programmed.
    pub fn next(&self, block: usize) -> usize {
        self.blocks[block].iter().rposition(Option::is_some).map_or(0, |last| last + 1)
    }
    pub fn is_full(&self, block: usize) -> bool {
        self.next(block) == self.pages_per_block()
    }
    pub fn programmed(&self, block: usize) -> u64 {
        self.blocks[block].iter().flatten().count() as u64
    }
    pub fn valid(&self, block: usize) -> Vec<Addr> {
        let pages = self.blocks[block].iter().enumerate();
        pages.filter(|(_, page)| page.as_ref().is_some_and(|p| p.valid)).map(|(i, _)| (block, i)).collect()
    }
    pub fn take_free(&mut self) -> usize {
        self.free.pop_front().expect("a free block")
    }

    /// One operation after the other: its start and its end.
    fn operate(&mut self, op: Op, cause: Cause, after: u64) -> (u64, u64) {
        self.counts.operation(op, cause);
        let start = self.idle_at.max(after).max(self.now);
        self.idle_at = start + self.times.service()[op as usize];
        (start, self.idle_at)
    }
    pub fn read(&mut self, at: Addr, cause: Cause, after: u64) -> u64 {
        assert!(self.blocks[at.0][at.1].is_some(), "read of an erased page");
        self.operate(Op::Read, cause, after).1
    }
    pub fn program(&mut self, at: Addr, page: Page, cause: Cause, after: u64) -> u64 {
        assert!(at.1 >= self.next(at.0), "program out of order");
        let owner = page.owner;
        self.blocks[at.0][at.1] = Some(page);
        let (start, end) = self.operate(Op::Program, cause, after);
        let from_buffer = cause == Cause::Host || cause == Cause::Pad;
        let mut left = end;
        if self.until_transfer && from_buffer {
            self.programmed = end;
            left = start + self.times.command + self.times.transfer;
        }
        if let Owner::Data(lpn) = owner
            && from_buffer
        {
            self.written.insert(lpn, left);
        }
        left
    }
    pub fn invalidate(&mut self, at: Addr) {
        let page = self.blocks[at.0][at.1].as_mut().expect("a programmed page");
        assert!(page.valid, "invalidated twice");
        page.valid = false;
    }
    /// Moves a valid page.
    pub fn copy(&mut self, from: Addr, to: Addr, cause: Cause) -> u64 {
        let read = self.read(from, cause, 0);
        let page = self.page(from).clone();
        assert!(page.valid, "copy of a page that nobody needs");
        let done = self.program(to, page, cause, read);
        self.invalidate(from);
        done
    }
    pub fn erase(&mut self, block: usize, kind: BlockKind, cause: Cause) -> u64 {
        assert!(self.valid(block).is_empty(), "erase of valid pages");
        self.blocks[block].iter_mut().for_each(|page| *page = None);
        self.erases[block] += 1;
        self.counts.erases_by_kind[kind as usize] += 1;
        self.free.push_back(block);
        self.operate(Op::Erase, cause, 0).1
    }
}
