//! Do figures hold together with any data: nothing outside, nothing that is not a number?

use nandlab_plot::{Axis, AxisUnit, Figure, HeatMap, Layer, Mark, Panel, Scene};

/// A panel of every kind.
fn figure(points: &[[f64; 2]], counts: &[u64]) -> Figure {
    let low = points.iter().map(|point| point[0]).fold(f64::MAX, f64::min);
    let high = points.iter().map(|point| point[0]).fold(f64::MIN, f64::max);
    let most = counts.iter().copied().max().unwrap_or(0);
    let heat = HeatMap { columns: counts.len(), rows: 1, counts: counts.to_vec(), most, of: "things".to_owned() };
    let long = "a title that is much longer than any panel could ever be, because somebody did not think of its width";
    Figure::new("<a & b>", long)
        .row(vec![Panel::new(long, Axis::linear("time", AxisUnit::Time, [low, high])).layer(Layer::Heat(heat))])
        .row(vec![
            Panel::new("line", Axis::log("size", AxisUnit::Bytes, [low, high]))
                .layer(Layer::line("one", points.to_vec())),
            Panel::new("steps", Axis::log("time", AxisUnit::Time, [low, high]))
                .layer(Layer::steps("one", points.to_vec()).dashed())
                .layer(Layer::points("two", points.to_vec())),
        ])
        .row(vec![Panel::new("empty", Axis::linear("n", AxisUnit::Count, [0.0, 0.0])).note("nothing")])
}

fn cases() -> [Figure; 4] {
    [
        figure(&[[4096.0, 10.0], [65_536.0, 40.0], [1e9, 90.0]], &[0, 1, 2, 1_000_000]),
        figure(&[[1.0, 100.0]], &[1]),
        figure(&[], &[]),
        figure(&[[0.0, 0.0], [0.0, 0.0], [1e18, 1e18]], &[0, 0, 0]),
    ]
}

fn places(scene: &Scene) -> Vec<[f64; 2]> {
    let of = |mark: &Mark| match mark {
        Mark::Fill { rects, .. } => rects.iter().flat_map(|[x, y, w, h]| [[*x, *y], [x + w, y + h]]).collect(),
        Mark::Line { points, .. } => points.clone(),
        Mark::Dots { centres, .. } => centres.clone(),
        Mark::Text { at, .. } => vec![*at],
    };
    scene.marks.iter().flat_map(of).collect()
}

#[test]
fn everything_lies_inside_the_picture() {
    for figure in cases() {
        let scene = figure.scene();
        for [x, y] in places(&scene) {
            assert!((0.0..=scene.width).contains(&x) && (0.0..=scene.height).contains(&y), "{x} {y}");
        }
    }
}

#[test]
fn text_never_reaches_over_the_edge_or_over_another_one() {
    for figure in cases() {
        let mut boxes: Vec<([f64; 4], String)> = Vec::new();
        for mark in figure.scene().marks {
            let Mark::Text { at: [x, y], size, anchor, text, upwards } = mark else { continue };
            assert!(size >= 12.0, "{text}");
            let width = text.chars().count() as f64 * size * 0.602;
            let start = -width * [0.0, 0.5, 1.0][anchor as usize];
            let (left, top, right, bottom) = if upwards {
                (x - size * 0.75, y - start - width, x, y - start)
            } else {
                (x + start, y - size * 0.75, x + start + width, y)
            };
            assert!(left >= 0.0 && right <= 1000.0, "`{text}` from {left} to {right}");
            for (other, name) in &boxes {
                let apart = right <= other[0] || other[2] <= left || bottom <= other[1] || other[3] <= top;
                assert!(apart, "`{text}` lies over `{name}`");
            }
            boxes.push(([left, top, right, bottom], text));
        }
    }
}

#[test]
fn every_rendering_is_whole() {
    for figure in cases() {
        let svg = figure.scene().svg();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.contains("&lt;a &amp; b&gt;") && !svg.contains("<a & b>"));
        assert!(figure.scene().png().unwrap().starts_with(b"\x89PNG"));
        let pdf = String::from_utf8_lossy(&figure.scene().pdf()).into_owned();
        assert!(pdf.ends_with("%%EOF") && !pdf.contains("NaN") && !pdf.contains("inf"), "{pdf}");
        for width in [0, 40, 61, 100, 200] {
            let text = figure.terminal(width, false);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= width.max(40), "{widest} columns instead of {width}:\n{text}");
        }
    }
}

#[test]
fn panels_of_a_grid_are_equally_wide() {
    let panel = || Panel::new("p", Axis::linear("x", AxisUnit::Count, [0.0, 1.0]));
    let axes = |figure: Figure| -> Vec<f64> {
        // The frame of a panel is the only line with three corners.
        let frame = |mark: &Mark| match mark {
            Mark::Line { points, .. } if points.len() == 3 => Some(points[2][0] - points[0][0]),
            _ => None,
        };
        figure.scene().marks.iter().filter_map(frame).collect()
    };
    let widths = axes(Figure::new("t", "s").grid((0..5).map(|_| panel()).collect(), 3));
    assert_eq!(widths.len(), 5);
    assert!(widths.iter().all(|width| (width - widths[0]).abs() < 1e-9), "{widths:?}");
    assert!(widths[0] < 1000.0 / 3.0, "three stand side by side: {widths:?}");
    let widths = axes(Figure::new("t", "s").row(vec![panel(), panel()]).row(vec![panel()]));
    assert!(widths[2] > 1.5 * widths[0], "a row of its own is as wide as all: {widths:?}");
}
