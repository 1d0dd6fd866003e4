//! How a command ends when it does not succeed: a message that says what to mend, and an exit code.

use std::fmt;
use std::process::ExitCode;

use nandlab::error::ConfigError;
use nandlab::replay::ReplayError;
use nandlab_trace::TraceError;

use crate::doctor;
use crate::interrupt;

/// Exit codes, part of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// The run failed, results could not be written, a golden file differs, or two traces do.
    Failed = 1,
    /// Bad usage, bad input data or a configuration that cannot be built.
    BadInput = 2,
    /// Some rows of a comparison failed.
    SomeRows = 4,
}

/// Why a command ended early.
#[derive(Debug)]
pub enum Failure {
    /// What is wrong, to be printed.
    Message(Exit, String),
    /// A configuration that cannot be built, to be printed: of several configurations the others can go on.
    Config(String),
    /// Everything was said already.
    Said(Exit),
    /// A signal ended the work (or another failure, which is then the one to tell): what was finished until then, if there
    /// is anything to say.
    Interrupted(String),
    /// Whoever read our output has had enough: end quietly.
    Hangup,
}

impl Failure {
    /// Bad input with a help line.
    pub fn bad(problem: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Message(Exit::BadInput, format!("{problem}\n  help: {help}"))
    }
    /// What is to be said on standard error.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Message(_, message) | Self::Config(message) => Some(format!("error: {message}")),
            Self::Interrupted(finished) if finished.is_empty() => Some("interrupted".to_owned()),
            Self::Interrupted(finished) => Some(format!("interrupted: {finished}")),
            Self::Said(_) | Self::Hangup => None,
        }
    }
    /// Ends the process.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Message(exit, _) | Self::Said(exit) => ExitCode::from(*exit as u8),
            Self::Config(_) => ExitCode::from(Exit::BadInput as u8),
            Self::Interrupted(_) => ExitCode::from(interrupt::exit_code().unwrap_or(Exit::Failed as u8)),
            Self::Hangup => ExitCode::SUCCESS,
        }
    }
}

/// What makes room for addresses beyond a device.
pub const ROOM: &str =
    "--capacity fit (a larger device), --address compact (renumber blocks) or --address modulo (fold)";

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.to_string())
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        Self::Message(Exit::BadInput, error.to_string())
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        if matches!(error, TraceError::Interrupted) {
            return Self::Interrupted(String::new());
        }
        let help = match &error {
            TraceError::BeyondCapacity { .. } => ROOM,
            TraceError::CompactFull { .. } => "--address modulo, --limit N, or a larger device (--capacity SIZE)",
            TraceError::SecondDevice { .. } | TraceError::TooManyDevices { .. } => {
                "--volumes stack, --volumes pick:N, --volumes merge, or --volumes separate (run only)"
            }
            TraceError::NoSuchEvent { .. } => "--event Q, G, I, D or C: one of those in the trace",
            TraceError::NoEvents { .. } => "leave --event out",
            TraceError::DevicesInFile { .. } => "--files sequence or --files merge",
            TraceError::FormatsDiffer { .. } => "--format NAME, or only the files of one trace",
            TraceError::TooManyPages { .. } => "--sample-pages 0.01 follows one page in a hundred; or --limit N",
            TraceError::StackNeedsFile { .. } => "--volumes pick:N, --volumes merge or --address compact",
            TraceError::NoSuchDevice { .. } => "--volumes pick:N with one of these numbers",
            TraceError::Row { .. } | TraceError::TooManyBad { .. } => {
                "--skip-bad N skips up to N bad rows, --format NAME names the format (`nandlab list formats`)"
            }
            TraceError::TimeFixed { .. } => "leave --time-unit out",
            TraceError::NotRecognised { .. } | TraceError::Ambiguous { .. } => {
                "--format NAME, or --columns; `nandlab list formats` shows all, `nandlab describe NAME` the columns of one"
            }
            TraceError::Tool { .. } => "`nandlab trace TOOL --help` explains the options",
            TraceError::Open { .. } => "`-` reads standard input; without a trace, the built-in workload is used",
            TraceError::Empty { .. } => "is this the right file? `-` reads standard input",
            _ => "",
        };
        let exit = if matches!(error, TraceError::Read { .. }) { Exit::Failed } else { Exit::BadInput };
        let remedy = doctor::remedy(&error).map(|line| format!("\n  try: {line}")).unwrap_or_default();
        let help = if help.is_empty() { String::new() } else { format!("\n  help: {help}") };
        Self::Message(exit, format!("{error}{help}{remedy}"))
    }
}
