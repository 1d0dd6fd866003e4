//! What is read, and how: the arguments that all commands with a trace have in common.

use std::sync::Arc;

use clap::Args;
use nandlab::registry;
use nandlab::types::{Bytes, Nanos};
use nandlab_trace::{
    ColumnSpec, Event, FileOrder, Options, Passes, Report, SORT_WINDOW_MAX, TimeUnit, TraceError, expand, formats,
};

use crate::args::any_count;
use crate::fail::Failure;
use crate::interrupt;

/// The trace and how its rows are read.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Trace")]
pub struct ReadArgs {
    /// Trace files (plain, gzip, zstd, bzip2 or xz), which together are one trace; `-` is standard input. Quoted patterns
    /// ('cpu.*') stand for the files that match, in natural order. Without any, `run` and `compare` replay the built-in
    /// workload, and the trace tools read standard input.
    #[arg(value_name = "TRACE")]
    pub trace: Vec<String>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// What is read more than once.
    #[arg(skip)]
    pub passes: Passes,
}

impl ReadArgs {
    /// The files, patterns expanded.
    pub fn paths(&self) -> Result<Vec<String>, Failure> {
        Ok(expand(&self.trace)?)
    }

    /// What it says about reading, for one of several passes.
    pub fn options(&self) -> Result<Options, Failure> {
        Ok(Options { passes: Some(self.passes.clone()), ..self.reading.options()? })
    }
}

/// How the rows of traces are read.
#[derive(Args, Clone, Default, Debug)]
#[command(next_help_heading = "Trace")]
pub struct ReadingArgs {
    /// Format of the trace (`nandlab list formats`); detected by content when absent.
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Columns of any delimited text, counted from 1, as in time=2:us,op=4,offset=5:512,size=6 (`nandlab describe columns`).
    #[arg(long, value_name = "SPEC", value_parser = columns)]
    pub columns: Option<ColumnSpec>,
    /// Bytes of which the numbers of objects in cache traces are addresses, as in 512 or 4KiB; without it each object gets
    /// pages of its own.
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse)]
    pub object_unit: Option<Bytes>,
    /// Unit of times, for formats that do not fix it: ns, us, ms, s or filetime (100 ns).
    #[arg(long, value_name = "UNIT", value_parser = TimeUnit::parse)]
    pub time_unit: Option<TimeUnit>,
    /// How several files become one trace: sequence (one after the other), merge (by time), devices (by time, each a
    /// device of its own). Default: merge for blktrace, devices for msr and fio, else sequence.
    #[arg(long, value_name = "ORDER", value_parser = files)]
    pub files: Option<FileOrder>,
    /// The event of a request that is read (blkparse and blktrace only): Q, G, I, D or C. Default: D.
    #[arg(long, value_name = "EVENT", value_parser = event)]
    pub event: Option<Event>,
    /// Bad rows to skip (and count) before giving up; without it the first one is an error.
    #[arg(long, value_name = "N", value_parser = any_count, allow_hyphen_values = true)]
    pub skip_bad: Option<u64>,
    /// Take out jumps of the clock, to either side, of more than this (60s when no time is given).
    #[arg(long, value_name = "TIME", value_parser = Nanos::parse, num_args = 0..=1, require_equals = true,
        default_missing_value = "60s")]
    pub rebase: Option<Nanos>,
    /// Put rows in order of time, as far as N rows looked ahead allow.
    #[arg(long, value_name = "N", value_parser = window, allow_hyphen_values = true)]
    pub sort_window: Option<u64>,
    /// Shorten gaps between rows that are longer than this, as in 10s.
    #[arg(long, value_name = "TIME", value_parser = Nanos::parse, allow_hyphen_values = true)]
    pub cap_gap: Option<Nanos>,
}

impl ReadingArgs {
    /// What it says about reading; other options are at their defaults.
    pub fn options(&self) -> Result<Options, Failure> {
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
            stop: Some(interrupt::flag()),
            ..Options::default()
        })
    }

    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let given = [
            ("--format", self.format.clone()),
            ("--columns", self.columns.as_ref().map(ToString::to_string)),
            ("--object-unit", self.object_unit.map(|size| size.to_string())),
            ("--time-unit", self.time_unit.map(|unit| unit.name().to_owned())),
            ("--files", self.files.map(|order| order.name().to_owned())),
            ("--event", self.event.map(|event| event.letter().to_string())),
            ("--skip-bad", self.skip_bad.map(|rows| rows.to_string())),
            ("--sort-window", self.sort_window.map(|rows| rows.to_string())),
            ("--cap-gap", self.cap_gap.map(|gap| format!("{}ns", gap.0))),
        ];
        let mut words: Vec<String> =
            given.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value?])).flatten().collect();
        words.extend(self.rebase.map(|bound| format!("--rebase={}ns", bound.0)));
        words
    }

    /// The options that mean nothing without a trace.
    pub fn named(&self) -> Option<&'static str> {
        let given = [
            ("--format", self.format.is_some()),
            ("--columns", self.columns.is_some()),
            ("--object-unit", self.object_unit.is_some()),
            ("--time-unit", self.time_unit.is_some()),
            ("--files", self.files.is_some()),
            ("--event", self.event.is_some()),
            ("--skip-bad", self.skip_bad.is_some()),
            ("--rebase", self.rebase.is_some()),
            ("--sort-window", self.sort_window.is_some()),
            ("--cap-gap", self.cap_gap.is_some()),
        ];
        given.iter().find(|(_, given)| *given).map(|(option, _)| *option)
    }
}

/// What was changed or left out, by kind; kinds with zero are left out.
pub fn changes(counts: &Report) -> std::collections::BTreeMap<String, u64> {
    let kinds = [
        ("bad_rows_skipped", counts.bad_rows),
        ("rows_without_operation", counts.blank_rows),
        ("zero_length_dropped", counts.zero_length),
        ("other_devices_dropped", counts.other_devices),
        ("rounded_to_sectors", counts.rounded),
        ("rows_out_of_order", counts.out_of_order),
        ("clock_jumps_removed", counts.clock_jumps),
        ("rows_late_for_sorting", counts.late),
        ("gaps_shortened", counts.gaps_capped),
        ("gaps_shortened_by_ns", counts.gaps_capped_ns),
        ("times_raised", counts.clamped),
        ("folded_into_capacity", counts.folded),
        ("units_renumbered", counts.compacted_units),
        ("requests_split", counts.split),
        ("devices", if counts.devices.len() > 1 { counts.devices.len() as u64 } else { 0 }),
    ];
    kinds.iter().filter(|(_, n)| *n > 0).map(|(kind, n)| ((*kind).to_owned(), *n)).collect()
}

/// Refuses a format that does not exist, with the nearest one that does.
fn check_format(format: Option<&str>) -> Result<(), Failure> {
    let Some(format) = format else { return Ok(()) };
    if formats().iter().any(|known| known.name.eq_ignore_ascii_case(format)) {
        return Ok(());
    }
    let names: Vec<String> = formats().iter().map(|known| known.name.to_owned()).collect();
    let help = match registry::nearest(format, &names) {
        Some(near) => format!("did you mean `{near}`? `nandlab list formats` shows all"),
        None => format!("use one of {}, or leave --format out to have it detected", names.join(", ")),
    };
    Err(Failure::bad(format!("--format {format}: there is no such trace format"), help))
}

fn files(text: &str) -> Result<FileOrder, String> {
    let known = FileOrder::NAMES.iter().find(|(name, _)| *name == text);
    known.map(|(_, order)| *order).ok_or_else(|| {
        "allowed is sequence (one after the other), merge (by time) or devices (by time, each a device)".to_owned()
    })
}

fn event(text: &str) -> Result<Event, String> {
    Event::parse(text).map_err(|error| match error {
        TraceError::Option { allowed, .. } => format!("allowed is {allowed}"),
        other => other.to_string(),
    })
}

fn window(text: &str) -> Result<u64, String> {
    let rows = any_count(text).ok().filter(|rows| (1..=SORT_WINDOW_MAX).contains(rows));
    rows.ok_or_else(|| format!("allowed is a whole number of rows from 1 to {SORT_WINDOW_MAX}"))
}

fn columns(text: &str) -> Result<ColumnSpec, String> {
    ColumnSpec::parse(text)
}
