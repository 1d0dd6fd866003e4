//! Verdicts, and what gives them.

use serde::Serialize;

use crate::error::Error;
use crate::experiment::Cells;

/// The result of a claim.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Reproduced,
    Partly,
    Not,
    NotTested,
}

impl Verdict {
    /// By the conditions that hold.
    pub(super) fn of(conditions: &[bool]) -> Self {
        match conditions.iter().filter(|holds| **holds).count() {
            n if n == conditions.len() => Self::Reproduced,
            0 => Self::Not,
            _ => Self::Partly,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::NotTested => "not tested",
        }
    }
}

/// What was measured for a claim, in words, and which of its conditions hold.
pub(super) type Judged = Result<(String, Vec<bool>), Error>;
/// Judges a claim by the results.
pub(super) type Judge = fn(&Cells) -> Judged;
/// Judges all claims under every combination of readings.
pub(super) type Crossed = fn(&Cells) -> Result<Matrix, Error>;

/// What judges the claims of an experiment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judges {
    /// By the names of `test` in the claims.
    pub(super) claims: &'static [(&'static str, Judge)],
    /// For papers whose readings were varied.
    pub(super) matrix: Option<Crossed>,
}

impl Judges {
    pub(super) const fn of(claims: &'static [(&'static str, Judge)]) -> Self {
        Self { claims, matrix: None }
    }
}

/// Which verdict a claim has under every combination of readings that a paper leaves open.
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    /// What the cells say.
    pub(super) about: &'static str,
    /// The combinations.
    pub(super) columns: Vec<&'static str>,
    pub(super) rows: Vec<MatrixRow>,
}

#[derive(Debug, Serialize)]
pub(super) struct MatrixRow {
    pub(super) claim: &'static str,
    pub(super) cells: Vec<MatrixCell>,
}

#[derive(Debug, Serialize)]
pub(super) struct MatrixCell {
    pub(super) verdict: Verdict,
    pub(super) details: String,
}
