//! What a sweep shows: one page with figures, the numbers behind them, and who is best where.

mod distribution;
mod figures;
mod html;
mod judge;
mod markdown;
mod metric;
mod over_run;
mod paper;
mod points;
mod verdicts;
mod warm_up;
mod winners;
mod zoom;

use std::path::Path;

use figures::{Datum, Head, Shown};
pub(crate) use metric::{Metric, metrics};
use nandlab_plot::Scene;
pub(crate) use points::{Point, Points, SEED, compared};
use verdicts::Verdicts;

use crate::error::Error;
use crate::experiment::{Experiment, fill};
use crate::files::{make_folder, write_file};
use crate::sweep::{CellStatus, SweepResults, SweepRow};
use crate::table::Table;
use crate::text::csv_line;

/// The results of a sweep as figures and tables.
pub struct Digest {
    title: String,
    /// What holds for all claims.
    about: String,
    /// The folder, for commands.
    folder: String,
    rows: Vec<SweepRow>,
    seeds: usize,
    /// All values have all of them.
    is_even: bool,
    /// What of the runs was not measured, and what no run has, in sentences; empty if there is nothing to say.
    remarks: String,
    metrics: Vec<Metric>,
    /// The claims of its experiment.
    verdicts: Option<Verdicts>,
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
    /// The same as PDF, for papers.
    pub pdf: Option<Vec<u8>>,
    /// The numbers as comma-separated values; names of columns end in the unit of their numbers, if these have one.
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
        let mut experiment = results.experiment()?;
        let mut metrics = metrics(&experiment.metrics)?;
        for metric in &mut metrics {
            metric.look_at(&rows);
        }
        let remarks = [warm_up::sentence(&rows), leave_out(&mut experiment, &mut metrics, &rows)];
        let remarks = remarks.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        let (seeds, is_even, verdicts, shown) = {
            let points = Points::of(&rows);
            let note = |text: &str| fill(text, |cell| Ok(results.get(cell)?.report));
            let verdicts = Verdicts::of(&experiment, &points, &metrics, note)?;
            // What a paper shows says more than everything that could be shown.
            let shown = if experiment.figures.is_empty() && verdicts.is_none() {
                points.compared().map_or_else(Vec::new, |compared| {
                    let mut shown = figures::all(&points, compared, &metrics);
                    shown.extend(distribution::responses(&points, compared));
                    shown.extend(over_run::all(&points, compared));
                    shown
                })
            } else {
                paper::figures(&points, &metrics, experiment.figures.iter())
            };
            (points.seeds, points.is_even, verdicts, shown)
        };
        let title = if experiment.title.is_empty() { experiment.name } else { experiment.title };
        Ok(Self { title, about: experiment.about, folder, rows, seeds, is_even, remarks, metrics, verdicts, shown })
    }

    /// How the claims of the experiment came out, in a sentence; nothing if it has none.
    pub fn verdict(&self) -> Option<&str> {
        self.verdicts.as_ref().map(|verdicts| verdicts.sentence.as_str())
    }

    /// The claims of the experiment with their verdicts, a row each; nothing if it has none.
    pub fn judged(&self) -> Option<Table> {
        self.verdicts.as_ref().map(Verdicts::table)
    }

    /// The claims of the experiment with their verdicts, as a section in Markdown; empty if it has none.
    pub fn claims(&self) -> String {
        markdown::claims(self)
    }

    /// One page with everything in it: nothing that is loaded, no script but that which zooms, the same bytes for the same
    /// results.
    pub fn html(&self) -> String {
        html::page(self)
    }

    /// The sentences and the tables of who is best, and the values of every combination, as Markdown.
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }

    /// Writes the figures into a folder, which is made if it does not exist: each as SVG for light and for dark pages and as PDF,
    /// and the numbers behind it as comma-separated values.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn write_figures(&self, folder: &Path) -> Result<(), Error> {
        make_folder(folder)?;
        for DigestFigure { name, svg, svg_dark, pdf, csv } in self.figures() {
            let (svg, svg_dark) = (svg.map(String::into_bytes), svg_dark.map(String::into_bytes));
            let csv = Some(csv.into_bytes());
            for (bytes, extension) in [(svg, "svg"), (svg_dark, "dark.svg"), (pdf, "pdf"), (csv, "csv")] {
                let Some(bytes) = bytes else { continue };
                write_file(&folder.join(format!("{name}.{extension}")), bytes)?;
            }
        }
        Ok(())
    }

    /// The figures with the numbers behind them.
    pub fn figures(&self) -> impl Iterator<Item = DigestFigure> {
        let details = self.verdicts.iter().flat_map(|verdicts| &verdicts.details);
        self.shown.iter().chain(details).map(|shown| {
            let data = shown.drawn.as_ref().unwrap_or(&shown.data);
            let mut csv = csv_line(data.head.iter().map(Head::with_unit));
            for row in &data.rows {
                csv += &csv_line(row.iter().map(|Datum { exact, .. }| exact));
            }
            let scene = shown.figure.as_ref().map(nandlab_plot::Figure::scene);
            let (svg, svg_dark) = (scene.as_ref().map(Scene::svg), scene.as_ref().map(Scene::svg_dark));
            let pdf = scene.as_ref().map(Scene::pdf);
            DigestFigure { name: file_name(&shown.name), svg, svg_dark, pdf, csv }
        })
    }
}

/// The names of the metrics of an experiment, those of every report first.
#[cfg(test)]
pub(crate) fn metric_names(experiment: &crate::Experiment) -> Result<Vec<String>, Error> {
    Ok(metric::metrics(&experiment.metrics)?.into_iter().map(|metric| metric.name).collect())
}

/// Leaves out the metrics and distributions of an experiment that no run has, as those of map reads where the map is in RAM, and
/// says so.
fn leave_out(experiment: &mut Experiment, metrics: &mut Vec<Metric>, rows: &[SweepRow]) -> String {
    let mut said = Vec::new();
    metrics.retain(|metric| {
        let Some(added) = experiment.metrics.get(&metric.name) else { return true };
        let has = rows.iter().any(|row| metric.of(row).is_some());
        if !has {
            said.push(format!("No run has a value of {} (`{}`), which is left out.", metric.name, added.path));
        }
        has
    });
    experiment.figures.retain(|name, figure| {
        let Some(of) = &figure.times else {
            let has = metrics.iter().any(|metric| metric.name == figure.metric);
            if !has {
                said.push(format!("So figure {name} is left out."));
            }
            return has;
        };
        let has = rows.iter().filter_map(|row| row.course.as_ref()).any(|course| course.has_times(of));
        if !has {
            said.push(format!("No run has times of {of}, so that figure {name} is left out."));
        }
        has
    });
    said.join(" ")
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
