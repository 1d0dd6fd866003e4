//! `nandlab bound`: what a buffer could reach at best on a trace, and how far from it policies are.

use clap::Args;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Config, PluginConfig};
use nandlab::offline::{COST_MAX, Costs, Counts, History, ROUNDS, Segments, belady, lower_bound, schedule};
use nandlab::report::{SCHEMA_VERSION, Source};
use nandlab::types::Bytes;
use serde::Serialize;

use crate::alone::{self, Room, Sizes};
use crate::args::{DeviceArgs, OutputArgs, TraceArgs, any_count, ranged};
use crate::compare::plugins;
use crate::fail::Failure;
use crate::progress::Progress;
use crate::rows::{Cells, Form, Head, Heading, Printer};
use crate::source::Again;
use crate::style::{Style, count, factor, percent};
use crate::{interrupt, output, parallel, setup};

/// What pages cost.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Costs")]
pub struct CostArgs {
    /// Cost of a page read from flash (a whole number up to 1000000). Default: 1.
    #[arg(long, value_name = "N", value_parser = cost, allow_hyphen_values = true)]
    read_cost: Option<u64>,
    /// Cost of a page written to flash (a whole number up to 1000000). Default: 10.
    #[arg(long, value_name = "N", value_parser = cost, allow_hyphen_values = true)]
    write_cost: Option<u64>,
}

fn cost(text: &str) -> Result<u64, String> {
    ranged(text, 0, COST_MAX)
}

impl CostArgs {
    /// One of them was named.
    pub const fn named(self) -> bool {
        self.read_cost.is_some() || self.write_cost.is_some()
    }
    /// Refuses a world in which nothing costs anything.
    pub fn costs(self) -> Result<Costs, Failure> {
        let costs = Costs { read: self.read_cost.unwrap_or(1), write: self.write_cost.unwrap_or(10) };
        if costs.read + costs.write == 0 {
            return Err(Failure::bad("--read-cost 0 and --write-cost 0: nothing costs anything", "raise one of them"));
        }
        Ok(costs)
    }
}

/// Arguments of `bound`.
#[derive(Args, Debug)]
pub struct BoundArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Sizes of the buffer, separated by commas, as in 8MiB,32MiB. Default: the DRAM of the device.
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true, help_heading = "Device")]
    ram: Option<Sizes>,
    /// Buffers to compare with it, separated by commas: names or name:key=value:key=value.
    #[arg(long, short, value_name = "LIST", default_value = "lru,cflru", help_heading = "Device")]
    buffers: String,
    /// A device preset (`nandlab list devices`) or a TOML file: its page size. There is no device below: no address is beyond it.
    #[arg(long, short, value_name = "PRESET|FILE", default_value = nandlab::config::DEFAULT_DEVICE, help_heading = "Device")]
    device: String,
    /// Any key of the configuration, for example --set `device.geometry.page_bytes=8192`; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Device")]
    set: Vec<String>,
    /// Seed of every random choice.
    #[arg(long, value_name = "N", value_parser = any_count, allow_hyphen_values = true, help_heading = "Device")]
    seed: Option<u64>,
    #[command(flatten)]
    costs: CostArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Counts and their cost.
#[derive(Clone, Copy, Serialize)]
struct Priced {
    #[serde(flatten)]
    counts: Counts,
    cost: u64,
    /// Cost / bound - 1; nothing if nothing need cost anything.
    above_bound: Option<f64>,
}

impl Priced {
    fn new(counts: Counts, costs: Costs, bound: u64) -> Self {
        let cost = counts.cost(costs);
        Self { counts, cost, above_bound: above(cost, bound) }
    }
}

/// `cost / bound - 1`; nothing if the bound is 0.
pub fn above(cost: u64, bound: u64) -> Option<f64> {
    (bound > 0).then(|| cost as f64 / bound as f64 - 1.0)
}

/// An online policy.
#[derive(Serialize)]
struct Policy {
    buffer: String,
    #[serde(flatten)]
    priced: Priced,
}

/// One size.
#[derive(Serialize)]
struct Row {
    ram_bytes: u64,
    frames: u32,
    /// No buffer of this size costs less.
    bound: u64,
    /// Belady's MIN: the most hits, at whatever cost.
    min: Priced,
    /// Decisions that are possible for who knows the future.
    schedule: Priced,
    policies: Vec<Policy>,
}

#[derive(Serialize)]
struct Answer {
    schema: u32,
    nandlab: &'static str,
    trace: Source,
    costs: Costs,
    page_bytes: u32,
    page_reads: u64,
    page_writes: u64,
    /// Different pages.
    pages: u64,
    /// A signal ended it, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    rows: Vec<Row>,
}

/// What is computed for a size: by one who knows the future, or by a policy.
enum Piece {
    Offline(u64, Counts, Counts),
    Policy(Counts),
}

/// Runs the command.
pub fn bound(args: &BoundArgs, style: Style) -> Result<(), Failure> {
    let json_is_stdout = args.output.json.as_deref() == Some("-");
    let form = Form::of(&args.output, json_is_stdout.then_some("--json -"))?;
    let costs = args.costs.costs()?;
    let buffers = plugins(Some(&args.buffers), "buffer", BUFFERS)?;
    let device = DeviceArgs { device: args.device.clone(), seed: args.seed, ..DeviceArgs::default() };
    let config = |buffer: &PluginConfig, settings: &[String]| {
        let builder = setup::builder(&device, None)?;
        let (_, config) = setup::config(builder, Some(buffer), Some(&PluginConfig::named("page")), settings)?;
        Ok::<Config, Failure>(config)
    };
    let plain = config(&PluginConfig::named("none"), &args.set)?;
    let json = output::Target::open(args.output.json.as_deref())?;
    let trace = alone::kept(&args.trace);
    let again = Again::new(&trace, &plain)?;
    let room = Room::new(again.open(&plain)?, &plain)?;
    let page_bytes = plain.device.geometry.page_bytes;
    let frames = match &args.ram {
        Some(sizes) => sizes.frames(page_bytes, 16)?,
        None => vec![plain.frames().dram],
    };
    // The pieces of a size lie together: first what is known offline, then a policy each.
    let policies = || std::iter::once(None).chain(buffers.iter().map(Some));
    let pieces: Vec<_> = frames.iter().flat_map(|frames| policies().map(move |policy| (*frames, policy))).collect();
    let progress = Progress::new("looking into the future", pieces.len(), args.output.quiet);
    let mut source = again.open(&plain)?;
    let history = alone::history(&mut source, &room.give(plain.clone()), true)?;
    let segments = Segments::new(&history, costs);
    let mut answer = Answer {
        schema: SCHEMA_VERSION,
        nandlab: env!("CARGO_PKG_VERSION"),
        trace: source.describe(),
        costs,
        page_bytes,
        page_reads: history.reads(),
        page_writes: history.writes(),
        pages: history.pages() as u64,
        interrupted: false,
        rows: Vec::new(),
    };
    let printer = Printer::begin(&heading(&answer, &buffers), form, style, &progress)?;
    let mut known = Vec::new();
    let outcome = parallel::each(
        args.output.threads,
        &pieces,
        |(frames, policy)| {
            let _part = progress.part();
            let Some(buffer) = policy else { return Ok((*frames, offline(&history, &segments, *frames))) };
            let size = u64::from(*frames) * u64::from(page_bytes);
            let settings = [&args.set[..], &[format!("ram.dram={size}"), "ram.nvram=0".to_owned()]].concat();
            let config = config(buffer, &settings)?;
            Ok((*frames, Piece::Policy(alone::counts(again.open(&config)?, &room.give(config))?)))
        },
        |(frames, piece)| {
            // After an interruption pieces may be missing: then the size is.
            if matches!(piece, Piece::Offline(..)) {
                known.clear();
            }
            known.push((frames, piece));
            if let Some(row) = row(&known, &buffers, costs, page_bytes) {
                printer.row(&cells(&row))?;
                answer.rows.push(row);
            }
            Ok(())
        },
    );
    progress.end();
    answer.interrupted = interrupt::came(outcome)?;
    printer.end(|form| foot(&answer, form))?;
    answer.trace.warnings = alone::warn(&source, buffers.iter().map(|buffer| config(buffer, &args.set)));
    json.write(|| output::json(&answer))?;
    let done = || format!("{} of {} sizes are done", answer.rows.len(), frames.len());
    if answer.interrupted { Err(Failure::Interrupted(done())) } else { Ok(()) }
}

/// The row of a size, if all of its pieces are there.
fn row(known: &[(u32, Piece)], buffers: &[PluginConfig], costs: Costs, page_bytes: u32) -> Option<Row> {
    let [(frames, Piece::Offline(bound, min, schedule)), online @ ..] = known else { return None };
    if online.len() < buffers.len() || online.iter().any(|(other, _)| other != frames) {
        return None;
    }
    let priced = |counts: Counts| Priced::new(counts, costs, *bound);
    let policy = |(buffer, (_, piece)): (&PluginConfig, &(u32, Piece))| match piece {
        Piece::Policy(counts) => Some(Policy { buffer: buffer.label(), priced: priced(*counts) }),
        Piece::Offline(..) => None,
    };
    Some(Row {
        ram_bytes: u64::from(*frames) * u64::from(page_bytes),
        frames: *frames,
        bound: *bound,
        min: priced(*min),
        schedule: priced(*schedule),
        policies: buffers.iter().zip(online).map(policy).collect::<Option<Vec<_>>>()?,
    })
}

/// The bound, MIN and the schedule.
fn offline(history: &History, segments: &Segments, frames: u32) -> Piece {
    let bound = lower_bound(segments, frames, ROUNDS);
    Piece::Offline(bound.cost, belady(history, frames), schedule(history, segments, &bound, frames))
}

/// What stands above the rows.
fn heading(answer: &Answer, buffers: &[PluginConfig]) -> Heading {
    let Answer { trace, page_reads, page_writes, pages, page_bytes, .. } = answer;
    let text = format!(
        "{} ({}): {} page reads and {} page writes of {} pages of {}\n",
        trace.name,
        trace.format,
        count(*page_reads),
        count(*page_writes),
        count(*pages),
        Bytes(u64::from(*page_bytes)),
    );
    let heads = [("ram", 8), ("MIN hit%", 8), ("bound", 10), ("schedule", 10), ("gap", 7), ("MIN", 6)];
    let heads = heads.into_iter().map(|(text, width)| Head::new(text, width));
    let policies = buffers.iter().map(|buffer| Head::new(buffer.label(), 6));
    let exact = "ram_bytes,frames,bound,buffer,read_hits,write_hits,pages_in,pages_out,cost,above_bound".to_owned();
    Heading { text, heads: heads.chain(policies).collect(), left: 1, exact }
}

/// A row; for machines a line for each kind.
fn cells(row: &Row) -> Cells {
    let ratio = |priced: &Priced| factor(priced.above_bound.map(|above| 1.0 + above));
    let mut shown = vec![
        Bytes(row.ram_bytes).to_string(),
        format!("{:.2}", row.min.counts.hit_ratio() * 100.0),
        count(row.bound),
        count(row.schedule.cost),
        percent(row.schedule.above_bound),
        ratio(&row.min),
    ];
    shown.extend(row.policies.iter().map(|policy| ratio(&policy.priced)));
    let offline = [("min", &row.min), ("schedule", &row.schedule)];
    let online = row.policies.iter().map(|policy| (policy.buffer.as_str(), &policy.priced));
    let line = |(name, Priced { counts, cost, above_bound }): (&str, &Priced)| {
        let Counts { read_hits, write_hits, pages_in, pages_out, .. } = *counts;
        let numbers = [read_hits, write_hits, pages_in, pages_out, *cost].map(|n| n.to_string());
        let size = [row.ram_bytes.to_string(), row.frames.to_string(), row.bound.to_string(), name.to_owned()];
        let above = above_bound.map_or_else(String::new, |above| above.to_string());
        size.into_iter().chain(numbers).chain([above]).collect()
    };
    Cells { shown, exact: offline.into_iter().chain(online).map(line).collect() }
}

/// What the columns mean.
fn foot(answer: &Answer, form: Form) -> String {
    if form != Form::Text {
        return String::new();
    }
    format!(
        "\ncost = {} x pages read (read misses, prefetches) + {} x pages written (dirty pages at the end included)\n\
         bound: no buffer costs less; schedule: what is possible, gap: schedule / bound - 1\n\
         MIN (the most hits, blind to dirt) and policies: cost / bound\n",
        answer.costs.read, answer.costs.write
    )
}
