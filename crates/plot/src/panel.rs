//! A panel: two axes and what lies between them.

use crate::axis::{Axis, AxisUnit};
use crate::colour::{Colour, NEUTRAL, PALETTE};

/// How the points of a series are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Join {
    /// Straight lines.
    Line,
    /// The value holds until the next point.
    Steps,
    /// Not at all.
    Points,
    /// Not at all: each is the top of a bar from the foot of the panel.
    Bars,
}

impl Join {
    /// It joins its points, so that a name at the end of them says which they are.
    pub(crate) const fn is_line(self) -> bool {
        matches!(self, Self::Line | Self::Steps)
    }
}

/// Points in order of x.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) name: String,
    pub(crate) points: Vec<[f64; 2]>,
    pub(crate) join: Join,
    /// Width of bars, in units of the x axis.
    pub(crate) bar: f64,
    pub(crate) is_dashed: bool,
    /// Its points are marked.
    pub(crate) is_marked: bool,
    /// Drawn in grey: a yardstick, none of those that are compared.
    pub(crate) is_neutral: bool,
}

/// Counts over the whole panel.
#[derive(Clone, Debug)]
pub struct HeatMap {
    /// Cells across.
    pub columns: usize,
    /// Cells up.
    pub rows: usize,
    /// `row * columns + column`, the lowest row first.
    pub counts: Vec<u64>,
    /// The count that is darkest: the same in panels that are to be compared.
    pub most: u64,
    /// What is counted, for the legend.
    pub of: String,
}

impl HeatMap {
    /// Shades are logarithmic: 0 for no count, 1 for a single one, `levels` for the most.
    pub(crate) fn level(&self, count: u64, levels: usize) -> usize {
        if count == 0 {
            return 0;
        }
        if self.most <= 1 {
            return levels;
        }
        let share = crate::log::log2(count as f64) / crate::log::log2(self.most as f64);
        1 + ((share * (levels - 1) as f64).round() as usize).min(levels - 1)
    }
}

/// Something in a panel.
#[derive(Clone, Debug)]
pub enum Layer {
    /// A line, steps or points.
    Series(Series),
    /// A heat map.
    Heat(HeatMap),
}

impl Layer {
    fn series(name: &str, points: Vec<[f64; 2]>, join: Join) -> Self {
        Self::Series(Series {
            name: name.to_owned(),
            points,
            join,
            bar: 0.0,
            is_dashed: false,
            is_marked: false,
            is_neutral: false,
        })
    }
    /// Points joined by straight lines.
    pub fn line(name: &str, points: Vec<[f64; 2]>) -> Self {
        Self::series(name, points, Join::Line)
    }
    /// Values that hold until the next point.
    pub fn steps(name: &str, points: Vec<[f64; 2]>) -> Self {
        Self::series(name, points, Join::Steps)
    }
    /// Single points.
    pub fn points(name: &str, points: Vec<[f64; 2]>) -> Self {
        Self::series(name, points, Join::Points)
    }
    /// Bars around their points, of a width in units of the x axis.
    pub fn bars(name: &str, points: Vec<[f64; 2]>, width: f64) -> Self {
        Self::series(name, points, Join::Bars).with(|series| series.bar = width)
    }
    fn with(mut self, change: impl FnOnce(&mut Series)) -> Self {
        if let Self::Series(series) = &mut self {
            change(series);
        }
        self
    }
    /// The same, dashed; bars in stripes.
    #[must_use]
    pub fn dashed(self) -> Self {
        self.with(|series| series.is_dashed = true)
    }
    /// The same, a dot at each point.
    #[must_use]
    pub fn marked(self) -> Self {
        self.with(|series| series.is_marked = true)
    }
    /// The same in grey: a yardstick, none of those that are compared.
    #[must_use]
    pub fn neutral(self) -> Self {
        self.with(|series| series.is_neutral = true)
    }
}

/// A panel of a figure: two axes, and the series, marks or heat map between them.
#[derive(Clone, Debug)]
pub struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) layers: Vec<Layer>,
    /// Shown in the middle, for a panel with nothing to draw.
    pub(crate) note: Option<String>,
}

impl Panel {
    /// A panel without layers; its y axis is in percent until it gets [another](Self::y).
    pub fn new(title: &str, x: Axis) -> Self {
        let y = Axis::linear("share", AxisUnit::Percent, [0.0, 100.0]);
        Self { title: title.to_owned(), x, y, layers: Vec::new(), note: None }
    }
    /// Sets the y axis.
    #[must_use]
    pub fn y(mut self, y: Axis) -> Self {
        self.y = y;
        self
    }
    /// Adds a layer in front of the others. A series without points is not shown, but its colour stays its own.
    #[must_use]
    pub fn layer(mut self, layer: Layer) -> Self {
        self.layers.push(layer);
        self
    }
    /// Says in the middle why there is nothing to see.
    #[must_use]
    pub fn note(mut self, note: &str) -> Self {
        self.note = Some(note.to_owned());
        self
    }
    /// The series that have points, with their numbers among all.
    pub(crate) fn series(&self) -> impl Iterator<Item = (usize, &Series)> {
        let series = self.layers.iter().filter_map(|layer| match layer {
            Layer::Series(series) => Some(series),
            Layer::Heat(_) => None,
        });
        series.enumerate().filter(|(_, series)| !series.points.is_empty())
    }
    /// The heat map, if there is one.
    pub(crate) fn heat(&self) -> Option<&HeatMap> {
        self.layers.iter().find_map(|layer| match layer {
            Layer::Heat(heat) => Some(heat),
            Layer::Series(_) => None,
        })
    }
}

impl Series {
    /// Its colour, if it is the one with this number.
    pub(crate) fn colour(&self, number: usize) -> Colour {
        if self.is_neutral { NEUTRAL } else { PALETTE[number % PALETTE.len()] }
    }
    /// The corners of the line: places from 0 to 1 on both axes.
    pub(crate) fn corners(&self, x: &Axis, y: &Axis) -> Vec<[f64; 2]> {
        let mut corners: Vec<[f64; 2]> = Vec::new();
        for [a, b] in &self.points {
            let corner = [x.place(*a), y.place(*b)];
            if let (Join::Steps, Some(last)) = (self.join, corners.last().copied()) {
                corners.push([corner[0], last[1]]);
            }
            corners.push(corner);
        }
        corners
    }
}
