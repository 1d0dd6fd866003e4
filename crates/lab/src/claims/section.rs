//! The claims of an experiment with their verdicts, as values and as Markdown.

use serde::Serialize;

use super::verdict::{Judges, Matrix, MatrixCell, MatrixRow, Verdict};
use crate::error::Error;
use crate::experiment::{Cells, Claim, unknown};

/// The claims of one experiment, tested.
#[derive(Debug, Serialize)]
pub struct Section {
    /// The title of the experiment.
    #[serde(rename = "part")]
    pub title: String,
    #[serde(skip)]
    pub(super) about: String,
    pub(super) rows: Vec<Row>,
    pub(super) matrix: Option<Matrix>,
}

/// A claim and its test.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    /// Figure or table.
    pub(super) place: String,
    claim: String,
    /// What was run.
    configuration: String,
    expected: String,
    measured: String,
    pub(super) verdict: Verdict,
    /// The reason, where there is one to tell.
    note: String,
}

impl Row {
    /// A claim of an experiment whose results are there.
    pub(super) fn of(claim: &Claim, judges: Judges, cells: &Cells) -> Result<Self, Error> {
        let Claim { test, place, claim, configuration, expected, note } = claim.clone();
        let none = || "-".to_owned();
        let (configuration, measured, verdict) = match test {
            None => (none(), none(), Verdict::NotTested),
            Some(test) => {
                let (_, judge) =
                    judges.claims.iter().find(|(name, _)| *name == test).ok_or_else(|| {
                        unknown("what judges claims", &test, judges.claims.iter().map(|(name, _)| name))
                    })?;
                let (measured, holds) = judge(cells)?;
                (configuration, measured, Verdict::of(&holds))
            }
        };
        let note = cells.fill(&note)?;
        Ok(Self { place, claim, configuration, expected, measured, verdict, note })
    }
}

impl Section {
    /// The section as Markdown.
    pub fn markdown(&self) -> String {
        let text = format!("\n## {}\n\n{}\n\n{}", self.title, self.about, markdown(&self.rows));
        let matrix = self.matrix.as_ref().map(|matrix| format!("\n{}\n\n{}", matrix.about, crossed(matrix)));
        text + &matrix.unwrap_or_default()
    }
}

pub(super) fn markdown(rows: &[Row]) -> String {
    let mut text =
        "| where | claim | configuration | expected | measured | verdict | note |\n|-|-|-|-|-|-|-|\n".to_owned();
    for row in rows {
        let Row { place, claim, configuration, expected, measured, verdict, note } = row;
        let verdict = verdict.word();
        text +=
            &format!("| {place} | {claim} | {configuration} | {expected} | {measured} | **{verdict}** | {note} |\n");
    }
    text
}

pub(super) fn crossed(matrix: &Matrix) -> String {
    let mut text = format!("| claim | {} |\n|-|{}\n", matrix.columns.join(" | "), "-|".repeat(matrix.columns.len()));
    for MatrixRow { claim, cells } in &matrix.rows {
        let cell = |MatrixCell { verdict, details }: &MatrixCell| format!("**{}** {details}", verdict.word());
        text += &format!("| {claim} | {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    text
}
