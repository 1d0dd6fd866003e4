//! Rates of the offline algorithms on one Zipf-like stream: a Markdown table.
//!
//! `cargo bench -p nandlab --bench offline [-- <accesses>]`: Zipf 1.0 over 2^20 shuffled pages, half of them writes, and a
//! buffer of 100,000 pages. The history is made before; what each algorithm derives from it counts. CPU time.
#![allow(missing_docs, clippy::print_stdout)]

mod common;

use common::cpu_seconds;
use nandlab::offline::{Costs, History, LruCurve, Segments, belady, lower_bound, schedule};
use nandlab::types::{HostOp, HostRequest, Nanos};

const PAGES: u32 = 1 << 20;
const FRAMES: u32 = 100_000;
const ROUNDS: u32 = 10;
/// The best of several runs: other users of the machine can only make it slower.
const REPEATS: u32 = 3;

fn main() {
    let (options, arguments): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    // Without `--bench` this is a test run: does it still work?
    let default = if options.iter().any(|o| o == "--bench") { 20_000_000 } else { 100_000 };
    let accesses = arguments.first().map_or(default, |n| n.parse().expect("a number of accesses"));
    let history = history(accesses);
    let costs = Costs { read: 1, write: 10 };
    println!("| work | M accesses/s | result |\n|-|-|-|");
    let row = |work: &str, seconds: f64, times: f64, result: String| {
        println!("| {work} | {:.1} | {result} |", accesses as f64 * times / seconds / 1e6);
    };
    let (seconds, min) = best(|| belady(&history, FRAMES));
    row("Belady's MIN with write-backs", seconds, 1.0, format!("hit ratio {:.4}", min.hit_ratio()));
    let (seconds, curve) = best(|| LruCurve::new(&history));
    let hits = curve.at(FRAMES).hit_ratio();
    row("LRU at every size, hits and write-backs", seconds, 1.0, format!("hit ratio {hits:.4}"));
    let (seconds, segments) = best(|| Segments::new(&history, costs));
    row("sorting by page", seconds, 1.0, format!("{} pages", history.pages()));
    let (seconds, bound) = best(|| lower_bound(&segments, FRAMES, ROUNDS));
    let result = format!("bound {} after {ROUNDS}", bound.cost);
    row("a round of the lower bound", seconds, f64::from(ROUNDS + 1), result);
    let (seconds, possible) = best(|| schedule(&history, &segments, &bound, FRAMES));
    row("schedule (and MIN)", seconds, 1.0, format!("cost {}", possible.cost(costs)));
}

/// Seconds of the fastest run, and its result.
fn best<T>(work: impl Fn() -> T) -> (f64, T) {
    let run = || {
        let start = cpu_seconds();
        let result = work();
        (cpu_seconds() - start, result)
    };
    let runs = (0..REPEATS).map(|_| run());
    runs.min_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a run")
}

/// The rank of a page is a power of the number of pages: its density falls with the rank, as that of Zipf 1.0.
fn history(accesses: u64) -> History {
    let mut history = History::new(PAGES, 8, true);
    let mut state = 88_172_645_463_325_252_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..accesses {
        let uniform = (draw() >> 11) as f64 / (1u64 << 53) as f64;
        let rank = f64::from(PAGES).powf(uniform) as u32;
        // An odd factor permutes the numbers below a power of two.
        let page = rank.wrapping_mul(2_654_435_761) % PAGES;
        let op = if draw() >> 63 == 0 { HostOp::Read } else { HostOp::Write };
        history.extend(&[HostRequest::new(Nanos::ZERO, op, u64::from(page) * 8, 8)]).expect("inside the device");
    }
    history
}
