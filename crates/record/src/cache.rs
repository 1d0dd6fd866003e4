//! A model of the host's page cache: which of the reads and writes of programs reach the device, and when.
//!
//! - Pages of 4 KiB, least recently used first out, within a limit that stands for the memory of the host (or of its memory
//!   cgroup). Streams are read ahead as Linux does (`ahead.rs`), for each process and file.
//! - A write waits in the cache. Pages that are evicted, synchronised or left at the end are written back in the order of the
//!   file, neighbours in one request, which belongs to the last writer of its first page, whatever caused the write-back.
//! - A page that is written in part and exists in the file is read first. Pages of files that were deleted, cut off or punched
//!   out are dropped.
//! - What a program says of its accesses beforehand (`posix_fadvise`) counts for its process and the file from then on; Linux
//!   keeps it with the open file.
//! - Direct accesses bypass the cache, and those that write invalidate what it has of their pages. Without a limit nothing is
//!   cached: every access is a request as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use nandlab::types::HostOp;
use nandlab_trace::{FILE_PAGE_BYTES, Origin, REQUEST_BYTES_MAX, TraceRecord};

use crate::ahead::Ahead;
use crate::layout::Layout;

/// Pages of a request that is written back at most: 512 KiB.
const WRITE_BACK_PAGES: u64 = 128;

/// Pages that are read at most because a program says that it will need them: 1,280 KiB, the longest request of a device unless
/// Linux is told otherwise (`max_sectors_kb`).
const WANTED_PAGES: u64 = 320;

/// What a program says of its accesses to a range of a file (`posix_fadvise`, `readahead`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Advice {
    /// Nothing any more.
    Normal,
    /// They follow each other: windows are twice as long.
    Sequential,
    /// They do not: nothing is read ahead.
    Random,
    /// It will read the range soon.
    Needed,
    /// It will not use the range again.
    Unneeded,
}

/// Who accesses a file, from where, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Caller {
    /// Nanoseconds from the beginning.
    pub at_ns: u64,
    /// The process.
    pub process: u32,
    /// Its call stack, by its id in the recording.
    pub stack: u32,
}

/// Bytes of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileRange {
    /// The file, by its id in the recording.
    pub file: u32,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Bytes of the file before the access.
    pub file_bytes: u64,
}

/// What the model did, in pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageCacheCounts {
    /// Read by programs and present.
    pub hits: u64,
    /// Read by programs or written in part, and read from the device.
    pub misses: u64,
    /// Read from the device before a program asked for them.
    pub ahead: u64,
    /// Written by programs.
    pub written: u64,
    /// Written to the device.
    pub written_back: u64,
    /// Written by programs, and dropped with their file or the part of it.
    pub dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cached {
    used: u64,
    dirty: bool,
}

/// The model.
#[derive(Clone, Debug)]
pub struct PageCache {
    /// Pages it may hold.
    limit: usize,
    /// Pages that are read ahead at most.
    longest: u64,
    readers: HashMap<(u32, u32), Ahead, FixedState>,
    /// The same for a process and a file about which the process gave advice.
    longest_of: HashMap<(u32, u32), u64, FixedState>,
    pages: HashMap<(u32, u64), Cached, FixedState>,
    by_use: BTreeMap<u64, (u32, u64)>,
    dirty: BTreeMap<(u32, u64), Caller>,
    /// Files without a name: what waits of them is dropped in the end.
    gone: BTreeSet<u32>,
    uses: u64,
    /// Below all uses: pages that go first.
    coldest: u64,
    layout: Layout,
    out: Vec<TraceRecord>,
    counts: PageCacheCounts,
}

impl PageCache {
    /// An empty cache of this many bytes that reads ahead at most `ahead_bytes` (Linux: 128 KiB unless it is told otherwise).
    pub fn new(limit_bytes: u64, ahead_bytes: u64) -> Self {
        Self {
            limit: (limit_bytes / FILE_PAGE_BYTES) as usize,
            longest: ahead_bytes / FILE_PAGE_BYTES,
            readers: HashMap::default(),
            longest_of: HashMap::default(),
            pages: HashMap::default(),
            by_use: BTreeMap::new(),
            dirty: BTreeMap::new(),
            gone: BTreeSet::new(),
            uses: 1 << 63,
            coldest: 1 << 63,
            layout: Layout::default(),
            out: Vec::new(),
            counts: PageCacheCounts::default(),
        }
    }

    /// What it did so far.
    pub fn counts(&self) -> PageCacheCounts {
        self.counts
    }

    /// Bytes of a file go to or come from the device.
    fn emit(&mut self, op: HostOp, file: u32, mut offset: u64, mut length: u64, caller: Caller) {
        while length > 0 {
            let (page, within) = (offset / FILE_PAGE_BYTES, offset % FILE_PAGE_BYTES);
            let wanted = (within + length.min(REQUEST_BYTES_MAX)).div_ceil(FILE_PAGE_BYTES);
            let (place, in_a_row) = self.layout.place(file, page, wanted);
            let part = length.min(in_a_row * FILE_PAGE_BYTES - within).min(REQUEST_BYTES_MAX);
            let origin = Origin { file, file_page: u32::try_from(page).unwrap_or(u32::MAX), stack: caller.stack };
            let record = TraceRecord::plain(caller.at_ns, op, place * FILE_PAGE_BYTES + within, part);
            self.out.push(TraceRecord { process: caller.process, origin, ..record });
            offset += part;
            length -= part;
        }
    }

    fn emit_pages(&mut self, op: HostOp, file: u32, first: u64, pages: u64, caller: Caller) {
        self.emit(op, file, first * FILE_PAGE_BYTES, pages * FILE_PAGE_BYTES, caller);
    }

    /// A page is used; true if it was present.
    fn touch(&mut self, file: u32, page: u64) -> bool {
        self.uses += 1;
        let used = self.uses;
        let mut is_new = false;
        let cached = self.pages.entry((file, page)).or_insert_with(|| {
            is_new = true;
            Cached { used, dirty: false }
        });
        self.by_use.remove(&cached.used);
        cached.used = used;
        self.by_use.insert(used, (file, page));
        !is_new
    }

    /// Makes room for what is too much.
    fn shrink(&mut self, at_ns: u64) {
        while self.pages.len() > self.limit
            && let Some((_, (file, page))) = self.by_use.pop_first()
        {
            if self.pages.get(&(file, page)).is_some_and(|cached| cached.dirty) {
                self.write_back_around(file, page, at_ns);
            }
            self.pages.remove(&(file, page));
        }
    }

    /// Writes a dirty page back, and its dirty neighbours in the file with it.
    fn write_back_around(&mut self, file: u32, page: u64, at_ns: u64) {
        let is_dirty = |page: &u64| self.dirty.contains_key(&(file, *page));
        let before = (0..page).rev().take(WRITE_BACK_PAGES as usize).take_while(is_dirty).count() as u64;
        let after = (page..page.saturating_add(WRITE_BACK_PAGES)).take_while(is_dirty).count() as u64;
        self.write_back(file, page - before, page + after, at_ns);
    }

    /// Writes the dirty pages of a range of a file back.
    fn write_back(&mut self, file: u32, first: u64, end: u64, at_ns: u64) {
        let pages: Vec<(u64, Caller)> =
            self.dirty.range((file, first)..(file, end)).map(|((_, page), caller)| (*page, *caller)).collect();
        let runs = pages.chunk_by(|one, next| one.0 + 1 == next.0);
        for run in runs.flat_map(|run| run.chunks(WRITE_BACK_PAGES as usize)) {
            self.emit_pages(HostOp::Write, file, run[0].0, run.len() as u64, Caller { at_ns, ..run[0].1 });
        }
        self.counts.written_back += pages.len() as u64;
        for (page, _) in pages {
            self.clean(file, page);
        }
    }

    /// A page no longer waits to be written.
    fn clean(&mut self, file: u32, page: u64) {
        self.dirty.remove(&(file, page));
        if let Some(cached) = self.pages.get_mut(&(file, page)) {
            cached.dirty = false;
        }
    }

    /// The pages of a range.
    fn pages_of(&mut self, range: &FileRange) -> Range<u64> {
        self.layout.see(range.file, range.file_bytes.div_ceil(FILE_PAGE_BYTES));
        let end = range.offset.saturating_add(range.length);
        range.offset / FILE_PAGE_BYTES..end.div_ceil(FILE_PAGE_BYTES)
    }

    /// A program reads.
    pub fn read(&mut self, range: &FileRange, caller: Caller) {
        let pages = self.pages_of(range);
        if self.limit == 0 {
            return self.emit(HostOp::Read, range.file, range.offset, range.length, caller);
        }
        let end = range.file_bytes.div_ceil(FILE_PAGE_BYTES).max(pages.end);
        let key = (caller.process, range.file);
        let mut reader = self.readers.get(&key).copied().unwrap_or_default();
        let longest = self.longest_of.get(&key).copied().unwrap_or(self.longest);
        let missed = self.counts.misses;
        for page in pages.clone() {
            let window = if self.pages.contains_key(&(range.file, page)) {
                reader.hit(page, longest)
            } else {
                let is_there = |page: &u64| self.pages.contains_key(&(range.file, *page));
                let before = (0..page).rev().take(longest as usize).take_while(is_there).count() as u64;
                reader.miss(page, pages.end - page, before, longest)
            };
            self.load(range.file, window.start..window.end.min(end), pages.end, caller);
            self.touch(range.file, page);
        }
        reader.read_to(pages.end);
        self.readers.insert(key, reader);
        self.counts.hits += (pages.end - pages.start).saturating_sub(self.counts.misses - missed);
        self.shrink(caller.at_ns);
    }

    /// Reads those of a range of pages that are not there; the program asked for what lies before `asked_to`.
    fn load(&mut self, file: u32, pages: Range<u64>, asked_to: u64, caller: Caller) {
        let absent: Vec<u64> = pages.filter(|page| !self.pages.contains_key(&(file, *page))).collect();
        for run in absent.chunk_by(|one, next| one + 1 == *next) {
            self.emit_pages(HostOp::Read, file, run[0], run.len() as u64, caller);
        }
        for page in absent {
            *(if page < asked_to { &mut self.counts.misses } else { &mut self.counts.ahead }) += 1;
            self.touch(file, page);
        }
    }

    /// A program writes.
    pub fn write(&mut self, range: &FileRange, caller: Caller) {
        let pages = self.pages_of(range);
        if self.limit == 0 {
            return self.emit(HostOp::Write, range.file, range.offset, range.length, caller);
        }
        let end = range.offset.saturating_add(range.length);
        for page in pages {
            let begin = page * FILE_PAGE_BYTES;
            let is_whole = range.offset <= begin && (begin + FILE_PAGE_BYTES <= end || range.file_bytes <= end);
            let is_present = self.touch(range.file, page);
            if !is_present && !is_whole && begin < range.file_bytes {
                self.counts.misses += 1;
                self.emit_pages(HostOp::Read, range.file, page, 1, caller);
            }
            self.counts.written += 1;
            if let Some(cached) = self.pages.get_mut(&(range.file, page)) {
                cached.dirty = true;
            }
            self.dirty.insert((range.file, page), caller);
        }
        self.shrink(caller.at_ns);
    }

    /// A program reads or writes and bypasses the cache; what is cached of the range is written back before. What a write
    /// replaced is cached no longer.
    pub fn direct(&mut self, op: HostOp, range: &FileRange, caller: Caller) {
        let pages = self.pages_of(range);
        self.write_back(range.file, pages.start, pages.end, caller.at_ns);
        self.emit(op, range.file, range.offset, range.length, caller);
        if op == HostOp::Write && !self.pages.is_empty() {
            self.drop_pages(range.file, pages.collect());
        }
    }

    /// What was written of a file, or of all, must survive a power cut.
    pub fn sync(&mut self, file: Option<u32>, caller: Caller) {
        if let Some(file) = file {
            self.write_back(file, 0, u64::MAX, caller.at_ns);
        } else {
            self.finish(caller.at_ns);
        }
        let Caller { at_ns, process, stack } = caller;
        let origin = Origin { stack, ..Origin::default() };
        self.out.push(TraceRecord { process, origin, ..TraceRecord::plain(at_ns, HostOp::Flush, 0, 0) });
    }

    /// A program says how it will use a range of a file; a length of 0 reaches to the end.
    pub fn advise(&mut self, advice: Advice, range: &FileRange, caller: Caller) {
        let length = if range.length == 0 { u64::MAX } else { range.length };
        let pages = self.pages_of(&FileRange { length, ..*range });
        let key = (caller.process, range.file);
        match advice {
            Advice::Normal => _ = self.longest_of.remove(&key),
            Advice::Sequential => _ = self.longest_of.insert(key, 2 * self.longest),
            Advice::Random => _ = self.longest_of.insert(key, 0),
            Advice::Needed if self.limit > 0 => {
                let end = pages.end.min(range.file_bytes.div_ceil(FILE_PAGE_BYTES));
                let wanted = pages.start..end.min(pages.start.saturating_add(WANTED_PAGES));
                self.load(range.file, wanted, pages.start, caller);
                self.shrink(caller.at_ns);
            }
            Advice::Needed => {}
            Advice::Unneeded => {
                // Those that are dirty are on their way to the device now, and stay.
                let end = range.offset.saturating_add(length);
                // The last page of a file goes with its last byte.
                let whole_end = if end >= range.file_bytes { u64::MAX } else { end / FILE_PAGE_BYTES };
                let whole = range.offset.div_ceil(FILE_PAGE_BYTES)..whole_end;
                let clean = self.cached(range.file, whole).into_iter();
                let clean: Vec<u64> = clean.filter(|page| !self.dirty.contains_key(&(range.file, *page))).collect();
                self.drop_pages(range.file, clean);
                self.write_back(range.file, pages.start, pages.end, caller.at_ns);
            }
        }
    }

    /// What waits of a range of a file begins to be written; nothing waits for it.
    pub fn begin_write_back(&mut self, range: &FileRange, at_ns: u64) {
        let length = if range.length == 0 { u64::MAX } else { range.length };
        let pages = self.pages_of(&FileRange { length, ..*range });
        self.write_back(range.file, pages.start, pages.end, at_ns);
    }

    /// Pages of a file are cut off or punched out: what waits of them is dropped, and nothing of them is cached any more.
    pub fn discard(&mut self, file: u32, pages: Range<u64>) {
        let dropped = self.cached(file, pages);
        self.drop_pages(file, dropped);
    }

    /// A file loses its last name: what waits to be written is dropped. Its pages are still there for what has it open, and
    /// are the first to make room.
    pub fn forget(&mut self, file: u32) {
        self.gone.insert(file);
        let dirty: Vec<u64> = self.dirty.range((file, 0)..=(file, u64::MAX)).map(|((_, page), _)| *page).collect();
        self.counts.dropped += dirty.len() as u64;
        for page in dirty {
            self.clean(file, page);
        }
        // The system frees them when the last process that has it open closes it, which is not seen here.
        for page in self.cached(file, 0..u64::MAX) {
            self.coldest -= 1;
            let Some(cached) = self.pages.get_mut(&(file, page)) else { continue };
            self.by_use.remove(&cached.used);
            cached.used = self.coldest;
            self.by_use.insert(cached.used, (file, page));
        }
    }

    /// A file has a name, or none any more. What waits of one without a name is dropped in the end, unless it gets one.
    pub fn set_named(&mut self, file: u32, is_named: bool) {
        _ = if is_named { self.gone.remove(&file) } else { self.gone.insert(file) };
    }

    /// The pages of a range of a file that are cached.
    fn cached(&self, file: u32, pages: Range<u64>) -> Vec<u64> {
        self.pages.keys().filter(|(of, page)| *of == file && pages.contains(page)).map(|(_, page)| *page).collect()
    }

    fn drop_pages(&mut self, file: u32, pages: Vec<u64>) {
        for page in pages {
            self.counts.dropped += u64::from(self.dirty.remove(&(file, page)).is_some());
            if let Some(cached) = self.pages.remove(&(file, page)) {
                self.by_use.remove(&cached.used);
            }
        }
    }

    /// All that waits is written back, as a kernel does within half a minute; but not what no file has that can be opened again.
    pub fn finish(&mut self, at_ns: u64) {
        let mut files: Vec<u32> = self.dirty.keys().map(|(file, _)| *file).collect();
        files.dedup();
        for file in files {
            if self.gone.contains(&file) {
                self.forget(file);
            } else {
                self.write_back(file, 0, u64::MAX, at_ns);
            }
        }
    }

    /// The requests since the last time, in order.
    pub fn take(&mut self) -> Vec<TraceRecord> {
        std::mem::take(&mut self.out)
    }
}
