//! The metrics of a report on a sweep, and how their values are written.

use std::collections::BTreeMap;

use nandlab::types::Bytes;
use nandlab_plot::AxisUnit;

use crate::error::Error;
use crate::experiment::{ExperimentMetric, Formula, MetricEnd, MetricUnit, OWN_METRICS};
pub(crate) use crate::experiment::{TAIL, WRITES};
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
    /// All cells have whole numbers of it, so that decimals are those of means.
    pub(crate) is_whole: bool,
}

/// Part of a percentile by which it may be too large: a bucket of a histogram is at most this wide ([`nandlab::histogram`]).
const BUCKET: f64 = 1.0 / 32.0;

/// What is shown of every sweep, the most asked first, and what its plan adds.
///
/// # Errors
/// A path of an added one is none.
pub(crate) fn metrics(added: &BTreeMap<String, ExperimentMetric>) -> Result<Vec<Metric>, Error> {
    let metric = |name: &str, ExperimentMetric { path, words, unit, good }: &ExperimentMetric| {
        let unit = match unit {
            MetricUnit::Count => AxisUnit::Count,
            MetricUnit::Ratio => AxisUnit::Percent,
            MetricUnit::Time => AxisUnit::Time,
        };
        let good = if *good == MetricEnd::High { Good::High } else { Good::Low };
        let formula = Formula::parse(path).map_err(|error| error.at(format!("metrics.{name}.path")))?;
        Ok(Metric { name: name.to_owned(), words: words.clone(), formula, unit, good, is_whole: false })
    };
    let own = OWN_METRICS.iter().map(|own| metric(own.name, &own.metric()));
    own.chain(added.iter().map(|(name, added)| metric(name, added))).collect()
}

impl Metric {
    /// What data and map take of the RAM, bytes: [`Formula::ram`].
    pub(crate) fn ram() -> Self {
        let formula = Formula::ram();
        let words = "RAM for data and map".to_owned();
        Self { name: "ram".to_owned(), words, formula, unit: AxisUnit::Bytes, good: Good::Low, is_whole: true }
    }
}

impl Metric {
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

    /// Learns whether its values are whole numbers: those of all of these cells that have one.
    pub(crate) fn look_at(&mut self, rows: &[SweepRow]) {
        if self.unit == AxisUnit::Count {
            self.is_whole = rows.iter().filter_map(|row| self.of(row)).all(|value| value.fract() == 0.0);
        }
    }

    /// Part of a value by which it is known at best: percentiles come from histograms.
    pub(crate) fn resolution(&self) -> f64 {
        if self.formula.is_of_percentile() { BUCKET } else { 0.0 }
    }

    /// A value for people.
    pub(crate) fn text(&self, value: f64) -> String {
        let text = in_unit(self.unit, value);
        text.strip_suffix(".000").filter(|_| self.is_whole).map_or_else(|| text.clone(), str::to_owned)
    }
}

/// What names of columns of exact numbers end with.
pub(super) const fn suffix(unit: AxisUnit) -> &'static str {
    match unit {
        AxisUnit::Percent => "percent",
        AxisUnit::Time => "ns",
        AxisUnit::Bytes => "bytes",
        AxisUnit::Count => "",
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
    let (size, unit) = units.into_iter().find(|(size, _)| ns.abs() >= *size).unwrap_or((1.0, "ns"));
    let value = ns / size;
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use nandlab::histogram::Histogram;
    use nandlab::types::Nanos;

    use super::{BUCKET, metrics};

    #[test]
    fn percentiles_are_known_to_a_bucket_of_the_histogram() {
        // Each is alone in its histogram except for something far away, so that its bucket is told and not itself.
        for value in (1..60_000_u64).step_by(7).chain([999_999_937, 1 << 40]) {
            let mut histogram = Histogram::default();
            histogram.record(Nanos(value));
            histogram.record(Nanos(u64::MAX >> 1));
            let told = histogram.percentile(50.0).0;
            assert!(told >= value && (told - value) as f64 <= BUCKET * told as f64, "{value} is told as {told}");
        }
        let known = metrics(&BTreeMap::new()).unwrap();
        let fine: Vec<(&str, f64)> = known.iter().map(|metric| (metric.name.as_str(), metric.resolution())).collect();
        assert_eq!(fine, [("p99", BUCKET), ("mean", 0.0), ("waf", 0.0), ("erases", 0.0), ("hits", 0.0)]);
    }

    #[test]
    fn whole_numbers_have_no_decimals_and_means_have() {
        let mut erases = metrics(&BTreeMap::new()).unwrap().swap_remove(3);
        assert_eq!([39.0, 1.0].map(|value| erases.text(value)), ["39.000", "1.000"], "as a write amplification");
        erases.is_whole = true;
        let texts = [0.0, 39.0, 39.5, 100.0, 12_345.0].map(|value| erases.text(value));
        assert_eq!(texts, ["0", "39", "39.500", "100", "12,345"]);
    }
}
