//! The cells of a plan: what each runs, and under which name its result is kept.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use nandlab::config::Builder;

use super::key::{self, Contents};
use crate::decoded::Decoded;
use crate::error::Error;
use crate::experiment::{Experiment, PlacedRun};
use crate::memory;
use crate::papers::PAPERS;
use crate::run::Run;

/// Largest plan that is read, bytes.
const PLAN_BYTES_MAX: u64 = 16 << 20;

/// A cell of a sweep.
#[derive(Clone, Debug)]
pub struct SweepCell {
    /// Its name in the experiment.
    pub name: String,
    /// The value of each axis that has more than one.
    pub values: Vec<(String, String)>,
    /// What is run.
    pub run: Run,
    /// Hash of all that decides its result: version and sources of the program, configuration with its seed, contents of the
    /// traces and how they are read. 32 hexadecimal digits. Cells with the same hash share one result.
    pub id: String,
    /// All that decides its result, as JSON.
    pub(super) key: String,
    /// Why it cannot be built.
    pub(super) problem: Option<String>,
    /// The base of its device.
    pub(super) base: Arc<Builder>,
}

/// The text of a plan and its cells, by their names. All share what is decoded.
pub(super) fn read(plan: &Path, decoded: &Decoded) -> Result<(String, Vec<SweepCell>), Error> {
    let (text, experiment) = text_of(plan)?;
    let cells = cells(&experiment, decoded).map_err(|error| error.at(plan.display().to_string()))?;
    Ok((text, cells))
}

/// The experiment of a plan: of a file, or one that nandlab brings.
pub(crate) fn read_plan(plan: &Path) -> Result<Experiment, Error> {
    Ok(text_of(plan)?.1)
}

fn text_of(plan: &Path) -> Result<(String, Experiment), Error> {
    let file = plan.display().to_string();
    let cannot = |problem: &dyn std::fmt::Display| {
        let help = "name a TOML file with an experiment (docs/experiments.md), or one of `nandlab list experiments`";
        Error::input(format!("{file}: cannot be read: {problem}"), help)
    };
    let listed = PAPERS.iter().find(|paper| paper.name() == file);
    let text = match listed {
        Some(listed) if !plan.is_file() => listed.text().to_owned(),
        _ => {
            let data = std::fs::metadata(plan).map_err(|error| cannot(&error))?;
            if data.len() > PLAN_BYTES_MAX {
                return Err(cannot(&"a plan has 16 MiB at most"));
            }
            std::fs::read_to_string(plan).map_err(|error| cannot(&error))?
        }
    };
    let experiment = Experiment::read(&file, &text)?;
    Ok((text, experiment))
}

fn cells(experiment: &Experiment, decoded: &Decoded) -> Result<Vec<SweepCell>, Error> {
    let mut contents = Contents::default();
    let mut bases: BTreeMap<String, Arc<Builder>> = BTreeMap::new();
    let mut passes = BTreeMap::new();
    let mut cells = Vec::new();
    let placed = experiment.placed()?;
    if !placed.is_empty() {
        experiment.check_notes(&placed.iter().map(|cell| cell.name.as_str()).collect())?;
    }
    for PlacedRun { name, values, mut run } in placed {
        let at = |error: Error| error.at(format!("cell {name}"));
        let base = if let Some(base) = bases.get(&run.device.base) {
            base.clone()
        } else {
            let base = Arc::new(run.device.base().map_err(at)?);
            bases.insert(run.device.base.clone(), base.clone());
            base
        };
        run.workload.decoded = decoded.clone();
        let one: &mut nandlab_trace::Passes = passes.entry(run.workload.trace.clone()).or_default();
        run.workload.passes = one.clone();
        let (config, problem) = match run.device.over(&base) {
            Ok((_, config)) => (Some(config), None),
            Err(error) => (None, Some(error.to_string())),
        };
        if let Some(config) = &config {
            memory::check(config).map_err(at)?;
        }
        let (key, id) =
            key::key(&run, config.as_ref().ok_or(problem.as_deref().unwrap_or_default()), &mut contents).map_err(at)?;
        cells.push(SweepCell { name, values, run, id, key, problem, base });
    }
    match cells.iter().find_map(|cell| cell.problem.as_ref()) {
        _ if cells.is_empty() => Err(Error::input("it has no cells", "leave `cells` out for all combinations")),
        Some(problem) if cells.iter().all(|cell| cell.problem.is_some()) => {
            Err(Error::input(format!("no cell can be built; cell {}: {problem}", cells[0].name), ""))
        }
        _ => Ok(cells),
    }
}
