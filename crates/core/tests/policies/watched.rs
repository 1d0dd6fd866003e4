//! A device whose buffer is watched, and random accesses to it and to a plain reference.

use nandlab::buffer::Frames;
use nandlab::engine::{PartialWrite, Payload, Settings, Ssd};
use nandlab::flash::Geometry;
use nandlab::types::{Hint, HostOp, HostRequest, Nanos, Pattern};
use serde_json::Value;

use crate::kit::{Dice, Event, Recorder, Rig, times};

pub const LOGICAL_PAGES: u32 = 250;

/// A device over the page-mapped FTL whose buffer is watched.
pub struct Watched {
    pub device: Box<dyn Ssd>,
    recorder: Recorder,
}

pub fn rig(frames: Frames, pages_per_block: u32) -> Rig {
    let geometry = Geometry::single_die(LOGICAL_PAGES.div_ceil(pages_per_block) + 6, pages_per_block, 512);
    Rig {
        times: times(10, 100, 1000, 5),
        frames,
        settings: Settings { partial_write: PartialWrite::Mask, ..Settings::one_at_a_time(LOGICAL_PAGES) },
        ..Rig::new(geometry, LOGICAL_PAGES, frames.dram)
    }
}

impl Watched {
    pub fn new(policy: &str, params: Value, frames: Frames, pages_per_block: u32) -> Self {
        let mut device = rig(frames, pages_per_block).device(policy, params);
        let recorder = Recorder::default();
        device.set_probe(Some(Box::new(recorder.clone())));
        Self { device, recorder }
    }
    fn request(&mut self, op: HostOp, lpn: u32, pages: u32, hint: Hint) -> Vec<Event> {
        let request = HostRequest { at: Nanos(0), lba: u64::from(lpn), sectors: pages, op, hint, more: false };
        self.device.submit(&request, Payload::None).unwrap();
        self.recorder.take()
    }
    /// One page is read or written.
    pub fn touch(&mut self, lpn: u32, write: bool) {
        self.request(if write { HostOp::Write } else { HostOp::Read }, lpn, 1, Hint::default());
    }
    fn resize(&mut self, frames: Frames) -> Vec<Event> {
        self.device.set_frames(frames);
        self.recorder.take()
    }
}

/// A policy as plainly as it can be written.
pub trait Reference {
    fn access(&mut self, lpn: u32, write: bool, hint: Hint, done: &mut Vec<Event>);
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self, done: &mut Vec<Event>);
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>);
    fn state(&self) -> Value;
}

fn random_hint(dice: &mut Dice, pcs: u32) -> Hint {
    let patterns = [Pattern::Sequential, Pattern::Random, Pattern::ClusteredHot, Pattern::Looping];
    Hint {
        pattern: patterns[dice.below(4) as usize],
        pc: dice.below(pcs) * 1_000_003,
        run_pages: dice.below(9),
        period: dice.below(6),
        mappings: 0,
    }
}

/// Drives both with the same random accesses, flushes, trims and changes of the frames; every step must be equal.
pub fn compare(watched: &mut Watched, reference: &mut dyn Reference, most: Frames, seed: u64, steps: u32) {
    let mut dice = Dice(seed);
    let (span, pcs) = (20 + dice.below(LOGICAL_PAGES - 20), 1 + dice.below(12));
    for step in 0..steps {
        let lpn = if dice.one_in(4) { LOGICAL_PAGES - 1 - dice.below(span) } else { dice.below(span / 2) };
        let hint = random_hint(&mut dice, pcs);
        let mut expected = Vec::new();
        let got = if dice.one_in(150) {
            let frames = Frames { dram: dice.below(most.dram + 1), nvram: dice.below(most.nvram + 1) };
            reference.resize(frames, &mut expected);
            watched.resize(frames)
        } else if dice.one_in(100) {
            reference.flush(&mut expected);
            watched.request(HostOp::Flush, 0, 0, hint)
        } else if dice.one_in(30) {
            reference.trim(lpn);
            watched.request(HostOp::Trim, lpn, 1, hint)
        } else {
            let write = dice.one_in(2);
            let op = if write { HostOp::Write } else { HostOp::Read };
            reference.access(lpn, write, hint, &mut expected);
            watched.request(op, lpn, 1, hint)
        };
        assert_eq!(got, expected, "seed {seed}, step {step}, page {lpn}, {hint:?}");
        if step % 16 == 0 {
            assert_eq!(watched.device.test_port().golden_state(), reference.state(), "seed {seed}, step {step}");
            watched.device.test_port().check();
        }
        let (used, frames) = (watched.device.slots().used(), watched.device.slots().frames());
        assert!(used.dram <= frames.dram && used.nvram <= frames.nvram, "{used:?} of {frames:?}");
    }
}
