//! An FTL over flash, with the time that requests take and the bytes that they carry.

mod commands;
mod contents;
mod flusher;
mod groups;
mod host;
mod leaving;
mod pages;
mod power;
mod precondition;
mod write_back;

use std::cell::RefCell;

use super::inflight::Inflight;
use super::{Below, Completion, Engine, FlushCounter, Part, Payload, Refused, RequestKind, Served, Settings, WriteAck};
use crate::buffer::{Access, Buffer, BufferShape, FlashTimes, Frames, Medium, Sense, Slots};
use crate::error::ConfigError;
use crate::flash::{CutMode, Flash, Ticket, Tombstone};
use crate::ftl::{Found, Ftl, PageRead, PageWrite};
use crate::ledger::{Cause, Ledger, Op};
use crate::probe::Probe;
use crate::types::{HostRequest, Lbn, Lpn, Nanos, Slot};
use contents::Contents;
pub(super) use flusher::Due;
use flusher::Flusher;
use leaving::Leaving;
use power::NvramSnapshot;

/// What a device is assembled from.
pub struct Parts {
    /// The array.
    pub flash: Flash,
    /// The FTL.
    pub ftl: Box<dyn Ftl>,
    /// Frames at the start.
    pub frames: Frames,
    /// The rest.
    pub settings: Settings,
}

impl Parts {
    /// What a policy is built for.
    pub fn buffer_shape(&self) -> BufferShape {
        let geometry = self.flash.geometry();
        BufferShape {
            pages_per_block: geometry.pages_per_block,
            page_sectors: geometry.page_sectors(),
            logical_pages: self.settings.logical_pages,
            frames: self.frames,
            times: flash_times(&self.flash),
            merges: self.ftl.merges(),
            bypass: self.settings.bypass,
            seed: self.settings.seed,
        }
    }
}

fn flash_times(flash: &Flash) -> FlashTimes {
    let time = |op| flash.clock.service(op);
    FlashTimes { read: time(Op::Read), program: time(Op::Program), erase: time(Op::Erase) }
}

/// An FTL over flash, and what the engine must remember to use them.
pub struct Storage {
    pub(super) settings: Settings,
    page_sectors: u32,
    pub(super) ftl: Box<dyn Ftl>,
    pub(super) flash: Flash,
    pub(super) inflight: Inflight,
    pub(super) flushes: FlushCounter,
    pub(super) probe: Option<Box<dyn Probe>>,
    times: FlashTimes,
    contents: Contents,
    /// Version of the latest write.
    version: u64,
    /// When what is done for the request that is served may start; between requests, a time that is past.
    begins: Nanos,
    /// Bytes that the read that is served will send over the link.
    outgoing: u64,
    /// Resolves when every write-back so far is programmed: what a flush waits for.
    pub(super) written_back: Ticket,
    /// Scratch of write-backs.
    batch: Vec<PageWrite>,
    stage: Vec<u8>,
    /// Answers of the FTL: see [`Batch::old_copies`](crate::ftl::Batch::old_copies).
    old_copies: RefCell<Vec<Ticket>>,
    /// Request and logical block last seen by the group counters.
    last_group: (u64, Lbn),
    pub(super) armed_nvram: Option<NvramSnapshot>,
    /// The ledger when the measurement started.
    pub(super) measured_from: Ledger,
    /// A cut to be armed when the next recovery begins.
    pub(super) recovery_cut: Option<(u64, CutMode)>,
    /// What is written ahead of need, if anything is.
    pub(super) flusher: Option<Flusher>,
    pub(super) leaving: Leaving,
    /// Pages are flushed ahead, the FTL works in idle time, the array ages, groups of reads are counted, or the flash had more to
    /// do than it may when a request comes: see [`Engine::before_admission`].
    attentive: bool,
    /// Something takes notice of requests, accesses and drops: see [`Storage::observe`].
    observed: bool,
    /// Every data page below the buffer costs the FTL one look-up.
    map_on_flash: bool,
}

/// What one request gathers on its way.
pub struct Flight<'a> {
    payload: Payload<'a>,
    arrival: Nanos,
    admitted: Nanos,
    /// Joins everything the request waits for.
    done: Ticket,
    /// Page accesses to RAM, by [`Medium`].
    pages_in: [u32; 2],
}

impl Flight<'_> {
    /// The request is not complete before that.
    pub(super) fn wait_for(&mut self, storage: &mut Storage, done: Ticket) {
        self.done = storage.flash.clock.join(self.done, done);
    }
}

impl<B: Buffer> Engine<B, Storage> {
    /// Assembles a device; nothing is written yet.
    ///
    /// # Errors
    /// If there is to be flushed ahead what the policy never keeps.
    pub fn new(parts: Parts, buffer: B) -> Result<Self, ConfigError> {
        let shape = parts.buffer_shape();
        let slots = Slots::new(&shape);
        if parts.settings.flush.is_some() && buffer.fill(&slots).is_none() {
            let problem = "this buffer keeps no pages that could be flushed";
            return Err(ConfigError::new("ram.flush", problem, "choose a buffer, or leave it out"));
        }
        Ok(Self::assemble(buffer, slots, shape.bypass, Storage::new(parts)))
    }
}

impl Storage {
    fn new(parts: Parts) -> Self {
        let Parts { flash, ftl, settings, .. } = parts;
        let mut storage = Self {
            flushes: FlushCounter::new(flash.geometry(), settings.logical_pages),
            inflight: Inflight::new(&settings),
            times: flash_times(&flash),
            contents: Contents::new(&flash),
            page_sectors: flash.geometry().page_sectors(),
            settings,
            flusher: settings.flush.map(Flusher::new),
            leaving: Leaving::default(),
            attentive: settings.flush.is_some() || ftl.works_in_idle_time() || flash.ages() || settings.read_groups,
            observed: false,
            map_on_flash: ftl.keeps_map_on_flash(),
            ftl,
            flash,
            probe: None,
            version: 0,
            begins: Nanos::ZERO,
            outgoing: 0,
            written_back: Ticket::at(Nanos::ZERO),
            batch: Vec::new(),
            stage: Vec::new(),
            old_copies: RefCell::default(),
            last_group: (0, Lbn::NONE),
            armed_nvram: None,
            measured_from: Ledger::default(),
            recovery_cut: None,
        };
        storage.set_observed();
        storage
    }

    /// Lets everything complete.
    pub(super) fn drain(&mut self) {
        self.inflight.drain(&mut self.flash.clock);
        self.check_all_look_ups();
        self.count_buffer_times();
        self.begin_now();
    }

    #[inline]
    fn count_buffer_times(&mut self) {
        if self.inflight.buffer_ns != (0, 0) {
            let (read, write) = std::mem::take(&mut self.inflight.buffer_ns);
            self.flash.ledger.buffer_read_ns += read;
            self.flash.ledger.buffer_write_ns += write;
        }
    }

    /// What is done next is done for no request.
    pub(super) fn begin_now(&mut self) {
        self.begins = self.flash.now();
    }

    /// RAM time of a request: its page accesses, one after the other.
    #[inline]
    fn ram_time(&self, pages_in: [u32; 2], write: bool) -> Nanos {
        let times = &self.settings.ram_times;
        let (dram, nvram) =
            if write { (times.dram_write, times.nvram_write) } else { (times.dram_read, times.nvram_read) };
        let [dram_pages, nvram_pages] = pages_in.map(u64::from);
        dram * dram_pages + nvram * nvram_pages
    }
}

/// The engine is compiled around this: what a buffer hit needs is inlined into its loop.
#[expect(clippy::inline_always, reason = "keeps a request in registers: 4 % fewer instructions per buffer hit")]
impl Below for Storage {
    type When = Ticket;
    type Flight<'a> = Flight<'a>;
    type Found = Found;

    #[inline(always)]
    fn sense(&self) -> Sense<'_> {
        Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times }
    }
    #[inline(always)]
    fn ledger(&mut self) -> &mut Ledger {
        &mut self.flash.ledger
    }
    #[inline(always)]
    fn begins(&self) -> Ticket {
        Ticket::reached(self.begins)
    }
    #[inline(always)]
    fn join(&mut self, a: Ticket, b: Ticket) -> Ticket {
        self.flash.clock.join(a, b)
    }

    #[inline(always)]
    fn prepare<B: Buffer>(
        engine: &mut Engine<B, Self>,
        request: &HostRequest,
        rest: &[HostRequest],
    ) -> Result<(), Refused> {
        if engine.below.attentive { engine.before_admission(request, rest) } else { Ok(()) }
    }
    #[inline(always)]
    fn written<B: Buffer>(
        engine: &mut Engine<B, Self>,
        request: &HostRequest,
        rest: &[HostRequest],
        flight: &mut Flight<'_>,
    ) {
        if engine.below.settings.write_ack == WriteAck::Flash {
            engine.write_through(request, rest, flight);
        }
    }
    #[inline(always)]
    fn admit<'a>(
        &mut self,
        request: &HostRequest,
        rest: &[HostRequest],
        payload: Payload<'a>,
        slots: &Slots,
    ) -> Flight<'a> {
        let (arrival, admitted) = self.inflight.admit(&mut self.flash.clock, request.at);
        self.count_buffer_times();
        self.begins = admitted;
        if self.observed {
            self.observe(request, rest, slots);
        }
        Flight { payload, arrival, admitted, done: Ticket::reached(self.begins), pages_in: [0; 2] }
    }
    #[inline(always)]
    fn data_frames(&self) -> Option<Frames> {
        let dram = self.settings.shared_dram?;
        let data = dram.0.saturating_sub(self.ftl.map_bytes()) / u64::from(self.flash.geometry().page_bytes);
        Some(Frames { dram: data as u32, nvram: self.settings.nvram_frames })
    }
    #[inline(always)]
    fn count_request(&mut self, served: Served, flight: &Flight<'_>) {
        let ledger = &mut self.flash.ledger;
        let whole = u64::from(served.hits == served.pages);
        let (pages, sectors) = (u64::from(served.pages), u64::from(served.sectors));
        let (hits, hit_sectors) = (u64::from(served.hits), u64::from(served.hit_sectors));
        let [dram, nvram] = flight.pages_in.map(u64::from);
        if served.write {
            ledger.host_write_requests += 1;
            ledger.host_page_writes += pages;
            ledger.host_sector_writes += sectors;
            ledger.request_write_hits += whole;
            ledger.buffer_write_hits += hits;
            ledger.sector_write_hits += hit_sectors;
            ledger.dram_writes += dram;
            ledger.nvram_writes += nvram;
        } else {
            ledger.host_read_requests += 1;
            ledger.host_page_reads += pages;
            ledger.host_sector_reads += sectors;
            ledger.request_read_hits += whole;
            ledger.buffer_read_hits += hits;
            ledger.sector_read_hits += hit_sectors;
            ledger.dram_reads += dram;
            ledger.nvram_reads += nvram;
        }
    }
    #[inline(always)]
    fn complete(&mut self, kind: RequestKind, flight: Flight<'_>) -> Completion {
        let Flight { arrival, admitted, done, pages_in, .. } = flight;
        let ram = self.ram_time(pages_in, kind == RequestKind::Write);
        let done = if ram == Nanos::ZERO { done } else { self.flash.clock.delay(done, self.begins + ram) };
        if self.outgoing > 0 {
            return self.cross_to_host(kind, (arrival, admitted), done);
        }
        let finished = self.inflight.finish(&mut self.flash.clock, kind, arrival, admitted, done);
        Completion { admitted, finished }
    }

    #[inline(always)]
    fn page_begins(&mut self, access: &Access, slots: &Slots) {
        if access.write && slots.frames().total() > 0 {
            self.count_group(access, slots);
        }
    }
    #[inline(always)]
    fn hit(&mut self, slots: &mut Slots, slot: Slot, access: &Access, part: Part, flight: &mut Flight<'_>) -> bool {
        let facts = slots.facts(slot);
        if facts.is_filling_or_ahead() {
            self.first_hit(slots, slot, access.request, flight);
        }
        let served = access.write || facts.is_complete() || slots.has_sectors(slot, part.mask());
        if !served {
            self.fetch_rest(slots, slot, flight);
        }
        self.touch(slots, (slot, facts.medium()), access, part, flight);
        served
    }
    fn pass_by(&mut self, slots: &mut Slots, access: &Access, part: Part, flight: &mut Flight<'_>) {
        if access.write {
            self.write_through(slots, access.lpn, part, flight);
        } else {
            self.read_through(slots, access, part, flight);
        }
    }
    #[inline(always)]
    fn fetch(&mut self, slots: &Slots, access: &Access, part: Part, after: Ticket) -> Option<Found> {
        let cause = if access.write { Cause::Pad } else { Cause::Host };
        if access.write && !self.fetches_on_write(part) {
            return None;
        }
        let page = PageRead { lpn: access.lpn, cause, end: part.end, mappings: access.hint.mappings };
        Some(self.read_below(slots, page, after))
    }
    fn follow(&self, lpn: Lpn, found: &mut Found) {
        if self.has_bytes() {
            found.ppn = self.ftl.locate(&self.flash, lpn);
        }
    }
    #[inline(always)]
    fn insert(&mut self, slots: &mut Slots, lpn: Lpn, medium: Medium) -> Slot {
        let slot = slots.insert(lpn, medium);
        self.contents.begin(slot);
        slot
    }
    #[inline(always)]
    fn place(
        &mut self,
        slots: &mut Slots,
        slot: Slot,
        (found, room): (Option<Found>, Ticket),
        access: &Access,
        part: Part,
        flight: &mut Flight<'_>,
    ) {
        if let Some(found) = found {
            self.fill_slot(slots, slot, found);
        }
        flight.done = self.flash.clock.join(flight.done, room);
        if let Some(ticket) = self.filling(slots, slot) {
            flight.done = self.flash.clock.join(flight.done, ticket);
        }
        self.touch(slots, (slot, slots.medium(slot)), access, part, flight);
    }
    #[inline(always)]
    fn page_ends(&mut self, slots: &mut Slots, access: &Access, hit: bool) {
        if self.observed {
            self.observe_page(slots, access, hit);
        }
    }

    fn write_back(&mut self, slots: &mut Slots, pages: &[Slot], pad: bool) -> Ticket {
        self.write_pages_back(slots, pages, pad)
    }
    #[inline]
    fn dropped(&mut self, slots: &Slots, slot: Slot) -> Ticket {
        let begins = self.begins();
        if self.observed { self.observe_drop(slots, slot).unwrap_or(begins) } else { begins }
    }
    fn moved(&mut self, slots: &mut Slots, slot: Slot) {
        let ledger = &mut self.flash.ledger;
        match slots.medium(slot) {
            Medium::Nvram => (ledger.dram_reads += 1, ledger.nvram_writes += 1),
            Medium::Dram => (ledger.nvram_reads += 1, ledger.dram_writes += 1),
        };
        if slots.is_dirty(slot) {
            self.date(slots, slot);
        }
    }
    fn page_written(&self, slots: &Slots, slot: Slot) -> Ticket {
        self.written(slots.lpn(slot))
    }
    fn written_after(&mut self, done: Ticket, flight: &mut Flight<'_>) {
        self.wait_if_written_through(done, flight);
    }
    fn keep_frame(&mut self, slots: &mut Slots, slot: Slot, done: Ticket) {
        self.keep_frame(slots, slot, done);
    }
    fn give_frame_up(&mut self, medium: Medium, done: Ticket) {
        self.give_up(medium, done);
    }
    #[inline(always)]
    fn frames_leave(&self) -> bool {
        self.leaving.is_any()
    }
    #[cold]
    fn claim_frame(&mut self, slots: &Slots, medium: Medium, room: Ticket) -> Ticket {
        self.take_frame(slots, medium, room)
    }
    fn reads_ahead(&mut self, lpns: &[Lpn]) {
        self.tell_read(Cause::Prefetch, lpns);
    }
    fn read_ahead(&mut self, slots: &mut Slots, lpn: Lpn) -> Slot {
        self.fetch_ahead(slots, lpn)
    }

    fn trimmed(&mut self, slots: &Slots, slot: Slot) {
        if let Some(done) = self.leaving.kept(slots, slot, &self.flash.clock) {
            self.give_up(slots.medium(slot), done);
        }
    }
    fn trim(&mut self, lpn: Lpn, flight: &mut Flight<'_>) {
        self.version += 1;
        self.flash.journal(&[Tombstone { lpn, version: self.version }]);
        let ticket = self.trim_page(lpn, self.begins());
        flight.done = self.flash.clock.join(flight.done, ticket);
    }
    fn keeps_ram(&self) -> bool {
        self.settings.write_ack == WriteAck::ProtectedRam
    }
    fn flush(&mut self, flight: &mut Flight<'_>) {
        flight.done = self.flash.clock.join(flight.done, self.written_back);
    }
}
