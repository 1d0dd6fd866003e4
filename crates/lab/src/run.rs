//! One device, one workload, one report.

use std::time::Instant;

use nandlab::buffer::Bypass;
use nandlab::config::{Builder, Config, Precondition, ReplayMode};
use nandlab::engine::{Refused, Ssd};
use nandlab::replay::{Replay, ReplayError};
use nandlab::report::{Report, SCHEMA_VERSION, Wall, WarmUpCut};
use nandlab::types::{HostOp, HostRequest, Nanos};
use nandlab_trace::{Options, Trace, Volumes};
use serde::{Deserialize, Serialize};

use crate::course::Course;
use crate::device::{Device, built};
use crate::error::{Error, ROOM};
use crate::foresight::Foresight;
use crate::idle::{self, is_hinted};
use crate::latencies::{EachRequest, ReplayedRequest, Requests};
use crate::measurement::Measurement;
use crate::own_buffer::OwnBuffer;
use crate::source::{BATCH, Source, recorded};
use crate::warm_up::{Mser5, WarmUp};
use crate::watch::{Part, Phase, Watch, now};
use crate::word::Word;
use crate::workload::Workload;
use crate::{address, memory};

/// A run: a device and what is replayed on it. As TOML:
///
/// ```
/// let run: nandlab_lab::Run = toml::from_str(r#"
///     [device]
///     base = "lab"
///     ftl = "dftl:cmt_entries=1024"
///     set = ["ram.dram=2MiB", "precondition=none"]
///     [workload]
///     trace = ["make:zipf:theta=0.9"]
///     address = "modulo"
///     limit = 1000
/// "#)?;
/// let report = run.report(&nandlab_lab::Watch::default())?;
/// assert_eq!(report.requests.total, 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Run {
    /// The device.
    pub device: Device,
    /// What is replayed.
    pub workload: Workload,
}

/// A device of a trace, simulated by itself.
#[derive(Debug, Serialize)]
pub struct Volume {
    /// Its number.
    pub device: u32,
    /// What its requests did.
    pub report: Report,
}

/// The reports of the devices of a trace.
#[derive(Debug, Serialize)]
pub struct Separate {
    schema: u32,
    nandlab: &'static str,
    /// It was stopped, and devices are missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Those that are done.
    pub volumes: Vec<Volume>,
    /// How many the trace has.
    #[serde(skip)]
    pub devices: usize,
}

impl Run {
    /// Simulates it, up to the end of the workload or of the device's life ([`TraceSource::worn_out_at`]).
    ///
    /// [`TraceSource::worn_out_at`]: nandlab::report::TraceSource::worn_out_at
    ///
    /// # Errors
    /// The device cannot be built, the workload cannot be read or does not fit, or `watch` stopped the run.
    pub fn report(&self, watch: &Watch<'_>) -> Result<Report, Error> {
        self.report_seen(watch, None)
    }

    /// The same, and `each` gets every request that is replayed, in order, as soon as it and all before it have completed:
    /// what was recorded and what was simulated. Held until then is what is in the device and behind the oldest request
    /// there.
    ///
    /// # Errors
    /// As [`Run::report`]; the first error of `each` ends the run.
    pub fn report_each(&self, watch: &Watch<'_>, each: &mut EachRequest<'_>) -> Result<Report, Error> {
        self.report_seen(watch, Some(each))
    }

    fn report_seen(&self, watch: &Watch<'_>, each: Option<&mut EachRequest<'_>>) -> Result<Report, Error> {
        let work = watch.work(1);
        let (mut report, config) = self.simulated(&self.device.base()?, &work.part(), each, None)?;
        let limit = report.trace.worn_out_at.map(|_| report.trace.replayed).or(self.workload.limit);
        report.trace.recorded = recorded(&Workload { limit, ..self.workload.clone() }, &config, watch)?;
        Ok(report)
    }

    /// The same without a look at the trace as recorded, and the configuration of the device. The device must last.
    pub(crate) fn simulate(
        &self,
        progress: &Part<'_>,
        each: Option<&mut EachRequest<'_>>,
    ) -> Result<(Report, Config), Error> {
        self.simulate_over(&self.device.base()?, progress, each, None)
    }

    /// The same over the base of the device, which was read before; `course` gets how it went.
    pub(crate) fn simulate_over(
        &self,
        base: &Builder,
        progress: &Part<'_>,
        each: Option<&mut EachRequest<'_>>,
        course: Option<&mut Course>,
    ) -> Result<(Report, Config), Error> {
        let (report, config) = self.simulated(base, progress, each, course)?;
        Ok((of_all(report)?, config))
    }

    fn simulated(
        &self,
        base: &Builder,
        progress: &Part<'_>,
        each: Option<&mut EachRequest<'_>>,
        course: Option<&mut Course>,
    ) -> Result<(Report, Config), Error> {
        let (_, plain) = self.device.over(base)?;
        let (builder, config) = self.device.fitted(&self.workload, &plain, progress.watch())?.over(base)?;
        let own = self.device.own.as_ref();
        let mut report =
            Job { builder: &builder, config: &config, own, workload: &self.workload, progress }.run(each, course)?;
        report.trace.warnings.extend(idle::settings(&self.device.set, &config, &report));
        Ok((report, config))
    }

    /// Simulates each device of the trace by itself. Each sees its requests at the times that they have in the whole trace.
    ///
    /// # Errors
    /// As [`Run::report`]; but when it is stopped, the devices that are done are the result.
    pub fn separate(&self, watch: &Watch<'_>) -> Result<Separate, Error> {
        if self.workload.is_built_in() {
            let problem = "--volumes separate simulates each device of a trace, and no trace is named";
            return Err(Error::input(problem, "add the trace, or `-` for standard input"));
        }
        let options = Options { volumes: Volumes::Reject, ..self.workload.options(watch)? };
        let devices = Trace::devices(&self.workload.paths()?, &options)?;
        let (schema, nandlab) = (SCHEMA_VERSION, env!("CARGO_PKG_VERSION"));
        let mut separate =
            Separate { schema, nandlab, interrupted: false, volumes: Vec::new(), devices: devices.len() };
        for device in devices {
            let device = device.device;
            let workload = Workload { volumes: Volumes::Pick(device), ..self.workload.clone() };
            match (Self { device: self.device.clone(), workload }).report(watch) {
                Ok(report) => separate.volumes.push(Volume { device, report }),
                Err(Error::Stopped) => {
                    separate.interrupted = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(separate)
    }
}

/// A row of several that are simulated at the same time: they disturb each other's wall time, and nothing else.
pub(crate) fn simulate_row(
    device: &Device,
    builder: &Builder,
    config: &Config,
    workload: &Workload,
    progress: &Part<'_>,
) -> Result<Report, Error> {
    let mut report = of_all(Job { builder, config, own: None, workload, progress }.run(None, None)?)?;
    report.wall = None;
    report.trace.warnings.extend(idle::replay(&device.set, config));
    Ok(report)
}

/// What is simulated, and who watches.
struct Job<'a> {
    builder: &'a Builder,
    config: &'a Config,
    /// A policy of the caller's own.
    own: Option<&'a OwnBuffer>,
    workload: &'a Workload,
    progress: &'a Part<'a>,
}

impl Job<'_> {
    /// Simulates it; `each` gets every request, `course` how it went.
    fn run(&self, each: Option<&mut EachRequest<'_>>, course: Option<&mut Course>) -> Result<Report, Error> {
        let given = |requests, rule: &str| Some(WarmUpCut { requests, rule: rule.to_owned() });
        let (cut, is_at_bound) = match self.workload.warm_up {
            None => (None, false),
            Some(WarmUp::Requests(requests)) => (given(requests, "given"), false),
            Some(WarmUp::Mser5) if self.own.is_some() || self.workload.foresight.is_some() => {
                let problem = "warm_up: mser-5 runs the workload twice, and a policy or hints of one's own have seen it after the first time";
                return Err(Error::input(problem, "give a number of requests"));
            }
            Some(warm_up @ WarmUp::Mser5) => {
                let mut rule = Mser5::default();
                let all = Workload { warm_up: None, ..self.workload.clone() };
                let mut see = |request: &ReplayedRequest| {
                    rule.add(request.response);
                    Ok(())
                };
                Job { workload: &all, ..*self }.run_from(0, Some(&mut see), None)?;
                let found = rule.cut();
                (given(found.requests, &warm_up.word()), found.is_at_bound)
            }
        };
        let requests = cut.as_ref().map_or(0, |cut| cut.requests);
        let mut report = self.run_from(requests, each, course)?;
        report.trace.warm_up = cut;
        if is_at_bound {
            let warning = "MSER-5 cuts half of the requests, which is the most that it may: the run is too short, or never comes to \
                       rest, and its means depend on where it ends";
            report.trace.warnings.push(warning.to_owned());
        }
        Ok(report)
    }

    /// The same, and the measurement begins after a number of requests.
    fn run_from(
        &self,
        unmeasured: u64,
        each: Option<&mut EachRequest<'_>>,
        course: Option<&mut Course>,
    ) -> Result<Report, Error> {
        let Self { builder, config, own, workload, progress } = *self;
        let open = || Source::open(workload, config, progress.watch());
        // A trace that cannot be opened is found before minutes of preconditioning.
        let mut source = open()?;
        memory::check(config)?;
        let started = now();
        let mut device = built(builder, config, own, &progress.watch().stop)?;
        let work = move || {
            if config.precondition == Precondition::Trace {
                warm_up(&mut *device, source, workload.foresight.as_ref(), progress)?;
                source = open()?;
            }
            let built = now();
            progress.begin(Phase::Replaying);
            let mut replay = Replay::new(config, &*device);
            let mut measurement = Measurement::after(unmeasured, course, &*device);
            let mut requests = each.map(|each| Requests::new(each, &mut replay, &mut *device));
            let (mut batch, mut replayed, mut worn_out_at) = (Vec::with_capacity(BATCH), 0, None);
            let mut has_hints = config.ram.bypass == Bypass::None;
            while match &mut requests {
                None => source.fill(&mut batch)?,
                Some(requests) => source.fill_seen(&mut batch, |piece, recorded| requests.see(piece, recorded))?,
            } {
                Foresight::show(workload.foresight.as_ref(), &mut batch)?;
                has_hints = has_hints || is_hinted(&batch);
                let fed = measurement.feed(&mut replay, &mut *device, &batch);
                worn_out_at = worn_out(fed, unmeasured)?;
                if let Some(requests) = &mut requests {
                    requests.hand_out(&mut replay, &mut *device)?;
                }
                replayed += HostRequest::count(&batch);
                show(progress, &source, replayed);
                if let Some(request) = worn_out_at {
                    replayed = request - 1;
                    break;
                }
            }
            if replayed == 0 {
                let name = source.describe().name;
                return Err(Error::input(format!("{name}: there is no request in it"), "is this the right file?"));
            }
            if replayed <= unmeasured {
                let problem =
                    format!("warm-up: {unmeasured} requests are not to be measured, and there are {replayed}");
                return Err(Error::input(problem, "give fewer, or a longer workload"));
            }
            if let Some(requests) = &mut requests {
                device.drain();
                requests.hand_out(&mut replay, &mut *device)?;
            }
            let outcome = replay.finish(&mut *device);
            measurement.end(&*device);
            let mut info = source.describe();
            info.warnings.extend(source.begins_late().filter(|_| config.replay.mode == ReplayMode::Open));
            info.warnings.extend(address::warning(source.address(), &config.device.geometry, device.sees_neighbours()));
            info.warnings.extend(idle::bypass(config.ram.bypass, has_hints));
            if let Some(request) = worn_out_at {
                (info.replayed, info.worn_out_at) = (replayed, worn_out_at);
                info.warnings.push(format!(
                    "request {request} was refused: the device is worn out, and the report is of the requests before it"
                ));
            }
            let shown = own.map(|own| own.shown(config));
            let mut report = Report::settled(shown.as_ref().unwrap_or(config), &mut *device, info, &outcome);
            report.wall = Some(wall(&report, started, built));
            Ok(report)
        };
        match own {
            None => work(),
            Some(own) => own.hold(work),
        }
    }
}

/// The request at which the device was worn out, if there is something to report of those before it.
fn worn_out(fed: Result<(), ReplayError>, unmeasured: u64) -> Result<Option<u64>, ReplayError> {
    match fed {
        Err(ReplayError::Refused { request, error: Refused::ReadOnly { .. } }) if request > unmeasured + 1 => {
            Ok(Some(request))
        }
        fed => fed.map(|()| None),
    }
}

/// A report of the whole workload, as those that are compared with others are.
fn of_all(report: Report) -> Result<Report, Error> {
    let Some(request) = report.trace.worn_out_at else { return Ok(report) };
    Err(Error::input(
        format!("the device is worn out: request {request} was refused"),
        "raise device.endurance.pe_cycles or device.reliability.spare_blocks_per_die; `nandlab run` reports what was replayed \
         until then",
    ))
}

/// How long it took.
fn wall(report: &Report, started: Instant, built: Instant) -> Wall {
    let run_seconds = now().duration_since(built).as_secs_f64();
    let pages = report.requests.pages_read + report.requests.pages_written;
    Wall {
        build_seconds: built.duration_since(started).as_secs_f64(),
        run_seconds,
        pages_per_second: pages as f64 / run_seconds,
        requests_per_second: report.requests.total as f64 / run_seconds,
    }
}

fn show(progress: &Part<'_>, source: &Source, replayed: u64) {
    if let Some((done, whole)) = source.progress(replayed) {
        progress.show(done, whole);
    }
}

/// Carries out the writes of the trace, as fast as the device can; then the measurement begins.
fn warm_up(
    device: &mut dyn Ssd,
    mut source: Source,
    foresight: Option<&Foresight>,
    progress: &Part<'_>,
) -> Result<(), Error> {
    progress.begin(Phase::Preconditioning);
    let mut batch: Vec<HostRequest> = Vec::with_capacity(BATCH);
    let mut replayed = 0;
    while source.fill(&mut batch)? {
        replayed += HostRequest::count(&batch);
        batch.retain(|request| request.op == HostOp::Write);
        for request in &mut batch {
            request.at = Nanos::ZERO;
        }
        // There may be no write in it.
        if !batch.is_empty() {
            Foresight::show(foresight, &mut batch)?;
        }
        if let Err(error) = device.run(&batch) {
            return Err(Error::input(error, ROOM));
        }
        show(progress, &source, replayed);
    }
    device.start_measuring();
    Ok(())
}
