//! The figures of a report on a sweep, each with the numbers behind it and a sentence that says what is seen.

use std::collections::BTreeSet;

use nandlab_plot::{Axis, AxisUnit, Figure, Layer, PALETTE, Panel};

use super::metric::{Metric, TAIL, WRITES, suffix};
use super::points::{Point, Points, median};
use super::winners::{Groups, Winners};
use crate::text::{capital, place};

/// Panels of a figure at most.
pub(super) const PANELS: usize = 12;
/// Lines of a panel at most: the palette, and the palette dashed.
pub(super) const LINES: usize = 2 * PALETTE.len();
/// A table of numbers.
pub(super) struct Data {
    pub(super) head: Vec<Head>,
    /// Text for people, the exact number, and how good it is: 0 (best) to 1.
    pub(super) rows: Vec<Vec<Datum>>,
}

/// The name of a column, and for programs the unit of its exact numbers; empty for text and for numbers without a unit.
#[derive(Clone)]
pub(super) struct Head {
    pub(super) text: String,
    unit: &'static str,
}

impl Head {
    pub(super) fn name(text: &str) -> Self {
        Self { text: text.to_owned(), unit: "" }
    }
    pub(super) fn of(text: &str, unit: &'static str) -> Self {
        Self { text: text.to_owned(), unit }
    }
    /// With its unit, as in `mean_ns`.
    pub(super) fn with_unit(&self) -> String {
        let parts = [self.text.as_str(), self.unit];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
    }
}

#[derive(Clone, Default)]
pub(super) struct Datum {
    pub(super) text: String,
    pub(super) exact: String,
    pub(super) shade: Option<f64>,
}

impl Datum {
    pub(super) fn name(text: &str) -> Self {
        Self { text: text.to_owned(), exact: text.to_owned(), shade: None }
    }
    pub(super) fn is_number(&self) -> bool {
        self.exact.parse::<f64>().is_ok()
    }
    pub(super) fn number(text: String, exact: f64) -> Self {
        Self { text, exact: exact.to_string(), shade: None }
    }
}

/// A figure or a shaded table.
pub(super) struct Shown {
    /// Of files: letters and `-`.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) sentence: String,
    pub(super) figure: Option<Figure>,
    /// The same with more panels, to be looked at closely; nothing if it is the figure itself.
    pub(super) zoom: Option<Figure>,
    pub(super) data: Data,
    /// What is drawn, if the table is a summary of it.
    pub(super) drawn: Option<Data>,
}

/// Everything that these points can show.
pub(super) fn all(points: &Points<'_>, compared: &str, metrics: &[Metric]) -> Vec<Shown> {
    let mut shown: Vec<Shown> = metrics.iter().filter_map(|metric| against_best(points, compared, metric)).collect();
    shown.extend(metrics.iter().filter_map(|metric| every_combination(points, compared, metric)));
    if let Some((scale, unit)) = points.scale() {
        shown.extend(metrics.iter().filter_map(|metric| over_scale(points, compared, scale, unit, metric)));
    }
    let named = |name| metrics.iter().find(|metric| metric.name == name);
    if let (Some(tail), Some(writes)) = (named(TAIL), named(WRITES)) {
        shown.extend(front(points, compared, tail, writes));
    }
    shown
}

/// How far each value is from the best one of its combination, averaged over what is in neither axis of the table.
fn against_best(points: &Points<'_>, compared: &str, metric: &Metric) -> Option<Shown> {
    let across = points.axes.iter().map(|(axis, _)| axis.as_str()).filter(|axis| *axis != compared);
    let across = across.max_by_key(|axis| (*axis == "ftl", points.values(axis).len())).unwrap_or("");
    let columns: Vec<&str> =
        if across.is_empty() { vec![""] } else { points.values(across).iter().map(String::as_str).collect() };
    let groups = Groups::of(points, compared, metric)?;
    let (mut rows, mut without_factor) = (Vec::new(), BTreeSet::new());
    for value in points.values(compared) {
        let mut row = vec![Datum::name(value)];
        for column in &columns {
            let mut distances = Vec::new();
            for (at, group) in groups.whole.iter().enumerate() {
                let in_column = |point: &&&Point<'_>| across.is_empty() || point.values.get(across) == Some(column);
                let mut valued: Vec<(&str, f64)> = Vec::new();
                for point in group.iter().filter(in_column) {
                    if let (Some(name), Some((mean, _))) = (point.values.get(compared), point.value(metric)) {
                        valued.push((name, mean));
                    }
                }
                let best = valued.iter().map(|(_, v)| *v).reduce(|a, b| if metric.is_better(b, a) { b } else { a });
                let own = valued.iter().find(|(name, _)| name == value);
                let (Some(best), Some((_, own))) = (best, own) else { continue };
                // A mean over other combinations for some of them would not compare them.
                if valued.iter().all(|(_, value)| distance(metric, *value, best).is_some()) {
                    distances.extend(distance(metric, *own, best));
                } else {
                    without_factor.insert((*column, at));
                }
            }
            let mean = distances.iter().sum::<f64>() / distances.len() as f64;
            row.push(if distances.is_empty() { Datum::default() } else { shaded(metric, mean) });
        }
        rows.push(row);
    }
    let is_percent = metric.unit == AxisUnit::Percent;
    let unit = if is_percent { "points" } else { "times_best" };
    let columns = columns.into_iter().map(|column| Head::of(column, unit));
    let head = std::iter::once(Head::name(compared)).chain(columns).collect();
    let what = match metric.best() {
        _ if !is_percent => "times the best",
        "highest" => "percentage points below the best",
        _ => "percentage points above the best",
    };
    let rest = points.axes.len().saturating_sub(2);
    let mean = if rest > 0 { ", averaged over all other axes" } else { "" };
    let but = match without_factor.len() {
        0 => String::new(),
        1 => " (without one combination, in which a value is 0)".to_owned(),
        several => format!(" (without {several} combinations, in which a value is 0)"),
    };
    Some(Shown {
        name: format!("best-{}", metric.name),
        title: format!("{}: {what}{mean}{but}", capital(&metric.words)),
        sentence: Winners::of(points, compared, metric, &groups).sentence(metric, points.seeds),
        figure: None,
        data: Data { head, rows },
        zoom: None,
        drawn: None,
    })
}

/// The values of a metric in every combination of the other axes.
fn every_combination(points: &Points<'_>, compared: &str, metric: &Metric) -> Option<Shown> {
    let groups = points.groups(&[compared]);
    let mut data = Data { head: vec![Head::name("in")], rows: Vec::new() };
    data.head.extend(points.values(compared).iter().map(|value| Head::of(value, suffix(metric.unit))));
    for (name, group) in &groups {
        let find = |value: &String| group.iter().find(|point| point.values.get(compared) == Some(&value.as_str()));
        let values: Vec<_> = points.values(compared).iter().map(|value| find(value)?.value(metric)).collect();
        let means = values.iter().flatten().map(|(mean, _)| *mean);
        let Some(best) = means.reduce(|a, b| if metric.is_better(b, a) { b } else { a }) else { continue };
        let datum = |value: Option<(f64, Option<f64>)>| {
            let Some((mean, half)) = value else { return Datum::default() };
            let interval = half.map(|half| format!(" \u{b1} {}", metric.text(half))).unwrap_or_default();
            let shade = distance(metric, mean, best).and_then(|distance| shaded(metric, distance).shade);
            Datum { shade, ..Datum::number(metric.text(mean) + &interval, mean) }
        };
        data.rows.push(std::iter::once(Datum::name(name)).chain(values.into_iter().map(datum)).collect());
    }
    let combinations = data.rows.len();
    (combinations > 1).then(|| Shown {
        name: format!("each-{}", metric.name),
        title: format!("{}: every combination", capital(&metric.words)),
        sentence: format!("{combinations} combinations; the darker, the further from the best of its row."),
        figure: None,
        data,
        zoom: None,
        drawn: None,
    })
}

/// How far from the best: percentage points for ratios, else the logarithm of the factor; nothing if there is no factor (of
/// zero, or of another sign).
fn distance(metric: &Metric, own: f64, best: f64) -> Option<f64> {
    if metric.unit == AxisUnit::Percent {
        Some((best - own).abs())
    } else if own == best {
        Some(0.0)
    } else {
        Some((own / best).ln()).filter(|factor| factor.is_finite())
    }
}

fn shaded(metric: &Metric, distance: f64) -> Datum {
    let (text, exact, shade) = if metric.unit == AxisUnit::Percent {
        (format!("{distance:.1}"), distance, distance / 30.0)
    } else {
        (format!("{:.2}", distance.exp()), distance.exp(), distance.abs() / 3.0_f64.ln())
    };
    Datum { shade: Some(shade.clamp(0.0, 1.0)), ..Datum::number(text, exact) }
}

/// A metric over an axis of numbers: a panel for each combination of the rest, a line for each compared value.
fn over_scale(points: &Points<'_>, compared: &str, scale: &str, unit: AxisUnit, metric: &Metric) -> Option<Shown> {
    let at = |point: &Point<'_>| point.values.get(scale).map(|value| place(value).0);
    let groups = points.groups(&[compared, scale]);
    let (values, all_groups) = (points.values(compared), groups.len());
    let places: Vec<f64> = points.values(scale).iter().map(|value| place(value).0).collect();
    if places.is_empty() || compared == scale {
        return None;
    }
    let wide = places.iter().copied().fold(0.0, f64::max) > 8.0 * places[0] && places[0] > 0.0;
    let ends = [places.first().copied()?, places.last().copied()?];
    let mut data = Data { head: [compared, scale, "in"].map(Head::name).to_vec(), rows: Vec::new() };
    data.head.extend([metric.name.as_str(), "interval"].map(|name| Head::of(name, suffix(metric.unit))));
    let mut panels = Vec::new();
    let lines_of = |value: &String| {
        let own = points.all.iter().filter(|point| point.values.get(compared) == Some(&value.as_str()));
        own.filter_map(|point| Some(point.value(metric)?.0)).collect()
    };
    let y = Axis::fit(&metric.name, metric.unit, &values.iter().map(lines_of).collect::<Vec<_>>());
    for (name, group) in &groups {
        let x = if wide { Axis::log(scale, unit, ends) } else { Axis::linear(scale, unit, ends) };
        let mut panel = Panel::new(name, x.ticks_at(&places)).y(y.clone());
        for (number, value) in values.iter().enumerate() {
            let own = group.iter().filter(|point| point.values.get(compared) == Some(&value.as_str()));
            let mut line: Vec<_> = own.filter_map(|point| Some((at(point)?, point.value(metric)?, *point))).collect();
            line.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
            for (_, (mean, half), point) in &line {
                let interval = half.map_or_else(Datum::default, |half| Datum::number(metric.text(half), half));
                data.rows.push(vec![
                    Datum::name(value),
                    Datum::name(point.values.get(scale).copied().unwrap_or_default()),
                    Datum::name(name),
                    Datum::number(metric.text(*mean), *mean),
                    interval,
                ]);
            }
            if number < LINES {
                let line = line.iter().map(|(x, (y, _), _)| [*x, *y]).collect();
                panel = panel.layer(styled(number, Layer::line(value, line).marked()));
            }
        }
        panels.push(panel);
    }
    let title = format!("{} over {scale}", capital(&metric.words));
    let mut sentence = slope(points, scale, metric);
    sentence += &left_out(all_groups, values.len(), PANELS);
    let figure = laid_out(&title, "one panel for each combination of the other axes", panels);
    Some(Shown {
        name: format!("over-{scale}-{}", metric.name),
        title,
        sentence,
        figure: Some(figure),
        data,
        zoom: None,
        drawn: None,
    })
}

/// What more of the scale brings, at the median over all lines.
fn slope(points: &Points<'_>, scale: &str, metric: &Metric) -> String {
    let mut changes: Vec<(f64, String)> = Vec::new();
    for (name, group) in points.groups(&[scale]) {
        let mut valued: Vec<_> =
            group.iter().filter_map(|p| Some((place(p.values.get(scale)?).0, p.value(metric)?.0))).collect();
        valued.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        // Lines without one of the ends say nothing of the way between them.
        if valued.len() == points.values(scale).len()
            && let (Some((_, first)), Some((_, last))) = (valued.first(), valued.last())
        {
            let change = if metric.unit == AxisUnit::Percent { last - first } else { 100.0 * (last / first - 1.0) };
            if change.is_finite() {
                changes.push((change, name));
            }
        }
    }
    changes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let (Some((least, first)), Some((most, last))) = (changes.first(), changes.last()) else { return String::new() };
    let median = median(changes.iter().map(|(change, _)| *change).collect()).unwrap_or_default();
    let unit = if metric.unit == AxisUnit::Percent { "percentage points" } else { "%" };
    let values = points.values(scale);
    let (from, to) = (values.first().map_or("", String::as_str), values.last().map_or("", String::as_str));
    let mut text = format!("From {scale} {from} to {to} the {} changes by {median:+.1} {unit}", metric.words);
    if changes.len() > 1 {
        let lines = changes.len();
        text += &format!(", the median of {lines} lines from {least:+.1} ({first}) to {most:+.1} {unit} ({last})");
    }
    text + "."
}

/// Response times against write amplification, and the points that no other is better than in both.
fn front(points: &Points<'_>, compared: &str, time: &Metric, waf: &Metric) -> Option<Shown> {
    let scale = points.scale().map(|(scale, _)| scale);
    let apart: Vec<&str> =
        points.axes.iter().map(|(axis, _)| axis.as_str()).filter(|axis| Some(*axis) != scale).collect();
    let groups = points.groups(&apart);
    let mut data = Data { head: Vec::new(), rows: Vec::new() };
    data.head = apart.iter().copied().chain(scale).map(Head::name).collect();
    data.head.extend([
        Head::of(TAIL, suffix(time.unit)),
        Head::of(WRITES, suffix(waf.unit)),
        Head::name("on the front"),
    ]);
    let (mut panels, mut named) = (Vec::new(), Vec::new());
    for (name, group) in &groups {
        let places: Vec<_> = group.iter().filter_map(|p| Some((*p, p.value(time)?.0, p.value(waf)?.0))).collect();
        if places.is_empty() {
            continue;
        }
        let is_best = |a: f64, b: f64| !places.iter().any(|(_, x, y)| *x <= a && *y <= b && (*x < a || *y < b));
        let mut best: Vec<[f64; 2]> =
            places.iter().filter(|(_, x, y)| is_best(*x, *y)).map(|(_, x, y)| [*x, *y]).collect();
        best.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let xs = places.iter().map(|(_, x, _)| *x).collect();
        let ys = places.iter().map(|(.., y)| *y).collect();
        let x = Axis::fit("p99 of response times", AxisUnit::Time, &[xs]);
        let mut panel = Panel::new(name, x).y(Axis::fit("write amplification", AxisUnit::Count, &[ys]));
        for (number, value) in points.values(compared).iter().take(LINES).enumerate() {
            let own = places.iter().filter(|(point, ..)| point.values.get(compared) == Some(&value.as_str()));
            panel = panel.layer(styled(number, Layer::points(value, own.map(|(_, x, y)| [*x, *y]).collect())));
        }
        panels.push(panel.layer(Layer::line("front", best).neutral()));
        for (point, x, y) in &places {
            let on = is_best(*x, *y);
            let words = apart.iter().copied().chain(scale).map(|axis| point.values.get(axis).copied().unwrap_or("-"));
            let words: Vec<&str> = words.collect();
            if on {
                named.push(words.join(" "));
            }
            let mut row: Vec<Datum> = words.into_iter().map(Datum::name).collect();
            row.extend([Datum::number(time.text(*x), *x), Datum::number(waf.text(*y), *y)]);
            row.push(Datum::name(if on { "yes" } else { "no" }));
            data.rows.push(row);
        }
    }
    let shown = named.iter().take(12).cloned().collect::<Vec<_>>().join("; ");
    let more = if named.len() > 12 { format!(" and {} others", named.len() - 12) } else { String::new() };
    let title = "Response time against write amplification".to_owned();
    let each = scale.map_or_else(String::new, |scale| format!("; one panel for each value of {scale}"));
    let subtitle = format!("grey: what no other point beats in both{each}");
    let sentence = format!("No other point of its panel is better in both than: {shown}{more}.")
        + &left_out(groups.len(), points.values(compared).len(), PANELS);
    (!panels.is_empty()).then(|| Shown {
        name: "front".to_owned(),
        figure: Some(laid_out(&title, &subtitle, panels)),
        title,
        sentence,
        data,
        zoom: None,
        drawn: None,
    })
}

/// Figures do not hold everything; tables and files do, and zooming shows more.
pub(super) fn left_out(panels: usize, lines: usize, most: usize) -> String {
    let mut text = String::new();
    if panels > most {
        text += &format!(" Of {panels} panels the first {most} are drawn.");
    }
    if lines > LINES {
        text += &format!(" Of {lines} lines the first {LINES} are drawn.");
    }
    text
}

/// Panels that can be zoomed at most, so that a page stays small.
pub(super) const ZOOMED: usize = 24;

pub(super) fn styled(number: usize, layer: Layer) -> Layer {
    if number < PALETTE.len() { layer } else { layer.dashed() }
}

pub(super) fn laid_out(title: &str, subtitle: &str, panels: Vec<Panel>) -> Figure {
    let panels: Vec<Panel> = panels.into_iter().take(PANELS).collect();
    let columns = if panels.len() < 3 {
        1
    } else if panels.len() == 4 {
        2
    } else {
        3
    };
    Figure::new(title, subtitle).grid(panels, columns)
}
