//! BAST: log blocks that belong to one logical block each. Specs and the manual page of `bast`.

use nandlab::ledger::Cause;

use super::flash::{Addr, Array};
use super::ftl::{Down, Ftl};
use super::ftl_log::Blocks;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Victim {
    Lru,
    Fifo,
    /// The longest of this many chains from the pointer on.
    Longest(usize),
}

pub struct Bast {
    blocks: Blocks,
    /// Log blocks by logical block.
    chains: Vec<Vec<usize>>,
    /// Logical blocks with a chain, in the order in which the chains began.
    ring: Vec<usize>,
    pointer: usize,
    /// When the chain was written last.
    written: Vec<u64>,
    writes: u64,
    log_blocks: usize,
    max_chain: usize,
    partial_merge: bool,
    victim: Victim,
}

impl Bast {
    pub fn new(logical_pages: usize, pages_per_block: usize, log_blocks: usize, max_chain: usize) -> Self {
        let blocks = Blocks::new(logical_pages, pages_per_block);
        let count = blocks.data.len();
        Self {
            blocks,
            chains: vec![Vec::new(); count],
            ring: Vec::new(),
            pointer: 0,
            written: vec![0; count],
            writes: 0,
            log_blocks,
            max_chain,
            partial_merge: true,
            victim: Victim::Lru,
        }
    }
    pub fn with(self, partial_merge: bool, victim: Victim) -> Self {
        Self { partial_merge, victim, ..self }
    }

    fn write_page(&mut self, array: &mut Array, down: &Down, after: u64) -> u64 {
        if let Some(done) = self.blocks.first_write(array, down, after) {
            return done;
        }
        let lbn = self.blocks.lbn(down.lpn);
        if self.chains[lbn].last().is_none_or(|last| array.is_full(*last)) {
            if self.chains[lbn].len() == self.max_chain {
                self.merge(array, lbn);
            }
            if self.chains.iter().map(Vec::len).sum::<usize>() == self.log_blocks {
                let victim = self.pick();
                self.merge(array, victim);
            }
            let fresh = array.take_free();
            if self.chains[lbn].is_empty() {
                self.ring.push(lbn);
            }
            self.chains[lbn].push(fresh);
        }
        let log = *self.chains[lbn].last().expect("a log block");
        let done = self.blocks.log(array, (log, array.next(log)), down, after);
        self.writes += 1;
        self.written[lbn] = self.writes;
        if self.is_switch(array, lbn, log) {
            self.switch(array, lbn);
        }
        done
    }

    /// The log block is complete and in order.
    fn is_switch(&self, array: &Array, lbn: usize, log: usize) -> bool {
        let pages = self.blocks.pages(lbn);
        array.next(log) == pages && self.blocks.holds_in_order(array, log, lbn, pages)
    }

    /// The last log block becomes the data block; what was before it holds nothing any more.
    fn switch(&mut self, array: &mut Array, lbn: usize) {
        array.counts.merges_switch += 1;
        let mut chain = self.end_chain(lbn);
        let last = chain.pop().expect("a log block");
        self.blocks.take_over(array, lbn, last, &chain);
    }

    fn end_chain(&mut self, lbn: usize) -> Vec<usize> {
        if let Some(at) = self.ring.iter().position(|other| *other == lbn) {
            self.ring.remove(at);
            if at < self.pointer {
                self.pointer -= 1;
            }
            if self.pointer == self.ring.len() {
                self.pointer = 0;
            }
        }
        std::mem::take(&mut self.chains[lbn])
    }

    fn merge(&mut self, array: &mut Array, lbn: usize) {
        let chain = &self.chains[lbn];
        let (first, count) = (chain[0], array.next(chain[0]));
        if chain.len() == 1 && self.blocks.holds_in_order(array, first, lbn, count) {
            if count == self.blocks.pages(lbn) {
                return self.switch(array, lbn);
            }
            if self.partial_merge {
                array.counts.merges_partial += 1;
                self.end_chain(lbn);
                self.blocks.copy_rest(array, lbn, first, count, None);
                self.blocks.take_over(array, lbn, first, &[]);
                return;
            }
        }
        self.merge_in_full(array, lbn);
    }

    fn merge_in_full(&mut self, array: &mut Array, lbn: usize) {
        let chain = self.end_chain(lbn);
        let logged: u64 = chain.iter().map(|block| array.programmed(*block)).sum();
        let counts = &mut array.counts;
        counts.merges_full += 1;
        counts.merges_full_lbns += 1;
        counts.merges_full_log_blocks += chain.len() as u64;
        counts.merges_full_log_pages += logged;
        counts.padding_merges += 1;
        counts.padding_data_blocks += 1;
        counts.padding_log_blocks += chain.len() as u64;
        counts.padding_log_pages += logged;
        let fresh = array.take_free();
        self.blocks.copy_rest(array, lbn, fresh, 0, None);
        self.blocks.take_over(array, lbn, fresh, &chain);
    }

    fn pick(&mut self) -> usize {
        match self.victim {
            Victim::Fifo => self.ring[0],
            Victim::Lru => *self.ring.iter().min_by_key(|lbn| self.written[**lbn]).expect("a chain"),
            Victim::Longest(look_ahead) => {
                let n = self.ring.len();
                let mut best = self.pointer;
                for i in 0..look_ahead.min(n) {
                    let at = (self.pointer + i) % n;
                    if self.chains[self.ring[at]].len() > self.chains[self.ring[best]].len() {
                        best = at;
                    }
                }
                // The victim leaves the ring, so that its successor takes its place.
                self.pointer = best;
                self.ring[best]
            }
        }
    }
}

impl Ftl for Bast {
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64 {
        self.blocks.commands += 1;
        pages.iter().fold(after, |done, down| done.max(self.write_page(array, down, after)))
    }
    fn write_whole(&mut self, array: &mut Array, lbn: usize, pages: &[Down], after: u64) -> u64 {
        let (fresh, done) = self.blocks.put_whole(array, pages, after);
        let chain = self.end_chain(lbn);
        if !chain.is_empty() {
            let unpadded = pages.iter().filter(|down| down.cause == Cause::Host).count() as u64;
            let logged = chain.iter().map(|block| array.programmed(*block)).sum::<u64>() + unpadded;
            array.counts.padding_merges += 1;
            array.counts.padding_data_blocks += 1;
            array.counts.padding_log_blocks += logged.div_ceil(self.blocks.pages_per_block as u64);
            array.counts.padding_log_pages += logged;
        }
        self.blocks.take_over(array, lbn, fresh, &chain);
        done
    }
    fn trim(&mut self, array: &mut Array, lpn: u32) -> u64 {
        self.blocks.trim(array, lpn);
        array.now
    }
    fn place(&self, lpn: u32) -> Option<Addr> {
        self.blocks.map[lpn as usize]
    }
    fn map_bytes(&self) -> u64 {
        let n = self.blocks.pages_per_block as u64;
        let bits = u64::from(n.next_power_of_two().trailing_zeros());
        4 * self.blocks.data.len() as u64 + self.log_blocks as u64 * ((n * bits).div_ceil(8) + 8)
    }
}
