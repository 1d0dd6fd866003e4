//! Rows of a comparison as text, Markdown or comma-separated values.

use nandlab::report::Report;

use crate::compare::Row;
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
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
}

const fn column(
    head: &'static str,
    csv: &'static str,
    good: Good,
    value: fn(&Report) -> Option<f64>,
    show: fn(f64) -> String,
) -> Column {
    Column { head, csv, good, stationary: false, value, show }
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

const COLUMNS: [Column; 10] = [
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
];

/// For each column, the best value there is; nothing when all are equal.
fn best(rows: &[Row]) -> [Option<f64>; COLUMNS.len()] {
    COLUMNS.each_ref().map(|column| {
        let reports = rows.iter().filter_map(|row| row.report.as_ref());
        let comparable = reports.filter(|report| !(column.stationary && report.load.overloaded));
        let values: Vec<f64> = comparable.filter_map(column.value).collect();
        let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        match column.good {
            _ if values.len() < 2 || low == high => None,
            Good::High => Some(high),
            Good::Low => Some(low),
            Good::Neither => None,
        }
    })
}

/// For people.
pub fn text(rows: &[Row], style: Style) -> String {
    let best = best(rows);
    let mut table = Table::new(2);
    table.row(["buffer", "FTL"].into_iter().chain(COLUMNS.iter().map(|column| column.head)));
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
        let cell = |(column, best): (&Column, &Option<f64>)| {
            let value = (column.value)(report);
            let is_best = value.is_some() && value == *best && !(column.stationary && report.load.overloaded);
            let shown = value.map_or_else(|| "-".to_owned(), column.show);
            let mark = match () {
                () if column.stationary && report.load.overloaded => "!",
                () if is_best => "*",
                () => " ",
            };
            (shown + mark, is_best)
        };
        let cells: Vec<(String, bool)> = COLUMNS.iter().zip(&best).map(cell).collect();
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
    text
}

/// For papers and READMEs.
pub fn markdown(rows: &[Row]) -> String {
    let best = best(rows);
    let heads: Vec<&str> = COLUMNS.iter().map(|column| column.head).collect();
    let mut text = format!("| buffer | FTL | {} |\n|-|-|{}\n", heads.join(" | "), "-:|".repeat(COLUMNS.len()));
    for row in rows {
        text += &format!("| {} | {} |", row.buffer, row.ftl);
        match &row.report {
            None => {
                text += &format!(" failed: {} |\n", row.error.as_deref().unwrap_or_default().replace(['\n', '|'], " "));
            }
            Some(report) => {
                for (column, best) in COLUMNS.iter().zip(&best) {
                    let value = (column.value)(report);
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
    let heads: Vec<&str> = COLUMNS.iter().map(|column| column.csv).collect();
    let mut text = format!("buffer,ftl,status,overloaded,{},error\n", heads.join(","));
    for row in rows {
        let values = match &row.report {
            Some(report) => {
                let value = |column: &Column| (column.value)(report).map_or_else(String::new, |v| v.to_string());
                let values: Vec<String> = COLUMNS.iter().map(value).collect();
                format!("{},{}", report.load.overloaded, values.join(","))
            }
            None => ",".repeat(COLUMNS.len()),
        };
        let error = quoted(row.error.as_deref().unwrap_or_default());
        text += &format!("{},{},{},{values},{error}\n", quoted(&row.buffer), quoted(&row.ftl), row.status);
    }
    text
}

/// A value of a file of comma-separated values.
pub fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
