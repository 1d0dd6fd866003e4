//! Random requests through the real engine and through a slow reference: what the buffer did at every page access is
//! compared, and the state now and then.

use std::cell::RefCell;
use std::rc::Rc;

use nandlab::buffer::Frames;
use nandlab::catalog::BUFFERS;
use nandlab::engine::{Arrival, Device, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, TimingModel};
use nandlab::ftl::{FTLS, Shape};
use nandlab::ledger::{Cause, Op};
use nandlab::probe::{Command, Probe};
use nandlab::types::{HostOp, HostRequest, Lpn, Nanos};
use serde_json::{Value, json};

/// What the buffer did, in order.
#[derive(Clone, PartialEq, Debug)]
pub enum Done {
    /// The page access was over.
    Access {
        lpn: u32,
        hit: bool,
    },
    Drop(u32),
    Read(Cause, Vec<u32>),
    Write {
        lpns: Vec<u32>,
        padded: Vec<u32>,
    },
}

pub fn write(lpns: &[u32]) -> Done {
    Done::Write { lpns: lpns.to_vec(), padded: vec![] }
}

#[derive(Clone, Default)]
struct Recorder(Rc<RefCell<Vec<Done>>>);

impl Probe for Recorder {
    fn on_access(&mut self, lpn: Lpn, _: bool, hit: bool) {
        self.0.borrow_mut().push(Done::Access { lpn: lpn.0, hit });
    }
    fn on_command(&mut self, command: Command<'_>) {
        let plain = |lpns: &[Lpn]| lpns.iter().map(|lpn| lpn.0).collect::<Vec<_>>();
        self.0.borrow_mut().push(match command {
            Command::Read { why, lpns } => Done::Read(why, plain(lpns)),
            Command::Write { lpns, padded } => Done::Write { lpns: plain(lpns), padded: plain(padded) },
        });
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.borrow_mut().push(Done::Drop(lpn.0));
    }
}

pub trait Reference {
    /// A request of so many pages begins; the FTL has programmed so many pages of its own up to now.
    fn begin(&mut self, _pages: u32, _from_below: u64) {}
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Done>);
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self, done: &mut Vec<Done>);
    fn resize(&mut self, frames: Frames, done: &mut Vec<Done>);
    fn state(&self) -> Value;
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 32) * u64::from(n)) >> 32) as u32
    }
    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }
}

/// Shape of one random run.
pub struct Run {
    pub logical_pages: u32,
    pub block_pages: u32,
    pub frames: u32,
    /// NVRAM frames.
    pub nvram: u32,
    pub filled: bool,
    /// The array is so large that nothing is collected; programs of the FTL are told from outside.
    pub roomy: bool,
}

pub fn device(policy: &str, params: Value, run: &Run) -> Box<dyn Device> {
    let Run { logical_pages, block_pages: pages_per_block, frames, nvram, filled, roomy } = *run;
    let geometry = Geometry::single_die(
        logical_pages.div_ceil(pages_per_block) + if roomy { 1 << 17 } else { 8 },
        pages_per_block,
        512,
    );
    let times = ClockTimes::cells(Nanos(3), Nanos(20), Nanos(100));
    let order = ProgramOrder::Ascending;
    let flash = Flash::new(geometry, order, Media::None, Clock::new(TimingModel::Serial, times, 1, 1));
    let shape = Shape { geometry, logical_pages, order, seed: 1 };
    let ftl = nandlab::registry::find(FTLS, "ftl", "page").unwrap();
    let ftl = (ftl.build)(json!({"frontiers": "single"}), &shape).unwrap();
    let settings = Settings {
        logical_pages,
        arrival: Arrival::Closed { think: Nanos(0) },
        queue_depth: 1,
        evict_wait: EvictWait::Program,
        partial_write: PartialWrite::Fetch,
        write_miss_fetch: false,
        shared_dram: None,
        nvram_frames: nvram,
        ram_times: RamTimes::default(),
        read_groups: false,
        seed: 1,
    };
    let buffer = nandlab::registry::find(BUFFERS, "buffer", policy).unwrap();
    let parts = Parts { flash, ftl, frames: Frames { dram: frames, nvram }, settings };
    let mut device = (buffer.build.device)(params, parts).unwrap();
    if filled {
        device.precondition(true, 0.0);
    }
    device
}

/// Pages of the next request: runs that go on, hot pages, anything.
fn place(random: &mut Random, run: &Run, last: u32) -> (u32, u32) {
    let lpn = match random.below(8) {
        0..3 => (last + 1) % run.logical_pages,
        3..6 => random.below(run.logical_pages.min(run.frames + run.nvram + run.block_pages)),
        _ => random.below(run.logical_pages),
    };
    let pages = if random.one_in(3) { 1 + random.below(2 * run.block_pages) } else { 1 };
    (lpn, pages.min(run.logical_pages - lpn))
}

/// Runs `requests` random requests through both; returns page accesses.
pub fn compare(
    label: &str,
    device: &mut dyn Device,
    reference: &mut dyn Reference,
    run: &Run,
    random: &mut Random,
    requests: u32,
) -> u64 {
    let recorder = Recorder::default();
    device.set_probe(Some(Box::new(recorder.clone())));
    let writes_in_8 = 1 + random.below(7);
    let events = [0, 200, 30][random.below(3) as usize];
    let (mut accesses, mut last) = (0, 0);
    for request in 0..requests {
        let mut wanted = Vec::new();
        let (lpn, pages) = place(random, run, last);
        let submit = |device: &mut dyn Device, op, lpn: u32, pages| {
            device.submit(&HostRequest::new(Nanos(0), op, u64::from(lpn), pages), Payload::None).unwrap();
        };
        if run.roomy && random.one_in(4) {
            let ledger = &mut device.flash_mut().ledger;
            (0..random.below(8 * run.block_pages)).for_each(|_| ledger.add(Op::Program, Cause::Gc, 0));
        }
        match if events > 0 { random.below(events) } else { u32::MAX } {
            0 => {
                submit(&mut *device, HostOp::Trim, lpn, pages);
                (lpn..lpn + pages).for_each(|lpn| reference.trim(lpn));
            }
            1 if random.one_in(3) => {
                submit(&mut *device, HostOp::Flush, 0, 0);
                reference.flush(&mut wanted);
            }
            2 => {
                let frames = run.block_pages.min(run.frames) + random.below(run.frames);
                let frames = match run.nvram {
                    0 => Frames { dram: frames, nvram: 0 },
                    most => Frames { dram: random.below(2 * run.frames), nvram: random.below(2 * most) },
                };
                device.set_frames(frames);
                reference.resize(frames, &mut wanted);
            }
            _ => {
                let is_write = random.below(8) < writes_in_8;
                let from_below = device.ledger().programs_from_below();
                submit(&mut *device, if is_write { HostOp::Write } else { HostOp::Read }, lpn, pages);
                reference.begin(pages, from_below);
                (lpn..lpn + pages).for_each(|lpn| reference.access(lpn, is_write, &mut wanted));
                accesses += u64::from(pages);
                last = lpn + pages - 1;
            }
        }
        let (used, frames) = (device.slots().used(), device.slots().frames());
        assert!(
            used.dram <= frames.dram && used.nvram <= frames.nvram,
            "{label}, request {request}: {used:?} of {frames:?}"
        );
        let got = recorder.0.take();
        assert_eq!(got, wanted, "{label}, request {request} at {lpn} of {pages} pages");
        if request % 64 == 0 || request + 1 == requests {
            assert_eq!(device.golden_state(), reference.state(), "{label}, after request {request}");
        }
    }
    device.check();
    assert!(!run.roomy || device.ledger().gc_runs == 0, "{label}: the array was not large enough");
    accesses
}

fn random_run(random: &mut Random, block_policy: bool) -> Run {
    let block_pages = [2, 3, 4, 8, 64, 70][random.below(6) as usize];
    let frames = if block_policy { block_pages } else { 1 } + random.below(8 * block_pages.min(10));
    let logical_pages = frames + block_pages + random.below(4 * frames + 60);
    Run { logical_pages, block_pages, frames, nvram: 0, filled: random.one_in(2), roomy: false }
}

/// Random devices until 10^5 page accesses were compared.
pub fn enough_runs(seed: u64, block_policy: bool, one: impl FnMut(&Run, &mut Random, &str) -> u64) {
    run_enough(seed, |random| random_run(random, block_policy), one);
}

/// The same with devices that `make` draws.
pub fn run_enough(seed: u64, make: impl Fn(&mut Random) -> Run, mut one: impl FnMut(&Run, &mut Random, &str) -> u64) {
    let mut random = Random(seed);
    let mut accesses = 0;
    let mut number = 0;
    while accesses < 120_000 {
        let run = make(&mut random);
        let Run { logical_pages, block_pages, frames, nvram, filled, .. } = run;
        let label = format!(
            "run {number}: {frames} + {nvram} frames, {logical_pages} pages in blocks of {block_pages}, filled {filled}"
        );
        accesses += one(&run, &mut random, &label);
        number += 1;
    }
    assert!(number >= 10, "only {number} different devices");
}
