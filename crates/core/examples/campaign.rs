//! The ordeal of `tests/every_ftl.rs` with more seeds: random operations and power cuts on every FTL.
//!
//! `cargo run --release -p nandlab --example campaign -- operations|cuts FTL|all FIRST..LAST EACH`
//!
//! `EACH` is the number of operations of a run: one run for every seed from FIRST to LAST-1, parameter variant and device.
//! After every seed the sums so far are printed, one line for each FTL, so that a run that is stopped has told what it
//! did; go on with the seeds that are left. Streams of all runs are compared (a pair of equal ones ends the run), and a
//! cut counts once however often it comes about. crates/core/EVIDENCE.md has the command of the nightly run and what it found.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/campaign/mod.rs"]
mod campaign;
#[path = "../tests/kit/mod.rs"]
mod kit;
mod shared;

use std::process::ExitCode;

use campaign::Counts;
use campaign::streams::Seen;
use nandlab::ftl::FTLS;
use shared::seeds;

const USAGE: &str = "usage: campaign operations|cuts FTL|all FIRST..LAST EACH, for example: campaign cuts all 1..3 40";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, name, range, each] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let run: fn(&str, u64, u32, &mut Seen) -> Counts = match what.as_str() {
        "operations" => campaign::operate,
        "cuts" => campaign::cut,
        _ => {
            eprintln!("`{what}` is neither `operations` nor `cuts`; {USAGE}");
            return ExitCode::FAILURE;
        }
    };
    let names: Vec<String> =
        FTLS.iter().map(nandlab::registry::Plugin::name).filter(|n| name == "all" || n == name).collect();
    let (Some(seeds), Ok(each), false) = (seeds(range), each.parse::<u32>(), names.is_empty()) else {
        eprintln!("one of these is wrong: FTL `{name}`, seeds `{range}`, operations `{each}`; {USAGE}");
        return ExitCode::FAILURE;
    };
    let mut sums: Vec<(String, Counts)> = names.into_iter().map(|name| (name, Counts::default())).collect();
    let mut seen = Seen::default();
    for seed in seeds.clone() {
        let mut all = Counts::default();
        println!("seeds {}..{}", seeds.start, seed + 1);
        for (name, sum) in &mut sums {
            *sum += run(name, seed, each, &mut seen);
            println!("{name}: {sum}");
            all += *sum;
        }
        println!("all: {all}; {} streams, no two equal", seen.streams());
    }
    ExitCode::SUCCESS
}
