//! What went on during the runs of a sweep: means over equally many requests, one after the other.

use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};

use super::figures::{Data, Datum, Head, LINES, Shown, ZOOMED, laid_out, left_out, styled};
use super::metric::{in_unit, suffix};
use super::points::Points;
use crate::course::Window;
use crate::text::{capital, plural};

/// Panels of a picture, points of all its lines, so that a page stays small, and of one line.
const PANELS: usize = 6;
const POINTS: usize = 800;
const PER_LINE: [usize; 2] = [12, 32];
/// Windows in the quarters that are compared.
const QUARTERS: usize = 4;
/// A change by less than this is none: parts, and points for percentages.
const SETTLED: f64 = 0.05;
const SETTLED_POINTS: f64 = 1.0;

/// What is shown of a window.
struct Quantity {
    /// Of files.
    name: &'static str,
    words: &'static str,
    unit: AxisUnit,
    of: fn(&Window) -> Option<f64>,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity { name: "response", words: "mean response time", unit: AxisUnit::Time, of: |window| window.response_ns },
    Quantity {
        name: "hits",
        words: "page hit ratio",
        unit: AxisUnit::Percent,
        of: |window| window.hits.map(|hits| 100.0 * hits),
    },
    Quantity {
        name: "waf",
        words: "write amplification (programs per page of the host)",
        unit: AxisUnit::Count,
        of: |window| window.waf,
    },
    Quantity { name: "free", words: "free blocks", unit: AxisUnit::Count, of: |window| Some(window.free_blocks) },
    Quantity { name: "queue", words: "requests under way", unit: AxisUnit::Count, of: |window| window.queue },
];

/// A line: the compared value, the combination of the others, its windows.
struct Line<'p> {
    value: &'p str,
    within: &'p str,
    windows: Vec<Window>,
    /// The same in more windows, for files.
    fine: Vec<Window>,
}

/// A figure for each quantity: a panel for each combination of the other axes, a line for each compared value.
pub(super) fn all(points: &Points<'_>, compared: &str) -> Vec<Shown> {
    let (groups, values) = (points.groups(&[compared]), points.values(compared));
    let lines = groups.len().min(PANELS) * values.len().min(LINES);
    let most = (POINTS / lines.max(1)).clamp(PER_LINE[0], PER_LINE[1]) / QUARTERS * QUARTERS;
    let mut panels = Vec::new();
    for (within, group) in &groups {
        let line = |value| {
            let point = group.iter().find(|point| point.values.get(compared) == Some(&value));
            let course = point.and_then(|point| point.courses().next());
            let windows = |most| course.map_or_else(Vec::new, |course| course.windows(most));
            Line { value, within, windows: windows(most), fine: windows(usize::MAX) }
        };
        let lines = values.iter().map(|value| line(value.as_str()));
        panels.push((within.as_str(), lines.collect::<Vec<_>>()));
    }
    let seeds = if points.seeds > 1 { "; of the first seed" } else { "" };
    let show = |quantity: &Quantity| shown(quantity, compared, &panels, seeds);
    QUANTITIES.iter().filter_map(show).collect()
}

fn shown(quantity: &Quantity, compared: &str, all: &[(&str, Vec<Line<'_>>)], seeds: &str) -> Option<Shown> {
    let Quantity { name, words, unit, of } = quantity;
    let lines = || all.iter().flat_map(|(_, lines)| lines);
    let values = |line: &Line<'_>| -> Vec<f64> { line.windows.iter().filter_map(of).collect() };
    let last = lines().flat_map(|line| &line.windows).map(|window| window.requests).fold(0.0, f64::max);
    if lines().all(|line| values(line).is_empty()) {
        return None;
    }
    let y = Axis::fit(name, *unit, &lines().map(values).collect::<Vec<_>>());
    let panel = |(within, lines): &(&str, Vec<Line<'_>>)| {
        let mut panel = Panel::new(within, Axis::linear("requests", AxisUnit::Count, [0.0, last])).y(y.clone());
        for (number, line) in lines.iter().enumerate().take(LINES) {
            let at = |window: &Window| Some([window.requests, of(window)?]);
            let places = line.windows.iter().filter_map(at).collect();
            panel = panel.layer(styled(number, Layer::line(line.value, places)));
        }
        panel
    };
    let panels = all.iter().take(PANELS).map(panel).collect();
    let close = all.iter().take(ZOOMED).map(panel).collect();
    let number = |value: f64| Datum::number(in_unit(*unit, value), value);
    let names = [compared, "in"].map(Head::name);
    let quarters = ["first quarter", "last quarter"].map(|name| Head::of(name, suffix(*unit)));
    let mut data = Data { head: names.iter().cloned().chain(quarters).collect(), rows: Vec::new() };
    let numbers = [Head::name("requests"), Head::of(name, suffix(*unit))];
    let mut drawn = Data { head: names.into_iter().chain(numbers).collect(), rows: Vec::new() };
    for line in lines() {
        let names = [Datum::name(line.value), Datum::name(line.within)];
        let ends = (quarter(&line.windows, *of, 0), quarter(&line.windows, *of, QUARTERS - 1));
        if let (Some(first), Some(last)) = ends {
            data.rows.push(names.iter().cloned().chain([first, last].map(number)).collect());
        }
        for window in &line.fine {
            let value = of(window).map_or_else(Datum::default, number);
            let at = Datum::number(window.requests.to_string(), window.requests);
            drawn.rows.push(names.iter().cloned().chain([at, value]).collect());
        }
    }
    let title = format!("Over the run: {words}");
    let subtitle = format!("means over equally many requests, a point at the end of each{seeds}");
    let sentence = settled(quantity, &lines().collect::<Vec<_>>()) + &left_out(all.len(), all.first()?.1.len(), PANELS);
    let zoom = Some(Figure::new(&title, &subtitle).grid(close, 1));
    let figure = Some(laid_out(&title, &subtitle, panels));
    Some(Shown { name: format!("run-{name}"), title, sentence, figure, zoom, data, drawn: Some(drawn) })
}

/// The mean over the windows of a quarter, from 0; nothing if there are too few.
fn quarter(windows: &[Window], of: fn(&Window) -> Option<f64>, number: usize) -> Option<f64> {
    let edge = |number: usize| windows.len() * number / QUARTERS;
    let values: Vec<f64> = windows[edge(number)..edge(number + 1)].iter().filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// How many lines still change in the second half.
fn settled(quantity: &Quantity, lines: &[&Line<'_>]) -> String {
    let Quantity { words, unit, of, .. } = quantity;
    let (mut counted, mut changing) = (0, 0);
    let mut most: Option<(f64, &Line<'_>)> = None;
    for line in lines {
        let quarters = (quarter(&line.windows, *of, QUARTERS - 2), quarter(&line.windows, *of, QUARTERS - 1));
        let (Some(before), Some(last)) = quarters else { continue };
        let change = if *unit == AxisUnit::Percent { last - before } else { 100.0 * (last / before - 1.0) };
        if !change.is_finite() {
            continue;
        }
        counted += 1;
        let none = if *unit == AxisUnit::Percent { SETTLED_POINTS } else { 100.0 * SETTLED };
        changing += usize::from(change.abs() > none);
        if most.is_none_or(|(known, _)| change.abs() > known.abs()) {
            most = Some((change, line));
        }
    }
    let Some((change, line)) = most else { return format!("{} of too few requests to say more.", capital(words)) };
    let (none, unit) = if *unit == AxisUnit::Percent {
        (plural(SETTLED_POINTS as u64, "percentage point"), "percentage points")
    } else {
        (format!("{} %", 100.0 * SETTLED), "%")
    };
    let within = if line.within.is_empty() { String::new() } else { format!(", {}", line.within) };
    format!(
        "From the third to the last quarter of the requests the {words} changes by more than {none} in {changing} of {}, and \
         by {change:+.1} {unit} in the one that changes most ({}{within}).",
        plural(counted, "line"),
        line.value
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(hits: &[f64]) -> Line<'static> {
        let window = |(at, hits): (usize, &f64)| Window {
            requests: (at + 1) as f64,
            response_ns: None,
            hits: Some(*hits),
            waf: None,
            free_blocks: 0.0,
            queue: None,
        };
        Line { value: "lru", within: "page", windows: hits.iter().enumerate().map(window).collect(), fine: Vec::new() }
    }

    #[test]
    fn quarters_tell_what_still_changes() {
        let (still, rising) = (line(&[0.1, 0.3, 0.5, 0.5, 0.5, 0.5, 0.5, 0.509]), line(&[0.1, 0.2, 0.3, 0.4]));
        let of = QUANTITIES[1].of;
        assert_eq!(quarter(&still.windows, of, 0), Some(20.0));
        assert!((quarter(&still.windows, of, 3).unwrap() - 50.45).abs() < 1e-9);
        let text = settled(&QUANTITIES[1], &[&still, &rising]);
        assert!(
            text.contains("more than 1 percentage point in 1 of 2 lines, and by +10.0 percentage points in the one"),
            "{text}"
        );
        assert!(settled(&QUANTITIES[2], &[&still]).contains("too few"), "there were no writes");
    }
}
