//! One page for each buffer policy, its manual and what was measured with it.

use std::path::Path;

use nandlab::catalog::BUFFERS;
use nandlab::registry::{self, Plugin};
use nandlab::report::Report;
use serde_json::Value;

use crate::address::{Address, AddressUnit};
use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::run::Run;
use crate::watch::{Part, Watch};
use crate::workload::Workload;

/// What was measured last, for the pages and for `nandlab describe`.
pub const RECORDED: &str = include_str!("../measured.csv");
/// The device: a quarter of `lab`, which holds the erase blocks of the trace that docs/policies is measured on.
const SETTINGS: [&str; 5] = [
    "device.geometry.blocks_per_plane=256",
    "ram.dram=4MiB",
    "ram.nvram=4MiB",
    "precondition={steady=1}",
    "replay.mode=fast",
];
/// Workloads that everybody has.
const WORKLOADS: [&str; 3] = ["make:oltp", "make:aalru-fin2:span=512MiB", "make:t1:span=768MiB"];
const REQUESTS: u64 = 80_000;
const COLUMNS: &str = "buffer,workload,read_hits,write_hits,write_backs,pages_written_back,padded_pages,programs,erases,\
                       waf_host,mean_us";

/// The pages, by the names of their files: one for each buffer policy and the list of them, with the figures of [`measure`]
/// or [`RECORDED`].
pub fn pages(measured: &str) -> Vec<(String, String)> {
    let mut index = "# Buffer policies\n\nOne page each, written by `nandlab pages docs/policies`: the manual (`nandlab \
                     describe NAME`) and what was\nmeasured. A test holds them to the sources.\n\n| policy | what it is |\n\
                     |-|-|\n"
        .to_owned();
    let mut pages = Vec::new();
    for plugin in BUFFERS {
        let (name, title) = (plugin.name(), plugin.title());
        let text =
            format!("# {name} - {title}\n\n{}\n{}", markdown(&manual(plugin, "buffer")), section(measured, &name));
        index += &format!("| [{name}]({name}.md) | {title} |\n");
        pages.push((format!("{name}.md"), text));
    }
    pages.push(("README.md".to_owned(), index));
    pages
}

/// The manual page of a plug-in, without its title: its text and its configuration with all defaults, as in the section of
/// a configuration.
pub fn manual<B>(plugin: &Plugin<B>, section: &str) -> String {
    let manual = plugin.manual();
    let mut page = manual.split_once('\n').map_or("", |(_, rest)| rest).trim().to_owned();
    page += "\n\n# Configuration with all defaults\n";
    let params = match (plugin.defaults)() {
        Value::Object(params) => params,
        _ => serde_json::Map::new(),
    };
    let absent: Vec<String> =
        params.iter().filter(|(_, value)| toml_value(value).is_none()).map(|(key, _)| format!("`{key}`")).collect();
    if !absent.is_empty() {
        page += &format!("Absent by default: {}.\n\n", absent.join(", "));
    }
    page += &format!("[{section}]\nname = \"{}\"\n", plugin.name());
    page.extend(params.iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", toml_value(value)?))));
    page
}

/// A value as it stands behind a key.
fn toml_value(value: &Value) -> Option<String> {
    if value.is_null() {
        return None;
    }
    toml::Value::try_from(value).ok().map(|value| value.to_string())
}

/// Headings one level down; the configuration at the end as a block of TOML.
fn markdown(manual: &str) -> String {
    let (text, config) = manual.trim().split_once("\n[buffer]").unwrap_or((manual, ""));
    let heading = |line: &str| match line.strip_prefix("# ") {
        Some(title) => format!("## {title}\n\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(heading).collect::<String>() + &format!("```toml\n[buffer]{config}\n```\n")
}

/// What was measured with a policy: the last section of its manual page.
pub fn measured(name: &str) -> String {
    section(RECORDED, name)
}

fn section(measured: &str, name: &str) -> String {
    let rows: Vec<Vec<&str>> =
        measured.lines().map(|line| line.split(',').collect()).filter(|row: &Vec<&str>| row[0] == name).collect();
    let mut text = format!(
        "## Measured\n\nDevice `lab` with {} on the FTL `page`, {REQUESTS} requests at most. Hits and times: pages in percent,\n\
         microseconds; write-backs are commands, the other counts pages. Recipe of a row:\n\
         `nandlab run WORKLOAD -d lab --buffer {name} --address compact -n {REQUESTS}` and a `--set` for each of these settings.\n\n",
        SETTINGS.map(|setting| format!("`{setting}`")).join(", ")
    );
    if rows.is_empty() {
        return text + "None is recorded.\n";
    }
    text += "| workload | read hits | write hits | write-backs | written back | padded | programs | erases | WAF | mean |\n";
    text += "|-|-|-|-|-|-|-|-|-|-|\n";
    for row in rows {
        text += &format!("| {} |\n", row[1..].join(" | "));
    }
    text
}

/// Measures policies on the generated workloads and on these traces, which are named by their file names: those of
/// `buffers`, others keep the figures of [`RECORDED`]; without names all of them. The figures are comma-separated values.
///
/// # Errors
/// There is no such policy, a trace cannot be read or does not fit, or `watch` stopped the work.
pub fn measure(
    buffers: &[String],
    traces: &[String],
    threads: Option<usize>,
    watch: &Watch<'_>,
) -> Result<String, Error> {
    let found = buffers.iter().map(|name| registry::find(BUFFERS, "buffer", name).map(Plugin::name));
    let buffers: Vec<String> = found.collect::<Result<_, _>>()?;
    let workloads: Vec<&str> = WORKLOADS.into_iter().chain(traces.iter().map(String::as_str)).collect();
    let is_measured = |name: &str| buffers.is_empty() || buffers.iter().any(|buffer| buffer == name);
    let all: Vec<String> = BUFFERS.iter().map(Plugin::name).collect();
    let names: Vec<&String> = all.iter().filter(|name| is_measured(name)).collect();
    let cells: Vec<(&str, &str)> =
        names.iter().flat_map(|name| workloads.iter().map(|workload| (name.as_str(), *workload))).collect();
    let work = watch.work(cells.len());
    let rows = parallel::map(threads, &watch.stop, &cells, |(name, workload)| {
        measure_one(name, workload, &work.part()).map(|report| row(name, workload, &report))
    })?;
    let kept = RECORDED.lines().skip(1).map(|line| format!("{line}\n"));
    let figures: Vec<String> = kept.filter(|row| !is_measured(buffer_of(row))).chain(rows).collect();
    let in_order = all.iter().flat_map(|name| figures.iter().filter(move |row| buffer_of(row) == name));
    Ok(in_order.fold(format!("{COLUMNS}\n"), |csv, row| csv + row))
}

/// The policy of a row of figures.
fn buffer_of(row: &str) -> &str {
    row.split(',').next().unwrap_or_default()
}

fn measure_one(buffer: &str, trace: &str, progress: &Part<'_>) -> Result<Report, Error> {
    let device =
        Device { buffer: Some(buffer.to_owned()), set: SETTINGS.map(str::to_owned).into(), ..Device::of("lab") };
    let workload =
        Workload { address: Address::Compact(AddressUnit::Block), limit: Some(REQUESTS), ..Workload::of(trace) };
    Ok(Run { device, workload }.simulate(progress, None)?.0)
}

fn row(buffer: &str, workload: &str, report: &Report) -> String {
    // Of a file only its name: the folder is that of the machine that measured.
    let workload = Path::new(workload).file_name().map_or(workload.into(), |name| name.to_string_lossy());
    // What stands between columns here and on the page.
    let workload = workload.replace([',', '|', '\n'], "_");
    let percent = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.2}", 100.0 * ratio));
    let buffer_work = &report.buffer;
    format!(
        "{buffer},{workload},{},{},{},{},{},{},{},{},{}\n",
        percent(report.hits.page.read),
        percent(report.hits.page.write),
        buffer_work.write_backs,
        buffer_work.pages_written_back,
        report.padding.padded_pages,
        report.flash.programs.total,
        report.flash.erases.total,
        report.write_amplification.host.map_or_else(|| "-".to_owned(), |waf| format!("{waf:.3}")),
        report.response.all.mean_ns.map_or_else(|| "-".to_owned(), |ns| format!("{:.0}", ns / 1e3))
    )
}
