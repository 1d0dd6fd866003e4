//! Reproductions of papers and searches: the same folders and verdicts as those of `nandlab reproduce` and `nandlab search`.

use nandlab_lab::papers::{Reproduction, papers};
use nandlab_lab::{Error, FoundCell, Search, SearchBudget, SweepShard};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::wrong;
use crate::tables::{Columns, columns};
use crate::whole::{Whole, checked_threads};
use crate::work::away;

/// Of a paper: its name, its folder, its cells, those run now, those that failed, the sentence about its claims, and the claims
/// with their verdicts.
type PaperDone = (String, String, usize, u64, u64, Option<String>, Option<Columns>);

/// Carries out what papers evaluated; all papers if none is named.
///
/// # Errors
/// Those of `nandlab reproduce`, or a signal came.
#[pyfunction]
#[pyo3(signature = (folder, *, names=Vec::new(), figures=Vec::new(), traces=Vec::new(), limit=None, threads=None, shard=(1, 1), retry=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn reproduce(
    py: Python<'_>,
    folder: &str,
    names: Vec<String>,
    figures: Vec<String>,
    traces: Vec<(String, String)>,
    limit: Option<u64>,
    threads: Option<Whole>,
    shard: (usize, usize),
    retry: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Vec<PaperDone>> {
    let (shard, threads) = (part(shard)?, checked_threads(threads.as_ref())?);
    if limit == Some(0) {
        return Err(wrong("limit: 0 leaves no request; give a number from 1 on, or leave it out"));
    }
    let reproduction = Reproduction { folder: folder.into(), figures, traces, limit, threads, shard, retry };
    away(py, progress, move |watch| {
        let done = reproduction.run(&papers(&names)?, watch, |_| (), |_| ())?;
        if done.interrupted {
            return Err(Error::Stopped);
        }
        let told = done.papers.into_iter().map(|paper| {
            let (digest, folder) = (paper.digest.as_ref(), paper.folder.display().to_string());
            let sentence = digest.and_then(|digest| digest.verdict()).map(str::to_owned);
            let claims = digest.and_then(nandlab_lab::Digest::judged).map(|table| columns(&table));
            (paper.name, folder, paper.work.own, paper.work.run, paper.work.failed, sentence, claims)
        });
        Ok(told.collect())
    })
}

/// A part of the cells: `(2, 3)` is the second of three.
///
/// # Errors
/// There is no such part.
pub fn part((number, of): (usize, usize)) -> PyResult<SweepShard> {
    if (1..=of).contains(&number) {
        return Ok(SweepShard { number, of });
    }
    Err(wrong(format!("shard: ({number}, {of}) is no part: (2, 3) is the second of three")))
}

/// Finds the cells that no other beats; `plan` is a file or the name of an experiment that nandlab brings.
///
/// # Errors
/// Those of `nandlab search`, or a signal came.
#[pyfunction]
#[pyo3(signature = (plan, folder, metrics, *, budget=None, minutes=None, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn search<'py>(
    py: Python<'py>,
    plan: &str,
    folder: &str,
    metrics: Vec<String>,
    budget: Option<f64>,
    minutes: Option<f64>,
    threads: Option<Whole>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let (budget, threads) = (budget_of(budget, minutes)?, checked_threads(threads.as_ref())?);
    if metrics.is_empty() {
        return Err(wrong("minimise: name one metric or more, as in [\"p99\", \"ram\"]"));
    }
    let search = Search { plan: plan.into(), folder: folder.into(), metrics, budget, threads };
    let found = away(py, progress, move |watch| {
        let found = search.run(watch, |_, _| ())?;
        if found.interrupted { Err(Error::Stopped) } else { Ok(found) }
    })?;
    let said = PyDict::new(py);
    let each = |of: fn(&FoundCell) -> &str| found.front.iter().map(of).collect::<Vec<_>>();
    said.set_item("cell", each(|cell| &cell.name))?;
    said.set_item("workload", each(|cell| &cell.workload))?;
    said.set_item("values", found.front.iter().map(|cell| cell.values.clone()).collect::<Vec<_>>())?;
    said.set_item("metrics", found.metrics)?;
    said.set_item("candidates", found.candidates)?;
    said.set_item("in_full", found.in_full)?;
    said.set_item("spent", found.spent)?;
    said.set_item("decided", found.clock.map(|clock| clock.budget))?;
    said.set_item("agreement", found.agreement)?;
    said.set_item("checked", found.checked)?;
    said.set_item("missed", found.missed)?;
    said.set_item("failed", found.failed)?;
    Ok(said)
}

/// What a search may spend: a tenth of the sweep if nothing is said.
fn budget_of(share: Option<f64>, minutes: Option<f64>) -> PyResult<SearchBudget> {
    match (share, minutes) {
        (Some(_), Some(_)) => Err(wrong("minutes: give minutes or budget, not both".to_owned())),
        (None, Some(minutes)) if minutes > 0.0 && minutes <= 1e6 => Ok(SearchBudget::Minutes(minutes)),
        (None, Some(minutes)) => Err(wrong(format!("minutes: {minutes} is not a number of minutes above 0, as in 30"))),
        (share, None) => match share.unwrap_or(0.1) {
            share if share > 0.0 && share <= 1.0 => Ok(SearchBudget::Share(share)),
            share => Err(wrong(format!("budget: {share} is not a part of the whole above 0 and up to 1"))),
        },
    }
}
