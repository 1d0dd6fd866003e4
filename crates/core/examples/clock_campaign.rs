//! The comparison of `tests/timing` with more arrays: the timing model `scheduled` against the slow simulator, operation by
//! operation, to the nanosecond.
//!
//! `cargo run --release -p nandlab --example clock_campaign -- POLICY|all FIRST..LAST CALLS`
//!
//! Every policy makes one array for each seed from FIRST to LAST-1, with features at random (planes, units, cache registers,
//! copy-back, suspension, types of pages, times of zero), and CALLS random calls on it. Completions, all waits by class and
//! cause, and the laws of NAND are compared; the first difference ends the run. Prints the sums so far now and then.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/kit/mod.rs"]
mod kit;
mod shared;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/timing"]
mod timing {
    pub mod rig;
    pub mod scheduled;
    pub mod slow_scheduled;
}

use std::process::ExitCode;

use nandlab::flash::clock::SchedulerRule;
use nandlab::registry::rules::Rule;
use shared::seeds;
use timing::scheduled::{Seen, compare_many};

const USAGE: &str = "usage: clock_campaign POLICY|all FIRST..LAST CALLS, for example: clock_campaign all 0..1000 150";

/// Arrays between two lines of output.
const STEP: u64 = 10_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [policy, range, calls] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let names = SchedulerRule::ALL.iter().map(|plugin| plugin.module);
    let names: Vec<&str> = names.filter(|name| policy == "all" || policy == name).collect();
    let (Some(seeds), Ok(calls), false) = (seeds(range), calls.parse(), names.is_empty()) else {
        eprintln!("one of these is wrong: policy `{policy}`, seeds `{range}`, calls `{calls}`; {USAGE}");
        return ExitCode::FAILURE;
    };
    let mut all = Seen::default();
    for first in seeds.clone().step_by(STEP as usize) {
        for name in &names {
            all += compare_many(name, first..(first + STEP).min(seeds.end), calls);
        }
        println!("{all}");
    }
    ExitCode::SUCCESS
}
