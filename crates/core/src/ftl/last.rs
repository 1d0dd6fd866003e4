//! last - Locality-aware sector translation (reconstruction)
//!
//! # Source
//! Sungjin Lee, Dongkun Shin, Young-Jin Kim and Jihong Kim, "LAST: locality-aware sector translation for NAND flash
//! memory-based storage systems", ACM SIGOPS Operating Systems Review 42(6), 2008. The original text was not available:
//! this is a reconstruction from summaries. Numbers from it must not be published under the paper's name.
//!
//! # What it does
//! A locality detector sends runs of consecutive pages of at least `threshold` pages to a sequential log, shorter ones
//! to a random log. The sequential log is block-associative, one log block for a logical block, merged like BAST's:
//! switch, partial or full. The random log is fully associative like FAST's and split into a hot and a cold partition:
//! a page that already has a valid copy in the random log is hot. A partition that is full reclaims the block whose
//! valid pages belong to the fewest logical blocks (ties: the oldest): those are merged in full, then it is erased. A
//! block whose pages were all written again meanwhile costs only its erase, and that is what the hot partition is for.
//!
//! # Parameters
//! RAM: `4 * logical_blocks + 4 * N * (seq_blocks + hot_blocks + cold_blocks)` bytes, N pages a block (as FAST).
//!
//! # Deviations and chosen readings
//! - The length of a request is that of a run of consecutive pages in what the data buffer sends at once.
//! - The first write of a page goes to its data block while its offset there can still be programmed (as BAST).
//! - The sequential log merges the chain written least recently; a log block that becomes complete and in order is
//!   switched at once.
//! - Whether a page is hot is decided before the room for it is made.
//! - A logical block with a page in a reclaimed block is merged in full, its sequential log block included.
//! - A full merge erases the data block first, so that this one is taken again first.
//! - The sizes of the partitions are fixed.
//! - A write that has to merge first waits for that merge. Trim invalidates only.
//! - `write_block` takes the ordinary path: a whole logical block is a sequential run.
//!
//! # Known ambiguities
//! - The threshold (4 to 8 KB) and the definition of hot are from summaries; the rule by which the original adapts the
//!   sizes of the partitions is not known.

use super::{Batch, Found, Ftl, PageRead, PageWrite, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::chain_victim::ChainVictim;
use crate::ftl::log::block_log::{BlockLog, LogMap, Rules};
use crate::ftl::log::merge::{Merger, log_blocks};
use crate::ftl::log::random_log::RandomLog;
use crate::ledger::MergeKind;
use crate::types::{Lpn, Pbn, Ppn};

crate::params! {
    pub struct Params: Copy {
        /// Log blocks of the sequential log. Of the blocks besides data blocks and two for merges, what is not given to one of
        /// the three is shared equally among those without a value, the rest goes to the last of them.
        seq_blocks: Option<u32> = None, "blocks", absent "an equal share";
        /// Log blocks of the hot partition.
        hot_blocks: Option<u32> = None, "blocks", absent "an equal share";
        /// Log blocks of the cold partition.
        cold_blocks: Option<u32> = None, "blocks", absent "all that remain";
        /// Consecutive pages from which on a run is sequential. 1 sends everything to the sequential log.
        threshold: u32 = 2, in 1.., "pages";
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
    }
}

/// Blocks that merges and their recovery need.
const OTHERS: u32 = 2;

/// Partitions of the random log.
const HOT: usize = 0;
const COLD: usize = 1;

/// Valid pages of a log block when its logical blocks were counted last, and their number.
type Counted = (u32, u32);
const NOT_COUNTED: Counted = (u32::MAX, 0);

/// LAST (reconstruction): a sequential log, and a random log in a hot and a cold partition.
#[derive(Debug)]
pub struct Last {
    threshold: u32,
    blocks: Merger,
    sequential: BlockLog,
    /// The hot and the cold partition of the random log.
    random: [RandomLog; 2],
    /// By block: a closed log block only loses pages, so its count stays true while its valid pages are as many.
    counted: Vec<Counted>,
}

/// Builds the FTL.
///
/// # Errors
/// When the program order is strict, the log blocks do not fit next to the data blocks, or a parameter is 0.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    shape.need_skipping("last")?;
    let Params { seq_blocks, hot_blocks, cold_blocks, .. } = params;
    let spare = shape.geometry.blocks().saturating_sub(shape.logical_blocks() + OTHERS);
    // An equal share of what others leave.
    let share = |others: [Option<u32>; 2]| {
        let left = others.iter().flatten().fold(spare, |left, n| left.saturating_sub(*n));
        let without = others.iter().filter(|n| n.is_none()).count() as u32;
        (left / (1 + without)).max(1)
    };
    let seq_blocks = seq_blocks.unwrap_or_else(|| share([hot_blocks, cold_blocks]));
    let hot_blocks = hot_blocks.unwrap_or_else(|| share([Some(seq_blocks), cold_blocks]));
    // The other two partitions need at least one block each.
    let seq_blocks = log_blocks(shape, "ftl.seq_blocks", Some(seq_blocks), OTHERS + 2)?;
    let hot_blocks = log_blocks(shape, "ftl.hot_blocks", Some(hot_blocks), OTHERS + seq_blocks + 1)?;
    let cold_blocks = log_blocks(shape, "ftl.cold_blocks", cold_blocks, OTHERS + seq_blocks + hot_blocks)?;
    let rules = Rules {
        log_blocks: seq_blocks,
        max_chain: 1,
        victim: ChainVictim::named("lru").rule(),
        lookahead: 1,
        partial_merge: true,
        log_map: LogMap::Ram,
        map_program: false,
        frees_data_first: true,
    };
    Ok(Box::new(Last {
        threshold: params.threshold,
        blocks: Merger::new(shape, params.alloc),
        sequential: BlockLog::new(rules, shape),
        random: [RandomLog::new(hot_blocks), RandomLog::new(cold_blocks)],
        counted: vec![NOT_COUNTED; shape.geometry.blocks() as usize],
    }))
}

impl Last {
    fn write_page(
        &mut self,
        flash: &mut Flash,
        page: &PageWrite,
        data: &[u8],
        is_sequential: bool,
        after: Ticket,
    ) -> Ticket {
        if let Some(done) = self.blocks.first_write(flash, page, data, after) {
            return done;
        }
        if is_sequential {
            return self.sequential.append(&mut self.blocks, flash, page, data, after);
        }
        let partition = if self.is_in_random_log(page.lpn) { HOT } else { COLD };
        let is_full = self.random[partition].is_full(flash);
        let after = if is_full { self.reclaim_cheapest(flash, partition, after) } else { after };
        self.random[partition].append(&mut self.blocks, flash, page, data, after)
    }

    fn is_in_random_log(&self, lpn: Lpn) -> bool {
        let newest = self.blocks.copies.newest(lpn);
        let geometry = self.blocks.geometry();
        let is_logged = newest.is_some() && !self.blocks.is_in_data_block(lpn);
        is_logged && geometry.pbn(newest) != self.sequential.open_block(geometry.lbn(lpn))
    }

    /// Reclaims the block of a partition whose valid pages belong to the fewest logical blocks, ties: the oldest.
    fn reclaim_cheapest(&mut self, flash: &mut Flash, partition: usize, after: Ticket) -> Ticket {
        let logs: Vec<Pbn> = self.random[partition].logs().collect();
        let cheapest = (0..logs.len()).min_by_key(|index| self.owners(flash, logs[*index]));
        self.reclaim(flash, partition, cheapest.expect("a full partition has blocks"), after)
    }

    /// Logical blocks that the valid pages of a closed log block belong to.
    fn owners(&mut self, flash: &Flash, log: Pbn) -> u32 {
        let valid = flash.valid_pages(log);
        if self.counted[log.index()].0 != valid {
            let mut owners = Vec::with_capacity(valid as usize);
            let mut from = 0;
            while let Some(page) = flash.next_valid(log, from) {
                owners.push(self.blocks.geometry().lbn(Lpn(flash.number(page))));
                from = self.blocks.geometry().page_in_block(page) + 1;
            }
            owners.sort_unstable();
            owners.dedup();
            self.counted[log.index()] = (valid, owners.len() as u32);
        }
        self.counted[log.index()].1
    }

    fn reclaim(&mut self, flash: &mut Flash, partition: usize, index: usize, after: Ticket) -> Ticket {
        let Self { blocks, sequential, random, counted, .. } = self;
        if let Some(pbn) = random[partition].logs().nth(index) {
            counted[pbn.index()] = NOT_COUNTED;
        }
        let reclaimed = random[partition].reclaim(index, blocks, flash, after, |blocks, flash, lbn| {
            (1, sequential.merge_in_full(blocks, flash, lbn, after))
        });
        reclaimed.1
    }
}

impl Ftl for Last {
    fn merges(&self) -> Option<MergeKind> {
        Some(MergeKind::Measured)
    }
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        self.blocks.copies.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.blocks.begin_command();
        let mut done = after;
        let mut from = 0;
        for run in batch.pages.chunk_by(|a, b| a.lpn.0 + 1 == b.lpn.0) {
            let is_sequential = run.len() as u32 >= self.threshold;
            let ticket = batch
                .part(from, from + run.len())
                .write_each(flash, after, |flash, page, data| self.write_page(flash, page, data, is_sequential, after));
            done = flash.clock.join(done, ticket);
            from += run.len();
        }
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.blocks.copies.trim(flash, lpn);
        after
    }

    /// The sequential log first, then the hot and the cold partition, oldest blocks first.
    fn settle(&mut self, flash: &mut Flash) {
        let now = Ticket::at(flash.now());
        let mut after = self.sequential.merge_all(&mut self.blocks, flash, now);
        for partition in [HOT, COLD] {
            while self.random[partition].logs().next().is_some() {
                after = self.reclaim(flash, partition, 0, after);
            }
        }
    }

    fn map_bytes(&self) -> u64 {
        let logs = self.sequential.rules().log_blocks + self.random.iter().map(RandomLog::limit).sum::<u32>();
        let log_pages = u64::from(logs) * u64::from(self.blocks.geometry().pages_per_block);
        4 * (u64::from(self.blocks.logical_blocks()) + log_pages)
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.blocks.copies.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        self.sequential.clear();
        self.random.iter_mut().for_each(RandomLog::clear);
        self.counted.fill(NOT_COUNTED);
        self.blocks.rebuild(flash);
    }

    fn check(&self, flash: &Flash) {
        for log in &self.random {
            assert!(log.logs().count() as u32 <= log.limit(), "too many log blocks");
        }
        let sequential = self.sequential.check(&self.blocks, flash);
        self.blocks.check(flash, sequential.into_iter().chain(self.random.iter().flat_map(RandomLog::logs)));
    }

    fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }
}
