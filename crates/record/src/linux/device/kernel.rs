//! The programs in the kernel.

use std::error::Error;
use std::path::Path;

use aya::maps::{Array, HashMap as KernelMap, MapData, RingBuf};
use aya::programs::RawTracePoint;
use aya::{Ebpf, include_bytes_aligned};
use nix::unistd::Pid;

use crate::RecordError;

/// What the kernel says of its own structures.
const BTF: &str = "/sys/kernel/btf/vmlinux";
/// Programs and the tracepoints that they are for.
const PROGRAMS: [(&str, &str); 4] = [
    ("dirty_folio", "writeback_dirty_folio"),
    ("bio_queue", "block_bio_queue"),
    ("process_fork", "sched_process_fork"),
    ("process_exit", "sched_process_exit"),
];

/// The programs, which run until this is dropped.
pub(super) struct Kernel(Ebpf);

/// The events that they write.
pub(super) struct Ring(RingBuf<MapData>);

impl Ring {
    /// Reads all that there are.
    pub fn each(&mut self, mut read: impl FnMut(&[u8])) {
        while let Some(bytes) = self.0.next() {
            read(&bytes);
        }
    }
}

/// An error with what caused it.
fn cannot(step: &str, error: &dyn Error) -> RecordError {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !reason.contains(&cause_text) {
            reason = format!("{reason}: {cause_text}");
        }
        source = cause.source();
    }
    RecordError::Kernel { step: step.to_owned(), reason }
}

impl Kernel {
    /// Loads the programs and lets them run.
    pub fn load() -> Result<Self, RecordError> {
        if !Path::new(BTF).exists() {
            let reason = "the kernel does not describe its structures (CONFIG_DEBUG_INFO_BTF)".to_owned();
            return Err(RecordError::Kernel { step: BTF.to_owned(), reason });
        }
        let object = include_bytes_aligned!("../../../bpf/record.bpf.o");
        let mut programs = Ebpf::load(object).map_err(|error| cannot("loading programs into the kernel", &error))?;
        for (name, tracepoint) in PROGRAMS {
            let failed = |error: &dyn Error| cannot(&format!("tracepoint {tracepoint}"), error);
            let Some(program) = programs.program_mut(name) else { continue };
            let program: &mut RawTracePoint =
                program.try_into().map_err(|error: aya::programs::ProgramError| failed(&error))?;
            program.load().map_err(|error| failed(&error))?;
            program.attach(tracepoint).map_err(|error| failed(&error))?;
        }
        Ok(Self(programs))
    }

    /// The events.
    pub fn ring(&mut self) -> Result<Ring, RecordError> {
        let map = self.0.take_map("events").ok_or_else(missing)?;
        Ok(Ring(RingBuf::try_from(map).map_err(|error| cannot("ring of events", &error))?))
    }

    /// Tells what this process does, and all that it will start.
    pub fn follow(&mut self, process: Pid) -> Result<(), RecordError> {
        let failed = |error: aya::maps::MapError| cannot("table of processes", &error);
        let map = self.0.map_mut("processes").ok_or_else(missing)?;
        let mut map: KernelMap<_, u32, u32> = KernelMap::try_from(map).map_err(failed)?;
        map.insert(process.as_raw().cast_unsigned(), 1, 0).map_err(failed)
    }

    /// Events that found no room.
    pub fn lost(&self) -> Result<u64, RecordError> {
        let failed = |error: aya::maps::MapError| cannot("count of lost events", &error);
        let map: Array<_, u64> = Array::try_from(self.0.map("lost").ok_or_else(missing)?).map_err(failed)?;
        map.get(&0, 0).map_err(failed)
    }
}

fn missing() -> RecordError {
    RecordError::Kernel { step: "bpf/record.bpf.o".to_owned(), reason: "it is another version".to_owned() }
}
