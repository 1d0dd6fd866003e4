//! Figures and tables of a paper, drawn of the results.

use nandlab_plot::{Axis, AxisUnit, Layer, Panel};

use super::distribution;
use super::figures::{Data, Datum, Head, PANELS, Shown, laid_out, styled};
use super::metric::{Metric, suffix};
use super::points::{Point, Points, unit_of};
use crate::experiment::ExperimentFigure;
use crate::text::{capital, place};

/// Part of a group that its bars take.
const BARS: f64 = 0.8;
/// One group, for a figure without an x axis.
const ALL: &str = "all";

/// What a figure is drawn of.
struct Drawn<'p> {
    figure: &'p ExperimentFigure,
    metric: &'p Metric,
    axis: &'p str,
    /// The values of both axes, in order.
    lines: Vec<&'p str>,
    x: Vec<&'p str>,
    /// What the x values are if they are numbers.
    unit: Option<AxisUnit>,
}

/// The figures of an experiment, in the order of their names: numbers by their size.
pub(super) fn figures<'e>(
    points: &Points<'_>,
    metrics: &[Metric],
    all: impl Iterator<Item = (&'e String, &'e ExperimentFigure)>,
) -> Vec<Shown> {
    let mut named: Vec<_> = all.collect();
    named.sort_by_key(|(name, _)| order(name));
    named.into_iter().filter_map(|(name, figure)| shown(points, metrics, name, figure)).collect()
}

/// `9b` before `10`, `fig` before `table`.
fn order(name: &str) -> (String, u64, String) {
    let digits = |c: char| c.is_ascii_digit();
    let from = name.find(digits).unwrap_or(name.len());
    let to = name[from..].find(|c| !digits(c)).map_or(name.len(), |end| from + end);
    (name[..from].to_owned(), name[from..to].parse().unwrap_or(0), name[to..].to_owned())
}

fn shown(points: &Points<'_>, metrics: &[Metric], name: &str, figure: &ExperimentFigure) -> Option<Shown> {
    if let Some(of) = &figure.times {
        return distribution::printed(points, &title(name, figure), name, figure, of);
    }
    let metric = metrics.iter().find(|metric| metric.name == figure.metric)?;
    let axis = figure.axis.as_deref().or(points.compared())?;
    let meant: Vec<&Point<'_>> = points.all.iter().filter(|point| point.is_among(&figure.cells)).collect();
    let used = |axis: &str| -> Vec<&str> {
        let is_used = |value: &&str| meant.iter().any(|point| point.values.get(axis) == Some(value));
        points.values(axis).iter().map(String::as_str).filter(is_used).collect()
    };
    // An axis with one value, and that of the seeds, has no places.
    let x_axis = figure.x.as_deref().filter(|x| !points.values(x).is_empty()).unwrap_or("");
    let x = if x_axis.is_empty() { vec![ALL] } else { used(x_axis) };
    let unit = (x.len() > 1).then(|| unit_of(&x)).flatten();
    let drawn = Drawn { figure, metric, axis, lines: used(axis), x, unit };
    let mut data = Data { head: ["in", x_axis].map(Head::name).to_vec(), rows: Vec::new() };
    let unit = if figure.relative.is_some() { "relative" } else { suffix(metric.unit) };
    data.head.extend(drawn.lines.iter().map(|line| Head::of(line, unit)));
    let printed = !figure.values.is_empty();
    if printed {
        data.head.extend(drawn.lines.iter().map(|line| Head::of(&format!("{line}, printed"), unit)));
    }
    let mut groups: Vec<(String, Vec<Vec<Option<f64>>>)> = Vec::new();
    for (_, group) in points.groups(&[axis, x_axis]) {
        let own: Vec<&Point<'_>> = group.into_iter().filter(|point| point.is_among(&figure.cells)).collect();
        let Some(first) = own.first() else { continue };
        let names =
            points.names().filter(|name| *name != axis && *name != x_axis && points.varies(name, &figure.cells));
        let words = names.filter_map(|name| first.values.get(name).copied()).collect::<Vec<_>>().join(", ");
        let rows = drawn.x.iter().map(|x| drawn.values_at(&own, x_axis, x)).collect();
        groups.push((words, rows));
    }
    for (words, rows) in &groups {
        for (x, values) in drawn.x.iter().zip(rows) {
            let mut row = vec![Datum::name(words), Datum::name(x)];
            row.extend(values.iter().map(|value| value.map_or_else(Datum::default, |value| drawn.datum(value))));
            if printed {
                let value =
                    |line: &&str| drawn.printed(line, x).map_or_else(Datum::default, |value| drawn.datum(value));
                row.extend(drawn.lines.iter().map(value));
            }
            data.rows.push(row);
        }
    }
    if data.rows.is_empty() || drawn.lines.is_empty() {
        return None;
    }
    let all: Vec<Vec<f64>> = (0..drawn.lines.len())
        .map(|n| groups.iter().flat_map(|(_, rows)| rows.iter().filter_map(move |values| values[n])).collect())
        .collect();
    let y = Axis::fit(&metric.name, drawn.y_unit(), &drawn.with_printed(all));
    let panels: Vec<Panel> = groups.iter().map(|(words, rows)| drawn.panel(words, rows, x_axis, y.clone())).collect();
    let title = title(name, figure);
    let mut sentence = format!("Printed: {}.", figure.printed.trim_end_matches('.'));
    if panels.len() > PANELS {
        sentence += &format!(" Of {} panels the first {PANELS} are drawn; the table has all.", panels.len());
    }
    let what = match figure.relative.as_deref() {
        None => capital(&metric.words),
        Some(end @ ("worst" | "best")) => format!("{}; the {end} of each group is 1", capital(&metric.words)),
        Some(value) => format!("{}; {value} is 1", capital(&metric.words)),
    };
    let figure = laid_out(&title, &what, panels);
    Some(Shown { name: name.to_owned(), title, sentence, figure: Some(figure), data, zoom: None, drawn: None })
}

fn title(name: &str, figure: &ExperimentFigure) -> String {
    format!("{}: {}", capital(&spaced(name)), figure.title)
}

/// `fig10` as `fig 10`.
fn spaced(name: &str) -> String {
    let at = name.find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    if at > 0 { format!("{} {}", name[..at].trim_end_matches('-'), &name[at..]) } else { name.to_owned() }
}

impl Drawn<'_> {
    fn y_unit(&self) -> AxisUnit {
        if self.figure.relative.is_some() { AxisUnit::Count } else { self.metric.unit }
    }

    fn datum(&self, value: f64) -> Datum {
        let text = if self.figure.relative.is_some() { format!("{value:.3}") } else { self.metric.text(value) };
        Datum::number(text, value)
    }

    fn printed(&self, line: &str, x: &str) -> Option<f64> {
        let values = &self.figure.values;
        let only = || values.iter().find(|(name, _)| x == ALL && name.split('/').next() == Some(line));
        let value = values.get(&format!("{line}/{x}")).or_else(|| values.get(line));
        value.or_else(|| Some(only()?.1)).copied()
    }

    fn with_printed(&self, mut lines: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
        if !self.figure.values.is_empty() {
            lines.push(self.figure.values.values().copied().collect());
        }
        lines
    }

    /// The values of all lines at one place, normalised.
    fn values_at(&self, own: &[&Point<'_>], x_axis: &str, x: &str) -> Vec<Option<f64>> {
        let at = |line: &&str| {
            let is_here = |point: &&&Point<'_>| {
                point.values.get(self.axis) == Some(line) && (x_axis.is_empty() || point.values.get(x_axis) == Some(&x))
            };
            Some(own.iter().find(is_here)?.value(self.metric)?.0)
        };
        let values: Vec<Option<f64>> = self.lines.iter().map(at).collect();
        let known = || values.iter().flatten().copied();
        let better = |a: f64, b: f64| if self.metric.is_better(b, a) { b } else { a };
        let worse = |a: f64, b: f64| if self.metric.is_better(b, a) { a } else { b };
        let one = match self.figure.relative.as_deref() {
            None => Some(1.0),
            Some("best") => known().reduce(better),
            Some("worst") => known().reduce(worse),
            Some(value) => self.lines.iter().position(|line| *line == value).and_then(|at| values[at]),
        };
        let one = one.filter(|one| *one != 0.0);
        values.iter().map(|value| Some((*value)? / one?)).collect()
    }

    fn panel(&self, words: &str, rows: &[Vec<Option<f64>>], x_axis: &str, y: Axis) -> Panel {
        if let Some(unit) = self.unit {
            let places: Vec<f64> = self.x.iter().map(|x| place(x).0).collect();
            let ends =
                [places.iter().copied().fold(f64::INFINITY, f64::min), places.iter().copied().fold(0.0, f64::max)];
            let is_wide = ends[1] > 8.0 * ends[0] && ends[0] > 0.0;
            let x = if is_wide { Axis::log(x_axis, unit, ends) } else { Axis::linear(x_axis, unit, ends) };
            let mut panel = Panel::new(words, x.ticks_at(&places)).y(y);
            for (number, line) in self.lines.iter().enumerate() {
                let line_of = |value: &dyn Fn(usize) -> Option<f64>| {
                    let mut line: Vec<[f64; 2]> =
                        places.iter().enumerate().filter_map(|(at, x)| Some([*x, value(at)?])).collect();
                    line.sort_by(|[a, _], [b, _]| a.total_cmp(b));
                    line
                };
                let own = line_of(&|at| rows[at][number]);
                panel = panel.layer(styled(number, Layer::line(line, own).marked()));
                let printed = line_of(&|at| self.printed(line, self.x[at]));
                if !printed.is_empty() {
                    panel = panel.layer(Layer::line(&format!("{line}, printed"), printed).neutral());
                }
            }
            return panel;
        }
        let names = self.x.iter().map(|x| if *x == ALL { String::new() } else { (*x).to_owned() });
        let mut panel = Panel::new(words, Axis::names(x_axis, names.collect())).y(y);
        let width = BARS / self.lines.len() as f64;
        for (number, line) in self.lines.iter().enumerate() {
            let shift = (number as f64 + 0.5) * width - BARS / 2.0;
            let bars =
                rows.iter().enumerate().filter_map(|(at, values)| Some([at as f64 + 0.5 + shift, values[number]?]));
            panel = panel.layer(styled(number, Layer::bars(line, bars.collect(), width)));
        }
        let printed = self.lines.iter().enumerate().flat_map(|(number, line)| {
            let shift = (number as f64 + 0.5) * width - BARS / 2.0;
            let at = move |(at, x): (usize, &&str)| Some([at as f64 + 0.5 + shift, self.printed(line, x)?]);
            self.x.iter().enumerate().filter_map(at)
        });
        panel.layer(Layer::points("printed", printed.collect()).neutral())
    }
}

#[cfg(test)]
mod tests;
