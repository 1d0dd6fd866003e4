//! Page mapping with greedy collection: specs and the manual page of `page`.

use nandlab::ledger::{BlockKind, Cause};

use super::flash::{Addr, Array, Owner};
use super::ftl::{Down, Ftl};

pub struct PageMapped {
    map: Vec<Option<Addr>>,
    reserve: usize,
    open: Option<usize>,
    /// Full blocks in the order in which they became full.
    closed: Vec<usize>,
}

impl PageMapped {
    pub fn new(logical_pages: usize, reserve: usize) -> Self {
        Self { map: vec![None; logical_pages], reserve, open: None, closed: Vec::new() }
    }

    /// The next page to be programmed. Space is made while the open block is full.
    fn frontier(&mut self, array: &mut Array) -> Addr {
        loop {
            if let Some(open) = self.open {
                if !array.is_full(open) {
                    return (open, array.next(open));
                }
                self.closed.push(open);
                self.open = None;
            }
            if array.free.len() > self.reserve {
                self.open = Some(array.take_free());
            } else {
                self.collect(array);
            }
        }
    }

    /// Fewest valid pages, among equals the block that has been full for longest.
    fn collect(&mut self, array: &mut Array) {
        array.counts.gc_runs += 1;
        let least = (0..self.closed.len()).min_by_key(|i| array.valid(self.closed[*i]).len()).expect("a closed block");
        let victim = self.closed.remove(least);
        let valid = array.valid(victim);
        if !valid.is_empty() {
            let fresh = array.take_free();
            self.open = Some(fresh);
            for from in valid {
                let Owner::Data(lpn) = array.page(from).owner else { panic!("no maps here") };
                let to = (fresh, array.next(fresh));
                array.copy(from, to, Cause::Gc);
                self.map[lpn as usize] = Some(to);
            }
        }
        array.erase(victim, BlockKind::Data, Cause::Gc);
    }
}

impl Ftl for PageMapped {
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64 {
        let mut done = after;
        for down in pages {
            let to = self.frontier(array);
            done = done.max(array.program(to, down.page(), down.cause, after));
            if let Some(old) = self.map[down.lpn as usize].replace(to) {
                array.invalidate(old);
            }
        }
        done
    }
    fn write_whole(&mut self, array: &mut Array, _lbn: usize, pages: &[Down], after: u64) -> u64 {
        self.write(array, pages, after)
    }
    fn trim(&mut self, array: &mut Array, lpn: u32) -> u64 {
        if let Some(old) = self.map[lpn as usize].take() {
            array.invalidate(old);
        }
        array.now
    }
    fn place(&self, lpn: u32) -> Option<Addr> {
        self.map[lpn as usize]
    }
    fn map_bytes(&self) -> u64 {
        4 * self.map.len() as u64
    }
}
