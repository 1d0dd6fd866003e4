//! A figure as text: block characters, and colours if they are wanted.

use std::fmt::Write;

use crate::axis::Axis;
use crate::colour::{Colour, ramp};
use crate::figure::Figure;
use crate::panel::{HeatMap, Panel};
use crate::scene::shortened;

/// Rows of a panel's area.
const ROWS: usize = 14;
/// Columns to the left of the area: the names of the ticks and the axis.
const LEFT: usize = 10;
/// Narrowest picture.
const WIDTH_MIN: usize = 40;
/// Shades of a heat map without colour, the lightest first.
const SHADES: [char; 4] = ['░', '▒', '▓', '█'];
/// Marks of the series, which tell them apart without colour.
const MARKS: [char; 6] = ['●', '○', '■', '□', '▲', '△'];

/// A character and its colour.
type Cell = (char, Option<Colour>);

impl Figure {
    /// The figure as text of at most `width` columns (at least 40), one panel below the other. With `colour` there are
    /// escape sequences for 24-bit colours, and without it nothing but characters.
    pub fn terminal(&self, width: usize, colour: bool) -> String {
        let width = width.max(WIDTH_MIN);
        let fit = |text: &str| shortened(text, width);
        let mut out = format!("{}\n{}\n", fit(&self.title), fit(&self.subtitle));
        for panel in self.rows.iter().flat_map(|row| &row.panels) {
            write!(out, "\n{}\n", fit(&panel.title)).expect("a string takes everything");
            out += &legend(panel, width, colour);
            out += &area(panel, width, colour);
            for line in below(&panel.x, width) {
                writeln!(out, "{}", line.trim_end()).expect("a string takes everything");
            }
        }
        out
    }
}

fn painted((character, ink): Cell, colour: bool) -> String {
    match ink {
        Some([r, g, b]) if colour => format!("\x1b[38;2;{r};{g};{b}m{character}\x1b[0m"),
        _ => character.to_string(),
    }
}

/// Names and marks of the series, as many lines as it takes; or what a heat map counts.
fn legend(panel: &Panel, width: usize, colour: bool) -> String {
    let mut out = String::new();
    let mut used = LEFT;
    out += &" ".repeat(LEFT);
    for (number, series) in panel.series() {
        let needed = series.name.chars().count() + 4;
        if used > LEFT && used + needed > width {
            out += &format!("\n{}", " ".repeat(LEFT));
            used = LEFT;
        }
        let mark = (MARKS[number % MARKS.len()], Some(series.colour(number)));
        write!(out, "{} {}  ", painted(mark, colour), series.name).expect("a string takes everything");
        used += needed;
    }
    if let Some(heat) = panel.heat() {
        let [light, dark] = [1, heat.most].map(|count| painted(heat_cell(heat, count), colour));
        out += &if heat.most > 1 { format!("{light} 1 to {dark} {}", heat.most) } else { format!("{dark} 1") };
        write!(out, " {}", heat.of).expect("a string takes everything");
    }
    if panel.heat().is_none() && panel.series().next().is_none() {
        return String::new();
    }
    out.trim_end().to_owned() + "\n"
}

fn area(panel: &Panel, width: usize, colour: bool) -> String {
    let columns = width - LEFT - 1;
    let mut cells: Vec<Vec<Cell>> = vec![vec![(' ', None); columns]; ROWS];
    if let Some(heat) = panel.heat() {
        paint_heat(&mut cells, heat);
    }
    paint_series(&mut cells, panel);
    if let Some(note) = &panel.note {
        let start = columns.saturating_sub(note.chars().count()) / 2;
        for (cell, character) in cells[ROWS / 2][start..].iter_mut().zip(note.chars()) {
            *cell = (character, None);
        }
    }
    let mut names = vec![String::new(); ROWS];
    for tick in panel.y.ticks(ROWS / 3) {
        names[row_of(tick.place)] = shortened(&tick.text, LEFT - 1);
    }
    let mut out = format!("{}\n", shortened(&panel.y.label(), width));
    for (row, name) in cells.into_iter().zip(names) {
        let mark = if name.is_empty() { '│' } else { '┤' };
        let row: String = row.into_iter().map(|cell| painted(cell, colour)).collect();
        writeln!(out, "{name:>0$} {mark}{1}", LEFT - 1, row.trim_end()).expect("a string takes everything");
    }
    out
}

/// Row from the top of a place on the y axis.
fn row_of(place: f64) -> usize {
    (((1.0 - place) * ROWS as f64) as usize).min(ROWS - 1)
}

fn heat_cell(heat: &HeatMap, count: u64) -> Cell {
    match heat.level(count, SHADES.len() * 3) {
        0 => (' ', None),
        level => (SHADES[(level - 1) / 3], Some(ramp((level - 1) as f64 / (SHADES.len() * 3 - 1) as f64))),
    }
}

/// Every cell shows the most that any part of the heat map has in it.
fn paint_heat(cells: &mut [Vec<Cell>], heat: &HeatMap) {
    let columns = cells[0].len();
    let share = |index: usize, count: usize, cells: usize| {
        let first = index * count / cells;
        first..((index + 1) * count).div_ceil(cells).max(first + 1).min(count.max(1))
    };
    for (y, row) in cells.iter_mut().enumerate() {
        for (x, cell) in row.iter_mut().enumerate() {
            let inside = share(ROWS - 1 - y, heat.rows, ROWS).flat_map(|r| {
                share(x, heat.columns, columns).map(move |c| heat.counts.get(r * heat.columns + c).copied())
            });
            *cell = heat_cell(heat, inside.flatten().max().unwrap_or(0));
        }
    }
}

fn paint_series(cells: &mut [Vec<Cell>], panel: &Panel) {
    let columns = cells[0].len();
    let column_of = |place: f64| ((place * columns as f64) as usize).min(columns - 1);
    for (number, series) in panel.series() {
        let cell = (MARKS[number % MARKS.len()], Some(series.colour(number)));
        let corners = series.corners(&panel.x, &panel.y);
        for corner in &corners {
            cells[row_of(corner[1])][column_of(corner[0])] = cell;
        }
        if !series.join.is_line() {
            continue;
        }
        for pair in corners.windows(2) {
            let ([x0, y0], [x1, y1]) = (pair[0], pair[1]);
            let steps = (((x1 - x0).abs() * columns as f64).max((y1 - y0).abs() * ROWS as f64) * 2.0) as usize + 1;
            for step in 0..=steps {
                let part = step as f64 / steps as f64;
                cells[row_of(y0 + (y1 - y0) * part)][column_of(x0 + (x1 - x0) * part)] = cell;
            }
        }
    }
}

/// The x axis, the names of its ticks and its label.
fn below(x: &Axis, width: usize) -> [String; 3] {
    let columns = width - LEFT - 1;
    let mut axis: Vec<char> = vec!['─'; columns];
    let mut names: Vec<char> = vec![' '; width];
    let mut free = 0;
    for tick in x.ticks((columns / 11).max(2)) {
        let column = ((tick.place * columns as f64) as usize).min(columns - 1);
        let length = tick.text.chars().count();
        let start = (LEFT + 1 + column).saturating_sub(length / 2).min(width.saturating_sub(length));
        axis[column] = '┬';
        if start >= free && start + length <= width {
            names[start..start + length].iter_mut().zip(tick.text.chars()).for_each(|(cell, c)| *cell = c);
            free = start + length + 1;
        }
    }
    let label = shortened(&x.label(), columns);
    let indent = LEFT + 1 + (columns - label.chars().count()) / 2;
    [
        format!("{}└{}", " ".repeat(LEFT), axis.into_iter().collect::<String>()),
        names.into_iter().collect(),
        format!("{}{label}", " ".repeat(indent)),
    ]
}
