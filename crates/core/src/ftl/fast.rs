//! fast - Fully associative sector translation
//!
//! # Source
//! Sang-Won Lee, Dong-Joo Park, Tae-Sun Chung, Dong-Ho Lee, Sangwon Park and Ha-Joo Song, "A log buffer-based flash
//! translation layer using fully-associative sector translation", ACM Transactions on Embedded Computing Systems 6(3),
//! 2007; the reading of FlashSim (`fast.c`); the thesis of HitStat (section 2.3, tables 1, 3 and 6).
//!
//! # What it does
//! Updates of any logical block are appended to shared random-write (RW) log blocks. When all are full, the oldest one
//! is reclaimed: every logical block that still has a valid page in it is merged in full, then it is erased. One
//! sequential (SW) log block takes a logical block written from offset 0 on: when complete it becomes the data block
//! (switch), when another one begins it is completed by copies (partial merge).
//!
//! # Parameters
//! RAM: `4 * logical_blocks + 4 * N * (rw_blocks + 1)` bytes, N pages a block (without SW: `rw_blocks`).
//!
//! # Deviations and chosen readings
//! - The first write of a page goes to its data block while its offset there can still be programmed (FlashSim).
//! - The owner of the SW block writes beyond its end: partial merge in which the new page takes its slot. It writes an
//!   offset that is in the SW block: full merge with the new page.
//! - A write that has to merge first waits for that merge.
//! - Trim of a page inside the SW block completes that block first.
//! - `merges_full` counts reclaimed RW blocks that had a valid page and full merges of the SW owner, `merges_full_lbns`
//!   the logical blocks rewritten (FlashSim's count). When the SW owner has valid pages in a reclaimed RW block, completing
//!   the SW block takes them: that is a partial merge, and no logical block of the full merge. A block counts as dead only
//!   if it had no valid page at all.
//!
//! # Known ambiguities
//! - Lazy or eager switch, and the condition on offset 0, differ between the text and public code: both are parameters.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Batch, Found, Ftl, PageRead, PageWrite, Shape};
use crate::error::ConfigError;
use crate::flash::{Flash, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::log::merge::{BlockWrite, Merger, NOTHING, log_blocks};
use crate::ftl::log::random_log::RandomLog;
use crate::ftl::log::report::{LogOrder, Merge, Reclaimed, merged};
use crate::ledger::{BlockKind, Cause, MergeKind};
use crate::types::{Lbn, Lpn, Pbn, Ppn};

crate::params! {
    pub struct Params {
        /// Random-write log blocks. HitStat: 128.
        rw_blocks: Option<u32> = None, "blocks",
            absent "all besides data blocks, the SW block and two for merges, as in FlashSim";
        /// Whether there is a SW log block, for sequential writes (HitStat: `false`, by its tables 5 and
        /// 6; its section 2.3 has one).
        use_sw: bool = true;
        /// When a complete SW block becomes the data block.
        sw_switch: SwSwitch = SwSwitch::Eager, with use_sw = true;
        /// A write of offset 0 begins a SW block only if its logical block has no valid page in the RW log (the original;
        /// FlashSim does not check).
        cond1_rw_check: bool = false, with use_sw = true;
        /// Path of a write of a whole logical block.
        block_write: BlockWrite = BlockWrite::Bypass;
        /// Which free block is taken.
        alloc: Alloc = Alloc::default();
    }
}

/// When a complete sequential log block becomes the data block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SwSwitch {
    /// At once.
    Eager,
    /// When the next one begins (FlashSim).
    Lazy,
}

/// The sequential log block: slots `0..count` hold offsets `0..count` of `owner`.
#[derive(Clone, Copy, Debug)]
struct Sequential {
    pbn: Pbn,
    owner: Lbn,
    count: u32,
}

impl Sequential {
    /// What freeing it reclaims.
    const fn reclaimed(self) -> Reclaimed {
        Reclaimed { order: LogOrder::Offset, blocks: 1, pages: self.count }
    }
}

/// Reclaimed RW blocks whose associativity is kept for golden files.
const HISTORY: usize = 1024;

/// FAST: one sequential and many random-write log blocks, shared by all logical blocks.
#[derive(Debug)]
pub struct Fast {
    params: Params,
    blocks: Merger,
    rw: RandomLog,
    sw: Option<Sequential>,
    associativity: VecDeque<u32>,
}

/// Builds the FTL.
///
/// # Errors
/// When the program order is strict or the log blocks do not fit next to the data blocks.
pub fn build(params: Params, shape: &Shape) -> Result<Box<dyn Ftl>, ConfigError> {
    shape.need_skipping("fast")?;
    let others = 2 + u32::from(params.use_sw);
    let rw_blocks = log_blocks(shape, "ftl.rw_blocks", params.rw_blocks, others)?;
    Ok(Box::new(Fast {
        blocks: Merger::new(shape, params.alloc),
        params,
        rw: RandomLog::new(rw_blocks),
        sw: None,
        associativity: VecDeque::new(),
    }))
}

impl Fast {
    #[inline]
    fn write_page(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        if let Some(done) = self.blocks.first_write(flash, page, data, after) {
            return done;
        }
        let lbn = self.blocks.geometry().lbn(page.lpn);
        let offset = self.blocks.geometry().offset(page.lpn);
        if offset == 0 && self.params.use_sw && (!self.params.cond1_rw_check || !self.is_in_rw_log(lbn)) {
            let after = self.close_sw(flash, after);
            self.sw = Some(Sequential { pbn: self.blocks.take(), owner: lbn, count: 0 });
            return self.append_sw(flash, page, data, after);
        }
        match self.sw {
            Some(sw) if sw.owner == lbn && offset == sw.count => self.append_sw(flash, page, data, after),
            Some(sw) if sw.owner == lbn => {
                self.break_sw(flash, sw, Batch::new(std::slice::from_ref(page), data), after)
            }
            _ => self.append_rw(flash, page, data, after),
        }
    }

    /// Programs the next page of the SW block and switches when that completes it.
    fn append_sw(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        let sw = self.sw.as_mut().expect("a SW block is open");
        let place = self.blocks.geometry().page(sw.pbn, sw.count);
        sw.count += 1;
        let complete = sw.count == self.blocks.pages_in(sw.owner);
        let done = self.blocks.log(flash, place, page, data, after);
        if complete && self.params.sw_switch == SwSwitch::Eager {
            self.close_sw(flash, done);
        }
        done
    }

    /// Closes the SW block, if there is one.
    fn close_sw(&mut self, flash: &mut Flash, after: Ticket) -> Ticket {
        self.sw.take().map_or(after, |sw| close(&mut self.blocks, flash, sw, after))
    }

    /// The owner of the SW block writes out of order: a page beyond the end takes its slot in a partial merge, a page
    /// that is in the SW block forces a full merge.
    fn break_sw(&mut self, flash: &mut Flash, sw: Sequential, new: Batch<'_>, after: Ticket) -> Ticket {
        self.sw = None;
        if self.blocks.geometry().offset(new.pages[0].lpn) > sw.count {
            merged(flash, Merge::Partial);
            let done = self.blocks.complete(flash, (sw.owner, sw.pbn, sw.count), new, Cause::Merge, after);
            self.blocks.replace_data(flash, sw.owner, sw.pbn, done);
            return done;
        }
        merged(flash, Merge::Full { data_blocks: 1, log: sw.reclaimed() });
        let (fresh, done) = self.blocks.rewrite(flash, sw.owner, new, after);
        self.blocks.retire(flash, sw.pbn, BlockKind::Log, done);
        self.blocks.replace_data(flash, sw.owner, fresh, done);
        done
    }

    fn append_rw(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        let after = if self.rw.is_full(flash) { self.reclaim_oldest(flash, after) } else { after };
        self.rw.append(&mut self.blocks, flash, page, data, after)
    }

    /// Merges every logical block that has a valid page in the oldest RW block, then erases it. The owner of the SW
    /// block is merged by closing that one.
    fn reclaim_oldest(&mut self, flash: &mut Flash, after: Ticket) -> Ticket {
        let Self { rw, blocks, sw, .. } = self;
        let (owners, done) = rw.reclaim(0, blocks, flash, after, |blocks, flash, lbn| {
            if let Some(owned) = sw.take_if(|sw| sw.owner == lbn) {
                return (0, close(blocks, flash, owned, after));
            }
            let (fresh, copied) = blocks.rewrite(flash, lbn, NOTHING, after);
            (1, blocks.replace_data(flash, lbn, fresh, copied))
        });
        if self.associativity.len() == HISTORY {
            self.associativity.pop_front();
        }
        self.associativity.push_back(owners);
        done
    }

    /// True if a valid page of the logical block is in the RW log.
    fn is_in_rw_log(&self, lbn: Lbn) -> bool {
        let sw = self.sw.map_or(Pbn::NONE, |sw| sw.pbn);
        let in_log = |offset| {
            let lpn = self.blocks.geometry().lpn(lbn, offset);
            let newest = self.blocks.copies.newest(lpn);
            newest.is_some() && !self.blocks.is_in_data_block(lpn) && self.blocks.geometry().pbn(newest) != sw
        };
        (0..self.blocks.pages_in(lbn)).any(in_log)
    }
}

/// The SW block becomes the data block of its owner: a switch when it is complete, else a partial merge.
fn close(blocks: &mut Merger, flash: &mut Flash, sw: Sequential, after: Ticket) -> Ticket {
    if sw.count == blocks.pages_in(sw.owner) {
        merged(flash, Merge::Switch);
        return blocks.replace_data(flash, sw.owner, sw.pbn, after);
    }
    merged(flash, Merge::Partial);
    let done = blocks.complete(flash, (sw.owner, sw.pbn, sw.count), NOTHING, Cause::Merge, after);
    blocks.replace_data(flash, sw.owner, sw.pbn, done)
}

impl Ftl for Fast {
    fn merges(&self) -> Option<MergeKind> {
        Some(MergeKind::OneFullLogBlock)
    }
    fn read(&mut self, flash: &mut Flash, PageRead { lpn, cause, .. }: PageRead, after: Ticket) -> Found {
        self.blocks.copies.read(flash, lpn, cause, after)
    }

    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.blocks.begin_command();
        batch.write_each(flash, after, |flash, page, data| self.write_page(flash, page, data, after))
    }

    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        if batch.pages.is_empty() || self.params.block_write == BlockWrite::Pagewise {
            return self.write(flash, batch, after);
        }
        let sw = self.sw.take_if(|sw| sw.owner == lbn);
        let log = sw.map_or(Reclaimed::NONE, Sequential::reclaimed);
        merged(flash, Merge::Bypass { unpadded: batch.unpadded(), log });
        let (fresh, done) = self.blocks.rewrite(flash, lbn, batch, after);
        if let Some(sw) = sw {
            self.blocks.retire(flash, sw.pbn, BlockKind::Log, done);
        }
        self.blocks.replace_data(flash, lbn, fresh, done);
        done
    }

    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        let (lbn, offset) = (self.blocks.geometry().lbn(lpn), self.blocks.geometry().offset(lpn));
        let inside = self.sw.is_some_and(|sw| sw.owner == lbn && offset < sw.count);
        let done = if inside { self.close_sw(flash, after) } else { after };
        self.blocks.copies.trim(flash, lpn);
        done
    }

    fn settle(&mut self, flash: &mut Flash) {
        let mut after = self.close_sw(flash, Ticket::at(flash.now()));
        while self.rw.logs().next().is_some() {
            after = self.reclaim_oldest(flash, after);
        }
    }

    fn map_bytes(&self) -> u64 {
        let logs = u64::from(self.rw.limit() + u32::from(self.params.use_sw));
        4 * (u64::from(self.blocks.logical_blocks()) + logs * u64::from(self.blocks.geometry().pages_per_block))
    }

    fn locate(&self, _: &Flash, lpn: Lpn) -> Ppn {
        self.blocks.copies.newest(lpn)
    }

    fn rebuild(&mut self, flash: &mut Flash) {
        self.rw.clear();
        self.sw = None;
        self.blocks.rebuild(flash);
    }

    fn check(&self, flash: &Flash) {
        assert!(self.rw.logs().count() as u32 <= self.rw.limit(), "too many RW log blocks");
        if let Some(sw) = self.sw {
            assert_eq!(flash.next_page(sw.pbn), sw.count);
            assert!(self.blocks.is_prefix(sw.owner, sw.pbn, sw.count), "SW block out of order");
        }
        let logs = self.rw.logs().chain(self.sw.map(|sw| sw.pbn));
        self.blocks.check(flash, logs);
    }

    fn free_blocks(&self) -> u32 {
        self.blocks.free_count()
    }

    fn golden_state(&self, _: &Flash) -> Value {
        json!({ "reclaim_associativity": self.associativity })
    }
}
