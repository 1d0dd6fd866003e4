//! Tells the patterns of program locations apart.
//!
//! # Source
//! URM (2022), section 4.2: looping is a run of consecutive pages that repeats, clustered hot repeats without a strong order,
//! sequential is consecutive and not repeated, random is the rest; judged by PC on logical pages of the file.
//!
//! # What it does
//! A request is *sequential* if it goes on with a stream of its file, if another goes on with it, or if it begins at the
//! first byte of the file; it is *repeated* if it touches a page that the same PC touched before. Every 16 requests of a PC
//! its pattern is judged again, with the latest 32 counting most: looping or clustered if at least 30 % are repeated, looping or
//! sequential if at least 50 % are sequential. Until the first judgement it is random.
//!
//! `run_pages` (the paper's `PC_len`) is what is left of the expected run: its PC's mean, or twice what there is once it is
//! longer, up to [`Patterns::longest`]. `period` (`PC_period`) is the mean number of requests of the host between two accesses
//! to a page.
//!
//! # Deviations and chosen readings
//! - Streams are those of a file and not of a PC: a program may read the first block of a file in one place and the rest in
//!   another, and both are sequential.
//! - A request that goes on within the page in which the last one ended does not repeat that page.
//! - A large request that is not followed by its neighbour is not sequential: its pages need no reading ahead.
//! - Tables have a fixed size ([`Patterns::BYTES`]). A loop over more pages than [`PAGES`] is a sequential stream to them.

use nandlab::types::{Hint, Pattern};
use nandlab_trace::FILE_PAGE_BYTES;

use crate::pages::TouchedPages;
use crate::programs::Program;
use crate::sets::Sets;
use crate::streams::Streams;

/// Program locations that are remembered.
const PROGRAMS: usize = 1024;
/// Streams that may go on.
const STREAMS: usize = 1024;
/// Touched pages that are remembered: 128 MiB of files.
const PAGES: usize = 1 << 15;
/// Pages of a request that are looked at.
const LOOKED_AT: u64 = 32;

/// An access to a file, as the host's system calls or its page cache make it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileAccess {
    /// The program location that asks; 0 = unknown.
    pub pc: u32,
    /// The file.
    pub file: u32,
    /// First byte in the file.
    pub offset: u64,
    /// Bytes; 0 for a flush.
    pub length: u64,
}

/// The patterns of program locations, learnt request by request.
#[derive(Clone, Debug)]
pub struct Patterns {
    programs: Sets<Program>,
    streams: Streams,
    pages: TouchedPages,
    /// Pages of an expected run at most.
    longest: u32,
    /// Requests of the host so far.
    tick: u32,
}

impl Patterns {
    /// Bytes of all tables: what a kernel would have to keep.
    pub const BYTES: usize = Sets::<Program>::bytes(PROGRAMS) + Streams::bytes(STREAMS) + TouchedPages::bytes(PAGES);
    /// Longest run that is announced unless told otherwise, in pages: the 128 KiB that Linux reads ahead at most.
    pub const LONGEST: u32 = 32;

    /// Nothing is known yet. `longest`: pages of an announced run at most.
    pub fn new(longest: u32) -> Self {
        Self {
            programs: Sets::new(PROGRAMS),
            streams: Streams::new(STREAMS),
            pages: TouchedPages::new(PAGES),
            longest,
            tick: 0,
        }
    }

    /// The program location, which is learnt if it is new.
    fn program(&mut self, pc: u32) -> Option<&mut Program> {
        if self.programs.find(pc, |_| true).is_none() {
            self.programs.add(pc, Program::default());
        }
        self.programs.find(pc, |_| true)
    }

    /// Learns from an access and tells what is known of its location. Nothing is known of accesses without a location.
    pub fn see(&mut self, access: &FileAccess) -> Hint {
        let FileAccess { pc, file, offset, length } = *access;
        // Tick 0 is that of no access.
        self.tick = self.tick.wrapping_add(1).max(1);
        if pc == 0 || length == 0 {
            return Hint { pc, ..Hint::default() };
        }
        let joined = self.streams.join(pc, file, offset, length);
        let stream = joined.stream;
        let first = offset / FILE_PAGE_BYTES + u64::from(joined.first_is_old);
        let end = (offset.saturating_add(length) - 1) / FILE_PAGE_BYTES + 1;
        let (mut is_repeated, mut since) = (false, None);
        for page in first..end.min(first + LOOKED_AT) {
            if let Some(before) = self.pages.touch(pc, file, page, self.tick) {
                is_repeated = true;
                since = since.or((page == first).then(|| self.tick.wrapping_sub(before)));
            }
        }
        if let Some(began) = joined.credit.and_then(|began| self.programs.find(began, |_| true)) {
            began.credit();
        }
        if stream.began != pc
            && let Some(began) = self.programs.find(stream.began, |_| true)
        {
            began.outgrow(stream.number, stream.pages);
        }
        let is_sequential = joined.continues || stream.credited;
        let longest = self.longest;
        let Some(program) = self.program(pc) else { return Hint::default() };
        program.run(stream.number, stream.pages);
        program.request(is_sequential, is_repeated, since);
        let pages = end.saturating_sub(offset / FILE_PAGE_BYTES) as u32;
        let left = program.expected_run().saturating_sub(stream.pages).saturating_add(pages);
        let run_pages = if program.pattern == Pattern::Random { 0 } else { left.min(longest) };
        Hint { pattern: program.pattern, pc, run_pages, period: program.period(), mappings: 0 }
    }
}
