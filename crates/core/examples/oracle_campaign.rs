//! The comparison of `tests/oracle.rs` with more seeds: the whole device against the oracle, request by request.
//!
//! `cargo run --release -p nandlab --example oracle_campaign -- BUFFER|all FTL|all FIRST..LAST EACH`
//!
//! Every pair makes one run for every seed from FIRST to LAST-1, each with its own device and parameters and with EACH
//! requests. Prints one line for each FTL, and the first difference of every pair that has one.
#![allow(clippy::print_stdout, missing_docs)]

#[path = "../tests/kit/mod.rs"]
mod kit;
#[path = "../tests/oracle/mod.rs"]
mod oracle;
mod shared;

use std::process::ExitCode;

use oracle::cases::{BUFFER_NAMES, FTL_NAMES};
use oracle::run::{Done, pair};
use shared::seeds;

const USAGE: &str =
    "usage: oracle_campaign BUFFER|all FTL|all FIRST..LAST EACH, for example: oracle_campaign all all 0..100 1000";

fn named<'a>(all: &[&'a str], wanted: &str) -> Vec<&'a str> {
    all.iter().copied().filter(|name| wanted == "all" || *name == wanted).collect()
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [buffer, ftl, range, each] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::FAILURE;
    };
    let (buffers, ftls) = (named(&BUFFER_NAMES, buffer), named(&FTL_NAMES, ftl));
    let (Some(seeds), Ok(each), false) = (seeds(range), each.parse(), buffers.is_empty() || ftls.is_empty()) else {
        eprintln!("one of these is wrong: buffer `{buffer}`, FTL `{ftl}`, seeds `{range}`, requests `{each}`; {USAGE}");
        return ExitCode::FAILURE;
    };
    let (mut all, mut problems) = (Done::default(), 0);
    for ftl in ftls {
        let mut done = Done::default();
        for buffer in &buffers {
            match pair(buffer, ftl, seeds.clone(), each) {
                Ok(pair) => done += pair,
                Err(problem) => {
                    problems += 1;
                    eprintln!("{buffer} over {ftl}: {problem}\n");
                }
            }
        }
        println!("{ftl}: {done}");
        all += done;
    }
    println!("all: {all}; pairs that differ: {problems}");
    if problems == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
