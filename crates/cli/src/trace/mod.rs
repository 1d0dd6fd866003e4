//! `nandlab trace`: tools for traces, one file each.

mod convert;
mod info;
mod info_table;
mod info_text;
mod matching;
mod picture;

use clap::{Args, Subcommand};
use nandlab_trace::{Options, Records, TraceError, TraceRecord};

use crate::args::{any_count, count};
use crate::fail::{Exit, Failure};
use crate::source::check_format;
use crate::style::Style;

/// The tools. Those that change a trace write text to standard output unless told otherwise, and read it from there.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Write a trace in nandlab's own form.
    Convert(convert::ConvertArgs),
    /// Measure traces: sizes, times, footprints, reuse, sequentiality (docs/trace-info.md defines every figure).
    Info(info::InfoArgs),
    /// Compare two traces by what `info` measures. Exit code 0: all within the tolerance, 1: not all.
    Match(matching::MatchArgs),
}

/// Runs a tool.
pub fn trace(command: &TraceCommand, style: Style) -> Result<(), Failure> {
    match command {
        TraceCommand::Convert(args) => convert::convert(args),
        TraceCommand::Info(args) => info::info(args, style),
        TraceCommand::Match(args) => matching::matching(args, style),
    }
}

/// What is read by a tool.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Trace file (plain, gzip, zstd, bzip2 or xz); `-` is standard input.
    #[arg(value_name = "TRACE", default_value = "-")]
    pub trace: String,
    #[command(flatten)]
    pub read: ReadArgs,
}

/// How it is read.
#[derive(Args, Clone, Debug)]
pub struct ReadArgs {
    /// Format of the trace (`nandlab list formats`); detected by content when absent.
    #[arg(long, value_name = "NAME")]
    pub format: Option<String>,
    /// Bad rows to skip (and count) before giving up; without it the first one is an error.
    #[arg(long, value_name = "N", value_parser = any_count, allow_hyphen_values = true)]
    pub skip_bad: Option<u64>,
    /// Requests to read at most.
    #[arg(long, short = 'n', value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

impl InputArgs {
    /// Opens the rows as recorded.
    pub fn open(&self) -> Result<Records, Failure> {
        Ok(Records::open(&self.trace, &self.read.options()?)?)
    }

    /// The first rows of a trace, as many as are wanted.
    pub fn limited(&self, records: Records) -> impl Iterator<Item = Result<TraceRecord, TraceError>> + use<> {
        records.take(self.read.limit.map_or(usize::MAX, |limit| limit as usize))
    }
}

impl ReadArgs {
    /// Options for reading rows as recorded.
    pub fn options(&self) -> Result<Options, Failure> {
        check_format(self.format.as_deref())?;
        let (format, skip_bad, limit) = (self.format.clone(), self.skip_bad, self.limit);
        Ok(Options { format, skip_bad, limit, ..Options::default() })
    }
}

/// A trace that cannot be written. A reader that went away ends the program quietly.
pub fn cannot_write(target: &str, error: &std::io::Error) -> Failure {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return Failure::Hangup;
    }
    let problem = format!("{target}: cannot be written: {error}");
    Failure::Message(
        Exit::Failed,
        format!("{problem}\n  help: check the folder, its permissions and the space on the disk"),
    )
}
