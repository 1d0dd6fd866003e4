//! Curves as tables and as a picture.

use nandlab::config::PluginConfig;
use nandlab::ledger::ratio;
use nandlab::offline::Counts;
use nandlab::report::Report;
use nandlab::types::Bytes;
use nandlab_plot::{Axis, Figure, Layer, Panel, Unit};

use crate::curve::{Answer, Done, Least, Row};
use crate::rows::{Cells, Form, Head, Heading};
use crate::style::{Style, count, factor, time};

/// The name of what no buffer can do better.
const BOUND: &str = "(bound)";

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
    /// What no buffer can do better, where that is known.
    bound: Option<fn(&Least) -> f64>,
    /// Characters of a usual value.
    width: usize,
}

impl Column {
    fn of(&self, row: &Row) -> Option<f64> {
        match self.value {
            Value::Counts(value) => row.counts.as_ref().map(value),
            Value::Report(value) => row.report.as_ref().and_then(value),
        }
    }
}

const fn counts(
    head: &'static str,
    csv: &'static str,
    value: fn(&Counts) -> f64,
    show: fn(f64) -> String,
    bound: Option<fn(&Least) -> f64>,
    width: usize,
) -> Column {
    Column { head, csv, value: Value::Counts(value), show, bound, width }
}
const fn report(
    head: &'static str,
    csv: &'static str,
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
) -> Column {
    Column { head, csv, value: Value::Report(value), show, bound: None, width: 9 }
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
    counts("hit%", "page_hit_ratio", Counts::hit_ratio, hundredths, Some(|b| b.page_hit_ratio), 6),
    counts("hit% r", "page_hit_ratio_read", |c| ratio(c.read_hits, c.reads), hundredths, None, 6),
    counts("hit% w", "page_hit_ratio_write", |c| ratio(c.write_hits, c.writes), hundredths, None, 6),
    counts("pages in", "pages_in", |c| c.pages_in as f64, whole, Some(|b| b.pages_in as f64), 10),
    counts("pages out", "pages_out", |c| c.pages_out as f64, whole, Some(|b| b.pages_out as f64), 10),
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

/// What stands above the rows.
pub fn heading(answer: &Answer, buffers: &[PluginConfig]) -> Heading {
    let widest = buffers.iter().map(|buffer| buffer.label().chars().count()).max().unwrap_or(0).max(BOUND.len());
    let names = [Head::new("buffer", widest), Head::new("ram", 8)];
    let heads = names.into_iter().chain(columns(answer).map(|column| Head::new(column.head, column.width))).collect();
    let exact: Vec<&str> = columns(answer).map(|column| column.csv).collect();
    let exact = format!("buffer,ram_bytes,frames,{},error", exact.join(","));
    Heading { text: format!("{}\n", title(answer)), heads, left: 1, exact }
}

/// A row.
pub fn cells(answer: &Answer, done: &Done) -> Cells {
    let (name, ram_bytes, frames) = match done {
        Done::Row(row) => (row.buffer.as_str(), row.ram_bytes, row.frames),
        Done::Bound(least) => (BOUND, least.ram_bytes, least.frames),
    };
    let error = match done {
        Done::Row(row) => row.error.as_deref(),
        Done::Bound(_) => None,
    };
    let overloaded = matches!(done, Done::Row(row) if row.report.as_ref().is_some_and(|report| report.load.overloaded));
    let mut shown = vec![name.to_owned(), Bytes(ram_bytes).to_string()];
    let mut exact = vec![name.to_owned(), ram_bytes.to_string(), frames.to_string()];
    for column in columns(answer) {
        let value = match done {
            Done::Row(row) => column.of(row),
            Done::Bound(least) => column.bound.map(|bound| bound(least)),
        };
        let mark = match column.csv.starts_with("response") {
            true if overloaded => "!",
            true => " ",
            false => "",
        };
        shown.push(value.map_or_else(|| "-".to_owned(), column.show) + mark);
        exact.push(value.map_or_else(String::new, |value| value.to_string()));
    }
    if error.is_some() {
        shown.truncate(2);
        shown.push("failed".to_owned());
    }
    exact.push(error.unwrap_or_default().to_owned());
    Cells { shown, exact: vec![exact] }
}

/// Errors of rows that failed, and what the columns mean.
pub fn foot(answer: &Answer, form: Form, style: Style) -> String {
    if form != Form::Text {
        return String::new();
    }
    let mut text =
        "\npages in: read misses and prefetches; pages out: write-backs, writes that passed by, and the dirty \
                    pages at the end\n"
            .to_owned();
    if answer.ftl.is_some() {
        text += "WAF h: programs per page of the host, b: per page of the buffer; times: response\n";
    }
    if !answer.bounds.is_empty() {
        text += "(bound): no buffer with this DRAM alone does better in any one column, but for prefetches of what hints foretell\n";
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

fn title(answer: &Answer) -> String {
    let below = answer.ftl.as_ref().map_or_else(|| "buffers alone".to_owned(), |ftl| format!("over the FTL {ftl}"));
    format!("{} requests of {} ({}), {below}", count(answer.trace.replayed), answer.trace.name, answer.trace.format)
}

/// A panel for each of hits, pages written and, over an FTL, write amplification and response time.
pub fn figure(answer: &Answer) -> Figure {
    let name = answer.trace.name.rsplit(['/', '\\']).next().unwrap_or(&answer.trace.name);
    let mut subtitle = title(answer).replace(&answer.trace.name, name);
    if !answer.bounds.is_empty() {
        subtitle += "; dashed: no buffer with this DRAM does better";
    }
    let mut figure = Figure::new("Buffers by size", &subtitle);
    let panels = [
        ("Page hits", "page_hit_ratio", "page hits", Unit::Percent, 100.0),
        ("Pages written to flash", "pages_out", "pages", Unit::Count, 1.0),
        ("Write amplification", "waf_host", "programs per host page", Unit::Count, 1.0),
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
    let bound = column.bound.map(|value| {
        answer.bounds.iter().map(|least| [least.ram_bytes as f64, scale * value(least)]).collect::<Vec<_>>()
    });
    let lines = || curves.iter().map(|(_, points)| points).chain(&bound);
    let sizes = || lines().flatten().map(|point| point[0]);
    let (low, high) = sizes().fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), x| (low.min(x), high.max(x)));
    let values: Vec<Vec<f64>> = lines().map(|points| points.iter().map(|point| point[1]).collect()).collect();
    let x = Axis::log("DRAM of the buffer", Unit::Bytes, if low > high { [1.0, 2.0] } else { [low, high] });
    let mut panel = Panel::new(title, x).y(Axis::fit(label, unit, &values));
    for (name, points) in curves {
        panel = panel.layer(Layer::line(name, points).marked());
    }
    if let Some(points) = bound {
        panel = panel.layer(Layer::line(BOUND, points).dashed().neutral());
    }
    if low > high { panel.note("no buffer could be simulated") } else { panel }
}
