//! How fast are traces read? Prints requests per second of CPU time for some formats, from data in memory; the best of
//! several passes.
//!
//! `cargo bench -p nandlab-trace --bench readers [-- <rows> [format]]`; instructions per row are the difference of two
//! runs of `valgrind --tool=callgrind` with different numbers of rows.

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

mod common;

use std::fmt::Write;
use std::io::Cursor;

use nandlab_trace::{Options, Records};

const REPEATS: usize = 5;

/// One row of a format: number of the row, whether it is a write, page, pages.
type Row = fn(&mut String, u64, bool, u64, u64);

const FORMATS: [(&str, Row); 6] = [
    ("msr", |out, i, write, page, pages| {
        let (stamp, word) = (128_166_372_003_061_629 + 1_237 * i, if write { "Write" } else { "Read" });
        let _ = writeln!(out, "{stamp},usr,0,{word},{},{},{}", page * 4096, pages * 4096, 41_286 + i % 977);
    }),
    ("spc", |out, i, write, page, pages| {
        let (seconds, micros) = (i / 4_000, i % 4_000 * 250);
        let _ =
            writeln!(out, "0,{},{},{},{seconds}.{micros:06}", page * 8, pages * 4096, if write { 'w' } else { 'r' });
    }),
    ("disksim", |out, i, write, page, pages| {
        let _ = writeln!(out, "{}.{:06} 0 {} {} {}", i / 4, i % 4 * 250_000, page * 8, pages * 8, u8::from(!write));
    }),
    ("alibaba", |out, i, write, page, pages| {
        let (op, time) = (if write { 'W' } else { 'R' }, 1_577_808_000_000_000 + 213 * i);
        let _ = writeln!(out, "419,{op},{},{},{time}", page * 4096, pages * 4096);
    }),
    ("tencent", |out, i, write, page, pages| {
        let _ = writeln!(out, "{},{},{},{},1283", 1_538_323_200 + i / 5_000, page * 8, pages * 8, u8::from(write));
    }),
    ("blkparse", |out, i, write, page, pages| {
        let (time, op) = (i * 97_123, if write { 'W' } else { 'R' });
        let (seconds, nanos) = (time / 1_000_000_000, time % 1_000_000_000);
        let (lba, sectors) = (page * 8, pages * 8);
        let _ = writeln!(out, "  8,16   3 {i:>8} {seconds:>5}.{nanos:09}  4528  D   {op} {lba} + {sectors} [java]");
    }),
];

/// The same requests in every format, as bytes.
fn data(format: &str, rows: u64) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252u64;
    let requests = (0..rows).map(|i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (i, state % 10 < 6, (state >> 8) % (1 << 22), 1 + (state >> 40) % 16)
    });
    if format == "vscsi" {
        let record = |(i, write, page, pages): (u64, bool, u64, u64)| {
            let command = if write { 0x2Au16 } else { 0x28 };
            let words = [i as u32, pages as u32 * 4096, 1].map(u32::to_le_bytes);
            let (halves, longs) = ([command, 0x0100].map(u16::to_le_bytes), [page * 8, i * 211].map(u64::to_le_bytes));
            [words.as_flattened(), halves.as_flattened(), longs.as_flattened()].concat()
        };
        return requests.flat_map(record).collect();
    }
    let (_, row) = FORMATS.iter().find(|(name, _)| *name == format).expect("a format of this benchmark");
    let mut text = String::new();
    requests.for_each(|(i, write, page, pages)| row(&mut text, i, write, page, pages));
    text.into_bytes()
}

fn main() {
    let (options, arguments): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|a| a.starts_with("--"));
    // Without `--bench` this is a test run: does it still work?
    let default = if options.iter().any(|o| o == "--bench") { 1_000_000 } else { 2_000 };
    let rows = arguments.first().map_or(default, |n| n.parse().expect("a number of rows"));
    println!("| format | M requests/s | MB/s | bytes a row |\n|-|-|-|-|");
    for format in FORMATS.iter().map(|(name, _)| *name).chain(["vscsi"]) {
        if arguments.get(1).is_some_and(|only| only != format) {
            continue;
        }
        let bytes = data(format, rows);
        let length = bytes.len() as f64;
        let options = Options { format: Some(format.to_owned()), ..Options::default() };
        let source = || Cursor::new(bytes.clone());
        let best = common::least(REPEATS, source, |source| {
            let records = Records::from_reader(format, source, &options).expect("the format is known");
            let (mut read, mut sum) = (0, 0u64);
            for record in records {
                sum = sum.wrapping_add(record.expect("the data are good").offset);
                read += 1;
            }
            assert_eq!(read, rows);
            std::hint::black_box(sum);
        });
        let (rate, speed) = (rows as f64 / best / 1e6, length / best / 1e6);
        println!("| {format} | {rate:.1} | {speed:.0} | {:.0} |", length / rows as f64);
    }
}
