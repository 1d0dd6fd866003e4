//! The distributions of times, as exact as the histograms of runs are: a bucket is at most 3.1 % wide.

use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};

use super::figures::{Data, Datum, Head, LINES, PANELS, Shown, ZOOMED, laid_out, left_out, styled};
use super::metric::time;
use super::points::{Point, Points};
use crate::course::Buckets;
use crate::experiment::ExperimentFigure;
use crate::text::count;

/// Percentiles of the table.
const PERCENTILES: [(f64, &str); 6] =
    [(5.0, "p5"), (50.0, "p50"), (95.0, "p95"), (99.0, "p99"), (99.9, "p99.9"), (100.0, "max")];
/// Panels of the distributions of a sweep, which have so many points that a page would become too large.
const FEW: usize = 6;
/// Corners of all lines of a picture at most, so that a page stays small.
const CORNERS: usize = 1_000;
/// Percent that corners of a picture are apart at least, and where they are looked at closely; the corners of these at most.
const APART: f64 = 0.25;
const CLOSE: f64 = 0.1;
const CLOSE_CORNERS: usize = 12_000;

/// A distribution, with the words for what it is of.
struct Line<'p> {
    value: &'p str,
    within: String,
    buckets: Buckets,
    /// What a paper printed: time in ns, percent.
    printed: Vec<[f64; 2]>,
}

/// The distribution of response times: a panel for each combination of the other axes, a line for each compared value.
pub(super) fn responses(points: &Points<'_>, compared: &str) -> Option<Shown> {
    let groups = points.groups(&[compared]);
    let mut panels = Vec::new();
    for (name, group) in &groups {
        let line = |value| {
            let point = group.iter().find(|point| point.values.get(compared) == Some(&value));
            let buckets = point.map_or_else(Vec::new, |point| point.times("response.all"));
            Line { value, within: name.clone(), buckets, printed: Vec::new() }
        };
        let values = points.values(compared).iter().map(String::as_str);
        panels.push((name.clone(), values.map(line).collect::<Vec<_>>()));
    }
    let lines = || panels.iter().flat_map(|(_, lines)| lines);
    let tails = lines().filter_map(|line| {
        let (median, tail) = (percentile(&line.buckets, 50.0)?, percentile(&line.buckets, 99.9)?);
        (median > 0).then(|| (tail as f64 / median as f64, line))
    });
    let (most, longest) = tails.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    let within = if longest.within.is_empty() { String::new() } else { format!(" in {}", longest.within) };
    let sentence = format!(
        "The longest tail, 99.9th percentile over median, is {} ({}{within}).{}",
        count(most.round() as u64),
        longest.value,
        left_out(groups.len(), points.values(compared).len(), FEW)
    );
    let title = "Distribution of response times";
    Some(shown("distribution", title, sentence, compared, &panels, FEW))
}

/// The distribution of times that a paper drew: a panel for each combination of the axes that vary, a line for each value.
pub(super) fn printed(
    points: &Points<'_>,
    title: &str,
    name: &str,
    figure: &ExperimentFigure,
    of: &str,
) -> Option<Shown> {
    let axis = figure.axis.as_deref().or(points.compared())?;
    let told = figure.printed_times().ok()?;
    let mut panels = Vec::new();
    for (_, group) in points.groups(&[axis]) {
        let own: Vec<&Point<'_>> = group.into_iter().filter(|point| point.is_among(&figure.cells)).collect();
        let Some(first) = own.first() else { continue };
        let names = points.names().filter(|name| *name != axis && points.varies(name, &figure.cells));
        let within = names.filter_map(|name| first.values.get(name).copied()).collect::<Vec<_>>().join(", ");
        let line = |value| {
            let point = own.iter().find(|point| point.values.get(axis) == Some(&value));
            let buckets = point.map_or_else(Vec::new, |point| point.times(of));
            let own = told.iter().filter(|(told, ..)| *told == value);
            Line {
                value,
                within: within.clone(),
                buckets,
                printed: own.map(|(_, ns, percent)| [*ns, *percent]).collect(),
            }
        };
        let lines: Vec<_> = points.values(axis).iter().map(|value| line(value.as_str())).collect();
        panels.push((within, lines));
    }
    if panels.iter().all(|(_, lines)| lines.iter().all(|line| line.buckets.is_empty())) {
        return None;
    }
    let words = figure.printed.trim_end_matches('.');
    let sentence = format!("Printed: {words}.{}", left_out(panels.len(), points.values(axis).len(), PANELS));
    Some(shown(name, title, sentence, axis, &panels, PANELS))
}

/// A figure of distributions: panels with their names and their lines.
fn shown(name: &str, title: &str, sentence: String, axis: &str, all: &[(String, Vec<Line<'_>>)], most: usize) -> Shown {
    let step_seen = step(&all[..most.min(all.len())], APART, CORNERS);
    let panel = |(name, lines): &(String, Vec<Line<'_>>), step: f64| {
        let edges =
            || lines.iter().flat_map(|line| &line.buckets).map(|(edge, _)| *edge as f64).filter(|edge| *edge > 0.0);
        let ends = [edges().fold(f64::INFINITY, f64::min) / 1.1, edges().fold(0.0, f64::max) * 1.1];
        let mut panel = Panel::new(name, Axis::log("time", AxisUnit::Time, ends)).y(Axis::linear(
            "share",
            AxisUnit::Percent,
            [0.0, 100.0],
        ));
        for (number, line) in lines.iter().enumerate().take(LINES) {
            panel = panel.layer(styled(number, Layer::steps(line.value, corners(&line.buckets, step))));
        }
        let printed = lines.iter().flat_map(|line| line.printed.iter().copied()).collect();
        panel.layer(Layer::points("printed", printed).neutral())
    };
    let seen = all.iter().take(most).map(|lines| panel(lines, step_seen)).collect();
    let larger = &all[..ZOOMED.min(all.len())];
    let close_step = step(larger, CLOSE, CLOSE_CORNERS);
    let close = larger.iter().map(|lines| panel(lines, close_step)).collect();
    let names = [axis, "in"].map(Head::name);
    let numbers = PERCENTILES.iter().map(|(_, name)| Head::of(name, "ns"));
    let mut data = Data { head: names.iter().cloned().chain(numbers).collect(), rows: Vec::new() };
    let numbers = [Head::of("within", "ns"), Head::of("", "percent")];
    let mut drawn = Data { head: names.into_iter().chain(numbers).collect(), rows: Vec::new() };
    for line in all.iter().flat_map(|(_, lines)| lines).filter(|line| !line.buckets.is_empty()) {
        let names = [Datum::name(line.value), Datum::name(&line.within)];
        let at = |(percent, _): &(f64, &str)| {
            let edge = percentile(&line.buckets, *percent).unwrap_or(0) as f64;
            Datum::number(time(edge), edge)
        };
        data.rows.push(names.iter().cloned().chain(PERCENTILES.iter().map(at)).collect());
        for [edge, percent] in corners(&line.buckets, 0.0) {
            let numbers = [Datum::number(time(edge), edge), Datum::number(format!("{percent:.3}"), percent)];
            drawn.rows.push(names.iter().cloned().chain(numbers).collect());
        }
    }
    let subtitle = "how many took at most that long; with several seeds of all together";
    Shown {
        name: name.to_owned(),
        title: title.to_owned(),
        sentence,
        figure: Some(laid_out(title, subtitle, seen)),
        zoom: Some(Figure::new(title, subtitle).grid(close, 1)),
        data,
        drawn: Some(drawn),
    }
}

/// The percentage that corners are apart at least, so that there are not more than `most`: `least`, or twice that and so on.
fn step(panels: &[(String, Vec<Line<'_>>)], least: f64, most: usize) -> f64 {
    let count = |step: f64| {
        let lines = panels.iter().flat_map(|(_, lines)| lines.iter().take(LINES));
        lines.map(|line| corners(&line.buckets, step).len()).sum::<usize>()
    };
    let mut step = least;
    while step < 16.0 && count(step) > most {
        step *= 2.0;
    }
    step
}

/// From (the shortest, 0 %) to (the longest, 100 %): how many percent took at most that long. Corners are `step` percent apart at
/// least.
fn corners(buckets: &Buckets, step: f64) -> Vec<[f64; 2]> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let Some((first, _)) = buckets.first() else { return Vec::new() };
    let mut corners = vec![[*first as f64, 0.0]];
    let (mut seen, mut told) = (0, 0.0);
    for (edge, count) in buckets {
        seen += count;
        let percent = 100.0 * seen as f64 / all as f64;
        if percent - told >= step || seen == all {
            corners.push([*edge as f64, percent]);
            told = percent;
        }
    }
    corners
}

/// The time that `percent` of all are at most, as in a report; nothing without times.
fn percentile(buckets: &Buckets, percent: f64) -> Option<u64> {
    let all: u64 = buckets.iter().map(|(_, count)| count).sum();
    let thousandths = (percent * 1_000.0).round() as u128;
    let rank = (thousandths * u128::from(all)).div_ceil(100_000).max(1);
    let mut seen = 0;
    let reaches = |(_, count): &&(u64, u64)| {
        seen += u128::from(*count);
        seen >= rank
    };
    buckets.iter().find(reaches).map(|(edge, _)| *edge)
}

impl Point<'_> {
    /// Times of its runs, all seeds together.
    fn times(&self, of: &str) -> Buckets {
        let each: Vec<Buckets> = self.courses().map(|course| course.times(of)).collect();
        crate::course::merged(each.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_rise_from_nothing_to_all() {
        let buckets = vec![(10, 1), (20, 97), (30, 1), (1_000, 1)];
        assert_eq!(corners(&buckets, 0.0), [[10.0, 0.0], [10.0, 1.0], [20.0, 98.0], [30.0, 99.0], [1000.0, 100.0]]);
        // What is told stays true: at most that many took at most that long.
        assert_eq!(corners(&buckets, 2.0), [[10.0, 0.0], [20.0, 98.0], [1000.0, 100.0]]);
        // The longest is told, however near it is.
        assert_eq!(corners(&buckets, 5.0), [[10.0, 0.0], [20.0, 98.0], [1000.0, 100.0]]);
        assert_eq!(corners(&Vec::new(), 0.0), Vec::<[f64; 2]>::new());
    }

    #[test]
    fn percentiles_are_those_of_a_report() {
        let mut histogram = nandlab::histogram::Histogram::default();
        (1..=20_000).for_each(|v| histogram.record(nandlab::types::Nanos(v * v % 7_919)));
        let buckets: Buckets = histogram.buckets().map(|(edge, count)| (edge.0, count)).collect();
        for (percent, _) in PERCENTILES {
            assert_eq!(percentile(&buckets, percent), Some(histogram.percentile(percent).0), "{percent}");
        }
        assert_eq!(percentile(&Vec::new(), 50.0), None);
    }
}
