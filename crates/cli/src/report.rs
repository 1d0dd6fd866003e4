//! `nandlab report`: what a sweep shows, as one page.

use std::path::PathBuf;

use clap::Args;
use nandlab_lab::{Digest, SweepResults};

use crate::fail::Failure;
use crate::files::Files;
use crate::output;
use crate::rows::both;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The folder of the results of a sweep, which may be under way.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The page; `-` is standard output.
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    output: String,
    /// Write each figure as SVG, for light and for dark pages, as PDF, and the numbers behind it as comma-separated values,
    /// into a folder.
    #[arg(long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Write the sentences and the tables of who is best as Markdown.
    #[arg(long, value_name = "FILE")]
    markdown: Option<String>,
}

impl ReportArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        let results = ["plan.json", "cells/*"].map(|name| self.folder.join(name).to_string_lossy().into_owned());
        Files::reading(&results).writing("--output", Some(&self.output)).writing("--markdown", self.markdown.as_ref())
    }
}

/// Runs the command.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    if args.output == "-" && args.markdown.as_deref() == Some("-") {
        return Err(both("--output -", "--markdown -"));
    }
    let digest = Digest::of(&SweepResults::open(&args.folder)?)?;
    let page = output::Target::open(Some(&args.output))?;
    if let Some(folder) = &args.figures {
        digest.write_figures(folder)?;
    }
    if let Some(markdown) = &args.markdown {
        output::write_file(markdown, digest.markdown().as_bytes())?;
    }
    page.write(|| digest.html())
}
