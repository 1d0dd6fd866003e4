//! `nandlab compare`: buffers x FTLs on one trace, one table.

use indicatif::ProgressBar;
use nandlab::buffer::{BUFFERS, Frames};
use nandlab::config::{Config, PluginConfig, Precondition, split_outside};
use nandlab::ftl::FTLS;
use nandlab::offline::{Costs, Counts, ROUNDS, Segments, lower_bound};
use nandlab::registry::{self, Plugin};
use nandlab::report::{Recorded, Report, SCHEMA_VERSION};
use serde::Serialize;

use crate::args::CompareArgs;
use crate::fail::{Exit, Failure};
use crate::source::{self, Again};
use crate::style::Style;
use crate::table;
use crate::{alone, bound, output, parallel, run, setup};

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
    /// The least that a buffer of its size could cost, with --bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<RowBound>,
}

/// A row beside what is possible.
#[derive(Serialize)]
pub struct RowBound {
    /// Frames that the bound allows: of DRAM, and of NVRAM if the policy used it.
    frames: u32,
    /// No buffer of so many frames costs less.
    bound: u64,
    /// Counts of the run that cost something.
    counts: Counts,
    /// Cost of the run.
    cost: u64,
    /// `cost / bound - 1`; nothing if nothing need cost anything.
    pub above_bound: Option<f64>,
}

#[derive(Serialize)]
struct Comparison<'a> {
    schema: u32,
    nandlab: &'static str,
    /// The trace as recorded, the same for all rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded: Option<Recorded>,
    /// What pages cost, with --bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<Costs>,
    rows: &'a [Row],
}

/// Runs the command.
pub fn compare(args: &CompareArgs, style: Style) -> Result<(), Failure> {
    let buffers = plugins(args.buffers.as_deref(), "buffer", BUFFERS)?;
    let ftls = plugins(args.ftls.as_deref(), "ftl", FTLS)?;
    let pairs: Vec<_> = ftls.iter().flat_map(|ftl| buffers.iter().map(move |buffer| (buffer, ftl))).collect();
    let config = check(args)?;
    let again = Again::new(&args.trace, &config)?;
    let costs = costs(args, &config)?;
    let bar = if args.output.quiet { ProgressBar::hidden() } else { run::bar("comparing") };
    bar.set_length(pairs.len() as u64);
    let mut rows = parallel::map(args.output.threads, &pairs, |(buffer, ftl)| {
        let row = simulate(args, buffer, ftl, &again);
        bar.inc(1);
        row
    });
    if let Some(costs) = costs {
        bar.set_message("looking into the future");
        set_bounds(args, &config, &mut rows, costs, &again)?;
    }
    bar.finish_and_clear();
    publish(args, &config, &rows, costs, style)?;
    if rows.iter().any(|row| row.error.is_some()) { Err(Failure::Said(Exit::SomeRows)) } else { Ok(()) }
}

/// What no combination can do anything about (the device, the trace) ends the command at once.
fn check(args: &CompareArgs) -> Result<Config, Failure> {
    let plain = (PluginConfig::named("none"), PluginConfig::named("page"));
    let settings = without_plugins(&args.device.set);
    let (_, config) =
        setup::config(setup::builder(&args.device, args.size.ram)?, Some(&plain.0), Some(&plain.1), &settings)?;
    Ok(config)
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

fn simulate(args: &CompareArgs, buffer: &PluginConfig, ftl: &PluginConfig, again: &Again<'_>) -> Row {
    let result = (|| {
        let builder = setup::builder(&args.device, args.size.ram)?;
        let (builder, config) = setup::config(builder, Some(buffer), Some(ftl), &args.device.set)?;
        let mut open = || again.open(&config);
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
    Row { buffer: buffer.label(), ftl: ftl.label(), status, error, report, bound: None }
}

/// The costs, if bounds are wanted.
fn costs(args: &CompareArgs, config: &Config) -> Result<Option<Costs>, Failure> {
    if !args.bound {
        if args.costs.named() {
            return Err(Failure::bad(
                "--read-cost and --write-cost are for --bound, which is not there",
                "add --bound",
            ));
        }
        return Ok(None);
    }
    if config.precondition == Precondition::Trace {
        let problem = "--bound is for buffers that are empty at first, and precondition = \"trace\" fills them";
        return Err(Failure::bad(problem, "use --precondition full, or leave --bound out"));
    }
    args.costs.costs().map(Some)
}

/// The bound of every row: one with the DRAM, and one for policies that used NVRAM besides.
fn set_bounds(
    args: &CompareArgs,
    config: &Config,
    rows: &mut [Row],
    costs: Costs,
    again: &Again<'_>,
) -> Result<(), Failure> {
    let Frames { dram, nvram } = config.frames();
    let uses_nvram = |report: &Report| report.ledger.nvram_reads + report.ledger.nvram_writes > 0;
    let reports = || rows.iter().filter_map(|row| row.report.as_ref());
    let kinds: Vec<bool> = [false, true].into_iter().filter(|kind| reports().any(|r| uses_nvram(r) == *kind)).collect();
    let bounds = parallel::map(args.output.threads, &kinds, |with_nvram| {
        // What lies in NVRAM need not be written back when the host flushes.
        let history = alone::history(&mut again.open(config)?, config, !with_nvram)?;
        let frames = if *with_nvram { dram.saturating_add(nvram) } else { dram };
        let bound = lower_bound(&Segments::new(&history, costs), frames, ROUNDS);
        Ok::<_, Failure>((*with_nvram, frames, bound.cost))
    });
    let bounds = bounds.into_iter().collect::<Result<Vec<_>, _>>()?;
    for row in rows {
        let Some(report) = &row.report else { continue };
        let known = bounds.iter().find(|(with_nvram, ..)| *with_nvram == uses_nvram(report));
        row.bound = known.map(|(_, frames, bound)| {
            let counts = Counts::of(&report.ledger, u64::from(report.ram.frames_dirty));
            let cost = counts.cost(costs);
            RowBound { frames: *frames, bound: *bound, counts, cost, above_bound: bound::above(cost, *bound) }
        });
    }
    Ok(())
}

fn publish(
    args: &CompareArgs,
    config: &Config,
    rows: &[Row],
    costs: Option<Costs>,
    style: Style,
) -> Result<(), Failure> {
    let recorded = source::recorded(&args.trace, config)?;
    if let Some(target) = &args.output.json {
        let comparison =
            Comparison { schema: SCHEMA_VERSION, nandlab: env!("CARGO_PKG_VERSION"), recorded, costs, rows };
        output::write(target, &output::json(&comparison))?;
    }
    if args.output.quiet || args.output.json.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&match (args.output.csv, args.output.markdown) {
        (true, _) => table::csv(rows),
        (_, true) => table::markdown(rows),
        _ => {
            let trace = args.trace.read.trace.join(", ");
            let head = recorded.map(|recorded| format!("{trace}: {}\n\n", source::recorded_text(&recorded)));
            head.unwrap_or_default() + &table::text(rows, style)
        }
    })
}
