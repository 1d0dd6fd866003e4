//! Prints what each trace named on the command line is like: `trace_stats [--format NAME] [--skip-bad N] FILE...`;
//! with `--count` it only reads them as for replay, merged, which shows the speed of reading.
#![allow(clippy::print_stdout, reason = "it is a command")]

use nandlab_trace::{Options, TraceError, Volumes};

fn main() -> Result<(), TraceError> {
    let mut options = Options { volumes: Volumes::Merge, ..Options::default() };
    let mut count = false;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--format" => options.format = args.next(),
            "--skip-bad" => options.skip_bad = args.next().and_then(|n| n.parse().ok()),
            "--count" => count = true,
            path if count => {
                let mut trace = nandlab_trace::open(path, &options)?;
                let mut sum = 0u64;
                for request in &mut trace {
                    sum = sum.wrapping_add(request?.lba);
                }
                println!(
                    "{path}: {} {} requests, sum of sectors {sum}",
                    trace.records().format(),
                    trace.report().requests
                );
            }
            path => match nandlab_trace::stats(path, &options) {
                Ok(stats) => println!("{path}: {stats:?}"),
                Err(error) => println!("{error}"),
            },
        }
    }
    Ok(())
}
