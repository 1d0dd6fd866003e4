//! `nandlab bound`: what a buffer could reach at best on a trace, and how far from it policies are.

use clap::Args;
use indicatif::ProgressBar;
use nandlab::buffer::BUFFERS;
use nandlab::config::{Config, PluginConfig};
use nandlab::offline::{COST_MAX, Costs, Counts, History, ROUNDS, Segments, belady, lower_bound, schedule};
use nandlab::report::{SCHEMA_VERSION, Source};
use nandlab::types::Bytes;
use serde::Serialize;

use crate::alone::{self, Sizes};
use crate::args::{DeviceArgs, OutputArgs, TraceArgs, any_count, ranged};
use crate::compare::plugins;
use crate::fail::Failure;
use crate::source::Again;
use crate::style::{Style, Table, count, factor, percent};
use crate::{output, parallel, run, setup, table};

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
    trace: TraceArgs,
    /// Sizes of the buffer, separated by commas, as in 8MiB,32MiB. Default: the DRAM of the device.
    #[arg(long, value_name = "SIZES", allow_hyphen_values = true, help_heading = "Device")]
    ram: Option<Sizes>,
    /// Buffers to compare with it, separated by commas: names or name:key=value:key=value.
    #[arg(long, short, value_name = "LIST", default_value = "lru,cflru", help_heading = "Device")]
    buffers: String,
    /// A device preset (`nandlab list devices`) or a TOML file: its page size, and the pages that there are.
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
    rows: Vec<Row>,
}

/// Runs the command.
pub fn bound(args: &BoundArgs, style: Style) -> Result<(), Failure> {
    let costs = args.costs.costs()?;
    let buffers = plugins(Some(&args.buffers), "buffer", BUFFERS)?;
    let device = DeviceArgs { device: args.device.clone(), seed: args.seed, ..DeviceArgs::default() };
    let config = |buffer: &PluginConfig, settings: &[String]| {
        let builder = setup::builder(&device, None)?;
        let (_, config) = setup::config(builder, Some(buffer), Some(&PluginConfig::named("page")), settings)?;
        Ok::<Config, Failure>(config)
    };
    let plain = config(&PluginConfig::named("none"), &args.set)?;
    let again = Again::new(&args.trace, &plain)?;
    let page_bytes = plain.device.geometry.page_bytes;
    let frames = match &args.ram {
        Some(sizes) => sizes.frames(page_bytes, 16)?,
        None => vec![plain.frames().dram],
    };
    let bar = if args.output.quiet { ProgressBar::hidden() } else { run::bar("looking into the future") };
    bar.set_length((frames.len() * (1 + buffers.len())) as u64);
    let mut source = again.open(&plain)?;
    let history = alone::history(&mut source, &plain, true)?;
    let segments = Segments::new(&history, costs);
    let offline = parallel::map(args.output.threads, &frames, |frames| {
        let found = offline(&history, &segments, *frames);
        bar.inc(1);
        found
    });
    let pairs: Vec<_> = frames.iter().flat_map(|frames| buffers.iter().map(move |buffer| (*frames, buffer))).collect();
    let online = parallel::map(args.output.threads, &pairs, |(frames, buffer)| {
        let size = u64::from(*frames) * u64::from(page_bytes);
        let settings = [&args.set[..], &[format!("ram.dram={size}"), "ram.nvram=0".to_owned()]].concat();
        let config = config(buffer, &settings)?;
        let counts = alone::counts(again.open(&config)?, &config)?;
        bar.inc(1);
        Ok::<Counts, Failure>(counts)
    });
    bar.finish_and_clear();
    let mut online = online.into_iter();
    let mut rows = Vec::new();
    for (frames, (bound, min, schedule)) in frames.iter().zip(offline) {
        let priced = |counts| Priced::new(counts, costs, bound);
        let mut policies = Vec::new();
        for (buffer, counts) in buffers.iter().zip(online.by_ref()) {
            policies.push(Policy { buffer: buffer.label(), priced: priced(counts?) });
        }
        let ram_bytes = u64::from(*frames) * u64::from(page_bytes);
        rows.push(Row { ram_bytes, frames: *frames, bound, min: priced(min), schedule: priced(schedule), policies });
    }
    let answer = Answer {
        schema: SCHEMA_VERSION,
        nandlab: env!("CARGO_PKG_VERSION"),
        trace: source.describe(),
        costs,
        page_bytes,
        page_reads: history.reads(),
        page_writes: history.writes(),
        pages: history.pages() as u64,
        rows,
    };
    publish(args, &answer, style)
}

/// The bound, MIN and the schedule.
fn offline(history: &History, segments: &Segments, frames: u32) -> (u64, Counts, Counts) {
    let bound = lower_bound(segments, frames, ROUNDS);
    (bound.cost, belady(history, frames), schedule(history, segments, &bound, frames))
}

fn publish(args: &BoundArgs, answer: &Answer, style: Style) -> Result<(), Failure> {
    if let Some(target) = &args.output.json {
        output::write(target, &output::json(answer))?;
    }
    if args.output.quiet || args.output.json.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&match (args.output.csv, args.output.markdown) {
        (true, _) => csv(answer),
        (_, true) => markdown(answer),
        _ => text(answer, style),
    })
}

/// Headings for people, then the cells of each row.
fn cells(answer: &Answer) -> Vec<Vec<String>> {
    let mut heads: Vec<String> =
        ["ram", "MIN hit%", "bound", "schedule", "gap", "MIN"].iter().map(|head| (*head).to_owned()).collect();
    heads.extend(answer.rows.first().iter().flat_map(|row| row.policies.iter().map(|policy| policy.buffer.clone())));
    let ratio = |priced: &Priced| factor(priced.above_bound.map(|above| 1.0 + above));
    let row = |row: &Row| {
        let mut cells = vec![
            Bytes(row.ram_bytes).to_string(),
            format!("{:.2}", row.min.counts.hit_ratio() * 100.0),
            count(row.bound),
            count(row.schedule.cost),
            percent(row.schedule.above_bound),
            ratio(&row.min),
        ];
        cells.extend(row.policies.iter().map(|policy| ratio(&policy.priced)));
        cells
    };
    std::iter::once(heads).chain(answer.rows.iter().map(row)).collect()
}

fn text(answer: &Answer, style: Style) -> String {
    let mut table = Table::new(1);
    for row in cells(answer) {
        table.row(row);
    }
    let Answer { trace, costs, page_reads, page_writes, pages, page_bytes, .. } = answer;
    format!(
        "{} ({}): {} page reads and {} page writes of {} pages of {}\n\n{}\n\
         cost = {} x pages read (read misses, prefetches) + {} x pages written (dirty pages at the end included)\n\
         bound: no buffer costs less; schedule: what is possible, gap: schedule / bound - 1\n\
         MIN (the most hits, blind to dirt) and policies: cost / bound\n",
        trace.name,
        trace.format,
        count(*page_reads),
        count(*page_writes),
        count(*pages),
        Bytes(u64::from(*page_bytes)),
        table.render(style),
        costs.read,
        costs.write,
    )
}

fn markdown(answer: &Answer) -> String {
    let mut lines = cells(answer).into_iter().map(|row| format!("| {} |\n", row.join(" | ")));
    let head = lines.next().unwrap_or_default();
    let columns = head.matches('|').count() - 1;
    format!("{head}|{}\n{}", "-:|".repeat(columns), lines.collect::<String>())
}

/// A line for each size and kind.
fn csv(answer: &Answer) -> String {
    let mut text =
        "ram_bytes,frames,bound,buffer,read_hits,write_hits,pages_in,pages_out,cost,above_bound\n".to_owned();
    for row in &answer.rows {
        let offline = [("min", &row.min), ("schedule", &row.schedule)];
        let online = row.policies.iter().map(|policy| (policy.buffer.as_str(), &policy.priced));
        for (name, Priced { counts, cost, above_bound }) in offline.into_iter().chain(online) {
            let Counts { read_hits, write_hits, pages_in, pages_out, .. } = counts;
            let above = above_bound.map_or_else(String::new, |above| above.to_string());
            text += &format!(
                "{},{},{},{},{read_hits},{write_hits},{pages_in},{pages_out},{cost},{above}\n",
                row.ram_bytes,
                row.frames,
                row.bound,
                table::quoted(name)
            );
        }
    }
    text
}
