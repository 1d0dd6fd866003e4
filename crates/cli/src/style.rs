//! Colour, numbers and tables for people.

use std::io::IsTerminal;

use clap::ValueEnum;
pub use nandlab_lab::{count, plural};

/// When to use colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ColorChoice {
    /// On terminals, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Bold and dim, or neither.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    on: bool,
}

impl Style {
    /// What fits standard output.
    #[expect(clippy::disallowed_methods, reason = "the command line is the place that looks at its surroundings")]
    pub fn for_stdout(choice: ColorChoice) -> Self {
        let set = |name| std::env::var(name).is_ok_and(|value| !value.is_empty() && value != "0");
        let on = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if std::env::var("NO_COLOR").is_ok_and(|value| !value.is_empty()) => false,
            ColorChoice::Auto => set("CLICOLOR_FORCE") || std::io::stdout().is_terminal(),
        };
        Self { on }
    }
    /// Neither.
    pub const fn plain() -> Self {
        Self { on: false }
    }
    fn paint(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
    /// Colours are wanted.
    pub fn is_on(self) -> bool {
        self.on
    }
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }
    pub fn warn(self, text: &str) -> String {
        self.paint("1;33", text)
    }
}

/// `once`, `2.5 times`.
pub fn times(n: f64) -> String {
    let n = n.to_string();
    if n == "1" { "once".to_owned() } else { format!("{n} times") }
}

/// At most seven characters: `12,345`, `123.4k`, `12.35M`.
pub fn short(n: u64) -> String {
    let scaled = |unit: f64, suffix| format!("{}{suffix}", digits4(n as f64 / unit));
    match n {
        0..100_000 => count(n),
        100_000..1_000_000 => scaled(1e3, "k"),
        1_000_000..1_000_000_000 => scaled(1e6, "M"),
        1_000_000_000..1_000_000_000_000 => scaled(1e9, "G"),
        _ => scaled(1e12, "T"),
    }
}

/// Four significant digits, at least up to the decimal point.
fn digits4(value: f64) -> String {
    let decimals = match value {
        v if v < 9.9995 => 3,
        v if v < 99.995 => 2,
        v if v < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// Nanoseconds in the greatest unit of which there is at least one, but seconds at most.
fn scaled(ns: f64) -> (f64, &'static str) {
    match ns {
        v if v < 1e3 => (v, "ns"),
        v if v < 1e6 => (v / 1e3, "us"),
        v if v < 1e9 => (v / 1e6, "ms"),
        v => (v / 1e9, "s"),
    }
}

/// Four digits with a unit: `87.50 us`.
pub fn time(ns: f64) -> String {
    let (value, unit) = scaled(ns);
    if unit == "ns" { format!("{value:.0} ns") } else { format!("{} {unit}", digits4(value)) }
}

/// Three digits with a unit, for narrow columns: `87.5us`.
pub fn short_time(ns: f64) -> String {
    let (value, unit) = scaled(ns);
    let decimals = match value {
        _ if unit == "ns" => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}{unit}")
}

/// The same for whole nanoseconds.
pub fn nanos(ns: u64) -> String {
    time(ns as f64)
}

/// A ratio in percent, or a dash when there was nothing to count.
pub fn percent(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |r| format!("{:.2} %", r * 100.0))
}

/// A factor with three decimals, or a dash.
pub fn factor(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.3}"))
}

/// How wide columns are, and which of them are set to the left.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Columns at the left that are set to the left; the others are set to the right.
    pub left: usize,
    /// Characters of each column; wider cells push the others on.
    pub widths: Vec<usize>,
}

impl Layout {
    /// A line of cells, two blanks between them; bold are those that say so.
    pub fn line<'a>(&self, cells: impl Iterator<Item = (&'a str, bool)>, style: Style) -> String {
        let mut line = String::new();
        for (x, (text, bold)) in cells.enumerate() {
            let width = self.widths.get(x).copied().unwrap_or(0);
            let gap = " ".repeat(width.saturating_sub(text.chars().count()));
            let painted = if bold { style.bold(text) } else { text.to_owned() };
            let between = if x > 0 { "  " } else { "" };
            let (before, after) = if x < self.left { ("", gap.as_str()) } else { (gap.as_str(), "") };
            line.extend([between, before, &painted, after]);
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

/// Columns: the first one left, all others right.
#[derive(Debug, Default)]
pub struct Table {
    rows: Vec<Vec<Cell>>,
    /// Columns at the left that are set to the left.
    left: usize,
}

#[derive(Clone, Debug)]
struct Cell {
    text: String,
    bold: bool,
}

impl Table {
    /// An empty table whose first `left` columns are set to the left.
    pub fn new(left: usize) -> Self {
        Self { rows: Vec::new(), left }
    }
    /// Adds a row.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|text| Cell { text: text.into(), bold: false }).collect());
    }
    /// Makes a cell of the last row bold.
    pub fn embolden(&mut self, column: usize) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.get_mut(column)) {
            cell.bold = true;
        }
    }
    /// The table as text, two blanks between columns, the first row as a heading.
    pub fn render(&self, style: Style) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.text.chars().count()).max().unwrap_or(0)
        };
        let layout = Layout { left: self.left, widths: (0..columns).map(width).collect() };
        let line = |(y, row): (usize, &Vec<Cell>)| {
            layout.line(row.iter().map(|cell| (cell.text.as_str(), cell.bold || y == 0)), style)
        };
        self.rows.iter().enumerate().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right() {
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(12), "12");
        assert_eq!(short(99_999), "99,999");
        assert_eq!(short(123_456), "123.5k");
        assert_eq!(short(12_345_678), "12.35M");
        assert_eq!(time(87_500.0), "87.50 us");
        assert_eq!(time(999_999.0), "1000 us");
        assert_eq!(time(12.0), "12 ns");
        assert_eq!([12.0, 87_540.0, 299_892_736.0, 9_999.0].map(short_time), ["12ns", "87.5us", "300ms", "10.0us"]);
        assert_eq!(percent(Some(0.12345)), "12.35 %");
        assert_eq!(percent(None), "-");
    }
}
