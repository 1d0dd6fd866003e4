//! A small device around one policy, and everything it sends to the FTL.

use std::cell::RefCell;
use std::rc::Rc;

use nandlab::buffer::Frames;
use nandlab::catalog::BUFFERS;
use nandlab::engine::{Arrival, Device, EvictWait, PartialWrite, Parts, Payload, RamTimes, Settings};
use nandlab::error::ConfigError;
use nandlab::flash::{Clock, ClockTimes, Flash, Geometry, Media, ProgramOrder, Ticket, TimingModel};
use nandlab::ftl::{Batch, FTLS, Found, Ftl, PageRead, Shape};
use nandlab::ledger::{Cause, MergeKind};
use nandlab::probe::{Command, Probe};
use nandlab::types::{HostOp, HostRequest, Lbn, Lpn, Nanos, Ppn};
use serde_json::Value;

/// What a probe sees, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    Access { lpn: u32, write: bool, hit: bool },
    MissRead(u32),
    PadRead(Vec<u32>),
    Write { lpns: Vec<u32>, padded: Vec<u32> },
    Drop(u32),
}

#[derive(Clone, Default)]
pub struct Recorder(Rc<RefCell<Vec<Event>>>);

impl Recorder {
    pub fn take(&self) -> Vec<Event> {
        std::mem::take(&mut self.0.borrow_mut())
    }
}

fn numbers(lpns: &[Lpn]) -> Vec<u32> {
    lpns.iter().map(|lpn| lpn.0).collect()
}

impl Probe for Recorder {
    fn on_access(&mut self, lpn: Lpn, write: bool, hit: bool) {
        self.0.borrow_mut().push(Event::Access { lpn: lpn.0, write, hit });
    }
    fn on_command(&mut self, command: Command<'_>) {
        self.0.borrow_mut().push(match command {
            Command::Read { why: Cause::Host, lpns } => Event::MissRead(lpns[0].0),
            Command::Read { lpns, .. } => Event::PadRead(numbers(lpns)),
            Command::Write { lpns, padded } => Event::Write { lpns: numbers(lpns), padded: numbers(padded) },
        });
    }
    fn on_drop(&mut self, lpn: Lpn) {
        self.0.borrow_mut().push(Event::Drop(lpn.0));
    }
}

/// An FTL that says something else about its merges.
struct Pretender {
    ftl: Box<dyn Ftl>,
    merges: Option<MergeKind>,
}

impl Ftl for Pretender {
    fn merges(&self) -> Option<MergeKind> {
        self.merges
    }
    fn read(&mut self, flash: &mut Flash, page: PageRead, after: Ticket) -> Found {
        self.ftl.read(flash, page, after)
    }
    fn write(&mut self, flash: &mut Flash, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.ftl.write(flash, batch, after)
    }
    fn write_block(&mut self, flash: &mut Flash, lbn: Lbn, batch: Batch<'_>, after: Ticket) -> Ticket {
        self.ftl.write_block(flash, lbn, batch, after)
    }
    fn trim(&mut self, flash: &mut Flash, lpn: Lpn, after: Ticket) -> Ticket {
        self.ftl.trim(flash, lpn, after)
    }
    fn map_bytes(&self) -> u64 {
        self.ftl.map_bytes()
    }
    fn locate(&self, flash: &Flash, lpn: Lpn) -> Ppn {
        self.ftl.locate(flash, lpn)
    }
    fn rebuild(&mut self, flash: &mut Flash) {
        self.ftl.rebuild(flash);
    }
    fn check(&self, flash: &Flash) {
        self.ftl.check(flash);
    }
    fn free_blocks(&self) -> u32 {
        self.ftl.free_blocks()
    }
}

/// What a test chooses about its device.
#[derive(Clone, Copy)]
pub struct Rig {
    pub logical_pages: u32,
    pub pages_per_block: u32,
    pub page_sectors: u32,
    pub frames: u32,
    pub physical_blocks: u32,
    /// The FTL that the policy takes the one below for, and the one that is really there with its parameters.
    pub ftl: &'static str,
    pub real_ftl: &'static str,
    pub ftl_params: &'static str,
    pub partial_write: PartialWrite,
}

impl Default for Rig {
    fn default() -> Self {
        Self {
            logical_pages: 128,
            pages_per_block: 8,
            page_sectors: 1,
            frames: 24,
            physical_blocks: 4096,
            ftl: "page",
            real_ftl: "page",
            ftl_params: "{}",
            partial_write: PartialWrite::Fetch,
        }
    }
}

impl Rig {
    /// A device filled once.
    pub fn device(self, policy: &str, params: Value) -> (Box<dyn Device>, Recorder) {
        self.try_device(policy, params).unwrap_or_else(|error| panic!("{error}"))
    }

    pub fn try_device(self, policy: &str, params: Value) -> Result<(Box<dyn Device>, Recorder), ConfigError> {
        let geometry = Geometry::single_die(self.physical_blocks, self.pages_per_block, self.page_sectors * 512);
        let times = ClockTimes::cells(Nanos::from_us(60), Nanos::from_us(800), Nanos::from_us(1500));
        let order = ProgramOrder::Ascending;
        let flash = Flash::new(geometry, order, Media::None, Clock::new(TimingModel::Serial, times, 1, 1));
        let shape = Shape { geometry, logical_pages: self.logical_pages, order, seed: 1 };
        let build = |name, params| (nandlab::registry::find(FTLS, "ftl", name).unwrap().build)(params, &shape).unwrap();
        let ftl = build(self.real_ftl, serde_json::from_str(self.ftl_params).unwrap());
        let merges = build(self.ftl, serde_json::json!({})).merges();
        let settings = Settings {
            logical_pages: self.logical_pages,
            arrival: Arrival::Closed { think: Nanos(0) },
            queue_depth: 1,
            evict_wait: EvictWait::Program,
            partial_write: self.partial_write,
            write_miss_fetch: false,
            shared_dram: None,
            nvram_frames: 0,
            ram_times: RamTimes::default(),
            read_groups: false,
            seed: 1,
        };
        let frames = Frames { dram: self.frames, nvram: 0 };
        let parts = Parts { flash, ftl: Box::new(Pretender { ftl, merges }), frames, settings };
        let plugin = nandlab::registry::find(BUFFERS, "buffer", policy).unwrap();
        let mut device = (plugin.build.device)(params, parts)?;
        device.precondition(true, 0.0);
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        Ok((device, recorder))
    }
}

pub fn submit(device: &mut dyn Device, op: HostOp, lba: u64, sectors: u32) {
    device.submit(&HostRequest::new(Nanos(0), op, lba, sectors), Payload::None).unwrap();
}

/// Random numbers that are the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (u128::from(self.0 ^ self.0 >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15) as u64 >> 20) % n
    }
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
    /// A skewed page number.
    pub fn skewed(&mut self, n: u64) -> u64 {
        let (a, b) = (self.below(n), self.below(n));
        if self.chance(50) { a.min(b) / 2 } else { a }
    }
}
