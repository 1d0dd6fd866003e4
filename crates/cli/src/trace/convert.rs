//! `nandlab trace convert`: any format in, our own forms and those of other tools out.

use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use nandlab_trace::Writer;
use nandlab_trace::formats;
use nandlab_trace::tools::{Applied, Keep};

use super::{InputArgs, OutputArgs, cannot_begin, cannot_write, pass, warn_of_assumed};
use crate::fail::Failure;
use crate::output;

/// Arguments of `trace convert`.
#[derive(Args, Debug)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Write this format in place of nandlab's own (what those of other tools say and what not: `nandlab describe NAME`).
    #[arg(long, value_name = "FORMAT", value_parser = written())]
    to: Option<String>,
}

/// The formats that can be written.
fn written() -> PossibleValuesParser {
    let others = formats().iter().filter(|format| format.is_written).map(|format| format.name);
    PossibleValuesParser::new(["nandlab", "parquet"].into_iter().chain(others))
}

/// Runs the tool.
pub fn convert(args: &ConvertArgs) -> Result<(), Failure> {
    check_name(args)?;
    let rows = args.input.open()?;
    match args.to.as_deref() {
        None | Some("nandlab" | "parquet") => pass(rows, Keep, args.input.limit, &args.output),
        Some(format) => export(Applied::new(rows, Keep, args.input.limit), format, &args.output),
    }
}

/// Refuses a format that the name of the output contradicts: Parquet is what ends in `.parquet`.
fn check_name(args: &ConvertArgs) -> Result<(), Failure> {
    let output = &args.output.output;
    let is_parquet = Path::new(output).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
    match args.to.as_deref() {
        Some("parquet") if !is_parquet => {
            Err(Failure::bad("--to parquet: it is written into files that end in .parquet", "-o TRACE.parquet"))
        }
        Some(format) if format != "parquet" && is_parquet => Err(Failure::bad(
            format!("--to {format}: {output} would be no Parquet"),
            "leave --to out, or name another file",
        )),
        _ => Ok(()),
    }
}

/// Writes the format of another tool, and says what it has no place for.
fn export(mut rows: Applied<Keep>, format: &str, target: &OutputArgs) -> Result<(), Failure> {
    let wrong = |error| cannot_write(&target.output, &error);
    warn_of_assumed(rows.records());
    let mut writer = Writer::export(&target.output, format).map_err(|error| cannot_begin(&target.output, &error))?;
    target.fill(&mut writer, &mut rows)?;
    let (lost, mut counts) = (writer.lost(), rows.counts());
    writer.finish().map_err(wrong)?;
    for (kind, n) in &lost {
        output::complain(&format!("note: {format} has no place for all of it: {}: {n}", kind.replace('_', " ")));
    }
    counts.extend(lost);
    target.say(&counts);
    Ok(())
}
