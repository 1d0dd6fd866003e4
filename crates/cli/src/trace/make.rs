//! `nandlab trace make`: synthetic requests.

use clap::Args;
use nandlab_lab::{Watch, judge};
use nandlab_trace::generators::{self, CheckRow, Context, PRESETS, Preset, Target, check};
use nandlab_trace::{Extra, Step, Writer};

use crate::fail::{Exit, Failure};
use crate::style::{Style, Table};
use crate::{interrupt, number, output};

/// Deviations above this of figures that a preset was fitted to, in percent of the target, are failures.
const TOLERANCE_PERCENT: f64 = 5.0;

/// Arguments of `trace make`.
#[derive(Args, Debug)]
pub struct MakeArgs {
    /// Generator or preset: NAME or NAME:key=value:key=value (`nandlab list generators`, `nandlab describe NAME`).
    #[arg(value_name = "NAME", required_unless_present = "check")]
    name: Option<String>,
    /// Requests to make. Default: those of the preset, or 1,000,000.
    #[arg(long, short = 'n', value_name = "REQUESTS", value_parser = number::positive, allow_hyphen_values = true)]
    requests: Option<u64>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", value_parser = number::any, allow_hyphen_values = true, default_value_t = 1)]
    seed: u64,
    /// Where to write; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: String,
    /// Write no trace, but the figures that its paper prints of a preset (all presets without NAME) next to those
    /// achieved.
    #[arg(long, conflicts_with_all = ["requests", "output"])]
    check: bool,
    /// With --check: a Markdown page, as in docs/workloads.md.
    #[arg(long, requires = "check")]
    markdown: bool,
}

/// Runs the tool.
pub fn make(args: &MakeArgs, style: Style) -> Result<(), Failure> {
    if args.check {
        return report(args, style);
    }
    let spec = args.name.as_deref().unwrap_or_default();
    let made = generators::make(spec, Context::new(args.seed))?;
    let requests = args.requests.unwrap_or(made.requests);
    let step = Step::new(format!("make {spec} -n {requests} --seed {}", args.seed), Vec::new());
    let cannot = |error| super::cannot_write(&args.output, &error);
    let mut writer = Writer::create(&args.output, &[step], Extra::HINTS).map_err(cannot)?;
    let stop = interrupt::stop();
    for record in made.records.take(requests as usize) {
        stop.check()?;
        writer.write(&record).map_err(cannot)?;
    }
    writer.finish().map_err(cannot)
}

fn report(args: &MakeArgs, style: Style) -> Result<(), Failure> {
    let chosen: Vec<&Preset> = match &args.name {
        None => PRESETS.iter().collect(),
        Some(name) => vec![preset(name)?],
    };
    let watch = Watch::new(interrupt::stop(), |_| ());
    let mut text = String::new();
    let mut far = 0;
    for preset in chosen {
        let mut rows = check(preset, args.seed)?;
        rows.extend(judge(preset, args.seed, &watch)?);
        let is_far =
            |row: &&CheckRow| !row.judged && row.deviation_percent().is_some_and(|d| d.abs() > TOLERANCE_PERCENT);
        far += rows.iter().filter(is_far).count();
        text += &if args.markdown { markdown(preset, &rows) } else { plain(preset, &rows, style) };
    }
    output::print(text.trim_start_matches('\n'))?;
    if far == 0 {
        return Ok(());
    }
    let problem =
        format!("{far} figures of those fitted are more than {TOLERANCE_PERCENT} % from what the paper prints");
    Err(Failure::Message(Exit::Failed, problem))
}

/// A preset by its exact name: with other parameters its paper's figures say nothing.
fn preset(name: &str) -> Result<&'static Preset, Failure> {
    PRESETS.iter().find(|preset| preset.name == name.replace('_', "-").to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        Failure::bad(format!("--check: `{name}` is not a preset"), format!("use one of {}", names.join(", ")))
    })
}

fn cells(row: &CheckRow) -> [String; 5] {
    let number = |value: f64| match value {
        value if value.fract() == 0.0 || value >= 10_000.0 => format!("{value:.0}"),
        value if value < 1.0 => format!("{value:.3}"),
        value => format!("{value:.2}"),
    };
    let target = match row.target {
        None => "-".to_owned(),
        Some(Target::Is(value)) => number(value),
        Some(Target::Above(value)) => format!("> {}", number(value)),
        Some(Target::Below(value)) => format!("< {}", number(value)),
    };
    let deviation = row.deviation_percent().map_or_else(|| "-".to_owned(), |percent| format!("{percent:+.2} %"));
    let used = match (row.target, row.judged) {
        (None, _) => "-",
        (Some(_), false) => "fitted",
        (Some(_), true) => "judged",
    };
    [row.column.clone(), target, number(row.achieved), deviation, used.to_owned()]
}

const HEAD: [&str; 5] = ["FIGURE", "PRINTED", "PRESET", "ERROR", "USED"];

fn plain(preset: &Preset, rows: &[CheckRow], style: Style) -> String {
    let mut table = Table::new(1);
    table.row(HEAD);
    for row in rows {
        table.row(cells(row));
    }
    format!("\n{}\n{}", style.bold(&format!("{} - {}", preset.name, preset.title)), table.render(style))
}

fn markdown(preset: &Preset, rows: &[CheckRow]) -> String {
    let mut text = format!("\n### {}\n\n{}.\n\n", preset.name, preset.title);
    text += &format!("{}\n\n```\n{}\n```\n\n", wrapped(preset.source), preset.spec);
    text += "| figure | printed | preset | error | used |\n|-|-:|-:|-:|-|\n";
    for row in rows {
        text += &format!("| {} |\n", cells(row).join(" | "));
    }
    text
}

/// Lines of at most 120 letters.
fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        if lines.last().is_some_and(|line| !line.is_empty() && line.len() + word.len() >= 120) {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.extend([if line.is_empty() { "" } else { " " }, word]);
        }
    }
    lines.join("\n")
}
