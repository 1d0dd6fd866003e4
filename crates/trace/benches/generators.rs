//! How fast are the generators? Prints millions of requests per second of each with its default parameters, and of each
//! preset.
//!
//! `cargo bench -p nandlab-trace --bench generators [-- <requests> [name]]`

#![allow(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use nandlab::registry::Plugin;
use nandlab_trace::generators::{Context, GENERATORS, PRESETS, make};

const REPEATS: u32 = 3;

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let requests: usize = arguments.next().map_or(3_000_000, |n| n.parse().expect("a number of requests"));
    let wanted = arguments.next();
    let names = GENERATORS.iter().map(Plugin::name).chain(PRESETS.iter().map(|preset| preset.name.to_owned()));
    for name in names.filter(|name| wanted.as_ref().is_none_or(|wanted| wanted == name)) {
        let mut records = make(&name, Context::new(1)).expect("defaults are valid").records;
        let mut seconds = f64::MAX;
        let mut sum = 0;
        for _ in 0..REPEATS {
            let started = Instant::now();
            for record in records.by_ref().take(requests) {
                sum ^= record.offset ^ record.at.0;
            }
            seconds = seconds.min(started.elapsed().as_secs_f64());
        }
        println!("{name:16} {:7.1} M requests/s   (checksum {sum:016x})", requests as f64 / seconds / 1e6);
    }
}
