//! The metrics of a report on a sweep, and how their values are written.

use nandlab_plot::AxisUnit;

use crate::sweep::SweepRow;
use crate::table::Good;
use crate::text::count;

/// A metric of the reports of cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Metric {
    /// As a name of files.
    pub(super) name: &'static str,
    /// In sentences, behind "the lowest" or "the highest".
    pub(super) words: &'static str,
    /// Its place in the JSON report.
    pub(super) path: &'static str,
    pub(super) unit: AxisUnit,
    pub(super) good: Good,
}

const fn metric(name: &'static str, words: &'static str, path: &'static str, unit: AxisUnit, good: Good) -> Metric {
    Metric { name, words, path, unit, good }
}

/// What is shown of every sweep, the most asked first.
pub(super) const METRICS: [Metric; 5] = [
    metric("p99", "99th percentile of response times", "response.all.p99_ns", AxisUnit::Time, Good::Low),
    metric("mean", "mean response time", "response.all.mean_ns", AxisUnit::Time, Good::Low),
    metric(
        "waf",
        "write amplification (programs per page of the host)",
        "write_amplification.host",
        AxisUnit::Count,
        Good::Low,
    ),
    metric("erases", "number of erases", "flash.erases.total", AxisUnit::Count, Good::Low),
    metric("hits", "page hit ratio", "hits.page.total", AxisUnit::Percent, Good::High),
];

impl Metric {
    /// The value of a cell: percent for ratios, else as in its report.
    pub(super) fn of(&self, row: &SweepRow) -> Option<f64> {
        let value = row.number(self.path)?;
        Some(if self.unit == AxisUnit::Percent { value * 100.0 } else { value })
    }

    /// `a` is better than `b`.
    pub(super) fn is_better(&self, a: f64, b: f64) -> bool {
        if self.good == Good::High { a > b } else { a < b }
    }

    /// The word for the better end.
    pub(super) const fn best(&self) -> &'static str {
        if matches!(self.good, Good::High) { "highest" } else { "lowest" }
    }

    /// A value for people.
    pub(super) fn text(&self, value: f64) -> String {
        match self.unit {
            AxisUnit::Percent => format!("{value:.2} %"),
            AxisUnit::Time => time(value),
            _ if value == value.trunc() && value >= 100.0 => count(value as u64),
            _ => format!("{value:.3}"),
        }
    }
}

/// Nanoseconds with a unit.
fn time(ns: f64) -> String {
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
