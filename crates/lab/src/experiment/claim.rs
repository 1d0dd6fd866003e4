//! What a paper claims about the results of an experiment, and its figures.

use std::collections::{BTreeMap, BTreeSet};

use nandlab::types::Nanos;
use serde::{Deserialize, Serialize};

use super::formula::check_times;
use super::{Experiment, ExperimentMetric, Formula, OWN_METRICS, unknown};
use crate::error::Error;

/// A claim of a paper about the results of an experiment, or a control: one of our own that could refute a reason. As TOML:
///
/// ```toml
/// [[claims]]
/// place = "fig 10"
/// claim = "over FAST AALRU has the shortest mean response time"
/// printed = "-12.4 BPLRU, -24.7 FAB, -14.1 CFLRU, -21.6 % AD-LRU"
/// metric = "mean"
/// where = { ftl = ["FAST"] }
/// test.first = { value = "AALRU" }
/// ```
///
/// It is judged for each combination of the axes that the paper leaves open ([`Experiment::open`]); within one, the combinations
/// of the other axes are its cases.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Figure, table or section of the paper.
    pub place: String,
    /// What is claimed.
    pub claim: String,
    /// What the paper printed.
    pub printed: String,
    /// The metric that is judged: one of every report, or of the experiment.
    #[serde(default)]
    pub metric: String,
    /// The axis whose values are compared: as in a report when absent.
    #[serde(default)]
    pub axis: Option<String>,
    /// The cells that it is about: values by axes.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, Vec<String>>,
    /// What must hold; nothing if it cannot be tested.
    #[serde(default)]
    pub test: Option<ClaimTest>,
    /// It is our own and could refute a reason.
    #[serde(default)]
    pub control: bool,
    /// The reason of the verdict, with figures of the results in braces ([`Cells::fill`](crate::Cells::fill)).
    #[serde(default)]
    pub note: String,
}

/// What must hold for a claim. With several seeds a value is better than another only if the 95 % interval of the difference does
/// not have 0 in it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum ClaimTest {
    /// In every case a value is the best.
    First {
        /// The value.
        value: String,
        /// The others; all of the axis when empty.
        #[serde(default)]
        among: Vec<String>,
        /// It may be the second (2), and so on.
        #[serde(default = "one")]
        rank: usize,
        /// It may be that much worse than the best, percent.
        #[serde(default)]
        within: f64,
    },
    /// In every case a value is the worst.
    Last {
        /// The value.
        value: String,
        /// The others; all of the axis when empty.
        #[serde(default)]
        among: Vec<String>,
    },
    /// In every case each value is better than the next.
    Order {
        /// The best first.
        values: Vec<String>,
    },
    /// The mean over the cases of the change from other values to one, in percent, has the printed sign.
    Change {
        /// The value.
        of: String,
        /// The others, with the printed change in percent.
        from: BTreeMap<String, f64>,
    },
    /// In every case the metric goes one way along an axis of numbers, from the first value to the last, and never back.
    Along {
        /// The axis.
        along: String,
        /// The way.
        way: ClaimWay,
        /// The values whose metric does; all of the compared axis when empty.
        #[serde(default)]
        of: Vec<String>,
    },
    /// In every case the metric lies between two numbers; percent for ratios.
    Between {
        /// The values whose metric does; all of the compared axis when empty.
        #[serde(default)]
        of: Vec<String>,
        /// The least number.
        low: f64,
        /// The greatest.
        high: f64,
    },
    /// In every case the metrics are in proportion.
    Ratios {
        /// The proportion by values.
        of: BTreeMap<String, f64>,
        /// Greatest error, percent.
        within: f64,
    },
    /// In every case one value is worse than another up to a place on an axis of numbers, and better beyond it.
    Crossing {
        /// The value that becomes better.
        of: String,
        /// The one that it is compared with.
        with: String,
        /// The axis.
        along: String,
        /// The last value of the axis at which it is worse.
        at: String,
    },
    /// In every case the best of these values is neither the first nor the last: a U.
    Inside {
        /// In their order.
        values: Vec<String>,
    },
}

const fn one() -> usize {
    1
}

/// A way of a metric along an axis.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimWay {
    /// It rises.
    Rises,
    /// It falls.
    Falls,
}

/// A figure or table of a paper, drawn of the results: a panel for each combination of the axes that are not named.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExperimentFigure {
    /// What it shows.
    pub title: String,
    /// What the paper says or prints of it.
    pub printed: String,
    /// The metric on its y axis; empty for one of `times`.
    #[serde(default)]
    pub metric: String,
    /// The times whose distribution it shows in place of a metric, as in `response.reads` or `operations.map_read`; `values` then
    /// has percentages by `VALUE/TIME`.
    #[serde(default)]
    pub times: Option<String>,
    /// The axis with a line or a bar for each value: the compared one when absent.
    #[serde(default)]
    pub axis: Option<String>,
    /// The axis on its x axis: lines over numbers, groups of bars over names. All in one group when absent.
    #[serde(default)]
    pub x: Option<String>,
    /// The cells that it shows: values by axes.
    #[serde(default, rename = "where")]
    pub cells: BTreeMap<String, Vec<String>>,
    /// What is 1: `worst` or `best` of each group, or a value of the axis.
    #[serde(default)]
    pub relative: Option<String>,
    /// Printed values, in the units of the metric (nanoseconds, percent), by `VALUE` or `VALUE/X`.
    #[serde(default)]
    pub values: BTreeMap<String, f64>,
}

impl ExperimentFigure {
    /// It shows a metric or times; printed values of the latter have a time each.
    pub(super) fn check_times(&self) -> Result<(), Error> {
        let Some(of) = &self.times else {
            let help = "name one, as in metric = \"mean\", or times = \"response.reads\"";
            return if self.metric.is_empty() { Err(Error::input("it shows no metric", help)) } else { Ok(()) };
        };
        if !self.metric.is_empty() || self.x.is_some() || self.relative.is_some() {
            let problem = "a distribution of times has no metric, no x and no relative";
            return Err(Error::input(problem, "leave them out, or leave `times` out"));
        }
        check_times("times", of)?;
        self.printed_times().map(|_| ())
    }

    /// The printed points of a distribution: value, time in ns, percent.
    pub(crate) fn printed_times(&self) -> Result<Vec<(&str, f64, f64)>, Error> {
        let mut points = Vec::new();
        for (name, percent) in &self.values {
            let time = name.split_once('/').and_then(|(value, time)| Some((value, Nanos::parse(time).ok()?)));
            let (value, Nanos(ns)) = time.ok_or_else(|| {
                Error::input(format!("values: `{name}` has no time"), "write VALUE/TIME, as in \"DFTL/300us\" = 65")
            })?;
            points.push((value, ns as f64, *percent));
        }
        Ok(points)
    }
}

impl ClaimTest {
    /// The values of the compared axis that it names.
    pub(super) fn values(&self) -> Vec<&String> {
        match self {
            Self::First { value, among, .. } | Self::Last { value, among } => among.iter().chain([value]).collect(),
            Self::Order { values } | Self::Inside { values } => values.iter().collect(),
            Self::Change { of, from } => from.keys().chain([of]).collect(),
            Self::Along { of, .. } | Self::Between { of, .. } => of.iter().collect(),
            Self::Ratios { of, .. } => of.keys().collect(),
            Self::Crossing { of, with, .. } => vec![of, with],
        }
    }

    /// Refuses numbers and lists that no test can be made of.
    pub(super) fn check(&self) -> Result<(), Error> {
        let is_no_error = |within: &f64| *within >= 0.0 && within.is_finite();
        let is_share = |share: &f64| share.is_finite() && *share != 0.0;
        let (is_right, help) = match self {
            Self::First { rank, within, .. } => {
                (*rank > 0 && is_no_error(within), "test.first: `rank` is 1 or more, `within` 0 or more")
            }
            Self::Order { values } => (values.len() > 1, "test.order: name two values at least, the best first"),
            Self::Inside { values } => (values.len() > 2, "test.inside: name three values at least, in their order"),
            Self::Change { from, .. } => (
                !from.is_empty() && from.values().all(is_share),
                "test.change: name others with the printed change, which is not 0; test.ratios says how near values are",
            ),
            Self::Between { low, high, .. } => (low <= high, "test.between: `low` is not above `high`"),
            Self::Ratios { of, within } => (
                of.len() > 1 && of.values().all(is_share) && is_no_error(within),
                "test.ratios: name two values at least, with shares other than 0, and `within` as 0 or more",
            ),
            Self::Last { .. } | Self::Along { .. } | Self::Crossing { .. } => (true, ""),
        };
        if !is_right {
            return Err(Error::input("the test says nothing about the results", help));
        }
        let with_itself = match self {
            Self::Order { values } | Self::Inside { values } => {
                values.iter().collect::<BTreeSet<_>>().len() < values.len()
            }
            Self::Change { of, from } => from.contains_key(of),
            Self::Last { value, among } => !among.is_empty() && among.iter().all(|other| other == value),
            Self::Crossing { of, with, .. } => of == with,
            _ => false,
        };
        let help = "name each value once";
        if with_itself { Err(Error::input("the test compares a value with itself", help)) } else { Ok(()) }
    }

    /// The axis of numbers that it goes along.
    pub(crate) fn along(&self) -> Option<&str> {
        match self {
            Self::Along { along, .. } | Self::Crossing { along, .. } => Some(along),
            _ => None,
        }
    }
}

impl Experiment {
    /// Refuses metrics that no report could have.
    pub(super) fn check_metrics(&self) -> Result<(), Error> {
        // Files of a report have the names of metrics, without what may not be in one.
        let plain = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let mut taken: BTreeSet<String> = OWN_METRICS.iter().map(|own| own.name).chain(["ram"]).map(plain).collect();
        if let Some(name) = self.metrics.keys().find(|name| !taken.insert(plain(name))) {
            return Err(Error::input(format!("metrics.{name}: the name is taken"), "give it another name"));
        }
        let check = |(name, metric): (&String, &ExperimentMetric)| {
            let checked = Formula::parse(&metric.path).and_then(|formula| formula.check_places());
            checked.map_err(|error| error.at(format!("metrics.{name}.path")))
        };
        self.metrics.iter().try_for_each(check)
    }

    /// Refuses a metric that a report on this experiment does not have.
    pub(super) fn check_metric(&self, key: &str, metric: &str) -> Result<(), Error> {
        let known = || OWN_METRICS.iter().map(|own| own.name).chain(self.metrics.keys().map(String::as_str));
        if known().any(|name| name == metric) {
            Ok(())
        } else {
            Err(unknown(&format!("{key}: metric"), metric, known()))
        }
    }
}
