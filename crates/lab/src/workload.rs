//! What is replayed, as it is described: traces or a generator, how they are read, and where their addresses go.

use std::sync::Arc;

use nandlab::config::{Config, PluginConfig, ReplayMode};
use nandlab::registry;
use nandlab::types::{Bytes, Nanos};
use nandlab_trace::{
    AddressPolicy, BlockEvent, ColumnSpec, FileOrder, Finding, MemoryTrace, Options, Passes, TimeUnit, Volumes,
    check_up, expand, formats,
};
use serde::{Deserialize, Serialize};

use crate::address::Address;
use crate::decoded::Decoded;
use crate::error::Error;
use crate::foresight::Foresight;
use crate::warm_up::WarmUp;
use crate::watch::{self, Watch};
use crate::word;

/// Rows that are looked at when a trace is used for the first time.
pub(crate) const FIRST_ROWS: u64 = 65_536;

/// What is replayed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workload {
    /// Files that together are one trace, quoted patterns (`cpu.*`), `-` for standard input, or `make:NAME:key=value` for
    /// a generator; without any, the built-in workload. In TOML one of them may stand without a list.
    #[serde(deserialize_with = "word::one_or_several")]
    pub trace: Vec<String>,
    /// How the rows are read.
    pub reading: Reading,
    /// What is done with addresses beyond the device.
    #[serde(with = "word")]
    pub address: Address,
    /// What is done with several devices in one trace.
    #[serde(with = "word")]
    pub volumes: Volumes,
    /// Requests to replay at most.
    pub limit: Option<u64>,
    /// How many of them are not measured.
    pub warm_up: Option<WarmUp>,
    /// What was read already: clones share it, so that a pipe can be read more than once.
    #[serde(skip)]
    pub passes: Passes,
    /// What was decoded already: clones share it.
    #[serde(skip)]
    pub decoded: Decoded,
    /// A trace in memory, which `trace` names by its [`MemoryTrace::path`].
    #[serde(skip)]
    pub memory: Option<MemoryTrace>,
    /// Sees the requests before the device does.
    #[serde(skip)]
    pub foresight: Option<Foresight>,
}

/// How the rows of a trace are read; what is absent is detected, or at its default.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// Format (`nandlab list formats`).
    pub format: Option<String>,
    /// Columns of any delimited text, as in `time=2:us,op=4,offset=5:512,size=6`.
    #[serde(with = "word::maybe")]
    pub columns: Option<ColumnSpec>,
    /// The unit, in bytes, of the numbers of objects in cache traces where those are addresses.
    pub object_unit: Option<Bytes>,
    /// Unit of times, for formats that do not fix it: ns, us, ms, s or filetime.
    #[serde(with = "word::maybe")]
    pub time_unit: Option<TimeUnit>,
    /// How several files become one trace: sequence, merge or devices.
    #[serde(with = "word::maybe")]
    pub files: Option<FileOrder>,
    /// The event of a request that is read (blkparse and blktrace only): Q, G, I, D or C.
    #[serde(with = "word::maybe")]
    pub event: Option<BlockEvent>,
    /// Bad rows to skip before giving up; without it the first one is an error.
    pub skip_bad: Option<u64>,
    /// Put rows in order of time, as far as that many rows looked ahead allow.
    pub sort_window: Option<u64>,
    /// Shorten gaps between rows that are longer than this.
    pub cap_gap: Option<Nanos>,
    /// Take out jumps of the clock, to either side, of more than this.
    pub rebase: Option<Nanos>,
}

impl Reading {
    /// The keys that are given, with their values as they are typed.
    pub fn given(&self) -> Vec<(&'static str, String)> {
        let time = |time: Option<Nanos>| time.map(|time| PluginConfig::typed(&serde_json::json!(time)));
        let all = [
            ("format", self.format.clone()),
            ("columns", self.columns.as_ref().map(ToString::to_string)),
            ("object_unit", self.object_unit.map(|size| size.to_string())),
            ("time_unit", self.time_unit.map(|unit| unit.name().to_owned())),
            ("files", self.files.map(|order| order.name().to_owned())),
            ("event", self.event.map(|event| event.letter().to_string())),
            ("skip_bad", self.skip_bad.map(|rows| rows.to_string())),
            ("sort_window", self.sort_window.map(|rows| rows.to_string())),
            ("cap_gap", time(self.cap_gap)),
            ("rebase", time(self.rebase)),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// The same for readers; all else is at its default.
    ///
    /// # Errors
    /// There is no such format.
    pub fn options(&self) -> Result<Options, Error> {
        check_format(self.format.as_deref())?;
        Ok(Options {
            format: self.format.clone(),
            columns: self.columns.clone().map(Arc::new),
            object_unit: self.object_unit.map(|size| size.0),
            time_unit: self.time_unit,
            event: self.event,
            files: self.files,
            rebase: self.rebase,
            sort_window: self.sort_window,
            cap_gap: self.cap_gap,
            skip_bad: self.skip_bad,
            ..Options::default()
        })
    }
}

/// Refuses a format that does not exist, with the nearest one that does.
fn check_format(format: Option<&str>) -> Result<(), Error> {
    let Some(format) = format else { return Ok(()) };
    if formats().iter().any(|known| known.name.eq_ignore_ascii_case(format)) {
        return Ok(());
    }
    let names: Vec<String> = formats().iter().map(|known| known.name.to_owned()).collect();
    let help = match registry::nearest(format, &names) {
        Some(near) => format!("did you mean `{near}`? `nandlab list formats` shows all"),
        None => format!("use one of {}, or leave --format out to have it detected", names.join(", ")),
    };
    Err(Error::input(format!("--format {format}: there is no such trace format"), help))
}

impl Workload {
    /// A trace, or a generator (`make:NAME`).
    pub fn of(trace: impl Into<String>) -> Self {
        Self { trace: vec![trace.into()], ..Self::default() }
    }

    /// The built-in workload is meant.
    pub(crate) fn is_built_in(&self) -> bool {
        self.trace.is_empty()
    }

    /// The files, patterns expanded.
    pub(crate) fn paths(&self) -> Result<Vec<String>, Error> {
        Ok(expand(&self.trace)?)
    }

    /// How rows are read, for one of several passes.
    ///
    /// # Errors
    /// If what is asked of the reading contradicts itself, or the limit leaves no request.
    pub fn options(&self, watch: &Watch<'_>) -> Result<Options, Error> {
        if self.limit == Some(0) {
            return Err(Error::input("limit: 0 leaves no request", "give a number from 1 on, or leave it out"));
        }
        let (passes, stop) = (Some(self.passes.clone()), Some(watch.stop.flag()));
        let memory = self.memory.clone();
        Ok(Options { passes, memory, stop, limit: self.limit, ..self.reading.options()? })
    }
}

/// Warns about the first rows of the files, once.
pub(crate) fn look(paths: &[String], options: &Options, config: &Config, watch: &Watch<'_>) {
    let is_plain = |path: &String| std::fs::metadata(path).is_ok_and(|meta| meta.is_file());
    // What a pipe gave is kept where the trace may be read more than once; else it must not be touched.
    let is_kept = options.passes.is_some() || paths.iter().all(is_plain);
    if !watch.looks() || !is_kept {
        return;
    }
    let needs_times = config.replay.mode == ReplayMode::Open;
    let options = Options { volumes: Volumes::Merge, address: AddressPolicy::Reject, ..options.clone() };
    // An error of reading comes from the work itself, with its place.
    let Ok(checked) = check_up(paths, &options, FIRST_ROWS) else { return };
    let is_met = |finding: &&Finding| !needs_times && finding.options.first().is_some_and(|option| option == "--mode");
    let matters = |finding: &&Finding| {
        finding.warning && !matches!(finding.topic, "devices" | "capacity" | "bad rows") && !is_met(finding)
    };
    for Finding { topic, text, options, .. } in checked.findings.iter().filter(matters) {
        let help = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" ")) };
        (watch.tell)(watch::Event::Warning(&format!("{}: {topic}: {text}{help}", paths.join(", "))));
    }
}
