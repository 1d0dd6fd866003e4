//! Sweeps: the same folders, cells and shards as those of `nandlab sweep`.

use nandlab_lab::{Experiment, Sweep, SweepResults, json};
use pyo3::prelude::*;

use crate::errors::{from_json, raised, wrong};
use crate::papers::part;
use crate::whole::{Whole, checked_threads};
use crate::work::away;

/// The TOML of an experiment that the Python side wrote as JSON, and the number of its cells.
///
/// # Errors
/// A key or a value is impossible.
#[pyfunction]
pub fn experiment(text: &str) -> PyResult<(String, usize)> {
    let experiment: Experiment = from_json(text)?;
    let cells = experiment.runs().map_err(|error| raised(&error))?.len();
    let text =
        toml::to_string(&experiment).map_err(|error| wrong(format!("the sweep has no form in TOML: {error}")))?;
    Ok((text, cells))
}

/// Runs the cells of a part of a sweep that have no result yet. Returns how many cells the plan has, how many the part has, how
/// many of these were run now, how many failed, and whether the sweep is complete.
///
/// # Errors
/// Those of `nandlab sweep`.
#[pyfunction]
#[pyo3(signature = (plan, folder, *, shard=(1, 1), threads=None, retry=false, memory=nandlab_lab::SWEEP_MEMORY, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn sweep(
    py: Python<'_>,
    plan: &str,
    folder: &str,
    shard: (usize, usize),
    threads: Option<Whole>,
    retry: bool,
    memory: u64,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(usize, usize, u64, u64, bool)> {
    let (shard, threads) = (part(shard)?, checked_threads(threads.as_ref())?);
    let sweep = Sweep { plan: plan.into(), folder: folder.into(), threads, shard, retry, memory };
    let work = away(py, progress, move |watch| sweep.run(watch, |_| ()))?;
    Ok((work.cells, work.own, work.run, work.failed, work.complete))
}

/// The rows of a sweep as JSON, also while it runs: those of `nandlab sweep status --json`.
///
/// # Errors
/// There is no sweep in the folder, or a result cannot be read.
#[pyfunction]
pub fn sweep_rows(py: Python<'_>, folder: String) -> PyResult<String> {
    let rows = py.detach(|| SweepResults::open(folder)?.rows());
    Ok(json(&rows.map_err(|error| raised(&error))?))
}
