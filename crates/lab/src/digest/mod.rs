//! What a sweep shows: one page with figures, the numbers behind them, and who is best where.

mod figures;
mod html;
mod metric;
mod points;
mod winners;

use figures::{Datum, Shown};
use metric::Metric;
use nandlab_plot::Scene;
use points::Points;

use crate::error::Error;
use crate::experiment::Experiment;
use crate::sweep::{CellStatus, SweepResults, SweepRow};

/// The results of a sweep as figures and tables.
pub struct Digest {
    title: String,
    /// The folder, for commands.
    folder: String,
    rows: Vec<SweepRow>,
    seeds: usize,
    /// All values have all of them.
    is_even: bool,
    metrics: Vec<Metric>,
    shown: Vec<Shown>,
}

/// A figure of a digest as files.
pub struct DigestFigure {
    /// Without an extension: letters, digits and `-`.
    pub name: String,
    /// The picture; nothing for a table.
    pub svg: Option<String>,
    /// The same for dark pages.
    pub svg_dark: Option<String>,
    /// The numbers as comma-separated values.
    pub csv: String,
}

impl Digest {
    /// The digest of the results that are there now.
    ///
    /// # Errors
    /// A result cannot be read, or there is none yet.
    pub fn of(results: &SweepResults) -> Result<Self, Error> {
        let rows = results.rows()?;
        let folder = results.folder().display().to_string();
        if !rows.iter().any(|row| row.status == CellStatus::Done) {
            let help = "nandlab sweep status FOLDER says why";
            return Err(Error::input(format!("{folder}: no cell of the sweep is done"), help));
        }
        let Experiment { name, title, metrics, .. } = results.experiment()?;
        let metrics = metric::metrics(&metrics);
        if let Some(metric) = metrics.iter().find(|metric| !rows.iter().any(|row| row.has(&metric.path))) {
            let help = "`nandlab describe metrics` has all names";
            return Err(Error::input(format!("metrics.{}: no report has `{}`", metric.name, metric.path), help));
        }
        let (seeds, is_even, shown) = {
            let points = Points::of(&rows);
            (points.seeds, points.is_even, figures::all(&points, &metrics))
        };
        let title = if title.is_empty() { name } else { title };
        Ok(Self { title, folder, rows, seeds, is_even, metrics, shown })
    }

    /// One page with everything in it: no script, nothing that is loaded, the same bytes for the same results.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The sentences and the tables of who is best, and the values of every combination, as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for shown in self.shown.iter().filter(|shown| shown.name.starts_with("best-")) {
            text += &format!("- {}\n", shown.sentence);
        }
        for Shown { title, data, .. } in self.shown.iter().filter(|shown| shown.figure.is_none()) {
            text +=
                &format!("\n## {title}\n\n| {} |\n|-|{}\n", data.head.join(" | "), "-:|".repeat(data.head.len() - 1));
            for row in &data.rows {
                let cells: Vec<&str> = row.iter().map(|datum| datum.text.as_str()).collect();
                text += &format!("| {} |\n", cells.join(" | "));
            }
        }
        text
    }

    /// The figures with the numbers behind them.
    pub fn figures(&self) -> impl Iterator<Item = DigestFigure> {
        self.shown.iter().map(|shown| {
            let line = |fields: &mut dyn Iterator<Item = &str>| fields.map(quoted).collect::<Vec<_>>().join(",") + "\n";
            let mut csv = line(&mut shown.data.head.iter().map(String::as_str));
            for row in &shown.data.rows {
                csv += &line(&mut row.iter().map(|Datum { exact, .. }| exact.as_str()));
            }
            let scene = shown.figure.as_ref().map(nandlab_plot::Figure::scene);
            let (svg, svg_dark) = (scene.as_ref().map(Scene::svg), scene.as_ref().map(Scene::svg_dark));
            DigestFigure { name: file_name(&shown.name), svg, svg_dark, csv }
        })
    }
}

/// A field of comma-separated values.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
