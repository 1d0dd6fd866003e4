//! The engine: a host request falls through buffer, FTL and flash.
//!
//! [`Ssd::submit`] is the one data path; its numbered steps are those of ARCHITECTURE.md. The policy decides, the
//! engine acts and counts; contents change at once, in request order, and tickets tell the time.

mod access;
mod below;
mod device;
mod flushes;
mod inflight;
mod plan;
mod power;
mod refused;
mod settings;

use std::cell::RefCell;

use crate::buffer::{Access, Buffer, BufferShape, FlashTimes, Frames, Plan, Sense, Slots};
use crate::flash::{CutMode, Flash, Ticket};
use crate::ftl::{Ftl, PageWrite};
use crate::ledger::Ledger;
use crate::probe::Probe;
use crate::types::{Hint, HostOp, HostRequest, Lbn, Lpn, Nanos};
use access::Part;
pub use device::Device;
pub use flushes::{Flushes, INTERVALS};
pub use inflight::{Arrival, Kind, Times};
pub use refused::{OutOfRange, Refused};
pub use settings::{EvictWait, PartialWrite, RamTimes, Settings};

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
            seed: self.settings.seed,
        }
    }
}

fn flash_times(flash: &Flash) -> FlashTimes {
    use crate::ledger::Op;
    let time = |op| flash.clock.service(op);
    FlashTimes { read: time(Op::Read), program: time(Op::Program), erase: time(Op::Erase) }
}

/// Bytes that go with a request.
#[derive(Debug)]
pub enum Payload<'a> {
    /// None: the device has no media.
    None,
    /// The bytes of a write, `sectors * 512`.
    Write(&'a [u8]),
    /// Where the bytes of a read go.
    Read(&'a mut [u8]),
}

/// A request was carried out in state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// When the device admitted it.
    pub admitted: Nanos,
    /// When it is done, if that is known already; else it resolves later and enters the histograms then.
    pub finished: Option<Nanos>,
}

/// The device. See the module text.
pub struct Ssd<B: Buffer, F: Ftl = Box<dyn Ftl>> {
    settings: Settings,
    page_sectors: u32,
    capacity_sectors: u64,
    /// Log2 of the sectors of a page, if that is a whole number.
    page_shift: Option<u32>,
    buffer: B,
    ftl: F,
    flash: Flash,
    slots: Slots,
    inflight: inflight::Inflight,
    flushes: Flushes,
    plan: Plan,
    probe: Option<Box<dyn Probe>>,
    times: FlashTimes,
    requests: u64,
    version: u64,
    /// Resolves when every write-back so far is programmed: what a flush waits for.
    written_back: Ticket,
    /// Scratch of write-backs.
    batch: Vec<PageWrite>,
    stage: Vec<u8>,
    /// Answers of the FTL: see [`Batch::old_copies`](crate::ftl::Batch::old_copies).
    old_copies: RefCell<Vec<Ticket>>,
    /// Logical block last seen by the group counters in the current request.
    last_group: Lbn,
    armed_nvram: Option<power::NvramPhotograph>,
    /// The ledger when the measurement started.
    measured_from: Ledger,
    /// A cut to be armed when the next recovery begins.
    recovery_cut: Option<(u64, CutMode)>,
    /// End of the pages of the host request that is being served.
    request_end: Lpn,
    /// Hint of the access that prefetches: prefetched pages inherit it.
    prefetch_hint: Hint,
    /// The FTL works in idle time, the array ages, or groups of reads are counted: see [`Ssd::before_admission`].
    attentive: bool,
    /// Every data page below the buffer costs the FTL one look-up.
    map_on_flash: bool,
}

/// What one request gathers on its way.
struct Flight<'a> {
    payload: Payload<'a>,
    /// Joins everything the request waits for.
    done: Ticket,
    /// Page accesses to RAM, by [`crate::buffer::Medium`].
    pages_in: [u32; 2],
    /// Pages and sectors found in the buffer.
    hits: u32,
    hit_sectors: u32,
}

impl<'a> Flight<'a> {
    fn new(payload: Payload<'a>, now: Nanos) -> Self {
        Self { payload, done: Ticket::reached(now), pages_in: [0; 2], hits: 0, hit_sectors: 0 }
    }
}

impl<B: Buffer> Ssd<B> {
    /// Assembles a device; nothing is written yet.
    pub fn new(parts: Parts, mut buffer: B) -> Self {
        let Parts { flash, ftl, frames, settings, .. } = parts;
        buffer.resize(frames);
        let page_sectors = flash.geometry().page_sectors();
        Self {
            flushes: Flushes::new(flash.geometry(), settings.logical_pages),
            slots: Slots::new(*flash.geometry(), settings.logical_pages, frames, flash.media()),
            inflight: inflight::Inflight::new(settings.queue_depth, settings.arrival),
            times: flash_times(&flash),
            page_sectors,
            capacity_sectors: u64::from(settings.logical_pages) * u64::from(page_sectors),
            page_shift: page_sectors.is_power_of_two().then(|| page_sectors.ilog2()),
            settings,
            buffer,
            attentive: ftl.works_in_idle_time() || flash.ages() || settings.read_groups,
            map_on_flash: ftl.keeps_map_on_flash(),
            ftl,
            flash,
            plan: Plan::default(),
            probe: None,
            requests: 0,
            version: 0,
            written_back: Ticket::at(Nanos::ZERO),
            batch: Vec::new(),
            stage: Vec::new(),
            old_copies: RefCell::default(),
            last_group: Lbn::NONE,
            armed_nvram: None,
            measured_from: Ledger::default(),
            recovery_cut: None,
            request_end: Lpn(0),
            prefetch_hint: Hint::default(),
        }
    }

    /// Carries out one whole request: the data path.
    ///
    /// # Errors
    /// When it lies beyond the device, or changes data of one that is worn out. Nothing happened then.
    #[expect(clippy::inline_always, reason = "the loop of `run` saves a twentieth of the instructions of a buffer hit")]
    #[inline(always)]
    pub fn submit(&mut self, request: &HostRequest, payload: Payload<'_>) -> Result<Completion, Refused> {
        self.serve(request, &[], payload)
    }

    /// A request in pieces. The payload is that of all of them.
    #[inline(never)]
    fn submit_pieces(&mut self, pieces: &[HostRequest]) -> Result<Completion, Refused> {
        self.serve(&pieces[0], &pieces[1..], Payload::None)
    }

    /// The request that begins with `request` and goes on with the pieces in `rest`, most often none.
    #[expect(clippy::inline_always, reason = "as submit, which then knows that there is no rest")]
    #[inline(always)]
    fn serve(
        &mut self,
        request: &HostRequest,
        rest: &[HostRequest],
        payload: Payload<'_>,
    ) -> Result<Completion, Refused> {
        let page_sectors = self.page_sectors;
        self.check_range(request)?;
        for piece in rest {
            self.check_range(piece)?;
        }
        if self.attentive {
            self.before_admission(request, rest)?;
        }
        // 1. Time passes until the device admits the request.
        let (arrival, now) = self.inflight.admit(&mut self.flash.clock, request.at);
        self.count_buffer_times();
        self.requests += 1;
        if self.probe.is_some() || self.armed_nvram.is_some() {
            self.observe(request, now);
        }
        // 2. The map may have grown or shrunk: share the RAM anew.
        self.share_ram();
        let mut flight = Flight::new(payload, now);
        let kind = match request.op {
            HostOp::Read | HostOp::Write => {
                let (first, offset) = self.split(request.lba);
                let (end, _) = self.split(request.lba + u64::from(request.sectors) + u64::from(page_sectors - 1));
                self.request_end = end;
                let write = request.op == HostOp::Write;
                let (request_pages, hint) = (end.0 - first.0 + HostRequest::pages_of(rest, page_sectors), request.hint);
                let mut access = Access { lpn: first, write, request: self.requests, request_pages, hint };
                let count = request.sectors.min(page_sectors - offset);
                let mut part = Part { from: offset, count, payload_at: 0 };
                let (mut left, mut sectors) = (request.sectors, request.sectors);
                let mut rest = rest.iter();
                self.last_group = Lbn::NONE;
                // 3. to 6. Each page: look up, hit or miss, make room, place (see access.rs).
                while left > 0 {
                    self.access_page(&access, part, &mut flight);
                    left -= part.count;
                    if left > 0 {
                        part = part.next(left.min(page_sectors));
                        access.advance();
                    } else if let Some(piece) = rest.next() {
                        (left, sectors) = (piece.sectors, sectors + piece.sectors);
                        part = self.begin_piece(piece, part, &mut access);
                    }
                }
                self.count_request(sectors, &access, &flight);
                if write { Kind::Write } else { Kind::Read }
            }
            HostOp::Trim => {
                self.flash.ledger.host_trim_requests += 1;
                for piece in std::iter::once(request).chain(rest) {
                    self.trim_pages(piece, &mut flight);
                }
                Kind::Other
            }
            HostOp::Flush => {
                self.flush_pages(&mut flight);
                Kind::Other
            }
        };
        // 7. The request completes when its last ticket resolves and its RAM accesses are over.
        let ram = self.ram_time(&flight, request.op == HostOp::Write);
        let done = self.flash.clock.delay(flight.done, now + ram);
        let finished = self.inflight.finish(&mut self.flash.clock, kind, arrival, now, done);
        Ok(Completion { admitted: now, finished })
    }

    #[inline]
    fn check_range(&self, piece: &HostRequest) -> Result<(), Refused> {
        let HostRequest { lba, sectors, .. } = *piece;
        let capacity_sectors = self.capacity_sectors;
        if lba.checked_add(u64::from(sectors)).is_none_or(|end| end > capacity_sectors) {
            return Err(Refused::OutOfRange(OutOfRange { lba, sectors, capacity_sectors }));
        }
        Ok(())
    }

    /// The request goes on elsewhere: the access moves there; the part of its first page.
    #[inline(never)]
    fn begin_piece(&mut self, piece: &HostRequest, before: Part, access: &mut Access) -> Part {
        let (first, from) = self.split(piece.lba);
        let (last, _) = self.split(piece.lba + u64::from(piece.sectors) - 1);
        self.request_end = Lpn(last.0 + 1);
        access.advance();
        access.lpn = first;
        Part { from, ..before.next(piece.sectors.min(self.page_sectors - from)) }
    }

    /// Refuses to change a device that is worn out, counts the groups of a read, and gives the FTL the time until the
    /// request, if the array is idle until then.
    #[inline(never)]
    fn before_admission(&mut self, request: &HostRequest, rest: &[HostRequest]) -> Result<(), Refused> {
        if self.flash.is_read_only() && matches!(request.op, HostOp::Write | HostOp::Trim) {
            let retired = self.flash.retired_blocks();
            return Err(Refused::ReadOnly { lba: request.lba, sectors: request.sectors, retired });
        }
        let reads = request.op == HostOp::Read && request.sectors > 0 && self.slots.frames().total() > 0;
        if self.settings.read_groups && reads {
            self.last_group = Lbn::NONE;
            for piece in std::iter::once(request).chain(rest) {
                self.count_read_groups(piece);
            }
        }
        if self.ftl.works_in_idle_time() {
            self.photograph_nvram();
            if let Some(until) = self.inflight.idle_until(&mut self.flash.clock, request.at) {
                self.ftl.idle(&mut self.flash, until);
            }
        }
        Ok(())
    }

    /// Page and sector inside it.
    #[inline]
    fn split(&self, lba: u64) -> (Lpn, u32) {
        let sectors = u64::from(self.page_sectors);
        match self.page_shift {
            Some(shift) => (Lpn((lba >> shift) as u32), (lba & (sectors - 1)) as u32),
            None => (Lpn((lba / sectors) as u32), (lba % sectors) as u32),
        }
    }

    #[inline]
    fn count_buffer_times(&mut self) {
        let (read, write) = std::mem::take(&mut self.inflight.buffer_ns);
        self.flash.ledger.buffer_read_ns += read;
        self.flash.ledger.buffer_write_ns += write;
    }

    #[cold]
    fn observe(&mut self, request: &HostRequest, now: Nanos) {
        if let Some(probe) = &mut self.probe {
            probe.on_request(request, now);
        }
        self.photograph_nvram();
    }

    #[inline]
    fn count_request(&mut self, sectors: u32, access: &Access, flight: &Flight<'_>) {
        let ledger = &mut self.flash.ledger;
        let whole = u64::from(flight.hits == access.request_pages);
        let (pages, sectors) = (u64::from(access.request_pages), u64::from(sectors));
        let (hits, hit_sectors) = (u64::from(flight.hits), u64::from(flight.hit_sectors));
        let [dram, nvram] = flight.pages_in.map(u64::from);
        if access.write {
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

    /// Unified RAM: what the map does not take holds data.
    #[inline]
    fn share_ram(&mut self) {
        let Some(dram) = self.settings.shared_dram else { return };
        let page_bytes = u64::from(self.flash.geometry().page_bytes);
        // Evictions change the map, so the share may move once more; each round evicts, so it ends.
        for _ in 0..=self.slots.frames().total() {
            let data = dram.0.saturating_sub(self.ftl.map_bytes()) / page_bytes;
            let frames = Frames { dram: data as u32, nvram: self.settings.nvram_frames };
            if frames == self.slots.frames() {
                return;
            }
            self.resize(frames);
        }
    }

    #[inline(never)]
    fn resize(&mut self, frames: Frames) {
        self.slots.set_frames(frames);
        self.buffer.resize(frames);
        let mut room = Ticket::reached(self.flash.now());
        for _ in 0..=self.slots.slot_count() {
            if self.buffer.has_room(None, &self.slots) {
                return;
            }
            let sense = Sense { now: self.flash.now(), ledger: &self.flash.ledger, times: self.times };
            self.buffer.make_room(None, &self.slots, &sense, &mut self.plan);
            room = self.carry_out_plan(room);
        }
        panic!("the policy does not shrink to {frames:?}");
    }

    /// RAM time of a request: its page accesses, one after the other.
    #[inline]
    fn ram_time(&self, flight: &Flight<'_>, write: bool) -> Nanos {
        let times = &self.settings.ram_times;
        let (dram, nvram) =
            if write { (times.dram_write, times.nvram_write) } else { (times.dram_read, times.nvram_read) };
        let [dram_pages, nvram_pages] = flight.pages_in.map(u64::from);
        dram * dram_pages + nvram * nvram_pages
    }
}
