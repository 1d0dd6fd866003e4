//! `nandlab run`: one device, one trace, one report.

use std::collections::BTreeSet;

use clap::Args;
use nandlab::report::Report;
use nandlab_lab::{LatencyFile, LatencySummary, Run, Volume, WarmUp, Watch, Word, Workload};
use nandlab_trace::Volumes;

use crate::args::{DeviceArgs, PluginArgs, SizeArgs, TraceArgs, VolumeChoice};
use crate::fail::Failure;
use crate::progress::Progress;
use crate::style::Style;
use crate::{human, output};

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub trace: TraceArgs,
    #[command(flatten)]
    pub plugins: PluginArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    #[command(flatten)]
    pub size: SizeArgs,
    /// Requests at the beginning that are not measured: a number, or mser-5 for the rule of White (docs/experiments.md), which
    /// runs the trace twice.
    #[arg(long, value_name = "N", value_parser = WarmUp::read, help_heading = "Trace", allow_hyphen_values = true,
        conflicts_with = "latencies")]
    pub warm_up: Option<WarmUp>,
    /// Write the result as JSON to a file, or to standard output (`-`) instead of the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub json: Option<String>,
    /// Write a row for each request to a file (Parquet if it ends in .parquet, else CSV, compressed with .zst or .gz): its
    /// number, time, operation, address and size, the latency that the trace recorded, the simulated response and device
    /// times. Recorded latencies are also summed up below the table.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub latencies: Option<String>,
    /// Leave out the `wall` section (how fast the simulation was): two runs then give the same bytes.
    #[arg(long, help_heading = "Output")]
    pub no_wall: bool,
    /// No table and no progress bar.
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Runs the command.
pub fn run(args: &RunArgs, style: Style) -> Result<(), Failure> {
    let device = args.device.complete(args.size, &args.plugins).read()?;
    device.configure()?;
    if args.latencies.is_some() && args.trace.volumes == VolumeChoice::Separate {
        return Err(Failure::bad(
            "--latencies writes the requests of one simulation, and --volumes separate makes one for each device",
            "--volumes pick:N, once for each device",
        ));
    }
    let json = output::Target::open(args.json.as_deref())?;
    match args.trace.volumes {
        VolumeChoice::Together(_) => {
            let workload = Workload { warm_up: args.warm_up, ..args.trace.workload()? };
            together(args, &Run { device, workload }, json, style)
        }
        VolumeChoice::Separate => {
            let workload = Workload { warm_up: args.warm_up, ..args.trace.with(Volumes::Reject) };
            separate(args, &Run { device, workload }, json, style)
        }
    }
}

/// One simulation.
fn together(args: &RunArgs, run: &Run, json: output::Target, style: Style) -> Result<(), Failure> {
    let progress = Progress::of_phases(args.quiet);
    let (mut report, summary) = match &args.latencies {
        None => (run.report(&progress.watch())?, None),
        Some(target) => {
            let (report, summary) = with_latencies(run, target, &progress.watch())?;
            (report, Some(summary))
        }
    };
    drop(progress);
    if args.no_wall {
        report.wall = None;
    }
    warn(std::slice::from_ref(&report));
    json.write(|| output::json(&report))?;
    if !args.quiet && args.json.as_deref() != Some("-") {
        let summary = summary.map(|summary| human::latencies(&summary, report.config.replay.mode, style));
        output::print(&(human::report(&report, style) + &summary.unwrap_or_default()))?;
    }
    Failure::if_some_failed(report.trace.worn_out_at.is_some())
}

/// The same simulation, with a row for each request in a file.
fn with_latencies(run: &Run, target: &str, watch: &Watch<'_>) -> Result<(Report, LatencySummary), Failure> {
    let mut file = LatencyFile::create(target)?;
    let mut summary = LatencySummary::default();
    let report = run.report_each(watch, &mut |request| {
        summary.add(request);
        file.write(request)
    })?;
    file.finish()?;
    Ok((report, summary))
}

/// A simulation of each device of the trace.
fn separate(args: &RunArgs, run: &Run, json: output::Target, style: Style) -> Result<(), Failure> {
    let progress = Progress::of_phases(args.quiet);
    let mut separate = run.separate(&progress.watch())?;
    drop(progress);
    if args.no_wall {
        separate.volumes.iter_mut().for_each(|volume| volume.report.wall = None);
    }
    warn(separate.volumes.iter().map(|volume| &volume.report));
    json.write(|| output::json(&separate))?;
    let text = |volume: &Volume| {
        let head = style.bold(&format!("VOLUME {}", volume.device));
        format!("{head}\n\n{}", human::report(&volume.report, style))
    };
    if !args.quiet && args.json.as_deref() != Some("-") {
        output::print(&separate.volumes.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    if separate.interrupted {
        let (done, devices) = (separate.volumes.len(), separate.devices);
        return Err(Failure::Interrupted(format!("{done} of {devices} devices are done")));
    }
    Failure::if_some_failed(separate.volumes.iter().any(|volume| volume.report.trace.worn_out_at.is_some()))
}

/// Prints the warnings about results, each of them once.
pub fn warn<'a>(reports: impl IntoIterator<Item = &'a Report>) {
    let said: BTreeSet<&String> = reports.into_iter().flat_map(|report| &report.trace.warnings).collect();
    for warning in said {
        output::complain(&format!("warning: {warning}"));
    }
}
