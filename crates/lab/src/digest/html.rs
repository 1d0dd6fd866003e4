//! The page: summary first, then figures, each with its sentence, its numbers and the command that makes it again.

use nandlab_plot::Scene;

use super::Digest;
use super::figures::{Data, Shown};
use super::metric::Metric;
use super::zoom::Zoom;
use crate::sweep::{CellStatus, SweepRow};
use crate::text::{count, plural, shell_word};

/// Cells in the table of all of them.
const CELLS_SHOWN: usize = 1000;
/// Rows of a table that is open at once.
const ROWS_OPEN: usize = 30;
/// Failed cells that are named.
const FAILED_SHOWN: usize = 50;
/// How much of its colour the darkest cell has, in percent.
const DARKEST: u8 = 75;

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#222;--paper:#fff;--line:#ccc;--shade:213,94,0}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--paper:#161616;--line:#444}}\
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1040px;margin:0 auto;padding:1rem}\
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem;border-top:1px solid var(--line);padding-top:1rem}\
svg{max-width:100%;height:auto;display:block}\
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem;font-variant-numeric:tabular-nums}\
td,th{padding:.15rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}\
td:first-child,th:first-child,.text td,.text th{text-align:left}.text td{white-space:normal;vertical-align:top;min-width:5rem}\
td[class]{print-color-adjust:exact;-webkit-print-color-adjust:exact}\
code{font-size:.85rem;overflow-wrap:anywhere}summary{cursor:pointer}\
summary:focus-visible,a:focus-visible,.wide:focus-visible{outline:3px solid #56b4e9}\
button,select{font:inherit;font-size:.85rem}.zoom{position:relative;margin:.5rem 0}.zoom:focus-visible{outline:3px solid #56b4e9}.zoom .u-select{background:#56b4e955}\
@media print{details:not([open])>*{display:block}h2{break-after:avoid}figure{break-inside:avoid}.zoom,.bar,button{display:none}}\
figure{margin:0}";

pub(super) fn page(digest: &Digest) -> String {
    let title = escaped(&digest.title);
    let zoom = Zoom::of(&digest.shown);
    let shade = |n: u8| format!(".s{n}{{background:rgba(var(--shade),{:.2})}}", f64::from(n) / 100.0);
    let shades: String = (0..=DARKEST).map(shade).collect();
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{}\">\n\
         <title>{title}</title>\n<style>{STYLE}{shades}{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n",
        zoom.policy(),
        Scene::page_style()
    );
    if !digest.about.trim().is_empty() {
        page += &format!("<p>{}</p>\n", escaped(digest.about.trim()));
    }
    page += &summary(digest);
    if let Some(verdicts) = &digest.verdicts {
        page += &format!("<section id=\"claims\">\n<h2>Claims</h2>\n<p>{}</p>\n", escaped(&verdicts.sentence));
        page +=
            &format!("{}</section>\n", table(&verdicts.summary, "Claims").replace("<table>", "<table class=\"text\">"));
        for shown in &verdicts.details {
            page += &section(shown, &zoom, &digest.folder);
        }
    }
    for shown in &digest.shown {
        page += &section(shown, &zoom, &digest.folder);
    }
    // What a paper shows is in its figures; with all cells as well the page would be longer than anyone reads.
    if digest.verdicts.is_none() {
        page += &cells(&digest.rows, &digest.metrics, &digest.folder);
    }
    page + "</main>\n" + &zoom.scripts() + "</body>\n</html>\n"
}

fn summary(digest: &Digest) -> String {
    let number = |status| count(digest.rows.iter().filter(|row| row.status == status).count() as u64);
    let (done, failed, open) = (number(CellStatus::Done), number(CellStatus::Failed), number(CellStatus::Open));
    let mut text =
        format!("<p>{}: {done} done, {failed} failed, {open} open. ", plural(digest.rows.len() as u64, "cell"));
    text += &match digest.seeds {
        0 | 1 => "There is one seed: differences are those of one run, and nothing says how sure they are.".to_owned(),
        n => format!(
            "Each value is the mean of {n} seeds. A difference counts if its 95 % interval (Student's t, seed by seed, on the \
             same requests) does not have 0 in it."
        ),
    };
    if !digest.is_even {
        text += " Some values have fewer seeds: they are compared by those that all have, two at least.";
    }
    if !digest.remarks.is_empty() {
        text += &format!(" {}", escaped(&digest.remarks));
    }
    text += "</p>\n<ul>\n";
    for shown in digest.shown.iter().filter(|shown| shown.name.starts_with("best-")) {
        text += &format!("<li>{}</li>\n", escaped(&shown.sentence));
    }
    text += "</ul>\n";
    let failed: Vec<_> = digest.rows.iter().filter_map(|row| Some((&row.cell, row.error.as_ref()?))).collect();
    if !failed.is_empty() {
        text += &format!("<details><summary>{}</summary><ul>\n", plural(failed.len() as u64, "failed cell"));
        for (cell, error) in failed.iter().take(FAILED_SHOWN) {
            text += &format!("<li>{}: {}</li>\n", escaped(cell), escaped(error));
        }
        text += "</ul></details>\n";
    }
    text
}

fn section(shown: &Shown, zoom: &Zoom, folder: &str) -> String {
    let id = super::file_name(&shown.name);
    let mut text = format!("<section id=\"{id}\">\n<h2>{}</h2>\n", escaped(&shown.title));
    text += &format!("<p>{}</p>\n", escaped(&shown.sentence));
    match &shown.figure {
        Some(figure) => {
            let zoom = if zoom.has(&id) { " data-zoom" } else { "" };
            text += &format!("<figure{zoom}>\n{}</figure>\n", figure.scene().in_page());
            text += &format!("<details><summary>Numbers</summary>\n{}</details>\n", table(&shown.data, &shown.title));
        }
        None if shown.data.rows.len() <= ROWS_OPEN => text += &table(&shown.data, &shown.title),
        None => text += &format!("<details><summary>Table</summary>\n{}</details>\n", table(&shown.data, &shown.title)),
    }
    let command = format!("nandlab report {} --figures FOLDER", shell_word(folder));
    text + &format!("<p><code>{}</code> writes it as {}</p>\n</section>\n", escaped(&command), files(shown))
}

fn files(shown: &Shown) -> String {
    let name = super::file_name(&shown.name);
    match (&shown.figure, &shown.drawn) {
        (None, _) => format!("{name}.csv."),
        (Some(_), None) => format!("{name}.svg, {name}.pdf and {name}.csv."),
        (Some(_), Some(_)) => format!("{name}.svg, {name}.pdf and {name}.csv, which has every point."),
    }
}

/// A table, in a box that scrolls by keyboard too.
fn table(data: &Data, title: &str) -> String {
    let mut text =
        format!("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<tr>", escaped(title));
    for head in &data.head {
        text += &format!("<th scope=\"col\">{}", escaped(&head.text));
    }
    text += "\n";
    for row in &data.rows {
        text += "<tr>";
        for datum in row {
            let shade = datum.shade.map(|shade| format!(" class=\"s{:.0}\"", shade * f64::from(DARKEST)));
            text += &format!("<td{}>{}", shade.unwrap_or_default(), escaped(&datum.text));
        }
        text += "\n";
    }
    text + "</table></div>\n"
}

fn cells(rows: &[SweepRow], metrics: &[Metric], folder: &str) -> String {
    let axes = crate::sweep::axes(rows);
    let mut text = "<section id=\"cells\">\n<h2>All cells</h2>\n<details><summary>Table</summary>\n".to_owned();
    text += "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"All cells\"><table>\n<tr>";
    for head in axes.iter().map(String::as_str).chain(metrics.iter().map(|metric| metric.name.as_str())) {
        text += &format!("<th scope=\"col\">{}", escaped(head));
    }
    text += "\n";
    for row in rows.iter().take(CELLS_SHOWN) {
        text += "<tr>";
        for axis in &axes {
            text += &format!("<td>{}", escaped(row.values.get(axis).map_or("", String::as_str)));
        }
        for metric in metrics {
            let value = metric.of(row).map(|value| metric.text(value));
            text += &format!("<td>{}", value.unwrap_or_else(|| row.status.name().to_owned()));
        }
        text += "\n";
    }
    text += "</table></div></details>\n";
    if rows.len() > CELLS_SHOWN {
        text += &format!("<p>These are {CELLS_SHOWN} of {}.</p>\n", count(rows.len() as u64));
    }
    if rows.iter().all(|row| row.status != CellStatus::Open) {
        text += &format!("<p>Every metric of every cell: {}/results.parquet.</p>\n", escaped(folder));
    }
    text + "</section>\n"
}

/// Text for HTML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}
