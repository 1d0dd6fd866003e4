//! A block-associative log: every logical block appends to log blocks of its own (BAST; LAST's sequential log).
//!
//! The manual page of `bast` explains the rules.

use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use crate::flash::{Flash, Oob, Ticket};
use crate::ftl::chain_victim::{ChainCandidates, ChainVictimRule};
use crate::ftl::log::chains::{Chain, Chains};
use crate::ftl::log::merge::{Merger, NOTHING};
use crate::ftl::log::report::{LogOrder, Merge, Reclaimed, merged};
use crate::ftl::{Batch, PageWrite, Shape};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lbn, Lpn, Pbn, Ppn};

/// Where the map of log pages is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogMap {
    /// In RAM.
    Ram,
    /// In the spare areas of the log pages: a read or merge searches those of the chain, newest page first, one flash read
    /// each (counted as map reads).
    SpareScan,
}

/// How a [`BlockLog`] works.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Log blocks in total.
    pub log_blocks: u32,
    /// Log blocks of one logical block.
    pub max_chain: u32,
    /// Which chain is merged when all log blocks are in use.
    pub victim: ChainVictimRule,
    /// Chains that a victim policy examines.
    pub lookahead: u32,
    /// Complete an ordered log block in place.
    pub partial_merge: bool,
    /// Where the log map is.
    pub log_map: LogMap,
    /// Program a page of the block map at every merge.
    pub map_program: bool,
    /// Erase the data block before the log blocks: the free list gets them in this order.
    pub frees_data_first: bool,
}

/// A block-associative log: each logical block appends to its own chain of log blocks. The data blocks are next to it
/// in a [`Merger`].
#[derive(Debug)]
pub struct BlockLog {
    rules: Rules,
    chains: Chains,
    /// Where `rr_longest` goes on.
    pointer: Lbn,
    rng: Pcg64Mcg,
    map_block: Pbn,
}

impl BlockLog {
    /// No log blocks yet.
    pub fn new(rules: Rules, shape: &Shape) -> Self {
        Self {
            rules,
            chains: Chains::new(shape.logical_blocks(), shape.geometry.blocks()),
            pointer: Lbn::NONE,
            rng: Pcg64Mcg::new(u128::from(shape.seed) << 1 | 1),
            map_block: Pbn::NONE,
        }
    }
    /// Forgets all log blocks.
    pub fn clear(&mut self) {
        self.chains.clear();
        self.pointer = Lbn::NONE;
        self.map_block = Pbn::NONE;
    }
    /// The rules.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }
    /// The log block that a logical block writes to, or none.
    #[inline]
    pub fn open_block(&self, lbn: Lbn) -> Pbn {
        self.chains.of(lbn).last
    }

    /// Appends a page to the log of its logical block, after the merges that takes.
    #[inline]
    pub fn append(
        &mut self,
        blocks: &mut Merger,
        flash: &mut Flash,
        page: &PageWrite,
        data: &[u8],
        after: Ticket,
    ) -> Ticket {
        let lbn = blocks.geometry().lbn(page.lpn);
        let mut after = after;
        let last = self.chains.of(lbn).last;
        if last.is_none() || flash.next_page(last) == blocks.geometry().pages_per_block {
            after = self.open_log(blocks, flash, lbn, after);
        }
        if self.rules.victim.by_use {
            self.chains.move_last(lbn);
        }
        let log = self.chains.of(lbn).last;
        let slot = flash.next_page(log);
        let place = blocks.geometry().page(log, slot);
        let done = blocks.log(flash, place, page, data, after);
        let pages = blocks.pages_in(lbn);
        if slot + 1 == pages && blocks.is_prefix(lbn, log, pages) {
            self.switch(blocks, flash, lbn, log, done);
        }
        done
    }

    /// A whole logical block goes to a fresh block, which replaces data block and chain.
    pub fn bypass(
        &mut self,
        blocks: &mut Merger,
        flash: &mut Flash,
        lbn: Lbn,
        batch: Batch<'_>,
        after: Ticket,
    ) -> Ticket {
        let log = self.reclaimed(flash, lbn);
        merged(flash, Merge::Bypass { unpadded: batch.unpadded(), log });
        let (fresh, done) = blocks.rewrite(flash, lbn, batch, after);
        self.replace_data(blocks, flash, lbn, fresh, done);
        done
    }

    /// What freeing the chain of a logical block reclaims.
    fn reclaimed(&self, flash: &Flash, lbn: Lbn) -> Reclaimed {
        let Chain { blocks, last, .. } = self.chains.of(lbn);
        if blocks == 0 {
            return Reclaimed::NONE;
        }
        let pages = (blocks - 1) * flash.geometry().pages_per_block + flash.next_page(last);
        Reclaimed { order: LogOrder::Arrival, blocks, pages }
    }

    /// Merges every chain.
    pub fn merge_all(&mut self, blocks: &mut Merger, flash: &mut Flash, after: Ticket) -> Ticket {
        let mut after = after;
        while self.chains.count() > 0 {
            after = self.merge(blocks, flash, self.chains.head(), after);
        }
        after
    }

    /// Appends a log block to the chain, after the merges that takes.
    fn open_log(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let mut after = after;
        if self.chains.of(lbn).blocks == self.rules.max_chain {
            after = self.merge(blocks, flash, lbn, after);
        }
        if self.chains.blocks() == self.rules.log_blocks {
            let victim = self.pick();
            after = self.merge(blocks, flash, victim, after);
        }
        let log = blocks.take();
        self.chains.append(lbn, log);
        after
    }

    /// The chain to merge when all log blocks are in use.
    fn pick(&mut self) -> Lbn {
        let Self { rules, chains, pointer, rng, .. } = self;
        *pointer = rules.victim.choose(ChainCandidates { chains, pointer: *pointer, lookahead: rules.lookahead, rng });
        *pointer
    }

    /// Merges the chain of a logical block in the cheapest way.
    pub fn merge(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let chain = self.chains.of(lbn);
        let pages = blocks.pages_in(lbn);
        let written = flash.next_page(chain.last);
        let after = self.scan_chain(flash, lbn, Ppn::NONE, after);
        if chain.blocks == 1 && blocks.is_prefix(lbn, chain.last, written) {
            if written == pages {
                return self.switch(blocks, flash, lbn, chain.last, after);
            }
            if self.rules.partial_merge {
                merged(flash, Merge::Partial);
                let rest = (lbn, chain.last, written);
                let done = blocks.complete(flash, rest, NOTHING, Cause::Merge, after);
                return self.replace_data(blocks, flash, lbn, chain.last, done);
            }
        }
        let log = self.reclaimed(flash, lbn);
        merged(flash, Merge::Full { data_blocks: 1, log });
        self.merge_in_full(blocks, flash, lbn, after)
    }

    /// Copies a logical block to a fresh data block, whether it has log blocks or not. Counts no merge.
    pub fn merge_in_full(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let (fresh, done) = blocks.rewrite(flash, lbn, NOTHING, after);
        self.replace_data(blocks, flash, lbn, fresh, done)
    }

    /// The log block that holds the whole logical block in order becomes the data block.
    fn switch(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, log: Pbn, after: Ticket) -> Ticket {
        merged(flash, Merge::Switch);
        self.replace_data(blocks, flash, lbn, log, after)
    }

    /// `fresh` becomes the data block; the chain (without `fresh`) and the old data block are erased.
    fn replace_data(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, fresh: Pbn, after: Ticket) -> Ticket {
        let after = if self.rules.map_program { self.program_map(blocks, flash, lbn, after) } else { after };
        if self.pointer == lbn {
            self.pointer = self.chains.after(lbn);
        }
        let chain = self.chains.remove(lbn);
        if self.chains.count() == 0 {
            self.pointer = Lbn::NONE;
        }
        let data_first = self.rules.frees_data_first;
        let mut done = if data_first { blocks.replace_data(flash, lbn, fresh, after) } else { after };
        for log in self.chains.logs(chain).filter(|log| *log != fresh) {
            let erased = blocks.retire(flash, log, BlockKind::Log, after);
            done = flash.clock.join(done, erased);
        }
        if data_first {
            return done;
        }
        let erased = blocks.replace_data(flash, lbn, fresh, after);
        flash.clock.join(done, erased)
    }

    /// Programs one page of the block map: the entry of `lbn` changed.
    fn program_map(&mut self, blocks: &mut Merger, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let old = self.map_block;
        let full = old.is_some() && flash.next_page(old) == blocks.geometry().pages_per_block;
        if old.is_none() || full {
            self.map_block = blocks.take();
        }
        let page = blocks.geometry().page(self.map_block, flash.next_page(self.map_block));
        let entries_per_page = flash.geometry().page_bytes / 4;
        let done = flash.program(page, Oob::map(lbn.0 / entries_per_page), &[], Cause::MapUpdate, after);
        flash.invalidate(page);
        if full { blocks.retire(flash, old, BlockKind::Map, done) } else { done }
    }

    /// With the log map in the OOB: reads the chain's pages, newest first, one flash read each, until the next one
    /// would be `wanted` (or all).
    pub fn scan_chain(&self, flash: &mut Flash, lbn: Lbn, wanted: Ppn, after: Ticket) -> Ticket {
        if self.rules.log_map == LogMap::Ram {
            return after;
        }
        let mut after = after;
        let chain = self.chains.of(lbn);
        for back in 0..chain.blocks {
            let log = self.chains.logs(chain).nth((chain.blocks - 1 - back) as usize).unwrap_or(chain.last);
            for slot in (0..flash.next_page(log)).rev() {
                let page = flash.geometry().page(log, slot);
                if page == wanted {
                    return after;
                }
                after = flash.read(page, Cause::MapMiss, after);
            }
        }
        after
    }

    /// Checks the chains and lists all blocks in use here.
    ///
    /// # Panics
    /// On the first violation.
    pub fn check(&self, blocks: &Merger, flash: &Flash) -> Vec<Pbn> {
        let mut logs: Vec<Pbn> = self.map_block.is_some().then_some(self.map_block).into_iter().collect();
        let mut used = 0;
        for lbn in (0..blocks.logical_blocks()).map(Lbn) {
            let chain = self.chains.of(lbn);
            assert!(chain.blocks <= self.rules.max_chain);
            used += chain.blocks;
            for log in self.chains.logs(chain) {
                assert!(log == chain.last || flash.next_page(log) == blocks.geometry().pages_per_block);
                logs.push(log);
                let mut from = 0;
                while let Some(ppn) = flash.next_valid(log, from) {
                    let owner = blocks.geometry().lbn(Lpn(flash.number(ppn)));
                    assert_eq!(owner, lbn, "a log page of another logical block");
                    from = blocks.geometry().page_in_block(ppn) + 1;
                }
            }
        }
        assert_eq!(used, self.chains.blocks());
        assert!(used <= self.rules.log_blocks, "{used} log blocks in use");
        logs
    }
}
