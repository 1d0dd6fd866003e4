//! `nandlab curve`: what buffers do at every size.

use clap::Args;
use nandlab::catalog::BUFFERS;
use nandlab::config::{Builder, Config, PluginConfig};
use nandlab::ftl::FTLS;
use nandlab::offline::{Costs, Counts, History, LruCurve, ROUNDS, Segments, belady, lower_bound};
use nandlab::report::{Report, SCHEMA_VERSION, Source};
use serde::Serialize;

use crate::alone::{self, Room, Sizes};
use crate::args::{DeviceArgs, OutputArgs, TraceArgs, ranged};
use crate::compare::plugins;
use crate::fail::{Exit, Failure};
use crate::picture::Target;
use crate::progress::{Part, Progress};
use crate::rows::{Form, Printer, both};
use crate::source::Again;
use crate::style::Style;
use crate::{capacity, curve_forms, interrupt, output, parallel, run, setup};

/// Arguments of `curve`.
#[derive(Args, Debug)]
pub struct CurveArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    /// Buffers, separated by commas: names or name:key=value:key=value.
    #[arg(long, short, value_name = "LIST", default_value = "lru", help_heading = "Device")]
    buffers: String,
    /// An FTL below: whole devices are simulated, with write amplification and response times. Without it buffers alone,
    /// whose pages are whole (a write of a part of a page counts as a write of the page); no address is beyond a device then.
    #[arg(long, short, value_name = "NAME", help_heading = "Device")]
    ftl: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    /// DRAM (ram.dram): ranges and sizes, separated by commas, as in 1MiB..64MiB,256MiB.
    #[arg(
        long,
        value_name = "SIZES",
        allow_hyphen_values = true,
        default_value = "1MiB..256MiB",
        help_heading = "Device"
    )]
    ram: Sizes,
    /// Sizes of each range, evenly spaced by factor (2 to 1000).
    #[arg(long, value_name = "N", value_parser = points, allow_hyphen_values = true, default_value = "9",
        help_heading = "Device")]
    points: u64,
    /// Add what no buffer can do better, at each size: the most hits, and the fewest pages read and written (each for itself;
    /// `nandlab bound` weighs them against each other).
    #[arg(long)]
    bound: bool,
    /// Draw the curves: a file that ends in .svg or .png, or `-` for the terminal instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot: Option<Target>,
    #[command(flatten)]
    output: OutputArgs,
}

impl CurveArgs {
    /// The trace.
    pub const fn trace(&self) -> &TraceArgs {
        &self.trace
    }
    /// The device, if there is an FTL and so a device.
    pub fn device_config(&self) -> Option<Config> {
        self.ftl.as_ref()?;
        setup::builder(&self.device, None).ok()?.finish().ok()
    }
}

fn points(text: &str) -> Result<u64, String> {
    ranged(text, 2, 1000)
}

/// A buffer at one size.
#[derive(Serialize)]
pub struct Row {
    /// Buffer in short form.
    pub buffer: String,
    /// DRAM, bytes.
    pub ram_bytes: u64,
    /// Pages of that.
    pub frames: u32,
    /// What it did; nothing if it failed.
    #[serde(flatten)]
    pub counts: Option<Counts>,
    /// Report of the whole device, with --ftl.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Report>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What no buffer of one size can do better. No buffer can reach all of it at once.
#[derive(Serialize)]
pub struct Least {
    /// DRAM, bytes.
    pub ram_bytes: u64,
    /// Pages of that.
    pub frames: u32,
    /// Most hits (Belady's MIN) / page accesses.
    pub page_hit_ratio: f64,
    /// Fewest pages read from flash.
    pub pages_in: u64,
    /// Fewest pages written to flash.
    pub pages_out: u64,
}

/// What is published.
#[derive(Serialize)]
pub struct Answer {
    schema: u32,
    nandlab: &'static str,
    /// What was replayed.
    pub trace: Source,
    /// The FTL below, if there is one.
    pub ftl: Option<String>,
    /// A signal ended it, and rows are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    /// Buffer by buffer, each from its smallest size to its largest.
    pub rows: Vec<Row>,
    /// What no buffer can do better, from the smallest size to the largest, with --bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<Least>,
}

/// A point to compute.
#[derive(Clone, Copy)]
enum Point<'a> {
    Buffer(&'a PluginConfig, u32),
    Bound(u32),
}

/// A point that is computed.
pub enum Done {
    Row(Box<Row>),
    Bound(Least),
}

/// What all points have in common.
struct Common<'a> {
    device: DeviceArgs,
    ftl: Option<&'a PluginConfig>,
    page_bytes: u32,
    again: Again<'a>,
    room: Room,
    /// LRU without a device: all sizes in one pass.
    lru: Option<LruCurve>,
    /// With --bound: the accesses, and what pages cost if only those read count, or only those written.
    future: Option<(History, [Segments; 2])>,
}

/// Runs the command.
pub fn curve(args: &CurveArgs, style: Style) -> Result<(), Failure> {
    let form = form(args)?;
    let buffers = plugins(Some(&args.buffers), "buffer", BUFFERS)?;
    let ftl = args.ftl.as_deref().map(|name| plugins(Some(name), "ftl", FTLS)).transpose()?;
    let ftl = match ftl.as_deref() {
        None => None,
        Some([ftl]) => Some(ftl),
        Some(several) => {
            let problem = format!("--ftl names {} FTLs, and a curve has one", several.len());
            return Err(Failure::bad(problem, "run it once for each FTL"));
        }
    };
    check(args, buffers.len())?;
    let (_, plain) = configure(&args.device, &PluginConfig::named("none"), ftl, None)?;
    let (json, plot) = (output::Target::open(args.output.json.as_deref())?, Target::open(args.plot.as_ref())?);
    let page_bytes = plain.device.geometry.page_bytes;
    let trace = if ftl.is_some() { args.trace.clone() } else { alone::kept(&args.trace) };
    let device = capacity::resolve(&args.device, &trace, &plain)?;
    let (_, plain) = configure(&device, &PluginConfig::named("none"), ftl, None)?;
    let again = Again::new(&trace, &plain)?;
    let room = if ftl.is_some() { Room::of_device(&plain) } else { Room::new(again.open(&plain)?, &plain)? };
    let sizes = args.ram.frames(page_bytes, args.points)?;
    let points = buffers.iter().flat_map(|buffer| sizes.iter().map(move |frames| Point::Buffer(buffer, *frames)));
    let bounds = sizes.iter().filter(|_| args.bound).map(|frames| Point::Bound(*frames));
    let points: Vec<Point<'_>> = points.chain(bounds).collect();
    let progress = Progress::new("drawing curves", points.len(), args.output.quiet);
    let mut source = again.open(&plain)?;
    let history = alone::history(&mut source, &room.give(plain.clone()), true)?;
    let is_lru = ftl.is_none() && buffers.iter().any(is_plain_lru);
    let lru = is_lru.then(|| LruCurve::new(&history));
    let only = |read, write| Segments::new(&history, Costs { read, write });
    let segments = args.bound.then(|| [only(1, 0), only(0, 1)]);
    let common =
        Common { device, ftl, page_bytes, again, room, lru, future: segments.map(|segments| (history, segments)) };
    let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
    let (rows, bounds) = (Vec::new(), Vec::new());
    let label = ftl.map(PluginConfig::label);
    let mut answer = Answer { schema, nandlab, trace: source.describe(), ftl: label, interrupted: false, rows, bounds };
    let printer = Printer::begin(&curve_forms::heading(&answer, &buffers), form, style, &progress)?;
    let outcome = parallel::each(
        args.output.threads,
        &points,
        |point| common.point(*point, &progress.part()),
        |done| {
            printer.row(&curve_forms::cells(&answer, &done))?;
            match done {
                Done::Row(row) => answer.rows.push(*row),
                Done::Bound(least) => answer.bounds.push(least),
            }
            Ok(())
        },
    );
    progress.end();
    answer.interrupted = interrupt::came(outcome)?;
    printer.end(|form| curve_forms::foot(&answer, form, style))?;
    if ftl.is_some() {
        run::warn(answer.rows.iter().filter_map(|row| row.report.as_ref()));
    } else {
        let configs = buffers.iter().map(|buffer| Ok(configure(&args.device, buffer, None, None)?.1));
        answer.trace.warnings = alone::warn(&source, configs);
    }
    json.write(|| output::json(&answer))?;
    if let Some(target) = &args.plot {
        target.draw(plot, &curve_forms::figure(&answer), style)?;
    }
    let done = answer.rows.len() + answer.bounds.len();
    match answer.rows.iter().any(|row| row.error.is_some()) {
        _ if answer.interrupted => Err(Failure::Interrupted(format!("{done} of {} points are done", points.len()))),
        true => Err(Failure::Said(Exit::SomeRows)),
        false => Ok(()),
    }
}

/// The form of the table, if there is one. A picture on the terminal takes its place.
fn form(args: &CurveArgs) -> Result<Option<Form>, Failure> {
    let plot = args.plot.as_ref().is_some_and(Target::is_stdout).then_some("--plot -");
    let json = (args.output.json.as_deref() == Some("-")).then_some("--json -");
    match (plot, json) {
        (Some(plot), Some(json)) => Err(both(plot, json)),
        (plot, json) => Form::of(&args.output, plot.or(json)),
    }
}

fn is_plain_lru(buffer: &PluginConfig) -> bool {
    buffer.name == "lru" && buffer.params.is_empty()
}

/// Refuses options that would mean nothing.
fn check(args: &CurveArgs, buffers: usize) -> Result<(), Failure> {
    let DeviceArgs { mode, queue_depth, precondition, settle, capacity, .. } = &args.device;
    let given = [
        ("--mode", mode.is_some()),
        ("--queue-depth", queue_depth.is_some()),
        ("--precondition", precondition.is_some()),
        ("--settle", settle.is_some()),
        ("--capacity", capacity.is_some()),
    ];
    if let (None, Some((option, _))) = (&args.ftl, given.iter().find(|(_, given)| *given)) {
        let problem = format!("{option} says how a device works, but without --ftl buffers are simulated alone");
        return Err(Failure::bad(problem, "add --ftl page, for example"));
    }
    if args.plot.is_some() && buffers > nandlab_plot::PALETTE.len() {
        let (problem, most) = (format!("--plot with {buffers} buffers"), nandlab_plot::PALETTE.len());
        return Err(Failure::bad(problem, format!("a picture tells at most {most} apart: name fewer in --buffers")));
    }
    Ok(())
}

/// The configuration of a buffer with so many frames of DRAM, or with what the device has.
fn configure(
    device: &DeviceArgs,
    buffer: &PluginConfig,
    ftl: Option<&PluginConfig>,
    dram_bytes: Option<u64>,
) -> Result<(Builder, Config), Failure> {
    let builder = setup::builder(device, None)?;
    let mut settings = device.set.clone();
    settings.extend(dram_bytes.map(|bytes| format!("ram.dram={bytes}")));
    let page = PluginConfig::named("page");
    Ok(setup::config(builder, Some(buffer), Some(ftl.unwrap_or(&page)), &settings)?)
}

impl Common<'_> {
    fn point(&self, point: Point<'_>, progress: &Part<'_>) -> Result<Done, Failure> {
        match point {
            Point::Buffer(buffer, frames) => self.row(buffer, frames, progress).map(|row| Done::Row(Box::new(row))),
            Point::Bound(frames) => Ok(Done::Bound(self.least(frames))),
        }
    }

    fn bytes(&self, frames: u32) -> u64 {
        u64::from(frames) * u64::from(self.page_bytes)
    }

    /// A buffer at one size. One that cannot be built is a row that says so.
    fn row(&self, buffer: &PluginConfig, frames: u32, progress: &Part<'_>) -> Result<Row, Failure> {
        let ((counts, report), error) = match self.simulate(buffer, frames, progress) {
            Ok((counts, report)) => ((Some(counts), report), None),
            Err(Failure::Config(message)) => ((None, None), Some(message)),
            Err(error) => return Err(error),
        };
        Ok(Row { buffer: buffer.label(), ram_bytes: self.bytes(frames), frames, counts, report, error })
    }

    /// One run: the whole device if there is an FTL, else the buffer alone.
    fn simulate(
        &self,
        buffer: &PluginConfig,
        frames: u32,
        progress: &Part<'_>,
    ) -> Result<(Counts, Option<Report>), Failure> {
        if let Some(lru) = self.lru.as_ref().filter(|_| is_plain_lru(buffer)) {
            return Ok((lru.at(frames), None));
        }
        let (builder, config) = configure(&self.device, buffer, self.ftl, Some(self.bytes(frames)))?;
        if self.ftl.is_none() {
            return Ok((alone::counts(self.again.open(&config)?, &self.room.give(config))?, None));
        }
        let mut open = || self.again.open(&config);
        let mut report = run::simulate(&builder, &config, &mut open, progress)?;
        report.wall = None;
        Ok((Counts::of(&report.ledger, report.buffer.dirty_at_end), Some(report)))
    }

    /// What no buffer of so many frames can do better.
    fn least(&self, frames: u32) -> Least {
        let (history, [reads, writes]) = self.future.as_ref().expect("points of the bound come with their history");
        let bound = |segments| lower_bound(segments, frames, ROUNDS).cost;
        Least {
            ram_bytes: self.bytes(frames),
            frames,
            page_hit_ratio: belady(history, frames).hit_ratio(),
            pages_in: bound(reads),
            pages_out: bound(writes),
        }
    }
}
