//! The flash array: geometry, page and block state, OOB, wear, optional payload bytes, time, and the ledger.
//!
//! The rules of NAND are enforced here, never in an FTL: a page is programmed at most once between erases, offsets
//! inside a block ascend, only whole blocks are erased. The simulator additionally refuses to erase a block that holds
//! a valid page and to read a page that was never programmed. A broken rule is a bug of an FTL and panics, in release
//! builds too: a simulation that goes on after it would print wrong numbers.
//!
//! State changes at once, in the order of the calls; time comes after, through [`clock::Ticket`]s.

mod cells;
mod check;
pub mod clock;
mod copy;
mod geometry;
mod oob;
mod power;
mod reliability;
mod replicas;

pub use cells::{CellConfig, PageTimes};
pub use clock::{Clock, ClockShape, ClockTimes, CommandConfig, Planes, Release, SchedulerConfig, Ticket, TimingModel};
pub use geometry::{Geometry, ProgramOrder};
pub use oob::{Oob, PageKind};
pub use power::{CutMode, JOURNAL_LIMIT, Tombstone};
pub use reliability::ReliabilityConfig;
pub use replicas::first_idle_copy;

use oob::{ERASED, TORN};

use crate::divisor::Divisor;
use cells::CellTimes;
use clock::OpTarget;

use crate::ledger::{BlockKind, Cause, Ledger, Op};
use crate::sparse::SparseTable;
use crate::types::{Nanos, Pbn, Ppn};

/// Whether the device holds real bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Media {
    /// Addresses only: nothing is stored, a power cut cannot be simulated.
    #[default]
    None,
    /// Page contents, write versions and program sequence numbers in memory.
    Memory,
}

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Next page that may be programmed (offsets ascend).
    next_page: u32,
    valid_pages: u32,
    erase_count: u32,
}

/// What survives a power cut.
#[derive(Clone, Debug, Default)]
struct Cells {
    /// By page: what its OOB says it holds ([`Oob::packed`]), or a marker.
    owner: SparseTable<u32>,
    blocks: Vec<Block>,
    /// By block: every cell holds one bit until the next erase. Empty if there is no such mode.
    slc: Vec<bool>,
    /// Version and program sequence of the pages, by block; empty before the block's first program (with media only).
    stamps: Vec<Vec<(u64, u64)>>,
    /// Page contents, in the same way.
    bytes: Vec<Vec<u8>>,
    /// Pages programmed so far, and those of them that were erased again: conservation.
    programmed_pages: u64,
    erased_pages: u64,
    /// Trims that were journalled and whose older copies may still exist.
    tombstones: Vec<Tombstone>,
    /// Read disturb, wear-out and bad blocks, if they are modelled.
    reliability: Option<reliability::Reliability>,
}

/// The flash array: cells, OOB, wear, time and ledger, under the rules of NAND.
#[derive(Debug)]
pub struct Flash {
    geometry: Geometry,
    /// To divide by the pages of a block and by the dies.
    by_block: Divisor,
    by_die: Divisor,
    order: ProgramOrder,
    media: Media,
    cells: Cells,
    /// One bit by page: the FTL still needs it.
    valid: Vec<u64>,
    programs_ever: u64,
    /// What the cells take, if pages or blocks differ in that.
    times: Option<Box<CellTimes>>,
    /// Copies inside a plane are not transferred.
    copy_back: bool,
    power: power::Power,
    /// Time of the array.
    pub clock: Clock,
    /// The device's ledger. Layers above count their events here.
    pub ledger: Ledger,
}

impl Flash {
    /// An erased array.
    pub fn new(geometry: Geometry, order: ProgramOrder, media: Media, clock: Clock) -> Self {
        let pages = geometry.pages() as usize;
        let with_media = media == Media::Memory;
        Self {
            cells: Cells {
                owner: SparseTable::new(pages),
                blocks: vec![Block::default(); geometry.blocks() as usize],
                slc: Vec::new(),
                stamps: if with_media { vec![Vec::new(); geometry.blocks() as usize] } else { Vec::new() },
                bytes: if with_media { vec![Vec::new(); geometry.blocks() as usize] } else { Vec::new() },
                programmed_pages: 0,
                erased_pages: 0,
                tombstones: Vec::new(),
                reliability: None,
            },
            valid: vec![0; pages.div_ceil(64)],
            programs_ever: 0,
            times: None,
            copy_back: false,
            power: power::Power::default(),
            by_block: Divisor::new(geometry.pages_per_block),
            by_die: Divisor::new(geometry.dies()),
            geometry,
            order,
            media,
            clock,
            ledger: Ledger::default(),
        }
    }

    /// Geometry of the array.
    #[inline]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }
    /// Whether bytes are stored.
    pub const fn media(&self) -> Media {
        self.media
    }
    /// Simulated time.
    #[inline]
    pub fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Block of a page.
    #[inline]
    fn block_of(&self, ppn: Ppn) -> Pbn {
        Pbn(self.by_block.quotient(ppn.0))
    }

    /// Reads a programmed page.
    ///
    /// # Panics
    /// If the page is erased, skipped or torn.
    pub fn read(&mut self, ppn: Ppn, cause: Cause, after: Ticket) -> Ticket {
        let pbn = self.sense(ppn);
        self.operate(Op::Read, pbn, ppn, cause, Release::Done, after)
    }

    /// A programmed page is read, of the block that is returned.
    #[expect(clippy::inline_always, reason = "as operate: every page that is read passes here")]
    #[inline(always)]
    fn sense(&mut self, ppn: Ppn) -> Pbn {
        assert!(self.cells.owner.at(ppn.index()) < TORN, "read of unwritten page {}", ppn.0);
        let pbn = self.block_of(ppn);
        if let Some(model) = &mut self.cells.reliability {
            model.count_read(pbn);
        }
        pbn
    }

    /// Programs an erased page and marks it valid. `data` is one page, or empty without media. The ticket resolves when
    /// the cells are programmed.
    ///
    /// # Panics
    /// If the page is not erased or the order inside the block is broken.
    pub fn program(&mut self, ppn: Ppn, oob: Oob, data: &[u8], cause: Cause, after: Ticket) -> Ticket {
        self.program_released(ppn, oob, data, cause, Release::Done, after)
    }

    /// [`Flash::program`] of a page that leaves a frame of the buffer: `release` says when the ticket resolves.
    ///
    /// # Panics
    /// As [`Flash::program`].
    #[expect(clippy::inline_always, reason = "as operate: every page that leaves the buffer passes here")]
    #[inline(always)]
    pub fn program_released(
        &mut self,
        ppn: Ppn,
        oob: Oob,
        data: &[u8],
        cause: Cause,
        release: Release,
        after: Ticket,
    ) -> Ticket {
        let pbn = self.block_of(ppn);
        if self.media == Media::Memory {
            self.program_cells(ppn, pbn, oob, data);
        } else {
            self.set_programmed(ppn, pbn, oob.packed());
        }
        self.operate(Op::Program, pbn, ppn, cause, release, after)
    }

    /// With media: the bytes too, and the power may fail.
    #[inline(never)]
    fn program_cells(&mut self, ppn: Ppn, pbn: Pbn, oob: Oob, data: &[u8]) {
        let cut = self.power_due();
        if cut == Some(CutMode::Before) {
            self.snapshot();
        }
        self.set_programmed(ppn, pbn, oob.packed());
        self.store(ppn, oob, data);
        match cut {
            None | Some(CutMode::Before) => {}
            Some(CutMode::After) => self.snapshot(),
            Some(mode @ (CutMode::Torn | CutMode::TornPair)) => self.snapshot_torn_page(ppn, mode),
        }
    }

    /// The FTL does not need this page any more. No flash operation. Returns its block.
    #[inline]
    pub fn invalidate(&mut self, ppn: Ppn) -> Pbn {
        let pbn = self.block_of(ppn);
        self.invalidate_in(pbn, ppn);
        pbn
    }

    /// The same for a page of the block `pbn`.
    #[inline]
    fn invalidate_in(&mut self, pbn: Pbn, ppn: Ppn) {
        let (word, bit) = (&mut self.valid[ppn.index() / 64], 1u64 << (ppn.0 % 64));
        assert!(*word & bit != 0, "page {} is already invalid", ppn.0);
        *word &= !bit;
        self.cells.blocks[pbn.index()].valid_pages -= 1;
    }

    /// Erases a block that holds no valid page; counted as a block of `kind`.
    ///
    /// # Panics
    /// If the block holds a valid page.
    pub fn erase(&mut self, pbn: Pbn, kind: BlockKind, cause: Cause, after: Ticket) -> Ticket {
        let block = &self.cells.blocks[pbn.index()];
        assert!(block.valid_pages == 0, "erase of block {} with {} valid pages", pbn.0, block.valid_pages);
        let cut = self.power_due();
        match cut {
            None | Some(CutMode::After) => {}
            Some(CutMode::Before) => self.snapshot(),
            Some(CutMode::Torn | CutMode::TornPair) => self.snapshot_torn_block(pbn),
        }
        let block = &mut self.cells.blocks[pbn.index()];
        block.next_page = 0;
        block.erase_count += 1;
        if let Some(model) = &mut self.cells.reliability
            && model.count_erase(pbn, self.geometry.die(pbn), block.erase_count)
        {
            block.erase_count = 0;
        }
        if self.times.is_some() {
            self.end_slc(pbn);
        }
        let first = self.geometry.first_page(pbn).index();
        let pages = first..first + self.geometry.pages_per_block as usize;
        self.cells.erased_pages += self.cells.owner.clear_range(pages) as u64;
        self.ledger.erases_by_kind[kind as usize] += 1;
        if cut == Some(CutMode::After) {
            self.snapshot();
        }
        self.operate(Op::Erase, pbn, self.geometry.first_page(pbn), cause, Release::Done, after)
    }

    /// True if the FTL needs the page.
    #[inline]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        self.valid[ppn.index() / 64] >> (ppn.0 % 64) & 1 != 0
    }
    /// Valid pages of a block.
    #[inline]
    pub fn valid_pages(&self, pbn: Pbn) -> u32 {
        self.cells.blocks[pbn.index()].valid_pages
    }
    /// Offset of the next page of the block that may be programmed; `pages_per_block` when it is full.
    #[inline]
    pub fn next_page(&self, pbn: Pbn) -> u32 {
        self.cells.blocks[pbn.index()].next_page
    }
    /// True if the page is erased and the order of programs still allows it.
    #[inline]
    pub fn can_program(&self, ppn: Ppn) -> bool {
        let next = self.next_page(self.block_of(ppn));
        match self.order {
            ProgramOrder::Any => self.cells.owner.at(ppn.index()) == ERASED,
            ProgramOrder::Ascending => self.geometry.page_in_block(ppn) >= next,
            ProgramOrder::Strict => self.geometry.page_in_block(ppn) == next,
        }
    }
    /// Erases of a block so far.
    #[inline]
    pub fn erase_count(&self, pbn: Pbn) -> u32 {
        self.cells.blocks[pbn.index()].erase_count
    }
    /// Programs since the array was made, those of a run that a power cut threw away included.
    pub const fn programs_ever(&self) -> u64 {
        self.programs_ever
    }
    /// True if the page was programmed since the last erase of its block (and its program was not interrupted).
    #[inline]
    pub fn is_programmed(&self, ppn: Ppn) -> bool {
        self.cells.owner.at(ppn.index()) < TORN
    }
    /// Number in the OOB of a programmed page: its LPN, or that of its translation page.
    #[inline]
    pub fn number(&self, ppn: Ppn) -> u32 {
        let owner = self.cells.owner.at(ppn.index());
        assert!(owner < TORN, "OOB of unwritten page {}", ppn.0);
        Oob::unpacked(owner, 0).number
    }
    /// OOB of a programmed page. Without media the version is 0.
    #[inline]
    pub fn oob(&self, ppn: Ppn) -> Oob {
        let owner = self.cells.owner.at(ppn.index());
        assert!(owner < TORN, "OOB of unwritten page {}", ppn.0);
        Oob::unpacked(owner, self.stamp(ppn).0)
    }
    /// Version and program sequence number of a page, 0 if it was never programmed or there is no media.
    #[inline]
    fn stamp(&self, ppn: Ppn) -> (u64, u64) {
        if self.media == Media::None {
            return (0, 0);
        }
        let stamps = &self.cells.stamps[self.geometry.pbn(ppn).index()];
        stamps.get(self.geometry.page_in_block(ppn) as usize).copied().unwrap_or_default()
    }
    /// Program sequence number of a page (with media; else 0).
    pub fn program_seq(&self, ppn: Ppn) -> u64 {
        self.stamp(ppn).1
    }
    /// Contents of a programmed page; empty without media.
    #[inline]
    pub fn bytes(&self, ppn: Ppn) -> &[u8] {
        if self.media == Media::None {
            return &[];
        }
        let page = self.geometry.page_bytes as usize;
        let block = &self.cells.bytes[self.geometry.pbn(ppn).index()];
        &block[self.geometry.page_in_block(ppn) as usize * page..][..page]
    }
    /// Valid pages of a block, ascending, starting at offset `from`.
    pub fn next_valid(&self, pbn: Pbn, from: u32) -> Option<Ppn> {
        let first = self.geometry.first_page(pbn).0;
        let end = first + self.geometry.pages_per_block;
        let mut at = first + from;
        while at < end {
            let word = self.valid[at as usize / 64] >> (at % 64);
            if word == 0 {
                at = (at / 64 + 1) * 64;
            } else {
                at += word.trailing_zeros();
                return (at < end).then_some(Ppn(at));
            }
        }
        None
    }

    /// Forgets counts and times, keeps contents and wear: the end of preconditioning.
    pub fn start_measuring(&mut self) {
        self.clock.drain();
        self.clock.forget_waits();
        self.age_contents();
        self.ledger = Ledger::default();
    }

    #[expect(clippy::inline_always, reason = "as Clock::issue_for, and the operation is a constant")]
    #[inline(always)]
    fn operate(&mut self, op: Op, pbn: Pbn, ppn: Ppn, cause: Cause, release: Release, after: Ticket) -> Ticket {
        let mut service = self.clock.service(op);
        let mut cells = Nanos::ZERO;
        if self.times.is_some() {
            (cells, service) = self.times_of(op, pbn, ppn, false);
        }
        self.ledger.add(op, cause, service.0);
        let target = OpTarget { page: ppn, cause, cells, inside: false };
        self.clock.issue_for(target, self.by_die.remainder(pbn.0), op, after, release)
    }

    #[expect(clippy::inline_always, reason = "as operate: one call fewer for every program")]
    #[inline(always)]
    fn set_programmed(&mut self, ppn: Ppn, pbn: Pbn, owner: u32) {
        let offset = self.by_block.remainder(ppn.0);
        let block = &mut self.cells.blocks[pbn.index()];
        match self.order {
            ProgramOrder::Ascending => assert!(offset >= block.next_page, "page {} programmed out of order", ppn.0),
            ProgramOrder::Strict => assert!(offset == block.next_page, "page {} skips pages", ppn.0),
            ProgramOrder::Any => {
                assert!(self.cells.owner.at(ppn.index()) == ERASED, "page {} is not erased", ppn.0);
            }
        }
        block.next_page = block.next_page.max(offset + 1);
        block.valid_pages += 1;
        self.cells.owner.set(ppn.index(), owner);
        self.valid[ppn.index() / 64] |= 1 << (ppn.0 % 64);
        self.programs_ever += 1;
        self.cells.programmed_pages += 1;
    }

    fn store(&mut self, ppn: Ppn, oob: Oob, data: &[u8]) {
        let page = self.geometry.page_bytes as usize;
        let block = &mut self.cells.bytes[self.geometry.pbn(ppn).index()];
        if block.is_empty() {
            block.resize(page * self.geometry.pages_per_block as usize, 0);
        }
        let cells = &mut block[self.geometry.page_in_block(ppn) as usize * page..][..page];
        if data.is_empty() {
            assert!(oob.kind == PageKind::Map, "data page without bytes");
            cells.fill(0);
        } else {
            cells.copy_from_slice(data);
        }
        let stamps = &mut self.cells.stamps[self.geometry.pbn(ppn).index()];
        stamps.resize(self.geometry.pages_per_block as usize, (0, 0));
        stamps[self.geometry.page_in_block(ppn) as usize] = (oob.version, self.programs_ever);
    }
}
