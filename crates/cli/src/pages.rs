//! `nandlab pages`: one page for each buffer policy, its manual and what was measured with it.

use std::path::Path;

use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, PluginConfig};
use nandlab::report::Report;
use nandlab_trace::{Passes, Volumes};

use crate::address::{Address, Unit};
use crate::args::{PagesArgs, TraceArgs, VolumeChoice};
use crate::fail::Failure;
use crate::progress::{Part, Progress};
use crate::reading::{ReadArgs, ReadingArgs};
use crate::source::Source;
use crate::{catalog, output, parallel, run, setup};

/// What was measured last, for the pages and for `nandlab describe`.
const MEASURED: &str = include_str!("../../../docs/policies/measured.csv");
/// The file of that text.
const FILE: &str = "measured.csv";
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

/// Runs the command.
pub fn pages(args: &PagesArgs) -> Result<(), Failure> {
    let folder = Path::new(&args.folder);
    let measured = if args.keep { MEASURED.to_owned() } else { measure(args)? };
    let write = |name: &str, text: &str| output::write_file(&folder.join(name).to_string_lossy(), text.as_bytes());
    write(FILE, &measured)?;
    let mut index = "# Buffer policies\n\nOne page each, written by `nandlab pages docs/policies`: the manual (`nandlab \
                     describe NAME`) and what was\nmeasured. A test holds them to the sources.\n\n| policy | what it is |\n\
                     |-|-|\n"
        .to_owned();
    for plugin in BUFFERS {
        let (name, title) = (plugin.name(), plugin.title());
        let manual = catalog::buffer_page(&name);
        write(
            &format!("{name}.md"),
            &format!("# {name} - {title}\n\n{}\n{}", markdown(&manual), section(&measured, &name)),
        )?;
        index += &format!("| [{name}]({name}.md) | {title} |\n");
    }
    write("README.md", &index)
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
    section(MEASURED, name)
}

fn section(measured: &str, name: &str) -> String {
    let rows: Vec<Vec<&str>> =
        measured.lines().map(|line| line.split(',').collect()).filter(|row: &Vec<&str>| row[0] == name).collect();
    let mut text = format!(
        "## Measured\n\nDevice `lab` with {} on the FTL `page`, {REQUESTS} requests at most. Hits and times: pages in percent,\n\
         microseconds; write-backs are commands, the other counts pages. Recipe of a row: `nandlab run WORKLOAD --buffer {name}`\n\
         `--address compact -n {REQUESTS}` and a `--set` for each of these settings.\n\n",
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

/// All policies on all workloads.
fn measure(args: &PagesArgs) -> Result<String, Failure> {
    let workloads: Vec<&str> = WORKLOADS.into_iter().chain(args.trace.iter().map(String::as_str)).collect();
    let names: Vec<String> = BUFFERS.iter().map(nandlab::registry::Plugin::name).collect();
    let cells: Vec<(&str, &str)> =
        names.iter().flat_map(|name| workloads.iter().map(|workload| (name.as_str(), *workload))).collect();
    let progress = Progress::new("measuring", cells.len(), false);
    let rows = parallel::map(args.threads, &cells, |(name, workload)| {
        simulate(name, workload, &progress.part()).map(|report| row(name, workload, &report))
    })?;
    progress.end();
    Ok(format!("{COLUMNS}\n{}", rows.concat()))
}

fn simulate(buffer: &str, workload: &str, progress: &Part<'_>) -> Result<Report, Failure> {
    let plugin = PluginConfig::named(buffer);
    let settings = SETTINGS.map(str::to_owned);
    let (builder, config) = setup::config(Builder::preset("lab")?, Some(&plugin), None, &settings)?;
    let trace = TraceArgs {
        read: ReadArgs { trace: vec![workload.to_owned()], reading: ReadingArgs::default(), passes: Passes::default() },
        address: Address::Compact(Unit::Block),
        volumes: VolumeChoice::Together(Volumes::Reject),
        limit: Some(REQUESTS),
    };
    let mut open = || Source::open(&trace, &config);
    run::simulate(&builder, &config, &mut open, progress)
}

fn row(buffer: &str, workload: &str, report: &Report) -> String {
    // Of a file only its name: the folder is that of whoever measured.
    let workload = Path::new(workload).file_name().map_or(workload.into(), |name| name.to_string_lossy());
    let percent = |ratio: Option<f64>| ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{:.2}", 100.0 * ratio));
    let buffer_work = &report.buffer;
    format!(
        "{buffer},{workload},{},{},{},{},{},{},{},{},{:.0}\n",
        percent(report.hits.page.read),
        percent(report.hits.page.write),
        buffer_work.write_backs,
        buffer_work.pages_written_back,
        report.padding.padded_pages,
        report.flash.programs.total,
        report.flash.erases.total,
        report.write_amplification.host.map_or_else(|| "-".to_owned(), |waf| format!("{waf:.3}")),
        report.response.all.mean_ns / 1e3
    )
}
