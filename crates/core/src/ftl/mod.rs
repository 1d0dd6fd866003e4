//! Flash translation layers: where a logical page lies, and how space is made.
//!
//! An FTL is straight-line code over [`Flash`]: it reads, programs, copies and erases pages and passes tickets along;
//! it never waits and never calls up. One file per FTL; the list at the end of this file is the only place that
//! enumerates them.

pub mod alloc;
pub mod blocks;
pub mod cache;
pub mod chain_victim;
pub mod frame;
pub(crate) mod log;
pub mod pace;
pub mod placement;
pub mod victim;

use std::cell::{Cell, RefCell};

use serde_json::Value;

use crate::error::ConfigError;
use crate::flash::{Flash, Geometry, Oob, ProgramOrder, Release, Ticket};
use crate::ledger::{Cause, MergeKind};
use crate::types::{Lbn, Lpn, Nanos, Ppn};

/// One page on its way down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageWrite {
    /// Its address.
    pub lpn: Lpn,
    /// [`Cause::Host`] for dirty data, [`Cause::Pad`] for pages added by padding.
    pub cause: Cause,
    /// Version of its content (newer is larger).
    pub version: u64,
    /// Where its content comes from.
    pub from: Source,
    /// When the ticket of its program resolves.
    pub release: Release,
    /// That ticket, once the FTL has programmed it: then its frame can be used.
    pub done: Cell<Ticket>,
}

impl PageWrite {
    /// A page whose content is in RAM, and stays there until it is programmed.
    #[inline]
    pub const fn new(lpn: Lpn, cause: Cause, version: u64) -> Self {
        Self {
            lpn,
            cause,
            version,
            from: Source::Ram,
            release: Release::Done,
            done: Cell::new(Ticket::at(Nanos::ZERO)),
        }
    }

    /// Programs it: the only way for a page from above to get to flash.
    #[expect(clippy::inline_always, reason = "as in Space: the way of every page that is written")]
    #[inline(always)]
    pub fn program(&self, flash: &mut Flash, to: Ppn, data: &[u8], after: Ticket) -> Ticket {
        let oob = Oob::data(self.lpn, self.version);
        let ticket = flash.program_released(to, oob, data, self.cause, self.release, after);
        self.done.set(ticket);
        ticket
    }
}

/// One page that is wanted from below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRead {
    /// Its address.
    pub lpn: Lpn,
    /// [`Cause::Host`], [`Cause::Pad`] or [`Cause::Prefetch`].
    pub cause: Cause,
    /// End of the consecutive pages that the same host request goes on to: FTLs that fetch mappings ahead use it.
    pub end: Lpn,
    /// Mappings that the host predicts to be needed from this page on ([`Hint::mappings`](crate::types::Hint)); 0 = unknown.
    pub mappings: u16,
}

impl PageRead {
    /// A page that is wanted alone, and about which nothing more is known.
    #[inline]
    pub const fn new(lpn: Lpn, cause: Cause) -> Self {
        Self { lpn, cause, end: Lpn(lpn.0 + 1), mappings: 0 }
    }
}

/// Where the content of a page on its way down comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// All of it is in RAM.
    Ram,
    /// Some or all of it must first be read from the page's copy on flash. Only FTLs whose map lies on flash
    /// ([`Ftl::keeps_map_on_flash`]) are asked for this: they read the copy in the page's turn ([`Batch::read_old_copy`]),
    /// so that the read and the program share one look-up. A page without a copy is looked up and not read; if it was to
    /// pad ([`Cause::Pad`]), nothing is programmed.
    OldCopy,
}

/// Pages on their way down, in ascending LPN order, with their bytes.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The pages.
    pub pages: &'a [PageWrite],
    /// Their contents, one after the other; empty without media.
    pub bytes: &'a [u8],
    /// End of the consecutive pages that the host request goes on to which the first page belongs to, if that is known.
    pub end: Lpn,
    /// Takes the tickets of the reads of old copies, in the order of the pages that need them, for a caller who wants them.
    pub old_copies: Option<&'a RefCell<Vec<Ticket>>>,
}

impl<'a> Batch<'a> {
    /// Pages with their contents, about which no more is known.
    #[inline]
    pub const fn new(pages: &'a [PageWrite], bytes: &'a [u8]) -> Self {
        Self { pages, bytes, end: Lpn(0), old_copies: None }
    }
    /// Reads the copy of a page that is needed to rewrite the page, if it has one, and notes the ticket.
    #[inline]
    pub fn read_old_copy(&self, flash: &mut Flash, ppn: Ppn, after: Ticket) -> Ticket {
        let ticket = if ppn.is_some() { flash.read(ppn, Cause::Pad, after) } else { after };
        if let Some(tickets) = self.old_copies {
            tickets.borrow_mut().push(ticket);
        }
        ticket
    }
    /// Pages that were not added by padding.
    pub fn unpadded(&self) -> u32 {
        self.pages.iter().filter(|page| page.cause == Cause::Host).count() as u32
    }
    /// Contents of page `index`; empty without media.
    #[inline]
    pub fn data(&self, index: usize) -> &'a [u8] {
        if self.bytes.is_empty() {
            return &[];
        }
        let page_bytes = self.bytes.len() / self.pages.len();
        &self.bytes[index * page_bytes..][..page_bytes]
    }
    /// The pages with their contents.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&'a PageWrite, &'a [u8])> + use<'a> {
        let batch = *self;
        batch.pages.iter().enumerate().map(move |(i, page)| (page, batch.data(i)))
    }
    /// Writes page after page, none waiting for another. The ticket resolves when the last one is programmed.
    #[inline]
    pub fn write_each(
        &self,
        flash: &mut Flash,
        after: Ticket,
        mut write: impl FnMut(&mut Flash, &PageWrite, &[u8]) -> Ticket,
    ) -> Ticket {
        let mut done = after;
        for (page, data) in self.iter() {
            let ticket = write(flash, page, data);
            done = if self.pages.len() == 1 { ticket } else { flash.clock.join(done, ticket) };
        }
        done
    }
    /// End of the run of consecutive pages that page `index` belongs to.
    #[inline]
    pub fn run_end(&self, index: usize) -> Lpn {
        let run = self.pages[index..].windows(2).take_while(|pair| pair[0].lpn.0 + 1 == pair[1].lpn.0);
        Lpn(self.pages[index].lpn.0 + 1 + run.count() as u32)
    }
    /// The pages `from..to` as a batch of their own.
    #[must_use]
    pub fn part(&self, from: usize, to: usize) -> Self {
        let page_bytes = self.bytes.len() / self.pages.len().max(1);
        Self { pages: &self.pages[from..to], bytes: &self.bytes[from * page_bytes..to * page_bytes], ..*self }
    }
}

/// Answer to a read.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// When the data is there.
    pub ticket: Ticket,
    /// Where it was; [`Ppn::NONE`] when the page was never written or is trimmed (it reads as zeros).
    pub ppn: Ppn,
}

/// What an FTL is built for.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The array.
    pub geometry: Geometry,
    /// Pages the host can address.
    pub logical_pages: u32,
    /// Pages of a block in SLC mode; 0 if the array has no such mode.
    pub slc_pages: u32,
    /// Consecutive pages of a block that are one page of the flash (`device.commands.unit_pages`).
    pub unit_pages: u32,
    /// Order of programs inside a block.
    pub order: ProgramOrder,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Shape {
    /// Logical blocks, the last one possibly short.
    pub const fn logical_blocks(&self) -> u32 {
        self.logical_pages.div_ceil(self.geometry.pages_per_block)
    }
    /// Refuses a device with fewer than `blocks` physical blocks.
    ///
    /// # Errors
    /// Names `key`, the number needed and the number there is.
    pub fn need_blocks(&self, key: &str, blocks: u64, why: &str) -> Result<(), ConfigError> {
        let have = u64::from(self.geometry.blocks());
        if blocks <= have {
            return Ok(());
        }
        Err(ConfigError::new(
            key,
            format!("the device has {have} erase blocks but needs {blocks}: {why}"),
            "raise over_provisioning, add blocks, or lower what the FTL reserves",
        ))
    }
    /// Refuses strict program order for an FTL that leaves never-written pages of a block as holes.
    ///
    /// # Errors
    /// Says so.
    pub fn need_skipping(&self, ftl: &str) -> Result<(), ConfigError> {
        if self.order != ProgramOrder::Strict {
            return Ok(());
        }
        Err(ConfigError::new(
            "device.program_order",
            format!("`strict` does not fit `{ftl}`, which keeps pages at their own offset and skips unwritten ones"),
            "use program_order = \"ascending\" or a page-mapped FTL",
        ))
    }
}

/// A flash translation layer.
///
/// Contract: every host operation leaves the FTL able to serve the next one (it keeps its own reserve); the old copy
/// of a page is invalidated after the new one is programmed; every loop is bounded.
pub trait Ftl: Send {
    /// Reads a page.
    fn read(&mut self, flash: &mut Flash, page: PageRead, after: Ticket) -> Found;
    /// Writes pages in ascending LPN order, one after the other: what the first one changes in the map, the next one
    /// finds. The ticket resolves when the last one is programmed.
    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket;
    /// Writes the current contents of one logical block, ascending; pages that are not in `batch` were never written.
    /// FTLs without a better way write page by page.
    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        let _ = lbn;
        self.write(flash, batch, after)
    }
    /// True if [`Ftl::write_block`] fetches the missing pages of the block itself, so that nothing above should pad.
    fn completes_blocks(&self) -> bool {
        false
    }
    /// What is known beforehand of its merges; `None` without log blocks.
    fn merges(&self) -> Option<MergeKind> {
        None
    }
    /// True if its work depends on which pages are neighbours: of a logical block, of a translation page, of a die. False
    /// where page numbers are mere names.
    fn sees_neighbours(&self) -> bool {
        true
    }
    /// The page holds nothing of value any more. To survive a power cut the trim must be journalled
    /// ([`Flash::journal`]) before the array erases its next block: once the trimmed copy is erased, an older copy that
    /// was not would win at recovery.
    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket;
    /// True if it relocates blocks that were read too often ([`Flash::take_disturbed`]).
    fn relocates_disturbed(&self) -> bool {
        false
    }
    /// True if mappings lie in translation pages on flash: then every page that is read, written or trimmed is looked up
    /// once ([`Ledger::map_look_ups`](crate::ledger::Ledger::map_look_ups)), and old copies are read in the page's turn
    /// ([`Source::OldCopy`]).
    fn keeps_map_on_flash(&self) -> bool {
        false
    }
    /// True if mappings are looked up in a cache and may be missing there, so that look-ups are counted.
    fn caches_mappings(&self) -> bool {
        self.keeps_map_on_flash()
    }
    /// True if [`Ftl::idle`] does anything: only then the engine looks for idle time.
    fn works_in_idle_time(&self) -> bool {
        false
    }
    /// The array is idle, and the host wants nothing until `until`: background work that ends by then may be done.
    fn idle(&mut self, flash: &mut Flash, until: Nanos) {
        let _ = (flash, until);
    }
    /// Merges everything that is logged. Not a host flush, and no part of `replay.settle`: data in a log is on flash.
    fn settle(&mut self, flash: &mut Flash) {
        let _ = flash;
    }
    /// Preconditioning: writes one logical block, ascending, all pages, without mapping work.
    fn fill(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>) {
        self.write_block(flash, lbn, batch, Ticket::at(Nanos::ZERO));
    }
    /// Preconditioning is over: write what [`Ftl::fill`] left out (translation pages).
    fn filled(&mut self, flash: &mut Flash) {
        let _ = flash;
    }
    /// RAM that the mapping takes now, bytes, by the formula in the FTL's manual page.
    fn map_bytes(&self) -> u64;
    /// Most RAM that the mapping can take on this device, bytes, by the same formula.
    fn map_bytes_most(&self) -> u64 {
        self.map_bytes()
    }
    /// Where a page lies, without counting anything: for tests and checks.
    fn locate(&self, flash: &Flash, lpn: Lpn) -> Ppn;
    /// After a power cut: rebuilds all state from the OOB of the array (`flash.restore()` was called).
    fn rebuild(&mut self, flash: &mut Flash);
    /// Checks the FTL's invariants (each valid page is the newest copy, each block has one role, the reserve is kept); panics
    /// on a violation. For tests.
    fn check(&self, flash: &Flash);
    /// Free blocks, for golden files and reports.
    fn free_blocks(&self) -> u32;
    /// FTL-specific state in the form of the golden files (`cmt`, `reclaim_associativity`, ...), by key.
    fn golden_state(&self, flash: &Flash) -> Value {
        let _ = flash;
        Value::Null
    }
}

crate::registry::plugins! {
    /// Every FTL. A line here gives it a name, typed parameters, a manual page and a place in every test.
    FTLS: Box<dyn Ftl>, "ftl", |params, module, shape: &Shape| module::build(params, shape);
    page,
    block,
    bast,
    fast,
    superblock,
    last,
    dftl,
    rftl,
    tpftl,
    learnedftl,
    sftl,
    cdftl,
    urm_map,
}
