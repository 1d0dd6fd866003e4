//! The metrics of a report on a sweep, and how their values are written.

use std::collections::BTreeMap;

use nandlab::types::Bytes;
use nandlab_plot::AxisUnit;

use crate::error::Error;
use crate::experiment::{ExperimentMetric, Formula, MetricEnd, MetricUnit};
use crate::sweep::SweepRow;
use crate::table::Good;
use crate::text::count;

/// A metric of the reports of cells.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Metric {
    /// As a name of files.
    pub(crate) name: String,
    /// In sentences, behind "the lowest" or "the highest".
    pub(crate) words: String,
    /// Of what in the JSON report it is computed.
    pub(crate) formula: Formula,
    pub(crate) unit: AxisUnit,
    pub(crate) good: Good,
}

/// What is shown of every sweep, the most asked first, and what its plan adds.
///
/// # Errors
/// A path of an added one is none.
pub(crate) fn metrics(added: &BTreeMap<String, ExperimentMetric>) -> Result<Vec<Metric>, Error> {
    use AxisUnit::{Count, Percent, Time};
    let metric = |name: &str, words: &str, path: &str, unit, good| {
        let formula = Formula::parse(path)?;
        Ok::<_, Error>(Metric { name: name.to_owned(), words: words.to_owned(), formula, unit, good })
    };
    let own = |name, words, path, unit, good| metric(name, words, path, unit, good).expect("it is written here");
    let mut metrics = vec![
        own(TAIL, "99th percentile of response times", "response.all.p99_ns", Time, Good::Low),
        own("mean", "mean response time", "response.all.mean_ns", Time, Good::Low),
        own(
            WRITES,
            "write amplification (programs per page of the host)",
            "write_amplification.host",
            Count,
            Good::Low,
        ),
        own("erases", "number of erases", "flash.erases.total", Count, Good::Low),
        own("hits", "page hit ratio", "hits.page.total", Percent, Good::High),
    ];
    for (name, ExperimentMetric { path, words, unit, good }) in added {
        let unit = match unit {
            MetricUnit::Count => Count,
            MetricUnit::Ratio => Percent,
            MetricUnit::Time => Time,
        };
        let good = if *good == MetricEnd::High { Good::High } else { Good::Low };
        metrics.push(metric(name, words, path, unit, good).map_err(|error| error.at(format!("metrics.{name}.path")))?);
    }
    Ok(metrics)
}

impl Metric {
    /// What the data and the map take of the RAM, bytes.
    pub(crate) fn ram() -> Self {
        let formula = Formula::parse("ram.data_bytes + ram.map_bytes").expect("it is written here");
        let words = "RAM for data and map".to_owned();
        Self { name: "ram".to_owned(), words, formula, unit: AxisUnit::Bytes, good: Good::Low }
    }
}

/// The metrics of the front.
pub(crate) const TAIL: &str = "p99";
pub(crate) const WRITES: &str = "waf";

impl Metric {
    /// The cells have it.
    pub(crate) fn is_in(&self, rows: &[SweepRow]) -> bool {
        rows.iter().any(|row| row.report.as_ref().is_some_and(|report| self.formula.is_in(report, row.course.as_ref())))
    }

    /// The value of a cell: percent for ratios, else as in its report.
    pub(crate) fn of(&self, row: &SweepRow) -> Option<f64> {
        let value = self.formula.value(row.report.as_ref()?, row.course.as_ref())?;
        Some(if self.unit == AxisUnit::Percent { value * 100.0 } else { value })
    }

    /// `a` is better than `b`.
    pub(crate) fn is_better(&self, a: f64, b: f64) -> bool {
        if self.good == Good::High { a > b } else { a < b }
    }

    /// The word for the better end.
    pub(crate) const fn best(&self) -> &'static str {
        if matches!(self.good, Good::High) { "highest" } else { "lowest" }
    }

    /// A value for people.
    pub(crate) fn text(&self, value: f64) -> String {
        in_unit(self.unit, value)
    }
}

/// A value for people.
pub(super) fn in_unit(unit: AxisUnit, value: f64) -> String {
    match unit {
        AxisUnit::Percent => format!("{value:.2} %"),
        AxisUnit::Time => time(value),
        AxisUnit::Bytes => Bytes(value.round() as u64).to_string(),
        AxisUnit::Count if value >= 100.0 => count(value.round() as u64),
        AxisUnit::Count => format!("{value:.3}"),
    }
}

/// Nanoseconds with a unit.
pub(super) fn time(ns: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "us")];
    let (size, unit) = units.into_iter().find(|(size, _)| ns >= *size).unwrap_or((1.0, "ns"));
    let value = ns / size;
    let digits = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}
