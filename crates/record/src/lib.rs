//! Records what unmodified programs read and write in files, each request with the call stack that asked for it: a trace from
//! which `nandlab-host` works out what a host could tell a device.
//!
//! - [`record_command`] runs a command and follows its process tree. At the [`Level`] of system calls that is done by ptrace
//!   and a seccomp filter, without privileges; at that of devices by programs in the kernel. [`run_traced`] is what the
//!   command's own process does first.
//! - [`Joiner`] makes requests of what those programs tell: [`DeviceEvent`].
//! - [`RawStack`] is a stack as it was copied, which [`Unwinder`] turns into frames by the `.eh_frame` of the modules, in any
//!   process and on any machine that has the same binaries.
//! - [`PageCache`] is a model of the host's page cache: what of the system calls reaches a device.
#![forbid(unsafe_code)]

mod ahead;
mod binary;
mod cache;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod elsewhere;
mod event;
mod join;
mod layout;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux;
mod maps;
mod stack;

use std::convert::Infallible;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use nandlab_trace::{Recording, TraceRecord};
use thiserror::Error;

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
use elsewhere as system;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
use linux as system;

pub use binary::Binary;
pub use cache::{Advice, Caller, FileRange, PageCache, PageCacheCounts};
pub use event::{DeviceEvent, DeviceWork, FileKey};
pub use join::{JoinCounts, Joiner};
pub use maps::{Mapping, mappings, mounts};
pub use stack::{FRAMES_MAX, RawStack, STACK_BYTES, Unwinder};

/// Where requests are recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Level {
    /// At system calls, under ptrace; a model of the page cache decides what of them reaches a device.
    #[default]
    Syscall,
    /// Where the kernel hands them to a device.
    Device,
}

/// What is recorded, and how.
#[derive(Clone, Debug)]
pub struct RecordOptions {
    /// Where.
    pub level: Level,
    /// Level of system calls: bytes of the modelled page cache, 64 MiB if it is not said; 0 = none, every system call is a
    /// request as it is. Level of devices: bytes of memory that the command has, page cache and all; no limit if it is not said.
    pub memory_limit: Option<u64>,
    /// Level of system calls: bytes that the model reads ahead at most.
    pub read_ahead: u64,
    /// Files below this folder are named relative to it.
    pub folder: PathBuf,
    /// Set by the caller to end the recording: the command is killed, and what it did until then is kept.
    pub stop: Arc<AtomicBool>,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct RecordedCommand {
    /// The requests in order of time.
    pub requests: Vec<TraceRecord>,
    /// The files and call stacks that they name.
    pub recording: Recording,
    /// What happened, by kind.
    pub counts: RecordCounts,
    /// Accesses that are known not to be in it: what, and how often.
    pub missing: Vec<(&'static str, u64)>,
    /// Processes that the kernel killed because all together needed more than [`RecordOptions::memory_limit`].
    pub killed: u64,
    /// How the command ended.
    pub ended: Ended,
}

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ended {
    /// By itself, with this status.
    Status(i32),
    /// A signal ended it.
    Signal(i32),
    /// It was killed, because a signal came that cannot be passed on to it.
    Unfollowed,
    /// The recorder ended it.
    #[default]
    Stopped,
}

/// What happened while a command was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordCounts {
    /// Processes and threads that were followed.
    pub tasks: u64,
    /// System calls that read files, or requests that read.
    pub reads: u64,
    /// System calls that wrote files, or requests that write.
    pub writes: u64,
    /// Call stacks that ended where the copied bytes did, or where no frame could be told.
    pub stacks_cut_short: u64,
    /// Level of system calls: what the model of the page cache did.
    pub cache: PageCacheCounts,
    /// Level of devices: what was joined to requests.
    pub joined: JoinCounts,
}

/// Why nothing can be recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// This does not work on this system.
    #[error("programs can be recorded on Linux on x86-64 only")]
    Elsewhere,
    /// The system does not let a process be traced.
    #[error(
        "{step}: {reason}; recording needs ptrace of one's own children and seccomp filters (in a container: \
         --cap-add SYS_PTRACE or a seccomp profile that allows ptrace; sysctl kernel.yama.ptrace_scope below 3)"
    )]
    Forbidden {
        /// What was tried.
        step: &'static str,
        /// What the system said.
        reason: String,
    },
    /// The kernel takes no programs that watch it.
    #[error(
        "{step}: {reason}\n  help: the device level needs root or the capabilities CAP_BPF and CAP_PERFMON (and CAP_SYS_PTRACE in a \
         container), and a kernel from 5.15 on that describes its structures (BTF); --level syscall needs neither"
    )]
    Kernel {
        /// What was tried.
        step: String,
        /// What the system said.
        reason: String,
    },
    /// The command cannot be given a part of the memory.
    #[error(
        "{path}: {reason}\n  help: --memory-limit at the device level needs root and a memory cgroup; leave it out, or use --level syscall"
    )]
    Memory {
        /// The file of the cgroup.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The command cannot be run.
    #[error("{command}: cannot be run: {reason}")]
    Command {
        /// Its name.
        command: String,
        /// What the system said.
        reason: String,
        /// With what `env` and `nice` end then: 127 if there is no such program, else 126.
        code: u8,
    },
}

/// Runs a command and records it. `own`: a program and its first arguments that call [`run_traced`] with the rest of them.
///
/// A process cannot let itself be traced and become another without `unsafe`, unless it begins as a program of its own.
///
/// # Errors
/// The system does not allow tracing, or the command cannot be run.
pub fn record_command(
    own: &[OsString],
    command: &[OsString],
    options: &RecordOptions,
) -> Result<RecordedCommand, RecordError> {
    system::record(own, command, options)
}

/// Lets the parent trace this process, and becomes the command. Returns only if that cannot be done: exit with the code.
///
/// # Errors
/// What cannot be done. The parent, which has a terminal too, says it.
pub fn run_traced(level: Level, command: &[OsString]) -> Result<Infallible, (RecordError, u8)> {
    system::become_traced(level, command)
}
