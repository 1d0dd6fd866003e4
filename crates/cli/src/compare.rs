//! `nandlab compare`: buffers x FTLs on one trace, one table.

use std::sync::{Mutex, PoisonError};

use nandlab::buffer::Frames;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config, PluginConfig, Precondition, split_outside};
use nandlab::error::ConfigError;
use nandlab::ftl::FTLS;
use nandlab::offline::{Costs, Counts, ROUNDS, Segments, lower_bound};
use nandlab::registry::{self, Plugin};
use nandlab::report::{Recorded, Report, SCHEMA_VERSION};
use serde::Serialize;

use crate::args::{CompareArgs, DeviceArgs, TraceArgs};
use crate::fail::{Exit, Failure};
use crate::progress::{Part, Progress};
use crate::rows::{Form, Printer};
use crate::source::{self, Again};
use crate::style::{Style, count};
use crate::table::{self, Table};
use crate::{alone, bound, capacity, interrupt, output, parallel, run, setup};

/// Buffers that are compared when none are named, one for each idea: nothing, recency, clean pages first, whole blocks
/// padded, padding by what it costs, statistics of groups, an NVRAM for writes, and a queue from general caching.
const TELLING_BUFFERS: &str = "none,lru,cflru,bplru,aalru,hitstat,wpa,s3-fifo";
/// FTLs, one for each idea: all of the map in RAM, the map on flash, and log blocks.
const TELLING_FTLS: &str = "page,dftl,fast";
/// Requests of a comparison for which nothing at all is named: an answer within seconds.
const QUICK_REQUESTS: u64 = 100_000;

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
    /// A signal ended it, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    rows: &'a [Row],
}

/// What all combinations have in common.
struct Common<'a> {
    args: &'a CompareArgs,
    /// The device with other plug-ins.
    builder: Builder,
    config: Config,
    again: Again<'a>,
    bounds: Option<Bounds>,
}

/// The bounds, each computed when the first row needs it.
struct Bounds {
    costs: Costs,
    /// With DRAM only, and with NVRAM besides: frames and bound. Locked while it is computed.
    known: [Mutex<Option<(u32, u64)>>; 2],
}

/// Runs the command.
pub fn compare(args: &CompareArgs, style: Style) -> Result<(), Failure> {
    let json_is_stdout = args.output.json.as_deref() == Some("-");
    let form = Form::of(&args.output, json_is_stdout.then_some("--json -"))?;
    let buffers = plugins(Some(args.buffers.as_deref().unwrap_or(TELLING_BUFFERS)), "buffer", BUFFERS)?;
    let ftls = plugins(Some(args.ftls.as_deref().unwrap_or(TELLING_FTLS)), "ftl", FTLS)?;
    let pairs: Vec<_> = ftls.iter().flat_map(|ftl| buffers.iter().map(move |buffer| (buffer, ftl))).collect();
    let (_, plain) = check(args, &args.device)?;
    let costs = costs(args, &plain)?;
    let json = output::Target::open(args.output.json.as_deref())?;
    let is_quick = args.buffers.is_none() && args.ftls.is_none() && args.trace.limit.is_none();
    let trace = TraceArgs { limit: args.trace.limit.or(is_quick.then_some(QUICK_REQUESTS)), ..args.trace.clone() };
    let (builder, config) = check(args, &capacity::resolve(&args.device, &trace, &plain)?)?;
    let again = Again::new(&trace, &config)?;
    let bounds = costs.map(|costs| Bounds { costs, known: Default::default() });
    let common = Common { args, builder, config, again, bounds };
    let table = Table { has_bound: costs.is_some(), settle: common.config.replay.settle };
    let progress = Progress::new("comparing", pairs.len(), args.output.quiet);
    let heading = table.heading(common.preamble(is_quick, &buffers, &ftls)?, &pairs);
    let printer = Printer::begin(&heading, form, style, &progress)?;
    let mut rows = Vec::new();
    let outcome = parallel::each(
        args.output.threads,
        &pairs,
        |(buffer, ftl)| common.row(buffer, ftl, &progress.part()),
        |row| {
            printer.row(&table.cells(&row))?;
            rows.push(row);
            Ok(())
        },
    );
    progress.end();
    let mut recorded = None;
    let outcome = outcome.and_then(|()| {
        recorded = source::recorded(&trace, &common.config)?;
        Ok(())
    });
    let interrupted = interrupt::came(outcome)?;
    printer.end(|form| table.foot(&rows, form, style) + &replayed(&rows, recorded, form))?;
    run::warn(rows.iter().filter_map(|row| row.report.as_ref()));
    let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
    json.write(|| output::json(&Comparison { schema, nandlab, recorded, costs, interrupted, rows: &rows }))?;
    match rows.iter().any(|row| row.error.is_some()) {
        _ if interrupted => Err(Failure::Interrupted(format!("{} of {} rows are done", rows.len(), pairs.len()))),
        true => Err(Failure::Said(Exit::SomeRows)),
        false => Ok(()),
    }
}

/// How much was replayed.
fn replayed(rows: &[Row], recorded: Option<Recorded>, form: Form) -> String {
    let Some(report) = rows.iter().find_map(|row| row.report.as_ref()).filter(|_| form != Form::Csv) else {
        return String::new();
    };
    let recorded = recorded.map(|recorded| format!("; {}", source::recorded_text(&recorded))).unwrap_or_default();
    format!("\n{} requests replayed{recorded}\n", count(report.requests.total))
}

/// What no combination can do anything about (the device, the trace) ends the command at once.
fn check(args: &CompareArgs, device: &DeviceArgs) -> Result<(Builder, Config), Failure> {
    let plain = (PluginConfig::named("none"), PluginConfig::named("page"));
    let settings = without_plugins(&device.set);
    let builder = setup::builder(device, args.size.ram)?;
    let (_, config) = setup::config(builder.clone(), Some(&plain.0), Some(&plain.1), &settings)?;
    Ok((builder, config))
}

fn without_plugins(settings: &[String]) -> Vec<String> {
    settings.iter().filter(|s| !s.starts_with("buffer.") && !s.starts_with("ftl.")).cloned().collect()
}

/// The plug-ins of a list of names; `all` and no list stand for every one that there is.
pub fn plugins<B>(list: Option<&str>, section: &str, known: &[Plugin<B>]) -> Result<Vec<PluginConfig>, Failure> {
    let list = list.unwrap_or(ALL);
    if list == ALL {
        return Ok(known.iter().map(|plugin| PluginConfig::named(&plugin.name())).collect());
    }
    let parse = |text| {
        let plugin = PluginConfig::parse(text, section)?;
        registry::find(known, section, &plugin.name)?;
        Ok::<_, ConfigError>(plugin)
    };
    Ok(split_outside(list, ',').into_iter().map(|text| parse(text.trim())).collect::<Result<_, _>>()?)
}

/// The list that stands for every plug-in.
const ALL: &str = "all";

impl Common<'_> {
    /// What stands above the rows.
    fn preamble(&self, is_quick: bool, buffers: &[PluginConfig], ftls: &[PluginConfig]) -> Result<String, Failure> {
        let mut text = table::preamble(&self.again.open(&self.config)?.describe(), &self.config);
        if is_quick {
            text += &format!(
                "A first look: {} of {} buffers on {} of {} FTLs. -n N takes more requests, --buffers all --ftls all the rest.\n",
                buffers.len(),
                BUFFERS.len(),
                ftls.len(),
                FTLS.len()
            );
        }
        Ok(text)
    }

    /// Simulates a combination. One that cannot be built is a row that says so; every other error is one of the input, and
    /// the same for all.
    fn row(&self, buffer: &PluginConfig, ftl: &PluginConfig, progress: &Part<'_>) -> Result<Row, Failure> {
        let (report, error) = match self.simulate(buffer, ftl, progress) {
            Ok(report) => (Some(report), None),
            Err(Failure::Config(message)) => (None, Some(message)),
            Err(error) => return Err(error),
        };
        let bound = match (&self.bounds, &report) {
            (Some(bounds), Some(report)) => Some(self.bound(bounds, report)?),
            _ => None,
        };
        let status = if error.is_some() { "error" } else { "ok" };
        Ok(Row { buffer: buffer.label(), ftl: ftl.label(), status, error, report, bound })
    }

    fn simulate(&self, buffer: &PluginConfig, ftl: &PluginConfig, progress: &Part<'_>) -> Result<Report, Failure> {
        let (builder, config) = setup::config(self.builder.clone(), Some(buffer), Some(ftl), &self.args.device.set)?;
        let mut report = run::simulate(&builder, &config, &mut || self.again.open(&config), progress)?;
        // Simulations that run side by side disturb each other's wall time, and nothing else.
        report.wall = None;
        Ok(report)
    }

    /// A row beside the least that a buffer of its size could cost: with the DRAM, and with the NVRAM if it used that.
    fn bound(&self, bounds: &Bounds, report: &Report) -> Result<RowBound, Failure> {
        let uses_nvram = report.ledger.nvram_reads + report.ledger.nvram_writes > 0;
        let mut known = bounds.known[usize::from(uses_nvram)].lock().unwrap_or_else(PoisonError::into_inner);
        let (frames, bound) = if let Some(known) = *known {
            known
        } else {
            // What lies in NVRAM need not be written back when the host flushes.
            let history = alone::history(&mut self.again.open(&self.config)?, &self.config, !uses_nvram)?;
            let Frames { dram, nvram } = self.config.frames();
            let frames = if uses_nvram { dram.saturating_add(nvram) } else { dram };
            let bound = lower_bound(&Segments::new(&history, bounds.costs), frames, ROUNDS);
            *known.insert((frames, bound.cost))
        };
        let counts = Counts::of(&report.ledger, report.buffer.dirty_at_end);
        let cost = counts.cost(bounds.costs);
        Ok(RowBound { frames, bound, counts, cost, above_bound: bound::above(cost, bound) })
    }
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
