//! Results of fio as data: every job is a workload, its completion latencies are what was recorded.

use std::collections::BTreeMap;
use std::fs;

use nandlab::config::{Builder, Config};
use nandlab::types::{Bytes, HostOp, SECTOR_BYTES};
use nandlab_trace::Volumes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Fit;
use super::sample::{BEYOND_MIN, Group, KINDS, Percentile, Sample, Subset};
use crate::address::Address;
use crate::device::Device;
use crate::error::Error;
use crate::source::Source;
use crate::watch::Watch;
use crate::workload::Workload;

/// Reads alone leave the drive as it is: of a longer job that many tell the same.
const READS_MAX: u64 = 4_000;
/// Most requests of a job with writes that is simulated.
const WRITES_MAX: u64 = 65_536;
/// Percentiles that are compared.
const PERCENTILES: std::ops::RangeInclusive<f64> = 1.0..=99.0;

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
    #[serde(rename = "job options", default)]
    options: BTreeMap<String, Value>,
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

/// What a job does.
struct Shape {
    /// The generator that makes its requests.
    generator: String,
    depth: u64,
    requests: u64,
}

/// The workload is results of fio: one file whose name ends in `.json`.
pub(super) fn is_fio(workload: &Workload) -> bool {
    matches!(&workload.trace[..], [path] if path.to_ascii_lowercase().ends_with(".json"))
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
    for job in &results.jobs {
        let option = |key: &str| -> Option<String> {
            let value = job.options.get(key).or_else(|| results.global.get(key))?;
            Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        match job.shape(&option, device, builder) {
            Err(reason) => skipped.push(SkippedJob { job: job.jobname.clone(), reason }),
            Ok(shape) => {
                let is_held_out = (samples.len() + 1).is_multiple_of(every);
                samples.push(job.sample(&shape, device, builder, is_held_out, watch)?);
            }
        }
    }
    if !samples.iter().any(Sample::is_seen) {
        let why = skipped.first().map_or_else(String::new, |skipped| format!(" ({}: {})", skipped.job, skipped.reason));
        return Err(Error::input(format!("{path}: there is no job that can be compared{why}"), help));
    }
    Ok((samples, skipped))
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
    /// What it does, or why that cannot be simulated.
    fn shape(
        &self,
        option: &dyn Fn(&str) -> Option<String>,
        device: &Device,
        builder: &Builder,
    ) -> Result<Shape, String> {
        let limits = ["rate", "rate_iops", "rate_min", "rate_iops_min", "thinktime", "bssplit", "bsrange", "zonemode"];
        let shapes = ["random_distribution", "percentage_random", "fsync", "fdatasync", "sync", "offset", "buffered"];
        if let Some(key) = limits.iter().chain(&shapes).find(|key| option(key).is_some()) {
            return Err(format!("`{key}` is not simulated"));
        }
        if let Some(key) = ["write_bw_log", "write_iops_log"].iter().find(|key| option(key).is_some()) {
            return Err(format!("with `{key}` it is the rate over time that tells, which is not compared"));
        }
        if option("direct").is_some_and(|direct| direct == "0") {
            return Err("with `direct=0` the host's cache answers".to_owned());
        }
        let size = |key: &str| option(key).map(|text| Bytes::parse(&text).map(|size| size.0)).transpose();
        let bytes = size("bs")?.or(size("blocksize")?).unwrap_or(4096);
        let align = size("blockalign")?.or(size("ba")?).unwrap_or(bytes);
        let number = |key: &str, default: u64| {
            option(key).map_or(Ok(default), |text| text.parse().map_err(|_| format!("`{key}` is {text}")))
        };
        if bytes == 0 || align == 0 {
            return Err("requests of no size, or aligned to nothing".to_owned());
        }
        let (jobs, mut depth, mut mix) = (number("numjobs", 1)?, number("iodepth", 1)?, number("rwmixread", 50)?);
        if option("rwmixread").is_none() && option("rwmixwrite").is_some() {
            mix = 100_u64.saturating_sub(number("rwmixwrite", 50)?);
        }
        // These engines wait for every request.
        let waits = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
        if option("ioengine").is_some_and(|engine| waits.contains(&engine.as_str())) {
            depth = 1;
        }
        let rw = option("rw").or_else(|| option("readwrite")).unwrap_or_else(|| "read".to_owned());
        let (generator, writes) = match rw.as_str() {
            "read" => ("sequential", 0.0),
            "write" => ("sequential", 1.0),
            "rw" | "readwrite" => ("sequential", 1.0 - mix as f64 / 100.0),
            "randread" => ("uniform", 0.0),
            "randwrite" => ("uniform", 1.0),
            "randrw" => ("uniform", 1.0 - mix as f64 / 100.0),
            other => return Err(format!("`rw={other}` is not simulated")),
        };
        let done = |direction: &Option<Direction>| direction.as_ref().map_or(0, |direction| direction.total_ios);
        let all = done(&self.read) + done(&self.write);
        let requests = match writes {
            0.0 => all.min(READS_MAX),
            _ if all > WRITES_MAX => {
                return Err(format!("{all} requests: with writes at most {WRITES_MAX} are simulated"));
            }
            _ => all,
        };
        let told = self.directions().flat_map(|(_, direction)| direction.percentiles(requests)).count();
        if told == 0 {
            return Err("it has no percentiles of completion latencies, or too few requests".to_owned());
        }
        let (_, config) = device.over(builder).map_err(|error| error.to_string())?;
        let capacity =
            u64::from(config.logical_pages()) * u64::from(config.device.geometry.page_sectors()) * SECTOR_BYTES;
        // `size` may also be a part of the file, as in 50%.
        let span = size("size").ok().flatten().unwrap_or(capacity).min(capacity) / align * align;
        if bytes > span {
            return Err(format!("a request is larger than the {} of the device", Bytes(span)));
        }
        let generator = format!(
            "make:{generator}:span={span}:size={bytes}:align={}:writes={writes}:arrival=closed",
            align.min(bytes)
        );
        Ok(Shape { generator, depth: jobs * depth, requests })
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
