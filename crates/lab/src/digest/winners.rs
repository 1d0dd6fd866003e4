//! Which value of the compared axis is best, where, by how much and how sure.

use std::collections::{BTreeMap, BTreeSet};

use nandlab_plot::AxisUnit;

use super::metric::Metric;
use super::points::{Point, Points, mean};

/// How often each value of an axis is best in a metric.
pub(super) struct Winners {
    /// Values with the number of combinations in which they are best by more than chance, most first.
    pub(super) wins: Vec<(String, usize)>,
    /// Combinations in which the best two do not differ by more than chance.
    pub(super) ties: usize,
    /// Combinations with two values at least.
    pub(super) combinations: usize,
    /// Median over the wins of the first of how far it is from the second best: points for ratios, else percent of that.
    pub(super) lead: Option<f64>,
}

/// The best of some points and the one behind it, by the seeds that all of them have.
struct FirstTwo<'p> {
    best: &'p Point<'p>,
    value: f64,
    behind: f64,
    /// They differ by more than chance: seed by seed, on the same requests, the 95 % interval of the difference does not have 0
    /// in it. With one seed every difference counts.
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
        Some(Self { best, value, behind, differ: difference.abs() > half.unwrap_or(0.0) })
    }
}

impl Winners {
    pub(super) fn of(points: &Points<'_>, compared: &str, metric: &Metric) -> Self {
        let mut wins: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut ties, mut combinations) = (0, 0);
        for (_, group) in points.groups(&[compared]) {
            let Some(two) = FirstTwo::of(&group, metric, points.seeds) else { continue };
            combinations += 1;
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
        let lead = order.first_mut().map(|(_, leads)| {
            leads.sort_by(f64::total_cmp);
            leads[(leads.len() - 1) / 2]
        });
        let wins = order.into_iter().map(|(name, leads)| (name.to_owned(), leads.len())).collect();
        Self { wins, ties, combinations, lead }
    }

    /// The same in a sentence.
    pub(super) fn sentence(&self, metric: &Metric, seeds: usize) -> String {
        let Self { wins, ties, combinations, lead } = self;
        let the = format!("the {} {}", metric.best(), metric.words);
        let Some((first, count)) = wins.first() else {
            return match combinations {
                0 => format!("No combination has two values of {} to compare.", metric.words),
                _ if seeds > 1 => {
                    format!("No value has {the} by more than chance in any of {combinations} combinations.")
                }
                _ => format!("The best two values have the same {} in all {combinations} combinations.", metric.words),
            };
        };
        let mut text = format!("{first} has {the} in {count} of {combinations} combinations");
        if let Some(lead) = lead {
            let unit = if metric.unit == AxisUnit::Percent { "points" } else { "%" };
            text += &format!(", {lead:.1} {unit} from the second best (median)");
        }
        for (name, count) in &wins[1..wins.len().min(4)] {
            text += &format!("; {name} in {count}");
        }
        if let [_, _, _, _, others @ ..] = wins.as_slice()
            && !others.is_empty()
        {
            let count: usize = others.iter().map(|(_, count)| count).sum();
            text += &format!("; {} others in {count}", others.len());
        }
        if *ties > 0 {
            let chance = if seeds > 1 { "do not differ by more than chance" } else { "are equal" };
            text += &format!("; in {ties} the best two {chance}");
        }
        text + "."
    }
}
