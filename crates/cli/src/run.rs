//! `nandlab run`: one device, one trace, one report.

use std::collections::BTreeSet;
use std::time::Instant;

use nandlab::config::{Builder, Config, Precondition};
use nandlab::engine::Device;
use nandlab::replay::Replay;
use nandlab::report::{Report, SCHEMA_VERSION, Wall};
use nandlab::types::{HostOp, HostRequest, Nanos};
use nandlab_trace::{Options, Trace, Volumes};
use serde::Serialize;

use crate::args::{RunArgs, TraceArgs, VolumeChoice};
use crate::fail::{Failure, ROOM};
use crate::progress::{Part, Progress};
use crate::source::{self, BATCH, Source};
use crate::style::Style;
use crate::{address, capacity, human, interrupt, memory, output, setup};

/// Runs the command.
pub fn run(args: &RunArgs, style: Style) -> Result<(), Failure> {
    let (_, config) = setup::single(&args.device, args.size, &args.plugins)?;
    let json = output::Target::open(args.json.as_deref())?;
    if args.trace.volumes == VolumeChoice::Separate {
        return separate(args, &config, json, style);
    }
    let report = one(args, &config, &args.trace)?;
    warn(std::slice::from_ref(&report));
    json.write(|| output::json(&report))?;
    if args.quiet || args.json.as_deref() == Some("-") {
        return Ok(());
    }
    output::print(&human::report(&report, style))
}

/// Says what is to be known about results, each thing once.
pub fn warn<'a>(reports: impl IntoIterator<Item = &'a Report>) {
    let said: BTreeSet<&String> = reports.into_iter().flat_map(|report| &report.trace.warnings).collect();
    for warning in said {
        output::complain(&format!("warning: {warning}"));
    }
}

/// One simulation.
fn one(args: &RunArgs, plain: &Config, trace: &TraceArgs) -> Result<Report, Failure> {
    let device = capacity::resolve(&args.device, trace, plain)?;
    let (builder, config) = setup::single(&device, args.size, &args.plugins)?;
    let progress = Progress::new("building the device", 1, args.quiet);
    let mut report = simulate(&builder, &config, &mut || Source::open(trace, &config), &progress.part())?;
    report.trace.recorded = source::recorded(trace, &config)?;
    progress.end();
    if args.no_wall {
        report.wall = None;
    }
    Ok(report)
}

/// The reports of the devices of a trace.
#[derive(Serialize)]
struct Separate<'a> {
    schema: u32,
    nandlab: &'static str,
    /// A signal ended it, and devices are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    volumes: &'a [Volume],
}

/// A device of a trace, simulated by itself.
#[derive(Serialize)]
struct Volume {
    /// Its number.
    device: u32,
    report: Report,
}

/// A simulation of each device of the trace. Each sees its requests at the times that they have in the whole trace.
fn separate(args: &RunArgs, config: &Config, json: output::Target, style: Style) -> Result<(), Failure> {
    let read = &args.trace.read;
    if read.trace.is_empty() {
        let problem = "--volumes separate simulates each device of a trace, and no trace is named";
        return Err(Failure::bad(problem, "add the trace, or `-` for standard input"));
    }
    let options = Options { limit: args.trace.limit, ..read.options()? };
    let devices = Trace::devices(&read.paths()?, &options)?;
    let mut volumes = Vec::new();
    let outcome = devices.iter().try_for_each(|device| {
        let device = device.device;
        let trace = TraceArgs { volumes: VolumeChoice::Together(Volumes::Pick(device)), ..args.trace.clone() };
        volumes.push(Volume { device, report: one(args, config, &trace)? });
        Ok(())
    });
    let interrupted = interrupt::came(outcome)?;
    warn(volumes.iter().map(|volume| &volume.report));
    let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
    json.write(|| output::json(&Separate { schema, nandlab, interrupted, volumes: &volumes }))?;
    let text = |volume: &Volume| {
        let head = style.bold(&format!("VOLUME {}", volume.device));
        format!("{head}\n\n{}", human::report(&volume.report, style))
    };
    if !args.quiet && args.json.as_deref() != Some("-") {
        output::print(&volumes.iter().map(text).collect::<Vec<_>>().join("\n"))?;
    }
    if interrupted {
        return Err(Failure::Interrupted(format!("{} of {} devices are done", volumes.len(), devices.len())));
    }
    Ok(())
}

/// Opens the requests anew.
pub type Open<'a> = &'a mut dyn FnMut() -> Result<Source, Failure>;

/// Builds the device, replays the requests, reports.
pub fn simulate(builder: &Builder, config: &Config, open: Open<'_>, progress: &Part<'_>) -> Result<Report, Failure> {
    // A trace that cannot be opened is found before minutes of preconditioning.
    let mut source = open()?;
    memory::check(config)?;
    let started = now();
    let mut device = config.build().map_err(|error| builder.locate(error))?;
    if config.precondition == Precondition::Trace {
        warm_up(&mut *device, source, progress)?;
        source = open()?;
    }
    let built = now();
    progress.begin("replaying");
    let mut replay = Replay::new(config, &*device);
    let (mut batch, mut replayed) = (Vec::with_capacity(BATCH), 0);
    while source.fill(&mut batch)? {
        replay.feed(&mut *device, &batch)?;
        replayed += HostRequest::count(&batch);
        show(progress, &source, replayed);
    }
    if replayed == 0 {
        let name = source.describe().name;
        return Err(Failure::bad(format!("{name}: there is no request in it"), "is this the right file?"));
    }
    let outcome = replay.finish(&mut *device);
    let mut info = source.describe();
    info.warnings.extend(address::warning(source.address(), &config.device.geometry, device.sees_neighbours()));
    let mut report = Report::settled(config, &mut *device, info, &outcome);
    let run_seconds = now().duration_since(built).as_secs_f64();
    let pages = report.requests.pages_read + report.requests.pages_written;
    report.wall = Some(Wall {
        build_seconds: built.duration_since(started).as_secs_f64(),
        run_seconds,
        pages_per_second: pages as f64 / run_seconds,
        requests_per_second: report.requests.total as f64 / run_seconds,
    });
    Ok(report)
}

fn show(progress: &Part<'_>, source: &Source, replayed: u64) {
    if let Some((done, whole)) = source.progress(replayed) {
        progress.show(done, whole);
    }
}

/// Carries out the writes of the trace, as fast as the device can; then the measurement begins.
fn warm_up(device: &mut dyn Device, mut source: Source, progress: &Part<'_>) -> Result<(), Failure> {
    progress.begin("preconditioning");
    let mut batch: Vec<HostRequest> = Vec::with_capacity(BATCH);
    let mut replayed = 0;
    while source.fill(&mut batch)? {
        replayed += HostRequest::count(&batch);
        batch.retain(|request| request.op == HostOp::Write);
        for request in &mut batch {
            request.at = Nanos::ZERO;
        }
        if let Err(error) = device.run(&batch) {
            return Err(Failure::bad(error, ROOM));
        }
        show(progress, &source, replayed);
    }
    device.start_measuring();
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "wall time is measured here, and only reported")]
fn now() -> Instant {
    Instant::now()
}
