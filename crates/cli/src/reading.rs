//! What is read, and how: the arguments that all commands with a trace have in common.

use clap::Args;
use nandlab::types::{Bytes, Nanos};
use nandlab_lab::{Reading, Word};
use nandlab_trace::{BlockEvent, ColumnSpec, FileOrder, Options, Passes, SORT_WINDOW_MAX, TimeUnit, expand};

use crate::fail::Failure;
use crate::{interrupt, number};

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
    #[arg(long, value_name = "SPEC", value_parser = ColumnSpec::read)]
    pub columns: Option<ColumnSpec>,
    /// Bytes of which the numbers of objects in cache traces are addresses, as in 512 or 4KiB; without it each object gets
    /// pages of its own.
    #[arg(long, value_name = "SIZE", value_parser = Bytes::parse)]
    pub object_unit: Option<Bytes>,
    /// Unit of times, for formats that do not fix it: ns, us, ms, s or filetime (100 ns).
    #[arg(long, value_name = "UNIT", value_parser = TimeUnit::parse)]
    pub time_unit: Option<TimeUnit>,
    /// How several files become one trace: sequence (one after the other), merge (by time), devices (by time, each a
    /// device of its own). Default: merge for blktrace and `fio_lat`, devices for msr and fio, else sequence.
    #[arg(long, value_name = "ORDER", value_parser = FileOrder::read)]
    pub files: Option<FileOrder>,
    /// The event of a request that is read (blkparse and blktrace only): Q, G, I, D or C. Default: D.
    #[arg(long, value_name = "EVENT", value_parser = BlockEvent::read)]
    pub event: Option<BlockEvent>,
    /// Bad rows to skip (and count) before giving up; without it the first one is an error.
    #[arg(long, value_name = "N", value_parser = number::any, allow_hyphen_values = true)]
    pub skip_bad: Option<u64>,
    /// Take out jumps of the clock, to either side, of more than this (60s when no time is given).
    #[arg(long, value_name = "TIME", value_parser = number::time, num_args = 0..=1, require_equals = true,
        default_missing_value = "60s")]
    pub rebase: Option<Nanos>,
    /// Put rows in order of time, as far as N rows looked ahead allow.
    #[arg(long, value_name = "N", value_parser = window, allow_hyphen_values = true)]
    pub sort_window: Option<u64>,
    /// Shorten gaps between rows that are longer than this, as in 10s.
    #[arg(long, value_name = "TIME", value_parser = number::time, allow_hyphen_values = true)]
    pub cap_gap: Option<Nanos>,
}

impl ReadingArgs {
    /// The same for the laboratory.
    pub fn reading(&self) -> Reading {
        Reading {
            format: self.format.clone(),
            columns: self.columns.clone(),
            object_unit: self.object_unit,
            time_unit: self.time_unit,
            files: self.files,
            event: self.event,
            skip_bad: self.skip_bad,
            sort_window: self.sort_window,
            cap_gap: self.cap_gap,
            rebase: self.rebase,
        }
    }

    /// What it says about reading; other options are at their defaults.
    pub fn options(&self) -> Result<Options, Failure> {
        Ok(Options { stop: Some(interrupt::stop().flag()), ..self.reading().options()? })
    }

    /// The same as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let words = |(key, value): (&str, String)| match key {
            // Its value may be left out, so that it has to be in the same word.
            "rebase" => vec![format!("--rebase={value}")],
            _ => vec![format!("--{}", key.replace('_', "-")), value],
        };
        self.reading().given().into_iter().flat_map(words).collect()
    }
}

fn window(text: &str) -> Result<u64, String> {
    let rows = number::any(text).ok().filter(|rows| (1..=SORT_WINDOW_MAX).contains(rows));
    rows.ok_or_else(|| format!("allowed is a whole number of rows from 1 to {SORT_WINDOW_MAX}"))
}
