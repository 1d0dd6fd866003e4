//! One trace at a glance: about 100 columns.

use nandlab::types::Bytes;
use nandlab_trace::{ByOp, InfoReport, Summary};

use crate::style::{Style, Table, count, factor, nanos, short, short_time};

/// Devices that are listed.
const DEVICES: usize = 12;
/// Bars of the write share over time, and their heights.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The report as text.
///
/// `command` replays it.
pub fn report(report: &InfoReport, command: &str, style: Style) -> String {
    let parts = [
        head(report, style),
        requests(report, style),
        facts(report, style),
        distributions(report, style),
        sizes(report, style),
        hits(report, style),
        devices(report, style),
        findings(report, command, style),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

fn percent(value: f64) -> String {
    format!("{value:.2} %")
}
fn or_dash(value: Option<f64>, show: fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}
fn bytes(n: u64) -> String {
    let (value, unit) = match n {
        0..0x400 => return format!("{n} B"),
        0x400..0x10_0000 => (n as f64 / 1024.0, "KiB"),
        0x10_0000..0x4000_0000 => (n as f64 / 1_048_576.0, "MiB"),
        _ => (n as f64 / 1_073_741_824.0, "GiB"),
    };
    format!("{value:.2} {unit}")
}

fn head(report: &InfoReport, style: Style) -> String {
    let mut text = format!("{} {}, read as {} {}\n", style.bold("trace"), report.name, report.format, report.reason);
    if let Some([first, last]) = &report.recorded {
        text += &format!("{} {first} to {last}\n", style.bold("recorded"));
    }
    if report.sample_rate < 1.0 {
        let rate = 100.0 * report.sample_rate;
        let note = format!("~ estimated: {rate:.4} % of the 4 KiB pages were followed");
        text += &format!("{}\n", style.warn(&note));
    }
    text
}

fn requests(r: &InfoReport, style: Style) -> String {
    let about = if r.sample_rate < 1.0 { "~" } else { "" };
    let footprint = &r.footprint;
    let mut table = Table::new(1);
    table.row(["REQUESTS", "requests", "share", "bytes", "mean size", "unique 4 KiB pages", "first accesses"]);
    let all = r.read_bytes + r.written_bytes;
    let rows = [
        ("read", r.reads, r.read_bytes, r.mean_read_kib, footprint.read_bytes, r.cold_percent.reads),
        ("write", r.writes, r.written_bytes, r.mean_write_kib, footprint.written_bytes, r.cold_percent.writes),
        ("all", r.requests, all, r.mean_kib, footprint.all_bytes, r.cold_percent.all),
    ];
    for (name, n, sum, mean, unique, cold) in rows {
        let share = if r.requests == 0 { 0.0 } else { 100.0 * n as f64 / r.requests as f64 };
        let unique = format!("{about}{}", bytes(unique));
        let cold = if cold.is_some() { about.to_owned() } else { String::new() } + &or_dash(cold, percent);
        table.row([name.to_owned(), count(n), percent(share), bytes(sum), format!("{mean:.2} KiB"), unique, cold]);
    }
    for (name, n) in [("trim", r.trims), ("flush", r.flushes), ("bad rows skipped", r.bad_rows)] {
        if n > 0 {
            table.row([name.to_owned(), count(n)]);
        }
    }
    table.render(style)
}

fn facts(r: &InfoReport, style: Style) -> String {
    let footprint = &r.footprint;
    let about = if r.sample_rate < 1.0 { "~" } else { "" };
    let windows = r.sequential_windows.iter().zip(r.sequential_percent);
    let windows: Vec<String> = windows.map(|(window, share)| format!("{share:.1} % ({window})")).collect();
    let idle = r.duration_ns.saturating_sub(r.active_ns);
    let lines = [
        ("duration", format!("{}, active {}, idle {}", nanos(r.duration_ns), nanos(r.active_ns), nanos(idle))),
        ("top address", bytes(r.top_bytes)),
        ("sequential", format!("{} requests back", windows.join(", "))),
        ("not 4K-aligned", format!("{}; {} rows out of order", percent(r.unaligned_percent), count(r.out_of_order))),
        (
            "read and written",
            format!(
                "{about}{} of pages, {} of all; each written byte {about}{} times",
                bytes(footprint.both_bytes),
                or_dash(footprint.both_percent, percent),
                factor(footprint.overwrite_ratio)
            ),
        ),
        ("write share", writes_over_time(r)),
    ];
    let line = |(name, value): &(&str, String)| format!("{} {value}\n", style.bold(&format!("{name:<16}")));
    lines.iter().map(line).collect()
}

/// A bar for each slice of time; blank without requests.
fn writes_over_time(r: &InfoReport) -> String {
    let bar = |share: Option<f64>| share.map_or(' ', |share| BARS[((share / 12.5) as usize).min(7)]);
    let bars: String = r.over_time.iter().map(|slice| bar(slice.write_percent)).collect();
    match r.over_time.get(1) {
        Some(second) => format!("|{bars}| 0 to 100 %, {} a bar", nanos(second.start_ns)),
        None => "one moment".to_owned(),
    }
}

type Show = fn(f64) -> String;

fn distributions(r: &InfoReport, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(["DISTRIBUTIONS", "mean", "p1", "p10", "p25", "p50", "p75", "p90", "p99", "p99.9", "max"]);
    let mut row = |name: &str, s: &Summary, show: Show| {
        if s.count > 0 {
            let values = [s.p1, s.p10, s.p25, s.p50, s.p75, s.p90, s.p99, s.p999, s.max];
            let values = values.map(|value| or_dash(value.map(|value| value as f64), show));
            table.row([name.to_owned(), or_dash(s.mean, show)].into_iter().chain(values));
        }
    };
    let kib: Show = |value| format!("{}", (value / 10.24).round() / 100.0);
    let pages: Show = |value| short(value as u64);
    let mut three = |name: &str, by: &ByOp<Summary>, show: Show| {
        for (kind, summary) in [("reads", &by.reads), ("writes", &by.writes), ("all", &by.all)] {
            row(&format!("{name}, {kind}"), summary, show);
        }
    };
    three("size KiB", &r.size_bytes, kib);
    three("reuse pages", &r.reuse_distance_pages, pages);
    three("reuse time", &r.reuse_time_ns, short_time);
    row("reads alone, pages", &r.reuse_distance_reads_alone_pages, pages);
    row("writes alone, pages", &r.reuse_distance_writes_alone_pages, pages);
    row("update interval", &r.update_interval_ns, short_time);
    row("inter-arrival", &r.inter_arrival_ns, short_time);
    table.render(style)
}

fn sizes(r: &InfoReport, style: Style) -> String {
    if r.frequent_sizes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(1);
    table.row(["FREQUENT SIZES", "share", "reads", "writes"]);
    for size in &r.frequent_sizes {
        table.row([Bytes(size.bytes).to_string(), percent(size.percent), count(size.reads), count(size.writes)]);
    }
    table.render(style)
}

/// Hit ratios of LRU at powers of four.
fn hits(r: &InfoReport, style: Style) -> String {
    let mut table = Table::new(1);
    table.row(["LRU PAGE HITS", "reads", "writes", "all", "reads alone", "writes alone"]);
    let last = r.lru_hits.len().saturating_sub(1);
    for (i, point) in r.lru_hits.iter().enumerate() {
        let pages = point.cache_bytes / nandlab_trace::PAGE_BYTES;
        let is_shown = i == last || (pages >= 64 && pages.is_power_of_two() && pages.ilog2().is_multiple_of(2));
        if is_shown {
            let ratios = [point.reads, point.writes, point.all, point.reads_alone, point.writes_alone];
            let ratios = ratios.map(|ratio| or_dash(ratio, percent));
            table.row([Bytes(point.cache_bytes).to_string()].into_iter().chain(ratios));
        }
    }
    table.render(style)
}

fn devices(r: &InfoReport, style: Style) -> String {
    if r.devices.len() < 2 {
        return String::new();
    }
    let mut table = Table::new(1);
    table.row(["DEVICES", "requests", "writes", "read", "written", "top address"]);
    for device in r.devices.iter().take(DEVICES) {
        let (read, written, top) = (bytes(device.read_bytes), bytes(device.written_bytes), bytes(device.top_bytes));
        let requests = count(device.requests);
        table.row([device.device.to_string(), requests, percent(device.write_percent), read, written, top]);
    }
    let mut text = table.render(style);
    if r.devices.len() > DEVICES {
        text += &format!("and {} more: --json lists all\n", count((r.devices.len() - DEVICES) as u64));
    }
    text
}

/// What a user should know before a replay, and the command for it.
fn findings(r: &InfoReport, command: &str, style: Style) -> String {
    let mut text = format!("{}\n", style.bold("FINDINGS"));
    for finding in &r.findings {
        let mark = if finding.warning { '!' } else { ' ' };
        let options = match &finding.options[..] {
            [] => String::new(),
            options => format!(": {}", options.join(" ")),
        };
        let mut lines = wrapped(&format!("{}{options}", finding.text)).into_iter();
        let first = format!("{mark} {:<9} {}", finding.topic, lines.next().unwrap_or_default());
        for line in std::iter::once(first).chain(lines.map(|line| format!("{:12}{line}", ""))) {
            text += &format!("{}\n", if finding.warning { style.warn(&line) } else { line });
        }
    }
    text + &format!("{}\n  {command}\n", style.bold("TO RUN IT"))
}

/// Lines of at most 88 characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + word.chars().count() >= 88 {
            lines.push(word.to_owned());
        } else {
            *line += if line.is_empty() { "" } else { " " };
            *line += word;
        }
    }
    lines
}
