//! `nandlab trace`: tools for traces, one file each.

mod convert;
mod make;

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
    /// Make a trace by rule, or check the presets against the figures of their papers.
    Make(make::MakeArgs),
}

/// Runs a tool.
pub fn trace(command: &TraceCommand, style: Style) -> Result<(), Failure> {
    match command {
        TraceCommand::Convert(args) => convert::convert(args),
        TraceCommand::Make(args) => make::make(args, style),
    }
}

/// What is read by a tool.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Trace file (plain, gzip, zstd, bzip2 or xz); `-` is standard input, `make:NAME[:key=value:...]` a generator.
    #[arg(value_name = "TRACE", default_value = "-")]
    pub trace: String,
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
        check_format(self.format.as_deref())?;
        let options =
            Options { format: self.format.clone(), skip_bad: self.skip_bad, limit: self.limit, ..Options::default() };
        Ok(Records::open(&self.trace, &options)?)
    }

    /// The first rows of a trace, as many as are wanted.
    pub fn limited(&self, records: Records) -> impl Iterator<Item = Result<TraceRecord, TraceError>> + use<> {
        records.take(self.limit.map_or(usize::MAX, |limit| limit as usize))
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
