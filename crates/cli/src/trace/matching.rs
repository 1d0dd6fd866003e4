//! `nandlab trace match`: is one trace like another?

use clap::Args;
use nandlab_trace::{
    Difference, DifferenceKind, INFO_SCHEMA_VERSION, Info, InfoReport, Options, SamplePages, compare, expand,
};
use serde::Serialize;

use super::info::sample_pages;
use crate::fail::{Exit, Failure};
use crate::files::Files;
use crate::reading::ReadingArgs;
use crate::style::{Style, Table};
use crate::{number, output};

/// Arguments of `trace match`.
#[derive(Args, Debug)]
pub struct MatchArgs {
    /// The trace that is the measure.
    #[arg(value_name = "A")]
    a: String,
    /// The trace that is measured by it. The options for reading hold for both.
    #[arg(value_name = "B")]
    b: String,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Requests to read at most, of each trace.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    limit: Option<u64>,
    /// Follow only this share of all 4 KiB pages, as in `trace info`.
    #[arg(long, value_name = "RATE", value_parser = sample_pages, allow_hyphen_values = true, default_value = "1")]
    sample_pages: SamplePages,
    /// Greatest difference that still matches: percent for amounts, percentage points for shares and for distances
    /// between distributions.
    #[arg(long, value_name = "PERCENT", value_parser = tolerance, allow_hyphen_values = true, default_value = "2")]
    tolerance: f64,
    /// Write everything as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,
}

impl MatchArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading([&self.a, &self.b]).writing("--json", self.json.as_ref())
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0);
    value.ok_or_else(|| "a tolerance is a number of percent, 0 or more".to_owned())
}

#[derive(Serialize)]
struct Published {
    schema: u32,
    nandlab: &'static str,
    tolerance_percent: f64,
    matches: bool,
    lines: Vec<Line>,
    a: InfoReport,
    b: InfoReport,
}

#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    difference: Difference,
    within: bool,
}

/// Runs the tool.
pub fn matching(args: &MatchArgs, style: Style) -> Result<(), Failure> {
    if args.a == "-" && args.b == "-" {
        return Err(Failure::bad("both traces cannot come from standard input", "name the file of one of them"));
    }
    let json = output::Target::open(args.json.as_deref())?;
    let options = Options { limit: args.limit, ..args.reading.options()? };
    let open = |trace: &String| Info::open(&expand(std::slice::from_ref(trace))?, &options, args.sample_pages);
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let line = |difference: Difference| Line { within: difference.is_within(args.tolerance), difference };
    let lines: Vec<Line> = compare(&a, &b).into_iter().map(line).collect();
    let matches = lines.iter().all(|line| line.within);
    let text = table(&lines, style);
    let published = Published {
        schema: INFO_SCHEMA_VERSION,
        nandlab: env!("CARGO_PKG_VERSION"),
        tolerance_percent: args.tolerance,
        matches,
        lines,
        a: (&a).into(),
        b: (&b).into(),
    };
    json.write(|| output::json(&published))?;
    if args.json.as_deref() != Some("-") {
        output::print(&text)?;
    }
    if matches { Ok(()) } else { Err(Failure::Said(Exit::Failed)) }
}

fn table(lines: &[Line], style: Style) -> String {
    let mut table = Table::new(1);
    table.row(["statistic", "A", "B", "difference", "verdict"]);
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"));
    for Line { difference: d, within } in lines {
        let difference = d.difference.map_or_else(
            || "-".to_owned(),
            |value| match d.kind {
                DifferenceKind::Relative => format!("{value:+.2} %  "),
                DifferenceKind::Points => format!("{value:+.2} pp "),
                DifferenceKind::Distance => format!("{value:.2} KS%"),
            },
        );
        let verdict = if *within { "within" } else { "DIFFERS" };
        table.row([d.statistic.clone(), number(d.a), number(d.b), difference, verdict.to_owned()]);
        if !within {
            table.embolden(4);
        }
    }
    let within = lines.iter().filter(|line| line.within).count();
    let note = "%: of A, pp: percentage points, KS%: Kolmogorov-Smirnov distance x 100 (A and B are means there)";
    format!("{}\n{within} of {} within the tolerance\n{note}\n", table.render(style), lines.len())
}
