//! Metrics that an experiment adds to those that every report on a sweep has.

use serde::{Deserialize, Serialize};

/// A metric of an experiment: a number of the reports of its cells. As TOML:
///
/// ```toml
/// [metrics.map-reads]
/// path = "operations.map_read.latency.mean_ns"
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

/// A metric that every report on a sweep has.
pub(crate) struct OwnMetric {
    pub(crate) name: &'static str,
    words: &'static str,
    path: &'static str,
    unit: MetricUnit,
    good: MetricEnd,
}

impl OwnMetric {
    /// The same as an experiment would add it.
    pub(crate) fn metric(&self) -> ExperimentMetric {
        ExperimentMetric { path: self.path.to_owned(), words: self.words.to_owned(), unit: self.unit, good: self.good }
    }
}

/// What is shown of every sweep, the most asked first.
pub(crate) const OWN_METRICS: [OwnMetric; 5] = [
    OwnMetric {
        name: TAIL,
        words: "99th percentile of response times",
        path: "response.all.p99_ns",
        unit: MetricUnit::Time,
        good: MetricEnd::Low,
    },
    OwnMetric {
        name: "mean",
        words: "mean response time",
        path: "response.all.mean_ns",
        unit: MetricUnit::Time,
        good: MetricEnd::Low,
    },
    OwnMetric {
        name: WRITES,
        words: "write amplification (programs per page of the host)",
        path: "write_amplification.host",
        unit: MetricUnit::Count,
        good: MetricEnd::Low,
    },
    OwnMetric {
        name: "erases",
        words: "number of erases",
        path: "flash.erases.total",
        unit: MetricUnit::Count,
        good: MetricEnd::Low,
    },
    OwnMetric {
        name: "hits",
        words: "page hit ratio",
        path: "hits.page.total",
        unit: MetricUnit::Ratio,
        good: MetricEnd::High,
    },
];

/// The metrics of the front.
pub(crate) const TAIL: &str = "p99";
pub(crate) const WRITES: &str = "waf";
