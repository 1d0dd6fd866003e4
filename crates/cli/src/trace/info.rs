//! `nandlab trace info`: what traces are like.

use clap::Args;
use nandlab_lab::trace_figure;
use nandlab_trace::{INFO_SCHEMA_VERSION, Info, InfoReport, Options, SamplePages, expand};
use serde::Serialize;

use super::{info_table, info_text};
use crate::fail::{Exit, Failure};
use crate::files::Files;
use crate::picture::Target;
use crate::reading::ReadingArgs;
use crate::rows::both;
use crate::style::Style;
use crate::{advice, number, output};

/// Arguments of `trace info`.
#[derive(Args, Debug)]
pub struct InfoArgs {
    /// Trace files (plain, gzip, zstd, bzip2 or xz; or Parquet); `-` is standard input. A quoted pattern ('cpu.*') is one
    /// trace in several files.
    #[arg(value_name = "TRACE", default_value = "-")]
    pub traces: Vec<String>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Requests to read at most, of each trace.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    limit: Option<u64>,
    /// Follow only this share of all 4 KiB pages (above 0, at most 1): footprints and reuse become estimates, and take
    /// that share of the memory. Without it all are followed, at 60 to 110 bytes for each distinct page.
    #[arg(long, value_name = "RATE", value_parser = sample_pages, allow_hyphen_values = true, default_value = "1")]
    sample_pages: SamplePages,
    /// One row for each trace.
    #[arg(long, help_heading = "Output")]
    table: bool,
    /// One row for each trace, as comma-separated values with exact numbers.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["markdown", "table"])]
    csv: bool,
    /// One row for each trace, as a Markdown table.
    #[arg(long, help_heading = "Output", conflicts_with = "table")]
    markdown: bool,
    /// Write everything as JSON to a file, or to standard output (`-`) instead of text.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,
    /// Draw one trace: a file that ends in .svg, .pdf or .png, or `-` for the terminal instead of text.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["table", "csv", "markdown"])]
    plot: Option<Target>,
}

pub fn sample_pages(text: &str) -> Result<SamplePages, String> {
    let rate = text.parse().ok().and_then(SamplePages::new);
    rate.ok_or_else(|| "a share of the pages is a number above 0 and at most 1, for example 0.01".to_owned())
}

impl InfoArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading(&self.traces)
            .writing("--json", self.json.as_ref())
            .writing("--plot", self.plot.as_ref().and_then(Target::file))
    }
}

#[derive(Serialize)]
struct Published<'a> {
    schema: u32,
    nandlab: &'static str,
    traces: &'a [InfoReport],
}

/// Runs the tool. A trace that cannot be read is reported, and the others are measured all the same.
pub fn info(args: &InfoArgs, style: Style) -> Result<(), Failure> {
    let options = Options { limit: args.limit, ..args.reading.options()? };
    if args.plot.is_some() && args.traces.len() != 1 {
        let problem = format!("--plot draws one trace, and here are {}", args.traces.len());
        return Err(Failure::bad(problem, "run it once for each trace"));
    }
    let asked = [
        ("--plot -", args.plot.as_ref().is_some_and(Target::is_stdout)),
        ("--csv", args.csv),
        ("--markdown", args.markdown),
        ("--table", args.table),
    ];
    if let (Some((form, _)), Some("-")) = (asked.iter().find(|(_, asked)| *asked), args.json.as_deref()) {
        return Err(both(form, "--json -"));
    }
    let (json, plot) = Target::open_both(args.json.as_deref(), args.plot.as_ref())?;
    let mut plot = Some(plot);
    let mut reports = Vec::new();
    let mut first_failure = None;
    for trace in &args.traces {
        match measure(trace, &options, args) {
            Ok(info) => {
                let report = InfoReport::from(&info);
                if let (Some(target), Some(file)) = (&args.plot, plot.take()) {
                    target.draw(file, &trace_figure(&info, &report), style)?;
                }
                reports.push(report);
            }
            Err(Failure::Interrupted(_)) => {
                let done = format!("{} of {} traces are done", reports.len(), args.traces.len());
                first_failure = Some(Failure::Interrupted(done));
                break;
            }
            Err(failure) if args.traces.len() == 1 => return Err(failure),
            Err(failure) => {
                output::complain(&failure.message().unwrap_or_default());
                first_failure = Some(Failure::Said(Exit::SomeRows));
            }
        }
    }
    let (schema, nandlab) = (INFO_SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
    json.write(|| output::json(&Published { schema, nandlab, traces: &reports }))?;
    if !reports.is_empty() && args.json.as_deref() != Some("-") && !args.plot.as_ref().is_some_and(Target::is_stdout) {
        output::print(&text(args, &reports, style))?;
    }
    first_failure.map_or(Ok(()), Err)
}

/// What a trace is like. One without any request is none: most often the format is not that of the file.
fn measure(trace: &str, options: &Options, args: &InfoArgs) -> Result<Info, Failure> {
    let info = Info::open(&expand(&[trace.to_owned()])?, options, args.sample_pages)?;
    if info.stats.requests == 0 {
        let Info { name, format, reason, .. } = &info;
        let problem = format!("{name}: there is no request in it, read as {format} {reason}");
        return Err(Failure::bad(
            problem,
            "is this the right file, and the right --format? Without one it is detected",
        ));
    }
    Ok(info)
}

fn text(args: &InfoArgs, reports: &[InfoReport], style: Style) -> String {
    match args {
        InfoArgs { csv: true, .. } => info_table::csv(reports),
        InfoArgs { markdown: true, .. } => info_table::markdown(reports),
        InfoArgs { table: true, .. } => info_table::table(reports, style),
        _ => {
            let text = |report: &InfoReport| {
                let InfoReport { name, format, findings, top_bytes, .. } = report;
                let named = args.traces.iter().find(|trace| *trace == name).unwrap_or(&args.traces[0]);
                let command = advice::replay(named, &args.reading, format, findings, *top_bytes);
                info_text::report(report, &command, style)
            };
            reports.iter().map(text).collect::<Vec<_>>().join("\n")
        }
    }
}
