//! `nandlab claims`: what the papers claim, what they say they measured, and what is measured here.

use clap::{Args, ValueEnum};
use nandlab_lab::claims;

use crate::fail::Failure;
use crate::progress::Progress;
use crate::{number, output};

/// Arguments of `claims`.
#[derive(Args, Debug)]
pub struct ClaimsArgs {
    /// Only these parts: arithmetic, aalru, hitstat, wpa, urm, rftl; all when absent.
    #[arg(value_enum, value_name = "PART")]
    pub parts: Vec<Part>,
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

/// A part of the claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Part {
    /// What needs no simulation.
    Arithmetic,
    /// The paper of AALRU.
    Aalru,
    /// The thesis of HitStat.
    Hitstat,
    /// The paper of WPA.
    Wpa,
    /// The paper of URM.
    Urm,
    /// The paper of RFTL.
    Rftl,
}

/// Runs the command.
pub fn claims(args: &ClaimsArgs) -> Result<(), Failure> {
    let words: Vec<String> = args.parts.iter().map(|part| format!("{part:?}").to_lowercase()).collect();
    let parts: Vec<&str> = words.iter().map(String::as_str).collect();
    let prints = args.json.as_deref() != Some("-");
    let json = output::Target::open(args.json.as_deref())?;
    if prints {
        output::print(claims::HEAD)?;
    }
    let progress = Progress::new("testing the claims", false);
    let mut sections = Vec::new();
    let complete = claims::test(&parts, args.limit, args.threads, &progress.watch(), |section| {
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
    Err(Failure::Interrupted(format!("{} of {} parts are done", sections.len(), claims::parts_chosen(&parts))))
}
