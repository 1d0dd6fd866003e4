//! How fast are our own forms written and read? Prints millions of requests a second (CPU time of the thread that reads or
//! writes, best of whole passes), the same by the clock on the wall, and bytes a request, for the built-in workload.
//! Text is decompressed, and Parquet decoded, on a thread of its own: the time on the wall has both.
//!
//! `cargo bench -p nandlab-trace --bench columnar [requests] [form, such as t.parquet]`
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures and prints")]

mod common;

use std::hint::black_box;
use std::time::Instant;

use common::least;
use nandlab_trace::{Options, Records, TraceRecord, Writer};

const PASSES: usize = 5;

/// The built-in workload, optionally with hints.
fn workload(requests: u64, hints: bool) -> Vec<TraceRecord> {
    let options = Options { limit: Some(requests), ..Options::default() };
    let records = Records::open("make:oltp", &options).expect("the generator exists");
    records
        .map(|record| {
            let mut record = record.expect("a generator cannot fail");
            if hints {
                (record.hint.pc, record.hint.run_pages) = (record.length >> 9, record.length >> 12);
            }
            record
        })
        .collect()
}

fn main() {
    let requests = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(2_000_000);
    let folder = std::env::temp_dir().join(format!("nandlab-columnar-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    println!("{requests} requests of the built-in workload, best of {PASSES} passes");
    println!("{:<22} {:>12} {:>12} {:>12} {:>14}", "form", "write M/s", "read M/s", "by the wall", "bytes/request");
    let only = std::env::args().find(|arg| arg.starts_with("t.") || arg.starts_with("h."));
    for (name, hints) in
        [("t.parquet", false), ("t.csv", false), ("t.csv.zst", false), ("h.parquet", true), ("h.csv", true)]
    {
        if only.as_ref().is_some_and(|only| only != name) {
            continue;
        }
        let records = workload(requests, hints);
        let path = folder.join(name);
        let path = path.to_str().expect("its name is UTF-8");
        let write = least(
            PASSES,
            || (),
            |()| {
                let mut writer = Writer::create(
                    path,
                    &[],
                    if hints { nandlab_trace::Extra::HINTS } else { nandlab_trace::Extra::NONE },
                )
                .expect("it can be made");
                for record in &records {
                    writer.write(record).expect("it can be written");
                }
                writer.finish().expect("it can be finished");
            },
        );
        let mut wall = f64::INFINITY;
        let read = least(
            PASSES,
            || (),
            |()| {
                let begun = Instant::now();
                let read = Records::open(path, &Options::default()).expect("it can be opened");
                let sum = read.fold(0, |sum, record| sum ^ record.expect("it can be read").offset);
                black_box(sum);
                wall = wall.min(begun.elapsed().as_secs_f64());
            },
        );
        let bytes = std::fs::metadata(path).expect("it exists").len() as f64 / requests as f64;
        let [write, read, wall] = [write, read, wall].map(|seconds| requests as f64 / seconds / 1e6);
        let with = if hints { "with hints" } else { "" };
        println!("{:<22} {write:>12.1} {read:>12.1} {wall:>12.1} {bytes:>14.2}", format!("{} {with}", &name[2..]));
    }
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}
