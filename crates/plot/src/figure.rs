//! A figure: rows of panels under a title, and where everything in it lies.

use crate::area::{Area, SMALL, line, text};
use crate::axis::{Axis, Tick};
use crate::colour::{Colour, GRID, INK, LEVELS, PAPER, ramp};
use crate::curves::{Unusual, curves, legend, legend_fits, names, names_width, shared_legend};
use crate::panel::{HeatMap, Panel};
use crate::scene::{Anchor, Mark, Scene, fitted, text_width};

const WIDTH: f64 = 1000.0;
const ROW_HEIGHT: f64 = 290.0;
const HEAD: f64 = 66.0;
/// Font sizes in pixels.
const TITLE: f64 = 18.0;
const HEADING: f64 = 14.0;
/// Around the area of a panel.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 46.0;
/// Below all panels, for what needs a word.
const FOOT: f64 = 22.0;
/// Ticks of an x axis at most.
const TICKS_MAX: usize = 13;
/// Room for the colour bar of a heat map.
const BAR: f64 = 76.0;

/// A figure to be drawn: rows of panels under a title and a subtitle.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    pub(crate) rows: Vec<Row>,
}

/// Panels side by side, each as wide as if there were so many.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) panels: Vec<Panel>,
    columns: usize,
}

impl Figure {
    /// A figure without panels. Too long a title or subtitle loses its middle.
    pub fn new(title: &str, subtitle: &str) -> Self {
        Self { title: title.to_owned(), subtitle: subtitle.to_owned(), rows: Vec::new() }
    }
    /// Adds a row of panels of equal width (1 to 3).
    #[must_use]
    pub fn row(mut self, panels: Vec<Panel>) -> Self {
        self.rows.push(Row { columns: panels.len().max(1), panels });
        self
    }
    /// Adds rows of so many panels (1 to 3). All panels are equally wide, also in a last row that has fewer.
    #[must_use]
    pub fn grid(mut self, panels: Vec<Panel>, columns: usize) -> Self {
        let mut panels = panels.into_iter().peekable();
        while panels.peek().is_some() {
            self.rows.push(Row { panels: panels.by_ref().take(columns.max(1)).collect(), columns: columns.max(1) });
        }
        self
    }
    /// Lays the figure out: 1,000 pixels wide. Names of lines that do not fit above their panel stand once above all. What is
    /// drawn in an unusual way is explained below all.
    pub fn scene(&self) -> Scene {
        let shared = self.shared_legend();
        let head = HEAD + shared.as_ref().map_or(0.0, |(_, height)| *height);
        let mut height = head + ROW_HEIGHT * self.rows.len() as f64;
        let mut marks = vec![
            text([20.0, 30.0], TITLE, Anchor::Start, &fitted(&self.title, TITLE, WIDTH - 40.0)),
            text([20.0, 52.0], SMALL, Anchor::Start, &fitted(&self.subtitle, SMALL, WIDTH - 40.0)),
        ];
        let has_legends = shared.is_none();
        marks.extend(shared.into_iter().flat_map(|(legend, _)| legend));
        let mut unusual = Unusual::default();
        for (y, row) in self.rows.iter().enumerate() {
            let width = WIDTH / row.columns as f64;
            for (x, panel) in row.panels.iter().enumerate() {
                // Names of lines lie next to them if there is room for both.
                let has_names = row.columns == 1 && panel.heat().is_none();
                let bar = match panel.heat() {
                    Some(_) => BAR,
                    None if has_names => names_width(panel),
                    None => 0.0,
                };
                let area = Area {
                    left: x as f64 * width + LEFT,
                    top: head + y as f64 * ROW_HEIGHT + TOP,
                    width: width - LEFT - RIGHT - bar,
                    height: ROW_HEIGHT - TOP - BOTTOM,
                };
                unusual = unusual.and(draw(&mut marks, panel, area, has_names, has_legends));
            }
        }
        if let Some(words) = unusual.words() {
            marks.push(text([20.0, height + FOOT - 8.0], SMALL, Anchor::Start, &words));
            height += FOOT;
        }
        Scene { width: WIDTH, height, title: self.title.clone(), marks }
    }

    /// The legend of all panels and its height, if that of one does not fit above it.
    fn shared_legend(&self) -> Option<(Vec<Mark>, f64)> {
        let fits = |row: &Row| {
            let width = WIDTH / row.columns as f64 - LEFT - RIGHT;
            row.panels.iter().all(|panel| legend_fits(panel, width, row.columns == 1))
        };
        if self.rows.iter().all(fits) {
            return None;
        }
        let panels: Vec<&Panel> = self.rows.iter().flat_map(|row| &row.panels).collect();
        shared_legend(&panels, [20.0, HEAD + 8.0], WIDTH - 40.0)
    }
}

fn draw(marks: &mut Vec<Mark>, panel: &Panel, area: Area, has_names: bool, has_legend: bool) -> Unusual {
    grid(marks, panel, area);
    if let Some(heat) = panel.heat() {
        cells(marks, heat, area);
        colour_bar(marks, heat, area);
    }
    frame(marks, panel, area);
    let unusual = curves(marks, panel, area);
    if has_names {
        names(marks, panel, area);
    }
    if has_legend {
        legend(marks, panel, area, has_names);
    }
    if let Some(note) = &panel.note {
        marks.push(text([area.x(0.5), area.y(0.5)], HEADING, Anchor::Middle, note));
    }
    unusual
}

/// The axes. One that does not begin at 0, where one would expect it, has a break at its foot.
fn frame(marks: &mut Vec<Mark>, panel: &Panel, area: Area) {
    let (left, right, bottom) = (area.left, area.left + area.width, area.top + area.height);
    marks.push(line(vec![[left, area.top], [left, bottom], [right, bottom]], 1.0, INK));
    if panel.y.is_broken() {
        marks.push(line(vec![[left, bottom - 11.0], [left, bottom - 7.0]], 3.0, PAPER));
        for y in [bottom - 11.0, bottom - 7.0] {
            marks.push(line(vec![[left - 5.0, y + 2.0], [left + 5.0, y - 2.0]], 1.0, INK));
        }
    }
}

/// Grid lines, ticks, labels and the title.
fn grid(marks: &mut Vec<Mark>, panel: &Panel, area: Area) {
    let bottom = area.top + area.height;
    for tick in panel.y.ticks((area.height / 32.0) as usize) {
        let y = area.y(tick.place).round();
        marks.push(line(vec![[area.left, y], [area.left + area.width, y]], 1.0, GRID));
        marks.push(text([area.left - 6.0, y + 4.0], SMALL, Anchor::End, &tick.text));
    }
    for tick in side_by_side(&panel.x, area.width) {
        let x = area.x(tick.place).round();
        marks.push(line(vec![[x, area.top], [x, bottom]], 1.0, GRID));
        // A name at the right end stays inside the panel.
        let middle = x.min(area.left + area.width + RIGHT - 4.0 - text_width(&tick.text, SMALL) / 2.0);
        marks.push(text([middle, bottom + 16.0], SMALL, Anchor::Middle, &tick.text));
    }
    let label = text([area.x(0.5), bottom + 34.0], SMALL, Anchor::Middle, &panel.x.label());
    marks.push(label);
    let label = fitted(&panel.y.label(), SMALL, area.height + TOP);
    let at = [area.left - LEFT + 16.0, area.y(0.5)];
    marks.push(Mark::Text { at, size: SMALL, anchor: Anchor::Middle, text: label, upwards: true });
    let title = fitted(&panel.title, HEADING, area.width + RIGHT);
    marks.push(text([area.left, area.top - 26.0], HEADING, Anchor::Start, &title));
}

/// One mark for each shade; neighbours in a row are one rectangle. Edges lie on whole pixels, so that there are no seams.
fn cells(marks: &mut Vec<Mark>, heat: &HeatMap, area: Area) {
    let edge = |index: usize, count: usize| index as f64 / count.max(1) as f64;
    let mut shades = vec![Vec::new(); LEVELS + 1];
    for (row, counts) in heat.counts.chunks(heat.columns.max(1)).enumerate() {
        let (top, bottom) = (area.y(edge(row + 1, heat.rows)).round(), area.y(edge(row, heat.rows)).round());
        let mut column = 0;
        for run in counts.chunk_by(|a, b| heat.level(*a, LEVELS) == heat.level(*b, LEVELS)) {
            let left = area.x(edge(column, heat.columns)).round();
            column += run.len();
            let right = area.x(edge(column, heat.columns)).round();
            shades[heat.level(run[0], LEVELS)].push([left, top, (right - left).max(1.0), (bottom - top).max(1.0)]);
        }
    }
    for (level, rects) in shades.into_iter().enumerate().skip(1) {
        if !rects.is_empty() {
            marks.push(Mark::Fill { rects, colour: shade(level) });
        }
    }
}

/// Colour of a level from 1 on.
fn shade(level: usize) -> Colour {
    ramp((level - 1) as f64 / (LEVELS - 1) as f64)
}

/// As many ticks as there is room for their names.
fn side_by_side(x: &Axis, width: f64) -> Vec<Tick> {
    if let Some(count) = x.name_count() {
        let room = width / count as f64 - SMALL / 2.0;
        let names = x.ticks(count).into_iter();
        return names.map(|Tick { place, text }| Tick { place, text: fitted(&text, SMALL, room) }).collect();
    }
    let fits = |ticks: &Vec<Tick>| {
        let apart = |pair: &[Tick]| {
            let names = text_width(&pair[0].text, SMALL) + text_width(&pair[1].text, SMALL);
            (pair[1].place - pair[0].place) * width >= names / 2.0 + 2.0 * SMALL
        };
        ticks.windows(2).all(apart)
    };
    let choices = (2..=TICKS_MAX).rev().map(|most| x.ticks(most));
    choices.into_iter().find(fits).unwrap_or_else(|| x.ticks(2))
}

fn colour_bar(marks: &mut Vec<Mark>, heat: &HeatMap, area: Area) {
    if heat.most == 0 {
        return;
    }
    let x = area.left + area.width + 14.0;
    let step = area.height / LEVELS as f64;
    let levels = if heat.most == 1 { LEVELS..=LEVELS } else { 1..=LEVELS };
    for level in levels {
        let (top, bottom) =
            ((area.top + (LEVELS - level) as f64 * step).round(), area.top + (LEVELS - level + 1) as f64 * step);
        marks.push(Mark::Fill { rects: vec![[x, top, 14.0, bottom.round() - top]], colour: shade(level) });
    }
    marks.push(text([x + 18.0, area.top + 10.0], SMALL, Anchor::Start, &short(heat.most)));
    if heat.most > 1 {
        marks.push(text([x + 18.0, area.top + area.height], SMALL, Anchor::Start, "1"));
    }
    let at = [x + 36.0, area.y(0.5)];
    marks.push(Mark::Text { at, size: SMALL, anchor: Anchor::Middle, text: heat.of.clone(), upwards: true });
}

/// At most 5 characters.
fn short(count: u64) -> String {
    match count {
        0..100_000 => count.to_string(),
        100_000..10_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}M", count / 1_000_000),
    }
}
