//! `nandlab claims`: what the papers claim, what they say they measured, and what is measured here.

use clap::Args;
use nandlab_lab::claims;

use crate::fail::Failure;
use crate::progress::Progress;
use crate::{number, output};

/// Arguments of `claims`.
#[derive(Args, Debug)]
pub struct ClaimsArgs {
    /// Only these experiments (`nandlab list experiments`); all when absent.
    #[arg(value_name = "EXPERIMENT")]
    pub experiments: Vec<String>,
    /// Requests of every simulation at most: a quick look, whose verdicts mean nothing.
    #[arg(long, short = 'n', value_name = "N", value_parser = number::positive, allow_hyphen_values = true)]
    pub limit: Option<u64>,
    /// Simulations at a time; the results do not depend on it. Default: one for each processor.
    #[arg(long, value_name = "N", value_parser = number::threads, allow_hyphen_values = true)]
    pub threads: Option<usize>,
    /// Write the rows as JSON to a file, or to standard output (`-`) instead of the tables.
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
}

/// Runs the command.
pub fn claims(args: &ClaimsArgs) -> Result<(), Failure> {
    let experiments = claims::named(&args.experiments)?;
    let prints = args.json.as_deref() != Some("-");
    let json = output::Target::open(args.json.as_deref())?;
    if prints {
        output::print(claims::HEAD)?;
    }
    let progress = Progress::new("testing the claims", false);
    let mut sections = Vec::new();
    let complete = claims::test(&experiments, args.limit, args.threads, &progress.watch(), |section| {
        if prints {
            progress.print(&section.markdown())?;
        }
        sections.push(section);
        Ok::<_, Failure>(())
    })?;
    drop(progress);
    json.write(|| output::json(&sections))?;
    if complete {
        return Ok(());
    }
    Err(Failure::Interrupted(format!("{} of {} experiments are done", sections.len(), experiments.len())))
}
