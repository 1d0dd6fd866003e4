//! The ordeal of `tests/every_ftl.rs` with more seeds: random operations and power cuts on every FTL.
//!
//! `cargo run --release -p nandlab --example campaign -- operations|cuts FTL|all FIRST..LAST EACH`
//!
//! `EACH` is the number of operations of a run: one run for every seed from FIRST to LAST-1, parameter variant and device.
//! Prints one line for each FTL. docs/evidence.md has the command of the nightly run and what it found.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/campaign/mod.rs"]
mod campaign;
#[path = "../tests/common/mod.rs"]
mod common;

use std::ops::Range;
use std::process::ExitCode;

use campaign::Counts;
use nandlab::ftl::FTLS;

const USAGE: &str = "usage: campaign operations|cuts FTL|all FIRST..LAST EACH, for example: campaign cuts all 1..3 40";

fn seeds(text: &str) -> Option<Range<u64>> {
    let (first, last) = text.split_once("..")?;
    let seeds = first.parse().ok()?..last.parse().ok()?;
    (!seeds.is_empty()).then_some(seeds)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, name, range, each] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let run: fn(&str, Range<u64>, u32) -> Counts = match what.as_str() {
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
    let mut all = Counts::default();
    for name in names {
        let counts = run(&name, seeds.clone(), each);
        println!("{name}: {counts}");
        all += counts;
    }
    println!("all: {all}; {} cuts", all.cuts());
    ExitCode::SUCCESS
}
