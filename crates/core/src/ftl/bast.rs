//! bast - Block-associative sector translation
//!
//! # Source
//! Jesung Kim, Jong Min Kim, Sam H. Noh, Sang Lyul Min and Yookun Cho, "A space-efficient flash translation layer for
//! CompactFlash systems", IEEE Transactions on Consumer Electronics 48(2), 2002: one log block per logical block. The
//! thesis of HitStat (section 2.3, tables 1, 3 and 5) with chains of up to four.
//!
//! # What it does
//! Every logical block has a data block and, when it is updated, a chain of log blocks of its own, to which pages are
//! appended in order of arrival. When the chain is full and may not grow, it is merged; when all log blocks are in
//! use, the chain of a victim is merged. A chain of one log block that holds offsets 0, 1, 2, ... in order becomes the
//! data block (switch when complete, else partial merge); any other chain is merged in full into a fresh block.
//!
//! # Parameters
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
//!
//! # Known ambiguities
//! - The victim of the original is not stated in what could be read; C++ FlashSim picks at random.

use super::{Batch, Found, Ftl, PageRead, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::chain_victim::ChainVictim;
use crate::ftl::log::block_log::{BlockLog, LogMap, Rules};
use crate::ftl::log::merge::{BlockWrite, Merger, log_blocks};
use crate::ledger::MergeKind;
use crate::types::{Lbn, Lpn, Ppn};

crate::params! {
    pub struct Params: Copy {
        /// Log blocks in total. HitStat: 2048.
        log_blocks: Option<u32> = None, "blocks", absent "all besides data blocks and two for merges";
        /// Log blocks of one logical block. 1 = original, 4 = HitStat.
        max_chain: u32 = 1, in 1.., "blocks";
        /// Which chain is merged when all log blocks are in use.
        victim: ChainVictim = ChainVictim::default();
        /// Chains that `rr_longest` examines; the default is HitStat's.
        lookahead: u32 = 50, in 1.., "chains", with victim = "rr_longest";
        /// Whether an incomplete ordered log block is completed in place (HitStat: `false`, by its tables
        /// 5 and 6; its section 2.3 has partial merges).
        partial_merge: bool = true;
        /// Path of a write of a whole logical block.
        block_write: BlockWrite = BlockWrite::Bypass;
        /// Where the log map is.
        log_map: LogMap = LogMap::Ram;
        /// Every merge programs one page of the block map, appended to a map block.
        map_program: bool = false;
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
    }
}

/// BAST: each updated logical block has a chain of log blocks of its own.
#[derive(Debug)]
pub struct Bast {
    block_write: BlockWrite,
    blocks: Merger,
    log: BlockLog,
}

/// Builds the FTL.
///
/// # Errors
/// When the program order is strict, the log blocks do not fit next to the data blocks, or a parameter is 0.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    shape.need_skipping("bast")?;
    let others = 2 + 2 * u32::from(params.map_program);
    let rules = Rules {
        log_blocks: log_blocks(shape, "ftl.log_blocks", params.log_blocks, others)?,
        max_chain: params.max_chain,
        victim: params.victim.rule(),
        lookahead: params.lookahead,
        partial_merge: params.partial_merge,
        log_map: params.log_map,
        map_program: params.map_program,
        frees_data_first: false,
    };
    Ok(Box::new(Bast {
        block_write: params.block_write,
        blocks: Merger::new(shape, params.alloc),
        log: BlockLog::new(rules, shape),
    }))
}

impl Ftl for Bast {
    fn merges(&self) -> Option<MergeKind> {
        Some(MergeKind::OneDataBlock)
    }
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        let lbn = self.blocks.geometry().lbn(lpn);
        let after = self.log.scan_chain(flash, lbn, self.blocks.copies.newest(lpn), after);
        self.blocks.copies.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.blocks.begin_command();
        let Self { blocks, log, .. } = self;
        batch.write_each(flash, after, |flash, page, data| {
            let first = blocks.first_write(flash, page, data, after);
            first.unwrap_or_else(|| log.append(blocks, flash, page, data, after))
        })
    }

    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        if batch.pages.is_empty() || self.block_write == BlockWrite::Pagewise {
            return self.write(flash, batch, after);
        }
        self.log.bypass(&mut self.blocks, flash, lbn, batch, after)
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.blocks.copies.trim(flash, lpn);
        after
    }

    fn settle(&mut self, flash: &mut Flash) {
        let now = Ticket::at(flash.now());
        self.log.merge_all(&mut self.blocks, flash, now);
    }

    fn map_bytes(&self) -> u64 {
        let pages_per_block = self.blocks.geometry().pages_per_block;
        let offset_bits = u64::from(pages_per_block.next_power_of_two().trailing_zeros());
        let Rules { log_map, log_blocks, .. } = *self.log.rules();
        let page_map = if log_map == LogMap::Ram { (u64::from(pages_per_block) * offset_bits).div_ceil(8) } else { 0 };
        4 * u64::from(self.blocks.logical_blocks()) + u64::from(log_blocks) * (page_map + 8)
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.blocks.copies.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        self.log.clear();
        self.blocks.rebuild(flash);
    }

    fn check(&self, flash: &Flash) {
        let logs = self.log.check(&self.blocks, flash);
        self.blocks.check(flash, logs.into_iter());
    }

    fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }
}
