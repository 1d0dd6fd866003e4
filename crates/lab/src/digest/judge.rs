//! Claims of a paper, judged for every combination of the axes that it leaves open.

use std::collections::BTreeMap;

use nandlab_plot::AxisUnit;

use super::metric::Metric;
use super::points::{Point, Points, mean};
use crate::experiment::{Claim, ClaimTest, ClaimWay};
use crate::text::place;

/// A claim and what came out.
pub(super) struct Judged<'c> {
    pub(super) claim: &'c Claim,
    /// By the values of the open axes, in order; empty if it was not tested.
    pub(super) conditions: Vec<Condition>,
    /// Cases that hold, and all, by axes and their values: what decides.
    by_value: BTreeMap<(String, String), [usize; 2]>,
    /// The changes over the cases of all conditions, in words.
    pub(super) measured: String,
}

/// What came out under one combination of the open axes.
pub(super) struct Condition {
    /// Its values.
    pub(super) name: String,
    /// Cases that hold.
    pub(super) holds: usize,
    pub(super) of: usize,
    /// The names of those that do not.
    pub(super) fails: Vec<String>,
    /// The changes between the values that are compared, in words.
    pub(super) measured: String,
}

/// How a claim came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    Reproduced,
    Partly,
    Not,
    NotTested,
}

impl Verdict {
    /// By the cases that hold.
    pub(super) fn of(holds: usize, of: usize) -> Self {
        match holds {
            _ if of == 0 => Self::NotTested,
            0 => Self::Not,
            n if n == of => Self::Reproduced,
            _ => Self::Partly,
        }
    }

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::Partly => "partly",
            Self::Not => "not",
            Self::NotTested => "not tested",
        }
    }
}

/// Points that are alike except for what is compared, and along what.
struct Case<'p, 'r> {
    name: String,
    /// The values of all axes that are not compared.
    values: BTreeMap<&'p str, &'p str>,
    points: Vec<&'p Point<'r>>,
}

/// What a claim is judged by.
struct Judge<'p> {
    metric: &'p Metric,
    /// The axis that is compared.
    axis: &'p str,
    /// Its values among the cells of the claim: a case has all of them.
    expected: Vec<&'p str>,
    /// Values of the axis that the claim goes along.
    places: usize,
    seeds: usize,
}

impl<'c> Judged<'c> {
    /// Judges a claim; `open` are the axes that the paper leaves open.
    pub(super) fn of(claim: &'c Claim, points: &Points<'_>, metrics: &[Metric], open: &[String]) -> Self {
        let mut judged = Self { claim, conditions: Vec::new(), by_value: BTreeMap::new(), measured: String::new() };
        let metric = metrics.iter().find(|metric| metric.name == claim.metric);
        let axis = claim.axis.as_deref().or(points.compared());
        let (Some(test), Some(metric), Some(axis)) = (&claim.test, metric, axis) else { return judged };
        let meant: Vec<&Point<'_>> = points.all.iter().filter(|point| point.is_among(&claim.cells)).collect();
        let used = |axis: &str| -> Vec<&str> {
            let is_used = |value: &&str| meant.iter().any(|point| point.values.get(axis) == Some(value));
            points.values(axis).iter().map(String::as_str).filter(is_used).collect()
        };
        let places = test.along().map_or(0, |along| used(along).len());
        let judge = Judge { metric, axis, expected: used(axis), places, seeds: points.seeds };
        let apart: Vec<&str> = [Some(axis), test.along()].into_iter().flatten().collect();
        let is_open = |axis: &&str| open.iter().any(|open| open == axis) && !apart.contains(axis);
        let open: Vec<&str> = points.names().filter(is_open).collect();
        let mut all = Vec::new();
        for (name, cases) in conditions(points, claim, &apart, &open) {
            let outcomes: Vec<(usize, Option<bool>)> =
                cases.iter().enumerate().map(|(number, case)| (number, judge.holds(test, case))).collect();
            let tested: Vec<(&Case<'_, '_>, bool)> =
                outcomes.into_iter().filter_map(|(number, holds)| Some((&cases[number], holds?))).collect();
            let mut condition = Condition {
                name,
                holds: tested.iter().filter(|(_, holds)| *holds).count(),
                of: tested.len(),
                fails: tested.iter().filter(|(_, holds)| !holds).map(|(case, _)| case.name.clone()).collect(),
                measured: judge.measured(test, &cases),
            };
            if let ClaimTest::Change { of, from } = test {
                judge.changes(of, from, &cases, &mut condition);
            }
            if condition.of == 0 {
                continue;
            }
            for (case, holds) in tested {
                for (axis, value) in &case.values {
                    judged.count_for(axis, value, usize::from(holds), 1);
                }
            }
            if let (ClaimTest::Change { .. }, Some(case)) = (test, cases.first()) {
                for (axis, value) in case.values.iter().filter(|(axis, _)| open.contains(axis)) {
                    judged.count_for(axis, value, condition.holds, condition.of);
                }
            }
            judged.conditions.push(condition);
            all.extend(cases);
        }
        judged.measured = judge.measured(test, &all);
        judged
    }

    fn count_for(&mut self, axis: &str, value: &str, holds: usize, of: usize) {
        let [yes, all] = self.by_value.entry((axis.to_owned(), value.to_owned())).or_default();
        *yes += holds;
        *all += of;
    }

    /// Conditions under which the verdict is this one.
    pub(super) fn count(&self, verdict: Verdict) -> usize {
        self.conditions.iter().filter(|condition| Verdict::of(condition.holds, condition.of) == verdict).count()
    }

    /// Over all conditions.
    pub(super) fn verdict(&self) -> Verdict {
        let sum = |number: fn(&Condition) -> usize| self.conditions.iter().map(number).sum();
        Verdict::of(sum(|condition| condition.holds), sum(|condition| condition.of))
    }

    /// The axis whose values the outcome depends on most, with the share of cases that hold for each of them.
    pub(super) fn decides(&self, points: &Points<'_>) -> Option<String> {
        let mut most: Option<(f64, String)> = None;
        for (axis, values) in &points.axes {
            let known = values.iter().filter_map(|value| {
                let [yes, all] = *self.by_value.get(&(axis.clone(), value.clone()))?;
                Some((value, yes, all))
            });
            let known: Vec<_> = known.collect();
            let shares = || known.iter().map(|(_, yes, all)| *yes as f64 / *all as f64);
            let spread = shares().fold(0.0, f64::max) - shares().fold(1.0, f64::min);
            if known.len() > 1 && spread > most.as_ref().map_or(0.0, |(spread, _)| *spread) {
                let words: Vec<String> =
                    known.iter().map(|(value, yes, all)| format!("{value} {yes} of {all}")).collect();
                most = Some((spread, format!("{axis}: {}", words.join(", "))));
            }
        }
        most.map(|(_, words)| words)
    }
}

/// The cases of a claim by the values of the open axes.
fn conditions<'p, 'r>(
    points: &'p Points<'r>,
    claim: &Claim,
    apart: &[&str],
    open: &[&str],
) -> Vec<(String, Vec<Case<'p, 'r>>)> {
    let mut conditions: Vec<(String, Vec<Case<'p, 'r>>)> = Vec::new();
    let is_meant = |point: &&Point<'_>| point.is_among(&claim.cells);
    for (_, group) in points.groups(&[apart, open].concat()) {
        // Within a group only what is open, and what is compared, differs.
        let meant: Vec<&Point<'_>> = group.into_iter().filter(is_meant).collect();
        let mut by_open: BTreeMap<Vec<usize>, Vec<&'p Point<'r>>> = BTreeMap::new();
        for point in meant {
            let at = |axis: &&str| {
                points.values(axis).iter().position(|value| point.values.get(axis) == Some(&value.as_str()))
            };
            by_open.entry(open.iter().map(|axis| at(axis).unwrap_or(usize::MAX)).collect()).or_default().push(point);
        }
        for some in by_open.into_values() {
            let words = |axes: &dyn Fn(&str) -> bool| {
                let named = points.names().filter(|axis| axes(axis) && points.varies(axis, &claim.cells));
                named.filter_map(|axis| some[0].values.get(axis).copied()).collect::<Vec<_>>().join(", ")
            };
            let name = words(&|axis| open.contains(&axis) && !apart.contains(&axis));
            let case = Case {
                name: words(&|axis| !open.contains(&axis) && !apart.contains(&axis)),
                values: some[0]
                    .values
                    .iter()
                    .filter(|(axis, _)| !apart.contains(axis))
                    .map(|(a, v)| (*a, *v))
                    .collect(),
                points: some,
            };
            match conditions.iter_mut().find(|(known, _)| *known == name) {
                Some((_, cases)) => cases.push(case),
                None => conditions.push((name, vec![case])),
            }
        }
    }
    conditions
}

impl<'p, 'r> Case<'p, 'r> {
    fn point(&self, axis: &str, value: &str) -> Option<&'p Point<'r>> {
        self.points.iter().find(|point| point.values.get(axis) == Some(&value)).copied()
    }

    /// The points of a value in order along an axis of numbers.
    fn line(&self, axis: &str, value: &str, along: &str) -> Vec<(f64, &'p Point<'r>)> {
        let own = self.points.iter().filter(|point| point.values.get(axis) == Some(&value));
        let mut line: Vec<_> = own.filter_map(|point| Some((place(point.values.get(along)?).0, *point))).collect();
        line.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        line
    }
}

/// A change in percent; a time behind which a queue grows without end has no meaning in digits.
fn percent(change: f64) -> String {
    if change > 1000.0 { "over +1000".to_owned() } else { format!("{change:+.1}") }
}

impl Judge<'_> {
    /// The listed values, or all of the axis.
    fn values_of<'c>(&'c self, listed: &'c [String]) -> Vec<&'c str> {
        if listed.is_empty() { self.expected.clone() } else { listed.iter().map(String::as_str).collect() }
    }

    fn value(&self, point: &Point<'_>) -> Option<f64> {
        Some(point.value(self.metric)?.0)
    }

    /// The first is better than the second: by more than chance if there are seeds. `slack`: percent that it may be worse.
    fn beats(&self, a: &Point<'_>, b: &Point<'_>, slack: f64) -> Option<bool> {
        let common: std::collections::BTreeSet<&str> =
            a.seeds(self.metric).intersection(&b.seeds(self.metric)).copied().collect();
        let (of_a, of_b) = (a.samples(self.metric, &common), b.samples(self.metric, &common));
        if common.is_empty() {
            return None;
        }
        let towards_good = if self.metric.is_better(1.0, 0.0) { 1.0 } else { -1.0 };
        if slack > 0.0 {
            let (a, b) = (mean(&of_a).0, mean(&of_b).0);
            return Some(towards_good * (a - b) >= -slack / 100.0 * b.abs());
        }
        let leads: Vec<f64> = of_a.iter().zip(&of_b).map(|(a, b)| towards_good * (a - b)).collect();
        let (lead, half) = mean(&leads);
        Some(lead > if self.seeds > 1 { half? } else { 0.0 })
    }

    /// The outcome of one case; `None` if a value that it needs is missing, or the cells do not differ in what is compared.
    fn holds(&self, test: &ClaimTest, case: &Case<'_, '_>) -> Option<bool> {
        if self.expected.is_empty() {
            return None;
        }
        let point = |value: &String| case.point(self.axis, value);
        match test {
            ClaimTest::First { value, among, rank, within } => {
                let own = point(value)?;
                let others = self.values_of(among).into_iter().filter(|other| other != value);
                let mut ahead = 0;
                let mut any = false;
                for other in others {
                    let other = case.point(self.axis, other)?;
                    any = true;
                    ahead += usize::from(!self.beats(own, other, *within)?);
                }
                any.then_some(ahead < *rank)
            }
            ClaimTest::Last { value, among } => {
                let own = point(value)?;
                let others = self.values_of(among).into_iter().filter(|other| other != value);
                let better = others.map(|other| self.beats(case.point(self.axis, other)?, own, 0.0));
                let better = better.collect::<Option<Vec<_>>>()?;
                (!better.is_empty()).then(|| better.into_iter().all(|better| better))
            }
            ClaimTest::Order { values } => {
                let points = values.iter().map(point).collect::<Option<Vec<_>>>()?;
                let pairs = points.windows(2).map(|pair| self.beats(pair[0], pair[1], 0.0));
                pairs.collect::<Option<Vec<_>>>().map(|better| better.into_iter().all(|better| better))
            }
            // Judged over all cases.
            ClaimTest::Change { .. } => None,
            ClaimTest::Along { along, way, of } => {
                let values = self.values_of(of);
                let lines = values.iter().map(|value| self.is_along(&case.line(self.axis, value, along), *way));
                lines.collect::<Option<Vec<_>>>().map(|all| all.into_iter().all(|holds| holds))
            }
            ClaimTest::Between { of, low, high } => {
                let values = self.values_of(of);
                let known = values.iter().map(|value| self.value(case.point(self.axis, value)?));
                Some(known.collect::<Option<Vec<_>>>()?.into_iter().all(|value| (*low..=*high).contains(&value)))
            }
            ClaimTest::Ratios { of, within } => {
                let units = of.iter().map(|(value, share)| Some(self.value(point(value)?)? / share));
                let units = units.collect::<Option<Vec<_>>>()?;
                let middle = units.iter().sum::<f64>() / units.len() as f64;
                Some(units.into_iter().all(|unit| (unit / middle - 1.0).abs() <= within / 100.0))
            }
            ClaimTest::Crossing { of, with, along, at } => {
                let (own, other) = (case.line(self.axis, of, along), case.line(self.axis, with, along));
                let turn = place(at).0;
                let pairs = own.iter().filter_map(|(at, own)| {
                    let (_, other) = other.iter().find(|(place, _)| place == at)?;
                    let before = *at <= turn;
                    let (better, worse) = if before { (other, own) } else { (own, other) };
                    Some((before, self.beats(better, worse, 0.0)?))
                });
                let pairs: Vec<_> = pairs.collect();
                if pairs.len() < self.places {
                    return None;
                }
                let both = pairs.iter().any(|(before, _)| *before) && pairs.iter().any(|(before, _)| !before);
                both.then(|| pairs.iter().all(|(_, holds)| *holds))
            }
            ClaimTest::Inside { values } => {
                let known = values.iter().map(|value| self.value(point(value)?)).collect::<Option<Vec<_>>>()?;
                let best = (1..known.len())
                    .fold(0, |best, n| if self.metric.is_better(known[n], known[best]) { n } else { best });
                Some(best > 0 && best + 1 < known.len())
            }
        }
    }

    fn is_along(&self, line: &[(f64, &Point<'_>)], way: ClaimWay) -> Option<bool> {
        let values = line.iter().map(|(_, point)| self.value(point)).collect::<Option<Vec<_>>>()?;
        let (first, last) = (values.first()?, values.last()?);
        if values.len() < self.places.max(2) {
            return None;
        }
        Some(match way {
            ClaimWay::Rises => values.windows(2).all(|pair| pair[0] <= pair[1]) && first < last,
            ClaimWay::Falls => values.windows(2).all(|pair| pair[0] >= pair[1]) && first > last,
        })
    }

    /// Mean over the cases of the change from one value to another, percent; what is 0 at the other says nothing.
    fn change(&self, of: &str, from: &str, cases: &[Case<'_, '_>]) -> Option<f64> {
        let change = |case: &Case<'_, '_>| {
            let value = |name| self.value(case.point(self.axis, name)?);
            let (own, other) = (value(of)?, value(from)?);
            (other != 0.0).then(|| 100.0 * (own - other) / other)
        };
        let changes: Vec<f64> = cases.iter().filter_map(change).collect();
        (!changes.is_empty()).then(|| mean(&changes).0)
    }

    /// Judges a claim about changes: each of the others counts as a case.
    fn changes(&self, of: &str, from: &BTreeMap<String, f64>, cases: &[Case<'_, '_>], condition: &mut Condition) {
        for (other, printed) in from {
            let Some(change) = self.change(of, other, cases) else { continue };
            condition.of += 1;
            if (change > 0.0) == (*printed > 0.0) && change != 0.0 {
                condition.holds += 1;
            } else {
                condition.fails.push(other.clone());
            }
        }
    }

    /// What the claim compares, in words.
    fn measured(&self, test: &ClaimTest, cases: &[Case<'_, '_>]) -> String {
        let against = |of: &str, others: Vec<&str>| {
            let changes = others.into_iter().filter(|other| *other != of);
            let words =
                changes.filter_map(|other| Some(format!("{other} {}", percent(self.change(of, other, cases)?))));
            let words: Vec<String> = words.collect();
            if words.is_empty() { String::new() } else { format!("{of} against {} %", words.join(", ")) }
        };
        let all =
            |listed: &[String]| -> Vec<String> { self.values_of(listed).into_iter().map(str::to_owned).collect() };
        let means = |values: &[&str]| {
            let one = |value: &&str| {
                let known: Vec<f64> =
                    cases.iter().filter_map(|case| self.value(case.point(self.axis, value)?)).collect();
                (!known.is_empty()).then(|| format!("{value} {}", self.metric.text(mean(&known).0)))
            };
            values.iter().filter_map(one).collect::<Vec<_>>().join(", ")
        };
        match test {
            ClaimTest::First { value, among, .. } | ClaimTest::Last { value, among } => {
                let others = all(among);
                against(value, others.iter().map(String::as_str).collect())
            }
            ClaimTest::Order { values } | ClaimTest::Inside { values } => {
                means(&values.iter().map(String::as_str).collect::<Vec<_>>())
            }
            ClaimTest::Change { of, from } => against(of, from.keys().map(String::as_str).collect()),
            ClaimTest::Between { of, .. } => {
                let values = all(of);
                means(&values.iter().map(String::as_str).collect::<Vec<_>>())
            }
            ClaimTest::Ratios { of, .. } => means(&of.keys().map(String::as_str).collect::<Vec<_>>()),
            ClaimTest::Along { along, of, .. } => {
                let values = all(of);
                let ends = |value: &String| {
                    let ends = cases.iter().filter_map(|case| {
                        let line = case.line(self.axis, value, along);
                        Some((self.value(line.first()?.1)?, self.value(line.last()?.1)?))
                    });
                    let (first, last): (Vec<f64>, Vec<f64>) = ends.unzip();
                    let text = |values: &[f64]| self.metric.text(mean(values).0);
                    (!first.is_empty()).then(|| format!("{value} {} to {}", text(&first), text(&last)))
                };
                values.iter().filter_map(ends).collect::<Vec<_>>().join(", ")
            }
            ClaimTest::Crossing { of, with, along, .. } => self.leads(of, with, along, cases),
        }
    }

    /// How far one value is ahead of another, place by place along an axis.
    fn leads(&self, of: &str, with: &str, along: &str, cases: &[Case<'_, '_>]) -> String {
        let mut places: BTreeMap<(u64, &str), Vec<f64>> = BTreeMap::new();
        for case in cases {
            let other = case.line(self.axis, with, along);
            for (at, own) in case.line(self.axis, of, along) {
                let with = other.iter().find(|(place, _)| *place == at).and_then(|(_, other)| self.value(other));
                if let (Some(own_value), Some(other)) = (self.value(own), with.filter(|other| *other != 0.0)) {
                    let name = own.values.get(along).copied().unwrap_or_default();
                    places.entry((at.to_bits(), name)).or_default().push(100.0 * (own_value - other) / other);
                }
            }
        }
        let word = |((_, name), changes): (&(u64, &str), &Vec<f64>)| format!("{name} {}", percent(mean(changes).0));
        let words: Vec<String> = places.iter().map(word).collect();
        let unit = if self.metric.unit == AxisUnit::Percent { "% of it" } else { "%" };
        if words.is_empty() { String::new() } else { format!("{of} against {with}: {} {unit}", words.join(", ")) }
    }
}

#[cfg(test)]
mod tests;
