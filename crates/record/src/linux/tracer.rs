//! Follows a process tree and turns its system calls into requests.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nandlab::types::HostOp;
use nandlab_trace::{FileName, Recording};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{self, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::begun::{Access, Begun, begun};
use super::calls::{Call, call};
use super::files::open_file;
use super::stacks::Stacks;
use super::{MAY_NOT_RUN, NOT_FOUND, NOT_TRACED, memory};
use crate::cache::{Caller, FileRange, PageCache};
use crate::stack::{RawStack, STACK_BYTES};
use crate::{Ended, RecordCounts, RecordError, RecordOptions, RecordedCommand};

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// A system call that has begun.
struct Pending {
    begun: Begun,
    at_ns: u64,
    stack: RawStack,
}

/// A thread or process.
#[derive(Default)]
struct Task {
    pending: Option<Pending>,
    /// Its process.
    process: i32,
}

struct Tracer {
    start: Instant,
    tasks: BTreeMap<i32, Task>,
    /// All tasks, for whoever wants to end them.
    alive: Arc<Mutex<Vec<Pid>>>,
    stacks: Stacks,
    recording: Recording,
    cache: PageCache,
    /// Requests so far.
    requests: Vec<nandlab_trace::TraceRecord>,
    counts: RecordCounts,
    /// Files that were mapped as data, and those that were mapped as code (of which the loader maps data too).
    mapped: [BTreeSet<FileName>; 2],
    rings: u64,
}

/// Runs the command and follows it to the end of its last process.
pub(super) fn run(
    mut child: Command,
    command: &[OsString],
    options: &RecordOptions,
) -> Result<RecordedCommand, RecordError> {
    let forbidden = |step, error: nix::Error| RecordError::Forbidden { step, reason: error.desc().to_owned() };
    let name = command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let failed = |reason: String| RecordError::Command { command: name.clone(), reason };
    let root = Pid::from_raw(child.spawn().map_err(|error| failed(error.to_string()))?.id().cast_signed());
    match waitpid(root, Some(WaitPidFlag::__WALL)) {
        Ok(WaitStatus::Stopped(..)) => {}
        Ok(WaitStatus::Exited(_, code)) if code == i32::from(NOT_TRACED) => {
            return Err(forbidden("ptrace", nix::Error::EPERM));
        }
        Ok(other) => return Err(failed(format!("it ended at once: {other:?}"))),
        Err(error) => return Err(forbidden("waiting for it", error)),
    }
    let follow = Options::PTRACE_O_TRACESECCOMP
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(root, follow).map_err(|error| forbidden("ptrace options", error))?;
    #[expect(clippy::disallowed_methods, reason = "when a program asks is what is recorded; nothing is simulated here")]
    let start = Instant::now();
    let mut tracer = Tracer {
        start,
        tasks: BTreeMap::from([(root.as_raw(), Task { pending: None, process: root.as_raw() })]),
        alive: Arc::new(Mutex::new(vec![root])),
        stacks: Stacks::new(options.folder.clone()),
        recording: Recording::default(),
        cache: PageCache::new(options.memory_limit, options.read_ahead),
        requests: Vec::new(),
        counts: RecordCounts { tasks: 1, ..RecordCounts::default() },
        mapped: [BTreeSet::new(), BTreeSet::new()],
        rings: 0,
    };
    let done = Arc::new(AtomicBool::new(false));
    let watch = stop_when_asked(options.stop.clone(), tracer.alive.clone(), done.clone());
    ptrace::cont(root, None).map_err(|error| forbidden("ptrace", error))?;
    let (ended, was_run) = tracer.follow(root);
    done.store(true, Ordering::Relaxed);
    _ = watch.join();
    if !was_run && let Ended::Status(code) = ended {
        match u8::try_from(code) {
            Ok(NOT_FOUND) => return Err(failed("there is no such program".to_owned())),
            Ok(MAY_NOT_RUN) => return Err(failed("it is no program, or it may not be run".to_owned())),
            Ok(NOT_TRACED) => return Err(forbidden("seccomp filter", nix::Error::EPERM)),
            _ => {}
        }
    }
    let stopped = options.stop.load(Ordering::Relaxed);
    Ok(tracer.finish(if stopped { Ended::Stopped } else { ended }))
}

/// Kills all that is recorded when somebody wants the recording to end.
fn stop_when_asked(
    stop: Arc<AtomicBool>,
    alive: Arc<Mutex<Vec<Pid>>>,
    done: Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            if stop.load(Ordering::Relaxed)
                && let Ok(alive) = alive.lock()
            {
                for task in alive.iter() {
                    _ = signal::kill(*task, Signal::SIGKILL);
                }
            }
            thread::sleep(LOOK);
        }
    })
}

impl Tracer {
    /// Until nobody is left: how the command itself ended, and whether it ever began.
    fn follow(&mut self, root: Pid) -> (Ended, bool) {
        let (mut ended, mut was_run) = (Ended::Stopped, false);
        // An error says that there are no more children.
        while let Ok(status) = waitpid(None, Some(WaitPidFlag::__WALL)) {
            match status {
                WaitStatus::Exited(task, code) => {
                    self.gone(task);
                    ended = if task == root { Ended::Status(code) } else { ended };
                }
                WaitStatus::Signaled(task, signal, _) => {
                    self.gone(task);
                    ended = if task == root { Ended::Signal(signal as i32) } else { ended };
                }
                WaitStatus::PtraceEvent(task, _, libc::PTRACE_EVENT_SECCOMP) => {
                    self.begin(task);
                    // Its end says how many bytes there were.
                    let waits = self.tasks.get(&task.as_raw()).is_some_and(|task| task.pending.is_some());
                    _ = if waits { ptrace::syscall(task, None) } else { ptrace::cont(task, None) };
                }
                WaitStatus::PtraceEvent(task, _, libc::PTRACE_EVENT_EXEC) => {
                    was_run = true;
                    // A thread that becomes another program takes the number of its process; its own ends without a word.
                    if let Ok(former) = ptrace::getevent(task).map(|former| Pid::from_raw(former as i32))
                        && former != task
                    {
                        self.gone(former);
                    }
                    self.stacks.forget(task.as_raw());
                    _ = ptrace::cont(task, None);
                }
                WaitStatus::PtraceEvent(task, ..) => _ = ptrace::cont(task, None),
                WaitStatus::PtraceSyscall(task) => {
                    self.end(task);
                    _ = ptrace::cont(task, None);
                }
                WaitStatus::Stopped(task, signal) => {
                    // A new task begins with a stop that nobody sent.
                    let is_new = self.meet(task) && signal == Signal::SIGSTOP;
                    let waits = self.tasks.get(&task.as_raw()).is_some_and(|task| task.pending.is_some());
                    let signal = (!is_new).then_some(signal);
                    _ = if waits { ptrace::syscall(task, signal) } else { ptrace::cont(task, signal) };
                }
                WaitStatus::Continued(_) | WaitStatus::StillAlive => {}
            }
        }
        (ended, was_run)
    }

    /// True if the task is new.
    fn meet(&mut self, task: Pid) -> bool {
        if self.tasks.contains_key(&task.as_raw()) {
            return false;
        }
        let status = fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default();
        let told = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let process = told.and_then(|number| number.trim().parse().ok()).unwrap_or(task.as_raw());
        self.tasks.insert(task.as_raw(), Task { pending: None, process });
        self.counts.tasks += 1;
        if let Ok(mut alive) = self.alive.lock() {
            alive.push(task);
        }
        true
    }

    fn gone(&mut self, task: Pid) {
        self.tasks.remove(&task.as_raw());
        self.stacks.forget(task.as_raw());
        if let Ok(mut alive) = self.alive.lock() {
            alive.retain(|known| *known != task);
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// A system call begins.
    fn begin(&mut self, task: Pid) {
        self.meet(task);
        let Ok(registers) = ptrace::getregs(task) else { return };
        let Some(call) = call(registers.orig_rax) else { return };
        let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
        if call == Call::Map {
            return self.map(task, arguments);
        }
        let Some(begun) = begun(task, call, arguments) else { return };
        let needs_stack = !matches!(begun, Begun::Forget(_) | Begun::Ring);
        let bytes = if needs_stack { memory::copy(task, registers.rsp, STACK_BYTES) } else { Vec::new() };
        let stack = RawStack { ip: registers.rip, sp: registers.rsp, bp: registers.rbp, bytes };
        let at_ns = self.now();
        if let Some(task) = self.tasks.get_mut(&task.as_raw()) {
            task.pending = Some(Pending { begun, at_ns, stack });
        }
    }

    /// A file is mapped into memory.
    fn map(&mut self, task: Pid, arguments: [u64; 6]) {
        let is_code = arguments[2] & libc::PROT_EXEC as u64 != 0;
        if let Some(file) = open_file(task, arguments[4]) {
            self.mapped[usize::from(is_code)].insert(file.name);
        }
        if is_code {
            // What is loaded now is looked up when a stack leads there.
            let process = self.tasks.get(&task.as_raw()).map_or(task.as_raw(), |task| task.process);
            self.stacks.forget(process);
        }
    }

    /// It ends: what it did is known.
    fn end(&mut self, task: Pid) {
        let Some(known) = self.tasks.get_mut(&task.as_raw()) else { return };
        let process = known.process;
        let Some(Pending { begun, at_ns, stack }) = known.pending.take() else { return };
        let Ok(registers) = ptrace::getregs(task) else { return };
        // Errors are negative.
        let Ok(result) = u64::try_from(registers.rax.cast_signed()) else { return };
        let caller = |stack| Caller { at_ns, process: process.cast_unsigned(), stack };
        match begun {
            Begun::Ring => self.rings += result,
            Begun::Forget(name) => {
                let file = self.add_file(name);
                self.cache.forget(file);
            }
            Begun::Sync(name) => {
                let caller = caller(self.stacks.unwind(&mut self.recording, process, &stack));
                let file = name.map(|name| self.add_file(name));
                self.cache.sync(file, caller);
            }
            Begun::Accesses(accesses) => {
                let caller = caller(self.stacks.unwind(&mut self.recording, process, &stack));
                // Of requests that are handed over the result says how many were taken.
                let taken = accesses.iter().filter(|access| access.length.is_none()).count() as u64 + result;
                for access in accesses.into_iter().take(usize::try_from(taken).unwrap_or(usize::MAX)) {
                    self.access(access, result, caller);
                }
            }
        }
        self.requests.append(&mut self.cache.take());
    }

    /// The id of a file.
    fn add_file(&mut self, mut name: FileName) -> u32 {
        name.path = self.stacks.name(&name.path);
        self.recording.add_file(name)
    }

    fn access(&mut self, access: Access, result: u64, caller: Caller) {
        let Access { op, file, offset, length } = access;
        let length = length.unwrap_or(result);
        if length == 0 {
            return;
        }
        let range = FileRange { file: self.add_file(file.name), offset, length, file_bytes: file.bytes };
        let is_write = op == HostOp::Write;
        *(if is_write { &mut self.counts.writes } else { &mut self.counts.reads }) += 1;
        match (file.is_direct, is_write) {
            (true, _) => self.cache.direct(op, &range, caller),
            (false, true) => self.cache.write(&range, caller),
            (false, false) => self.cache.read(&range, caller),
        }
        if is_write && file.is_sync {
            self.cache.sync(Some(range.file), caller);
        }
    }

    fn finish(mut self, ended: Ended) -> RecordedCommand {
        self.cache.finish(self.start.elapsed().as_nanos() as u64);
        self.requests.append(&mut self.cache.take());
        // A call that began before another may have ended after it.
        self.requests.sort_by_key(|request| request.at);
        self.counts.cache = self.cache.counts();
        self.counts.stacks_cut_short = self.stacks.cut_short();
        let [data, code] = &self.mapped;
        let missing = [
            ("files mapped into memory, whose accesses are no system calls", data.difference(code).count() as u64),
            ("requests of io_uring, which are no system calls", self.rings),
        ];
        RecordedCommand {
            requests: self.requests,
            recording: self.recording,
            counts: self.counts,
            missing: missing.into_iter().filter(|(_, n)| *n > 0).collect(),
            ended,
        }
    }
}
