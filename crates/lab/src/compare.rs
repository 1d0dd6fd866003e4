//! Buffers x FTLs on one workload: one table.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use nandlab::config::{Builder, Config, PluginConfig, Precondition, Settle};
use nandlab::offline::{AccessCounts, Costs, ROUNDS, Segments, lower_bound};
use nandlab::report::{self, FlushCost, Ram, Recorded, Report, SCHEMA_VERSION};
use serde::Serialize;

use crate::alone;
use crate::bound::above;
use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::simulate_row;
use crate::source::{Source, recorded};
use crate::table::{Cell, Column, Good, Table, Unit};
use crate::watch::{Part, Watch};
use crate::workload::Workload;

/// A comparison that is asked for.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The device; its plug-ins are replaced by those that are compared.
    pub device: Device,
    /// What is replayed.
    pub workload: Workload,
    /// Data buffers.
    pub buffers: Vec<PluginConfig>,
    /// Flash translation layers.
    pub ftls: Vec<PluginConfig>,
    /// What pages cost, to set each row against the least that a buffer of its size could cost.
    pub costs: Option<Costs>,
    /// Simulations at a time, which changes no result; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// A combination and its result.
#[derive(Debug, Serialize)]
pub struct CompareRow {
    /// Buffer in short form.
    pub buffer: String,
    /// FTL in short form.
    pub ftl: String,
    /// `ok` or `error`.
    pub status: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// The least that a buffer of its size could cost, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<RowBound>,
}

/// A row and what is possible.
#[derive(Debug, Serialize)]
pub struct RowBound {
    /// Frames that the bound allows: of DRAM, and of NVRAM if the policy used it.
    frames: u32,
    /// No buffer with that many frames costs less.
    bound: u64,
    /// Counts of the run that cost something.
    counts: AccessCounts,
    /// Cost of the run.
    cost: u64,
    /// `cost / bound - 1`; nothing if nothing need cost anything.
    pub above_bound: Option<f64>,
}

/// The result of a comparison.
#[derive(Debug, Serialize)]
pub struct Comparison {
    schema: u32,
    nandlab: &'static str,
    /// The trace as recorded, the same for all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// What pages cost, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// It was stopped, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// FTL by FTL, each with all buffers.
    pub rows: Vec<CompareRow>,
}

/// A comparison whose device and workload are known to be usable.
pub struct Comparing<'a> {
    asked: &'a Compare,
    watch: &'a Watch<'a>,
    /// The device with other plug-ins.
    builder: Builder,
    device: Device,
    /// The device without a buffer, with the FTL `page`.
    pub config: Config,
    /// What is replayed.
    pub source: report::TraceSource,
    /// Rows that there will be.
    pub rows: usize,
    bounds: Option<Bounds>,
}

/// The bounds, each computed when the first row needs it.
struct Bounds {
    costs: Costs,
    /// By frames, with DRAM only and with NVRAM too. Locked while one is computed.
    known: [Mutex<BTreeMap<u32, u64>>; 2],
}

impl Compare {
    /// Finds what no combination can do anything about: the device, the trace.
    ///
    /// # Errors
    /// The device cannot be built or the workload cannot be opened.
    pub fn begin<'a>(&'a self, watch: &'a Watch<'a>) -> Result<Comparing<'a>, Error> {
        let builder = self.device.base()?;
        let plain = |device: &Device| {
            let is_general = |setting: &&String| !setting.starts_with("buffer.") && !setting.starts_with("ftl.");
            let settings: Vec<String> = device.set.iter().filter(is_general).cloned().collect();
            let (none, page) = (PluginConfig::named("none"), PluginConfig::named("page"));
            device.with(builder.clone(), Some(&none), Some(&page), &settings)
        };
        let (_, config) = plain(&self.device)?;
        if self.costs.is_some() && config.precondition == Precondition::Trace {
            let problem = "--bound is for buffers that are empty at first, and precondition = \"trace\" fills them";
            return Err(Error::input(problem, "use --precondition full, or leave --bound out"));
        }
        let device = self.device.fitted(&self.workload, &config, watch)?;
        let (_, config) = plain(&device)?;
        let source = Source::open(&self.workload, &config, watch)?.describe();
        let bounds = self.costs.map(|costs| Bounds { costs, known: Default::default() });
        let rows = self.buffers.len() * self.ftls.len();
        Ok(Comparing { asked: self, watch, builder, device, config, source, rows, bounds })
    }
}

impl Comparing<'_> {
    /// Simulates all combinations; `row` is given each row in order, as soon as those before it are done. A combination that
    /// cannot be built is a row that says so.
    ///
    /// # Errors
    /// The workload cannot be read to its end or does not fit, or `row` fails.
    pub fn run<E: From<Error>>(&self, mut row: impl FnMut(&CompareRow) -> Result<(), E>) -> Result<Comparison, E> {
        let Compare { workload, buffers, ftls, threads, costs, .. } = self.asked;
        let pairs: Vec<_> = ftls.iter().flat_map(|ftl| buffers.iter().map(move |buffer| (buffer, ftl))).collect();
        let work = self.watch.work(pairs.len());
        let mut rows = Vec::new();
        let complete = parallel::each(
            *threads,
            &self.watch.stop,
            &pairs,
            |(buffer, ftl)| self.row(buffer, ftl, &work.part()),
            |done| {
                row(&done)?;
                rows.push(done);
                Ok::<_, E>(())
            },
        )?;
        let known = if complete { recorded(workload, &self.config, self.watch) } else { Err(Error::Stopped) };
        let (recorded, interrupted) = match known {
            Ok(recorded) => (recorded, false),
            Err(Error::Stopped) => (None, true),
            Err(error) => return Err(error.into()),
        };
        let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
        Ok(Comparison { schema, nandlab, recorded, costs: *costs, interrupted, rows })
    }

    fn row(&self, buffer: &PluginConfig, ftl: &PluginConfig, progress: &Part<'_>) -> Result<CompareRow, Error> {
        let (report, error) = match self.simulate(buffer, ftl, progress) {
            Ok(report) => (Some(report), None),
            Err(Error::Config(error)) => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let bound = match (&self.bounds, &report) {
            (Some(bounds), Some(report)) => Some(self.bound(bounds, report)?),
            _ => None,
        };
        let status = if error.is_some() { "error" } else { "ok" };
        Ok(CompareRow { buffer: buffer.label(), ftl: ftl.label(), status, error, report, bound })
    }

    fn simulate(&self, buffer: &PluginConfig, ftl: &PluginConfig, progress: &Part<'_>) -> Result<Report, Error> {
        let (builder, config) = self.device.with(self.builder.clone(), Some(buffer), Some(ftl), &self.device.set)?;
        simulate_row(&self.device, &builder, &config, &self.asked.workload, progress)
    }

    /// The least that a buffer of a row's size could cost: with the DRAM, and with the NVRAM if it used that.
    fn bound(&self, bounds: &Bounds, report: &Report) -> Result<RowBound, Error> {
        let uses_nvram = report.ledger.nvram_reads + report.ledger.nvram_writes > 0;
        let mut known = bounds.known[usize::from(uses_nvram)].lock().unwrap_or_else(PoisonError::into_inner);
        // Those of the row: a map that shares the DRAM leaves fewer.
        let Ram { dram_frames, nvram_frames, .. } = report.ram;
        let frames = if uses_nvram { dram_frames.saturating_add(nvram_frames) } else { dram_frames };
        let bound = if let Some(known) = known.get(&frames) {
            *known
        } else {
            // What lies in NVRAM need not be written back when the host flushes.
            let mut source = Source::open(&self.asked.workload, &self.config, self.watch)?;
            let (history, _) = alone::history(&mut source, &self.config, !uses_nvram)?;
            let bound = lower_bound(&Segments::new(&history, bounds.costs), frames, ROUNDS);
            *known.entry(frames).or_insert(bound.cost)
        };
        let counts = AccessCounts::of(&report.ledger, report.buffer.dirty_at_end);
        let cost = counts.cost(bounds.costs);
        Ok(RowBound { frames, bound, counts, cost, above_bound: above(cost, bound) })
    }

    /// The columns of the table.
    pub fn columns(&self) -> Vec<Column> {
        columns(self.config.replay.settle, self.asked.costs.is_some())
    }
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Value {
    Report(fn(&Report) -> Option<f64>),
    /// The final flush, if it is in no other column.
    Charge(fn(&FlushCost) -> f64),
    Bound(fn(&RowBound) -> Option<f64>),
}

const fn metric(name: &'static str, unit: Unit, good: Good, value: fn(&Report) -> Option<f64>) -> (Column, Value) {
    (Column::new(name, unit, good), Value::Report(value))
}

const METRICS: [(Column, Value); 13] = [
    metric("page_hit_ratio_read", Unit::Ratio, Good::High, |r| r.hits.page.read),
    metric("page_hit_ratio_write", Unit::Ratio, Good::High, |r| r.hits.page.write),
    metric("response_mean_ns", Unit::Time, Good::Low, |r| r.response.all.mean_ns),
    metric("response_p99_ns", Unit::Time, Good::Low, |r| r.response.all.p99_ns.map(|ns| ns as f64)),
    metric("waf_host", Unit::Factor, Good::Low, |r| r.write_amplification.host),
    metric("waf_buffer", Unit::Factor, Good::Low, |r| r.write_amplification.buffer),
    metric("erases", Unit::Count, Good::Low, |r| Some(r.flash.erases.total as f64)),
    metric("flash_reads", Unit::Count, Good::Low, |r| Some(r.flash.reads.total as f64)),
    metric("flash_programs", Unit::Count, Good::Low, |r| Some(r.flash.programs.total as f64)),
    metric("merges", Unit::Count, Good::Neither, |r| Some(r.merges.total() as f64)),
    metric("dirty_left", Unit::Count, Good::Neither, |r| Some(r.settling.dirty_pages as f64)),
    (Column::plain("flush_ns", Unit::Time), Value::Charge(|c| c.elapsed_ns as f64)),
    (Column::new("above_bound", Unit::Ratio, Good::Low), Value::Bound(|b| b.above_bound)),
];

fn metrics(settle: Settle, has_bound: bool) -> impl Iterator<Item = &'static (Column, Value)> {
    METRICS.iter().filter(move |(_, value)| match value {
        Value::Report(_) => true,
        Value::Charge(_) => settle == Settle::Charge,
        Value::Bound(_) => has_bound,
    })
}

fn columns(settle: Settle, has_bound: bool) -> Vec<Column> {
    let names = [("buffer", Unit::Text), ("ftl", Unit::Text), ("status", Unit::Text)];
    let flags = [("overloaded", Unit::Flag), ("reconstruction", Unit::Flag)];
    let plain = |(name, unit)| Column::plain(name, unit);
    let metrics = metrics(settle, has_bound).map(|(column, _)| *column);
    names.into_iter().chain(flags).map(plain).chain(metrics).chain([plain(("error", Unit::Text))]).collect()
}

impl CompareRow {
    /// Its cells under [`Comparing::columns`].
    pub fn cells(&self, columns: &[Column]) -> Vec<Cell> {
        let cell = |column: &Column| match (column.name, &self.report) {
            ("buffer", _) => Cell::from(self.buffer.as_str()),
            ("ftl", _) => Cell::from(self.ftl.as_str()),
            ("status", _) => Cell::from(self.status),
            ("error", _) => Cell::from(self.error.as_deref()),
            (_, None) => Cell::Absent,
            ("overloaded", Some(report)) => Cell::from(report.load.overloaded),
            ("reconstruction", Some(report)) => Cell::from(!report.reconstructions.is_empty()),
            (name, Some(report)) => {
                let metric = METRICS.iter().find(|(column, _)| column.name == name);
                Cell::from(metric.and_then(|(_, value)| match value {
                    Value::Report(value) => value(report),
                    Value::Charge(value) => report.settling.cost.as_ref().map(value),
                    Value::Bound(value) => self.bound.as_ref().and_then(value),
                }))
            }
        };
        columns.iter().map(cell).collect()
    }
}

impl Comparison {
    /// The rows as a table.
    pub fn table(&self) -> Table {
        let settle = self
            .rows
            .iter()
            .find_map(|row| row.report.as_ref())
            .map_or_else(Settle::default, |report| report.config.replay.settle);
        let columns = columns(settle, self.costs.is_some());
        Table { rows: self.rows.iter().map(|row| row.cells(&columns)).collect(), columns }
    }
}
