//! `nandlab curve`: what buffers do at every size.

use clap::Args;
use indicatif::ProgressBar;
use nandlab::buffer::BUFFERS;
use nandlab::config::{Config, PluginConfig};
use nandlab::ftl::FTLS;
use nandlab::offline::{Counts, LruCurve};
use nandlab::report::{Report, SCHEMA_VERSION, Source};
use serde::Serialize;

use crate::alone::{self, Sizes};
use crate::args::{DeviceArgs, OutputArgs, TraceArgs, ranged};
use crate::compare::plugins;
use crate::fail::{Exit, Failure};
use crate::picture::Target;
use crate::source::Again;
use crate::style::Style;
use crate::{curve_forms, output, parallel, run, setup};

/// Arguments of `curve`.
#[derive(Args, Debug)]
pub struct CurveArgs {
    #[command(flatten)]
    trace: TraceArgs,
    /// Buffers, separated by commas: names or name:key=value:key=value.
    #[arg(long, short, value_name = "LIST", default_value = "lru", help_heading = "Device")]
    buffers: String,
    /// An FTL below: whole devices are simulated, with write amplification and response times. Without it buffers alone,
    /// whose pages are whole (a write of a part of a page counts as a write of the page).
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
    /// Draw the curves: a file that ends in .svg or .png, or `-` for the terminal instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output", conflicts_with_all = ["csv", "markdown"])]
    plot: Option<Target>,
    #[command(flatten)]
    output: OutputArgs,
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

/// What is published.
#[derive(Serialize)]
pub struct Answer {
    schema: u32,
    nandlab: &'static str,
    /// What was replayed.
    pub trace: Source,
    /// The FTL below, if there is one.
    pub ftl: Option<String>,
    /// Buffer by buffer, each from its smallest size to its largest.
    pub rows: Vec<Row>,
}

/// Runs the command.
pub fn curve(args: &CurveArgs, style: Style) -> Result<(), Failure> {
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
    let (_, plain) = configure(args, &PluginConfig::named("none"), ftl, None)?;
    let again = Again::new(&args.trace, &plain)?;
    let sizes = args.ram.frames(plain.device.geometry.page_bytes, args.points)?;
    let bar = if args.output.quiet { ProgressBar::hidden() } else { run::bar("drawing curves") };
    bar.set_length((buffers.len() * sizes.len()) as u64);
    let mut source = again.open(&plain)?;
    let history = alone::history(&mut source, &plain, true)?;
    let is_plain_lru = |buffer: &PluginConfig| ftl.is_none() && buffer.name == "lru" && buffer.params.is_empty();
    let lru = buffers.iter().any(is_plain_lru).then(|| LruCurve::new(&history));
    drop(history);
    let pairs: Vec<_> = buffers.iter().flat_map(|buffer| sizes.iter().map(move |frames| (buffer, *frames))).collect();
    let rows = parallel::map(args.output.threads, &pairs, |(buffer, frames)| {
        let found = match &lru {
            Some(lru) if is_plain_lru(buffer) => Ok((lru.at(*frames), None)),
            _ => simulate(args, buffer, ftl, *frames, &again),
        };
        bar.inc(1);
        row(buffer, *frames, plain.device.geometry.page_bytes, found)
    });
    bar.finish_and_clear();
    let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
    let answer = Answer { schema, nandlab, trace: source.describe(), ftl: ftl.map(PluginConfig::label), rows };
    publish(args, &answer, style)?;
    if answer.rows.iter().any(|row| row.error.is_some()) { Err(Failure::Said(Exit::SomeRows)) } else { Ok(()) }
}

/// Refuses options that would mean nothing.
fn check(args: &CurveArgs, buffers: usize) -> Result<(), Failure> {
    let DeviceArgs { mode, queue_depth, precondition, .. } = &args.device;
    let given = [
        ("--mode", mode.is_some()),
        ("--queue-depth", queue_depth.is_some()),
        ("--precondition", precondition.is_some()),
    ];
    if let (None, Some((option, _))) = (&args.ftl, given.iter().find(|(_, given)| *given)) {
        let problem = format!("{option} says how a device works, but without --ftl buffers are simulated alone");
        return Err(Failure::bad(problem, "add --ftl page, for example"));
    }
    if args.plot.is_some() && buffers > nandlab_plot::PALETTE.len() {
        let (problem, most) = (format!("--plot with {buffers} buffers"), nandlab_plot::PALETTE.len());
        return Err(Failure::bad(problem, format!("a picture tells at most {most} apart: name fewer in --buffers")));
    }
    if args.plot.as_ref().is_some_and(Target::is_stdout) && args.output.json.as_deref() == Some("-") {
        return Err(Failure::bad("--plot and --json both want standard output", "give one of them the name of a file"));
    }
    Ok(())
}

/// The configuration of a buffer with so many frames of DRAM, or with what the device has.
fn configure(
    args: &CurveArgs,
    buffer: &PluginConfig,
    ftl: Option<&PluginConfig>,
    dram_bytes: Option<u64>,
) -> Result<(nandlab::config::Builder, Config), Failure> {
    let builder = setup::builder(&args.device, None)?;
    let mut settings = args.device.set.clone();
    settings.extend(dram_bytes.map(|bytes| format!("ram.dram={bytes}")));
    let page = PluginConfig::named("page");
    Ok(setup::config(builder, Some(buffer), Some(ftl.unwrap_or(&page)), &settings)?)
}

/// One run: the whole device if there is an FTL, else the buffer alone.
fn simulate(
    args: &CurveArgs,
    buffer: &PluginConfig,
    ftl: Option<&PluginConfig>,
    frames: u32,
    again: &Again<'_>,
) -> Result<(Counts, Option<Report>), Failure> {
    let (_, plain) = configure(args, buffer, ftl, None)?;
    let bytes = u64::from(frames) * u64::from(plain.device.geometry.page_bytes);
    let (builder, config) = configure(args, buffer, ftl, Some(bytes))?;
    if ftl.is_none() {
        return Ok((alone::counts(again.open(&config)?, &config)?, None));
    }
    let mut report =
        run::simulate(&builder, &config, &args.trace, &mut || again.open(&config), &ProgressBar::hidden())?;
    report.wall = None;
    Ok((Counts::of(&report.ledger, u64::from(report.ram.frames_dirty)), Some(report)))
}

fn row(buffer: &PluginConfig, frames: u32, page_bytes: u32, found: Result<(Counts, Option<Report>), Failure>) -> Row {
    let ((counts, report), error) = match found {
        Ok((counts, report)) => ((Some(counts), report), None),
        Err(Failure::Message(_, message)) => ((None, None), Some(message)),
        Err(_) => ((None, None), Some("stopped".to_owned())),
    };
    let ram_bytes = u64::from(frames) * u64::from(page_bytes);
    Row { buffer: buffer.label(), ram_bytes, frames, counts, report, error }
}

fn publish(args: &CurveArgs, answer: &Answer, style: Style) -> Result<(), Failure> {
    if let Some(target) = &args.output.json {
        output::write(target, &output::json(answer))?;
    }
    if let Some(target) = &args.plot {
        target.draw(&curve_forms::figure(answer), style)?;
    }
    let is_said = args.output.json.as_deref() == Some("-") || args.plot.as_ref().is_some_and(Target::is_stdout);
    if args.output.quiet || is_said {
        return Ok(());
    }
    output::print(&match (args.output.csv, args.output.markdown) {
        (true, _) => curve_forms::csv(answer),
        (_, true) => curve_forms::markdown(answer),
        _ => curve_forms::text(answer, style),
    })
}
