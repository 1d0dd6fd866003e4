//! Fitting a simulated drive to a real one: the parameters with which it takes as long as what was recorded.
//!
//! The loss of a configuration is the mean absolute logarithm of simulated over recorded times: of each kind of requests
//! (reads, writes, flushes if wanted) the percentiles 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.5 and 99.9: of all of them as much
//! as of their classes of sizes together, and as of those that met no other request.
//! The last part of a trace, or of each of several parts of it (of fio results every third job), is held out: it is simulated,
//! and the search does not see it.
//! What of the result the data tells is found by trying: [`Told`]. docs/fit.md says more.

mod errors;
mod fio;
mod fio_job;
mod fio_options;
mod linear;
mod parameter;
mod preset;
mod sample;
mod search;
mod searched;
mod told;

use nandlab::config::{Builder, Config, Precondition};
use nandlab::error::ConfigError;
use nandlab::report::SCHEMA_VERSION;
use serde::Serialize;

use crate::capacity::Capacity;
use crate::device::Device;
use crate::error::Error;
use crate::memory;
use crate::parallel;
use crate::source::Source;
use crate::watch::{Event, Watch, Work};
use crate::workload::Workload;
use errors::errors;
use sample::Sample;
use search::{Point, Residuals, Search, loss};
use told::{PROBES, PROFILES, judge, profile};

pub use errors::FitError;
pub use fio::SkippedJob;
pub use parameter::{FitParameter, FitRange, FitUnit};
pub use told::{FittedParameter, Told};

/// The loss may be greater by this, and a value is as good as the best one: half a per cent of time ...
const SLACK: f64 = 0.005;
/// ... or this part of the least loss.
const SLACK_SHARE: f64 = 0.05;

/// A point that is better than the profiled one by this part of what still counts as good is another best one.
const MOVED: f64 = 0.1;

/// Most parts into which a trace is cut.
const PARTS_MAX: usize = 10_000;

/// A fit that is asked for.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The device; what its settings name is not searched.
    pub device: Device,
    /// A trace with recorded latencies; or results of fio, one file of JSON.
    pub workload: Workload,
    /// What is searched besides [`FitParameter::physical`], or with other bounds.
    pub parameters: Vec<FitParameter>,
    /// The part of the data that the search does not see, from 0 to 0.9.
    pub holdout: f64,
    /// Parts into which a trace is cut, 1 to 10,000; the last requests of each are held out. Of one part, the whole
    /// trace, it is its end.
    pub holdout_parts: usize,
    /// Flushes are compared too, and count as much as reads and as writes.
    pub flushes: bool,
    /// Simulations of the search; what the data tells takes about twenty more for each parameter, up
    /// to five times.
    pub evaluations: usize,
    /// Simulations at a time, which changes no result; `None`: one for each processor.
    pub threads: Option<usize>,
}

/// The result of a fit.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    schema: u32,
    nandlab: &'static str,
    /// It was stopped: the best until then, and nothing is said of what the data tells.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What it was fitted to.
    pub data: String,
    /// The device that it began with.
    pub base: String,
    /// Seed of the search and of the device.
    pub seed: u64,
    /// Simulated requests of an evaluation.
    pub requests: usize,
    /// Simulations.
    pub evaluations: usize,
    /// The part that was held out.
    pub holdout: f64,
    /// Parts of the trace, each with its end held out; of jobs of fio there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holdout_parts: Option<usize>,
    /// Loss of the device as it was, without the held-out part; nothing if it could not be built.
    pub loss_before: Option<f64>,
    /// The least loss, without the held-out part.
    pub loss: f64,
    /// Up to this loss a value counts as good as the best: as the one around which others were tried last.
    pub threshold: f64,
    /// The parameters, in the order in which they are searched.
    pub parameters: Vec<FittedParameter>,
    /// Keys that can have one value only in the base, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_searched: Vec<String>,
    /// How far simulated percentiles are from recorded ones.
    pub errors: Vec<FitError>,
    /// Jobs of fio that are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<SkippedJob>,
    /// The settings that make the base the fitted device.
    pub settings: Vec<String>,
    /// The fitted device as a file: a configuration in TOML.
    #[serde(skip)]
    pub preset: String,
}

/// What one configuration gives.
struct Evaluated {
    residuals: Residuals,
    errors: Vec<FitError>,
    /// Why it cannot be built.
    refused: Option<ConfigError>,
}

/// A fit under way.
struct Fitting<'a> {
    builder: Builder,
    device: Device,
    config: Config,
    is_fio: bool,
    parameters: Vec<FitParameter>,
    samples: Vec<Sample>,
    /// How much each residual weighs.
    weights: Vec<f64>,
    threads: Option<usize>,
    watch: &'a Watch<'a>,
    /// Every point that was evaluated, with its loss.
    history: Vec<(Point, f64)>,
    /// The best of them, and what it gave.
    best: Option<(Point, f64, Evaluated)>,
    /// The point around which others were tried last, with its loss.
    profiled: Option<(Point, f64)>,
    /// By parameter: another value could be simulated there.
    tried: Vec<bool>,
}

/// The loss up to which a value is as good as one of this loss.
fn as_good_as(loss: f64) -> f64 {
    loss + SLACK.max(SLACK_SHARE * loss)
}

impl Fit {
    /// Carries it out.
    ///
    /// # Errors
    /// The device cannot be built, the data cannot be read or has no latencies, there is nothing to search, or it was stopped
    /// before anything was found.
    pub fn run(&self, watch: &Watch<'_>) -> Result<Fitted, Error> {
        if !(0.0..=0.9).contains(&self.holdout) {
            let problem = format!("--holdout {}: it is outside 0 to 0.9", self.holdout);
            return Err(Error::input(problem, "0.33 keeps the last third for the test"));
        }
        if !(1..=PARTS_MAX).contains(&self.holdout_parts) {
            let problem = format!("--holdout-parts {}: it is outside 1 to {PARTS_MAX}", self.holdout_parts);
            return Err(Error::input(problem, "with 1 the end of the trace is held out"));
        }
        let is_fio = fio::is_fio(&self.workload)?;
        let builder = self.device.base()?;
        let (_, plain) = self.device.over(&builder)?;
        if is_fio && self.device.capacity == Some(Capacity::Fit) {
            let problem = "--capacity fit is the size of a trace, and results of fio have none";
            return Err(Error::input(problem, "give a size as in --capacity 64GiB"));
        }
        let device = self.device.fitted(&self.workload, &plain, watch)?;
        let (_, config) = device.over(&builder)?;
        if config.precondition == Precondition::Trace {
            let problem = "precondition = \"trace\": a fit simulates the requests many times, each once";
            return Err(Error::input(problem, "use --precondition full or steady:N"));
        }
        memory::check(&config)?;
        self.keeps_arrivals(is_fio, &config)?;
        let parameters = self.searched(&builder, &device, &config)?;
        if is_fio && self.holdout_parts > 1 {
            let problem = "--holdout-parts: of results of fio whole jobs are held out, spread over all of them";
            return Err(Error::input(problem, "leave it out"));
        }
        if is_fio && self.flushes {
            let problem = "--flushes: results of fio say nothing of flushes that could be compared";
            return Err(Error::input(problem, "leave it out, or fit to a trace"));
        }
        let (data, samples, skipped) = if is_fio {
            let (samples, skipped) = fio::samples(self, &device, &builder, watch)?;
            (self.workload.trace[0].clone(), samples, skipped)
        } else {
            let source = Source::open(&self.workload, &config, watch)?;
            (
                source.describe().name,
                vec![Sample::of_trace(source, self.holdout, self.holdout_parts, self.flushes)?],
                Vec::new(),
            )
        };
        if self.holdout > 0.0 && !samples.iter().any(Sample::is_held_out) {
            let why = if is_fio { "there are too few jobs" } else { "the parts have too few requests" };
            (watch.tell)(Event::Warning(&format!("--holdout {}: nothing is held out, {why}", self.holdout)));
        }
        let mut fitting = Fitting {
            builder,
            device,
            config,
            is_fio,
            parameters,
            weights: weights(&samples),
            samples,
            threads: self.threads,
            watch,
            history: Vec::new(),
            best: None,
            profiled: None,
            tried: Vec::new(),
        };
        let work = watch.work(self.evaluations + PROBES * fitting.parameters.len());
        let complete = fitting.search(self.evaluations, &work).and_then(|()| fitting.probe(&work));
        let interrupted = match complete {
            Ok(()) => false,
            Err(Error::Stopped) if fitting.best.is_some() => true,
            Err(error) => return Err(error),
        };
        Ok(Fitted { skipped, ..self.result(&fitting, data, interrupted)? })
    }

    fn result(&self, fitting: &Fitting<'_>, data: String, interrupted: bool) -> Result<Fitted, Error> {
        let Fitting { history, parameters, samples, .. } = fitting;
        let (point, loss, Evaluated { errors, .. }) = fitting.best.as_ref().expect("something was evaluated");
        let (profiled, profiled_loss) = fitting.profiled.as_ref().map_or((point, loss), |(point, loss)| (point, loss));
        let threshold = as_good_as(*profiled_loss);
        let as_good: Vec<&Point> =
            history.iter().filter(|(_, loss)| *loss <= threshold).map(|(point, _)| point).collect();
        let judged = parameters.iter().zip(&fitting.tried).enumerate();
        let judged = judged.map(|(at, (parameter, tried))| judge(parameter, at, point, profiled, &as_good, *tried));
        let settings = fitting.settings(point);
        let mut fitted = Fitted {
            schema: SCHEMA_VERSION,
            nandlab: env!("CARGO_PKG_VERSION"),
            interrupted,
            data,
            base: self.device.base.clone(),
            seed: fitting.config.seed,
            requests: samples.iter().map(|sample| sample.requests).sum(),
            evaluations: history.len(),
            holdout: self.holdout,
            holdout_parts: (!fitting.is_fio).then_some(self.holdout_parts),
            loss_before: history.first().map(|(_, loss)| *loss).filter(|loss| loss.is_finite()),
            loss: *loss,
            threshold,
            parameters: if interrupted { Vec::new() } else { judged.collect() },
            not_searched: FitParameter::not_searched(&fitting.config).into_iter().map(|(_, why)| why).collect(),
            errors: errors.clone(),
            skipped: Vec::new(),
            preset: String::new(),
            settings,
        };
        let (_, config) = fitting.configured(point, &[])?;
        fitted.preset = preset::text(&fitted, config);
        Ok(fitted)
    }
}

/// How much each residual weighs: samples weigh the same.
fn weights(samples: &[Sample]) -> Vec<f64> {
    let seen = || samples.iter().filter(|sample| sample.is_seen());
    let count = seen().count() as f64;
    seen().flat_map(Sample::weights).map(|weight| weight / count).collect()
}

impl Fitting<'_> {
    /// The settings of a point. Another shape of the array keeps its number of erase blocks.
    fn settings(&self, point: &Point) -> Vec<String> {
        let values = self.parameters.iter().zip(point);
        let mut settings: Vec<String> = values.map(|(parameter, x)| parameter.setting(parameter.value(*x))).collect();
        let shape = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];
        let mut planes = 1;
        let mut is_shaped = false;
        let known = serde_json::to_value(self.config.device.geometry).expect("it is plain data");
        for part in shape {
            let key = format!("device.geometry.{part}=");
            let set = settings.iter().find_map(|setting| setting.strip_prefix(&key));
            is_shaped |= set.is_some();
            let count = set.map_or(known[part].as_u64(), |text| text.parse().ok());
            planes *= count.unwrap_or(1).max(1);
        }
        if is_shaped {
            let blocks = u64::from(self.config.device.geometry.blocks()).div_ceil(planes);
            settings.push(format!("device.geometry.blocks_per_plane={blocks}"));
        }
        settings
    }

    /// The configuration of a point, with further settings.
    fn configured(&self, point: &Point, more: &[String]) -> Result<(Builder, Config), Error> {
        let set = [&self.device.set[..], &self.settings(point), more].concat();
        Device { set, ..self.device.clone() }.over(&self.builder)
    }

    /// Simulates a point; what is held out as well, if it is of the same data as what is not, or `all` is wanted.
    fn evaluate(&self, point: &Point, all: bool) -> Result<Evaluated, Error> {
        let mut residuals = Vec::new();
        let mut responses = Vec::new();
        for sample in self.samples.iter().filter(|sample| all || sample.is_seen()) {
            let simulated = self
                .configured(point, &sample.settings)
                .and_then(|(builder, config)| sample.simulate(&builder, &config, &self.watch.stop));
            match simulated {
                Ok(times) => {
                    residuals.extend(sample.residuals(&times));
                    responses.push((sample, times));
                }
                Err(Error::Config(error)) => {
                    return Ok(Evaluated { residuals: None, errors: Vec::new(), refused: Some(error) });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Evaluated { residuals: Some(residuals), errors: errors(&responses), refused: None })
    }

    /// Simulates several points, at the same time.
    fn evaluate_all(&mut self, points: Vec<Point>, work: &Work<'_>) -> Result<Vec<Residuals>, Error> {
        let one = |point: &Point| {
            let _part = work.part();
            self.evaluate(point, false)
        };
        let results = parallel::map(self.threads, &self.watch.stop, &points, one)?;
        let residuals = results.iter().map(|result| result.residuals.clone()).collect();
        for (point, result) in points.into_iter().zip(results) {
            let loss = loss(&result.residuals, &self.weights);
            self.history.push((point.clone(), loss));
            if self.best.as_ref().is_none_or(|best| loss < best.1) {
                self.best = Some((point, loss, result));
            }
        }
        Ok(residuals)
    }

    fn search(&mut self, evaluations: usize, work: &Work<'_>) -> Result<(), Error> {
        let choices: Vec<Option<usize>> = self.parameters.iter().map(FitParameter::choices).collect();
        let (seed, start, weights) = (self.config.seed, self.start(), self.weights.clone());
        let search = Search { seed, evaluations, start, choices: &choices, weights: &weights };
        search.run(&mut |points| self.evaluate_all(points, work))?;
        match self.best.as_mut().and_then(|(_, _, best)| best.refused.take()) {
            None => Ok(()),
            // Nothing could be built: the first point says why.
            Some(error) => Err(error.into()),
        }
    }

    /// The device as it is, as far as its values are possible ones; else the middle of their range.
    fn start(&self) -> Point {
        let known = serde_json::to_value(&self.config).expect("a configuration is plain data");
        let coordinate =
            |parameter: &FitParameter| parameter.number_in(&known).map_or(0.5, |number| parameter.coordinate(number));
        self.parameters.iter().map(coordinate).collect()
    }

    /// Tries other values around the best ones, and the held-out part with the best. Where the others that are fitted again
    /// end at a point that is better still, what was tried around the old one says nothing of the new: it is tried again.
    fn probe(&mut self, work: &Work<'_>) -> Result<(), Error> {
        let (parameters, weights) = (self.parameters.clone(), self.weights.clone());
        let again = self.watch.work(PROBES * parameters.len());
        for round in 0..PROFILES {
            let work = if round == 0 { work } else { &again };
            let (point, loss, result) = self.best.as_ref().expect("the search evaluated something");
            let (point, loss, residuals) = (point.clone(), *loss, result.residuals.clone().unwrap_or_default());
            self.profiled = Some((point.clone(), loss));
            self.tried =
                profile(&parameters, &point, &residuals, &weights, &mut |points| self.evaluate_all(points, work))?;
            let least = self.best.as_ref().map_or(loss, |best| best.1);
            if least >= loss - MOVED * (as_good_as(loss) - loss) {
                break;
            }
        }
        let (point, loss, _) = self.best.take().expect("the search evaluated something");
        let result = self.evaluate(&point, true)?;
        self.best = Some((point, loss, result));
        Ok(())
    }
}
