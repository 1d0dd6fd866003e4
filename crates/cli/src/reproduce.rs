//! `nandlab reproduce`: what the papers evaluated, carried out again and judged.

use std::path::PathBuf;

use clap::Args;
use nandlab_lab::SweepShard;
use nandlab_lab::papers::{ReproducedPaper, Reproduction, papers};

use crate::fail::Failure;
use crate::progress::Progress;
use crate::style::count;
use crate::{number, output};

const EXAMPLES: &str = "\
Examples:
  nandlab reproduce -o results                     all papers: claims.md, and a folder for each with figures and a page
  nandlab reproduce rftl --figure 8 -o results
  nandlab reproduce aalru --trace fin1=Financial1.spc -o results

A run that was stopped goes on where it was when the same command is given again.";

/// Arguments of `reproduce`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct ReproduceArgs {
    /// Only these papers (`nandlab list experiments`); all when absent.
    #[arg(value_name = "PAPER")]
    papers: Vec<String>,
    /// The folder of the results; it is made if it does not exist.
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
    /// Only this figure or table, as in 10 or table5. May be given several times.
    #[arg(long, value_name = "FIGURE")]
    figure: Vec<String>,
    /// A trace besides the workloads of the paper, as in fin1=Financial1.spc; its erase blocks are numbered densely. May be given
    /// several times.
    #[arg(long, value_name = "NAME=FILE", value_parser = named_trace)]
    trace: Vec<(String, String)>,
    /// Requests of every simulation at most: a quick look, whose verdicts mean nothing.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    limit: Option<u64>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, short, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    jobs: Option<usize>,
    /// Do a part of the simulations only, as in 2/3 for the second of three; several machines can share the folder.
    #[arg(long, value_name = "I/N", default_value = "1/1")]
    shard: SweepShard,
    /// Run simulations again that failed.
    #[arg(long)]
    retry: bool,
    /// Print failed simulations only.
    #[arg(long, short)]
    quiet: bool,
}

fn named_trace(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.to_owned(), file.to_owned())),
        _ => Err("write a name and a file, as in fin1=Financial1.spc".to_owned()),
    }
}

/// Runs the command.
pub fn reproduce(args: &ReproduceArgs) -> Result<(), Failure> {
    let papers = papers(&args.papers)?;
    let reproduction = Reproduction {
        folder: args.output.clone(),
        figures: args.figure.clone(),
        traces: args.trace.clone(),
        limit: args.limit,
        threads: args.jobs,
        shard: args.shard,
        retry: args.retry,
    };
    let progress = Progress::new("reading the papers", args.quiet);
    let paper = std::sync::Mutex::new(String::new());
    let name = || paper.lock().map(|name| name.clone()).unwrap_or_default();
    let reproduced = reproduction.run(
        &papers,
        &progress.watch(),
        |begun| {
            if let Ok(mut name) = paper.lock() {
                begun.clone_into(&mut name);
            }
            progress.say(format!("{begun}: reading the plan"));
        },
        |step| {
            progress.say(format!("{}: {} of {} cells", name(), count(step.done as u64), count(step.own as u64)));
            if let Some(error) = step.error {
                progress.complain(&format!("failed: {} {}: {error}", name(), step.name));
            }
        },
    )?;
    progress.end();
    if !args.quiet {
        output::print(&reproduced.papers.iter().map(summary).collect::<String>())?;
    }
    if reproduced.interrupted {
        return Err(Failure::Interrupted("the same command goes on from here".to_owned()));
    }
    Failure::if_some_failed(reproduced.papers.iter().any(|paper| paper.work.failed > 0))
}

fn summary(paper: &ReproducedPaper) -> String {
    let ReproducedPaper { name, folder, work, digest } = paper;
    let mut text = format!("{name}: {} cells, {} run now", count(work.own as u64), count(work.run));
    if work.failed > 0 {
        text += &format!(", {} failed (nandlab sweep status {})", count(work.failed), folder.display());
    }
    text += &format!(" in {:.0} s\n", work.wall.as_secs_f64());
    if let Some(sentence) = digest.as_ref().and_then(|digest| digest.verdict()) {
        if !work.complete {
            text += "  Not all cells have a result yet: what follows is of those that do.\n";
        }
        text += &format!("  {sentence}\n  {}/report.html shows them\n", folder.display());
    }
    text
}
