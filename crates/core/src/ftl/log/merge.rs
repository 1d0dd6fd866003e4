//! What block-mapped and hybrid FTLs share: the data block of every logical block, the newest copy of every page, the
//! copying of newest copies into a fresh block, and recovery by merging.
//!
//! A *data block* keeps the pages of one logical block at their own offsets; never-written and trimmed pages are holes.
//! All other blocks of an FTL of this family are *log blocks*, which it keeps itself.

use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, Ticket};
use crate::ftl::alloc::Alloc;
use crate::ftl::blocks::pool::Pool;
use crate::ftl::log::copies::Copies;
use crate::ftl::victim::Victim;
use crate::ftl::{Batch, PageWrite, Shape};
use crate::ledger::{BlockKind, Cause};
use crate::types::{Lbn, Lpn, Pbn, Ppn};

/// What happens to a write of a whole logical block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockWrite {
    /// It goes to a fresh block, which becomes the data block at once (HitStat).
    #[default]
    Bypass,
    /// It takes the ordinary path page by page (FlashSim).
    Pagewise,
}

/// Pages of a merge that writes nothing new.
pub const NOTHING: Batch<'static> = Batch::new(&[], &[]);

/// Number of log blocks: the wanted one, or all blocks besides data blocks and `extra` when none is given.
///
/// # Errors
/// When none is left or more are wanted than there are.
pub fn log_blocks(shape: &Shape, key: &str, wanted: Option<u32>, extra: u32) -> Result<u32, ConfigError> {
    let others = shape.logical_blocks() + extra;
    let spare = shape.geometry.blocks().saturating_sub(others);
    let why = format!("{} data blocks and {extra} for merges and recovery", shape.logical_blocks());
    shape.need_blocks(key, u64::from(others) + 1, &format!("{why} leave no log block"))?;
    match wanted {
        Some(0) => Err(ConfigError::new(key, "0 log blocks: nowhere to write an update", format!("use 1 to {spare}"))),
        Some(n) if n > spare => Err(ConfigError::new(
            key,
            format!("{n} log blocks, but {why} leave {spare}"),
            format!("use at most {spare}, or raise over_provisioning"),
        )),
        Some(n) => Ok(n),
        None => Ok(spare),
    }
}

/// The data block of each logical block and the newest copy of each page, with the merges that renew them.
#[derive(Debug)]
pub struct Merger {
    geometry: Geometry,
    alloc: Alloc,
    seed: u64,
    pool: Pool,
    /// Data block by LBN.
    data: Vec<Pbn>,
    /// By LBN: the data block was found by recovery and may end in a torn page, so nothing is appended to it.
    sealed: Vec<bool>,
    /// Newest copy of every page, in data and log blocks.
    pub copies: Copies,
    /// Number of the write command that is carried out, from 1.
    command: u64,
    /// By LBN: the command whose pages are in the log, or [`SEVERAL`]; 0 when nothing was logged since the last merge.
    logged_by: Vec<u64>,
}

/// Pages of several commands are in the log: they are merged together.
const SEVERAL: u64 = u64::MAX;

impl Merger {
    /// All blocks free, nothing mapped.
    pub fn new(shape: &Shape, alloc: Alloc) -> Self {
        let blocks = shape.logical_blocks() as usize;
        Self {
            geometry: shape.geometry,
            alloc,
            seed: shape.seed,
            pool: Pool::new(0, 1, shape.geometry.blocks(), alloc, Victim::named("fifo"), shape.seed),
            data: vec![Pbn::NONE; blocks],
            sealed: vec![false; blocks],
            copies: Copies::new(shape),
            command: 0,
            logged_by: vec![0; blocks],
        }
    }

    /// A write command of the buffer begins: what it logs of one logical block belongs together.
    pub const fn begin_command(&mut self) {
        self.command += 1;
    }

    /// Shape of the array.
    #[inline]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    /// Logical blocks.
    pub fn logical_blocks(&self) -> u32 {
        self.data.len() as u32
    }
    /// Pages of a logical block: fewer than a block in the last one when the logical pages end inside it.
    #[inline]
    pub fn pages_in(&self, lbn: Lbn) -> u32 {
        let pages = self.geometry.pages_per_block;
        pages.min(self.copies.logical_pages() - lbn.0 * pages)
    }
    /// True if the newest copy of the page is in its data block.
    #[inline]
    pub fn is_in_data_block(&self, lpn: Lpn) -> bool {
        let newest = self.copies.newest(lpn);
        newest.is_some() && self.geometry.pbn(newest) == self.data[self.geometry.lbn(lpn).index()]
    }
    /// True if slots `0..count` of `pbn` hold the newest copies of offsets `0..count` of the logical block.
    pub fn is_prefix(&self, lbn: Lbn, pbn: Pbn, count: u32) -> bool {
        let at_home = |o: u32| self.copies.newest(self.geometry.lpn(lbn, o)) == self.geometry.page(pbn, o);
        count <= self.pages_in(lbn) && (0..count).all(at_home)
    }
    /// Free blocks.
    pub fn free_count(&self) -> u32 {
        self.pool.free_count()
    }
    /// Takes a free block.
    pub fn take(&mut self) -> Pbn {
        self.pool.take()
    }

    /// Writes a page that has no copy yet to its offset of the data block (allocated if there is none), as long as
    /// that offset can still be programmed; `None` when it cannot.
    #[inline]
    pub fn first_write(&mut self, flash: &mut Flash, page: &PageWrite, data: &[u8], after: Ticket) -> Option<Ticket> {
        if self.copies.newest(page.lpn).is_some() {
            return None;
        }
        let lbn = self.geometry.lbn(page.lpn);
        if self.data[lbn.index()].is_none() {
            self.data[lbn.index()] = self.pool.take();
        }
        let place = self.geometry.page(self.data[lbn.index()], self.geometry.offset(page.lpn));
        let writable = !self.sealed[lbn.index()] && flash.can_program(place);
        writable.then(|| self.copies.program(flash, place, page, data, after))
    }

    /// Programs new contents of a page in a log block.
    #[inline]
    pub fn log(&mut self, flash: &mut Flash, place: Ppn, page: &PageWrite, data: &[u8], after: Ticket) -> Ticket {
        flash.ledger.log_pages += 1;
        let by = &mut self.logged_by[self.geometry.lbn(page.lpn).index()];
        *by = if *by == 0 || *by == self.command { self.command } else { SEVERAL };
        self.copies.program(flash, place, page, data, after)
    }

    /// True if every page of `batch` would be a [`Merger::first_write`].
    pub fn can_append(&self, flash: &Flash, batch: Batch<'_>) -> bool {
        batch.pages.iter().all(|page| {
            let lbn = self.geometry.lbn(page.lpn).index();
            let (block, offset) = (self.data[lbn], self.geometry.offset(page.lpn));
            let writable = |pbn| !self.sealed[lbn] && flash.can_program(self.geometry.page(pbn, offset));
            self.copies.newest(page.lpn).is_none() && (block.is_none() || writable(block))
        })
    }

    /// Fills `target` from offset `from` on: pages of `batch` (all of this logical block, ascending) are programmed,
    /// of all others the newest copy is moved there. The ticket resolves when all is programmed.
    pub fn complete(
        &mut self,
        flash: &mut Flash,
        (lbn, target, from): (Lbn, Pbn, u32),
        batch: Batch<'_>,
        cause: Cause,
        after: Ticket,
    ) -> Ticket {
        let mut done = after;
        let mut new = 0;
        let mut logged = from;
        for offset in from..self.pages_in(lbn) {
            let lpn = self.geometry.lpn(lbn, offset);
            let place = self.geometry.page(target, offset);
            let ticket = if let Some(page) = batch.pages.get(new).filter(|p| p.lpn == lpn) {
                new += 1;
                self.copies.program(flash, place, page, batch.data(new - 1), after)
            } else if self.copies.newest(lpn).is_some() {
                logged += u32::from(!self.is_in_data_block(lpn));
                self.copies.shift(flash, lpn, place, cause, after)
            } else {
                continue;
            };
            done = flash.clock.join(done, ticket);
        }
        assert_eq!(new, batch.pages.len(), "pages of another block, or not ascending");
        let alone = batch.pages.is_empty() && !matches!(self.logged_by[lbn.index()], 0 | SEVERAL);
        flash.ledger.log_pages_merged_alone += if alone { u64::from(logged) } else { 0 };
        done
    }

    /// [`Merger::complete`] of a fresh block, for a merge.
    pub fn rewrite(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> (Pbn, Ticket) {
        let target = self.pool.take();
        let done = self.complete(flash, (lbn, target, 0), batch, Cause::Merge, after);
        (target, done)
    }

    /// `fresh` becomes the data block; the old one, if any, is erased.
    pub fn replace_data(&mut self, flash: &mut Flash, lbn: Lbn, fresh: Pbn, after: Ticket) -> Ticket {
        let old = std::mem::replace(&mut self.data[lbn.index()], fresh);
        self.sealed[lbn.index()] = false;
        self.logged_by[lbn.index()] = 0;
        if old.is_some() { self.retire(flash, old, BlockKind::Data, after) } else { after }
    }

    /// Erases a block without valid pages and frees it.
    pub fn retire(&mut self, flash: &mut Flash, pbn: Pbn, kind: BlockKind, after: Ticket) -> Ticket {
        if kind == BlockKind::Log {
            flash.ledger.log_pages_reclaimed += u64::from(flash.next_page(pbn));
        }
        let done = flash.erase(pbn, kind, Cause::Merge, after);
        self.pool.give_back(flash, pbn);
        done
    }

    /// Rebuilds the table after a power cut and merges away every log block.
    ///
    /// A block that holds all winners of one logical block at their own offsets, and no other winner, is its data
    /// block. Every other logical block with winners is merged into a fresh block. A free block is always found: the
    /// FTL keeps at least one block beyond data blocks, log blocks and the target of a merge, so one block is erased
    /// when recovery starts; each logical block with pages in a log also had a data block of its own, which either
    /// holds no winner (and is erased at once) or is erased when that logical block has been merged. A cut inside
    /// recovery leaves only second copies in the target, which lose against their originals (see `recover`): the next
    /// recovery starts from the same state.
    pub fn rebuild(&mut self, flash: &mut Flash) {
        self.copies.rebuild(flash);
        self.data.fill(Pbn::NONE);
        self.sealed.fill(false);
        self.logged_by.fill(0);
        let now = Ticket::at(flash.now());
        for b in 0..self.geometry.blocks() {
            let pbn = Pbn(b);
            if flash.valid_pages(pbn) == 0 && flash.is_block_used(pbn) {
                flash.erase(pbn, BlockKind::Data, Cause::Recover, now);
            }
        }
        self.pool = Pool::new(0, 1, self.geometry.blocks(), self.alloc, Victim::named("fifo"), self.seed);
        self.pool.keep_free(flash, |pbn| flash.valid_pages(pbn) == 0);
        let all = 0..self.logical_blocks();
        let homeless: Vec<Lbn> = all.map(Lbn).filter(|lbn| !self.settle_at_home(flash, *lbn)).collect();
        for lbn in homeless {
            self.move_home(flash, lbn, now);
        }
    }

    /// Finds the block that is the data block of `lbn` as it stands; false if its pages must be merged.
    fn settle_at_home(&mut self, flash: &Flash, lbn: Lbn) -> bool {
        let copies = |o: u32| (o, self.copies.newest(self.geometry.lpn(lbn, o)));
        let mut mapped = (0..self.pages_in(lbn)).map(copies).filter(|(_, ppn)| ppn.is_some()).peekable();
        let Some((_, first)) = mapped.peek() else { return true };
        let block = self.geometry.pbn(*first);
        let mut count = 0;
        for (offset, ppn) in mapped {
            if ppn != self.geometry.page(block, offset) {
                return false;
            }
            count += 1;
        }
        if flash.valid_pages(block) != count {
            return false;
        }
        self.data[lbn.index()] = block;
        self.sealed[lbn.index()] = true;
        true
    }

    /// Recovery: merges one logical block and erases what that leaves without valid pages.
    fn move_home(&mut self, flash: &mut Flash, lbn: Lbn, now: Ticket) {
        let mut sources: Vec<Pbn> = (0..self.pages_in(lbn))
            .map(|offset| self.copies.newest(self.geometry.lpn(lbn, offset)))
            .filter(|ppn| ppn.is_some())
            .map(|ppn| self.geometry.pbn(ppn))
            .collect();
        sources.sort_unstable();
        sources.dedup();
        let target = self.pool.take();
        let done = self.complete(flash, (lbn, target, 0), NOTHING, Cause::Recover, now);
        self.data[lbn.index()] = target;
        for pbn in sources {
            if flash.valid_pages(pbn) == 0 {
                flash.erase(pbn, BlockKind::Data, Cause::Recover, done);
                self.pool.give_back(flash, pbn);
            }
        }
    }

    /// Checks that every block has one role and every valid page is its newest copy; `logs` are the other blocks in use.
    ///
    /// # Panics
    /// On the first violation.
    pub fn check(&self, flash: &Flash, logs: impl Iterator<Item = Pbn>) {
        self.copies.check(flash);
        let mut owners = vec![0; self.geometry.blocks() as usize];
        for (lbn, pbn) in self.data.iter().enumerate().filter(|(_, pbn)| pbn.is_some()) {
            owners[pbn.index()] += 1;
            for offset in 0..self.geometry.pages_per_block {
                let page = self.geometry.page(*pbn, offset);
                let home = self.geometry.lpn(Lbn(lbn as u32), offset);
                assert!(!flash.is_valid(page) || flash.number(page) == home.0, "data block of lbn {lbn}");
            }
        }
        for pbn in self.pool.free_blocks() {
            assert!(!flash.is_block_used(pbn), "free block {} is not erased", pbn.0);
            owners[pbn.index()] += 1;
        }
        for pbn in logs {
            owners[pbn.index()] += 1;
        }
        for (pbn, owners) in owners.iter().enumerate() {
            assert_eq!(*owners, 1, "owners of block {pbn}");
        }
        assert!(self.pool.free_count() >= 2, "a merge and its recovery need a free block each");
    }
}
