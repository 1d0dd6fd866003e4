//! `nandlab trace split`: one trace into files.

use std::collections::BTreeMap;

use clap::Args;
use nandlab_trace::tools::{Counts, Split, SplitBy};
use nandlab_trace::{Records, Writer};

use super::{InputArgs, OutputArgs, chain, step, time};
use crate::fail::Failure;
use crate::files::Files;
use crate::number;

/// Arguments of `trace split`.
#[derive(Args, Debug)]
pub struct SplitArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Names of the parts, with {} where the number belongs: part-{}.parquet.
    #[arg(long, short, value_name = "PATTERN")]
    output: String,
    /// Say what was done even if standard error is not a terminal.
    #[arg(long, short)]
    verbose: bool,
    #[command(flatten)]
    by: By,
}

#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct By {
    /// A part for each device.
    #[arg(long = "by-device")]
    device: bool,
    /// Parts of this many requests.
    #[arg(long, value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    every: Option<u64>,
    /// Parts of this much time, from the first request on.
    #[arg(long, value_name = "TIME", value_parser = time, allow_hyphen_values = true)]
    every_time: Option<u64>,
}

/// Most parts that are written at a time.
const OPEN_MAX: usize = 128;

/// A part that is being written.
struct Part {
    writer: Writer,
    output: OutputArgs,
}

/// Runs the tool.
pub fn split(args: &SplitArgs) -> Result<(), Failure> {
    if args.output.matches("{}").count() != 1 {
        return Err(Failure::bad(
            format!("--output {}: the names of the parts need one {{}}", args.output),
            "part-{}.parquet",
        ));
    }
    let by = match (args.by.every, args.by.every_time) {
        (Some(requests), _) => SplitBy::Requests(requests),
        (None, Some(ns)) => SplitBy::TimeNs(ns),
        (None, None) => SplitBy::Device,
    };
    let mut split =
        Split::new(by).map_err(|problem| Failure::bad(format!("--every-time: {problem}"), "for example 10s"))?;
    let mut rows = args.input.open()?;
    let mut open: BTreeMap<u64, Part> = BTreeMap::new();
    let (mut parts, mut left) = (0, args.input.limit.unwrap_or(u64::MAX));
    let mut total = Counts::new();
    while left > 0
        && let Some(record) = rows.next()
    {
        let record = record?;
        left -= 1;
        let number = split.part(&record);
        if !open.contains_key(&number) {
            if split.is_serial() && !open.is_empty() {
                super::need_tables(rows.records())?;
                finish(&mut open, rows.records())?;
            } else if open.len() == OPEN_MAX {
                let problem = format!("{}: more than {OPEN_MAX} devices", rows.records().name());
                return Err(Failure::bad(problem, "keep some of them with `nandlab trace filter --device`"));
            }
            open.insert(number, begin(args, rows.records(), number)?);
            parts += 1;
        }
        let part = open.get_mut(&number).expect("it was opened");
        part.output.fill(&mut part.writer, std::iter::once(Ok::<_, Failure>(record)))?;
        *total.entry("requests_written".to_owned()).or_default() += 1;
    }
    if left == 0 {
        super::need_tables(rows.records())?;
    }
    finish(&mut open, rows.records())?;
    total.insert("parts".to_owned(), parts);
    if split.out_of_order() > 0 {
        total.insert("rows_out_of_order".to_owned(), split.out_of_order());
    }
    output_of(args, &args.output).say(&total);
    Ok(())
}

fn output_of(args: &SplitArgs, name: &str) -> OutputArgs {
    OutputArgs { output: name.to_owned(), verbose: args.verbose }
}

fn begin(args: &SplitArgs, records: &Records, number: u64) -> Result<Part, Failure> {
    let output = output_of(args, &args.output.replace("{}", &number.to_string()));
    let inputs: Vec<String> = records.names().map(str::to_owned).collect();
    Files::reading(&inputs).writing("--output", Some(&output.output)).check()?;
    let steps = chain(&[records], &step(&[records]), &Counts::new());
    Ok(Part { writer: output.begin(&steps, records.extra())?, output })
}

/// Completes the parts that are open.
fn finish(open: &mut BTreeMap<u64, Part>, records: &Records) -> Result<(), Failure> {
    while let Some((_, Part { mut writer, output })) = open.pop_first() {
        let counts = Counts::from([("requests_written".to_owned(), writer.requests())]);
        writer.set_steps(chain(&[records], &step(&[records]), &counts));
        writer.set_recording(records.recording());
        writer.finish().map_err(|error| super::cannot_write(&output.output, &error))?;
    }
    Ok(())
}
