//! A figure as numbers, for programs that draw it themselves: larger, or only a part of it.

use serde_json::{Value, json};

use crate::colour::{Colour, INK, NEUTRAL};
use crate::figure::Figure;
use crate::panel::{Join, Panel, Series};

/// Digits of a number that are kept: a picture ten times as large shows no more, if its axis begins at half of what it shows
/// or lower.
const DIGITS: usize = 5;

impl Figure {
    /// Its panels in order: `title`, the axes `x` and `y`, and `series` with their points, as JSON. Panels without series are
    /// left out. Numbers have five digits; colours are `#rrggbb`, or `ink` and `grey`, which differ on dark pages.
    pub fn data(&self) -> Value {
        let panels = self.rows.iter().flat_map(|row| &row.panels);
        panels.filter(|panel| panel.series().next().is_some()).map(Panel::data).collect()
    }
}

impl Panel {
    fn data(&self) -> Value {
        let series: Vec<Value> = self.series().map(|(number, series)| series.data(series.colour(number))).collect();
        json!({ "title": self.title, "x": self.x.data(), "y": self.y.data(), "series": series })
    }
}

impl Series {
    fn data(&self, colour: Colour) -> Value {
        let join = match self.join {
            Join::Line => "line",
            Join::Steps => "steps",
            Join::Points => "points",
            Join::Bars => "bars",
        };
        let colour = match colour {
            INK => "ink".to_owned(),
            NEUTRAL => "grey".to_owned(),
            [r, g, b] => format!("#{r:02x}{g:02x}{b:02x}"),
        };
        let of = |axis: usize| -> Vec<Value> { self.points.iter().map(|point| short(point[axis])).collect() };
        json!({
            "name": self.name, "colour": colour, "dashed": self.is_dashed, "marked": self.is_marked, "join": join,
            "bar": self.bar, "x": of(0), "y": of(1),
        })
    }
}

/// A number with few digits; whole ones without a point.
fn short(value: f64) -> Value {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if rounded.fract() == 0.0 && rounded.abs() < 9e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, AxisUnit, HeatMap, Layer};

    #[test]
    fn data_has_what_the_picture_has() {
        let heat = HeatMap { columns: 1, rows: 1, counts: vec![1], most: 1, of: "reads".to_owned() };
        let x = Axis::log("time", AxisUnit::Time, [1e3, 1e6]);
        let panel = Panel::new("left", x)
            .layer(Layer::steps("lru", vec![[1000.0, 0.0], [2000.0, 33.333_333_3]]))
            .layer(Layer::line("none", Vec::new()))
            .layer(Layer::points("fifo", vec![[1_234_567.0, 1.0]]).dashed())
            .layer(Layer::line("front", vec![[1.0, 2.0]]).neutral());
        let names = Panel::new("right", Axis::names("ram", vec!["1MiB".to_owned()])).layer(Layer::bars(
            "lru",
            vec![[0.5, 2.0]],
            0.8,
        ));
        let figure = Figure::new("a", "b")
            .row(vec![panel, names])
            .row(vec![Panel::new("heat", Axis::linear("x", AxisUnit::Count, [0.0, 1.0])).layer(Layer::Heat(heat))]);
        let data = figure.data();
        assert_eq!(data.as_array().map(Vec::len), Some(2), "a heat map has no series");
        let left = &data[0];
        assert_eq!(left["x"], json!({"label": "time", "unit": "time", "log": true, "ends": [1e3, 1e6], "names": []}));
        let names: Vec<&str> = left["series"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["lru", "fifo", "front"], "one without points is not shown");
        assert_eq!((&left["series"][0]["y"], &left["series"][1]["x"]), (&json!([0, 33.333]), &json!([1_234_600])));
        // The colour is that of its number among all: the second has no points.
        let colours = [0, 1, 2].map(|at| left["series"][at]["colour"].as_str().unwrap());
        assert_eq!(colours, ["#0072b2", "ink", "grey"]);
        assert_eq!(data[1]["x"]["names"], json!(["1MiB"]));
        assert_eq!(data[1]["series"][0]["bar"], json!(0.8));
    }
}
