//! `nandlab conform`: do the plug-ins do what worked examples say?

use std::path::{Path, PathBuf};

use nandlab::conform::{self, Conformance};

use crate::fail::{Exit, Failure};
use crate::output;
use crate::style::{Style, count, plural};

/// Replays the files; exit code 1 when one differs, 2 when one cannot be replayed.
pub fn conform(files: &[PathBuf], show: usize, style: Style) -> Result<(), Failure> {
    let (mut differs, mut unreadable) = (false, false);
    for file in files {
        match replay(file) {
            Ok(report) => {
                differs |= !report.differences.is_empty();
                output::print(&outcome(file, &report, show, style))?;
            }
            Err(problem) => {
                unreadable = true;
                output::complain(&format!("error: {}: {problem}", file.display()));
            }
        }
    }
    match (unreadable, differs) {
        (true, _) => Err(Failure::Said(Exit::BadInput)),
        (false, true) => Err(Failure::Said(Exit::Failed)),
        (false, false) => Ok(()),
    }
}

fn replay(file: &Path) -> Result<Conformance, String> {
    let help = "\n  help: golden files are JSON; the sources keep theirs in crates/core/tests/golden";
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}{help}"))?;
    match conform::run(&text) {
        Ok(report) if report.cases == 0 && report.steps == 0 => Err(format!("there is no case in it{help}")),
        Ok(report) => Ok(report),
        Err(error) => {
            let said = error.to_string();
            Err(if said.contains("help:") { said } else { said + help })
        }
    }
}

fn outcome(file: &Path, report: &Conformance, show: usize, style: Style) -> String {
    let (cases, steps) = (plural(report.cases as u64, "case"), plural(report.steps as u64, "step"));
    let differences = &report.differences;
    if differences.is_empty() {
        return format!("{}  {}: {cases}, {steps}\n", style.bold("ok"), file.display());
    }
    let mut text = format!(
        "{}  {}: {} in {cases}, {steps}\n",
        style.warn("DIFFERS"),
        file.display(),
        plural(differences.len() as u64, "difference")
    );
    for difference in differences.iter().take(show) {
        let step = difference.step.map_or_else(|| "at the end".to_owned(), |n| format!("step {n}"));
        text += &format!(
            "  {}, {step}: {}\n    expected {}\n    got      {}\n    state    {}\n",
            difference.case, difference.op, difference.expected, difference.got, difference.state
        );
    }
    if differences.len() > show {
        text += &format!("  ... and {} more (--show N)\n", count((differences.len() - show) as u64));
    }
    text
}
