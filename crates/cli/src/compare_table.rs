//! The table of a comparison: its columns for people, and what stands above and below it.

use std::collections::BTreeSet;

use nandlab::config::{Config, PluginConfig, Settle};
use nandlab::registry::RECONSTRUCTION;
use nandlab::report::TraceSource;
use nandlab::types::Bytes;
use nandlab_lab::compare::CompareRow;
use nandlab_lab::{Cell, Column, Compare, Comparison, Good};

use crate::columns::{Above, OVERLOADED, shown, value};
use crate::rows::{Cells, Form, Head, Heading, exact, names};
use crate::style::{Style, count, short};

/// Headings for people, and characters of a usual value.
const HEADS: [Above; 13] = [
    ("page_hit_ratio_read", "hit% r", 6),
    ("page_hit_ratio_write", "hit% w", 6),
    ("response_mean_ns", "mean", 9),
    ("response_p99_ns", "p99", 9),
    ("waf_host", "WAF h", 6),
    ("waf_buffer", "WAF b", 6),
    ("erases", "erases", 7),
    ("flash_reads", "reads", 7),
    ("flash_programs", "programs", 7),
    ("merges", "merges", 7),
    ("dirty_left", "left", 5),
    ("flush_ns", "flush", 8),
    ("above_bound", "above bound %", 6),
];

/// A time that says nothing when the run was overloaded.
fn is_response(column: &Column) -> bool {
    column.name.starts_with("response")
}

fn is_overloaded(row: &CompareRow) -> bool {
    row.report.as_ref().is_some_and(|report| report.load.overloaded)
}

/// What is printed above the rows.
pub fn heading(text: String, compare: &Compare, columns: &[Column]) -> Heading {
    let widest =
        |plugins: &[PluginConfig]| plugins.iter().map(|plugin| plugin.label().chars().count()).max().unwrap_or(0);
    let names_first = [Head::new("buffer", widest(&compare.buffers)), Head::new("FTL", widest(&compare.ftls))];
    let heads = names_first.into_iter().chain(shown(columns, &HEADS).map(|(_, _, head, width)| Head::new(head, width)));
    Heading { text, heads: heads.collect(), left: 2, exact: names(columns) }
}

/// A row.
pub fn cells(columns: &[Column], row: &[Cell]) -> Cells {
    let text = |name| columns.iter().position(|column| column.name == name).map_or(&Cell::Absent, |at| &row[at]);
    let mut people = vec![text("buffer").to_string(), text("ftl").to_string()];
    if *text("error") == Cell::Absent {
        let overloaded = *text("overloaded") == Cell::Flag(true);
        people.extend(shown(columns, &HEADS).map(|(at, column, ..)| {
            let mark = match is_response(column) {
                true if overloaded => "!",
                true => " ",
                false => "",
            };
            value(&row[at], column.unit, short) + mark
        }));
    } else {
        people.push("failed".to_owned());
    }
    Cells { shown: people, exact: vec![exact(row)] }
}

/// What is printed below the rows: the best of each column, what the columns mean, what failed and why.
pub fn foot(comparison: &Comparison, settle: Settle, form: Form, style: Style) -> String {
    if form == Form::Csv {
        return String::new();
    }
    let style = if form == Form::Text { style } else { Style::plain() };
    let rows = &comparison.rows;
    let mut text = best(comparison, form, style)
        + "\nhit%: page hit ratio; WAF h: programs per page of the host, b: per page of the buffer\n";
    text += match settle {
        Settle::Flush => "left: dirty pages at the end; writing them is in all counts, but no request waits for it\n",
        Settle::Charge => "left: dirty pages at the end; flush: time to write them, which is in no other column\n",
        Settle::None => "left: dirty pages at the end, for which nobody has paid\n",
    };
    if rows.iter().any(is_overloaded) {
        text += OVERLOADED;
    }
    if comparison.costs.is_some() {
        text += "above bound: cost of the pages that the buffer read and wrote, above the least that is possible\n";
    }
    let reports = rows.iter().filter_map(|row| row.report.as_ref());
    let names: BTreeSet<&str> = reports.flat_map(|report| &report.reconstructions).map(String::as_str).collect();
    if !names.is_empty() {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        text +=
            &format!("{RECONSTRUCTION} {names}: the original text was not available; do not quote under its name\n");
    }
    text + &failed(rows, style)
}

/// Rows that share a best value at most, for the value to be theirs.
const WINNERS_MAX: usize = 2;

/// Which rows are the best, and in what. A column in which all are equal has no best row; one whose best value many
/// rows share is named by itself.
fn best(comparison: &Comparison, form: Form, style: Style) -> String {
    let (table, rows) = (comparison.table(), &comparison.rows);
    let mut winners: Vec<(usize, Vec<&str>)> = Vec::new();
    let mut shared = Vec::new();
    for (at, column, head, _) in shown(&table.columns, &HEADS) {
        let comparable = |row: &usize| !is_response(column) || !is_overloaded(&rows[*row]);
        let value = |row: usize| table.rows[row][at].number().map(|value| (row, value));
        let values: Vec<(usize, f64)> = (0..rows.len()).filter(comparable).filter_map(value).collect();
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
            shared.push(format!("{head} ({} rows)", having.len()));
            continue;
        }
        for row in having {
            match winners.iter_mut().find(|(known, _)| *known == row) {
                Some((_, columns)) => columns.push(head),
                None => winners.push((row, vec![head])),
            }
        }
    }
    winners.sort_by_key(|(row, columns)| (std::cmp::Reverse(columns.len()), *row));
    let line = |(row, columns): &(usize, Vec<&str>)| {
        let CompareRow { buffer, ftl, .. } = &rows[*row];
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

/// The reasons of rows that failed, each once.
fn failed(rows: &[CompareRow], style: Style) -> String {
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
pub fn preamble(trace: &TraceSource, config: &Config) -> String {
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
