//! How fast a trace is measured: requests and pages a second of CPU time, the best of several runs.
//!
//! `cargo bench -p nandlab-trace --bench info`: the built-in workload, and requests of 32 KiB at random, a million each,
//! by the few counts (`stats`), by everything (`info`), and by everything with one page in a hundred followed.
#![allow(missing_docs, clippy::print_stdout)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod common;

use std::io::Cursor;

use nandlab::types::HostOp;
use nandlab_trace::{Info, Options, Records, SamplePages, TraceRecord, Writer, stats_of};

const REQUESTS: u64 = 1_000_000;
const REPEATS: usize = 3;

fn oltp() -> Vec<TraceRecord> {
    let options = Options { limit: Some(REQUESTS), ..Options::default() };
    Records::open("make:oltp", &options).and_then(Iterator::collect).expect("the generator exists and cannot fail")
}

fn random() -> Vec<TraceRecord> {
    let mut x = 88_172_645_463_325_252_u64;
    let record = |i: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        let op = if x.is_multiple_of(2) { HostOp::Read } else { HostOp::Write };
        let offset = ((x >> 11) % (1 << 17)) * 32_768;
        TraceRecord::plain(i * 1_000, op, offset, 32_768)
    };
    (0..REQUESTS).map(record).collect()
}

fn text(records: &[TraceRecord], path: &std::path::Path) -> Vec<u8> {
    let mut writer = Writer::create(path.to_str().expect("its name is UTF-8"), &[], nandlab_trace::Extra::HINTS)
        .expect("it can be written");
    for record in records {
        writer.write(record).expect("it can be written");
    }
    writer.finish().expect("it can be written");
    std::fs::read(path).expect("it was written")
}

fn best(trace: &[u8], measure: impl Fn(Records)) -> f64 {
    let records = || {
        let records = Records::from_reader("bench", Cursor::new(trace.to_vec()), &Options::default());
        records.expect("it is a trace")
    };
    common::least(REPEATS, records, measure)
}

fn main() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("info.trace");
    let options = Options::default();
    println!("| trace | what | s | M requests/s | M pages/s |\n|-|-|-|-|-|");
    for (name, records) in [("built-in workload", oltp()), ("32 KiB at random", random())] {
        let pages: u64 =
            records.iter().map(|r| (r.offset + u64::from(r.length)).div_ceil(4096) - r.offset / 4096).sum();
        let trace = text(&records, &path);
        let sampled = SamplePages::new(0.01).expect("it is a share");
        let rows: [(&str, f64); 4] = [
            ("reading alone", best(&trace, |records| assert_eq!(records.count() as u64, REQUESTS))),
            ("stats", best(&trace, |records| assert!(stats_of(records, &options).is_ok()))),
            ("info", best(&trace, |records| assert!(Info::of(records, &options, SamplePages::ALL).is_ok()))),
            ("info, 1 % of the pages", best(&trace, |records| assert!(Info::of(records, &options, sampled).is_ok()))),
        ];
        for (what, seconds) in rows {
            let (requests, pages) = (REQUESTS as f64 / seconds / 1e6, pages as f64 / seconds / 1e6);
            println!("| {name} | {what} | {seconds:.3} | {requests:.2} | {pages:.1} |");
        }
    }
}
