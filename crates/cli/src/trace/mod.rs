//! `nandlab trace`: tools for traces, one file each.

mod convert;

use clap::{Args, Subcommand};
use nandlab_trace::{Records, Timed, TraceError, TraceRecord};

use crate::args::count;
use crate::fail::{Exit, Failure};
use crate::reading::ReadArgs;
use crate::style::Style;

/// The tools. Those that change a trace write text to standard output unless told otherwise, and read it from there.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Write a trace in nandlab's own form.
    Convert(convert::ConvertArgs),
}

/// Runs a tool.
pub fn trace(command: &TraceCommand, _style: Style) -> Result<(), Failure> {
    match command {
        TraceCommand::Convert(args) => convert::convert(args),
    }
}

/// What is read by a tool.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    #[command(flatten)]
    pub read: ReadArgs,
    /// Requests to read at most.
    #[arg(long, short = 'n', value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub limit: Option<u64>,
}

impl InputArgs {
    /// Opens the rows as recorded.
    pub fn open(&self) -> Result<Records, Failure> {
        let paths = if self.read.trace.is_empty() { vec!["-".to_owned()] } else { self.read.paths()? };
        Ok(Records::open_all(&paths, &self.read.options()?)?)
    }

    /// The first rows of a trace, as many as are wanted, with their times mended.
    pub fn limited(
        &self,
        records: Records,
    ) -> Result<impl Iterator<Item = Result<TraceRecord, TraceError>> + use<>, Failure> {
        let timed = Timed::new(records, &self.read.options()?);
        Ok(timed.take(self.limit.map_or(usize::MAX, |limit| limit as usize)))
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
