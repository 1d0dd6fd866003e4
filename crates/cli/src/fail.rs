//! How a command ends when it does not succeed: a message that says what to do, and an exit code.

use std::fmt;

use nandlab::error::ConfigError;
use nandlab_lab::{Error, ErrorKind};
use nandlab_trace::TraceError;

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
    /// What the laboratory cannot do, to be printed.
    Lab(Error),
    /// Everything was said already.
    Said(Exit),
    /// A signal ended the work: what was finished until then, if there is anything to say.
    Interrupted(String),
    /// A command that was run on somebody's behalf did not succeed: what is to be said of it, if anything, and its exit code.
    Command(String, u8),
    /// The reader of our output is gone: end quietly.
    Hangup,
}

impl Failure {
    /// Bad input with a help line.
    pub fn bad(problem: impl fmt::Display, help: impl fmt::Display) -> Self {
        Self::Message(Exit::BadInput, format!("{problem}\n  help: {help}"))
    }
    /// The exit code of failed rows if some failed; their errors were printed.
    pub fn if_some_failed(failed: bool) -> Result<(), Self> {
        if failed { Err(Self::Said(Exit::SomeRows)) } else { Ok(()) }
    }
    /// What is to be said on standard error.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Message(_, message) => Some(format!("error: {message}")),
            Self::Lab(error) => Some(format!("error: {error}")),
            Self::Interrupted(finished) if finished.is_empty() => Some("interrupted".to_owned()),
            Self::Interrupted(finished) => Some(format!("interrupted: {finished}")),
            Self::Command(said, _) => Some(said.clone()).filter(|said| !said.is_empty()),
            Self::Said(_) | Self::Hangup => None,
        }
    }
    /// With what the process ends.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Message(exit, _) | Self::Said(exit) => *exit as u8,
            Self::Lab(error) if error.kind() == ErrorKind::Machine => Exit::Failed as u8,
            Self::Lab(_) => Exit::BadInput as u8,
            Self::Interrupted(_) => interrupt::exit_code().unwrap_or(Exit::Failed as u8),
            Self::Command(_, code) => *code,
            Self::Hangup => 0,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        if error.kind() == ErrorKind::Stopped { Self::Interrupted(String::new()) } else { Self::Lab(error) }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Error::from(error).into()
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Error::from(error).into()
    }
}
