//! Lines of a panel: what is hidden by another line is drawn wider below it, and names lie next to their lines.

use crate::area::{Area, SMALL, line, text};
use crate::colour::Colour;
use crate::panel::{Join, Panel, Series};
use crate::scene::{Anchor, Mark, fitted, text_width};

/// Width of a line that no other one hides, in pixels, and what each line above it adds.
const WIDTH: f64 = 2.0;
const WIDER: f64 = 3.5;
/// Lines above that count.
const ABOVE_MAX: usize = 3;
/// Places at which two lines are compared.
const SAMPLES: usize = 64;
/// Lines that are this near are one to the eye, in pixels.
const NEAR: f64 = 2.5;
/// Longest name next to a line, in pixels: others lose their middle.
const NAME_MAX: f64 = 150.0;
/// From a line to its name, and from a name to the next one below, in pixels.
const GAP: f64 = 22.0;
const PITCH: f64 = 15.0;

/// A series in its place.
struct Placed<'a> {
    series: &'a Series,
    colour: Colour,
    points: Vec<[f64; 2]>,
}

fn placed<'a>(panel: &'a Panel, area: Area) -> Vec<Placed<'a>> {
    let place = |(number, series): (usize, &'a Series)| {
        let corners = series.corners(&panel.x, &panel.y);
        let points = corners.into_iter().map(|[x, y]| [area.x(x), area.y(y)]).collect();
        Placed { series, colour: series.colour(number), points }
    };
    panel.series().map(place).collect()
}

/// What is drawn so that it needs a word.
#[derive(Clone, Copy, Default)]
pub(crate) struct Unusual {
    /// Lines are wider than others.
    wide: bool,
    /// Bars are higher than their values.
    raised: bool,
}

impl Unusual {
    pub(crate) fn and(self, other: Self) -> Self {
        Self { wide: self.wide || other.wide, raised: self.raised || other.raised }
    }
    /// What stands below the figure.
    pub(crate) fn words(self) -> Option<String> {
        let wide = self.wide.then(|| "a wider line lies below the narrower ones that it nearly equals".to_owned());
        let raised = self.raised.then(|| format!("bars are at least {BAR_MIN} pixels high, so that none is missing"));
        let words: Vec<String> = wide.into_iter().chain(raised).collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

/// Draws all series.
pub(crate) fn curves(marks: &mut Vec<Mark>, panel: &Panel, area: Area) -> Unusual {
    let all = placed(panel, area);
    let mut unusual = Unusual::default();
    for (i, own) in all.iter().enumerate() {
        if own.series.join == Join::Bars {
            let rects = bars(own.series, panel, area);
            unusual.raised |= is_raised(own.series, panel, area);
            marks.push(Mark::Fill { rects: striped(own.series, rects), colour: own.colour });
            continue;
        }
        if own.points.len() == 1 || own.series.join == Join::Points {
            marks.push(Mark::Dots { centres: own.points.clone(), radius: 2.5, colour: own.colour });
            continue;
        }
        let foot = area.top + area.height;
        let above = all[i + 1..].iter().filter(|other| hides(other, own, foot)).count().min(ABOVE_MAX);
        let width = WIDTH + WIDER * above as f64;
        unusual.wide |= above > 0;
        let dash = if own.series.is_dashed { 4.0 } else { 0.0 };
        marks.push(Mark::Line { points: thinned(&own.points), width, colour: own.colour, dash });
        if own.series.is_marked {
            let centres = own.series.points.iter().map(|[x, y]| [area.x(panel.x.place(*x)), area.y(panel.y.place(*y))]);
            marks.push(Mark::Dots { centres: centres.collect(), radius: 1.5 + width / 2.0, colour: own.colour });
        }
    }
    unusual
}

/// Least height of a bar in pixels, so that what is next to nothing can be told from what is not there.
const BAR_MIN: f64 = 2.0;

fn is_raised(series: &Series, panel: &Panel, area: Area) -> bool {
    series.points.iter().any(|[_, y]| panel.y.place(*y) * area.height < BAR_MIN / 2.0)
}

/// Bars with their edges on whole pixels and one between them, so that all are equally sharp and none is a shadow of a line.
fn bars(series: &Series, panel: &Panel, area: Area) -> Vec<[f64; 4]> {
    let foot = area.top + area.height;
    let bar = |[x, y]: &[f64; 2]| {
        let at = |x: f64| area.x(panel.x.place(x)).round();
        let (left, right) = (at(x - series.bar / 2.0), at(x + series.bar / 2.0));
        let top = area.y(panel.y.place(*y)).round().min(foot - BAR_MIN);
        [left, top, (right - left - 1.0).max(1.0), foot - top]
    };
    series.points.iter().map(bar).collect()
}

/// Height of a stripe of a bar, and from one to the next, in pixels.
const STRIPE: f64 = 3.0;
const STRIPES: f64 = 5.0;

/// Bars of a dashed series are stripes, the first at the top: that is the value.
fn striped(series: &Series, rects: Vec<[f64; 4]>) -> Vec<[f64; 4]> {
    if !series.is_dashed {
        return rects;
    }
    let stripes = |[left, top, width, height]: [f64; 4]| {
        let count = (height / STRIPES).ceil() as usize;
        (0..count).map(move |number| {
            let from = number as f64 * STRIPES;
            [left, top + from, width, STRIPE.min(height - from)]
        })
    };
    rects.into_iter().flat_map(stripes).collect()
}

/// Points that lie apart.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let near = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < 0.4 && (a[1] - b[1]).abs() < 0.4;
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for (i, point) in points.iter().enumerate() {
        if i + 1 == points.len() || !kept.last().is_some_and(|before| near(*before, *point)) {
            kept.push(*point);
        }
    }
    kept
}

/// A line lies over a good part (a quarter) of another one. Steps at the foot of the panel do not count: they are where
/// nothing was.
fn hides(upper: &Placed<'_>, lower: &Placed<'_>, foot: f64) -> bool {
    if upper.series.is_dashed || !upper.series.join.is_line() {
        return false;
    }
    let (Some(first), Some(last)) = (lower.points.first(), lower.points.last()) else { return false };
    let at = |i: usize| first[0] + (last[0] - first[0]) * (i as f64 + 0.5) / SAMPLES as f64;
    let is_near = |x: f64| {
        let (Some(a), Some(b)) = (height(&upper.points, x), height(&lower.points, x)) else { return false };
        (a - b).abs() < NEAR && !(lower.series.join == Join::Steps && b > foot - NEAR)
    };
    4 * (0..SAMPLES).filter(|i| is_near(at(*i))).count() >= SAMPLES
}

/// Where a line is at `x`.
fn height(points: &[[f64; 2]], x: f64) -> Option<f64> {
    let pair = points.windows(2).find(|pair| pair[0][0] <= x && x <= pair[1][0])?;
    let [[x0, y0], [x1, y1]] = [pair[0], pair[1]];
    Some(if x1 > x0 { y0 + (y1 - y0) * (x - x0) / (x1 - x0) } else { y1 })
}

/// Whether the names of the lines are next to them: of a single line only the legend tells.
fn is_named(panel: &Panel) -> bool {
    panel.series().filter(|(_, series)| series.join.is_line()).count() > 1
}

/// Room for the names of the lines at the right of the area, in pixels.
pub(crate) fn names_width(panel: &Panel) -> f64 {
    if !is_named(panel) {
        return 0.0;
    }
    let widths = panel.series().map(|(_, series)| text_width(&series.name, SMALL));
    GAP + widths.fold(0.0, f64::max).min(NAME_MAX)
}

/// The name of each line at its right end, with a sample of the line that leads there.
pub(crate) fn names(marks: &mut Vec<Mark>, panel: &Panel, area: Area) {
    if !is_named(panel) {
        return;
    }
    let mut ends: Vec<(f64, f64, &Series, Colour)> = Vec::new();
    for Placed { series, colour, points } in placed(panel, area) {
        if let (Some([x, y]), false) = (points.last(), !series.join.is_line()) {
            ends.push((*x, *y, series, colour));
        }
    }
    ends.sort_by(|a, b| a.1.total_cmp(&b.1));
    let heights = spread(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), [area.top, area.top + area.height]);
    let right = area.left + area.width;
    for ((x, y, series, colour), height) in ends.into_iter().zip(heights) {
        let dash = if series.is_dashed { 4.0 } else { 0.0 };
        if x < right - 1.0 {
            marks.push(Mark::Line { points: vec![[x, y], [right, y]], width: 1.0, colour, dash: 2.0 });
        }
        let points = vec![[right, y], [right + GAP - 4.0, height]];
        marks.push(Mark::Line { points, width: WIDTH, colour, dash });
        marks.push(text([right + GAP, height + 4.0], SMALL, Anchor::Start, &fitted(&series.name, SMALL, NAME_MAX)));
    }
}

/// Heights in their order (ascending), a line of text apart at least, as near to the wanted ones as that allows, and within
/// bounds if they fit: those that are too near to each other form a group around their mean.
fn spread(wanted: &[f64], [top, bottom]: [f64; 2]) -> Vec<f64> {
    // Groups: how many there are, and where the first would be.
    let mut groups: Vec<(usize, f64)> = Vec::new();
    for height in wanted {
        let mut group = (1, *height);
        while let Some((count, first)) = groups.last().copied()
            && first + PITCH * count as f64 > group.1
        {
            groups.pop();
            let all = (count + group.0) as f64;
            let shifted = group.1 - PITCH * count as f64;
            group = (count + group.0, (first * count as f64 + shifted * group.0 as f64) / all);
            let most = bottom - PITCH * (all - 1.0);
            group.1 = group.1.min(most).max(top);
        }
        groups.push(group);
    }
    groups.iter().flat_map(|(count, first)| (0..*count).map(move |i| first + PITCH * i as f64)).collect()
}

/// From the beginning of a sample to its name, and behind the name, in pixels.
const SAMPLE: f64 = 23.0;
const BEHIND: f64 = 14.0;

/// What an entry of a legend takes, in pixels.
fn entry_width(series: &Series) -> f64 {
    SAMPLE + text_width(&series.name, SMALL) + BEHIND
}

/// A sample of a series and its name.
fn entry(marks: &mut Vec<Mark>, series: &Series, colour: Colour, [x, y]: [f64; 2]) {
    if series.join == Join::Points {
        marks.push(Mark::Dots { centres: vec![[x + 9.0, y - 4.0]], radius: 2.5, colour });
    } else if series.join == Join::Bars {
        marks.push(Mark::Fill { rects: striped(series, vec![[x + 4.0, y - 11.0, 10.0, 13.0]]), colour });
    } else if series.is_dashed {
        let points = vec![[x, y - 4.0], [x + 18.0, y - 4.0]];
        marks.push(Mark::Line { points, width: 2.5, colour, dash: 4.0 });
    } else {
        marks.push(line(vec![[x, y - 4.0], [x + 18.0, y - 4.0]], 2.5, colour));
    }
    marks.push(text([x + SAMPLE, y], SMALL, Anchor::Start, &series.name));
}

/// Samples and names above the area, so that they never lie on the data: of series whose names are not next to them.
pub(crate) fn legend(marks: &mut Vec<Mark>, panel: &Panel, area: Area, has_names: bool) {
    let mut x = area.left;
    for (number, series) in panel.series() {
        if series.join.is_line() && has_names && is_named(panel) {
            continue;
        }
        entry(marks, series, series.colour(number), [x, area.top - 8.0]);
        x += entry_width(series);
    }
}

/// The legend of a panel fits above it; `has_names` as in [`legend`].
pub(crate) fn legend_fits(panel: &Panel, width: f64, has_names: bool) -> bool {
    let series = panel.series().filter(|(_, series)| !(has_names && series.join.is_line() && is_named(panel)));
    series.map(|(_, series)| entry_width(series)).sum::<f64>() <= width + BEHIND
}

/// One legend for several panels whose series of the same number have the same name, in lines of this width at most, the first
/// one at `top`; the height of a line is [`PITCH`]. Nothing if names differ.
pub(crate) fn shared_legend(panels: &[&Panel], [left, top]: [f64; 2], width: f64) -> Option<(Vec<Mark>, f64)> {
    let mut entries: std::collections::BTreeMap<usize, &Series> = std::collections::BTreeMap::new();
    for (number, series) in panels.iter().flat_map(|panel| panel.series()) {
        if entries.entry(number).or_insert(series).name != series.name {
            return None;
        }
    }
    let (mut marks, mut x, mut y) = (Vec::new(), left, top);
    for (number, series) in entries {
        if x > left && x + entry_width(series) - BEHIND > left + width {
            (x, y) = (left, y + PITCH);
        }
        entry(&mut marks, series, series.colour(number), [x, y]);
        x += entry_width(series);
    }
    Some((marks, y + PITCH - top))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_apart_near_their_lines_and_inside() {
        assert_eq!(spread(&[10.0, 50.0], [0.0, 100.0]), [10.0, 50.0]);
        assert_eq!(spread(&[50.0, 50.0], [0.0, 100.0]), [42.5, 57.5]);
        assert_eq!(spread(&[99.0, 100.0, 100.0], [0.0, 100.0]), [70.0, 85.0, 100.0]);
        assert_eq!(spread(&[0.0, 0.0, 20.0], [0.0, 100.0]), [0.0, 15.0, 30.0]);
        for seed in 0..50u32 {
            let mut wanted: Vec<f64> = (0..7).map(|i| f64::from((seed * 37 + i * i * 53) % 200)).collect();
            wanted.sort_by(f64::total_cmp);
            let heights = spread(&wanted, [0.0, 200.0]);
            assert!(heights.windows(2).all(|pair| pair[1] - pair[0] >= PITCH - 1e-9), "{wanted:?} {heights:?}");
            assert!(heights[0] >= 0.0 && heights[6] <= 200.0 + 1e-9, "{wanted:?} {heights:?}");
        }
    }

    fn axis(high: f64) -> crate::Axis {
        crate::Axis::linear("x", crate::AxisUnit::Count, [0.0, high])
    }

    const AREA: Area = Area { left: 0.0, top: 0.0, width: 500.0, height: 200.0 };

    #[test]
    fn bars_lie_on_whole_pixels_and_none_is_too_low_to_see() {
        let values = [0.0, 0.1, 0.6, 33.3, 100.0].iter().enumerate().map(|(i, y)| [i as f64 + 0.37, *y]).collect();
        let panel = Panel::new("p", axis(7.0)).layer(crate::Layer::bars("b", values, 0.113));
        let (_, series) = panel.series().next().unwrap();
        let rects = bars(series, &panel, AREA);
        assert!(rects.iter().flatten().all(|edge| edge.fract() == 0.0), "{rects:?}");
        let heights: Vec<f64> = rects.iter().map(|rect| rect[3]).collect();
        assert_eq!(heights, [2.0, 2.0, 2.0, 67.0, 200.0]);
        assert!(rects.iter().all(|[left, top, width, height]| *left >= 0.0 && *width >= 1.0 && top + height == 200.0));
    }

    #[test]
    fn what_is_unusual_is_explained_and_nothing_else() {
        let words = |layers: Vec<crate::Layer>| {
            let panel = layers.into_iter().fold(Panel::new("p", axis(1.0)), Panel::layer);
            curves(&mut Vec::new(), &panel, AREA).words().unwrap_or_default()
        };
        let line = |foot: f64| crate::Layer::line("l", vec![[0.0, foot], [1.0, 90.0]]);
        let bar = |height: f64| crate::Layer::bars("b", vec![[0.5, height]], 0.5);
        assert_eq!(words(vec![line(10.0), line(80.0), bar(1.0)]), "");
        assert!(words(vec![line(10.0), line(10.0)]).starts_with("a wider line"));
        assert!(words(vec![bar(0.1)]).starts_with("bars are at least 2 pixels high"));
    }

    #[test]
    fn line_under_another_is_wider() {
        let widths = |lines: &[[f64; 2]]| -> Vec<f64> {
            let mut panel = Panel::new("p", crate::Axis::linear("x", crate::AxisUnit::Count, [0.0, 1.0]));
            for [from, to] in lines {
                panel = panel.layer(crate::Layer::line("l", vec![[0.0, *from], [1.0, *to]]));
            }
            let mut marks = Vec::new();
            curves(&mut marks, &panel, Area { left: 0.0, top: 0.0, width: 500.0, height: 200.0 });
            let width = |mark: &Mark| if let Mark::Line { width, .. } = mark { *width } else { 0.0 };
            marks.iter().map(width).collect()
        };
        assert_eq!(widths(&[[10.0, 90.0], [10.0, 90.0], [90.0, 10.0]]), [5.5, 2.0, 2.0]);
        assert_eq!(widths(&[[10.0, 90.0], [10.0, 90.0], [10.5, 90.5]]), [9.0, 5.5, 2.0]);
    }
}
