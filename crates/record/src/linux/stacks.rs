//! The call stacks of all processes that are recorded.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use foldhash::fast::FixedState;
use framehop::x86_64::CacheX86_64;
use hashbrown::HashMap;
use nandlab_trace::Recording;

use crate::binary::Binary;
use crate::maps::mappings;
use crate::stack::{RawStack, Unwinder};

/// Unwinds stacks. What is known of a process is looked up when a stack of it comes, and kept until it is forgotten.
#[derive(Default)]
pub(super) struct Stacks {
    folder: PathBuf,
    unwinders: BTreeMap<i32, Unwinder>,
    binaries: HashMap<String, Arc<Binary>, FixedState>,
    rules: CacheX86_64,
    cut: u64,
}

impl Stacks {
    /// Programs and files below this folder are named relative to it.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, ..Self::default() }
    }

    /// Stacks that ended where the copied bytes did, or where no frame could be told.
    pub fn cut_short(&self) -> u64 {
        self.cut
    }

    /// What a process has loaded is other than it was.
    pub fn forget(&mut self, process: i32) {
        self.unwinders.remove(&process);
    }

    /// How a file is called in the trace.
    pub fn name(&self, path: &str) -> String {
        let below = Path::new(path).strip_prefix(&self.folder).ok();
        below.map_or_else(|| path.to_owned(), |below| below.to_string_lossy().into_owned())
    }

    /// The id of a call stack.
    pub fn unwind(&mut self, recording: &mut Recording, process: i32, stack: &RawStack) -> u32 {
        if stack.bytes.is_empty() {
            return 0;
        }
        if !self.unwinders.get(&process).is_some_and(|unwinder| unwinder.knows(stack.ip)) {
            let mut maps = mappings(&fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default());
            for mapping in &mut maps {
                mapping.path = self.name(&mapping.path);
            }
            let Self { folder, binaries, .. } = self;
            let mut binary = |path: &str| {
                let read =
                    || Arc::new(fs::read(folder.join(path)).map(|bytes| Binary::parse(&bytes)).unwrap_or_default());
                binaries.entry_ref(path).or_insert_with(read).clone()
            };
            let unwinder = Unwinder::new(&maps, &mut binary, recording);
            self.unwinders.insert(process, unwinder);
        }
        let Some(unwinder) = self.unwinders.get(&process) else { return 0 };
        let (frames, is_cut) = unwinder.frames(stack, &mut self.rules);
        self.cut += u64::from(is_cut);
        recording.add_stack(frames)
    }
}
