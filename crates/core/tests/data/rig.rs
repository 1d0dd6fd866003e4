//! Tiny devices from the registries, and scripts that run on them.

use std::hash::{DefaultHasher, Hash, Hasher};

use nandlab::buffer::{Bypass, Frames, Medium};
use nandlab::catalog::BUFFERS;
use nandlab::engine::{
    Arrival, ControllerTimes, EvictWait, FillMarks, FlushAhead, HostTimes, LinkSpeed, PartialWrite, Parts, Payload,
    RamTimes, Settings, Ssd, WriteAck,
};
use nandlab::error::ConfigError;
use nandlab::flash::{CellConfig, CutMode, Flash, Geometry, Media, ProgramOrder, ReliabilityConfig};
use nandlab::ftl::{FTLS, Ftl, Shape};
use nandlab::ledger::{Cause, Ledger, Op};
use nandlab::types::{Bytes, Hint, HostOp, HostRequest, Nanos, Pattern, Pbn, Ppn, Slot};

use super::hungry::Hungry;
use super::model::{Model, parts};
use super::plugins::{buffer_params, ftl_params};
use crate::kit::{Around, Dice, times};

pub const PAGE_SECTORS: u32 = 4;
pub const PAGE_BYTES: u32 = PAGE_SECTORS * 512;
/// The last logical block is short.
pub const LOGICAL_PAGES: u32 = 58;
pub const LOGICAL_SECTORS: u32 = LOGICAL_PAGES * PAGE_SECTORS;
pub(super) const BLOCK: u32 = 4;
const DRAM: u32 = 12;
/// Of a block of the SLC cache.
const SLC_PAGES: u32 = 2;

/// What the host does next.
#[derive(Clone, Debug)]
pub enum Step {
    Read {
        lba: u32,
        sectors: u32,
    },
    Write {
        lba: u32,
        sectors: u32,
    },
    Trim {
        lba: u32,
        sectors: u32,
    },
    Flush,
    /// The number of DRAM frames changes.
    Frames(u32),
    /// Power will fail at the `nth` program or erase, and again at the `again`th of the recovery (0: not).
    Arm {
        nth: u32,
        mode: CutMode,
        again: u32,
    },
}

/// A device and what happens to it.
#[derive(Clone, Debug)]
pub struct Script {
    pub buffer: usize,
    pub ftl: usize,
    /// Chooses among the ways to run: see [`Script::device`].
    pub ways: u32,
    pub seed: u64,
    pub steps: Vec<Step>,
}

/// What a run did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub ledger: Ledger,
    pub cuts: u64,
    pub second_cuts: u64,
    /// Digests of what the cells held after each cut, and of what the host had written.
    pub cut_cells: Vec<u64>,
    /// See [`Script::modes`].
    pub modes: Vec<&'static str>,
    pub without_frames: u64,
    /// Percentiles and the end of the run.
    pub times: String,
}

impl Script {
    pub(super) fn way(&self, bit: u32) -> bool {
        self.ways >> bit & 1 == 1
    }

    /// What is flushed ahead: by fill, by age, by both, and some of it together; for policies that keep pages.
    pub(super) fn flush(&self) -> Option<FlushAhead> {
        let keeps = BUFFERS[self.buffer].name() != "none";
        let marks = FillMarks { above: 0.7, below: 0.4 };
        (self.way(13) && keeps).then(|| FlushAhead {
            marks: (!self.seed.is_multiple_of(3)).then_some(marks),
            age: (self.seed % 3 < 2).then_some(Nanos(600)),
            gather: (self.seed % 5 < 2).then_some(2 + (self.seed >> 5) as u32 % 4),
            most: 1 + (self.seed >> 4) as u32 % 6,
        })
    }

    pub(super) fn writes_through(&self) -> bool {
        self.way(14) && !self.way(13) && !self.way(2)
    }

    /// Capacitors keep the RAM.
    pub(super) fn keeps_ram(&self) -> bool {
        !self.writes_through() && self.seed >> 11 & 3 == 3
    }

    /// The FTL on the smallest array that it accepts, or a little more.
    fn ftl(&self) -> (Geometry, ProgramOrder, Box<dyn Ftl>) {
        let plugin = &FTLS[self.ftl];
        let planes = 1 + u32::from(self.way(16));
        let params = ftl_params(&plugin.name(), self.seed, planes);
        let mut refused = None;
        let orders = [ProgramOrder::Ascending, ProgramOrder::Strict, ProgramOrder::Any, ProgramOrder::Ascending];
        for order in [orders[(self.ways >> 7) as usize % 4], ProgramOrder::Ascending] {
            for blocks_per_die in LOGICAL_PAGES.div_ceil(BLOCK) / 4 + 1..32 {
                let geometry = Geometry {
                    channels: 2,
                    chips_per_channel: 1,
                    dies_per_chip: 2,
                    planes_per_die: planes,
                    blocks_per_plane: (blocks_per_die + 2 * u32::from(self.way(6))).div_ceil(planes),
                    pages_per_block: BLOCK,
                    page_bytes: PAGE_BYTES,
                };
                let (logical_pages, slc_pages) = (LOGICAL_PAGES, SLC_PAGES);
                let (unit_pages, seed) = (2, self.seed);
                let shape = Shape { geometry, logical_pages, slc_pages, unit_pages, order, seed };
                match (plugin.build)(params.clone(), &shape) {
                    Ok(ftl) => return (geometry, order, ftl),
                    Err(error) => refused = Some(error),
                }
            }
        }
        panic!("{}: {}", plugin.name(), refused.unwrap());
    }

    fn try_device(&self, nvram: u32) -> Result<Box<dyn Ssd>, ConfigError> {
        let (geometry, order, ftl) = self.ftl();
        let shared = self.way(3);
        let shared_dram = shared.then(|| Bytes(ftl.map_bytes() + u64::from(DRAM * PAGE_BYTES)));
        let settings = Settings {
            arrival: if self.way(4) { Arrival::Open } else { Arrival::Closed { think: Nanos(20) } },
            queue_depth: 1 + (self.ways >> 9) % 4,
            evict_wait: if self.way(2) { EvictWait::Transfer } else { EvictWait::Program },
            partial_write: if self.way(1) { PartialWrite::Mask } else { PartialWrite::Fetch },
            bypass: [Bypass::None, Bypass::SequentialReads, Bypass::Sequential, Bypass::Reads]
                [(self.seed >> 40) as usize % 4],
            write_miss_fetch: self.way(11),
            shared_dram,
            nvram_frames: nvram,
            ram_times: RamTimes { dram_write: Nanos(1), nvram_write: Nanos(3), ..RamTimes::default() },
            host: if self.way(12) {
                let link = LinkSpeed { bytes_per_second: 20_000_000_000, half_duplex: self.way(9) };
                let controller = ControllerTimes { cores: 2, read: Nanos(13), write: Nanos(17), page: Nanos(3) };
                let controller = Some(controller).filter(|_| self.way(10));
                HostTimes {
                    link: Some(link),
                    controller,
                    sleep: None,
                    read_overhead: Nanos(7),
                    write_overhead: Nanos(11),
                }
            } else {
                HostTimes::default()
            },
            write_ack: if self.writes_through() {
                WriteAck::Flash
            } else if self.keeps_ram() {
                WriteAck::ProtectedRam
            } else {
                WriteAck::Ram
            },
            flush: self.flush(),
            seed: self.seed,
            ..Settings::one_at_a_time(LOGICAL_PAGES)
        };
        let mut flash = Flash::new(geometry, order, Media::Memory, self.clock(&geometry));
        if self.copies_back() {
            flash.use_copy_back();
        }
        let slc = Some(Nanos(40));
        let cells = CellConfig { slc_read: slc, slc_program: slc, ..CellConfig::default() };
        flash.set_cells(cells, &times(10, 100, 1000, 5), 1, SLC_PAGES, self.seed);
        let reliability = ReliabilityConfig { read_limit: Some(7), ..ReliabilityConfig::default() };
        if self.seed.is_multiple_of(3) && ftl.relocates_disturbed() {
            flash.set_reliability(reliability, 1000, self.seed, true).expect("in range");
        }
        let parts = Parts {
            flash,
            ftl: if shared { Box::new(Around::new(ftl, Hungry::new(self.seed))) } else { ftl },
            frames: Frames { dram: DRAM, nvram },
            settings,
        };
        let plugin = &BUFFERS[self.buffer];
        (plugin.build.device)(buffer_params(&plugin.name(), self.seed), parts)
    }

    /// The same script with NVRAM or without.
    pub fn with_nvram(self, nvram: bool) -> Self {
        Self { ways: self.ways & !(1 << 5) | u32::from(nvram) << 5, ..self }
    }

    /// The device; policies that need NVRAM always get it, others every other time.
    fn device(&self) -> Box<dyn Ssd> {
        let nvram = 3 * BLOCK;
        let device = self.try_device(if self.way(5) { nvram } else { 0 });
        let device = device.or_else(|error| if error.key == "ram.nvram" { self.try_device(nvram) } else { Err(error) });
        device.unwrap_or_else(|error| panic!("{}: {error}", BUFFERS[self.buffer].name()))
    }

    /// Runs the script; panics when a promise is broken.
    pub fn run(&self) -> Outcome {
        let device = self.device();
        let dice = Dice(self.seed ^ 0x5EED);
        let mut run = Run {
            device,
            model: Model::new(LOGICAL_PAGES),
            dice,
            at: Nanos(0),
            done: Done::default(),
            again: 0,
            keeps_ram: self.keeps_ram(),
        };
        for step in &self.steps {
            run.step(step, self.way(3));
            let dirty = |slot: &Slot| {
                let slots = run.device.slots();
                slots.is_dirty(*slot) && slots.medium(*slot) == Medium::Dram
            };
            let dirty = run.device.slots().iter().filter(dirty).count();
            assert!(!self.writes_through() || dirty == 0, "{dirty} pages were not written through");
        }
        run.end(self.modes())
    }
}

#[derive(Default)]
struct Done {
    requests: u64,
    pages: [u64; 3],
    cuts: u64,
    second_cuts: u64,
    cut_cells: Vec<u64>,
    without_frames: u64,
}

struct Run {
    device: Box<dyn Ssd>,
    model: Model,
    dice: Dice,
    at: Nanos,
    done: Done,
    /// Operation of the next recovery at which power fails again; 0: none.
    again: u32,
    keeps_ram: bool,
}

impl Run {
    fn step(&mut self, step: &Step, shared: bool) {
        match *step {
            Step::Read { lba, sectors } => {
                let mut bytes = vec![0xEE; sectors as usize * 512];
                self.submit(HostOp::Read, lba, sectors, Payload::Read(&mut bytes));
                self.model.compare(u64::from(lba), &bytes);
                self.done.pages[0] += parts(u64::from(lba), sectors).count() as u64;
            }
            Step::Write { lba, sectors } => {
                let bytes = self.model.write(u64::from(lba), sectors);
                self.submit(HostOp::Write, lba, sectors, Payload::Write(&bytes));
                self.done.pages[1] += parts(u64::from(lba), sectors).count() as u64;
            }
            Step::Trim { lba, sectors } => {
                self.model.trim(u64::from(lba), sectors);
                self.submit(HostOp::Trim, lba, sectors, Payload::None);
                let whole = parts(u64::from(lba), sectors).filter(|(_, part)| part.len() == PAGE_SECTORS as usize);
                self.done.pages[2] += whole.count() as u64;
            }
            Step::Flush => self.submit(HostOp::Flush, 0, 0, Payload::None),
            Step::Frames(dram) => {
                if !shared {
                    let nvram = self.device.slots().frames().nvram;
                    self.device.set_frames(Frames { dram, nvram });
                }
            }
            Step::Arm { nth, mode, again } => {
                self.device.test_port().arm_cut(u64::from(nth), mode);
                self.again = again;
            }
        }
        self.after(matches!(step, Step::Flush));
    }

    fn submit(&mut self, op: HostOp, lba: u32, sectors: u32, payload: Payload<'_>) {
        let patterns = [Pattern::Sequential, Pattern::Random, Pattern::ClusteredHot, Pattern::Looping];
        // A host may say anything, up to the largest numbers.
        let hostile = self.dice.one_in(8);
        let mut number = |most| if hostile && self.dice.one_in(2) { u32::MAX } else { self.dice.below(most) };
        let [pc, run_pages, period, mappings] = [number(5), number(8), number(4), number(1100)];
        let pattern = patterns[self.dice.below(4) as usize];
        let hint = Hint { pattern, pc, run_pages, period, mappings: u16::try_from(mappings).unwrap_or(u16::MAX) };
        self.at += Nanos(u64::from(self.dice.below(if self.dice.0.is_multiple_of(16) { 5000 } else { 100 })));
        let request = HostRequest { at: self.at, lba: u64::from(lba), sectors, op, hint, more: false };
        self.device.submit(&request, payload).unwrap();
        self.done.requests += 1;
    }

    /// Invariants after every step, and what the host may count on from now on.
    fn after(&mut self, flushed: bool) {
        self.device.test_port().check();
        let slots = self.device.slots();
        let (used, frames) = (slots.used(), slots.frames());
        assert!(used.dram <= frames.dram && used.nvram <= frames.nvram, "{used:?} of {frames:?}");
        self.done.without_frames += u64::from(frames.dram == 0);
        if self.device.flash().is_cut() {
            self.outage();
        } else {
            self.model.acknowledge(self.device.slots(), flushed || self.keeps_ram);
        }
    }

    /// Power fails, perhaps once more during recovery, and comes back.
    fn outage(&mut self) {
        self.done.cuts += 1;
        if self.again > 0 {
            self.device.test_port().arm_recovery_cut(u64::from(self.again), CutMode::Torn);
        }
        self.device.test_port().cut_power();
        if self.device.flash().is_cut() {
            self.done.second_cuts += 1;
            self.device.test_port().cut_power();
        }
        self.again = 0;
        self.device.test_port().check();
        let cells = self.digest();
        self.done.cut_cells.push(cells);
        assert_eq!(self.device.slots().used().total(), 0);
        for lpn in 0..LOGICAL_PAGES {
            let mut bytes = vec![0xEE; PAGE_BYTES as usize];
            self.submit(HostOp::Read, lpn * PAGE_SECTORS, PAGE_SECTORS, Payload::Read(&mut bytes));
            self.done.pages[0] += 1;
            self.model.recover(lpn, &bytes);
        }
        self.device.test_port().check();
        // A second cut that the recovery was too short for can fall on the map work of these reads.
        if self.device.flash().is_cut() {
            self.outage();
        }
    }

    /// Digest of what the cells hold, and of what the host wrote.
    fn digest(&self) -> u64 {
        let mut digest = DefaultHasher::new();
        let flash = self.device.flash();
        for pbn in (0..flash.geometry().blocks()).map(Pbn) {
            (flash.erase_count(pbn), flash.next_page(pbn)).hash(&mut digest);
        }
        for ppn in (0..flash.geometry().pages() as u32).map(Ppn).filter(|ppn| flash.is_programmed(*ppn)) {
            let oob = flash.oob(ppn);
            (ppn.0, oob.number, oob.version).hash(&mut digest);
        }
        (0..LOGICAL_PAGES).for_each(|lpn| self.model.newest(lpn).hash(&mut digest));
        digest.finish()
    }

    /// Everything is written back and read once more; counts add up.
    fn end(mut self, modes: Vec<&'static str>) -> Outcome {
        let quiet = self.done.cuts == 0;
        self.device.finish();
        if self.device.flash().is_cut() {
            self.outage();
        }
        for lpn in 0..LOGICAL_PAGES {
            self.step(&Step::Read { lba: lpn * PAGE_SECTORS, sectors: PAGE_SECTORS }, true);
        }
        self.device.drain();
        self.device.test_port().check();
        let ledger = self.device.ledger();
        let pages = [ledger.host_page_reads, ledger.host_page_writes, ledger.host_page_trims];
        assert_eq!(pages, self.done.pages, "pages that the host read, wrote and trimmed");
        let times = self.device.times();
        assert_eq!(times.response().count(), self.done.requests, "every request completes once");
        if quiet && self.done.cuts == 0 {
            conserves(&*self.device, &ledger);
        }
        let Done { cuts, second_cuts, cut_cells, without_frames, .. } = self.done;
        let response = times.response();
        let percentiles = [1.0, 50.0, 99.0, 100.0].map(|percent| response.percentile(percent));
        let times = format!("{} {percentiles:?} {}", response.mean_ns(), times.last_completion);
        Outcome { ledger, cuts, second_cuts, cut_cells, modes, without_frames, times }
    }
}

/// Every page that was read, written or trimmed below the buffer was looked up once, by what for; none where the map is
/// in RAM.
fn look_ups_are_data_accesses(device: &dyn Ssd, ledger: &Ledger) {
    let [reads, writes, rewrites, trims] = ledger.look_ups;
    assert_eq!(reads + writes + rewrites + trims, ledger.map_look_ups(), "look-ups by purpose");
    if !device.ftl().keeps_map_on_flash() {
        return assert_eq!(ledger.map_look_ups(), 0);
    }
    assert_eq!(reads + rewrites, ledger.buffer_read_pages, "a look-up for every page read");
    assert_eq!(writes + rewrites, ledger.programs_from_above() + ledger.padding_holes, "one for every page written");
    assert_eq!(trims, ledger.host_page_trims, "one for every page trimmed");
}

/// Conservation of pages, without power cuts.
fn conserves(device: &dyn Ssd, ledger: &Ledger) {
    let flash = device.flash();
    assert_eq!(ledger.programs(), flash.programs_ever(), "every program has a cause");
    let blocks = flash.geometry().blocks();
    let erases: u64 = (0..blocks).map(|pbn| u64::from(flash.erase_count(nandlab::types::Pbn(pbn)))).sum();
    assert_eq!(ledger.erases(), erases, "sum of erase counts");
    assert_eq!(ledger.erases_by_kind.iter().sum::<u64>(), erases, "erases by kind of block");
    let (host, above) = (ledger.count(Op::Program, Cause::Host), ledger.programs_from_above());
    let sent = ledger.buffer_write_pages;
    assert!(
        host <= sent && above >= sent,
        "{sent} pages sent down, {host} of the host and {above} with pads programmed"
    );
    assert!(device.ftl().completes_blocks() || above == sent, "{sent} pages sent down, {above} programmed");
    assert!(ledger.write_back_pages + ledger.padded_pages <= sent);
    assert!(ledger.flushed_by_fill + ledger.flushed_by_age + ledger.flushed_gathered <= ledger.write_back_pages);
    look_ups_are_data_accesses(device, ledger);
    for cause in [Cause::Gc, Cause::Merge, Cause::Wear, Cause::Refresh] {
        let (read, programmed) = (ledger.count(Op::Read, cause), ledger.count(Op::Program, cause));
        assert_eq!(read, programmed, "{cause:?}: a copy is one read and one program");
    }
    assert!(ledger.buffer_read_hits + ledger.buffer_write_hits <= ledger.host_page_reads + ledger.host_page_writes);
}
