//! The experiments that nandlab brings, and their claims: what the papers claim, what they say they measured, and what comes
//! out here.
//!
//! An experiment is one file, one line in the list below, and a module that judges its claims. Every claim lists its
//! conditions. All hold: reproduced; some: partly; none: not.

mod figures;
mod section;
mod verdict;

use crate::error::Error;
use crate::experiment::{Experiment, unknown};
use crate::watch::Watch;
use section::Row;
pub use section::Section;
use verdict::Judges;

/// What stands above all sections.
pub const HEAD: &str = "\
# The claims of the papers

`nandlab claims` prints this page; tests run parts of it again and compare. The papers' traces are not at hand in full, so
that every row comes from a generated workload, on a device that is scaled down where a section says so (some notes add what
a piece of a real trace showed): orders, signs and crossovers can be judged, sizes of effects hardly. A claim is *reproduced* if all its conditions hold here, *partly* if some do, *not* if
none does. Where one fails the note says what runs showed about the reason. A *control* is not a paper's claim: it is a
run that could have refuted such a reason. Settings that were changed after first results were seen are named with the
figures of before, at the head of the section.
";

macro_rules! experiments {
    ($($name:ident,)+) => {
        $(mod $name;)+
        /// Every experiment that nandlab brings.
        pub const EXPERIMENTS: &[Listed] = &[$(Listed {
            module: stringify!($name),
            text: include_str!(concat!("../../experiments/", stringify!($name), ".toml")),
            judges: $name::JUDGES,
        },)+];
    };
}

// Each is experiments/NAME.toml, and claims/NAME.rs judges its claims.
experiments! {
    arithmetic,
    aalru,
    hitstat,
    wpa,
    urm,
    rftl,
}

/// An experiment of the list.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    module: &'static str,
    text: &'static str,
    judges: Judges,
}

impl Listed {
    /// Its name as users write it: the name of the module with `-` for `_`.
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
    /// As [`Experiment::parse`]; or the file has another name in it, nothing judges a claim, or what would judge has no claim.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        let file = format!("experiments/{}.toml", self.module);
        let experiment = Experiment::parse(&file, self.text)?;
        self.check(&experiment).map_err(|error| error.at(file))?;
        Ok(experiment)
    }

    fn check(&self, experiment: &Experiment) -> Result<(), Error> {
        if experiment.name != self.name() {
            let problem = format!("name: `{}` is not that of the file", experiment.name);
            return Err(Error::input(problem, format!("write {}", self.name())));
        }
        let judges: Vec<&str> = self.judges.claims.iter().map(|(name, _)| *name).collect();
        let tests: Vec<&str> = experiment.claims.iter().filter_map(|claim| claim.test.as_deref()).collect();
        if let Some(test) = tests.iter().find(|test| !judges.contains(test)) {
            return Err(unknown("claims: test", test, judges));
        }
        if let Some(judge) = judges.iter().find(|judge| tests.iter().filter(|test| test == judge).count() != 1) {
            let problem = format!("claims: `{judge}` is not the test of exactly one claim");
            return Err(Error::input(
                problem,
                format!("claims/{}.rs has it: add the claim, or take it out", self.module),
            ));
        }
        Ok(())
    }

    fn section(&self, limit: Option<u64>, threads: Option<usize>, watch: &Watch<'_>) -> Result<Section, Error> {
        let experiment = self.experiment()?;
        let cells = experiment.run(limit, threads, watch)?;
        let row = |claim| Row::of(claim, self.judges, &cells);
        let rows = experiment.claims.iter().map(row).collect::<Result<_, _>>()?;
        let matrix = self.judges.matrix.map(|matrix| matrix(&cells)).transpose()?;
        Ok(Section { title: experiment.title, about: experiment.about, rows, matrix })
    }
}

/// The experiments of these names, in the order of the list; all if none is named.
///
/// # Errors
/// There is none of one of the names; the help has the nearest one.
pub fn named<N: AsRef<str>>(names: &[N]) -> Result<Vec<&'static Listed>, Error> {
    let known = || EXPERIMENTS.iter().map(Listed::name);
    if let Some(wrong) = names.iter().find(|name| !known().any(|known| known == name.as_ref())) {
        return Err(unknown("experiments", wrong.as_ref(), known()));
    }
    let is_named = |name: &str| names.is_empty() || names.iter().any(|named| named.as_ref() == name);
    Ok(EXPERIMENTS.iter().filter(|listed| is_named(&listed.name())).collect())
}

/// Tests the claims of these experiments; `section` is given each section in order. `limit` is for a quick look, whose
/// verdicts mean nothing: requests of every simulation at most. False if it was stopped before all was done.
///
/// # Errors
/// A simulation fails, or `section` does.
pub fn test<E: From<Error>>(
    experiments: &[&Listed],
    limit: Option<u64>,
    threads: Option<usize>,
    watch: &Watch<'_>,
    mut section: impl FnMut(Section) -> Result<(), E>,
) -> Result<bool, E> {
    for listed in experiments {
        match listed.section(limit, threads, watch) {
            Ok(done) => section(done)?,
            Err(Error::Stopped) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
