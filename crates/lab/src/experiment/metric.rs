//! Metrics that an experiment adds to those that every report on a sweep has.

use serde::{Deserialize, Serialize};

/// A metric of an experiment: a number of the reports of its cells. As TOML:
///
/// ```toml
/// [metrics.map-reads]
/// path = "operations.latency.map_read.mean_ns"
/// words = "mean time of a mapping read"
/// unit = "time"
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentMetric {
    /// Its place in the JSON report (`nandlab describe metrics`), as in `hits.page.read`.
    pub path: String,
    /// What it is, as it stands behind "the lowest" or "the highest".
    pub words: String,
    /// What its values are.
    pub unit: MetricUnit,
    /// Which end is good.
    #[serde(default)]
    pub good: MetricEnd,
}

/// What the values of a metric are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricUnit {
    /// A number of things, or one without a unit.
    Count,
    /// A share of 1, shown in percent.
    Ratio,
    /// Nanoseconds.
    Time,
}

/// The good end of a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricEnd {
    /// Low values are good.
    #[default]
    Low,
    /// High ones are.
    High,
}
