//! Curves as tables and as a picture.

use nandlab::ledger::ratio;
use nandlab::offline::Counts;
use nandlab::report::Report;
use nandlab::types::Bytes;
use nandlab_plot::{Axis, Figure, Layer, Panel, Unit};

use crate::curve::{Answer, Row};
use crate::style::{Style, Table, count, factor, time};
use crate::table;

/// What a column is made of.
#[derive(Clone, Copy)]
enum Value {
    /// What the buffer did.
    Counts(fn(&Counts) -> f64),
    /// The report of the whole device.
    Report(fn(&Report) -> Option<f64>),
}

/// A column: headings for people and machines, value, form for people.
struct Column {
    head: &'static str,
    csv: &'static str,
    value: Value,
    show: fn(f64) -> String,
}

impl Column {
    fn of(&self, row: &Row) -> Option<f64> {
        match self.value {
            Value::Counts(value) => row.counts.as_ref().map(value),
            Value::Report(value) => row.report.as_ref().and_then(value),
        }
    }
}

const fn counts(head: &'static str, csv: &'static str, value: fn(&Counts) -> f64, show: fn(f64) -> String) -> Column {
    Column { head, csv, value: Value::Counts(value), show }
}
const fn report(
    head: &'static str,
    csv: &'static str,
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
) -> Column {
    Column { head, csv, value: Value::Report(value), show }
}

fn hundredths(ratio: f64) -> String {
    format!("{:.2}", ratio * 100.0)
}
fn whole(n: f64) -> String {
    count(n as u64)
}
fn times(value: f64) -> String {
    factor(Some(value))
}

const COLUMNS: [Column; 9] = [
    counts("hit%", "page_hit_ratio", Counts::hit_ratio, hundredths),
    counts("hit% r", "page_hit_ratio_read", |c| ratio(c.read_hits, c.reads), hundredths),
    counts("hit% w", "page_hit_ratio_write", |c| ratio(c.write_hits, c.writes), hundredths),
    counts("pages in", "pages_in", |c| c.pages_in as f64, whole),
    counts("pages out", "pages_out", |c| c.pages_out as f64, whole),
    report("WAF h", "waf_host", |r| r.write_amplification.host, times),
    report("WAF b", "waf_buffer", |r| r.write_amplification.buffer, times),
    report("mean", "response_mean_ns", |r| Some(r.response.all.mean_ns), time),
    report("p99", "response_p99_ns", |r| Some(r.response.all.p99_ns as f64), time),
];

/// Columns of a whole device only if there is one.
fn columns(answer: &Answer) -> impl Iterator<Item = &'static Column> {
    let has_device = answer.ftl.is_some();
    COLUMNS.iter().filter(move |column| has_device || matches!(column.value, Value::Counts(_)))
}

/// Headings, and the cells of each row.
fn cells(answer: &Answer) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let heads = ["buffer", "ram"].into_iter().chain(columns(answer).map(|column| column.head)).collect();
    let row = |row: &Row| {
        let mut cells = vec![row.buffer.clone(), Bytes(row.ram_bytes).to_string()];
        if row.error.is_some() {
            cells.push("failed".to_owned());
            return cells;
        }
        let overloaded = row.report.as_ref().is_some_and(|report| report.load.overloaded);
        cells.extend(columns(answer).map(|column| {
            let mark = if overloaded && column.csv.starts_with("response") { "!" } else { "" };
            column.of(row).map_or_else(|| "-".to_owned(), |value| (column.show)(value) + mark)
        }));
        cells
    };
    (heads, answer.rows.iter().map(row).collect())
}

/// Errors of rows that failed, and what the columns mean.
fn legend(answer: &Answer, style: Style) -> String {
    let mut text =
        "\npages in: read misses and prefetches; pages out: write-backs, writes that passed by, and the dirty \
                    pages at the end\n"
            .to_owned();
    if answer.ftl.is_some() {
        text += "WAF h: programs per page of the host, b: per page of the buffer; times: response\n";
    }
    if answer.rows.iter().any(|row| row.report.as_ref().is_some_and(|report| report.load.overloaded)) {
        text += "! overloaded: more than 1 % of the requests were waiting at the end; times grow with the trace\n";
    }
    for row in &answer.rows {
        if let Some(error) = &row.error {
            text += &format!("{} {} with {}: {error}\n", style.warn("failed:"), row.buffer, Bytes(row.ram_bytes));
        }
    }
    text
}

/// For people.
pub fn text(answer: &Answer, style: Style) -> String {
    let (heads, rows) = cells(answer);
    let mut table = Table::new(1);
    table.row(heads);
    for row in rows {
        table.row(row);
    }
    format!("{}\n\n{}{}", title(answer), table.render(style), legend(answer, style))
}

fn title(answer: &Answer) -> String {
    let below = answer.ftl.as_ref().map_or_else(|| "buffers alone".to_owned(), |ftl| format!("over the FTL {ftl}"));
    format!("{} requests of {} ({}), {below}", count(answer.trace.replayed), answer.trace.name, answer.trace.format)
}

/// For papers and READMEs.
pub fn markdown(answer: &Answer) -> String {
    let (heads, rows) = cells(answer);
    let mut text = format!("| {} |\n|-|{}\n", heads.join(" | "), "-:|".repeat(heads.len() - 1));
    for row in rows {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

/// For machines: exact numbers.
pub fn csv(answer: &Answer) -> String {
    let heads: Vec<&str> = columns(answer).map(|column| column.csv).collect();
    let mut text = format!("buffer,ram_bytes,frames,{},error\n", heads.join(","));
    for row in &answer.rows {
        let value = |column: &Column| column.of(row).map_or_else(String::new, |value| value.to_string());
        let values: Vec<String> = columns(answer).map(value).collect();
        let error = table::quoted(row.error.as_deref().unwrap_or_default());
        let buffer = table::quoted(&row.buffer);
        text += &format!("{buffer},{},{},{},{error}\n", row.ram_bytes, row.frames, values.join(","));
    }
    text
}

/// A panel for each of hits, pages written and, over an FTL, write amplification and response time.
pub fn figure(answer: &Answer) -> Figure {
    let name = answer.trace.name.rsplit(['/', '\\']).next().unwrap_or(&answer.trace.name);
    let subtitle = title(answer).replace(&answer.trace.name, name);
    let mut figure = Figure::new("Buffers by size", &subtitle);
    let panels = [
        ("Page hits", "page_hit_ratio", "page hits", Unit::Percent, 100.0),
        ("Pages written to flash", "pages_out", "pages", Unit::Count, 1.0),
        ("Write amplification", "waf_host", "programs per page of the host", Unit::Count, 1.0),
        ("Response", "response_mean_ns", "mean response", Unit::Time, 1.0),
    ];
    for (title, csv, label, unit, scale) in panels {
        if let Some(column) = columns(answer).find(|column| column.csv == csv) {
            figure = figure.row(vec![panel(answer, column, [title, label], unit, scale)]);
        }
    }
    figure
}

fn panel(answer: &Answer, column: &Column, [title, label]: [&str; 2], unit: Unit, scale: f64) -> Panel {
    let points = |rows: &[Row]| -> Vec<[f64; 2]> {
        rows.iter().filter_map(|row| Some([row.ram_bytes as f64, scale * column.of(row)?])).collect()
    };
    let curves: Vec<(&str, Vec<[f64; 2]>)> =
        answer.rows.chunk_by(|a, b| a.buffer == b.buffer).map(|rows| (rows[0].buffer.as_str(), points(rows))).collect();
    let all = || curves.iter().flat_map(|(_, points)| points);
    let range = |which: usize| {
        let values = || all().map(|point| point[which]);
        [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max)]
    };
    let high = if unit == Unit::Percent { 100.0 } else { range(1)[1] * 1.05 };
    let y = Axis::linear(label, unit, [0.0, high]);
    let empty = all().next().is_none();
    let mut panel =
        Panel::new(title, Axis::log("DRAM of the buffer", Unit::Bytes, if empty { [1.0, 2.0] } else { range(0) })).y(y);
    for (name, points) in curves {
        panel = panel.layer(Layer::line(name, points));
    }
    if empty { panel.note("no buffer could be simulated") } else { panel }
}
