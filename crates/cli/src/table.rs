//! Rows of a comparison as text, Markdown or comma-separated values.

use nandlab::registry::RECONSTRUCTION;
use nandlab::report::Report;

use crate::compare::{Row, RowBound};
use crate::style::{Style, Table, count, factor, short, time};

/// Which values are good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Good {
    High,
    Low,
    /// Not comparable.
    Neither,
}

/// A column: headings, value, form for people, form for machines.
struct Column {
    head: &'static str,
    csv: &'static str,
    good: Good,
    /// A time: says nothing when the run was overloaded.
    stationary: bool,
    value: Value,
    show: fn(f64) -> String,
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Value {
    Report(fn(&Report) -> Option<f64>),
    Bound(fn(&RowBound) -> Option<f64>),
}

impl Column {
    /// Its value in a row that did not fail.
    fn of(&self, row: &Row) -> Option<f64> {
        match self.value {
            Value::Report(value) => row.report.as_ref().and_then(value),
            Value::Bound(value) => row.bound.as_ref().and_then(value),
        }
    }
}

const fn column(
    head: &'static str,
    csv: &'static str,
    good: Good,
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
) -> Column {
    Column { head, csv, good, stationary: false, value: Value::Report(value), show }
}

fn whole(n: f64) -> String {
    short(n as u64)
}
fn ratio(r: f64) -> String {
    format!("{:.2}", r * 100.0)
}
fn factor_of(f: f64) -> String {
    factor(Some(f))
}

const COLUMNS: [Column; 11] = [
    column("hit% r", "page_hit_ratio_read", Good::High, |r| r.hits.page.read, ratio),
    column("hit% w", "page_hit_ratio_write", Good::High, |r| r.hits.page.write, ratio),
    Column {
        stationary: true,
        ..column("mean", "response_mean_ns", Good::Low, |r| Some(r.response.all.mean_ns), time)
    },
    Column {
        stationary: true,
        ..column("p99", "response_p99_ns", Good::Low, |r| Some(r.response.all.p99_ns as f64), time)
    },
    column("WAF h", "waf_host", Good::Low, |r| r.write_amplification.host, factor_of),
    column("WAF b", "waf_buffer", Good::Low, |r| r.write_amplification.buffer, factor_of),
    column("erases", "erases", Good::Low, |r| Some(r.flash.erases.total as f64), whole),
    column("reads", "flash_reads", Good::Low, |r| Some(r.flash.reads.total as f64), whole),
    column("programs", "flash_programs", Good::Low, |r| Some(r.flash.programs.total as f64), whole),
    column("merges", "merges", Good::Neither, |r| Some(r.merges.total() as f64), whole),
    Column {
        head: "above bound %",
        csv: "above_bound",
        good: Good::Low,
        stationary: false,
        value: Value::Bound(|b| b.above_bound),
        show: ratio,
    },
];

/// The columns: that of the bound only if there is one.
fn columns(rows: &[Row]) -> Vec<&'static Column> {
    let has_bound = rows.iter().any(|row| row.bound.is_some());
    COLUMNS.iter().filter(|column| has_bound || matches!(column.value, Value::Report(_))).collect()
}

fn is_overloaded(row: &Row) -> bool {
    row.report.as_ref().is_some_and(|report| report.load.overloaded)
}

/// For each column, the best value there is; nothing when all are equal.
fn best(rows: &[Row], columns: &[&Column]) -> Vec<Option<f64>> {
    let best = |column: &&Column| {
        let comparable = rows.iter().filter(|row| !(column.stationary && is_overloaded(row)));
        let values: Vec<f64> = comparable.filter_map(|row| column.of(row)).collect();
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        match column.good {
            _ if values.len() < 2 || low == high => None,
            Good::High => Some(high),
            Good::Low => Some(low),
            Good::Neither => None,
        }
    };
    columns.iter().map(best).collect()
}

/// For people.
pub fn text(rows: &[Row], style: Style) -> String {
    let columns = columns(rows);
    let best = best(rows, &columns);
    let mut table = Table::new(2);
    table.row(["buffer", "FTL"].into_iter().chain(columns.iter().map(|column| column.head)));
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(report) = &row.report else {
            table.row([row.buffer.as_str(), row.ftl.as_str(), "failed"]);
            let error = row.error.as_deref().unwrap_or_default();
            let pair = format!("{} on {}", row.buffer, row.ftl);
            match notes.iter_mut().find(|(known, _)| *known == error) {
                Some((_, pairs)) => pairs.push(pair),
                None => notes.push((error, vec![pair])),
            }
            continue;
        };
        let cell = |(column, best): (&&Column, &Option<f64>)| {
            let value = column.of(row);
            let is_best = value.is_some() && value == *best && !(column.stationary && report.load.overloaded);
            let shown = value.map_or_else(|| "-".to_owned(), column.show);
            let mark = match () {
                () if column.stationary && report.load.overloaded => "!",
                () if is_best => "*",
                () => " ",
            };
            (shown + mark, is_best)
        };
        let cells: Vec<(String, bool)> = columns.iter().zip(&best).map(cell).collect();
        let texts = cells.iter().map(|(text, _)| text.clone());
        table.row([row.buffer.clone(), row.ftl.clone()].into_iter().chain(texts));
        for (i, _) in cells.iter().enumerate().filter(|(_, (_, is_best))| *is_best) {
            table.embolden(i + 2);
        }
    }
    let mut text = preamble(rows) + "\n" + &table.render(style) + &legend(rows, "*");
    if !notes.is_empty() {
        text += &format!("\n{}\n", style.warn("failed:"));
        for (error, pairs) in notes {
            text += &format!("{}: {error}\n", pairs.join(", "));
        }
    }
    text
}

fn preamble(rows: &[Row]) -> String {
    let Some(report) = rows.iter().find_map(|row| row.report.as_ref()) else { return String::new() };
    let (config, trace) = (&report.config, &report.trace);
    let nvram = if config.ram.nvram.0 > 0 { format!(" + {} NVRAM", config.ram.nvram) } else { String::new() };
    format!(
        "{} requests of {} ({}) on {} with {} DRAM{nvram}, seed {}\n",
        count(report.requests.total),
        trace.name,
        trace.format,
        config.device.name,
        config.ram.dram,
        report.seed
    )
}

fn legend(rows: &[Row], best: &str) -> String {
    let mut text = format!(
        "\n{best} best; hit%: page hit ratio; WAF h: programs per page of the host, b: per page of the buffer\n"
    );
    if rows.iter().filter_map(|row| row.report.as_ref()).any(|report| report.load.overloaded) {
        text += "! overloaded: more than 1 % of the requests were waiting at the end; times grow with the trace\n";
    }
    if rows.iter().any(|row| row.bound.is_some()) {
        text += "above bound: cost of the pages that the buffer read and wrote, above the least that is possible\n";
    }
    let mut names: Vec<&str> = rows.iter().filter_map(|row| row.report.as_ref()).flat_map(reconstructed).collect();
    names.sort_unstable();
    names.dedup();
    if !names.is_empty() {
        text += &format!(
            "{RECONSTRUCTION} {}: the original text was not available; do not quote under its name\n",
            names.join(", ")
        );
    }
    text
}

fn reconstructed(report: &Report) -> impl Iterator<Item = &str> {
    report.reconstructions.iter().map(String::as_str)
}

/// For papers and READMEs.
pub fn markdown(rows: &[Row]) -> String {
    let columns = columns(rows);
    let best = best(rows, &columns);
    let heads: Vec<&str> = columns.iter().map(|column| column.head).collect();
    let mut text = format!("| buffer | FTL | {} |\n|-|-|{}\n", heads.join(" | "), "-:|".repeat(columns.len()));
    for row in rows {
        text += &format!("| {} | {} |", row.buffer, row.ftl);
        match &row.report {
            None => {
                text += &format!(" failed: {} |\n", row.error.as_deref().unwrap_or_default().replace(['\n', '|'], " "));
            }
            Some(report) => {
                for (column, best) in columns.iter().zip(&best) {
                    let value = column.of(row);
                    let shown = value.map_or_else(|| "-".to_owned(), column.show);
                    let overloaded = column.stationary && report.load.overloaded;
                    let is_best = value.is_some() && value == *best && !overloaded;
                    let mark = if overloaded { "!" } else { "" };
                    text += &if is_best { format!(" **{shown}** |") } else { format!(" {shown}{mark} |") };
                }
                text.push('\n');
            }
        }
    }
    text + &legend(rows, "**bold**")
}

/// For machines: exact numbers.
pub fn csv(rows: &[Row]) -> String {
    let columns = columns(rows);
    let heads: Vec<&str> = columns.iter().map(|column| column.csv).collect();
    let mut text = format!("buffer,ftl,status,overloaded,reconstruction,{},error\n", heads.join(","));
    for row in rows {
        let values = match &row.report {
            Some(report) => {
                let value = |column: &&Column| column.of(row).map_or_else(String::new, |v| v.to_string());
                let values: Vec<String> = columns.iter().map(value).collect();
                let is_reconstruction = !report.reconstructions.is_empty();
                format!("{},{is_reconstruction},{}", report.load.overloaded, values.join(","))
            }
            None => ",".repeat(columns.len() + 1),
        };
        let error = quoted(row.error.as_deref().unwrap_or_default());
        text += &format!("{},{},{},{values},{error}\n", quoted(&row.buffer), quoted(&row.ftl), row.status);
    }
    text
}

/// A field of comma-separated values.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
