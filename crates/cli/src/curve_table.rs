//! The table of curves: its columns for people, and what stands above and below it.

use nandlab::config::PluginConfig;
use nandlab::report::TraceSource;
use nandlab::types::Bytes;
use nandlab_lab::curve::{BOUND, Point};
use nandlab_lab::{Column, Curves, Unit};

use crate::columns::{Above, OVERLOADED, shown, value};
use crate::rows::{Cells, Form, Head, Heading, exact, names};
use crate::style::{Style, count};

/// Headings for people, and characters of a usual value.
const HEADS: [Above; 9] = [
    ("page_hit_ratio", "hit%", 6),
    ("page_hit_ratio_read", "hit% r", 6),
    ("page_hit_ratio_write", "hit% w", 6),
    ("pages_in", "pages in", 10),
    ("pages_out", "pages out", 10),
    ("waf_host", "WAF h", 9),
    ("waf_buffer", "WAF b", 9),
    ("response_mean_ns", "mean", 9),
    ("response_p99_ns", "p99", 9),
];

/// What is drawn.
pub fn title(trace: &TraceSource, ftl: Option<&PluginConfig>) -> String {
    let below = ftl.map_or_else(|| "buffers alone".to_owned(), |ftl| format!("over the FTL {}", ftl.label()));
    format!("{} requests of {} ({}), {below}", count(trace.replayed), trace.name, trace.format)
}

/// What is printed above the rows.
pub fn heading(title: &str, columns: &[Column], buffers: &[PluginConfig]) -> Heading {
    let widest = buffers.iter().map(|buffer| buffer.label().chars().count()).max().unwrap_or(0).max(BOUND.len());
    let first = [Head::new("buffer", widest), Head::new("ram", 8)];
    let heads = first.into_iter().chain(shown(columns, &HEADS).map(|(_, _, head, width)| Head::new(head, width)));
    Heading { text: format!("{title}\n"), heads: heads.collect(), left: 1, exact: names(columns) }
}

/// A row.
pub fn cells(columns: &[Column], point: &Point) -> Cells {
    let row = point.cells(columns);
    let (error, overloaded, ram_bytes) = match point {
        Point::Row(row) => {
            let overloaded = row.report.as_ref().is_some_and(|report| report.load.overloaded);
            (row.error.is_some(), overloaded, row.ram_bytes)
        }
        Point::Bound(least) => (false, false, least.ram_bytes),
    };
    let mut people = vec![row[0].to_string(), Bytes(ram_bytes).to_string()];
    if error {
        people.push("failed".to_owned());
    } else {
        people.extend(shown(columns, &HEADS).map(|(at, column, ..)| {
            let mark = match column.unit {
                Unit::Time if overloaded => "!",
                Unit::Time => " ",
                _ => "",
            };
            value(&row[at], column.unit, count) + mark
        }));
    }
    Cells { shown: people, exact: vec![exact(&row)] }
}

/// Errors of rows that failed, and what the columns mean.
pub fn foot(curves: &Curves, form: Form, style: Style) -> String {
    if form != Form::Text {
        return String::new();
    }
    let mut text = "\npages in: read misses and prefetches; pages out: write-backs, bypassing writes, and the dirty \
                    pages at the end\n"
        .to_owned();
    if curves.ftl.is_some() {
        text += "WAF h: programs per page of the host, b: per page of the buffer; times: response\n";
    }
    if !curves.bounds.is_empty() {
        text += "(bound): no buffer with this DRAM alone does better in any one column, except prefetches that hints allow\n";
    }
    if curves.rows.iter().any(|row| row.report.as_ref().is_some_and(|report| report.load.overloaded)) {
        text += OVERLOADED;
    }
    for row in &curves.rows {
        if let Some(error) = &row.error {
            text += &format!("{} {} with {}: {error}\n", style.warn("failed:"), row.buffer, Bytes(row.ram_bytes));
        }
    }
    text
}
