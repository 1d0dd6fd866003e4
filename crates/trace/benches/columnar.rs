//! How fast are our own forms written and read? Prints millions of requests a second (CPU time of one thread, whole passes) and
//! bytes a request, for the built-in workload. Decompression of text runs on a thread of its own and is not counted.
//!
//! `cargo bench -p nandlab-trace --bench columnar [requests]`
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "it measures and prints")]

use std::hint::black_box;
use std::time::Instant;

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

/// Seconds of CPU of this thread where the system tells them, else of wall time.
fn clock(begun: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let on_cpu = stat.split(' ').next().and_then(|ns| ns.parse::<f64>().ok());
    on_cpu.map_or_else(|| begun.elapsed().as_secs_f64(), |ns| ns * 1e-9)
}

/// The least seconds of several passes.
fn least(mut pass: impl FnMut()) -> f64 {
    let begun = Instant::now();
    let seconds = (0..PASSES).map(|_| {
        let before = clock(begun);
        pass();
        clock(begun) - before
    });
    seconds.fold(f64::INFINITY, f64::min)
}

fn main() {
    let requests = std::env::args().find_map(|arg| arg.parse().ok()).unwrap_or(2_000_000);
    let folder = std::env::temp_dir().join(format!("nandlab-columnar-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder for temporary files is writable");
    println!("{requests} requests of the built-in workload, best of {PASSES} passes");
    println!("{:<22} {:>12} {:>12} {:>14}", "form", "write M/s", "read M/s", "bytes/request");
    for (name, hints) in
        [("t.parquet", false), ("t.csv", false), ("t.csv.zst", false), ("h.parquet", true), ("h.csv", true)]
    {
        let records = workload(requests, hints);
        let path = folder.join(name);
        let path = path.to_str().expect("its name is UTF-8");
        let write = least(|| {
            let mut writer = Writer::create(path, &[], hints).expect("it can be made");
            for record in &records {
                writer.write(record).expect("it can be written");
            }
            writer.finish().expect("it can be finished");
        });
        let read = least(|| {
            let read = Records::open(path, &Options::default()).expect("it can be opened");
            let sum = read.fold(0, |sum, record| sum ^ record.expect("it can be read").offset);
            black_box(sum);
        });
        let bytes = std::fs::metadata(path).expect("it exists").len() as f64 / requests as f64;
        let (write, read) = (requests as f64 / write / 1e6, requests as f64 / read / 1e6);
        let with = if hints { "with hints" } else { "" };
        println!("{:<22} {write:>12.1} {read:>12.1} {bytes:>14.2}", format!("{} {with}", &name[2..]));
    }
    std::fs::remove_dir_all(&folder).expect("it can be removed");
}
