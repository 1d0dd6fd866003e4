//! The table of a comparison: its columns, its rows in all forms, and what stands below it.

use std::collections::BTreeSet;

use nandlab::config::{Config, PluginConfig};
use nandlab::registry::RECONSTRUCTION;
use nandlab::replay::Settle;
use nandlab::report::{FlushCost, Report, Source};
use nandlab::types::Bytes;

use crate::compare::{Row, RowBound};
use crate::rows::{Cells, Form, Head, Heading};
use crate::style::{Style, count, factor, short, time};

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
    /// Characters of a usual value.
    width: usize,
}

/// Where a value comes from.
#[derive(Clone, Copy)]
enum Value {
    Report(fn(&Report) -> Option<f64>),
    /// The final flush, if it is in no other column.
    Charge(fn(&FlushCost) -> Option<f64>),
    Bound(fn(&RowBound) -> Option<f64>),
}

impl Column {
    /// Its value in a row that did not fail.
    fn of(&self, row: &Row) -> Option<f64> {
        match self.value {
            Value::Report(value) => row.report.as_ref().and_then(value),
            Value::Charge(value) => row.report.as_ref().and_then(|r| r.settling.cost.as_ref()).and_then(value),
            Value::Bound(value) => row.bound.as_ref().and_then(value),
        }
    }
    /// Its value, if it can be compared with that of other rows.
    fn comparable(&self, row: &Row) -> Option<f64> {
        if self.stationary && is_overloaded(row) { None } else { self.of(row) }
    }
}

const fn column(
    head: &'static str,
    csv: &'static str,
    good: Good,
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
    width: usize,
) -> Column {
    Column { head, csv, good, stationary: false, value: Value::Report(value), show, width }
}

/// A time, with room for a mark.
const fn stationary(head: &'static str, csv: &'static str, value: fn(&Report) -> Option<f64>) -> Column {
    Column { stationary: true, ..column(head, csv, Good::Low, value, time, 9) }
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

const COLUMNS: [Column; 13] = [
    column("hit% r", "page_hit_ratio_read", Good::High, |r| r.hits.page.read, ratio, 6),
    column("hit% w", "page_hit_ratio_write", Good::High, |r| r.hits.page.write, ratio, 6),
    stationary("mean", "response_mean_ns", |r| Some(r.response.all.mean_ns)),
    stationary("p99", "response_p99_ns", |r| Some(r.response.all.p99_ns as f64)),
    column("WAF h", "waf_host", Good::Low, |r| r.write_amplification.host, factor_of, 6),
    column("WAF b", "waf_buffer", Good::Low, |r| r.write_amplification.buffer, factor_of, 6),
    column("erases", "erases", Good::Low, |r| Some(r.flash.erases.total as f64), whole, 7),
    column("reads", "flash_reads", Good::Low, |r| Some(r.flash.reads.total as f64), whole, 7),
    column("programs", "flash_programs", Good::Low, |r| Some(r.flash.programs.total as f64), whole, 7),
    column("merges", "merges", Good::Neither, |r| Some(r.merges.total() as f64), whole, 7),
    column("left", "dirty_left", Good::Neither, |r| Some(r.settling.dirty_pages as f64), whole, 5),
    Column {
        value: Value::Charge(|c| Some(c.elapsed_ns as f64)),
        ..column("flush", "flush_ns", Good::Neither, |_| None, time, 8)
    },
    Column {
        head: "above bound %",
        csv: "above_bound",
        good: Good::Low,
        stationary: false,
        value: Value::Bound(|b| b.above_bound),
        show: ratio,
        width: 6,
    },
];

fn is_overloaded(row: &Row) -> bool {
    row.report.as_ref().is_some_and(|report| report.load.overloaded)
}

/// A table with or without the column of the bound, for runs that end in one way.
#[derive(Clone, Copy)]
pub struct Table {
    pub has_bound: bool,
    pub settle: Settle,
}

/// Rows that share a best value at most, for the value to be theirs.
const WINNERS_MAX: usize = 2;

impl Table {
    fn columns(self) -> impl Iterator<Item = &'static Column> {
        COLUMNS.iter().filter(move |column| match column.value {
            Value::Report(_) => true,
            Value::Charge(_) => self.settle == Settle::Charge,
            Value::Bound(_) => self.has_bound,
        })
    }

    /// What stands above the rows of these combinations.
    pub fn heading(self, text: String, pairs: &[(&PluginConfig, &PluginConfig)]) -> Heading {
        let widest = |label: fn(&(&PluginConfig, &PluginConfig)) -> String| {
            pairs.iter().map(|pair| label(pair).chars().count()).max().unwrap_or(0)
        };
        let names =
            [Head::new("buffer", widest(|pair| pair.0.label())), Head::new("FTL", widest(|pair| pair.1.label()))];
        let columns: Vec<&Column> = self.columns().collect();
        let heads = names.into_iter().chain(columns.iter().map(|column| Head::new(column.head, column.width)));
        let exact: Vec<&str> = columns.iter().map(|column| column.csv).collect();
        Heading {
            text,
            heads: heads.collect(),
            left: 2,
            exact: format!("buffer,ftl,status,overloaded,reconstruction,{},error", exact.join(",")),
        }
    }

    /// A row.
    pub fn cells(self, row: &Row) -> Cells {
        let mut shown = vec![row.buffer.clone(), row.ftl.clone()];
        let mut exact = vec![row.buffer.clone(), row.ftl.clone(), row.status.to_owned()];
        if let Some(report) = &row.report {
            let overloaded = report.load.overloaded;
            exact.extend([overloaded, !report.reconstructions.is_empty()].map(|is| is.to_string()));
            for column in self.columns() {
                let value = column.of(row);
                let mark = match column.stationary {
                    true if overloaded => "!",
                    true => " ",
                    false => "",
                };
                shown.push(value.map_or_else(|| "-".to_owned(), column.show) + mark);
                exact.push(value.map_or_else(String::new, |value| value.to_string()));
            }
        } else {
            shown.push("failed".to_owned());
            exact.extend(std::iter::repeat_n(String::new(), 2 + self.columns().count()));
        }
        exact.push(row.error.clone().unwrap_or_default());
        Cells { shown, exact: vec![exact] }
    }

    /// What stands below the rows: the best of each column, what the columns mean, what failed and why.
    pub fn foot(self, rows: &[Row], form: Form, style: Style) -> String {
        if form == Form::Csv {
            return String::new();
        }
        let style = if form == Form::Text { style } else { Style::plain() };
        let mut text = self.best(rows, form, style)
            + "\nhit%: page hit ratio; WAF h: programs per page of the host, b: per page of the buffer\n";
        text += match self.settle {
            Settle::Flush => {
                "left: dirty pages at the end; writing them is in all counts, but no request waits for it\n"
            }
            Settle::Charge => "left: dirty pages at the end; flush: time to write them, which is in no other column\n",
            Settle::None => "left: dirty pages at the end, for which nobody has paid\n",
        };
        if rows.iter().any(is_overloaded) {
            text += "! overloaded: more than 1 % of the requests were waiting at the end; times grow with the trace\n";
        }
        if self.has_bound {
            text += "above bound: cost of the pages that the buffer read and wrote, above the least that is possible\n";
        }
        let reports = rows.iter().filter_map(|row| row.report.as_ref());
        let names: BTreeSet<&str> = reports.flat_map(|report| &report.reconstructions).map(String::as_str).collect();
        if !names.is_empty() {
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            text += &format!(
                "{RECONSTRUCTION} {names}: the original text was not available; do not quote under its name\n"
            );
        }
        text + &failed(rows, style)
    }

    /// Which rows are the best, and in what. A column in which all are equal has no best row; one whose best value many
    /// rows share is named by itself.
    fn best(self, rows: &[Row], form: Form, style: Style) -> String {
        let mut winners: Vec<(usize, Vec<&str>)> = Vec::new();
        let mut shared = Vec::new();
        for column in self.columns() {
            let values: Vec<(usize, f64)> =
                rows.iter().enumerate().filter_map(|(row, r)| column.comparable(r).map(|value| (row, value))).collect();
            let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), (_, v)| (l.min(*v), h.max(*v)));
            let best = match column.good {
                Good::High => high,
                Good::Low => low,
                Good::Neither => continue,
            };
            if values.len() < 2 || low == high {
                continue;
            }
            let having: Vec<usize> = values.iter().filter(|(_, value)| *value == best).map(|(row, _)| *row).collect();
            if having.len() > WINNERS_MAX {
                shared.push(format!("{} ({} rows)", column.head, having.len()));
                continue;
            }
            for row in having {
                match winners.iter_mut().find(|(known, _)| *known == row) {
                    Some((_, columns)) => columns.push(column.head),
                    None => winners.push((row, vec![column.head])),
                }
            }
        }
        winners.sort_by_key(|(row, columns)| (std::cmp::Reverse(columns.len()), *row));
        let line = |(row, columns): &(usize, Vec<&str>)| {
            let Row { buffer, ftl, .. } = &rows[*row];
            format!("{}: {}", style.bold(&format!("{buffer} on {ftl}")), columns.join(", "))
        };
        let mut lines: Vec<String> = winners.iter().map(line).collect();
        if !shared.is_empty() {
            lines.push(format!("shared: {}", shared.join(", ")));
        }
        match (lines.is_empty(), form) {
            (true, _) => String::new(),
            (false, Form::Text) => format!("\nbest  {}\n", lines.join("\n      ")),
            (false, _) => format!("\nbest: {}\n", lines.join("; ")),
        }
    }
}

/// The reasons of rows that failed, each once.
fn failed(rows: &[Row], style: Style) -> String {
    let mut notes: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let Some(error) = row.error.as_deref() else { continue };
        let pair = format!("{} on {}", row.buffer, row.ftl);
        match notes.iter_mut().find(|(known, _)| *known == error) {
            Some((_, pairs)) => pairs.push(pair),
            None => notes.push((error, vec![pair])),
        }
    }
    if notes.is_empty() {
        return String::new();
    }
    let lines: String = notes.iter().map(|(error, pairs)| format!("{}: {error}\n", pairs.join(", "))).collect();
    format!("\n{}\n{lines}", style.warn("failed:"))
}

/// What is compared, before anything is known but the configuration.
pub fn preamble(trace: &Source, config: &Config) -> String {
    let nvram = if config.ram.nvram.0 > 0 { format!(" + {} NVRAM", config.ram.nvram) } else { String::new() };
    let most = trace.limit.map(|limit| format!(", the first {} requests", count(limit))).unwrap_or_default();
    // A trace may be a hundred files: the report names them all.
    let name = match trace.files.as_slice() {
        [first, more @ ..] if !more.is_empty() => format!("{first} and {} more", more.len()),
        _ => trace.name.clone(),
    };
    format!(
        "{name} ({}){most} on {} of {} with {} DRAM{nvram}, seed {}\n",
        trace.format,
        config.device.name,
        Bytes(u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_bytes)),
        config.ram.dram,
        config.seed
    )
}
