//! bast - Block-associative sector translation
//!
//! # Source
//! Kim, Kim, Noh, Min, Cho: A space-efficient flash translation layer for CompactFlash systems (2002), original with
//! one log block per logical block; HitStat (section 3.5, tables 1 and 5) with chains of up to four; specs/ftls.md 2.3.
//!
//! # What it does
//! Every logical block has a data block and, when it is updated, a chain of log blocks of its own, to which pages are
//! appended in order of arrival. When the chain is full and may not grow, it is merged; when all log blocks are in
//! use, the chain of a victim is merged. A chain of one log block that holds offsets 0, 1, 2, ... in order becomes the
//! data block (switch when complete, else partial merge); any other chain is merged in full into a fresh block.
//!
//! # Parameters
//! - `log_blocks` (blocks, default: all blocks beside data blocks and two for merges): log blocks in total. HitStat: 2048.
//! - `max_chain` (blocks, default 1): log blocks of one logical block. 1 = original, 4 = HitStat.
//! - `victim` (default `lru`): `lru` = chain written least recently, `fifo` = oldest chain, `random`, or `rr_longest` =
//!   the longest of the next `lookahead` chains, round robin (HitStat).
//! - `lookahead` (chains, default 50: HitStat): for `rr_longest`.
//! - `partial_merge` (default `true`; HitStat: `false`): whether an incomplete ordered log block is completed in place.
//! - `block_write` (default `bypass`): a write of a whole logical block goes to a fresh block (`bypass`) or through the
//!   log (`pagewise`).
//! - `log_map` (default `ram`): `ram`, or `spare_scan` = no log map in RAM; a read or merge searches the spare areas of
//!   the chain, newest page first, one flash read each (counted as map reads).
//! - `map_program` (default `false`): every merge programs one page of the block map, appended to a map block.
//! - `alloc` (default `fifo`): which free block is taken, `fifo` or `min_erase`.
//!
//! RAM: `4 * logical_blocks + log_blocks * (N * ceil(log2 N) / 8 + 8)` bytes, N pages a block; without the log map the
//! term in N falls away.
//!
//! # Deviations and chosen readings
//! - The first write of a page goes to its data block while its offset there can still be programmed.
//! - The write that would need log block `max_chain + 1` triggers the merge; a log block that becomes complete and in
//!   order is switched at once.
//! - A write that has to merge first waits for that merge.
//! - The round-robin pointer goes to the successor of the victim.
//! - `map_program` is counted with one page a merge; the original updates up to three entries atomically.
//! - Padding model: a padded block that frees a chain counts as a full merge of that chain with the unpadded pages
//!   logged (HitStat 3.5); R_LB is the extended chain rounded up.
//!
//! # Known ambiguities
//! - The victim of the original is not stated in what could be read; C++ FlashSim picks at random.

use rand::Rng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

use super::chains::Chains;
use super::merge::{BlockWrite, Merger, NOTHING, log_blocks};
use super::pool::Alloc;
use super::{Batch, Found, Ftl, PageWrite, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Oob, Ticket};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lbn, Lpn, Pbn, Ppn};

/// Parameters of [`Bast`]; the manual page explains them.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Log blocks in total; all that fit when absent.
    pub log_blocks: Option<u32>,
    /// Log blocks of one logical block.
    pub max_chain: u32,
    /// Which chain is merged when all log blocks are in use.
    pub victim: ChainVictim,
    /// Chains that `rr_longest` examines.
    pub lookahead: u32,
    /// Complete an ordered log block in place.
    pub partial_merge: bool,
    /// Path of whole logical blocks.
    pub block_write: BlockWrite,
    /// Where the log map is.
    pub log_map: LogMap,
    /// Program a page of the block map at every merge.
    pub map_program: bool,
    /// Which free block is taken.
    pub alloc: Alloc,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            log_blocks: None,
            max_chain: 1,
            victim: ChainVictim::Lru,
            lookahead: 50,
            partial_merge: true,
            block_write: BlockWrite::Bypass,
            log_map: LogMap::Ram,
            map_program: false,
            alloc: Alloc::Fifo,
        }
    }
}

/// Which chain is merged when all log blocks are in use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChainVictim {
    /// Written least recently.
    Lru,
    /// Begun first.
    Fifo,
    /// Any, with equal probability.
    Random,
    /// Longest of the next `lookahead`, round robin.
    #[serde(alias = "rr-longest")]
    RrLongest,
}

/// Where the map of log pages is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogMap {
    /// In RAM.
    Ram,
    /// In the spare areas of the log pages.
    SpareScan,
}

/// See the module text.
#[derive(Debug)]
pub struct Bast {
    params: Params,
    blocks: Merger,
    log_limit: u32,
    chains: Chains,
    /// Where `rr_longest` goes on.
    pointer: Lbn,
    rng: Pcg64Mcg,
    map_block: Pbn,
}

/// Builds the FTL.
///
/// # Errors
/// When the program order is strict, the log blocks do not fit beside the data blocks, or a parameter is 0.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    shape.need_skipping("bast")?;
    for (key, value) in [("ftl.max_chain", params.max_chain), ("ftl.lookahead", params.lookahead)] {
        if value == 0 {
            return Err(ConfigError::new(key, "0 leaves no chain to write to or to merge", "use 1 or more"));
        }
    }
    let beside = 2 + 2 * u32::from(params.map_program);
    let log_limit = log_blocks(shape, "ftl.log_blocks", params.log_blocks, beside)?;
    Ok(Box::new(Bast {
        blocks: Merger::new(shape, params.alloc),
        params,
        log_limit,
        chains: Chains::new(shape.logical_blocks(), shape.geometry.blocks()),
        pointer: Lbn::NONE,
        rng: Pcg64Mcg::new(u128::from(shape.seed) << 1 | 1),
        map_block: Pbn::NONE,
    }))
}

impl Bast {
    #[inline]
    fn pages_per_block(&self) -> u32 {
        self.blocks.geometry().pages_per_block
    }

    #[inline]
    fn write_page(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        if let Some(done) = self.blocks.first_write(flash, page, data, after) {
            return done;
        }
        let lbn = self.blocks.geometry().lbn(page.lpn);
        let mut after = after;
        let last = self.chains.of(lbn).last;
        if last.is_none() || flash.next_page(last) == self.pages_per_block() {
            after = self.open_log(flash, lbn, after);
        }
        if self.params.victim == ChainVictim::Lru {
            self.chains.move_last(lbn);
        }
        let log = self.chains.of(lbn).last;
        let slot = flash.next_page(log);
        let place = self.blocks.geometry().page(log, slot);
        let done = self.blocks.program(flash, place, page, data, after);
        let pages = self.blocks.pages_in(lbn);
        if slot + 1 == pages && self.blocks.is_prefix(lbn, log, pages) {
            self.switch(flash, lbn, log, done);
        }
        done
    }

    /// Appends a log block to the chain, after the merges that takes.
    fn open_log(&mut self, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let mut after = after;
        if self.chains.of(lbn).blocks == self.params.max_chain {
            after = self.merge(flash, lbn, after);
        }
        if self.chains.blocks() == self.log_limit {
            let victim = self.pick();
            after = self.merge(flash, victim, after);
        }
        let log = self.blocks.take(flash);
        self.chains.append(lbn, log);
        after
    }

    /// The chain to merge when all log blocks are in use.
    fn pick(&mut self) -> Lbn {
        match self.params.victim {
            ChainVictim::Lru | ChainVictim::Fifo => self.chains.head(),
            ChainVictim::Random => {
                let steps = (u128::from(self.rng.next_u64()) * u128::from(self.chains.count())) >> 64;
                (0..steps).fold(self.chains.head(), |lbn, _| self.chains.after(lbn))
            }
            ChainVictim::RrLongest => {
                let mut at = if self.pointer.is_some() { self.pointer } else { self.chains.head() };
                let mut longest = at;
                for _ in 1..self.params.lookahead.min(self.chains.count()) {
                    at = self.chains.after(at);
                    if self.chains.of(at).blocks > self.chains.of(longest).blocks {
                        longest = at;
                    }
                }
                self.pointer = longest;
                longest
            }
        }
    }

    /// Merges the chain of a logical block in the cheapest way.
    fn merge(&mut self, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let chain = self.chains.of(lbn);
        let pages = self.blocks.pages_in(lbn);
        let written = flash.next_page(chain.last);
        let after = self.scan_chain(flash, lbn, Ppn::NONE, after);
        if chain.blocks == 1 && self.blocks.is_prefix(lbn, chain.last, written) {
            if written == pages {
                return self.switch(flash, lbn, chain.last, after);
            }
            if self.params.partial_merge {
                flash.ledger.merges_partial += 1;
                let rest = (lbn, chain.last, written);
                let done = self.blocks.complete(flash, rest, NOTHING, Cause::Merge, after);
                return self.replace_data(flash, lbn, chain.last, done);
            }
        }
        let logged = u64::from((chain.blocks - 1) * self.pages_per_block() + written);
        let ledger = &mut flash.ledger;
        ledger.merges_full += 1;
        ledger.merges_full_lbns += 1;
        ledger.merges_full_log_blocks += u64::from(chain.blocks);
        ledger.merges_full_log_pages += logged;
        ledger.padding_merges += 1;
        ledger.padding_data_blocks += 1;
        ledger.padding_log_blocks += u64::from(chain.blocks);
        ledger.padding_log_pages += logged;
        let (fresh, done) = self.blocks.rewrite(flash, lbn, NOTHING, after);
        self.replace_data(flash, lbn, fresh, done)
    }

    /// The log block that holds the whole logical block in order becomes the data block.
    fn switch(&mut self, flash: &mut Flash, lbn: Lbn, log: Pbn, after: Ticket) -> Ticket {
        flash.ledger.merges_switch += 1;
        self.replace_data(flash, lbn, log, after)
    }

    /// `fresh` becomes the data block; the chain (without `fresh`) and the old data block are erased.
    fn replace_data(&mut self, flash: &mut Flash, lbn: Lbn, fresh: Pbn, after: Ticket) -> Ticket {
        let after = if self.params.map_program { self.program_map(flash, lbn, after) } else { after };
        if self.pointer == lbn {
            self.pointer = self.chains.after(lbn);
        }
        let chain = self.chains.remove(lbn);
        if self.chains.count() == 0 {
            self.pointer = Lbn::NONE;
        }
        let mut done = after;
        for log in self.chains.logs(chain).filter(|log| *log != fresh) {
            let erased = self.blocks.retire(flash, log, BlockKind::Log, after);
            done = flash.clock.join(done, erased);
        }
        let erased = self.blocks.replace_data(flash, lbn, fresh, after);
        flash.clock.join(done, erased)
    }

    /// Programs one page of the block map: the entry of `lbn` changed.
    fn program_map(&mut self, flash: &mut Flash, lbn: Lbn, after: Ticket) -> Ticket {
        let old = self.map_block;
        let full = old.is_some() && flash.next_page(old) == self.pages_per_block();
        if old.is_none() || full {
            self.map_block = self.blocks.take(flash);
        }
        let page = self.blocks.geometry().page(self.map_block, flash.next_page(self.map_block));
        let entries_per_page = flash.geometry().page_bytes / 4;
        let done = flash.program(page, Oob::map(lbn.0 / entries_per_page), &[], Cause::MapUpdate, after);
        flash.invalidate(page);
        if full { self.blocks.retire(flash, old, BlockKind::Map, done) } else { done }
    }

    /// With the log map in spare areas: reads the chain's pages, newest first, one flash read each, until the next one
    /// would be `wanted` (or all).
    fn scan_chain(&self, flash: &mut Flash, lbn: Lbn, wanted: Ppn, after: Ticket) -> Ticket {
        if self.params.log_map == LogMap::Ram {
            return after;
        }
        let mut after = after;
        let chain = self.chains.of(lbn);
        for back in 0..chain.blocks {
            let log = self.chains.logs(chain).nth((chain.blocks - 1 - back) as usize).unwrap_or(chain.last);
            for slot in (0..flash.next_page(log)).rev() {
                let page = self.blocks.geometry().page(log, slot);
                if page == wanted {
                    return after;
                }
                after = flash.read(page, Cause::MapMiss, after);
            }
        }
        after
    }
}

impl Ftl for Bast {
    fn read(&mut self, flash: &mut Flash, lpn: Lpn, cause: Cause, after: Ticket) -> Found {
        let lbn = self.blocks.geometry().lbn(lpn);
        let after = self.scan_chain(flash, lbn, self.blocks.newest(lpn), after);
        self.blocks.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        let mut done = after;
        for (page, data) in batch.iter() {
            let ticket = self.write_page(flash, page, data, after);
            done = if batch.pages.len() == 1 { ticket } else { flash.clock.join(done, ticket) };
        }
        done
    }

    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        if batch.pages.is_empty() || self.params.block_write == BlockWrite::Pagewise {
            return self.write(flash, batch, after);
        }
        let chain = self.chains.of(lbn);
        flash.ledger.merges_switch += 1;
        if chain.blocks > 0 {
            let unpadded = batch.pages.iter().filter(|p| p.cause == Cause::Host).count() as u32;
            let logged = (chain.blocks - 1) * self.pages_per_block() + flash.next_page(chain.last) + unpadded;
            flash.ledger.padding_merges += 1;
            flash.ledger.padding_data_blocks += 1;
            flash.ledger.padding_log_blocks += u64::from(logged.div_ceil(self.pages_per_block()));
            flash.ledger.padding_log_pages += u64::from(logged);
        }
        let (fresh, done) = self.blocks.rewrite(flash, lbn, batch, after);
        self.replace_data(flash, lbn, fresh, done);
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.blocks.trim(flash, lpn);
        after
    }

    fn settle(&mut self, flash: &mut Flash) {
        let mut after = Ticket::at(flash.now());
        while self.chains.count() > 0 {
            after = self.merge(flash, self.chains.head(), after);
        }
    }

    fn map_bytes(&self) -> u64 {
        let pages = u64::from(self.pages_per_block());
        let offset_bits = u64::from(self.pages_per_block().next_power_of_two().trailing_zeros());
        let page_map = if self.params.log_map == LogMap::Ram { (pages * offset_bits).div_ceil(8) } else { 0 };
        4 * u64::from(self.blocks.logical_blocks()) + u64::from(self.log_limit) * (page_map + 8)
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.blocks.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        self.chains.clear();
        self.pointer = Lbn::NONE;
        self.map_block = Pbn::NONE;
        self.blocks.rebuild(flash);
    }

    fn check(&self, flash: &Flash) {
        let mut logs: Vec<Pbn> = self.map_block.is_some().then_some(self.map_block).into_iter().collect();
        let mut used = 0;
        for lbn in (0..self.blocks.logical_blocks()).map(Lbn) {
            let chain = self.chains.of(lbn);
            assert!(chain.blocks <= self.params.max_chain);
            used += chain.blocks;
            for log in self.chains.logs(chain) {
                assert!(log == chain.last || flash.next_page(log) == self.pages_per_block());
                logs.push(log);
                let mut from = 0;
                while let Some(ppn) = flash.next_valid(log, from) {
                    let owner = self.blocks.geometry().lbn(Lpn(flash.oob(ppn).number));
                    assert_eq!(owner, lbn, "a log page of another logical block");
                    from = self.blocks.geometry().page_in_block(ppn) + 1;
                }
            }
        }
        assert_eq!(used, self.chains.blocks());
        assert!(used <= self.log_limit, "{used} log blocks in use");
        self.blocks.check(flash, logs.into_iter());
    }

    fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }
}
