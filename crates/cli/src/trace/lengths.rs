//! `nandlab trace lengths`: how well the lengths of runs can be predicted, and the regressions that predict them.

use clap::Args;
use nandlab_host::{LengthReport, REGION_PAGES};

use super::InputArgs;
use super::hint::{HostArgs, model, survey};
use crate::fail::Failure;
use crate::files::Files;
use crate::style::{Style, Table, count};
use crate::{number, output};

/// Arguments of `trace lengths`.
#[derive(Args, Debug)]
pub struct LengthsArgs {
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    host: HostArgs,
    /// Percent of the requests that teach; the others judge.
    #[arg(long, value_name = "PERCENT", value_parser = |text: &str| number::ranged(text, 0, 99), default_value = "50", allow_hyphen_values = true)]
    train: u64,
    /// Pages of a region: a tenth of a translation page.
    #[arg(long, value_name = "PAGES", value_parser = number::positive, default_value_t = u64::from(REGION_PAGES), allow_hyphen_values = true)]
    region: u64,
    /// Judge the regressions of this file in place of new ones.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["region", "output"])]
    model: Option<String>,
    /// Keep the regressions in this file, for `nandlab trace hint --lengths`.
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<String>,
    /// Write the result as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    json: Option<String>,
}

impl LengthsArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading(&self.input.read.trace)
            .and(&self.model)
            .writing("--json", self.json.as_ref())
            .writing("--output", self.output.as_ref())
    }
}

/// Runs the tool.
pub fn lengths(args: &LengthsArgs, style: Style) -> Result<(), Failure> {
    let known = args.model.as_deref().map(|path| model(path, &args.host)).transpose()?;
    let json = output::Target::open(args.json.as_deref())?;
    let kept = output::Target::open(args.output.as_deref())?;
    let region = u32::try_from(args.region).unwrap_or(u32::MAX);
    let (model, report) = survey(&args.host, &args.input)?.judge(args.train as f64 / 100.0, region, known);
    if report.judged == 0 || (args.model.is_none() && report.trained == 0) {
        let problem = "no sequential or looping request with a program location is left to learn from or to judge";
        return Err(Failure::bad(problem, "take a longer trace, one with call stacks, or another --train"));
    }
    kept.write(|| model.text())?;
    json.write(|| output::json(&report))?;
    if args.json.as_deref() == Some("-") || args.output.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&text(&report, style))
}

fn text(report: &LengthReport, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(["predicted by", "right", "right at beginnings"]);
    for row in &report.rows {
        let percent = |value: f64| format!("{value:.2} %");
        table.row([row.predictor.to_owned(), percent(row.right_percent), percent(row.right_at_beginnings_percent)]);
    }
    let regions = report.by_region.iter().map(|n| count(*n)).collect::<Vec<_>>().join(", ");
    format!(
        "{} beginnings of sequential and looping runs to learn from; {} requests to judge, {} of them beginnings\n\
         by region of {} pages: {regions}\n\n{}",
        count(report.trained),
        count(report.judged),
        count(report.beginnings),
        count(u64::from(report.region_pages)),
        table.render(style)
    )
}
