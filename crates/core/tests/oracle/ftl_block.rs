//! Block mapping: every write-back of pages of a logical block replaces its data block.

use nandlab::ledger::{BlockKind, Cause};

use super::flash::{Addr, Array};
use super::ftl::{Down, Ftl};

pub struct BlockMapped {
    /// Data block by logical block.
    data: Vec<Option<usize>>,
    map: Vec<Option<Addr>>,
    pages_per_block: usize,
}

impl BlockMapped {
    pub fn new(logical_pages: usize, pages_per_block: usize) -> Self {
        let blocks = logical_pages.div_ceil(pages_per_block);
        Self { data: vec![None; blocks], map: vec![None; logical_pages], pages_per_block }
    }

    fn replace(&mut self, array: &mut Array, lbn: usize, pages: &[Down], after: u64) -> u64 {
        let fresh = array.take_free();
        let mut done = after;
        for offset in 0..self.pages_per_block {
            let lpn = lbn * self.pages_per_block + offset;
            let to = (fresh, offset);
            let old = self.map.get(lpn).copied().flatten();
            if let Some(down) = pages.iter().find(|down| down.lpn as usize == lpn) {
                done = done.max(array.program(to, down.page(), down.cause, after));
                if let Some(old) = old {
                    array.invalidate(old);
                }
            } else if let Some(old) = old {
                done = done.max(array.copy(old, to, Cause::Merge));
            } else {
                continue;
            }
            self.map[lpn] = Some(to);
        }
        array.counts.merges_replace += 1;
        if let Some(old) = self.data[lbn].replace(fresh) {
            array.erase(old, BlockKind::Data, Cause::Merge);
        }
        done
    }
}

impl Ftl for BlockMapped {
    fn write(&mut self, array: &mut Array, pages: &[Down], after: u64) -> u64 {
        let mut done = after;
        let per_block = self.pages_per_block;
        for group in pages.chunk_by(|a, b| a.lpn as usize / per_block == b.lpn as usize / per_block) {
            let lbn = group[0].lpn as usize / per_block;
            done = done.max(self.replace(array, lbn, group, after));
        }
        done
    }
    fn write_whole(&mut self, array: &mut Array, lbn: usize, pages: &[Down], after: u64) -> u64 {
        self.replace(array, lbn, pages, after)
    }
    fn completes_blocks(&self) -> bool {
        true
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
        4 * self.data.len() as u64
    }
}
