//! Why something was not done: errors that say what is wrong and what to do about it.

use std::fmt;

use nandlab::error::ConfigError;
use nandlab::replay::ReplayError;
use nandlab_trace::TraceError;

/// What makes room for addresses beyond a device.
pub const ROOM: &str =
    "--capacity fit (a larger device), --address compact (renumber blocks) or --address modulo (fold)";

/// An error of the laboratory. Its text is the problem and a line with help; texts name settings as the command line does,
/// so that `--address` is the field `address`.
#[derive(Debug)]
pub enum Error {
    /// A configuration that cannot be built: of several configurations the others can go on.
    Config(ConfigError),
    /// A trace that cannot be read.
    Trace(TraceError),
    /// Something else that was asked for cannot be done.
    Input {
        /// What is wrong.
        problem: String,
        /// What to do about it; may be empty.
        help: String,
    },
    /// The machine has too little memory at the moment.
    Memory {
        /// What needs how much.
        problem: String,
        /// What to do about it.
        help: String,
    },
    /// A result cannot be written.
    Write {
        /// The file.
        target: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The work was stopped ([`Stop`](crate::Stop)).
    Stopped,
}

/// What an error means for the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// A configuration that cannot be built.
    Config,
    /// Other bad input: arguments, or the contents of a trace.
    Input,
    /// The machine failed: a file could not be read to its end, or not be written.
    Machine,
    /// The work was stopped.
    Stopped,
}

impl Error {
    /// Bad input.
    pub fn input(problem: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Input { problem: problem.to_string(), help: help.to_string() }
    }

    /// The same with its place in front.
    pub(crate) fn at(self, place: impl fmt::Display) -> Self {
        match self {
            Self::Input { problem, help } => Self::Input { problem: format!("{place}: {problem}"), help },
            Self::Stopped => Self::Stopped,
            other => Self::input(format!("{place}: {other}"), ""),
        }
    }

    /// What it means.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Config(_) => ErrorKind::Config,
            // A name that says a form which is not written.
            Self::Write { source, .. } if source.kind() == std::io::ErrorKind::InvalidInput => ErrorKind::Input,
            Self::Trace(TraceError::Read { .. }) | Self::Write { .. } => ErrorKind::Machine,
            Self::Trace(_) | Self::Input { .. } | Self::Memory { .. } => ErrorKind::Input,
            Self::Stopped => ErrorKind::Stopped,
        }
    }

    /// Another machine, or the same on another day, may do better.
    pub(crate) fn may_pass(&self) -> bool {
        let is_missing = matches!(self, Self::Memory { .. } | Self::Trace(TraceError::Open { .. }));
        is_missing || matches!(self.kind(), ErrorKind::Machine | ErrorKind::Stopped)
    }

    /// What to do about it; empty if there is no advice.
    pub fn help(&self) -> &str {
        match self {
            Self::Config(error) => &error.help,
            Self::Trace(error) => help_for_trace(error),
            Self::Input { help, .. } | Self::Memory { help, .. } => help,
            Self::Write { .. } if self.kind() == ErrorKind::Input => "",
            Self::Write { .. } => {
                "the file was left as it was; check the folder, its permissions and the space on the disk"
            }
            Self::Stopped => "",
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A configuration's error says its help itself.
            Self::Config(error) => return error.fmt(f),
            Self::Trace(error) => error.fmt(f)?,
            Self::Input { problem, .. } | Self::Memory { problem, .. } => f.write_str(problem)?,
            Self::Write { target, source } => write!(f, "{target}: cannot be written: {source}")?,
            Self::Stopped => f.write_str("stopped")?,
        }
        match self.help() {
            "" => Ok(()),
            help => write!(f, "\n  help: {help}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<ReplayError> for Error {
    fn from(error: ReplayError) -> Self {
        Self::input(error, "")
    }
}

impl From<TraceError> for Error {
    fn from(error: TraceError) -> Self {
        if matches!(error, TraceError::Interrupted) { Self::Stopped } else { Self::Trace(error) }
    }
}

fn help_for_trace(error: &TraceError) -> &'static str {
    match error {
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
        TraceError::NoObjects { .. } => "leave --object-unit out",
        TraceError::NotRecognised { .. } | TraceError::Ambiguous { .. } => {
            "--format NAME, or --columns; `nandlab list formats` shows all, `nandlab describe NAME` the columns of one"
        }
        TraceError::Tool { .. } => "`nandlab trace TOOL --help` explains the options",
        TraceError::Open { .. } => "`-` reads standard input; without a trace, the built-in workload is used",
        TraceError::Empty { .. } => "is this the right file? `-` reads standard input",
        _ => "",
    }
}
