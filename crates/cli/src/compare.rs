//! `nandlab compare`: buffers x FTLs on one trace, one table.

use std::sync::Arc;

use indicatif::ProgressBar;
use nandlab::buffer::BUFFERS;
use nandlab::config::{Config, PluginConfig, split_outside};
use nandlab::ftl::FTLS;
use nandlab::registry::{self, Plugin};
use nandlab::report::{Recorded, Report, SCHEMA_VERSION};
use serde::Serialize;

use crate::args::CompareArgs;
use crate::fail::{Exit, Failure};
use crate::source::{self, Held, Source};
use crate::style::Style;
use crate::table;
use crate::{output, parallel, run, setup};

/// One combination and what came of it.
#[derive(Serialize)]
pub struct Row {
    /// Buffer in short form.
    pub buffer: String,
    /// FTL in short form.
    pub ftl: String,
    /// `ok` or `error`.
    pub status: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
}

#[derive(Serialize)]
struct Comparison<'a> {
    schema: u32,
    nandlab: &'static str,
    /// The trace as recorded, the same for all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Recorded>,
    rows: &'a [Row],
}

/// Runs the command.
pub fn compare(args: &CompareArgs, style: Style) -> Result<(), Failure> {
    let buffers = plugins(args.buffers.as_deref(), "buffer", BUFFERS)?;
    let ftls = plugins(args.ftls.as_deref(), "ftl", FTLS)?;
    let pairs: Vec<_> = ftls.iter().flat_map(|ftl| buffers.iter().map(move |buffer| (buffer, ftl))).collect();
    let (held, config) = check(args)?;
    let bar = if args.quiet { ProgressBar::hidden() } else { run::bar("comparing") };
    bar.set_length(pairs.len() as u64);
    let rows = simulate_all(args, &pairs, held.as_ref(), &bar);
    bar.finish_and_clear();
    publish(args, &config, &rows, style)?;
    if rows.iter().any(|row| row.error.is_some()) { Err(Failure::Said(Exit::SomeRows)) } else { Ok(()) }
}

/// What no combination can do anything about (the device, the trace) ends the command at once. Standard input is read
/// here, because it can be read once.
fn check(args: &CompareArgs) -> Result<(Option<Arc<Held>>, Config), Failure> {
    let plain = (PluginConfig::named("none"), PluginConfig::named("page"));
    let settings = without_plugins(&args.device.set);
    let (_, config) = setup::config(setup::builder(&args.device)?, Some(&plain.0), Some(&plain.1), &settings)?;
    let source = Source::open(&args.trace, &config)?;
    let held = if args.trace.read.reads_stdin() { Some(source.hold()?) } else { None };
    Ok((held, config))
}

fn without_plugins(settings: &[String]) -> Vec<String> {
    settings.iter().filter(|s| !s.starts_with("buffer.") && !s.starts_with("ftl.")).cloned().collect()
}

/// The plug-ins of a list of names, or all.
pub fn plugins<B>(list: Option<&str>, section: &str, known: &[Plugin<B>]) -> Result<Vec<PluginConfig>, Failure> {
    let Some(list) = list else {
        return Ok(known.iter().map(|plugin| PluginConfig::named(&plugin.name())).collect());
    };
    let parse = |text| {
        let plugin = PluginConfig::parse(text, section)?;
        registry::find(known, section, &plugin.name)?;
        Ok(plugin)
    };
    split_outside(list, ',').into_iter().map(|text| parse(text.trim())).collect()
}

/// Rows lie in the order of the combinations whoever finishes first.
fn simulate_all(
    args: &CompareArgs,
    pairs: &[(&PluginConfig, &PluginConfig)],
    held: Option<&Arc<Held>>,
    bar: &ProgressBar,
) -> Vec<Row> {
    parallel::map(pairs.len(), parallel::threads(args.threads), |index| {
        let (buffer, ftl) = pairs[index];
        let row = simulate(args, buffer, ftl, held);
        bar.inc(1);
        row
    })
}

fn simulate(args: &CompareArgs, buffer: &PluginConfig, ftl: &PluginConfig, held: Option<&Arc<Held>>) -> Row {
    let result = (|| {
        let builder = setup::builder(&args.device)?;
        let (builder, config) = setup::config(builder, Some(buffer), Some(ftl), &args.device.set)?;
        let mut open = || match held {
            Some(held) => Ok(Source::held(held, &args.trace)),
            None => Source::open(&args.trace, &config),
        };
        let mut report = run::simulate(&builder, &config, &args.trace, &mut open, &ProgressBar::hidden())?;
        // Simulations that run side by side disturb each other's wall time, and nothing else.
        report.wall = None;
        Ok(report)
    })();
    let (report, error) = match result {
        Ok(report) => (Some(report), None),
        Err(Failure::Message(_, message)) => (None, Some(message)),
        Err(_) => (None, Some("stopped".to_owned())),
    };
    let status = if error.is_some() { "error" } else { "ok" };
    Row { buffer: buffer.label(), ftl: ftl.label(), status, error, report }
}

fn publish(args: &CompareArgs, config: &Config, rows: &[Row], style: Style) -> Result<(), Failure> {
    let recorded = source::recorded(&args.trace, config)?;
    if let Some(target) = &args.json {
        let comparison = Comparison { schema: SCHEMA_VERSION, nandlab: env!("CARGO_PKG_VERSION"), recorded, rows };
        output::write(target, &output::json(&comparison))?;
    }
    if args.quiet || args.json.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&match (args.csv, args.markdown) {
        (true, _) => table::csv(rows),
        (_, true) => table::markdown(rows),
        _ => {
            let trace = args.trace.read.trace.join(", ");
            let head = recorded.map(|recorded| format!("{trace}: {}\n\n", source::recorded_text(&recorded)));
            head.unwrap_or_default() + &table::text(rows, style)
        }
    })
}
