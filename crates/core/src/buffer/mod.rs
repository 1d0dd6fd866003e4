//! Data buffer policies: which host pages stay in RAM, and what is written back together.
//!
//! A policy decides, the engine acts and counts. A policy sees dense slot numbers, the facts in
//! [`Slots`], and what it may sense about the world below in [`Sense`]; it answers with a [`Plan`]. It knows nothing of
//! FTLs and flash. One file per policy; the list at the end of this file is the only place that enumerates them.

pub mod slots;
pub mod tools;

use serde_json::Value;

use crate::ledger::{Ledger, MergeKind};
use crate::list::Links;
use crate::types::{Hint, Lpn, Nanos, Pattern, Slot};
pub use slots::{Frames, Medium, Slots};

/// One page access of a host request.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The page.
    pub lpn: Lpn,
    /// Write or read.
    pub write: bool,
    /// The page was read ahead: the host has not asked for it yet. Only [`Buffer::on_insert`] is told of such pages.
    pub ahead: bool,
    /// Number of the host request it belongs to: unique, increasing.
    pub request: u64,
    /// Pages of that request.
    pub request_pages: u32,
    /// What the host told about the request; `run_pages` counts from this page.
    pub hint: Hint,
}

impl Access {
    /// Goes on to the following page of the request.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.lpn.0 += 1;
        self.hint.run_pages = self.hint.run_pages.saturating_sub(1).max(1);
    }
}

/// What a policy may sense about the world.
#[derive(Clone, Copy, Debug)]
pub struct Sense<'a> {
    /// Simulated time.
    pub now: Nanos,
    /// Everything counted so far.
    pub ledger: &'a Ledger,
    /// Service times of the flash: page read, page program, block erase.
    pub times: FlashTimes,
}

/// Service times of the flash (cell and transfer, without waiting).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlashTimes {
    /// Page read.
    pub read: Nanos,
    /// Page program.
    pub program: Nanos,
    /// Block erase.
    pub erase: Nanos,
}

/// Where a missed page goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Admission {
    /// Past the buffer, straight to or from the FTL.
    Bypass,
    /// Into a frame.
    Admit(Medium),
}

/// What bypasses every buffer: pages that are not in it, of requests that the host calls sequential ([`Hint::pattern`]), or that
/// are read. A stream is used once, and would push out what is used again; the RAM of many drives holds only what is written.
/// The policy is not asked about them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Bypass {
    /// Nothing.
    #[default]
    None,
    /// Sequential reads.
    SequentialReads,
    /// Sequential reads and writes.
    Sequential,
    /// All reads, whatever the host calls them: the RAM is a write buffer.
    Reads,
}

impl Bypass {
    /// Whether a page of this access bypasses the buffer if it is not there.
    #[inline]
    pub(crate) fn takes(self, access: &Access) -> bool {
        let is_sequential = || access.hint.pattern == Pattern::Sequential;
        match self {
            Self::None => false,
            Self::SequentialReads => !access.write && is_sequential(),
            Self::Sequential => is_sequential(),
            Self::Reads => !access.write,
        }
    }
}

/// Unit in which a policy writes back when the host flushes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grain {
    /// Single pages.
    Page,
    /// All dirty pages of a logical block together.
    Block,
}

/// How full the memory is in which written pages lie until they go to flash, in whatever the policy counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Frames in use.
    pub used: u32,
    /// Frames there are.
    pub frames: u32,
}

/// What a policy is built for.
#[derive(Clone, Copy, Debug)]
pub struct BufferShape {
    /// Pages of a logical block.
    pub pages_per_block: u32,
    /// Sectors of a page.
    pub page_sectors: u32,
    /// Logical pages of the device.
    pub logical_pages: u32,
    /// Frames at the start.
    pub frames: Frames,
    /// Service times of the flash.
    pub times: FlashTimes,
    /// What is known of merges below; `None` where there are none.
    pub merges: Option<MergeKind>,
    /// What the engine lets bypass the policy.
    pub bypass: Bypass,
    /// Seed of every random choice.
    pub seed: u64,
}

impl BufferShape {
    /// Refuses DRAM that cannot hold one logical block.
    ///
    /// # Errors
    /// Names the sizes and what helps.
    pub fn need_block(&self, policy: &str) -> Result<(), crate::error::ConfigError> {
        self.need_frames(policy, self.frames.dram, self.pages_per_block, "one logical block")
    }
    /// Refuses a buffer with fewer than `need` of `have` frames.
    ///
    /// # Errors
    /// Names the sizes and what helps.
    pub fn need_frames(&self, policy: &str, have: u32, need: u32, what: &str) -> Result<(), crate::error::ConfigError> {
        if have >= need {
            return Ok(());
        }
        Err(crate::error::ConfigError::new(
            "ram",
            format!("{have} page frames, but `{policy}` needs at least {need} ({what})"),
            format!(
                "give the buffer at least {} (`--ram`)",
                crate::types::Bytes(u64::from(need * self.page_sectors) * 512)
            ),
        ))
    }
    /// Logical blocks of the device, the last one possibly short.
    pub const fn logical_blocks(&self) -> u32 {
        self.logical_pages.div_ceil(self.pages_per_block)
    }
}

/// `ratio` of a number of pages, rounded half up.
pub(crate) fn share(ratio: f64, pages: u32) -> u32 {
    (ratio * f64::from(pages) + 0.5).floor() as u32
}

/// One action of a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Write these dirty pages back as one command: `slots[start..start + len]` of the plan. The first `freed` of them leave
    /// their frames, the others stay, clean. With `pad`, the whole logical block is written: missing pages come from
    /// clean copies in RAM, else from flash.
    WriteBack {
        /// First index into the plan's slots.
        start: u32,
        /// Number of slots.
        len: u32,
        /// Number of those that leave.
        freed: u32,
        /// Complete the block.
        pad: bool,
    },
    /// Write this dirty page back alone and free its frame.
    WriteBackPage(Slot),
    /// Free the frame of this clean page.
    Drop(Slot),
    /// Move the page to the other memory.
    Move(Slot, Medium),
    /// Read this page into the buffer ahead of the host.
    Prefetch(Lpn),
}

/// What the engine is to do, in this order. The policy has already taken the pages it frees out of its own lists.
#[derive(Debug, Default)]
pub struct Plan {
    pub(crate) actions: Vec<Action>,
    pub(crate) slots: Vec<Slot>,
}

impl Plan {
    /// Write these dirty pages of one logical block (or of a cluster of them) back as one command; `pad` completes
    /// the logical block. Their frames are freed.
    #[inline]
    pub fn write_back(&mut self, pages: impl IntoIterator<Item = Slot>, pad: bool) {
        self.write_back_and_keep(pages, [], pad);
    }
    /// The same, but the pages of `kept` stay in their frames, clean.
    #[inline]
    pub fn write_back_and_keep(
        &mut self,
        pages: impl IntoIterator<Item = Slot>,
        kept: impl IntoIterator<Item = Slot>,
        pad: bool,
    ) {
        let start = self.slots.len() as u32;
        self.slots.extend(pages);
        let freed = self.slots.len() as u32 - start;
        self.slots.extend(kept);
        let len = self.slots.len() as u32 - start;
        assert!(len > 0, "a write-back without pages");
        self.actions.push(Action::WriteBack { start, len, freed, pad });
    }
    /// Free the frame of a clean page.
    #[inline]
    pub fn drop_page(&mut self, slot: Slot) {
        self.actions.push(Action::Drop(slot));
    }
    /// Dirty: write back alone. Clean: drop.
    #[inline]
    pub fn evict(&mut self, slot: Slot, slots: &Slots) {
        self.actions.push(if slots.is_dirty(slot) { Action::WriteBackPage(slot) } else { Action::Drop(slot) });
    }
    /// Move a page to the other memory.
    pub fn move_page(&mut self, slot: Slot, to: Medium) {
        self.actions.push(Action::Move(slot, to));
    }
    /// Read a page that is not resident into the buffer. Room for it must have been made by earlier actions.
    pub fn prefetch(&mut self, lpn: Lpn) {
        self.actions.push(Action::Prefetch(lpn));
    }
    /// The pages to be read ahead, in the order of the plan.
    pub(crate) fn read_ahead(&self) -> Vec<Lpn> {
        let wanted = |action: &Action| if let Action::Prefetch(lpn) = action { Some(*lpn) } else { None };
        self.actions.iter().filter_map(wanted).collect()
    }
    /// True without actions.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }
}

/// A replacement policy.
///
/// Order within one page access: `on_hit`, or `on_miss` and, when admitted, `make_room` until there is room, then
/// `on_insert`; at last `after_access`. Evictions therefore never see the incoming page.
pub trait Buffer: Send {
    /// The number of frames changed (and at the start). The engine then calls `make_room` until the pages fit.
    fn resize(&mut self, frames: Frames) {
        let _ = frames;
    }
    /// The page was found. The dirty bit is already set if it is a write.
    fn on_hit(&mut self, slot: Slot, access: &Access, slots: &Slots, sense: &Sense<'_>);
    /// The page was not found: where does it go? By default into DRAM.
    #[inline]
    fn on_miss(&mut self, access: &Access, slots: &Slots, sense: &Sense<'_>) -> Admission {
        let _ = (access, slots, sense);
        Admission::Admit(Medium::Dram)
    }
    /// True if the missed page fits now; without an access: if the resident pages fit the frames. By default pages lie in
    /// DRAM only; policies that admit to NVRAM bring their own.
    #[inline]
    fn has_room(&self, access: Option<&Access>, slots: &Slots) -> bool {
        match access {
            Some(_) => slots.has_room(),
            None => slots.used().dram <= slots.frames().dram,
        }
    }
    /// How full the memory is out of which [`Self::make_room`] writes without an access: by that the device evicts ahead of
    /// need. `None` if nothing is ever kept.
    fn fill(&self, slots: &Slots) -> Option<Fill> {
        Some(Fill { used: slots.used().dram, frames: slots.frames().dram })
    }
    /// Plans what makes room: at least one frame. Without an access the buffer shrinks, or the device evicts ahead of need.
    fn make_room(&mut self, access: Option<&Access>, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan);
    /// The page is in its frame. Also called for prefetched pages (`access.lpn` is then that page).
    fn on_insert(&mut self, slot: Slot, access: &Access, slots: &Slots);
    /// The access is over: periodic adaptation, prefetch.
    #[inline]
    fn after_access(&mut self, access: &Access, hit: bool, slots: &Slots, sense: &Sense<'_>, plan: &mut Plan) {
        let _ = (access, hit, slots, sense, plan);
    }
    /// The page leaves for a reason of the host (trim, power cut): forget it.
    fn on_remove(&mut self, slot: Slot, slots: &Slots);
    /// The host flushed and the page is clean now. True keeps it in its frame; false: forget it, as `on_remove` does.
    fn on_clean(&mut self, slot: Slot, slots: &Slots) -> bool {
        self.on_remove(slot, slots);
        false
    }
    /// Help with prefetching from memory, if the policy gives any.
    #[inline]
    fn prefetch(&self) -> Option<&dyn Prefetch> {
        None
    }
    /// Unit of write-back when the host flushes.
    fn grain(&self) -> Grain {
        Grain::Page
    }
    /// True if it takes notice of which pages are neighbours, in a logical block or in a run: the page numbers that it is
    /// given then matter.
    fn sees_neighbours(&self) -> bool {
        self.grain() == Grain::Block
    }
    /// True if a missed page is read from flash before room is made (WPA algorithm 1).
    fn fetches_first(&self) -> bool {
        false
    }
    /// State in the form of the golden files.
    fn golden_state(&self, slots: &Slots) -> Value;
}

/// What a policy keeps of pages, prefetched from memory before it needs it. This is for speed alone, when the policy's tables
/// are larger than a processor's cache and the engine knows the accesses of a whole batch: a policy can do without.
pub trait Prefetch {
    /// The page will be accessed, and may be missing: prefetches what the policy knows of its number.
    #[inline]
    fn far(&self, lpn: Lpn) {
        let _ = lpn;
    }
    /// The page will be accessed soon: prefetches what the policy keeps of it. If the page is missing, the slot is that of any
    /// other: to find out would cost more than a useless prefetch.
    #[inline]
    fn soon(&self, slot: Slot) {
        let _ = slot;
    }
    /// The page will be accessed very soon, and what was prefetched has come: prefetches what that refers to. The slot is as
    /// in [`Self::soon`].
    #[inline]
    fn now(&self, slot: Slot) {
        let _ = slot;
    }
    /// The pages that would leave next and next but one, as far as that is known at once; else [`Slot::NONE`]. They need not
    /// be right.
    #[inline]
    fn next_victims(&self) -> [Slot; 2] {
        [Slot::NONE; 2]
    }
}

impl Prefetch for Links {
    #[inline]
    fn soon(&self, slot: Slot) {
        self.look_ahead(slot.0);
    }
    #[inline]
    fn now(&self, slot: Slot) {
        self.look_closer(slot.0);
    }
}

/// Every buffer policy. A line here declares its module and gives it a name, typed parameters, a manual page and a place in
/// every test: see [`crate::registry`].
macro_rules! policies {
    ($with:ident) => {
        $with! {
            none,
            lru,
            fifo,
            clock,
            cflru,
            lru_wsr,
            ccf_lru,
            ad_lru,
            clru_r,
            carf_r,
            pr_lru_r,
            ref_r,
            arc,
            two_q,
            lirs,
            s3_fifo,
            sieve,
            w_tinylfu,
            fab,
            fab_rw,
            bplru,
            clc,
            cfdc,
            lb_clock,
            vbbms,
            cbm_r,
            clock_dnv,
            aalru,
            hitstat,
            wpa,
            urm,
        }
    };
}
pub(crate) use policies;

macro_rules! declare_modules {
    ($($name:ident,)+) => { $(pub(crate) mod $name;)+ };
}
policies!(declare_modules);
