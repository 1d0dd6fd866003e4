//! `nandlab trace patterns`: the program locations of a trace with hints.

use clap::Args;
use nandlab_lab::{LocatedRequests, PatternCounts, PatternReport};

use super::InputArgs;
use crate::fail::Failure;
use crate::files::Files;
use crate::picture::Target;
use crate::rows::{both, csv};
use crate::style::{Style, Table, count, plural};
use crate::{number, output};

/// Arguments of `trace patterns`.
#[derive(Args, Debug)]
pub struct PatternsArgs {
    #[command(flatten)]
    pub input: InputArgs,
    /// Locations to show at most, those with the most requests.
    #[arg(long, value_name = "N", value_parser = number::positive, default_value = "20", allow_hyphen_values = true)]
    top: u64,
    /// Print all locations as comma-separated values.
    #[arg(long, help_heading = "Output", conflicts_with = "markdown")]
    csv: bool,
    /// Print a Markdown table.
    #[arg(long, help_heading = "Output")]
    markdown: bool,
    /// Write all locations as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,
    /// Draw addresses over time, coloured by pattern: a file that ends in .svg, .pdf or .png, or `-` for the terminal instead of
    /// the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<Target>,
}

impl PatternsArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading(&self.input.read.trace)
            .writing("--json", self.json.as_ref())
            .writing("--plot", self.plot.as_ref().and_then(Target::file))
    }
}

const HEADS: [&str; 7] = ["PC", "pattern", "call stack", "requests", "reads", "run", "period"];
/// Frames of a call stack that are shown.
const FRAMES: usize = 4;

/// Runs the tool.
pub fn patterns(args: &PatternsArgs, style: Style) -> Result<(), Failure> {
    let drawn = args.plot.as_ref().is_some_and(Target::is_stdout);
    let asked = [("--plot -", drawn), ("--csv", args.csv), ("--markdown", args.markdown)];
    let mut wanted = asked.iter().filter(|(_, asked)| *asked).map(|(name, _)| *name);
    if let Some(form) = wanted.next() {
        let other = if args.json.as_deref() == Some("-") { Some("--json -") } else { wanted.next() };
        if let Some(other) = other {
            return Err(both(form, other));
        }
    }
    let mut rows = args.input.open()?;
    if !rows.records().extra().hints {
        let problem = format!("{}: there are no hints in it", rows.records().name());
        return Err(Failure::bad(problem, "work them out first: nandlab trace hint TRACE -o hinted.parquet"));
    }
    let (json, plot) = Target::open_both(args.json.as_deref(), args.plot.as_ref())?;
    let mut counts = PatternCounts::default();
    for record in rows.by_ref() {
        counts.add(&record?);
    }
    let report = counts.report(&rows.records().recording());
    json.write(|| output::json(&report))?;
    if let Some(target) = &args.plot {
        target.draw(plot, &counts.figure(&rows.records().name()), style)?;
    }
    if args.json.as_deref() == Some("-") || drawn {
        return Ok(());
    }
    output::print(&match (args.csv, args.markdown) {
        (true, _) => csv(&report.table()),
        (_, true) => markdown(&report, args.top),
        _ => text(&report, args.top, style),
    })
}

/// Cells for people.
fn cells(row: &LocatedRequests) -> Vec<String> {
    let mut stack = row.frames.iter().take(FRAMES).cloned().collect::<Vec<_>>().join(" < ");
    if row.frames.len() > FRAMES {
        stack += " ...";
    }
    vec![
        format!("{:08x}", row.pc),
        row.pattern.to_owned(),
        if stack.is_empty() { "-".to_owned() } else { stack },
        format!("{} ({:.1} %)", count(row.requests), row.share_percent),
        format!("{:.0} %", row.read_percent),
        format!("{:.1}", row.mean_run_pages),
        count(row.mean_period.round() as u64),
    ]
}

fn text(report: &PatternReport, top: u64, style: Style) -> String {
    let mut table = Table::new(3);
    table.row(HEADS);
    let top = usize::try_from(top).unwrap_or(usize::MAX);
    for row in report.locations.iter().take(top) {
        table.row(cells(row));
    }
    let requests = report.requests.max(1) as f64;
    let shares = report.by_pattern.iter();
    let shares = shares.map(|(name, n)| format!("{name} {:.1} %", 100.0 * *n as f64 / requests)).collect::<Vec<_>>();
    // Hints may tell nothing of any location.
    let shares = if shares.is_empty() { "none of them tells anything".to_owned() } else { shares.join(", ") };
    let left = report.locations.len().saturating_sub(top);
    let more = if left > 0 { format!("{} more locations: --top\n", count(left as u64)) } else { String::new() };
    format!(
        "{} of {}: {}\n\n{}{more}\n\
         run: mean pages that are expected from a request on; period: mean requests between two accesses to a page\n",
        plural(report.requests, "request"),
        plural(report.locations.len() as u64, "program location"),
        shares,
        table.render(style)
    )
}

fn markdown(report: &PatternReport, top: u64) -> String {
    let rows = report.locations.iter().take(usize::try_from(top).unwrap_or(usize::MAX));
    let cells = |row| cells(row).iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
    let lines = rows.map(|row| format!("| {} |\n", cells(row).join(" | ")));
    format!("| {} |\n|-|-|-|-:|-:|-:|-:|\n", HEADS.join(" | ")) + &lines.collect::<String>()
}
