//! `nandlab trace merge`: several traces into one.

use clap::Args;
use nandlab_trace::tools::{Counts, Merge};
use nandlab_trace::{Extra, Recording, Records, Step, Timed, expand};

use super::{OutputArgs, chain, step};
use crate::fail::Failure;
use crate::reading::ReadArgs;

/// Arguments of `trace merge`.
#[derive(Args, Debug)]
pub struct MergeArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Keep the numbers of the devices: equal numbers are one device. Otherwise each device of each trace is its own.
    #[arg(long)]
    keep_devices: bool,
    /// Let the times of each trace count from its first request.
    #[arg(long)]
    from_zero: bool,
}

/// Runs the tool.
pub fn merge(args: &MergeArgs) -> Result<(), Failure> {
    let options = args.read.reading.options()?;
    // Each argument is a trace; a pattern is one in several files.
    let files = |argument: &String| Ok(expand(std::slice::from_ref(argument))?);
    let traces = args.read.trace.iter().map(files).collect::<Result<Vec<Vec<String>>, Failure>>()?;
    if traces.len() < 2 {
        return Err(Failure::bad(
            "a merge needs two traces at least",
            "nandlab trace merge a.csv b.csv -o both.parquet (files that a quoted pattern stands for are one trace)",
        ));
    }
    if args.read.trace.iter().filter(|path| *path == "-").count() > 1 {
        return Err(Failure::bad("standard input can be read once", "name `-` once"));
    }
    let open = |files: &Vec<String>| Ok(Timed::new(Records::open_all(files, &options)?, &options));
    let opened = traces.iter().map(open).collect::<Result<Vec<Timed>, Failure>>()?;
    let inputs: Vec<&Records> = opened.iter().map(Timed::records).collect();
    let step = step(&inputs);
    let begun: Vec<Step> = chain(&inputs, &step, &Counts::new());
    let mut writer =
        args.output.begin(&begun, inputs.iter().fold(Extra::NONE, |extra, records| extra.or(records.extra())))?;
    let mut merge = Merge::new(opened, args.keep_devices, args.from_zero);
    args.output.fill(&mut writer, &mut merge)?;
    let mut counts = Counts::from([("requests_written".to_owned(), writer.requests())]);
    if !args.keep_devices {
        counts.insert("devices".to_owned(), merge.devices());
    }
    let inputs: Vec<&Records> = merge.records().collect();
    let steps = chain(&inputs, &step, &counts);
    let mut told = Recording::default();
    for records in &inputs {
        told.join(&records.recording());
    }
    args.output.end(writer, steps, told, &counts)
}
