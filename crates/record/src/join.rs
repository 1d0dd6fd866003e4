//! From what the kernel tells to requests: each with its file, and with the call stack that caused it.
//!
//! A read and a direct access belong to the thread that hands them over. A write from the page cache is handed over by a
//! thread of the kernel, or by a call that makes something durable; it belongs to the writer that made its first page dirty.
//! Requests are neither joined nor split, and keep their order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use nandlab::types::HostOp;
use nandlab_trace::{FILE_PAGE_BYTES, FileName, Origin, REQUEST_BYTES_MAX, Recording, TraceRecord};

use crate::event::{DeviceEvent, DeviceWork, FileKey};
use crate::stack::RawStack;

/// Operations of the kernel (`blk_types.h`).
const OPERATION: u32 = 0xFF;
const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 2;
const DISCARD: u32 = 3;
const SECURE_ERASE: u32 = 5;
const WRITE_ZEROES: u32 = 9;

/// What was joined, and what could not be.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JoinCounts {
    /// Events by which pages became dirty.
    pub dirtied: u64,
    /// Requests that read.
    pub reads: u64,
    /// Requests that write.
    pub writes: u64,
    /// Writes of pages that several call stacks had made dirty: they belong to that of the first page.
    pub of_several: u64,
    /// Reads and writes of no file: metadata of a file system or the device itself.
    pub without_file: u64,
    /// Reads and writes without a call stack: of threads of the kernel on behalf of the program, as with `SQPOLL` of
    /// `io_uring`, or while a program begins and its stack is not there yet.
    pub without_stack: u64,
    /// Writes of others on any device, which are not in the trace.
    pub of_others: u64,
}

/// Joins events to requests, in the order in which they come.
#[derive(Debug, Default)]
pub struct Joiner {
    /// Who made a page dirty.
    owners: BTreeMap<(FileKey, u64), (u32, u32)>,
    names: BTreeMap<FileKey, String>,
    mounts: BTreeMap<u32, String>,
    folder: PathBuf,
    files: BTreeMap<FileKey, u32>,
    /// Devices in the order in which they are met.
    devices: BTreeMap<u32, u32>,
    /// The direct access that the last request was of: its name, where it began, the end of the request on the device, and
    /// how much of it was handed over.
    direct: (u64, u64, u64, u64),
    begin: Option<u64>,
    counts: JoinCounts,
}

impl Joiner {
    /// With file systems that are mounted at these places, by device. Files below the folder are named relative to it.
    pub fn new(mounts: BTreeMap<u32, String>, folder: PathBuf) -> Self {
        Self { mounts, folder, ..Self::default() }
    }

    /// What was joined so far.
    pub fn counts(&self) -> JoinCounts {
        self.counts
    }

    /// An event happened: the request that it is, if it is one of the tree. `unwind` gives the call stack of a process an id.
    pub fn event(
        &mut self,
        event: DeviceEvent,
        recording: &mut Recording,
        mut unwind: impl FnMut(&mut Recording, u32, &RawStack) -> u32,
    ) -> Option<TraceRecord> {
        let DeviceEvent { at_ns, process, file, what } = event;
        let begin = *self.begin.get_or_insert(at_ns);
        match what {
            DeviceWork::Name(name) => {
                self.names.insert(file, name);
                None
            }
            DeviceWork::Dirty { page, pages, stack } => {
                self.counts.dirtied += 1;
                let stack = unwind(recording, process, &stack);
                for page in (page..).take(usize::try_from(pages).unwrap_or(usize::MAX)) {
                    self.owners.insert((file, page), (process, stack));
                }
                None
            }
            DeviceWork::Request { target, operation, offset, length, place, direct, stack } => {
                let op = match operation & OPERATION {
                    READ => HostOp::Read,
                    WRITE if length > 0 => HostOp::Write,
                    WRITE_ZEROES => HostOp::Write,
                    WRITE | FLUSH => HostOp::Flush,
                    DISCARD | SECURE_ERASE => HostOp::Trim,
                    _ => return None,
                };
                let place = if direct == 0 {
                    place.saturating_mul(FILE_PAGE_BYTES)
                } else {
                    self.direct_place(direct, place, offset, length)
                };
                let owner = if op == HostOp::Write && direct == 0 { self.owner(file, place, length) } else { None };
                let by_itself = (process != 0).then(|| (process, unwind(recording, process, &stack)));
                let Some((process, stack)) = owner.or(by_itself) else {
                    self.counts.of_others += 1;
                    return None;
                };
                let id = if file.inode == 0 { 0 } else { self.file(file, recording) };
                if length > 0 && matches!(op, HostOp::Read | HostOp::Write) {
                    *(if op == HostOp::Read { &mut self.counts.reads } else { &mut self.counts.writes }) += 1;
                    self.counts.without_file += u64::from(self.is_metadata(file));
                    self.counts.without_stack += u64::from(stack == 0);
                }
                let page = u32::try_from(place / FILE_PAGE_BYTES).unwrap_or(u32::MAX);
                let devices = self.devices.len() as u32;
                let offset = if op == HostOp::Flush { 0 } else { offset };
                let at = at_ns.saturating_sub(begin);
                Some(TraceRecord {
                    device: *self.devices.entry(target).or_insert(devices),
                    process,
                    origin: Origin { file: id, file_page: if id == 0 { 0 } else { page }, stack },
                    ..TraceRecord::plain(at, op, offset, length.min(REQUEST_BYTES_MAX))
                })
            }
        }
    }

    /// It is not a file that has a name. That of the file of a block device, in which file systems keep their metadata, is empty.
    fn is_metadata(&self, file: FileKey) -> bool {
        self.names.get(&file).is_none_or(String::is_empty)
    }

    /// Where in the file a request of a direct access begins: a long access has several requests, one after the other.
    fn direct_place(&mut self, direct: u64, begin: u64, offset: u64, length: u64) -> u64 {
        let (last, begun, end, done) = self.direct;
        let done = if (last, begun, end) == (direct, begin, offset) { done } else { 0 };
        self.direct = (direct, begin, offset.saturating_add(length), done.saturating_add(length));
        begin.saturating_add(done)
    }

    /// Who made the pages of a write dirty; they are clean now.
    fn owner(&mut self, file: FileKey, place: u64, length: u64) -> Option<(u32, u32)> {
        let (first, end) = (place / FILE_PAGE_BYTES, place.saturating_add(length).div_ceil(FILE_PAGE_BYTES));
        let pages: Vec<u64> = self.owners.range((file, first)..(file, end)).map(|((_, page), _)| *page).collect();
        let owners: Vec<(u32, u32)> = pages.iter().filter_map(|page| self.owners.remove(&(file, *page))).collect();
        self.counts.of_several += u64::from(owners.iter().any(|owner| *owner != owners[0]));
        owners.first().copied()
    }

    /// The id of a file.
    fn file(&mut self, key: FileKey, recording: &mut Recording) -> u32 {
        let Self { files, names, mounts, folder, .. } = self;
        *files.entry(key).or_insert_with(|| {
            let FileKey { device, inode, generation } = key;
            // What has no name is metadata of the file system: the device as a file.
            let path = match (names.get(&key), mounts.get(&device)) {
                (Some(name), Some(place)) if !name.is_empty() && place != "/" => format!("{place}{name}"),
                (Some(name), _) if !name.is_empty() => name.clone(),
                _ => "[metadata]".to_owned(),
            };
            let path = Path::new(&path)
                .strip_prefix(folder)
                .map_or(path.clone(), |below| below.to_string_lossy().into_owned());
            let (device, generation) = (u64::from(device), u64::from(generation));
            recording.add_file(FileName { path, device, inode, generation })
        })
    }
}
