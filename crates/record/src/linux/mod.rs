//! Linux on x86-64: ptrace, with a seccomp filter that stops a program at the system calls that matter only.

mod begun;
mod calls;
mod device;
mod files;
mod filter;
mod memory;
mod stacks;
mod syscalls;
mod tree;

use std::convert::Infallible;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::process::Command;

use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};

use crate::{Level, RecordError, RecordOptions, RecordedCommand};
use tree::Tree;

/// Exit codes of a process that could not become the command.
const NOT_TRACED: u8 = 125;
const MAY_NOT_RUN: u8 = 126;
const NOT_FOUND: u8 = 127;

/// See [`crate::record_command`].
pub(crate) fn record(
    own: &[OsString],
    command: &[OsString],
    options: &RecordOptions,
) -> Result<RecordedCommand, RecordError> {
    let mut child = Command::new(own.first().unwrap_or(&OsString::new()));
    child.args(own.get(1..).unwrap_or_default()).args(command);
    match options.level {
        Level::Syscall => syscalls::run(Tree::start(child, command)?, options),
        Level::Device => device::run(|| Tree::start(child, command), options),
    }
}

/// See [`crate::run_traced`].
pub(crate) fn become_traced(level: Level, command: &[OsString]) -> Result<Infallible, (RecordError, u8)> {
    let forbidden = |step, reason: String| (RecordError::Forbidden { step, reason }, NOT_TRACED);
    ptrace::traceme().map_err(|error| forbidden("ptrace", error.desc().to_owned()))?;
    // The parent sets its options now: a filtered call before that would fail.
    raise(Signal::SIGSTOP).map_err(|error| forbidden("stop", error.desc().to_owned()))?;
    filter::apply(level).map_err(|reason| forbidden("seccomp filter", reason))?;
    let name = command.first().cloned().unwrap_or_default();
    let error = Command::new(&name).args(command.get(1..).unwrap_or_default()).exec();
    let code = if error.kind() == ErrorKind::NotFound { NOT_FOUND } else { MAY_NOT_RUN };
    let command = name.to_string_lossy().into_owned();
    Err((RecordError::Command { command, reason: error.to_string(), code }, code))
}
