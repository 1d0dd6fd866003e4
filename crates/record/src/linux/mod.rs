//! Linux on x86-64: ptrace, with a seccomp filter that stops a program at the system calls that matter only.

mod begun;
mod calls;
mod files;
mod filter;
mod memory;
mod tracer;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};

use crate::{RecordError, RecordOptions, Recorded};

/// Exit codes of a process that could not become the command.
const NOT_TRACED: u8 = 125;
const MAY_NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// Runs a command and records it. `own`: a program and its first arguments that call [`run_traced`] with the rest of them.
///
/// A process cannot let itself be traced and become another without `unsafe`, unless it begins as a program of its own.
///
/// # Errors
/// The system lets nobody trace, or the command cannot be run.
pub fn record(own: &[OsString], command: &[OsString], options: &RecordOptions) -> Result<Recorded, RecordError> {
    let mut child = Command::new(own.first().unwrap_or(&OsString::new()));
    child.args(own.get(1..).unwrap_or_default()).args(command);
    tracer::run(child, command, options)
}

/// Lets the parent trace this process, and becomes the command. Returns only if that cannot be done: exit with the code.
///
/// # Errors
/// What cannot be done. The parent, which has a terminal too, says it.
pub fn run_traced(command: &[OsString]) -> Result<Infallible, (RecordError, u8)> {
    let forbidden = |step, reason: String| (RecordError::Forbidden { step, reason }, NOT_TRACED);
    ptrace::traceme().map_err(|error| forbidden("ptrace", error.desc().to_owned()))?;
    // The parent sets its options now: a filtered call before that would fail.
    raise(Signal::SIGSTOP).map_err(|error| forbidden("stop", error.desc().to_owned()))?;
    filter::apply().map_err(|reason| forbidden("seccomp filter", reason))?;
    let name = command.first().cloned().unwrap_or_default();
    let error = Command::new(&name).args(command.get(1..).unwrap_or_default()).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { MAY_NOT_RUN };
    let command = name.to_string_lossy().into_owned();
    Err((RecordError::Command { command, reason: error.to_string() }, code))
}
