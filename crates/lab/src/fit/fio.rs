//! Results of fio as data: every job is a workload, its completion latencies are what was recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;

use nandlab::config::{Builder, Config};
use nandlab::types::{HostOp, SECTOR_BYTES};
use nandlab_trace::Volumes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Fit;
use super::fio_job::Shape;
use super::fio_options::Options;
use super::sample::{BEYOND_MIN, Group, KINDS, Percentile, Sample, Subset};
use crate::address::Address;
use crate::device::Device;
use crate::error::Error;
use crate::source::Source;
use crate::watch::Watch;
use crate::workload::Workload;

/// Percentiles that are compared.
const PERCENTILES: std::ops::RangeInclusive<f64> = 1.0..=99.0;

/// Bytes at the beginning of a file in which its key must stand, after what fio says first.
const START: u64 = 64 << 10;

/// Keys that a job fixes, with the options that set them.
const REPLAY: [(&str, &str); 4] = [
    ("replay.mode", "mode"),
    ("replay.queue_depth", "queue-depth"),
    ("replay.think_time", "set replay.think_time"),
    ("replay.time_scale", "set replay.time_scale"),
];

/// A job of fio that is not compared.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SkippedJob {
    /// Its name.
    pub job: String,
    /// Why.
    pub reason: String,
}

/// What fio writes with `--output-format=json`, as far as it is used.
#[derive(Deserialize)]
struct Results {
    #[serde(rename = "global options", default)]
    global: BTreeMap<String, Value>,
    jobs: Vec<Job>,
}

#[derive(Deserialize)]
struct Job {
    jobname: String,
    /// A new one begins at `stonewall` and at `new_group`.
    #[serde(rename = "groupid")]
    group: Option<u64>,
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, Value>,
    /// The number of the system's error with which it ended.
    #[serde(default)]
    error: i64,
    read: Option<Direction>,
    write: Option<Direction>,
}

#[derive(Deserialize)]
struct Direction {
    #[serde(default)]
    total_ios: u64,
    clat_ns: Option<Latencies>,
}

#[derive(Deserialize)]
struct Latencies {
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// The workload is results of fio: one file that says so, or whose name ends in `.json`.
///
/// # Errors
/// There are several.
pub(super) fn is_fio(workload: &Workload) -> Result<bool, Error> {
    let is_one = |path: &String| path.to_ascii_lowercase().ends_with(".json") || says_fio(path);
    match &workload.trace[..] {
        [path] => Ok(is_one(path)),
        several if !several.is_empty() && several.iter().all(is_one) => {
            let problem = format!("{} files of results of fio: a fit is to one of them", several.len());
            Err(Error::input(
                problem,
                "put the jobs into one job file, each with stonewall: fio writes one file of results",
            ))
        }
        _ => Ok(false),
    }
}

/// True for a file, not a pipe, with the key that results of fio begin with; lines of text may come before.
fn says_fio(path: &String) -> bool {
    let mut start = Vec::new();
    let is_read = fs::metadata(path).is_ok_and(|data| data.is_file())
        && fs::File::open(path).is_ok_and(|file| file.take(START).read_to_end(&mut start).is_ok());
    is_read && String::from_utf8_lossy(&start).contains("\"fio version\"")
}

/// The jobs that can be simulated, and those that cannot.
///
/// # Errors
/// The file cannot be read, or nothing in it can be compared.
pub(super) fn samples(
    fit: &Fit,
    device: &Device,
    builder: &Builder,
    watch: &Watch<'_>,
) -> Result<(Vec<Sample>, Vec<SkippedJob>), Error> {
    let (path, holdout) = (&fit.workload.trace[0], fit.holdout);
    refuse_what_traces_need(fit)?;
    let help = "fio --output-format=json --output=FILE writes such a file; `nandlab probe` prints jobs for it";
    let text = fs::read_to_string(path).map_err(|error| Error::input(format!("{path}: {error}"), help))?;
    // Before the results fio may say something else.
    let json = &text[text.find('{').unwrap_or(0)..];
    let results: Results = serde_json::from_str(json)
        .map_err(|error| Error::input(format!("{path}: these are no results of fio: {error}"), help))?;
    if holdout > 0.5 {
        let problem = format!("{path}: of jobs of fio at most every other one can be held out, not {holdout} of them");
        return Err(Error::input(problem, "use --holdout 0.5 or less"));
    }
    let every = if holdout > 0.0 { (1.0 / holdout).round().max(2.0) as usize } else { usize::MAX };
    let (mut samples, mut skipped) = (Vec::new(), Vec::new());
    let (_, config) = device.over(builder)?;
    let capacity = u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_sectors()) * SECTOR_BYTES;
    for batch in results.jobs.chunk_by(|before, job| job.ran_beside(before, &results.global)) {
        for (number, job) in batch.iter().enumerate() {
            let is_held_out = (samples.len() + 1).is_multiple_of(every);
            let shape = job.shape(&results.global, capacity).and_then(|shape| match batch {
                [_] => Ok(shape),
                _ => Err(beside(&batch[usize::from(number == 0)].jobname)),
            });
            let sample = match shape.map(|shape| job.sample(&shape, device, builder, is_held_out, watch)) {
                Ok(Err(error)) if error.may_pass() => return Err(error),
                Ok(Err(error)) => Err(error.to_string().lines().next().unwrap_or_default().to_owned()),
                Ok(Ok(sample)) => Ok(sample),
                Err(reason) => Err(reason),
            };
            match sample {
                Ok(sample) => samples.push(sample),
                Err(reason) => skipped.push(SkippedJob { job: job.jobname.clone(), reason }),
            }
        }
    }
    if !samples.iter().any(Sample::is_seen) {
        let why = skipped.first().map_or_else(String::new, |skipped| format!(" ({}: {})", skipped.job, skipped.reason));
        return Err(Error::input(format!("{path}: there is no job that can be compared{why}"), help));
    }
    Ok((samples, skipped))
}

/// Why a job that ran at the same time as another one is not compared.
fn beside(other: &str) -> String {
    format!(
        "it ran at the same time as `{other}`: jobs are simulated one by one (`stonewall` has fio run them so, \
         `group_reporting` makes one result of the clones of `numjobs`)"
    )
}

/// Refuses what says how a trace is read or replayed, which jobs say themselves.
fn refuse_what_traces_need(fit: &Fit) -> Result<(), Error> {
    let Workload { trace, reading, address, volumes, limit, .. } = &fit.workload;
    let mut given: Vec<(&str, String)> =
        reading.given().iter().map(|(key, _)| ("read", key.replace('_', "-"))).collect();
    let others = [
        ("limit", limit.is_some()),
        ("address", *address != Address::default()),
        ("volumes", *volumes != Volumes::default()),
    ];
    given.extend(others.iter().filter(|(_, given)| *given).map(|(option, _)| ("read", (*option).to_owned())));
    let is_set = |key: &str| {
        let mut keys = fit.device.set.iter().filter_map(|setting| setting.split('=').next());
        keys.any(|set| set.trim() == key) || fit.parameters.iter().any(|parameter| parameter.key == key)
    };
    given.extend(REPLAY.iter().filter(|(key, _)| is_set(key)).map(|(_, option)| ("replay", (*option).to_owned())));
    if let Some((what, option)) = given.first() {
        let problem = format!("--{option} says how to {what} a trace, and {} is results of fio", trace[0]);
        return Err(Error::input(problem, "leave it out"));
    }
    Ok(())
}

impl Job {
    /// It did not wait for the job before it: both are in one group, or its own was begun by `new_group` alone.
    fn ran_beside(&self, before: &Self, global: &BTreeMap<String, Value>) -> bool {
        let options = Options { job: &self.options, global };
        let is_set = |name| options.text(name).is_some_and(|value| value != "0");
        let is_one_group = self.group.is_some() && self.group == before.group;
        // In a group `stonewall` is what the first of the clones has done.
        let is_beside = is_one_group || is_set("new_group") && !is_set("stonewall");
        is_beside && options.text("wait_for").as_ref() != Some(&before.jobname)
    }

    /// What it does, or why that cannot be simulated on a device of this many bytes.
    fn shape(&self, global: &BTreeMap<String, Value>, capacity: u64) -> Result<Shape, String> {
        let all = self.directions().fold(0, |all: u64, (_, direction)| all.saturating_add(direction.total_ios));
        let shape = Shape::of(&Options { job: &self.options, global }, all, capacity)?;
        if self.error != 0 {
            return Err(format!("it ended with error {}", self.error));
        }
        if !self.directions().all(|(_, direction)| direction.ascends()) {
            return Err("its percentiles of completion latencies do not ascend from 0".to_owned());
        }
        let told = self.directions().flat_map(|(_, direction)| direction.percentiles(shape.requests)).count();
        if told == 0 {
            return Err("it has no percentiles of completion latencies, or too few requests".to_owned());
        }
        Ok(shape)
    }

    /// The directions that did something, with their numbers in [`KINDS`].
    fn directions(&self) -> impl Iterator<Item = (usize, &Direction)> {
        [&self.read, &self.write]
            .into_iter()
            .enumerate()
            .filter_map(|(kind, direction)| Some((kind, direction.as_ref()?)))
    }

    /// Its requests and what was recorded of them.
    fn sample(
        &self,
        shape: &Shape,
        device: &Device,
        builder: &Builder,
        held_out: bool,
        watch: &Watch<'_>,
    ) -> Result<Sample, Error> {
        let mode = ["replay.mode=fast".to_owned(), format!("replay.queue_depth={}", shape.depth)];
        let set = [&device.set[..], &mode].concat();
        let (_, config): (_, Config) = Device { set, ..device.clone() }.over(builder)?;
        let workload = Workload { limit: Some(shape.requests), ..Workload::of(&shape.generator) };
        let mut members: [Vec<u32>; 2] = Default::default();
        let (sample, requests) = Sample::load(Source::open(&workload, &config, watch)?)?;
        for request in requests {
            members[usize::from(request.op == HostOp::Write)].push(request.number);
        }
        let mut groups = Vec::new();
        for (kind, direction) in self.directions() {
            let members = std::mem::take(&mut members[kind]);
            let recorded: Vec<_> = direction.percentiles(members.len() as u64).collect();
            if !recorded.is_empty() {
                groups.push(Group { kind: KINDS[kind].0, subset: Subset::All, held_out, members, recorded });
            }
        }
        Ok(Sample { settings: mode.to_vec(), groups, ..sample })
    }
}

impl Direction {
    /// Its percentiles are times, and a higher one is no shorter.
    fn ascends(&self) -> bool {
        let all = self.clat_ns.iter().flat_map(|latencies| &latencies.percentile);
        let mut known: Vec<(f64, f64)> = all.filter_map(|(percent, ns)| Some((percent.parse().ok()?, *ns))).collect();
        known.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        known.is_sorted_by_key(|(_, ns)| *ns) && known.iter().all(|(_, ns)| (0.0..u64::MAX as f64).contains(ns))
    }

    /// Completion latencies that can be compared with that many simulated ones.
    fn percentiles(&self, simulated: u64) -> impl Iterator<Item = (Percentile, f64)> {
        let requests = self.total_ios.min(simulated) as f64;
        let all = self.clat_ns.iter().flat_map(|latencies| &latencies.percentile);
        all.filter_map(move |(percent, latency)| {
            let percent: f64 = percent.parse().ok()?;
            let beyond = percent.min(100.0 - percent) / 100.0 * requests;
            let is_told = PERCENTILES.contains(&percent) && beyond >= BEYOND_MIN && *latency > 0.0;
            is_told.then_some((Percentile(percent), *latency))
        })
    }
}
