//! `nandlab sweep`: the cells of an experiment, each with a result of its own in a folder.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use nandlab::types::Bytes;
use nandlab_lab::{CellStatus, SWEEP_MEMORY, Sweep, SweepResults, SweepRow, SweepShard, SweepWork, csv_line, plural};
use serde::Serialize;

use crate::fail::Failure;
use crate::progress::Progress;
use crate::style::{Style, count};
use crate::{number, output};

/// Failed cells that are printed by name.
const FAILURES_SHOWN: usize = 20;

const EXAMPLES: &str = "\
Examples:
  nandlab sweep ram.toml -o results
  nandlab sweep ram.toml -o results --shard 2/3      the second of three machines that share the folder
  nandlab sweep status results
  nandlab sweep explain results lru/8MiB

A plan is an experiment (docs/experiments.md). A sweep that was stopped or killed goes on where it was when the same command
is given again; cells that have a result are not run again, unless the program, the configuration or a trace changed.";

/// Arguments of `sweep`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, after_help = EXAMPLES)]
pub struct SweepArgs {
    #[command(subcommand)]
    what: Option<SweepCommand>,
    /// The experiment: a TOML file, or one that nandlab brings (`nandlab list experiments`).
    #[arg(required = true, value_name = "PLAN")]
    plan: Option<PathBuf>,
    /// The folder of the results; it is made if it does not exist.
    #[arg(long, short, value_name = "FOLDER", required = true)]
    output: Option<PathBuf>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, short, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    jobs: Option<usize>,
    /// Do a part of the cells only, as in 2/3 for the second of three; several machines can share the folder.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: SweepShard,
    /// Run cells again that failed.
    #[arg(long)]
    retry: bool,
    /// Memory for decoded traces, which all cells share; larger ones are decoded by each cell.
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    trace_memory: Option<Bytes>,
    /// Print failed cells only.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Subcommand, Debug)]
enum SweepCommand {
    /// Say how many cells are done, failed and open, and why cells failed.
    Status {
        /// The folder of the results.
        folder: PathBuf,
        /// Print a line for each cell, as comma-separated values.
        #[arg(long)]
        csv: bool,
        /// Print the cells with their reports as JSON.
        #[arg(long, conflicts_with = "csv")]
        json: bool,
    },
    /// Say what decides the result of a cell, and how to run it alone.
    Explain {
        /// The folder of the results.
        folder: PathBuf,
        /// The name of the cell.
        cell: String,
    },
}

/// Runs the command.
pub fn sweep(args: &SweepArgs, style: Style) -> Result<(), Failure> {
    match (&args.what, &args.plan, &args.output) {
        (Some(SweepCommand::Status { folder, csv, json }), ..) => status(folder, *csv, *json, style),
        (Some(SweepCommand::Explain { folder, cell }), ..) => explain(folder, cell),
        (None, Some(plan), Some(folder)) => run(args, plan, folder),
        _ => unreachable!("the parser asks for both"),
    }
}

fn run(args: &SweepArgs, plan: &std::path::Path, folder: &std::path::Path) -> Result<(), Failure> {
    let sweep = Sweep {
        plan: plan.to_owned(),
        folder: folder.to_owned(),
        threads: args.jobs,
        shard: args.shard,
        retry: args.retry,
        memory: args.trace_memory.map_or(SWEEP_MEMORY, |size| size.0),
    };
    let progress = Progress::new("reading the plan", args.quiet);
    let work = sweep.run(&progress.watch(), |step| {
        progress.say(format!("{} of {} cells", count(step.done as u64), count(step.own as u64)));
        if let Some(error) = step.error {
            progress.complain(&format!("failed: {}: {error}", step.name));
        }
    })?;
    progress.end();
    if work.interrupted {
        let done = work.run;
        return Err(Failure::Interrupted(format!("{done} cells were run now; the same command goes on from here")));
    }
    if !args.quiet {
        output::print(&summary(&work, folder))?;
    }
    Failure::if_some_failed(work.failed > 0)
}

fn summary(work: &SweepWork, folder: &std::path::Path) -> String {
    let folder = folder.display();
    let mut text = format!("{}: {} run now", plural(work.own as u64, "cell"), count(work.run));
    if work.failed > 0 {
        text += &format!(", {} failed (nandlab sweep status {folder})", count(work.failed));
    }
    if work.own < work.cells {
        text += &format!("; a part of {}", count(work.cells as u64));
    }
    text += "\n";
    if work.run > 0 {
        let (wall, busy) = (work.wall.as_secs_f64(), work.busy.as_secs_f64());
        text += &format!(
            "{wall:.1} s with {} at a time, busy {:.1} % of it; traces decoded {}\n",
            work.threads,
            100.0 * busy / (wall * work.threads as f64).max(f64::MIN_POSITIVE),
            plural(work.decoded, "time")
        );
    }
    if work.complete {
        text += &format!("{folder}/results.parquet has a row for each cell\n");
    }
    text
}

/// What `--json` prints of a sweep.
#[derive(Serialize)]
struct Status<'a> {
    cells: &'a [SweepRow],
}

fn status(folder: &std::path::Path, csv: bool, json: bool, style: Style) -> Result<(), Failure> {
    let rows = SweepResults::open(folder)?.rows()?;
    if json {
        return output::print(&output::json(&Status { cells: &rows }));
    }
    if csv {
        let line = |row: &SweepRow| {
            let error = row.error.as_deref().unwrap_or_default();
            csv_line([&row.cell, row.status.name(), &row.id, error])
        };
        return output::print(&("cell,status,id,error\n".to_owned() + &rows.iter().map(line).collect::<String>()));
    }
    let number = |status| rows.iter().filter(|row| row.status == status).count() as u64;
    let mut text = style.bold(&plural(rows.len() as u64, "cell"));
    for status in [CellStatus::Done, CellStatus::Failed, CellStatus::Open] {
        text += &format!(", {} {}", count(number(status)), status.name());
    }
    text += "\n";
    let failed = rows.iter().filter_map(|row| Some((row, row.error.as_ref()?)));
    for (row, error) in failed.clone().take(FAILURES_SHOWN) {
        text += &format!("failed: {}: {error}\n", row.cell);
    }
    let more = failed.count().saturating_sub(FAILURES_SHOWN);
    if more > 0 {
        text += &format!("and {more} others (--csv has all)\n");
    }
    output::print(&text)
}

fn explain(folder: &std::path::Path, cell: &str) -> Result<(), Failure> {
    let results = SweepResults::open(folder)?;
    let run = results.run(cell)?;
    let row = results.get(cell)?;
    let mut text = format!("cell    {cell}\nid      {}\nstatus  {}\n", row.id, row.status.name());
    if let Some(error) = &row.error {
        text += &format!("error   {error}\n");
    }
    text += &format!("alone   {}\n", run.command());
    match results.key(cell)? {
        Some(key) => {
            let key: serde_json::Value = serde_json::from_str(&key).unwrap_or(serde_json::Value::String(key));
            text +=
                &format!("\nThe id is the hash of this, which is all that decides the result:\n{}", output::json(&key));
        }
        None => text += "\nIt was not run yet.\n",
    }
    output::print(&text)
}
