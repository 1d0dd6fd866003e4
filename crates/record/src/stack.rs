//! From the copied bytes of a stack to frames.

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{FrameAddress, Unwinder as _};
use nandlab_trace::{Module, Recording, StackFrame, unless_panic};
use serde::{Deserialize, Serialize};

use crate::binary::{Binary, Bytes};
use crate::maps::Mapping;

/// Bytes of a stack that are copied: enough for at least five frames in all programs that were tried.
pub const STACK_BYTES: usize = 4096;
/// Frames of a stack that are told at most.
pub const FRAMES_MAX: usize = 24;

/// A stack as it was at a system call.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RawStack {
    /// Instruction pointer: after the system call.
    pub ip: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer, or whatever the register held.
    pub bp: u64,
    /// The bytes from the stack pointer on.
    pub bytes: Vec<u8>,
}

impl RawStack {
    fn word(&self, address: u64) -> Result<u64, ()> {
        let at = address.checked_sub(self.sp).and_then(|at| usize::try_from(at).ok()).ok_or(())?;
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk()).ok_or(())?;
        Ok(u64::from_le_bytes(*bytes))
    }
}

#[derive(Clone)]
struct Loaded {
    mapping: Mapping,
    bias: u64,
    /// Its id in the recording.
    id: u32,
}

/// Unwinds the stacks of one process.
#[derive(Clone)]
pub struct Unwinder {
    unwinder: UnwinderX86_64<Bytes>,
    loaded: Vec<Loaded>,
}

impl Default for Unwinder {
    fn default() -> Self {
        Self { unwinder: UnwinderX86_64::new(), loaded: Vec::new() }
    }
}

impl Unwinder {
    /// For a process with this code. `binary` gives what is known of a file, `recording` learns of all of them.
    pub fn new<T: AsRef<Binary>>(
        maps: &[Mapping],
        mut binary: impl FnMut(&str) -> T,
        recording: &mut Recording,
    ) -> Self {
        let mut made = Self::default();
        for mapping in maps {
            let binary = binary(&mapping.path);
            let binary = binary.as_ref();
            let module = Module { path: mapping.path.clone(), build: binary.build().to_owned() };
            let id = recording.add_module(module);
            made.loaded.push(Loaded { mapping: mapping.clone(), bias: binary.bias(mapping), id });
            // A damaged table is not a table.
            if let Some(module) = unless_panic(|| binary.module(mapping)) {
                made.unwinder.add_module(module);
            }
        }
        made
    }

    /// Whether an address lies in code of this process.
    pub fn knows(&self, address: u64) -> bool {
        self.loaded.iter().any(|loaded| loaded.mapping.addresses.contains(&address))
    }

    /// An address relative to its module, so that it is the same wherever that was loaded; code in no file is one place.
    fn relative(&self, address: u64) -> StackFrame {
        let found = self.loaded.iter().find(|loaded| loaded.mapping.addresses.contains(&address));
        found.map_or(StackFrame(0, 0), |loaded| StackFrame(loaded.id, address.wrapping_sub(loaded.bias)))
    }

    /// The frames of a stack, the innermost first, at most [`FRAMES_MAX`]; and whether it ended before its end was reached.
    pub fn frames(&self, stack: &RawStack, cache: &mut CacheX86_64) -> (Vec<StackFrame>, bool) {
        let registers = UnwindRegsX86_64::new(stack.ip, stack.sp, stack.bp);
        let mut read = |address| stack.word(address);
        let mut walk = self.unwinder.iter_frames(stack.ip, registers, cache, &mut read);
        let (mut frames, mut is_cut) = (Vec::new(), false);
        while frames.len() < FRAMES_MAX {
            // What the tables of a damaged file say may be anything.
            match unless_panic(|| walk.next()) {
                Some(Ok(Some(frame))) => frames.push(self.relative(FrameAddress::address(frame))),
                Some(Ok(None)) => break,
                Some(Err(_)) | None => {
                    is_cut = true;
                    break;
                }
            }
        }
        (frames, is_cut)
    }
}
