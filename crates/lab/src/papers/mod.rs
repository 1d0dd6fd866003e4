//! The evaluations of papers: experiments with what was printed, carried out and judged.
//!
//! A paper is one file, `experiments/NAME.toml`, and one line in the list below.

mod arithmetic;
mod reproduction;

pub use arithmetic::section as arithmetic_claims;
pub use reproduction::{Reproduced, ReproducedPaper, Reproduction};

use crate::error::Error;
use crate::experiment::{Experiment, unknown};

/// What stands above the claims of all papers.
pub const HEAD: &str = "\
# The claims of the papers

`nandlab reproduce -o FOLDER` carries out what the papers evaluated, and prints this page of its results; docs/results has
what came out under every condition, and docs/experiments.md how a claim is judged. What a paper leaves open (the age of the
device, when requests arrive, how a sentence of the text is to be read) is varied: each combination is a *condition*. Within one,
workloads, FTLs and sizes are *cases*. A claim is *reproduced* if it holds in every case under every condition, *not* if in none,
else *partly*, and the column *what decides* has the axis on which that depends most. A *control* is not a claim of a paper: it
could refute a reason. Workloads of the papers are rarely public: those here are generated to meet what is printed of them
(docs/workloads.md); `--trace NAME=FILE` adds your own.
";

macro_rules! papers {
    ($($name:ident,)+) => {
        /// Every paper.
        pub const PAPERS: &[Paper] = &[$(Paper {
            module: stringify!($name),
            text: include_str!(concat!("../../experiments/", stringify!($name), ".toml")),
        },)+];
    };
}

// Each is experiments/NAME.toml.
papers! {
    aalru,
    hitstat,
    wpa,
    urm,
    rftl,
}

/// The evaluation of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    module: &'static str,
    text: &'static str,
}

impl Paper {
    /// Its name as users write it: that of the file with `-` for `_`.
    pub fn name(&self) -> String {
        self.module.replace('_', "-")
    }

    /// The text of the file.
    pub const fn text(&self) -> &'static str {
        self.text
    }

    /// The experiment of the file.
    ///
    /// # Errors
    /// As [`Experiment::parse`]; or the file has another name in it.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        let file = format!("experiments/{}.toml", self.module);
        let experiment = Experiment::parse(&file, self.text)?;
        if experiment.name != self.name() {
            let problem = format!("name: `{}` is not that of the file", experiment.name);
            return Err(Error::input(problem, format!("write {}", self.name())).at(file));
        }
        Ok(experiment)
    }
}

/// The papers of these names, in the order of the list; all if none is named.
///
/// # Errors
/// There is none of one of the names; the help has the nearest one.
pub fn papers<N: AsRef<str>>(names: &[N]) -> Result<Vec<&'static Paper>, Error> {
    let known = || PAPERS.iter().map(Paper::name);
    if let Some(wrong) = names.iter().find(|name| !known().any(|known| known == name.as_ref())) {
        return Err(unknown("papers", wrong.as_ref(), known()));
    }
    let is_named = |name: &str| names.is_empty() || names.iter().any(|named| named.as_ref() == name);
    Ok(PAPERS.iter().filter(|paper| is_named(&paper.name())).collect())
}

#[cfg(test)]
mod tests;
