//! Does the clock stay fast? Prints nanoseconds of CPU per flash operation, all in: issue, events, watch, take.
//!
//! `cargo bench -p nandlab --bench clock [-- <flash operations> [scenario]]`

#![allow(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use nandlab::flash::clock::{Clock, ClockTimes, Release, Ticket, TimingModel};
use nandlab::ledger::Op;
use nandlab::types::Nanos;

const CHANNELS: u32 = 8;
const DIES: u32 = 32;
const DEPTH: u64 = 32;
const BURST_PAIRS: u32 = 100;
const REPEATS: u32 = 5;

const TIMES: ClockTimes = ClockTimes {
    page_read: Nanos::from_us(50),
    page_program: Nanos::from_us(600),
    block_erase: Nanos::from_us(3_500),
    page_transfer: Nanos::from_us(10),
    command: Nanos::ZERO,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ (x >> 32)
    }
    fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }
}

/// One host operation, 70 % of them programs, which are over when `release` says.
fn host(clock: &mut Clock, random: &mut Random, release: Release) -> Ticket {
    let bits = random.next();
    let die = (((bits >> 32) * u64::from(DIES)) >> 32) as u32;
    let op = if bits & 1023 < 717 { Op::Program } else { Op::Read };
    clock.issue(die, op, Ticket::at(clock.now()), release)
}

/// Garbage collection of a block: copies inside a die, then its erase.
fn burst(clock: &mut Clock, random: &mut Random) -> u64 {
    let die = random.below(DIES);
    let mut last = Ticket::at(Nanos::ZERO);
    for _ in 0..BURST_PAIRS {
        let read = clock.issue(die, Op::Read, Ticket::at(Nanos::ZERO), Release::Done);
        last = clock.issue(die, Op::Program, read, Release::Done);
    }
    clock.issue(die, Op::Erase, last, Release::Done);
    u64::from(2 * BURST_PAIRS + 1)
}

/// The same between two dies: programs wait for reads elsewhere, the erase for all programs.
fn scattered_burst(clock: &mut Clock, random: &mut Random) -> u64 {
    let die = random.below(DIES);
    let mut all = Ticket::at(Nanos::ZERO);
    for _ in 0..BURST_PAIRS {
        let read = clock.issue(die, Op::Read, Ticket::at(Nanos::ZERO), Release::Done);
        let program = clock.issue(random.below(DIES), Op::Program, read, Release::Done);
        all = clock.join(all, program);
    }
    clock.issue(die, Op::Erase, all, Release::Done);
    u64::from(2 * BURST_PAIRS + 1)
}

type Burst = Option<fn(&mut Clock, &mut Random) -> u64>;

/// A closed loop of `DEPTH` host operations, with a burst after every 100 of them. Returns the operations done.
fn closed_loop(clock: &mut Clock, operations: u64, release: Release, gc: Burst) -> u64 {
    let mut random = Random(7);
    let mut done = 0;
    for token in 0..DEPTH {
        let t = host(clock, &mut random, release);
        clock.watch(t, token);
        done += 1;
    }
    let mut until_burst = 100;
    while done < operations {
        let Some((token, _)) = clock.take_resolved() else {
            assert!(clock.step());
            continue;
        };
        let t = host(clock, &mut random, release);
        clock.watch(t, token);
        done += 1;
        until_burst -= 1;
        if until_burst == 0 {
            until_burst = 100;
            if let Some(gc) = gc {
                done += gc(clock, &mut random);
            }
        }
    }
    clock.drain();
    done
}

/// Many operations at a time without anybody waiting: what the events alone cost.
fn flood(clock: &mut Clock, operations: u64) -> u64 {
    let mut random = Random(7);
    for i in 0..operations {
        host(clock, &mut random, Release::Done);
        if i % 1_000 == 999 {
            clock.drain();
        }
    }
    operations
}

/// Nothing but issues, as the serial model is used by an engine that handles one request at a time.
fn one_by_one(clock: &mut Clock, operations: u64) -> u64 {
    let mut random = 1u32;
    for _ in 0..operations {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let op = if random >> 30 == 0 { Op::Read } else { Op::Program };
        let t = clock.issue((random >> 20) % DIES, op, Ticket::at(clock.now()), Release::Done);
        clock.advance(clock.time(t).expect("serial tickets are times"));
    }
    operations
}

/// Name, model, and what runs a number of operations and returns how many it did.
type Scenario = (&'static str, TimingModel, fn(&mut Clock, u64) -> u64);

fn main() {
    let (options, arguments): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    // Without `--bench` this is a test run: does it still work?
    let default = if options.iter().any(|o| o == "--bench") { 1_000_000 } else { 10_000 };
    let operations = arguments.first().map_or(default, |n| n.parse().expect("a number of operations"));
    let only = arguments.get(1);
    let (serial, parallel) = (TimingModel::named("serial"), TimingModel::named("parallel"));
    let scenarios: [Scenario; 7] = [
        ("serial, one by one", serial, one_by_one),
        ("serial, closed loop", serial, |c, n| closed_loop(c, n, Release::Done, None)),
        ("parallel, host only", parallel, |c, n| closed_loop(c, n, Release::Done, None)),
        ("parallel, host to transfer", parallel, |c, n| closed_loop(c, n, Release::Transfer, None)),
        ("parallel, bursts on a die", parallel, |c, n| closed_loop(c, n, Release::Done, Some(burst))),
        ("parallel, scattered bursts", parallel, |c, n| closed_loop(c, n, Release::Done, Some(scattered_burst))),
        ("parallel, flood", parallel, flood),
    ];
    for (name, model, run) in scenarios {
        if only.is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        // The best of several runs: other users of the machine can only make it slower.
        let (mut best, mut ended) = (f64::INFINITY, Nanos::ZERO);
        for _ in 0..REPEATS {
            let mut clock = Clock::new(model, TIMES, CHANNELS, DIES);
            let begin = Instant::now();
            let done = run(&mut clock, operations);
            best = best.min(begin.elapsed().as_nanos() as f64 / done as f64);
            ended = clock.now();
        }
        println!("{name:28} {best:6.1} ns per flash operation, ended at {ended}");
    }
}
