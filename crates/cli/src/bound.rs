//! `nandlab bound`: what a buffer could reach at best on a trace, and how far from it policies are.

use clap::Args;
use nandlab::catalog::BUFFERS;
use nandlab::config::PluginConfig;
use nandlab::types::Bytes;
use nandlab_lab::bound::{BoundRow, Policy, Priced};
use nandlab_lab::{Bound, Bounds, Sizes, Word, plugin_list};

use crate::args::{CostArgs, DeviceArgs, OutputArgs, TraceArgs};
use crate::fail::Failure;
use crate::files::Files;
use crate::progress::Progress;
use crate::rows::{Cells, Form, Head, Heading, Printer, exact, names};
use crate::style::{Style, count, factor, percent};
use crate::{number, output};

/// Arguments of `bound`.
#[derive(Args, Debug)]
pub struct BoundArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Sizes of the buffer, separated by commas, as in 8MiB,32MiB. Default: the DRAM of the device.
    #[arg(long, value_name = "SIZES", value_parser = Sizes::read, allow_hyphen_values = true, help_heading = "Device")]
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
    #[arg(long, value_name = "N", value_parser = number::any, allow_hyphen_values = true, help_heading = "Device")]
    seed: Option<u64>,
    #[command(flatten)]
    costs: CostArgs,
    #[command(flatten)]
    output: OutputArgs,
}

impl BoundArgs {
    /// What it reads and writes.
    pub fn files(&self) -> Files {
        Files::reading(&self.trace.read.trace).and([&self.device]).writing("--json", self.output.json.as_ref())
    }
}

/// Runs the command.
pub fn bound(args: &BoundArgs, style: Style) -> Result<(), Failure> {
    let form = Form::of(&args.output, None)?;
    let (device, set) = (args.device.clone(), args.set.clone());
    let bound = Bound {
        costs: args.costs.costs()?,
        buffers: plugin_list(&args.buffers, "buffer", BUFFERS)?,
        device: DeviceArgs { device, set, seed: args.seed, ..DeviceArgs::default() }.device(None),
        workload: args.trace.workload()?,
        ram: args.ram.clone(),
        threads: args.output.threads,
    };
    let json = output::Target::open(args.output.json.as_deref())?;
    let progress = Progress::new("looking into the future", args.output.quiet);
    let watch = progress.watch();
    let bounding = bound.begin(&watch)?;
    let sizes = bounding.sizes();
    let printer = Printer::begin(&heading(&bounding.empty, &bound.buffers), form, style, &progress)?;
    let bounds = bounding.run(|row| printer.row(&cells(row)))?;
    printer.end(|form| foot(&bounds, form, style))?;
    progress.end();
    json.write(|| output::json(&bounds))?;
    if bounds.interrupted {
        return Err(Failure::Interrupted(format!("{} of {sizes} sizes are done", bounds.rows.len())));
    }
    Failure::if_some_failed(bounds.failed().next().is_some())
}

/// What is printed above the rows.
fn heading(answer: &Bounds, buffers: &[PluginConfig]) -> Heading {
    let Bounds { trace, page_reads, page_writes, pages, page_bytes, .. } = answer;
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
    Heading { text, heads: heads.chain(policies).collect(), left: 1, exact: names(&Bounds::columns()) }
}

/// A row; for machines a line for each kind.
fn cells(row: &BoundRow) -> Cells {
    let ratio = |priced: &Priced| factor(priced.above_bound.map(|above| 1.0 + above));
    let of_policy = |policy: &Policy| policy.priced.as_ref().map_or_else(|| "failed".to_owned(), ratio);
    let mut shown = vec![
        Bytes(row.ram_bytes).to_string(),
        format!("{:.2}", row.min.counts.hit_ratio() * 100.0),
        count(row.bound),
        count(row.schedule.cost),
        percent(row.schedule.above_bound),
        ratio(&row.min),
    ];
    shown.extend(row.policies.iter().map(of_policy));
    Cells { shown, exact: row.cells().iter().map(|line| exact(line)).collect() }
}

/// What the columns mean, and errors of buffers that failed.
fn foot(answer: &Bounds, form: Form, style: Style) -> String {
    if form != Form::Text {
        return String::new();
    }
    let mut text = format!(
        "\ncost = {} x pages read (read misses, prefetches) + {} x pages written (dirty pages at the end included)\n\
         bound: no buffer costs less; schedule: what is possible, gap: schedule / bound - 1\n\
         MIN (the most hits, blind to dirt) and policies: cost / bound\n",
        answer.costs.read, answer.costs.write
    );
    for (size, buffer, error) in answer.failed() {
        text += &format!("{} {buffer} with {size}: {error}\n", style.warn("failed:"));
    }
    text
}
