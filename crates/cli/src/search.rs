//! `nandlab search`: what nothing else beats, in a space that is too large to sweep.

use std::path::PathBuf;

use clap::Args;
use nandlab_lab::{FoundCell, FoundFront, Search, SearchBudget, csv_line};

use crate::fail::Failure;
use crate::files::Files;
use crate::progress::Progress;
use crate::style::count;
use crate::{number, output};

const EXAMPLES: &str = "\
Examples:
  nandlab search ram.toml --minimise p99,ram,waf -o found
  nandlab search ram.toml --minimise mean,erases --budget 0.05 -o found

A plan is an experiment, as for a sweep (docs/experiments.md). A search that was stopped goes on where it was when the same
command is given again.";

/// Arguments of `search`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct SearchArgs {
    /// The experiment: a TOML file, or one that nandlab brings (`nandlab list experiments`).
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// Metrics whose front is wanted: p99, mean, waf, erases, hits, ram (the map, and the memories that the buffer uses), or
    /// those of the experiment. Of those whose high values are good the highest are wanted.
    #[arg(long, value_name = "METRICS", value_delimiter = ',', required = true)]
    minimise: Vec<String>,
    /// The folder of the results; it is made if it does not exist.
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// What may be spent, as a part of what the whole sweep takes; 1 runs all cells in full.
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = share)]
    budget: f64,
    /// Spend about that many minutes instead. Which cells are tried then depends on the speed of the machine; a search that was
    /// stopped goes on with what was measured first.
    #[arg(long, value_name = "MINUTES", value_parser = minutes, conflicts_with = "budget")]
    minutes: Option<f64>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, short, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    jobs: Option<usize>,
    /// Write the front as comma-separated values to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE")]
    csv: Option<String>,
}

impl SearchArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let plan = self.plan.to_string_lossy().into_owned();
        Files::reading([&plan]).writing("--csv", self.csv.as_ref())
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err("give a part of the whole above 0 and up to 1, as in 0.1".to_owned()),
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 1e6 => Ok(minutes),
        _ => Err("give a number of minutes above 0, as in 30".to_owned()),
    }
}

/// Runs the command.
pub fn search(args: &SearchArgs) -> Result<(), Failure> {
    let search = Search {
        plan: args.plan.clone(),
        folder: args.output.clone(),
        metrics: args.minimise.clone(),
        budget: args.minutes.map_or(SearchBudget::Share(args.budget), SearchBudget::Minutes),
        threads: args.jobs,
    };
    let csv = output::Target::open(args.csv.as_deref())?;
    let progress = Progress::new("reading the plan", false);
    let found = search.run(&progress.watch(), |rung, step| {
        progress.say(format!("{rung}: {} of {} cells", count(step.done as u64), count(step.own as u64)));
        if let Some(error) = step.error {
            progress.complain(&format!("failed: {}: {error}", step.name));
        }
    })?;
    progress.end();
    if found.interrupted {
        return Err(Failure::Interrupted("the same command goes on from here".to_owned()));
    }
    if args.csv.as_deref() != Some("-") {
        output::print(&table(&found))?;
    }
    csv.write(|| rows(&found))?;
    Failure::if_some_failed(found.failed > 0)
}

fn table(found: &FoundFront) -> String {
    let FoundFront { candidates, in_full, spent, metrics, front, agreement, checked, missed, .. } = found;
    let width = |at: Option<usize>, head: &str| {
        let text = |cell: &FoundCell| at.map_or_else(|| cell.name.len(), |at| cell.texts[at].len());
        front.iter().map(text).max().unwrap_or(0).max(head.len())
    };
    let name_width = width(None, "CELL");
    let mut text = format!("{:name_width$}", "CELL");
    for (at, metric) in metrics.iter().enumerate() {
        text += &format!("  {:>1$}", metric, width(Some(at), metric));
    }
    for cell in front {
        text += &format!("\n{:name_width$}", cell.name);
        for (at, (value, metric)) in cell.texts.iter().zip(metrics).enumerate() {
            text += &format!("  {:>1$}", value, width(Some(at), metric));
        }
    }
    let alike = |(metric, share): (&String, &Option<f64>)| {
        let share = share.map_or_else(|| "no pair".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        format!("{metric} {share}")
    };
    let agreement: Vec<String> = metrics.iter().zip(agreement).map(alike).collect();
    let failed = match found.failed {
        0 => String::new(),
        failed => format!("{} simulations failed: their cells are not on the front\n", count(failed)),
    };
    let without = match found.without {
        0 => String::new(),
        without => {
            format!("{} cells have no value of one of the metrics: they are not on the front\n", count(without as u64))
        }
    };
    let guessed = match *checked {
        0 => "; none was left out".to_owned(),
        checked => format!(
            "; pairs that the beginning of the workload orders as all of it does: {}; of the {} that were left out last {missed} are \
             on the front",
            agreement.join(", "),
            count(checked as u64),
        ),
    };
    text + &format!(
        "\n{} of {} cells in full, {:.1} % of the requests of the whole sweep{guessed}\n",
        count(*in_full as u64),
        count(*candidates as u64),
        100.0 * spent,
    ) + &failed
        + &without
        + &clock(found)
}

/// What depends on the clock.
fn clock(found: &FoundFront) -> String {
    let Some(clock) = found.clock else { return String::new() };
    format!(
        "the clock decided: {} minutes were taken to be enough for {} of the sweep, and {:.1} were spent now; another machine or \
         day tries other cells, --budget {} tries these anywhere\n",
        clock.minutes,
        clock.budget,
        clock.took.as_secs_f64() / 60.0,
        clock.budget
    )
}

fn rows(found: &FoundFront) -> String {
    let mut text = format!("cell,workload,{}\n", found.metrics.join(","));
    for FoundCell { name, workload, values, .. } in &found.front {
        let values = values.iter().map(ToString::to_string);
        text += &csv_line([name, workload].into_iter().cloned().chain(values));
    }
    text
}
