//! A command and all that it starts, under ptrace: stopped at the system calls of a filter, when a program changes and when
//! it ends.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use libc::user_regs_struct as Registers;
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{self, Signal};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{MAY_NOT_RUN, NOT_FOUND, NOT_TRACED};
use crate::{Ended, RecordError};

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What becomes of a system call that stopped a task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beginning {
    /// It goes on.
    Unwatched,
    /// It goes on, and its end matters.
    Watched,
    /// It stands still, and begins again when a call of another task has ended.
    Later,
}

/// What looks at what a process tree does.
pub(super) trait Watcher {
    /// A task stops at a system call of the filter.
    fn begins(&mut self, task: Pid, process: i32, registers: &Registers) -> Beginning;
    /// A system call whose end matters ends.
    fn ends(&mut self, task: Pid, process: i32, registers: &Registers);
    /// A process is about to end; what it has loaded can still be seen.
    fn leaves(&mut self, process: i32);
    /// A process has become another program, or is gone.
    fn changed(&mut self, process: i32);
}

/// The tree.
pub(super) struct Tree {
    root: Pid,
    /// Tasks, and the process of each.
    tasks: BTreeMap<i32, i32>,
    /// Those in a system call whose end matters.
    waiting: BTreeSet<i32>,
    /// Those that stand still until the call of another one has ended, in the order in which they came.
    held: Vec<Pid>,
    /// All tasks, for the thread that ends them.
    alive: Arc<Mutex<Vec<Pid>>>,
    /// What the command is called.
    name: String,
    met: u64,
}

/// What cannot be done, and what the system said.
fn forbidden(step: &'static str, error: nix::Error) -> RecordError {
    RecordError::Forbidden { step, reason: error.desc().to_owned() }
}

impl Tree {
    /// Starts the command. It stands still before its first instruction.
    pub fn start(mut child: Command, command: &[OsString]) -> Result<Self, RecordError> {
        let name = command.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let failed = |reason: String| RecordError::Command { command: name.clone(), reason, code: MAY_NOT_RUN };
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
            | Options::PTRACE_O_TRACEEXIT
            | Options::PTRACE_O_TRACESYSGOOD
            | Options::PTRACE_O_EXITKILL;
        ptrace::setoptions(root, follow).map_err(|error| forbidden("ptrace options", error))?;
        Ok(Self {
            root,
            tasks: BTreeMap::from([(root.as_raw(), root.as_raw())]),
            waiting: BTreeSet::new(),
            held: Vec::new(),
            alive: Arc::new(Mutex::new(vec![root])),
            name,
            met: 1,
        })
    }

    /// The process of the command.
    pub fn root(&self) -> Pid {
        self.root
    }

    /// Processes and threads so far.
    pub fn met(&self) -> u64 {
        self.met
    }

    /// Lets the command run, until nobody of the tree is left or `stop` is set: how it ended.
    pub fn follow(&mut self, watcher: &mut impl Watcher, stop: &Arc<AtomicBool>) -> Result<Ended, RecordError> {
        let done = Arc::new(AtomicBool::new(false));
        let watch = kill_when_asked(stop.clone(), self.alive.clone(), done.clone());
        ptrace::cont(self.root, None).map_err(|error| forbidden("ptrace", error))?;
        let (ended, was_run) = self.until_gone(watcher);
        done.store(true, Ordering::Relaxed);
        _ = watch.join();
        if !was_run && let Ended::Status(code) = ended {
            let failed = |reason: &str, code| RecordError::Command {
                command: self.name.clone(),
                reason: reason.to_owned(),
                code,
            };
            match u8::try_from(code) {
                Ok(code @ NOT_FOUND) => return Err(failed("there is no such program", code)),
                Ok(code @ MAY_NOT_RUN) => return Err(failed("it is not a program, or it may not be run", code)),
                Ok(NOT_TRACED) => return Err(forbidden("seccomp filter", nix::Error::EPERM)),
                _ => {}
            }
        }
        Ok(if stop.load(Ordering::Relaxed) { Ended::Stopped } else { ended })
    }

    /// How the command itself ended, and whether it ever began.
    fn until_gone(&mut self, watcher: &mut impl Watcher) -> (Ended, bool) {
        let (mut ended, mut was_run, mut is_signal_lost) = (Ended::Stopped, false, false);
        loop {
            let status = match waitpid(None, Some(WaitPidFlag::__WALL)) {
                Ok(status) => status,
                Err(Errno::EINTR) => continue,
                // A signal without a known name (a real-time one) cannot be passed on: a task that waits for it waits for ever.
                Err(Errno::EINVAL) => {
                    is_signal_lost = true;
                    kill(&self.alive);
                    continue;
                }
                // There are no more children.
                Err(_) => break,
            };
            match status {
                WaitStatus::Exited(task, code) => {
                    self.gone(task, watcher);
                    ended = if task == self.root { Ended::Status(code) } else { ended };
                }
                WaitStatus::Signaled(task, signal, _) => {
                    self.gone(task, watcher);
                    ended = if task == self.root { Ended::Signal(signal as i32) } else { ended };
                }
                WaitStatus::PtraceEvent(task, _, libc::PTRACE_EVENT_SECCOMP) => {
                    self.meet(task);
                    self.begin(task, watcher);
                }
                WaitStatus::PtraceEvent(task, _, libc::PTRACE_EVENT_EXEC) => {
                    was_run = true;
                    // A thread that becomes another program takes the number of its process; its own ends without a word.
                    if let Ok(former) = ptrace::getevent(task).map(|former| Pid::from_raw(former as i32))
                        && former != task
                    {
                        self.gone(former, watcher);
                    }
                    watcher.changed(task.as_raw());
                    self.go_on(task, None);
                    self.begin_held(watcher);
                }
                WaitStatus::PtraceEvent(task, _, libc::PTRACE_EVENT_EXIT) => {
                    self.held.retain(|held| *held != task);
                    watcher.leaves(self.process(task));
                    self.go_on(task, None);
                }
                WaitStatus::PtraceEvent(task, ..) => self.go_on(task, None),
                WaitStatus::PtraceSyscall(task) => {
                    if self.waiting.remove(&task.as_raw())
                        && let Ok(registers) = ptrace::getregs(task)
                    {
                        watcher.ends(task, self.process(task), &registers);
                    }
                    self.go_on(task, None);
                    self.begin_held(watcher);
                }
                WaitStatus::Stopped(task, signal) => {
                    // A new task begins with a stop that nobody sent.
                    let is_new = self.meet(task) && signal == Signal::SIGSTOP;
                    self.go_on(task, (!is_new).then_some(signal));
                }
                WaitStatus::Continued(_) | WaitStatus::StillAlive => {}
            }
        }
        (if is_signal_lost { Ended::Unfollowed } else { ended }, was_run)
    }

    /// A task is at the beginning of a system call.
    fn begin(&mut self, task: Pid, watcher: &mut impl Watcher) {
        let process = self.process(task);
        let beginning = ptrace::getregs(task).map(|registers| watcher.begins(task, process, &registers));
        if beginning == Ok(Beginning::Later) {
            return self.held.push(task);
        }
        if beginning == Ok(Beginning::Watched) {
            // Its end says what it did.
            self.waiting.insert(task.as_raw());
        }
        self.go_on(task, None);
    }

    fn begin_held(&mut self, watcher: &mut impl Watcher) {
        for task in std::mem::take(&mut self.held) {
            self.begin(task, watcher);
        }
    }

    /// Lets a task run to its next stop. One that is gone meanwhile needs no more.
    fn go_on(&self, task: Pid, signal: Option<Signal>) {
        let waits = self.waiting.contains(&task.as_raw());
        _ = if waits { ptrace::syscall(task, signal) } else { ptrace::cont(task, signal) };
    }

    fn process(&self, task: Pid) -> i32 {
        self.tasks.get(&task.as_raw()).copied().unwrap_or(task.as_raw())
    }

    /// True if the task is new.
    fn meet(&mut self, task: Pid) -> bool {
        if self.tasks.contains_key(&task.as_raw()) {
            return false;
        }
        let status = fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default();
        let told = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let process = told.and_then(|number| number.trim().parse().ok()).unwrap_or(task.as_raw());
        self.tasks.insert(task.as_raw(), process);
        self.met += 1;
        if let Ok(mut alive) = self.alive.lock() {
            alive.push(task);
        }
        true
    }

    fn gone(&mut self, task: Pid, watcher: &mut impl Watcher) {
        self.tasks.remove(&task.as_raw());
        self.waiting.remove(&task.as_raw());
        self.held.retain(|held| *held != task);
        watcher.changed(task.as_raw());
        self.begin_held(watcher);
        if let Ok(mut alive) = self.alive.lock() {
            alive.retain(|known| *known != task);
        }
    }
}

fn kill(tasks: &Mutex<Vec<Pid>>) {
    if let Ok(tasks) = tasks.lock() {
        for task in tasks.iter() {
            _ = signal::kill(*task, Signal::SIGKILL);
        }
    }
}

/// Kills all that is recorded when the caller wants the recording to end.
fn kill_when_asked(
    stop: Arc<AtomicBool>,
    alive: Arc<Mutex<Vec<Pid>>>,
    done: Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        while !done.load(Ordering::Relaxed) {
            if stop.load(Ordering::Relaxed) {
                kill(&alive);
            }
            thread::sleep(LOOK);
        }
    })
}
