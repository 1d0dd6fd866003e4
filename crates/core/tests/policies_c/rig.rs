//! A device whose buffer is watched, and random accesses to it and to a plain reference.

use std::cell::RefCell;
use std::rc::Rc;

use nandlab::buffer::Frames;
use nandlab::catalog::BUFFERS;
use nandlab::engine::{Arrival, Device, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Shape};
use nandlab::ledger::Cause;
use nandlab::probe::{Command, Probe};
use nandlab::registry::find;
use nandlab::types::{Hint, HostOp, HostRequest, Lpn, Nanos, Pattern};
use serde_json::{Value, json};

/// What a policy did in one step.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Step {
    pub hit: Option<bool>,
    pub drops: Vec<u32>,
    /// `r/miss:5`, `r/prefetch:6,7`, `w:1,2` in order.
    pub flash: Vec<String>,
}

pub fn joined(lpns: &[u32]) -> String {
    lpns.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Step>>);

impl Probe for Recorder {
    fn on_access(&mut self, _: Lpn, _: bool, hit: bool) {
        self.0.borrow_mut().hit = Some(hit);
    }
    fn on_command(&mut self, command: Command<'_>) {
        let numbers = |lpns: &[Lpn]| joined(&lpns.iter().map(|lpn| lpn.0).collect::<Vec<_>>());
        let text = match command {
            Command::Read { why: Cause::Host, lpns } => format!("r/miss:{}", numbers(lpns)),
            Command::Read { why: Cause::Prefetch, lpns } => format!("r/prefetch:{}", numbers(lpns)),
            Command::Read { why, .. } => panic!("read for {why:?}"),
            Command::Write { lpns, padded } => {
                assert!(padded.is_empty());
                format!("w:{}", numbers(lpns))
            }
        };
        self.0.borrow_mut().flash.push(text);
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.borrow_mut().drops.push(lpn.0);
    }
}

pub const LOGICAL_PAGES: u32 = 250;

/// A device over the page-mapped FTL whose buffer is watched.
pub struct Watched {
    pub device: Box<dyn Device>,
    recorder: Recorder,
}

pub fn parts(frames: Frames, pages_per_block: u32) -> Parts {
    let geometry = Geometry::single_die(LOGICAL_PAGES.div_ceil(pages_per_block) + 6, pages_per_block, 512);
    let order = ProgramOrder::Ascending;
    let times = ClockTimes {
        page_read: Nanos(10),
        page_program: Nanos(100),
        block_erase: Nanos(1000),
        page_transfer: Nanos(5),
        command: Nanos(0),
    };
    let clock = Clock::new(TimingModel::Serial, times, 1, 1);
    let shape = Shape { geometry, logical_pages: LOGICAL_PAGES, order, seed: 1 };
    let settings = Settings {
        logical_pages: LOGICAL_PAGES,
        arrival: Arrival::Closed { think: Nanos(0) },
        queue_depth: 1,
        evict_wait: EvictWait::Program,
        partial_write: PartialWrite::Mask,
        write_miss_fetch: false,
        shared_dram: None,
        nvram_frames: frames.nvram,
        ram_times: RamTimes::default(),
        read_groups: false,
        seed: 1,
    };
    let flash = Flash::new(geometry, order, Media::None, clock);
    let ftl = (find(FTLS, "ftl", "page").unwrap().build)(json!({}), &shape).unwrap();
    Parts { flash, ftl, frames, settings }
}

impl Watched {
    pub fn new(policy: &str, params: Value, frames: Frames, pages_per_block: u32) -> Self {
        let build = find(BUFFERS, "buffer", policy).unwrap().build.device;
        let mut device = build(params, parts(frames, pages_per_block)).unwrap();
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        Self { device, recorder }
    }
    fn request(&mut self, op: HostOp, lpn: u32, pages: u32, hint: Hint) -> Step {
        let request = HostRequest { at: Nanos(0), lba: u64::from(lpn), sectors: pages, op, hint, more: false };
        self.device.submit(&request, Payload::None).unwrap();
        self.recorder.0.take()
    }
    /// One page is read or written.
    pub fn touch(&mut self, lpn: u32, write: bool) {
        self.request(if write { HostOp::Write } else { HostOp::Read }, lpn, 1, Hint::default());
    }
    fn resize(&mut self, frames: Frames) -> Step {
        self.device.set_frames(frames);
        self.recorder.0.take()
    }
}

/// A policy as plainly as it can be written.
pub trait Reference {
    fn access(&mut self, lpn: u32, write: bool, hint: Hint) -> Step;
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self) -> Step;
    fn resize(&mut self, frames: Frames) -> Step;
    fn state(&self) -> Value;
}

pub struct Dice(pub u64);
impl Dice {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(n)) as u32
    }
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

fn random_hint(dice: &mut Dice, pcs: u32) -> Hint {
    let patterns = [Pattern::Sequential, Pattern::Random, Pattern::ClusteredHot, Pattern::Looping];
    Hint {
        pattern: patterns[dice.below(4) as usize],
        pc: dice.below(pcs) * 1_000_003,
        run_pages: dice.below(9),
        period: dice.below(6),
    }
}

/// Drives both with the same random accesses, flushes, trims and changes of the frames; every step must be equal.
pub fn compare(watched: &mut Watched, reference: &mut dyn Reference, most: Frames, seed: u64, steps: u32) {
    let mut dice = Dice(seed);
    let (span, pcs) = (20 + dice.below(LOGICAL_PAGES - 20), 1 + dice.below(12));
    for step in 0..steps {
        let lpn = if dice.once_in(4) { LOGICAL_PAGES - 1 - dice.below(span) } else { dice.below(span / 2) };
        let hint = random_hint(&mut dice, pcs);
        let (got, expected) = if dice.once_in(150) {
            let frames = Frames { dram: dice.below(most.dram + 1), nvram: dice.below(most.nvram + 1) };
            (watched.resize(frames), reference.resize(frames))
        } else if dice.once_in(100) {
            (watched.request(HostOp::Flush, 0, 0, hint), reference.flush())
        } else if dice.once_in(30) {
            reference.trim(lpn);
            (watched.request(HostOp::Trim, lpn, 1, hint), Step::default())
        } else {
            let write = dice.once_in(2);
            let op = if write { HostOp::Write } else { HostOp::Read };
            (watched.request(op, lpn, 1, hint), reference.access(lpn, write, hint))
        };
        assert_eq!(got, expected, "seed {seed}, step {step}, page {lpn}, {hint:?}");
        if step % 16 == 0 {
            assert_eq!(watched.device.golden_state(), reference.state(), "seed {seed}, step {step}");
            watched.device.check();
        }
        let (used, frames) = (watched.device.slots().used(), watched.device.slots().frames());
        assert!(used.dram <= frames.dram && used.nvram <= frames.nvram, "{used:?} of {frames:?}");
    }
}
