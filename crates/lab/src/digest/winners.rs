//! Which value of the compared axis is best, where, by how much and how sure.

use std::collections::BTreeMap;

use super::metric::Metric;
use super::points::{Point, Points};

/// How often each value of an axis is best in a metric.
pub(super) struct Winners {
    /// Values with the number of combinations in which they are best by more than chance, most first.
    pub(super) wins: Vec<(String, usize)>,
    /// Combinations in which the best two do not differ by more than chance.
    pub(super) ties: usize,
    /// Combinations with two values at least.
    pub(super) combinations: usize,
    /// Median over the wins of the first of how far it is from the second best, as a share of that.
    pub(super) lead: Option<f64>,
}

/// The best of some points and the one behind it.
fn first_two<'p, 'a>(points: &[&'p Point<'a>], metric: &Metric) -> Option<[(&'p Point<'a>, f64); 2]> {
    let mut valued: Vec<_> = points.iter().filter_map(|point| Some((*point, point.value(metric)?.0))).collect();
    valued.sort_by(|(_, a), (_, b)| if metric.is_better(1.0, 0.0) { b.total_cmp(a) } else { a.total_cmp(b) });
    Some([*valued.first()?, *valued.get(1)?])
}

impl Winners {
    pub(super) fn of(points: &Points<'_>, compared: &str, metric: &Metric) -> Self {
        let mut wins: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        let (mut ties, mut combinations) = (0, 0);
        for (_, group) in points.groups(&[compared]) {
            let Some([(best, value), (second, behind)]) = first_two(&group, metric) else { continue };
            combinations += 1;
            if best.differs(second, metric) {
                let lead = if behind == 0.0 { 0.0 } else { (value - behind).abs() / behind.abs() };
                wins.entry(best.values.get(compared).copied().unwrap_or("-")).or_default().push(lead);
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
                _ => format!("No value has {the} by more than chance in any of {combinations} combinations."),
            };
        };
        let mut text = format!("{first} has {the} in {count} of {combinations} combinations");
        if let Some(lead) = lead {
            text += &format!(", {:.1} % from the second best (median)", 100.0 * lead);
        }
        for (name, count) in &wins[1..wins.len().min(4)] {
            text += &format!("; {name} in {count}");
        }
        if *ties > 0 {
            let chance = if seeds > 1 { "do not differ by more than chance" } else { "are equal" };
            text += &format!("; in {ties} the best two {chance}");
        }
        text + "."
    }
}
