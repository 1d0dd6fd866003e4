//! Many traces, one row each.

use nandlab_lab::csv_line;
use nandlab_trace::InfoReport;

use crate::style::{Style, Table, count};

/// A column: its heading for people and for machines, the exact value, and how it is shown.
struct Column {
    head: &'static str,
    csv: &'static str,
    value: fn(&InfoReport) -> f64,
    decimals: usize,
}

const fn column(head: &'static str, csv: &'static str, value: fn(&InfoReport) -> f64, decimals: usize) -> Column {
    Column { head, csv, value, decimals }
}

const MIB: f64 = 1_048_576.0;

/// The columns; MiB, KiB and GiB are powers of two.
const COLUMNS: &[Column] = &[
    column("requests", "requests", |r| r.requests as f64, 0),
    column("write %", "write_percent", |r| r.write_percent, 2),
    column("KiB", "mean_kib", |r| r.mean_kib, 2),
    column("KiB R", "mean_read_kib", |r| r.mean_read_kib, 2),
    column("KiB W", "mean_write_kib", |r| r.mean_write_kib, 2),
    column("MiB R", "read_mib", |r| r.read_bytes as f64 / MIB, 1),
    column("MiB W", "written_mib", |r| r.written_bytes as f64 / MIB, 1),
    column("unique R", "unique_read_mib", |r| r.footprint.read_bytes as f64 / MIB, 1),
    column("unique W", "unique_written_mib", |r| r.footprint.written_bytes as f64 / MIB, 1),
    column("s", "duration_s", |r| r.duration_ns as f64 / 1e9, 3),
    column("active s", "active_s", |r| r.active_ns as f64 / 1e9, 3),
    column("top GiB", "top_gib", |r| r.top_bytes as f64 / MIB / 1024.0, 3),
    column("seq %", "sequential_percent", |r| r.sequential_percent[0], 1),
    column("unal. %", "unaligned_percent", |r| r.unaligned_percent, 1),
    column("disorder", "out_of_order", |r| r.out_of_order as f64, 0),
];

fn shown(column: &Column, report: &InfoReport) -> String {
    let value = (column.value)(report);
    let estimated = report.sample_rate < 1.0 && column.csv.starts_with("unique");
    let mark = if estimated { "~" } else { "" };
    match column.decimals {
        0 => count(value as u64),
        decimals => format!("{mark}{value:.decimals$}"),
    }
}

/// For people.
pub fn table(reports: &[InfoReport], style: Style) -> String {
    let mut table = Table::new(2);
    table.row(["trace", "format"].into_iter().chain(COLUMNS.iter().map(|column| column.head)));
    for report in reports {
        let names = [report.name.clone(), report.format.clone()];
        table.row(names.into_iter().chain(COLUMNS.iter().map(|column| shown(column, report))));
    }
    table.render(style)
}

/// For papers and READMEs.
pub fn markdown(reports: &[InfoReport]) -> String {
    let heads: Vec<&str> = COLUMNS.iter().map(|column| column.head).collect();
    let mut text = format!("| trace | format | {} |\n|-|-|{}\n", heads.join(" | "), "-:|".repeat(COLUMNS.len()));
    for report in reports {
        let cells: Vec<String> = COLUMNS.iter().map(|column| shown(column, report)).collect();
        let name = report.name.replace('|', "\\|");
        text += &format!("| `{name}` | {} | {} |\n", report.format, cells.join(" | "));
    }
    text
}

/// For machines: exact numbers, and the share of pages that were followed.
pub fn csv(reports: &[InfoReport]) -> String {
    let heads: Vec<&str> = COLUMNS.iter().map(|column| column.csv).collect();
    let mut text = format!("trace,format,{},sample_rate\n", heads.join(","));
    for report in reports {
        let cells = COLUMNS.iter().map(|column| (column.value)(report).to_string());
        let names = [report.name.clone(), report.format.clone()];
        text += &csv_line(names.into_iter().chain(cells).chain([report.sample_rate.to_string()]));
    }
    text
}
