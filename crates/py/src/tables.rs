//! Comparisons, curves, bounds and statistics of traces: JSON as the command prints it, and a table.

use nandlab::catalog::BUFFERS;
use nandlab::config::PluginConfig;
use nandlab::ftl::FTLS;
use nandlab::offline::Costs;
use nandlab_lab::{
    Bound as LeastBound, Cell, Compare, Curve, Error, Run, Sizes, Table, Unit, Word, Workload, json, plugin_list,
};
use nandlab_trace::{Info, InfoReport, SamplePages, expand};
use pyo3::prelude::*;

use crate::columns::Memory;
use crate::errors::{from_json, wrong};
use crate::whole::{Whole, checked_threads};
use crate::work::away;

/// A cell as Python has it.
#[derive(IntoPyObject)]
pub enum Value {
    /// A name or a message.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// Any other number.
    Number(f64),
}

/// Name, kind (`str`, `bool`, `int` or `float`) and values of each column.
pub type Columns = Vec<(&'static str, &'static str, Vec<Option<Value>>)>;

/// A table as Python has it.
pub fn columns(table: &Table) -> Columns {
    let kind = |unit| match unit {
        Unit::Text => "str",
        Unit::Flag => "bool",
        Unit::Count | Unit::Bytes => "int",
        Unit::Ratio | Unit::Factor | Unit::Time => "float",
    };
    let value = |cell: &Cell, unit| match cell {
        Cell::Absent => None,
        Cell::Text(text) => Some(Value::Text(text.clone())),
        Cell::Flag(flag) => Some(Value::Flag(*flag)),
        Cell::Number(number) if kind(unit) == "int" => Some(Value::Count(*number as u64)),
        Cell::Number(number) => Some(Value::Number(*number)),
    };
    let column = |(at, column): (usize, &nandlab_lab::Column)| {
        let values = table.rows.iter().map(|row| value(&row[at], column.unit)).collect();
        (column.name, kind(column.unit), values)
    };
    table.columns.iter().enumerate().map(column).collect()
}

/// A run as the base of other work: its device, and its workload with a trace in memory if there is one.
fn base(run: &str, memory: Option<&Bound<'_, Memory>>) -> PyResult<Run> {
    let mut run: Run = from_json(run)?;
    run.workload.memory = memory.map(|memory| memory.get().0.clone());
    Ok(run)
}

/// Plug-ins in short form, each by itself.
fn plugins<B>(
    names: &[String],
    section: &str,
    known: &[nandlab::registry::Plugin<B>],
) -> Result<Vec<PluginConfig>, Error> {
    let lists = names.iter().map(|name| plugin_list(name, section, known));
    Ok(lists.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

/// Refuses a comparison of no buffer.
fn some(buffers: Vec<PluginConfig>) -> Result<Vec<PluginConfig>, Error> {
    if buffers.is_empty() {
        return Err(Error::input("buffers: there is none", "name one at least"));
    }
    Ok(buffers)
}

/// Refuses a warm-up where nothing would leave it out.
fn all_measured(workload: &Workload, why: &str) -> PyResult<()> {
    if workload.warm_up.is_some() { Err(wrong(format!("warm_up: {why}"))) } else { Ok(()) }
}

fn sizes(ram: &str) -> PyResult<Sizes> {
    Sizes::read(ram).map_err(|problem| wrong(format!("ram: {problem}")))
}

/// What `nandlab compare --json -` prints, and its rows.
///
/// # Errors
/// The device or the workload cannot be used, or a signal came. A combination that cannot be built is a row.
#[pyfunction]
#[pyo3(signature = (run, buffers, ftls, *, memory=None, threads=None, progress=None))]
pub fn compare(
    py: Python<'_>,
    run: &str,
    buffers: Vec<String>,
    ftls: Vec<String>,
    memory: Option<&Bound<'_, Memory>>,
    threads: Option<Whole>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Columns)> {
    let (Run { device, workload }, threads) = (base(run, memory)?, checked_threads(threads.as_ref())?);
    away(py, progress, move |watch| {
        let (buffers, ftls) = (plugins(&buffers, "buffer", BUFFERS)?, plugins(&ftls, "ftl", FTLS)?);
        let compare = Compare { device, workload, buffers, ftls, costs: None, threads };
        let comparison = compare.begin(watch)?.run(|_| Ok::<_, Error>(()))?;
        Ok((json(&comparison), columns(&comparison.table())))
    })
}

/// What `nandlab curve --json -` prints, and its points.
///
/// # Errors
/// As [`compare`].
#[pyfunction]
#[pyo3(signature = (run, buffers, ram, *, points, ftl=None, bound=false, memory=None, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn curve(
    py: Python<'_>,
    run: &str,
    buffers: Vec<String>,
    ram: &str,
    points: Whole,
    ftl: Option<String>,
    bound: bool,
    memory: Option<&Bound<'_, Memory>>,
    threads: Option<Whole>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Columns)> {
    let (Run { device, workload }, ram) = (base(run, memory)?, sizes(ram)?);
    let (points, threads) = (points.within("points", 2, 1000)?, checked_threads(threads.as_ref())?);
    if ftl.is_none() {
        all_measured(&workload, "buffers alone are counted over all requests; give an `ftl`, or leave it out")?;
    }
    away(py, progress, move |watch| {
        let buffers = some(plugins(&buffers, "buffer", BUFFERS)?)?;
        let ftl = plugins(ftl.as_slice(), "ftl", FTLS)?.pop();
        let curve = Curve { device, workload, buffers, ftl, ram, points, bound, threads };
        let curves = curve.begin(watch)?.run(|_| Ok::<_, Error>(()))?;
        Ok((json(&curves), columns(&curves.table())))
    })
}

/// What `nandlab bound --json -` prints, and its rows.
///
/// # Errors
/// As [`compare`].
#[pyfunction]
#[pyo3(signature = (run, buffers, *, read_cost, write_cost, ram=None, memory=None, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
pub fn bound(
    py: Python<'_>,
    run: &str,
    buffers: Vec<String>,
    read_cost: Whole,
    write_cost: Whole,
    ram: Option<&str>,
    memory: Option<&Bound<'_, Memory>>,
    threads: Option<Whole>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(String, Columns)> {
    let (Run { device, workload }, ram) = (base(run, memory)?, ram.map(sizes).transpose()?);
    let cost = |name: &str, cost: &Whole| cost.within(name, 0, nandlab::offline::COST_MAX);
    let (read_cost, write_cost) = (cost("read_cost", &read_cost)?, cost("write_cost", &write_cost)?);
    let threads = checked_threads(threads.as_ref())?;
    all_measured(&workload, "a bound counts all requests; leave it out")?;
    if read_cost + write_cost == 0 {
        return Err(wrong("read_cost, write_cost: both are 0, so that nothing costs anything"));
    }
    let costs = Costs { read: read_cost, write: write_cost };
    away(py, progress, move |watch| {
        let buffers = some(plugins(&buffers, "buffer", BUFFERS)?)?;
        let bound = LeastBound { device, workload, buffers, ram, costs, threads };
        let bounds = bound.begin(watch)?.run(|_| Ok::<_, Error>(()))?;
        Ok((json(&bounds), columns(&bounds.table())))
    })
}

/// What `nandlab trace info --json` says of a trace.
///
/// # Errors
/// The trace cannot be read, there is no request in it, or a signal came.
#[pyfunction]
#[pyo3(signature = (run, *, sample_pages=1.0, memory=None, progress=None))]
pub fn trace_info(
    py: Python<'_>,
    run: &str,
    sample_pages: f64,
    memory: Option<&Bound<'_, Memory>>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let Run { workload, .. } = base(run, memory)?;
    all_measured(&workload, "a trace is described with all its requests; leave it out")?;
    let wrong = || wrong(format!("sample_pages: {sample_pages} is not above 0 and at most 1"));
    let sample = SamplePages::new(sample_pages).ok_or_else(wrong)?;
    away(py, progress, move |watch| {
        let info = Info::open(&expand(&workload.trace)?, &workload.options(watch)?, sample)?;
        if info.stats.requests == 0 {
            return Err(Error::input(format!("{}: there is no request in it", info.name), "is this the right file?"));
        }
        Ok(json(&InfoReport::from(&info)))
    })
}
