//! One run, and its result.

use std::sync::{Arc, Mutex};

use nandlab::histogram::Histogram;
use nandlab::report::Report;
use nandlab_lab::{Error, Event, Run, Timeline, TimelineRow, Watch, json};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::columns::Memory;
use crate::errors::{from_json, wrong};
use crate::looks::Looks;
use crate::policy::{self, Raised};
use crate::scored;
use crate::work::away_until;

/// The report of a run, with what its JSON does not have.
#[pyclass(frozen, module = "nandlab._native")]
pub struct RunReport(Kept);

/// What is kept of a run, and pickled.
#[derive(Serialize, Deserialize)]
struct Kept {
    json: String,
    times: Times,
    /// The windows, if they were asked for.
    series: Option<Vec<Window>>,
}

/// Of a window the first request, its time in the trace, the requests, the reads and the writes of them, and the sum and the
/// longest of their response times, ns.
type Window = [u64; 7];

/// Response times by kinds of requests.
#[derive(Serialize, Deserialize)]
struct Times {
    all: Histogram,
    reads: Histogram,
    writes: Histogram,
    others: Histogram,
    device: Histogram,
}

impl RunReport {
    /// A report without its wall times, so that two runs give the same bytes.
    pub fn new(report: Report, series: Option<Timeline>) -> Self {
        let report = Report { wall: None, ..report };
        let (json, times) = (json(&report), report.times);
        let (all, device) = (times.response(), times.device());
        let (reads, writes, others) = (times.read_response, times.write_response, times.other_response);
        let window = |row: &TimelineRow| {
            [row.first, row.time.0, row.requests, row.reads, row.writes, row.response.0, row.response_max.0]
        };
        let series = series.map(|series| series.rows().iter().map(window).collect());
        Self(Kept { json, times: Times { all, reads, writes, others, device }, series })
    }

    fn histogram(&self, kind: &str) -> PyResult<&Histogram> {
        let times = &self.0.times;
        Ok(match kind {
            "all" => &times.all,
            "reads" => &times.reads,
            "writes" => &times.writes,
            "others" => &times.others,
            "device" => &times.device,
            _ => return Err(wrong(format!("kind: {kind:?} is none of all, reads, writes, others, device"))),
        })
    }
}

#[pymethods]
impl RunReport {
    /// What was pickled.
    ///
    /// # Errors
    /// The text is of another version of nandlab.
    #[new]
    fn unpickled(text: &str) -> PyResult<Self> {
        let kept = serde_json::from_str(text);
        kept.map(Self).map_err(|error| wrong(format!("this is no result of this nandlab: {error}")))
    }
    /// For pickle: what [`RunReport::unpickled`] takes.
    fn __getnewargs__(&self) -> (String,) {
        (serde_json::to_string(&self.0).expect("a report is plain data"),)
    }
    /// The bytes that `nandlab run --json - --no-wall` prints.
    fn json(&self) -> &str {
        &self.0.json
    }
    /// The time that so many per cent of the requests of a kind took at most, ns.
    fn percentile(&self, kind: &str, percent: f64) -> PyResult<u64> {
        if !(0.0..=100.0).contains(&percent) {
            return Err(wrong(format!("percentile: {percent} is outside 0 to 100")));
        }
        Ok(self.histogram(kind)?.percentile(percent).0)
    }
    /// Requests of a kind.
    fn count(&self, kind: &str) -> PyResult<u64> {
        Ok(self.histogram(kind)?.count())
    }
    /// The columns of the windows, if they were asked for.
    fn series<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(series) = &self.0.series else { return Ok(None) };
        let columns = PyDict::new(py);
        let column = |at: usize| series.iter().map(|window| window[at]).collect::<Vec<_>>();
        for (at, name) in ["first_request", "time_ns", "requests", "reads", "writes"].into_iter().enumerate() {
            columns.set_item(name, column(at))?;
        }
        let mean = series.iter().map(|[_, _, requests, .., response, _]| *response as f64 / *requests as f64);
        columns.set_item("response_mean_ns", mean.collect::<Vec<_>>())?;
        columns.set_item("response_max_ns", column(6))?;
        Ok(Some(columns))
    }
}

/// Carries out a run.
fn report(run: &Run, with_series: bool, watch: &Watch<'_>) -> Result<RunReport, Error> {
    if with_series && run.workload.warm_up.is_some() {
        let problem = "series: with warm_up the windows would have the requests before the measurement in them";
        return Err(Error::input(problem, "leave one of the two out"));
    }
    let mut series = with_series.then(Timeline::default);
    let report = match &mut series {
        None => run.report(watch)?,
        Some(series) => run.report_each(watch, &mut |request| {
            series.add(request);
            Ok(())
        })?,
    };
    if report.trace.worn_out_at.is_some() {
        report.trace.warnings.iter().for_each(|warning| (watch.tell)(Event::Warning(warning)));
    }
    Ok(RunReport::new(report, series))
}

/// Simulates the run that the JSON describes, with a trace in memory, functions of Python that see its requests, and a policy
/// in Python, if there are such. `decide` comes with the name that reports show.
///
/// # Errors
/// The device cannot be built, the trace cannot be used, a function of Python raised, or a signal came.
#[pyfunction]
#[pyo3(signature = (run, *, memory=None, policy=None, decide=None, hint=None, series=false, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn run(
    py: Python<'_>,
    run: &str,
    memory: Option<&Bound<'_, Memory>>,
    policy: Option<Py<PyAny>>,
    decide: Option<(String, Py<PyAny>)>,
    hint: Option<Py<PyAny>>,
    series: bool,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<RunReport> {
    let mut run: Run = from_json(run)?;
    run.workload.memory = memory.map(|memory| memory.get().0.clone());
    let exception = Raised::default();
    let decide = decide.map(|(name, decide)| {
        let ahead = Arc::new(Mutex::default());
        run.device.own = Some(scored::own_buffer(&name, Arc::clone(&ahead)));
        (decide, ahead)
    });
    if let Some(policy) = policy {
        run.device.own = Some(policy::own_buffer(policy, exception.clone())?);
    }
    run.workload.foresight = Looks { hint, decide }.foresight(exception.clone());
    let done = away_until(py, &exception.turns, progress, move |watch| report(&run, series, watch));
    done.map_err(|error| exception.take().unwrap_or(error))
}
