//! Which value of the compared axis is best, where, by how much and how sure.

use std::collections::{BTreeMap, BTreeSet};

use nandlab_plot::AxisUnit;

use super::metric::Metric;
use super::points::{Point, Points, mean, median};
use crate::text::{capital, plural};

/// Values that are named in a sentence.
const NAMED: usize = 4;

/// Combinations of the other axes in which all values that are compared have a value of a metric.
pub(super) struct Groups<'p, 'a> {
    pub(super) whole: Vec<Vec<&'p Point<'a>>>,
    /// The number of those in which one is missing, or has too few of the seeds.
    left: usize,
}

/// How often each value of an axis is best in a metric.
pub(super) struct Winners {
    /// Values with the number of combinations in which they are best by more than chance, most first.
    wins: Vec<(String, usize)>,
    /// Combinations in which the best two do not differ by more than chance, or than percentiles are known to.
    ties: usize,
    /// Combinations that count, and those that lack a value and do not.
    combinations: usize,
    left: usize,
    /// Median over the wins of the first of how far it is from the second best: points for ratios, else percent of that.
    lead: Option<f64>,
}

/// The best of some points and the one behind it, by the seeds that all of them have.
struct FirstTwo<'p> {
    best: &'p Point<'p>,
    value: f64,
    behind: f64,
    /// They differ by more than chance: seed by seed, on the same requests, the 95 % interval of the difference does not have 0
    /// in it. With one seed every difference counts; of percentiles those that are greater than a bucket of their histogram.
    differ: bool,
}

impl<'p> FirstTwo<'p> {
    fn of(points: &[&'p Point<'p>], metric: &Metric, seeds_of_sweep: usize) -> Option<Self> {
        let with_value: Vec<_> = points.iter().filter(|point| !point.seeds(metric).is_empty()).collect();
        let common = with_value.iter().map(|point| point.seeds(metric));
        let common: BTreeSet<&str> = common.reduce(|a, b| a.intersection(&b).copied().collect())?;
        if common.is_empty() || common.len() < 2 && seeds_of_sweep > 1 {
            return None;
        }
        let mut valued: Vec<_> = with_value.iter().map(|p| (**p, mean(&p.samples(metric, &common)).0)).collect();
        valued.sort_by(|(_, a), (_, b)| if metric.is_better(1.0, 0.0) { b.total_cmp(a) } else { a.total_cmp(b) });
        let ((best, value), (second, behind)) = (*valued.first()?, *valued.get(1)?);
        let pairs = best.samples(metric, &common).into_iter().zip(second.samples(metric, &common));
        let (difference, half) = mean(&pairs.map(|(a, b)| a - b).collect::<Vec<_>>());
        let known_to = metric.resolution() * value.abs().max(behind.abs());
        Some(Self { best, value, behind, differ: difference.abs() > half.unwrap_or(0.0).max(known_to) })
    }
}

impl<'p, 'a> Groups<'p, 'a> {
    /// Nothing if there are no two values to compare anywhere. A value that no cell has is not part of the comparison.
    pub(super) fn of(points: &'p Points<'a>, compared: &str, metric: &Metric) -> Option<Self> {
        let with_value = || points.all.iter().filter(|point| point.value(metric).is_some());
        let values: BTreeSet<&str> = with_value().filter_map(|point| point.values.get(compared).copied()).collect();
        if values.len() < 2 {
            return None;
        }
        let is_whole = |group: &Vec<&Point<'_>>| {
            group.iter().filter(|point| point.value(metric).is_some()).count() == values.len()
                && FirstTwo::of(group, metric, points.seeds).is_some()
        };
        let groups = points.groups(&[compared]).into_iter().map(|(_, group)| group);
        let (whole, parts): (Vec<_>, Vec<_>) = groups.partition(is_whole);
        Some(Self { whole, left: parts.len() })
    }
}

impl Winners {
    pub(super) fn of(points: &Points<'_>, compared: &str, metric: &Metric, groups: &Groups<'_, '_>) -> Self {
        let mut wins: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let mut ties = 0;
        for group in &groups.whole {
            let Some(two) = FirstTwo::of(group, metric, points.seeds) else { continue };
            if two.differ {
                let lead = (two.value - two.behind).abs();
                let lead = if metric.unit == AxisUnit::Percent { lead } else { 100.0 * lead / two.behind.abs() };
                wins.entry(two.best.values.get(compared).copied().unwrap_or("-")).or_default().push(lead);
            } else {
                ties += 1;
            }
        }
        let mut order: Vec<_> = wins.into_iter().collect();
        order.sort_by_key(|(name, leads)| (std::cmp::Reverse(leads.len()), *name));
        let lead = order.first().and_then(|(_, leads)| median(leads.clone()));
        let wins = order.into_iter().map(|(name, leads)| (name.to_owned(), leads.len())).collect();
        Self { wins, ties, combinations: groups.whole.len(), left: groups.left, lead }
    }

    /// The same as a list: names stand before their numbers, because some of them are words (`none`).
    pub(super) fn sentence(&self, metric: &Metric, seeds: usize) -> String {
        let Self { wins, ties, combinations, left, lead } = self;
        let what = format!("{} {}", capital(metric.best()), metric.words);
        if *combinations == 0 {
            return format!("{what}: no combination has all values.");
        }
        let mut text = format!("{what}, of {}: ", plural(*combinations as u64, "combination"));
        let mut parts: Vec<String> = wins.iter().take(NAMED).map(|(name, count)| format!("{name} {count}")).collect();
        if let (Some(first), Some(lead)) = (parts.first_mut(), lead) {
            let unit = if metric.unit == AxisUnit::Percent { "percentage points" } else { "%" };
            let lead = if *lead < 0.05 { "less than 0.1".to_owned() } else { format!("{lead:.1}") };
            *first += &format!(" ({lead} {unit} ahead of the second best, median)");
        }
        if let Some(others) = wins.get(NAMED..).filter(|others| !others.is_empty()) {
            let sum: usize = others.iter().map(|(_, count)| count).sum();
            parts.push(format!("{} {sum}", plural(others.len() as u64, "other")));
        }
        if *ties > 0 {
            let margin = match (seeds > 1, metric.resolution()) {
                (true, 0.0) => "do not differ by more than chance".to_owned(),
                (false, 0.0) => "are equal".to_owned(),
                (true, part) => format!(
                    "do not differ by more than chance and the {:.1} % to which percentiles are known",
                    100.0 * part
                ),
                (false, part) => {
                    format!("are within the {:.1} % to which percentiles are known", 100.0 * part)
                }
            };
            parts.push(format!("undecided {ties} (the best two {margin})"));
        }
        text += &parts.join(", ");
        match left {
            0 => {}
            1 => text += "; 1 other lacks a value and does not count",
            n => text += &format!("; {n} others lack a value and do not count"),
        }
        text + "."
    }
}

#[cfg(test)]
mod tests;
