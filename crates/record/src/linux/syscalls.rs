//! Level of system calls: turns those of a process tree into requests, by a model of the page cache.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use libc::user_regs_struct as Registers;
use nandlab::types::HostOp;
use nandlab_trace::{FileName, Recording, TraceRecord};
use nix::unistd::Pid;

use super::begun::{Access, Begun, begun};
use super::calls::{Call, call};
use super::files::{OpenFile, is_hidden, open_file};
use super::memory;
use super::stacks::Stacks;
use super::tree::{Beginning, Tree, Watcher};
use crate::cache::{Caller, FileRange, PageCache};
use crate::stack::{RawStack, STACK_BYTES};
use crate::{Ended, RecordCounts, RecordError, RecordOptions, RecordedCommand};

/// Bytes of the modelled page cache unless it is told otherwise.
const MODEL_BYTES: u64 = 64 << 20;

/// A system call that has begun.
struct Pending {
    begun: Begun,
    /// The file whose position or end it moves.
    moves: Option<Identity>,
    at_ns: u64,
    stack: RawStack,
}

/// What tells a file from all others, whatever it is called: file system, inode and generation.
type Identity = [u64; 3];

fn identity(name: &FileName) -> Identity {
    [name.device, name.inode, name.generation]
}

struct Calls {
    start: Instant,
    /// Files by what they are, where their system says when they were made: one that gets another name stays what it is.
    ids: BTreeMap<Identity, u32>,
    /// By task.
    pending: BTreeMap<i32, Pending>,
    stacks: Stacks,
    recording: Recording,
    cache: PageCache,
    requests: Vec<TraceRecord>,
    counts: RecordCounts,
    /// Files that were mapped as data, and those that were mapped as code (of which the loader maps data too).
    mapped: [BTreeSet<FileName>; 2],
    rings: u64,
    /// Reads and writes, of files or not, of processes that nobody may look into.
    hidden: u64,
}

/// Follows the command to the end of its last process.
pub(super) fn run(mut tree: Tree, options: &RecordOptions) -> Result<RecordedCommand, RecordError> {
    #[expect(clippy::disallowed_methods, reason = "when a program asks is what is recorded; nothing is simulated here")]
    let start = Instant::now();
    let mut calls = Calls {
        start,
        ids: BTreeMap::new(),
        pending: BTreeMap::new(),
        stacks: Stacks::new(options.folder.clone()),
        recording: Recording::default(),
        cache: PageCache::new(options.memory_limit.unwrap_or(MODEL_BYTES), options.read_ahead),
        requests: Vec::new(),
        counts: RecordCounts::default(),
        mapped: [BTreeSet::new(), BTreeSet::new()],
        rings: 0,
        hidden: 0,
    };
    let ended = tree.follow(&mut calls, &options.stop)?;
    calls.counts.tasks = tree.met();
    Ok(calls.finish(ended))
}

impl Watcher for Calls {
    fn begins(&mut self, task: Pid, process: i32, registers: &Registers) -> Beginning {
        let Some(call) = call(registers.orig_rax) else { return Beginning::Unwatched };
        let arguments = [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9];
        if call == Call::Map {
            self.map(task, process, arguments);
            return Beginning::Unwatched;
        }
        let Some(begun) = begun(task, call, arguments) else {
            let accesses =
                matches!(call, Call::Read(..) | Call::Write(..) | Call::WriteAs(..) | Call::Copy { .. } | Call::Submit);
            self.hidden += u64::from(accesses && is_hidden(task));
            return Beginning::Unwatched;
        };
        // Where it begins is known when all others have ended that move the same position or end. Calls that copy to a pipe or a
        // socket may wait for a task that would wait here: they hold nothing up.
        let moves = match (&begun, call) {
            (Begun::Accesses(accesses), Call::Read(..) | Call::Write(..) | Call::WriteAs(..)) => {
                accesses.iter().flatten().find(|access| access.moves).map(|access| identity(&access.file.name))
            }
            _ => None,
        };
        if moves.is_some() && self.pending.values().any(|other| other.moves == moves) {
            return Beginning::Later;
        }
        let needs_stack = matches!(begun, Begun::Accesses(_) | Begun::Sync(_) | Begun::Advise(..));
        let bytes = if needs_stack { memory::copy(task, registers.rsp, STACK_BYTES) } else { Vec::new() };
        let stack = RawStack { ip: registers.rip, sp: registers.rsp, bp: registers.rbp, bytes };
        self.pending.insert(task.as_raw(), Pending { begun, moves, at_ns: self.now(), stack });
        Beginning::Watched
    }

    fn ends(&mut self, task: Pid, process: i32, registers: &Registers) {
        let Some(pending) = self.pending.remove(&task.as_raw()) else { return };
        // Errors are negative.
        if let Ok(result) = u64::try_from(registers.rax.cast_signed()) {
            self.done(pending, process, result);
        }
    }

    fn leaves(&mut self, _: i32) {}

    fn changed(&mut self, process: i32) {
        self.stacks.forget(process);
        self.pending.remove(&process);
    }
}

impl Calls {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// A file is mapped into memory.
    fn map(&mut self, task: Pid, process: i32, arguments: [u64; 6]) {
        let is_code = arguments[2] & libc::PROT_EXEC as u64 != 0;
        if let Some(file) = open_file(task, arguments[4]) {
            self.mapped[usize::from(is_code)].insert(file.name);
        }
        if is_code {
            // What is loaded now is looked up when a stack leads there.
            self.stacks.forget(process);
        }
    }

    /// A call has succeeded: what it did is known.
    fn done(&mut self, pending: Pending, process: i32, result: u64) {
        let Pending { begun, at_ns, stack, .. } = pending;
        let caller = |stack| Caller { at_ns, process: process.cast_unsigned(), stack };
        match begun {
            Begun::Ring => self.rings += result,
            Begun::Named(name) => {
                let file = self.add_file(name);
                self.cache.set_named(file, true);
            }
            Begun::Forget(name) => {
                let file = self.add_file(name);
                self.cache.forget(file);
            }
            Begun::Discard(name, pages) => {
                let file = self.add_file(name);
                self.cache.discard(file, pages);
            }
            Begun::WriteBack(file, offset, length) => {
                let range = self.range(file, offset, length);
                self.cache.begin_write_back(&range, at_ns);
            }
            Begun::Advise(advice, file, offset, length) => {
                let caller = caller(self.stacks.unwind(&mut self.recording, process, &stack));
                let range = self.range(file, offset, length);
                self.cache.advise(advice, &range, caller);
            }
            Begun::Sync(name) => {
                let caller = caller(self.stacks.unwind(&mut self.recording, process, &stack));
                let file = name.map(|name| self.add_file(name));
                self.cache.sync(file, caller);
            }
            Begun::Accesses(accesses) => {
                let caller = caller(self.stacks.unwind(&mut self.recording, process, &stack));
                // Of requests that are handed over the result says how many were taken.
                let is_sure = |access: &Option<Access>| access.as_ref().is_none_or(|access| access.length.is_none());
                let taken = if accesses.iter().all(is_sure) { u64::MAX } else { result };
                for access in accesses.into_iter().take(usize::try_from(taken).unwrap_or(usize::MAX)).flatten() {
                    self.access(access, result, caller);
                }
            }
        }
        self.requests.append(&mut self.cache.take());
    }

    /// The id of a file: that of the name by which it was met first.
    fn add_file(&mut self, mut name: FileName) -> u32 {
        let identity = identity(&name);
        if let Some(id) = self.ids.get(&identity) {
            return *id;
        }
        name.path = self.stacks.name(&name.path);
        let can_be_told = name.generation != 0;
        let id = self.recording.add_file(name);
        if can_be_told {
            self.ids.insert(identity, id);
        }
        id
    }

    fn range(&mut self, file: OpenFile, offset: u64, length: u64) -> FileRange {
        let id = self.add_file(file.name);
        if !file.is_named {
            self.cache.set_named(id, false);
        }
        FileRange { file: id, offset, length, file_bytes: file.bytes }
    }

    fn access(&mut self, access: Access, result: u64, caller: Caller) {
        let Access { op, file, offset, length, .. } = access;
        let length = length.unwrap_or(result);
        if op == HostOp::Flush {
            let file = self.add_file(file.name);
            return self.cache.sync(Some(file), caller);
        }
        if length == 0 {
            return;
        }
        let (is_direct, is_sync) = (file.is(libc::O_DIRECT), file.is(libc::O_DSYNC));
        let range = self.range(file, offset, length);
        let is_write = op == HostOp::Write;
        *(if is_write { &mut self.counts.writes } else { &mut self.counts.reads }) += 1;
        match (is_direct, is_write) {
            (true, _) => self.cache.direct(op, &range, caller),
            (false, true) => self.cache.write(&range, caller),
            (false, false) => self.cache.read(&range, caller),
        }
        if is_write && is_sync {
            self.cache.sync(Some(range.file), caller);
        }
    }

    fn finish(mut self, ended: Ended) -> RecordedCommand {
        self.cache.finish(self.now());
        self.requests.append(&mut self.cache.take());
        // A call that began before another may have ended after it.
        self.requests.sort_by_key(|request| request.at);
        self.counts.cache = self.cache.counts();
        self.counts.stacks_cut_short = self.stacks.cut_short();
        let [data, code] = &self.mapped;
        let missing = [
            ("files mapped into memory, whose accesses are not system calls", data.difference(code).count() as u64),
            ("requests of io_uring, which are not system calls", self.rings),
            ("reads and writes of processes that hide what they have open (not dumpable)", self.hidden),
        ];
        RecordedCommand {
            requests: self.requests,
            recording: self.recording,
            counts: self.counts,
            missing: missing.into_iter().filter(|(_, n)| *n > 0).collect(),
            killed: 0,
            ended,
        }
    }
}
