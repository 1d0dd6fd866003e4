//! What BAST and FAST share in the oracle: data blocks, the place of every page, and merges.

use std::collections::BTreeSet;

use nandlab::ledger::{BlockKind, Cause};

use super::flash::{Addr, Array, Owner};
use super::ftl::Down;

/// A log block is not needed any more.
pub fn reclaim(array: &mut Array, log: usize) {
    array.counts.log_pages_reclaimed += array.programmed(log);
    array.erase(log, BlockKind::Log, Cause::Merge);
}

pub struct Blocks {
    /// Data block by logical block.
    pub data: Vec<Option<usize>>,
    /// Newest copy of every page, in a data block or a log block.
    pub map: Vec<Option<Addr>>,
    pub pages_per_block: usize,
    /// Write commands so far, and by logical block those that logged pages since its last merge.
    pub commands: u64,
    logged: Vec<BTreeSet<u64>>,
}

impl Blocks {
    pub fn new(logical_pages: usize, pages_per_block: usize) -> Self {
        let blocks = logical_pages.div_ceil(pages_per_block);
        let (data, map, logged) = (vec![None; blocks], vec![None; logical_pages], vec![BTreeSet::new(); blocks]);
        Self { data, map, pages_per_block, commands: 0, logged }
    }
    pub fn lbn(&self, lpn: u32) -> usize {
        lpn as usize / self.pages_per_block
    }
    pub fn offset(&self, lpn: u32) -> usize {
        lpn as usize % self.pages_per_block
    }
    /// Pages that the logical block has on the device.
    pub fn pages(&self, lbn: usize) -> usize {
        self.pages_per_block.min(self.map.len() - lbn * self.pages_per_block)
    }

    /// Programs a page and forgets its old copy.
    pub fn put(&mut self, array: &mut Array, to: Addr, down: &Down, after: u64) -> u64 {
        let done = array.program(to, down.page(), down.cause, after);
        if let Some(old) = self.map[down.lpn as usize].replace(to) {
            array.invalidate(old);
        }
        done
    }
    /// Programs a whole logical block in a fresh one; returns that and when it is done.
    pub fn put_whole(&mut self, array: &mut Array, pages: &[Down], after: u64) -> (usize, u64) {
        let (fresh, mut done) = (array.take_free(), after);
        for down in pages {
            let to = (fresh, self.offset(down.lpn));
            done = done.max(self.put(array, to, down, after));
        }
        array.counts.merges_switch += 1;
        (fresh, done)
    }
    /// Programs a page in a log block.
    pub fn log(&mut self, array: &mut Array, to: Addr, down: &Down, after: u64) -> u64 {
        array.counts.log_pages += 1;
        let lbn = self.lbn(down.lpn);
        self.logged[lbn].insert(self.commands);
        self.put(array, to, down, after)
    }
    /// The first write of a page goes to its data block while its place there can still be programmed.
    pub fn first_write(&mut self, array: &mut Array, down: &Down, after: u64) -> Option<u64> {
        let (lbn, offset) = (self.lbn(down.lpn), self.offset(down.lpn));
        if self.data[lbn].is_none() {
            self.data[lbn] = Some(array.take_free());
        }
        let block = self.data[lbn].expect("a data block");
        let free = self.map[down.lpn as usize].is_none() && offset >= array.next(block);
        free.then(|| self.put(array, (block, offset), down, after))
    }
    /// Copies the newest pages of the logical block from offset `from` on into `to`, each to its own offset, except for
    /// `new`, which takes its slot from the host.
    pub fn copy_rest(
        &mut self,
        array: &mut Array,
        lbn: usize,
        to: usize,
        from: usize,
        new: Option<(&Down, u64)>,
    ) -> u64 {
        let (mut done, mut logged) = (0, from as u64);
        for offset in from..self.pages(lbn) {
            let lpn = lbn * self.pages_per_block + offset;
            if let Some((down, after)) = new.filter(|(down, _)| down.lpn as usize == lpn) {
                done = done.max(self.put(array, (to, offset), down, after));
            } else if let Some(old) = self.map[lpn] {
                logged += u64::from(self.data[lbn] != Some(old.0));
                done = done.max(array.copy(old, (to, offset), Cause::Merge));
                self.map[lpn] = Some((to, offset));
            }
        }
        if new.is_none() && self.logged[lbn].len() == 1 {
            array.counts.log_pages_merged_alone += logged;
        }
        done
    }
    /// `block` becomes the data block; log blocks that it replaces are erased, then the old data block.
    pub fn take_over(&mut self, array: &mut Array, lbn: usize, block: usize, logs: &[usize]) -> u64 {
        for log in logs {
            reclaim(array, *log);
        }
        self.logged[lbn].clear();
        let old = self.data[lbn].replace(block);
        old.map_or(0, |old| array.erase(old, BlockKind::Data, Cause::Merge))
    }
    /// The first `count` pages of the block are the first `count` pages of the logical block, and all are needed.
    pub fn holds_in_order(&self, array: &Array, block: usize, lbn: usize, count: usize) -> bool {
        (0..count).all(|i| {
            let page = array.blocks[block][i].as_ref();
            page.is_some_and(|p| p.valid && p.owner == Owner::Data((lbn * self.pages_per_block + i) as u32))
        })
    }
    pub fn trim(&mut self, array: &mut Array, lpn: u32) {
        if let Some(old) = self.map[lpn as usize].take() {
            array.invalidate(old);
        }
    }
}
