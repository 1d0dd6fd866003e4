//! The cells of a sweep without their seeds: values with intervals, and who is best where.

use std::collections::{BTreeMap, BTreeSet};

use nandlab::types::Bytes;
use nandlab_plot::AxisUnit;

use super::metric::Metric;
use crate::course::Course;
use crate::sweep::SweepRow;
use crate::text::place;

/// The axis whose values are repetitions.
pub(crate) const SEED: &str = "seed";

/// Two-sided 95 % quantiles of Student's t distribution for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of
/// Statistical Methods, section 1.3.6.7.2); from there on the first term of its expansion around the normal distribution
/// (2.037 for 31, which has 2.040).
const T95: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// Mean and half the width of its 95 % confidence interval, which needs two samples.
pub(crate) fn mean(samples: &[f64]) -> (f64, Option<f64>) {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    if samples.len() < 2 {
        return (mean, None);
    }
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = T95.get(samples.len() - 2).copied().unwrap_or(1.96 + 2.4 / (n - 1.0));
    (mean, Some(t * (variance / n).sqrt()))
}

/// Cells that differ in their seeds only.
pub(crate) struct Point<'a> {
    pub(crate) values: BTreeMap<&'a str, &'a str>,
    /// By their seeds.
    rows: BTreeMap<&'a str, &'a SweepRow>,
}

impl Point<'_> {
    /// It has one of the listed values on each of the listed axes; axes with one value only are not known here.
    pub(crate) fn is_among(&self, cells: &BTreeMap<String, Vec<String>>) -> bool {
        let has = |(axis, some): (&String, &Vec<String>)| {
            self.values.get(axis.as_str()).is_none_or(|own| some.iter().any(|value| value == own))
        };
        cells.iter().all(has)
    }

    /// The seeds with a value.
    pub(crate) fn seeds(&self, metric: &Metric) -> BTreeSet<&str> {
        self.rows.iter().filter(|(_, row)| metric.of(row).is_some()).map(|(seed, _)| *seed).collect()
    }

    /// The values of some seeds.
    pub(crate) fn samples(&self, metric: &Metric, seeds: &BTreeSet<&str>) -> Vec<f64> {
        seeds.iter().filter_map(|seed| metric.of(self.rows.get(seed)?)).collect()
    }

    /// Mean over the seeds and half of its interval.
    pub(crate) fn value(&self, metric: &Metric) -> Option<(f64, Option<f64>)> {
        let samples = self.samples(metric, &self.seeds(metric));
        (!samples.is_empty()).then(|| mean(&samples))
    }

    /// How its runs went, seed by seed.
    pub(crate) fn courses(&self) -> impl Iterator<Item = &Course> {
        self.rows.values().filter_map(|row| row.course.as_ref())
    }
}

/// The points of a sweep and its axes, seeds apart.
pub(crate) struct Points<'a> {
    pub(crate) all: Vec<Point<'a>>,
    /// In the order of a name of a cell, with their values in order.
    pub(crate) axes: Vec<(String, Vec<String>)>,
    pub(crate) seeds: usize,
    /// Each of them has all seeds.
    pub(crate) is_even: bool,
}

/// The median: of an even number of values the mean of the two in the middle. `None` of nothing.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(values[low], values[high]))
}

impl<'a> Points<'a> {
    pub(crate) fn of(rows: &'a [SweepRow]) -> Self {
        let mut points: BTreeMap<Vec<(&str, &str)>, Point<'a>> = BTreeMap::new();
        let mut seeds = BTreeSet::new();
        for row in rows.iter().filter(|row| row.report.is_some()) {
            let values = row.values.iter().map(|(axis, value)| (axis.as_str(), value.as_str()));
            let values: BTreeMap<_, _> = values.filter(|(axis, _)| *axis != SEED).collect();
            let seed = row.values.get(SEED).map_or("", String::as_str);
            seeds.insert(seed);
            let key = values.iter().map(|(axis, value)| (*axis, *value)).collect();
            points.entry(key).or_insert_with(|| Point { values, rows: BTreeMap::new() }).rows.insert(seed, row);
        }
        let axes = crate::sweep::axes(rows).into_iter().filter(|axis| axis != SEED);
        let with_values = axes.map(|axis| {
            let mut values: Vec<String> = rows.iter().filter_map(|row| row.values.get(&axis).cloned()).collect();
            // Names before numbers.
            let order = |value: &String| (place(value).1, Order(place(value).0), value.clone());
            values.sort_by_cached_key(order);
            values.dedup();
            (axis, values)
        });
        let is_even = points.values().all(|point| point.rows.len() == seeds.len());
        Self { axes: with_values.collect(), is_even, all: points.into_values().collect(), seeds: seeds.len() }
    }

    /// The axis whose values are compared with each other.
    pub(crate) fn compared(&self) -> Option<&str> {
        compared(&self.named())
    }

    /// The first axis all of whose values are numbers or sizes, and what they are.
    pub(crate) fn scale(&self) -> Option<(&str, AxisUnit)> {
        scale(&self.named())
    }

    fn named(&self) -> Vec<(&str, &[String])> {
        self.axes.iter().map(|(axis, values)| (axis.as_str(), values.as_slice())).collect()
    }

    /// The axes in the order of a name of a cell.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().map(|(axis, _)| axis.as_str())
    }

    /// The points that are among these cells differ on an axis.
    pub(crate) fn varies(&self, axis: &str, cells: &BTreeMap<String, Vec<String>>) -> bool {
        let mut values = self.all.iter().filter(|point| point.is_among(cells)).map(|point| point.values.get(axis));
        let first = values.next();
        values.any(|value| Some(value) != first)
    }

    pub(crate) fn values(&self, axis: &str) -> &[String] {
        self.axes.iter().find(|(name, _)| name == axis).map_or(&[], |(_, values)| values)
    }

    /// The points that are alike in all axes but these, together, each with the words for what they have in common.
    pub(crate) fn groups(&self, apart: &[&str]) -> Vec<(String, Vec<&Point<'a>>)> {
        let mut groups: BTreeMap<Vec<(Order, &str)>, Vec<&Point<'a>>> = BTreeMap::new();
        for point in &self.all {
            let common = self.axes.iter().map(|(axis, _)| axis.as_str()).filter(|axis| !apart.contains(axis));
            let key = common
                .map(|axis| point.values.get(axis).copied().unwrap_or("-"))
                .map(|value| (Order(place(value).0), value));
            groups.entry(key.collect()).or_default().push(point);
        }
        let words = |key: Vec<(Order, &str)>| key.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join(", ");
        groups.into_iter().map(|(key, points)| (words(key), points)).collect()
    }
}

/// Of the axes that have several values the one whose values are compared with each other: buffers before FTLs before any other.
pub(crate) fn compared<'a>(axes: &[(&'a str, &[String])]) -> Option<&'a str> {
    let axes: Vec<_> = axes.iter().filter(|(_, values)| values.len() > 1).copied().collect();
    let find = |is: &dyn Fn(&str) -> bool| axes.iter().map(|(axis, _)| *axis).find(|axis| is(axis));
    let scale = scale(&axes).map(|(axis, _)| axis);
    let known = ["buffer", "ftl"].into_iter().find_map(|name| find(&|axis| axis == name));
    known.or_else(|| find(&|axis| Some(axis) != scale)).or_else(|| find(&|_| true))
}

fn scale<'a>(axes: &[(&'a str, &[String])]) -> Option<(&'a str, AxisUnit)> {
    axes.iter().find_map(|(axis, values)| Some((*axis, unit_of(values)?)))
}

/// A number in the order of numbers.
#[derive(Clone, Copy)]
struct Order(f64);

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Order {}
impl PartialOrd for Order {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Order {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// What the values of an axis are, if all of them are numbers or sizes.
pub(crate) fn unit_of<V: AsRef<str>>(values: &[V]) -> Option<AxisUnit> {
    let all = |is: fn(&str) -> bool| values.iter().all(|value| is(value.as_ref()));
    if all(|value| Bytes::parse(value).is_ok() && value.parse::<f64>().is_err()) {
        Some(AxisUnit::Bytes)
    } else if all(|value| value.parse::<f64>().is_ok_and(f64::is_finite)) {
        Some(AxisUnit::Count)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_that_of_student() {
        // Mean 3, sample variance 2.5, five samples: 2.776 x sqrt(2.5 / 5).
        let (mean, half) = mean(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((mean - 3.0).abs() < 1e-12 && (half.unwrap() - 2.776 * 0.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(super::mean(&[7.0]), (7.0, None));
        // Beyond the table: 2.0395 for 31 degrees of freedom, 1.984 for 100 (scipy.stats.t.ppf).
        for (samples, quantile) in [(32, 2.0395), (101, 1.984)] {
            let (_, half) = super::mean(&(0..samples).map(|n| f64::from(n % 2)).collect::<Vec<_>>());
            let (n, ones) = (f64::from(samples), f64::from(samples / 2));
            let variance = ones * (n - ones) / n / (n - 1.0);
            assert!((half.unwrap() / (variance / n).sqrt() / quantile - 1.0).abs() < 0.002, "{samples} samples");
        }
    }

    #[test]
    fn values_of_axes_have_places() {
        assert_eq!(place("8MiB").0, 8_388_608.0);
        assert_eq!(place("0.5").0, 0.5);
        assert_eq!(place("16MB").0, 16.0);
        assert_eq!(place("lru"), (0.0, false));
    }
}
