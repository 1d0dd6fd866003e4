//! Dice requests through the real engine and through a slow reference: what the buffer did at every page access is
//! compared, and the state now and then.

use nandlab::buffer::Frames;
use nandlab::engine::{Payload, Ssd};
use nandlab::flash::Geometry;
use nandlab::ledger::{Cause, Op};
use nandlab::types::{Hint, HostOp, HostRequest, Nanos};
use serde_json::{Value, json};

use crate::kit::{Dice, Event, Recorder, Rig, submit, times, try_lab};

pub trait Reference {
    /// What the host tells of the next request.
    fn hint(&mut self, _random: &mut Dice) -> Hint {
        Hint::default()
    }
    /// A request of `_pages` pages begins; the FTL has programmed `_from_below` pages of its own so far.
    fn begin(&mut self, _pages: u32, _from_below: u64) {}
    fn access(&mut self, lpn: u32, is_write: bool, done: &mut Vec<Event>);
    fn trim(&mut self, lpn: u32);
    fn flush(&mut self, done: &mut Vec<Event>);
    fn resize(&mut self, frames: Frames, done: &mut Vec<Event>);
    fn state(&self) -> Value;
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

pub fn rig(run: &Run) -> Rig {
    let Run { logical_pages, block_pages, frames, nvram, filled, roomy } = *run;
    let blocks = logical_pages.div_ceil(block_pages) + if roomy { 1 << 17 } else { 8 };
    Rig {
        times: times(3, 20, 100, 0),
        ftl_params: json!({"frontiers": "single"}),
        frames: Frames { dram: frames, nvram },
        filled,
        ..Rig::new(Geometry::single_die(blocks, block_pages, 512), logical_pages, frames)
    }
}

pub fn device(policy: &str, params: Value, run: &Run) -> Box<dyn Ssd> {
    rig(run).device(policy, params)
}

/// What is said about a policy of the device `lab` with one setting.
pub fn refusal(policy: &str, setting: &str) -> String {
    let config = try_lab(["ram.nvram=1MiB", &format!("buffer.name={policy}"), setting]);
    config.and_then(|config| config.build_hits().map(|_| ())).expect_err("it is refused").to_string()
}

/// Pages of the next request: runs that go on, hot pages, anything.
fn place(random: &mut Dice, run: &Run, last: u32) -> (u32, u32) {
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
    device: &mut dyn Ssd,
    reference: &mut dyn Reference,
    run: &Run,
    random: &mut Dice,
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
        if run.roomy && random.one_in(4) {
            let ledger = &mut device.test_port().flash_mut().ledger;
            (0..random.below(8 * run.block_pages)).for_each(|_| ledger.add(Op::Program, Cause::Gc, 0));
        }
        match if events > 0 { random.below(events) } else { u32::MAX } {
            0 => {
                submit(device, HostOp::Trim, u64::from(lpn), pages);
                (lpn..lpn + pages).for_each(|lpn| reference.trim(lpn));
            }
            1 if random.one_in(3) => {
                submit(device, HostOp::Flush, 0, 0);
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
                let op = if is_write { HostOp::Write } else { HostOp::Read };
                let hint = reference.hint(random);
                let request = HostRequest { hint, ..HostRequest::new(Nanos(0), op, u64::from(lpn), pages) };
                device.submit(&request, Payload::None).unwrap();
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
        let got = recorder.take();
        assert_eq!(got, wanted, "{label}, request {request} at {lpn} of {pages} pages");
        if request % 64 == 0 || request + 1 == requests {
            assert_eq!(device.test_port().golden_state(), reference.state(), "{label}, after request {request}");
        }
    }
    device.test_port().check();
    assert!(!run.roomy || device.ledger().gc_runs == 0, "{label}: the array was not large enough");
    accesses
}

fn random_run(random: &mut Dice, block_policy: bool) -> Run {
    let block_pages = [2, 3, 4, 8, 64, 70][random.below(6) as usize];
    let frames = if block_policy { block_pages } else { 1 } + random.below(8 * block_pages.min(10));
    let logical_pages = frames + block_pages + random.below(4 * frames + 60);
    Run { logical_pages, block_pages, frames, nvram: 0, filled: random.one_in(2), roomy: false }
}

/// Dice devices until 10^5 page accesses were compared.
pub fn enough_runs(seed: u64, block_policy: bool, one: impl FnMut(&Run, &mut Dice, &str) -> u64) {
    run_enough(seed, |random| random_run(random, block_policy), one);
}

/// The same with devices that `make` draws.
pub fn run_enough(seed: u64, make: impl Fn(&mut Dice) -> Run, mut one: impl FnMut(&Run, &mut Dice, &str) -> u64) {
    let mut random = Dice(seed);
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
