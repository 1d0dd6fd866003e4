//! The program-counter indicator: from a call stack to a number that is the same in every run of the program.

use std::fmt;

use nandlab_trace::{Recording, StackFrame};
use serde::{Deserialize, Serialize};

/// How many frames are mixed, and how.
///
/// URM sums "approximately 5" return addresses in the kernel. Sums of absolute addresses differ from run to run where
/// programs are loaded at random addresses, so here an address is module and offset.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indicator {
    /// Frames that are mixed, from the innermost on; fewer if the stack ends.
    pub depth: usize,
    /// Which are passed over before.
    pub skip: SkippedFrames,
    /// How they become one number.
    pub mix: Mix,
}

/// Innermost frames that say nothing about the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkippedFrames {
    /// None, as in URM: of five frames three or four are then those of the C library's streams.
    None,
    /// Those in the C library and the dynamic linker, up to the first one that is not. If all are, none is skipped.
    #[default]
    Library,
}

/// How frames become one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// Their sum, as in URM: the same frames in another order are the same.
    Sum,
    /// A hash, in which order counts.
    #[default]
    Hash,
}

impl Default for Indicator {
    fn default() -> Self {
        Self { depth: 5, skip: SkippedFrames::default(), mix: Mix::default() }
    }
}

/// As the options of `nandlab trace hint` say it.
impl fmt::Display for Indicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skip = match self.skip {
            SkippedFrames::None => "none",
            SkippedFrames::Library => "library",
        };
        let mix = match self.mix {
            Mix::Sum => "sum",
            Mix::Hash => "hash",
        };
        write!(f, "--depth {} --skip {skip} --mix {mix}", self.depth)
    }
}

/// Beginnings of the names of files that hold the C library or the dynamic linker (glibc, musl) or are part of the kernel.
const LIBRARY: [&str; 7] = ["libc.so", "libc-", "ld-linux", "ld-", "ld.so", "libpthread", "[vdso]"];

/// Whether code is of the C library.
fn is_library(frame: StackFrame, recording: &Recording) -> bool {
    let module = recording.module(frame.0);
    module.is_some_and(|module| {
        let name = module.path.rsplit('/').next().unwrap_or(&module.path);
        LIBRARY.iter().any(|beginning| name.starts_with(beginning))
    })
}

impl Indicator {
    /// The frames that count, the innermost first.
    pub fn counted<'a>(&self, frames: &'a [StackFrame], recording: &Recording) -> &'a [StackFrame] {
        let skipped = match self.skip {
            SkippedFrames::None => 0,
            SkippedFrames::Library => frames.iter().position(|frame| !is_library(*frame, recording)).unwrap_or(0),
        };
        let counted = &frames[skipped..];
        &counted[..counted.len().min(self.depth)]
    }

    /// The PC of a call stack, the innermost frame first; 0 for one without frames, and only for that.
    pub fn pc(&self, frames: &[StackFrame], recording: &Recording) -> u32 {
        let counted = self.counted(frames, recording);
        let address = |frame: &StackFrame| (u64::from(frame.0) << 32).wrapping_add(frame.1);
        let mixed = match self.mix {
            Mix::Sum => counted.iter().map(address).fold(0, u64::wrapping_add),
            Mix::Hash => counted.iter().fold(0, |mixed, frame| crate::sets::spread(address(frame).wrapping_add(mixed))),
        };
        if counted.is_empty() { 0 } else { ((mixed >> 32) as u32 ^ mixed as u32).max(1) }
    }
}

#[cfg(test)]
mod tests {
    use nandlab_trace::Module;

    use super::*;

    fn recording() -> (Recording, [u32; 2]) {
        let mut recording = Recording::default();
        let paths = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/bin/cscope"];
        let modules = paths.map(|path| recording.add_module(Module { path: path.to_owned(), build: String::new() }));
        (recording, modules)
    }

    #[test]
    fn library_frames_are_passed_over_at_the_inner_end_only() {
        let (recording, [libc, own]) = recording();
        let frames =
            [StackFrame(libc, 1), StackFrame(libc, 2), StackFrame(own, 3), StackFrame(libc, 4), StackFrame(own, 5)];
        let counted = |depth, skip| {
            let frames = Indicator { depth, skip, ..Indicator::default() }.counted(&frames, &recording).to_vec();
            frames.iter().map(|frame| frame.1).collect::<Vec<_>>()
        };
        assert_eq!(counted(2, SkippedFrames::Library), [3, 4]);
        assert_eq!(counted(9, SkippedFrames::Library), [3, 4, 5]);
        assert_eq!(counted(2, SkippedFrames::None), [1, 2]);
        let all = Indicator::default();
        assert_eq!(all.counted(&frames[..2], &recording).len(), 2, "a program that is all library keeps its frames");
    }

    #[test]
    fn sum_is_blind_to_the_order_and_the_hash_is_not() {
        let (recording, [_, own]) = recording();
        let [one, two] = [[StackFrame(own, 16), StackFrame(own, 32)], [StackFrame(own, 32), StackFrame(own, 16)]];
        let pc = |mix, frames: &[StackFrame]| Indicator { mix, ..Indicator::default() }.pc(frames, &recording);
        assert_eq!(pc(Mix::Sum, &one), pc(Mix::Sum, &two));
        assert_ne!(pc(Mix::Hash, &one), pc(Mix::Hash, &two));
        assert_eq!(pc(Mix::Sum, &one), own.wrapping_mul(2) ^ 0x30, "module << 32, folded");
        assert_eq!((pc(Mix::Hash, &[]), pc(Mix::Sum, &[StackFrame(0, 0)])), (0, 1));
    }
}
