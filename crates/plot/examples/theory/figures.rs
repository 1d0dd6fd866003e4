//! The pictures and the table of docs/theory.md, from the measured points.

use nandlab_plot::{Axis, AxisUnit, Figure, Layer, Panel};

use crate::formulas;

/// A line of docs/theory/results.csv.
#[derive(Clone, Debug)]
pub struct Point {
    pub figure: String,
    pub series: String,
    pub x: f64,
    pub formula: f64,
    pub measured: f64,
    pub allowed: f64,
}

/// Reads the file of results.
///
/// # Errors
/// Names the line that cannot be read.
pub fn points(text: &str) -> Result<Vec<Point>, String> {
    let point = |(number, line): (usize, &str)| {
        let wrong = || format!("docs/theory/results.csv:{}: `{line}` is no point; run scripts/theory.sh", number + 1);
        let fields: Vec<&str> = line.split(',').collect();
        let [figure, series, numbers @ ..] = fields.as_slice() else { return Err(wrong()) };
        let numbers: Result<Vec<f64>, _> = numbers.iter().map(|field| field.parse::<f64>()).collect();
        let Ok([x, formula, measured, allowed]) = numbers.as_deref() else { return Err(wrong()) };
        let (x, formula, measured, allowed) = (*x, *formula, *measured, *allowed);
        Ok(Point { figure: (*figure).to_owned(), series: (*series).to_owned(), x, formula, measured, allowed })
    };
    let mut points = text.lines().enumerate().skip(1).map(point).collect::<Result<Vec<_>, _>>()?;
    let key = |point: &Point| (point.figure.clone(), point.series.clone());
    points.sort_by(|a, b| key(a).cmp(&key(b)).then(a.x.total_cmp(&b.x)));
    Ok(points)
}

/// The closed form at any place, for the figures that have one that is quick to draw.
pub fn formula(figure: &str, series: &str, x: f64) -> Option<f64> {
    let alpha = 1.0 + x;
    let share = || series.parse::<f64>().ok();
    Some(match figure {
        "waf-64" | "waf-128" | "waf-256" => {
            let pages = figure[4..].parse().ok()?;
            match series {
                "fifo" => formulas::fifo(alpha),
                "greedy" => formulas::greedy(alpha, pages),
                "random" => formulas::random(alpha),
                "d-choices(d=2)" => formulas::d_choices(alpha, pages, 2),
                "d-choices(d=10)" => formulas::d_choices(alpha, pages, 10),
                _ => return None,
            }
        }
        "hot-cold" => formulas::hot_cold(alpha, share()?, 1.0 - share()?),
        "separated" => formulas::separated(alpha, share()?, 1.0 - share()?),
        "fast" => formulas::fast_associativity(x, 16.0, 500.0),
        // Reads, programs and erases of RFTL's device with their transfers, microseconds.
        "queue" => formulas::waiting(x, &[(0.60, 125.0), (0.39, 300.0), (0.01, 1500.0)]),
        "saturation" => formulas::programs_a_second(x, 100e-6, 200e-6),
        _ => return None,
    })
}

/// A panel: the formula as lines, one for each series, and everything measured as points.
struct Chart {
    figure: &'static str,
    title: &'static str,
    x: Axis,
    y: Axis,
    /// Ends of the curve.
    from: f64,
    to: f64,
    /// Added to a series' name.
    of: &'static str,
}

impl Chart {
    fn panel(&self, points: &[Point]) -> Panel {
        let mine: Vec<&Point> = points.iter().filter(|point| point.figure == self.figure).collect();
        let mut names: Vec<&str> = mine.iter().map(|point| point.series.as_str()).collect();
        names.dedup();
        let mut panel = Panel::new(self.title, self.x.clone()).y(self.y.clone());
        for name in names {
            let steps = 60;
            let place = |i: i32| self.from + (self.to - self.from) * f64::from(i) / f64::from(steps);
            let curve = (0..=steps).map(|i| Some([place(i), formula(self.figure, name, place(i))?]));
            let known = mine.iter().filter(|point| point.series == name).map(|point| [point.x, point.formula]);
            let line = curve.collect::<Option<Vec<_>>>().unwrap_or_else(|| known.collect());
            panel = panel.layer(Layer::line(&format!("{}{name}", self.of), line));
        }
        panel.layer(Layer::points("measured", mine.iter().map(|point| [point.x, point.measured]).collect()))
    }
}

/// Over-provisioning as the spare share of the logical pages.
fn spare() -> Axis {
    Axis::linear("over-provisioning, spare over logical pages", AxisUnit::Count, [0.06, 0.3])
}

fn amplification(most: f64) -> Axis {
    Axis::log("write amplification", AxisUnit::Count, [1.0, most])
}

fn against_spare(figure: &'static str, title: &'static str, most: f64, of: &'static str) -> Chart {
    Chart { figure, title, x: spare(), y: amplification(most), from: 0.065, to: 0.3, of }
}

/// Every picture with the name of its file.
#[expect(clippy::too_many_lines, reason = "a list of figures")]
pub fn figures(points: &[Point]) -> Vec<(&'static str, Figure)> {
    let hits = || Axis::linear("hit ratio", AxisUnit::Count, [0.0, 1.0]);
    let share = || Axis::linear("entries in RAM over all entries", AxisUnit::Count, [0.0, 0.55]);
    let chart = |figure, title, x, y, ends: [f64; 2], of| Chart { figure, title, x, y, from: ends[0], to: ends[1], of };
    let lines = "lines: formula; points: measured";
    let all = [
        (
            "write-amplification",
            "Write amplification under uniform writes",
            vec![
                against_spare("waf-64", "64 pages a block", 16.0, ""),
                against_spare("waf-128", "128 pages a block", 16.0, ""),
                against_spare("waf-256", "256 pages a block", 16.0, ""),
            ],
        ),
        (
            "skew",
            "FIFO cleaning under skewed writes",
            vec![
                against_spare("hot-cold", "one frontier: share r of the writes to 1 - r of the pages", 12.0, "r = "),
                against_spare("separated", "blocks of their own, best split of the spare space", 12.0, "r = "),
                chart(
                    "zipf",
                    "Zipf writes, one frontier",
                    Axis::linear("exponent", AxisUnit::Count, [0.4, 1.3]),
                    amplification(16.0),
                    [0.5, 1.2],
                    "over-provisioning ",
                ),
            ],
        ),
        (
            "map-cache",
            "The mapping cache",
            vec![
                chart("map-cache-lru", "LRU, reads by Zipf's law", share(), hits(), [0.01, 0.5], "s = "),
                chart("map-cache-slru80", "segmented LRU, 80 % protected", share(), hits(), [0.01, 0.5], "s = "),
                chart(
                    "batch-write-back",
                    "batched write-back under uniform writes",
                    Axis::log("entries in RAM of 65,536", AxisUnit::Count, [400.0, 40_000.0]),
                    Axis::linear("map programs a write", AxisUnit::Count, [0.0, 0.7]),
                    [512.0, 32_768.0],
                    "entries a page ",
                ),
            ],
        ),
        (
            "merges-and-time",
            "FAST's merges, waiting, saturation",
            vec![
                chart(
                    "fast",
                    "FAST: logical blocks merged for a log block (16 pages a block, 500 blocks)",
                    Axis::linear("log blocks over data blocks", AxisUnit::Count, [0.0, 0.09]),
                    Axis::linear("associativity", AxisUnit::Count, [0.0, 16.0]),
                    [0.004, 0.085],
                    "",
                ),
                chart(
                    "queue",
                    "one die, Poisson arrivals: M/G/1",
                    Axis::linear("load", AxisUnit::Count, [0.0, 1.0]),
                    Axis::log("us", AxisUnit::Count, [10.0, 3_000.0]),
                    [0.05, 0.95],
                    "",
                ),
                chart(
                    "saturation",
                    "one channel, saturated",
                    Axis::log("dies on the channel", AxisUnit::Count, [1.0, 64.0]),
                    Axis::linear("programs a second", AxisUnit::Count, [0.0, 12_000.0]),
                    [1.0, 64.0],
                    "",
                ),
            ],
        ),
    ];
    let figure = |(name, title, charts): (&'static str, &str, Vec<Chart>)| {
        let rows = charts.iter().map(|chart| vec![chart.panel(points)]);
        (name, rows.fold(Figure::new(title, lines), Figure::row))
    };
    all.into_iter().map(figure).collect()
}

/// The table of the page: how far measured and computed are apart.
pub fn table(points: &[Point]) -> String {
    let mut text = String::from("| figure | series | points | greatest difference | allowed there |\n|-|-|-|-|-|\n");
    let row = |group: &[Point]| {
        let difference = |point: &Point| point.measured - point.formula;
        let worst = group.iter().max_by(|a, b| {
            let share = |point: &Point| difference(point).abs() / point.allowed;
            share(a).total_cmp(&share(b))
        });
        worst.map_or(String::new(), |worst| {
            let relative = |value: f64| 100.0 * value / worst.formula;
            format!(
                "| {} | {} | {} | {:+.3} % ({:.4} for {:.4}) | {:.2} % |\n",
                worst.figure,
                worst.series,
                group.len(),
                relative(difference(worst)),
                worst.measured,
                worst.formula,
                relative(worst.allowed)
            )
        })
    };
    text.extend(points.chunk_by(|a, b| (&a.figure, &a.series) == (&b.figure, &b.series)).map(row));
    text
}

/// The page with its table renewed.
///
/// # Errors
/// When the marks around the table are missing.
pub fn with_table(page: &str, points: &[Point]) -> Result<String, String> {
    let (begin, end) = ("<!-- table: scripts/theory.sh -->\n", "<!-- end of table -->");
    let (before, rest) = page.split_once(begin).ok_or("docs/theory.md has no mark where its table begins")?;
    let (_, after) = rest.split_once(end).ok_or("docs/theory.md has no mark where its table ends")?;
    Ok(format!("{before}{begin}{}{end}{after}", table(points)))
}
