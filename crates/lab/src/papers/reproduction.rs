//! The evaluation of a paper as it is asked for: all of it or some figures, with more traces, carried out into a folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{HEAD, PAPERS, Paper, arithmetic_claims};
use crate::address::{Address, AddressUnit};
use crate::digest::Digest;
use crate::error::Error;
use crate::experiment::{Experiment, check_note};
use crate::files::{cannot_write, make_folder, write_file};
use crate::sweep::{SWEEP_MEMORY, Sweep, SweepResults, SweepShard, SweepStep, SweepWork};
use crate::watch::Watch;
use crate::workload::Workload;

/// The plan of a paper within its folder.
const PLAN: &str = "experiment.toml";
/// The page of all claims.
const CLAIMS: &str = "claims.md";

/// Values by axes.
type Part = BTreeMap<String, Vec<String>>;

/// What is to be reproduced, and where.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// A folder for each paper is made in it.
    pub folder: PathBuf,
    /// Figures and tables, as in `10`, `fig10` or `table5`; all when empty.
    pub figures: Vec<String>,
    /// Traces besides the workloads of the paper, by names: their erase blocks are numbered densely.
    pub traces: Vec<(String, String)>,
    /// Requests of every cell at most: a quick look, whose verdicts mean nothing.
    pub limit: Option<u64>,
    /// Simulations at a time; `None`: one for each processor.
    pub threads: Option<usize>,
    /// Which cells are done here; the others are left to other processes.
    pub shard: SweepShard,
    /// Cells that failed are tried again.
    pub retry: bool,
}

/// What came out of one paper.
pub struct ReproducedPaper {
    /// Its name.
    pub name: String,
    /// Where its results lie.
    pub folder: PathBuf,
    /// What was done now.
    pub work: SweepWork,
    /// The claims with their verdicts; nothing until a cell is done.
    pub digest: Option<Digest>,
}

/// What came out of all papers that were asked for.
pub struct Reproduced {
    /// Paper by paper.
    pub papers: Vec<ReproducedPaper>,
    /// It was stopped before all was done.
    pub interrupted: bool,
}

impl Reproduction {
    /// Carries it out; `begin` is told the name of each paper, `step` each cell. Into the folder of a paper come the results of
    /// its sweep, `report.html`, `report.md` and `figures`; besides them comes `claims.md` when all of every paper is done.
    ///
    /// # Errors
    /// A paper has none of the figures, a trace cannot be read, or as [`Sweep::run`].
    pub fn run(
        &self,
        papers: &[&Paper],
        watch: &Watch<'_>,
        mut begin: impl FnMut(&str),
        mut step: impl FnMut(SweepStep<'_>) + Send,
    ) -> Result<Reproduced, Error> {
        // What is wrong with the last one is said before the first takes an hour.
        for (number, name) in self.figures.iter().enumerate() {
            let has = |paper: &&Paper| Ok(keep_figures(&mut paper.experiment()?, &self.figures[number..=number]));
            let has: Vec<bool> = papers.iter().map(has).collect::<Result<_, Error>>()?;
            if bare(name).is_empty() || !has.contains(&true) {
                return Err(no_figure(papers, name)?);
            }
        }
        let plans = papers.iter().map(|paper| Ok((*paper, self.plan(paper)?)));
        let plans: Vec<(&Paper, Option<String>)> = plans.collect::<Result<_, Error>>()?;
        let plans: Vec<_> = plans.into_iter().filter_map(|(paper, text)| Some((paper, text?))).collect();
        let mut reproduced = Reproduced { papers: Vec::new(), interrupted: false };
        for (paper, text) in plans {
            begin(&paper.name());
            let folder = self.folder.join(paper.name());
            make_folder(&folder)?;
            write_file(&folder.join(PLAN), &text)?;
            let sweep = Sweep {
                plan: folder.join(PLAN),
                folder: folder.clone(),
                threads: self.threads,
                shard: self.shard,
                retry: self.retry,
                memory: SWEEP_MEMORY,
            };
            let work = sweep.run(watch, &mut step)?;
            let interrupted = work.interrupted;
            let results = SweepResults::open(&folder)?;
            let digest = if results.has_reports()? { Some(Digest::of(&results)?) } else { None };
            if let Some(digest) = &digest {
                write_file(&folder.join("report.html"), digest.html())?;
                write_file(&folder.join("report.md"), digest.markdown())?;
                let figures = folder.join("figures");
                remove_earlier(&figures, paper)?;
                digest.write_figures(&figures)?;
            }
            reproduced.papers.push(ReproducedPaper { name: paper.name(), folder, work, digest });
            if interrupted {
                reproduced.interrupted = true;
                return Ok(reproduced);
            }
        }
        let is_whole = self.figures.is_empty() && self.traces.is_empty() && self.limit.is_none();
        if is_whole && papers.len() == PAPERS.len() && reproduced.papers.iter().all(|paper| paper.work.complete) {
            write_file(&self.folder.join(CLAIMS), reproduced.claims())?;
        }
        Ok(reproduced)
    }

    /// The plan of a paper: its own text, or what is left of it; nothing if it has none of the figures.
    fn plan(&self, paper: &Paper) -> Result<Option<String>, Error> {
        let mut experiment = paper.experiment()?;
        if self.figures.is_empty() && self.traces.is_empty() && self.limit.is_none() {
            return Ok(Some(paper.text().to_owned()));
        }
        if !self.figures.is_empty() && !keep_figures(&mut experiment, &self.figures) {
            return Ok(None);
        }
        for (name, path) in &self.traces {
            if experiment.workloads.contains_key(name) {
                let help = "give the trace a name of its own";
                return Err(Error::input(format!("--trace {name}: there is a workload of this name"), help));
            }
            let address = Address::Compact(AddressUnit::Block);
            experiment.workloads.insert(name.clone(), Workload { address, ..Workload::of(path.clone()) });
        }
        for workload in experiment.workloads.values_mut() {
            workload.limit = [workload.limit, self.limit].into_iter().flatten().min();
        }
        let part = "*A part, a quick look, or with other traces than the paper's: see `experiment.toml`.* ";
        experiment.about = format!("{part}{}", experiment.about.trim());
        let runs = experiment.runs()?;
        for claim in &mut experiment.claims {
            // Its figures are of cells that are not run here.
            let is_here = |cell: &str| runs.get(cell).map(|_| ()).ok_or_else(|| Error::input(cell, ""));
            if check_note(&claim.note, is_here).is_err() {
                claim.note.clear();
            }
        }
        Ok(Some(toml::to_string(&experiment).expect("an experiment is plain data")))
    }
}

impl Reproduced {
    /// The page of all claims, as Markdown.
    fn claims(&self) -> String {
        let digests = self.papers.iter().filter_map(|paper| paper.digest.as_ref());
        let sections: Vec<String> = digests.map(Digest::claims).collect();
        format!("{HEAD}\n{}\n{}", arithmetic_claims(), sections.join("\n"))
    }
}

fn no_figure(papers: &[&Paper], name: &str) -> Result<Error, Error> {
    let known = papers.iter().map(|paper| Ok(paper.experiment()?.figures.into_keys().collect::<Vec<_>>()));
    let known: Vec<Vec<String>> = known.collect::<Result<_, Error>>()?;
    Ok(Error::input(
        format!("--figure: no paper of these has `{name}`"),
        format!("there are {}", known.concat().join(", ")),
    ))
}

/// Leaves the claims and figures that are asked for, and the cells that they need; false if there are none.
fn keep_figures(experiment: &mut Experiment, asked: &[String]) -> bool {
    let asked: Vec<String> = asked.iter().map(|name| bare(name)).collect();
    let is_asked = |name: &str| {
        let name = bare(name);
        asked.iter().any(|asked| {
            name.strip_prefix(asked.as_str())
                .or_else(|| name.strip_prefix(&format!("fig{asked}")))
                // A part of it, as in `9a` of `9` or `10-text` of `10`.
                .is_some_and(|rest| {
                    asked.ends_with(|c: char| c.is_ascii_digit()) && !rest.starts_with(|c: char| c.is_ascii_digit())
                        || rest.is_empty()
                })
        })
    };
    experiment.figures.retain(|name, _| is_asked(name));
    experiment.claims.retain(|claim| is_asked(&claim.place));
    let figures = experiment.figures.values().map(|figure| &figure.cells);
    let wheres: Vec<Part> = figures
        .chain(experiment.claims.iter().filter(|claim| claim.test.is_some()).map(|claim| &claim.cells))
        .cloned()
        .collect();
    if wheres.is_empty() {
        return false;
    }
    let parts = experiment.cells.take().unwrap_or_else(|| vec![Part::new()]);
    let both = parts.iter().flat_map(|part| wheres.iter().filter_map(|wanted| common(part, wanted)));
    experiment.cells = Some(both.collect());
    true
}

/// Removes the figures of the paper and of its claims that an earlier call, which was asked for others, left in a folder.
fn remove_earlier(folder: &Path, paper: &Paper) -> Result<(), Error> {
    let known = paper.experiment()?.figures;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = file.split('.').next().unwrap_or_default();
        let is_claim = name.strip_prefix("claim-").is_some_and(|number| number.parse::<u32>().is_ok());
        if is_claim || known.contains_key(name) {
            match std::fs::remove_file(entry.path()) {
                // Another shard has done it.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
                done => done.map_err(cannot_write(&entry.path()))?,
            }
        }
    }
    Ok(())
}

/// `fig. 10` as `fig10`.
fn bare(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase().replace("figure", "fig")
}

/// The cells of a part that are wanted; nothing if there are none.
fn common(part: &Part, wanted: &Part) -> Option<Part> {
    let mut both = part.clone();
    for (axis, values) in wanted {
        let of = both.entry(axis.clone()).or_insert_with(|| values.clone());
        of.retain(|value| values.contains(value));
        if of.is_empty() {
            return None;
        }
    }
    Some(both)
}
