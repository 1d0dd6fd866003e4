//! Level of devices: what a process tree makes block devices do, as programs in the kernel tell it (`bpf/record.bpf.c`).
//!
//! ptrace stops the tree only where a program begins, loads code or ends, so that what a stack needs to be unwound can be
//! seen until the last event of a process has been read.

mod cgroup;
mod kernel;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use libc::user_regs_struct as Registers;
use nandlab_trace::{Recording, TraceRecord};
use nix::unistd::{Pid, sync};

use super::stacks::Stacks;
use super::tree::{Beginning, Tree, Watcher};
use crate::event::DeviceEvent;
use crate::join::Joiner;
use crate::maps::mounts;
use crate::{RecordCounts, RecordError, RecordOptions, RecordedCommand};
use cgroup::MemoryGroup;
use kernel::{Kernel, Ring};

/// How often events are read while the tree runs: the ring holds what thousands of requests make.
const READ: Duration = Duration::from_millis(2);

/// Where file systems are mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Events become requests.
struct Collector {
    ring: Ring,
    joiner: Joiner,
    stacks: Stacks,
    recording: Recording,
    requests: Vec<TraceRecord>,
    /// Events that could not be read.
    damaged: u64,
}

impl Collector {
    /// Reads all events that there are.
    fn read(&mut self) {
        let Self { ring, joiner, stacks, recording, requests, damaged } = self;
        ring.each(|bytes| match DeviceEvent::parse(bytes) {
            Some(event) => {
                let request = joiner.event(event, recording, |recording, process, stack| {
                    stacks.unwind(recording, process.cast_signed(), stack)
                });
                requests.extend(request);
            }
            None => *damaged += 1,
        });
    }
}

/// The collector, which the thread that follows the tree and the one that reads events share.
#[derive(Clone)]
struct Shared(Arc<Mutex<Collector>>);

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Collector> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All that a process did so far is read with what it has loaded now.
    fn settle(&self, process: i32) {
        let mut collector = self.lock();
        collector.read();
        collector.stacks.forget(process);
    }
}

impl Watcher for Shared {
    fn begins(&mut self, _: Pid, process: i32, _: &Registers) -> Beginning {
        self.settle(process);
        Beginning::Unwatched
    }

    fn ends(&mut self, _: Pid, _: i32, _: &Registers) {}

    fn leaves(&mut self, process: i32) {
        self.settle(process);
    }

    fn changed(&mut self, process: i32) {
        self.lock().stacks.forget(process);
    }
}

/// Follows the command to the end of its last process, and until all that it wrote is on the device.
pub(super) fn run(
    start: impl FnOnce() -> Result<Tree, RecordError>,
    options: &RecordOptions,
) -> Result<RecordedCommand, RecordError> {
    let mut kernel = Kernel::load()?;
    let group = options.memory_limit.map(MemoryGroup::create).transpose()?;
    let collector = Collector {
        ring: kernel.ring()?,
        joiner: Joiner::new(mounts(&fs::read_to_string(MOUNTS).unwrap_or_default()), options.folder.clone()),
        stacks: Stacks::new(options.folder.clone()),
        recording: Recording::default(),
        requests: Vec::new(),
        damaged: 0,
    };
    let mut tree = start()?;
    kernel.follow(tree.root())?;
    if let Some(group) = &group {
        group.take(tree.root())?;
    }
    let mut shared = Shared(Arc::new(Mutex::new(collector)));
    let done = Arc::new(AtomicBool::new(false));
    let reader = {
        let (shared, done) = (shared.clone(), done.clone());
        thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                shared.lock().read();
                thread::sleep(READ);
            }
        })
    };
    let ended = tree.follow(&mut shared, &options.stop);
    // What the tree wrote and is not on the device yet goes there now.
    sync();
    done.store(true, Ordering::Relaxed);
    _ = reader.join();
    let mut collector = shared.lock();
    collector.read();
    let lost = kernel.lost()? + collector.damaged;
    let joined = collector.joiner.counts();
    let missing = [("events that the kernel had no room for", lost)];
    Ok(RecordedCommand {
        requests: std::mem::take(&mut collector.requests),
        recording: std::mem::take(&mut collector.recording),
        counts: RecordCounts {
            tasks: tree.met(),
            reads: joined.reads,
            writes: joined.writes,
            stacks_cut_short: collector.stacks.cut_short(),
            joined,
            ..RecordCounts::default()
        },
        missing: missing.into_iter().filter(|(_, n)| *n > 0).collect(),
        killed: group.as_ref().map_or(0, MemoryGroup::killed),
        ended: ended?,
    })
}
