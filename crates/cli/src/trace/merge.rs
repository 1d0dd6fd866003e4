//! `nandlab trace merge`: several traces into one.

use clap::Args;
use nandlab_trace::tools::{Counts, Merge};
use nandlab_trace::{Records, Step};

use super::{OutputArgs, ReadingArgs, chain, step};
use crate::fail::Failure;

/// Arguments of `trace merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Trace files; one of them may be `-`, standard input.
    #[arg(value_name = "TRACE", required = true, num_args = 2..)]
    traces: Vec<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    output: OutputArgs,
    /// Keep the numbers of the devices: equal numbers are one device. Otherwise each device of each trace is its own.
    #[arg(long)]
    keep_devices: bool,
    /// Let the times of each trace count from its first request.
    #[arg(long)]
    from_zero: bool,
}

/// Runs the tool.
pub fn merge(args: &MergeArgs) -> Result<(), Failure> {
    if args.traces.iter().filter(|trace| *trace == "-").count() > 1 {
        return Err(Failure::bad("standard input can be read once", "name `-` once"));
    }
    let opened: Result<Vec<Records>, Failure> = args.traces.iter().map(|trace| args.reading.open(trace)).collect();
    let opened = opened?;
    let inputs: Vec<&Records> = opened.iter().collect();
    let step = step(&inputs);
    let begun: Vec<Step> = chain(&inputs, &step, &Counts::new());
    let mut writer = args.output.begin(&begun, opened.iter().any(Records::has_hints))?;
    let mut merge = Merge::new(opened, args.keep_devices, args.from_zero);
    args.output.fill(&mut writer, &mut merge)?;
    let mut counts = Counts::from([("requests_written".to_owned(), writer.requests())]);
    if !args.keep_devices {
        counts.insert("devices".to_owned(), merge.devices());
    }
    let inputs: Vec<&Records> = merge.records().collect();
    let steps = chain(&inputs, &step, &counts);
    args.output.end(writer, steps, &counts)
}
