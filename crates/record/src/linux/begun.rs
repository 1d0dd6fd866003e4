//! A system call that has begun: which bytes of which files it is about to read or write. Positions and sizes are those
//! before it.

use std::ops::Range;

use nandlab::types::HostOp;
use nandlab_trace::{FILE_PAGE_BYTES, FileName};
use nix::unistd::Pid;

use super::calls::{At, Call};
use super::files::{OpenFile, last_name, linked_file, named_file, open_file};
use super::memory;
use crate::cache::Advice;

/// Requests of libaio that one call may hand over, at most: what is more is not looked at.
const SUBMITTED_MAX: u64 = 4096;
/// Bytes of a request of libaio in memory.
const SUBMITTED_BYTES: usize = 64;

/// Bytes of a file that are read or written if the call succeeds.
pub(super) struct Access {
    pub op: HostOp,
    pub file: OpenFile,
    pub offset: u64,
    /// How many bytes; nothing: as many as the call says when it ends. A flush has 0.
    pub length: Option<u64>,
    /// It begins at the position or at the end of the file, wherever that is when its turn comes.
    pub moves: bool,
}

/// What a system call does when it succeeds.
pub(super) enum Begun {
    /// These accesses. Of requests of libaio as many count as were taken, with those that are not accesses.
    Accesses(Vec<Option<Access>>),
    /// What was written is durable: of one file, or of all.
    Sync(Option<FileName>),
    /// This file gets a name.
    Named(FileName),
    /// This file loses its last name.
    Forget(FileName),
    /// These pages of a file are cut off or punched out.
    Discard(FileName, Range<u64>),
    /// What waits of a part of a file is to be written: first byte and bytes, 0 = to the end.
    WriteBack(OpenFile, u64, u64),
    /// The program says how it will use a part of a file.
    Advise(Advice, OpenFile, u64, u64),
    /// The requests of `io_uring` that the call took cannot be seen.
    Ring,
}

/// What a call is about to do; nothing if it does not concern a recorder.
pub(super) fn begun(task: Pid, call: Call, arguments: [u64; 6]) -> Option<Begun> {
    let access_as = |op, (descriptor, at): (usize, At), flags: i32| {
        let mut file = open_file(task, arguments[descriptor])?;
        let may_append = op == HostOp::Write && flags & libc::RWF_NOAPPEND == 0;
        let appends = may_append && (file.is(libc::O_APPEND) || flags & libc::RWF_APPEND != 0);
        file.flags |= opened_as(flags);
        let offset = match at {
            // Wherever a call says that it writes.
            _ if appends => Some(file.bytes),
            At::Position => None,
            At::Argument(at) => Some(arguments[at]).filter(|offset| *offset != u64::MAX),
            At::Pointer(at) if arguments[at] == 0 => None,
            At::Pointer(at) => memory::word(task, arguments[at]),
        };
        let moves = appends || offset.is_none();
        Some(Access { op, offset: offset.unwrap_or(file.position), file, length: None, moves })
    };
    let access = |op, place| access_as(op, place, 0);
    let some =
        |accesses: Vec<Option<Access>>| accesses.iter().any(Option::is_some).then_some(Begun::Accesses(accesses));
    let gone = |folder: Option<u64>, name: u64| Some(Begun::Forget(last(task, (folder, name))?));
    match call {
        Call::Read(descriptor, at) => some(vec![access(HostOp::Read, (descriptor, at))]),
        Call::Write(descriptor, at) => some(vec![access(HostOp::Write, (descriptor, at))]),
        Call::WriteAs(descriptor, at, flags) => {
            some(vec![access_as(HostOp::Write, (descriptor, at), arguments[flags] as i32)])
        }
        Call::Copy { from, to } => some(vec![access(HostOp::Read, from), access(HostOp::Write, to)]),
        Call::Submit => some(submitted(task, arguments[1], arguments[2])),
        Call::Sync => Some(Begun::Sync(Some(open_file(task, arguments[0])?.name))),
        Call::SyncAll => Some(Begun::Sync(None)),
        Call::Open { folder, name, flags } => {
            let cuts = flags.is_none_or(|flags| arguments[flags] & libc::O_TRUNC as u64 != 0);
            let name = cuts.then(|| memory::text(task, arguments[name])).flatten()?;
            cut(named_file(task, folder.map(|folder| arguments[folder]), &name), 0)
        }
        Call::OpenHow => {
            let cuts = memory::word(task, arguments[2])? & libc::O_TRUNC as u64 != 0;
            let name = cuts.then(|| memory::text(task, arguments[1])).flatten()?;
            cut(named_file(task, Some(arguments[0]), &name), 0)
        }
        Call::Truncate => cut(named_file(task, None, &memory::text(task, arguments[0])?), arguments[1]),
        Call::TruncateOpen => cut(open_file(task, arguments[0]).map(|file| file.name), arguments[1]),
        Call::Allocate => {
            let punches = arguments[1] & (libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_ZERO_RANGE) as u64 != 0;
            let end = arguments[2].saturating_add(arguments[3]);
            let pages = arguments[2].div_ceil(FILE_PAGE_BYTES)..end / FILE_PAGE_BYTES;
            Some(Begun::Discard(punches.then(|| open_file(task, arguments[0])).flatten()?.name, pages))
        }
        Call::WriteBack => {
            let writes = arguments[3] & u64::from(libc::SYNC_FILE_RANGE_WRITE) != 0;
            let file = writes.then(|| open_file(task, arguments[0])).flatten()?;
            Some(Begun::WriteBack(file, arguments[1], arguments[2]))
        }
        Call::Advise => {
            Some(Begun::Advise(advice(arguments[3])?, open_file(task, arguments[0])?, arguments[1], arguments[2]))
        }
        Call::ReadAhead => {
            Some(Begun::Advise(Advice::Needed, open_file(task, arguments[0])?, arguments[1], arguments[2]))
        }
        Call::Unlink(name) => gone(None, arguments[name]),
        Call::UnlinkAt => gone(Some(arguments[0]), arguments[1]),
        Call::Rename => replaced(task, (None, arguments[0]), (None, arguments[1])),
        // Two files that change their names keep what they have.
        Call::RenameAt { has_flags: true } if arguments[4] & u64::from(libc::RENAME_EXCHANGE) != 0 => None,
        Call::RenameAt { .. } => replaced(task, (Some(arguments[0]), arguments[1]), (Some(arguments[2]), arguments[3])),
        Call::Link => Some(Begun::Named(linked_file(task, arguments[0], &memory::text(task, arguments[1])?)?)),
        Call::Ring => (arguments[1] > 0).then_some(Begun::Ring),
        Call::Map => None,
    }
}

/// The file that a call names (folder, place of the name), if it has no other name.
fn last(task: Pid, (folder, name): (Option<u64>, u64)) -> Option<FileName> {
    last_name(task, folder, &memory::text(task, name)?)
}

/// A name goes from one file to another. A file that is given the name that it has loses nothing.
fn replaced(task: Pid, from: (Option<u64>, u64), to: (Option<u64>, u64)) -> Option<Begun> {
    let file = last(task, to)?;
    (last(task, from).as_ref() != Some(&file)).then_some(Begun::Forget(file))
}

/// The flag of an open file that says of all writes what these flags (`RWF_*`) say of one.
fn opened_as(flags: i32) -> i32 {
    if flags & (libc::RWF_DSYNC | libc::RWF_SYNC) == 0 { 0 } else { libc::O_DSYNC }
}

/// What a program says by the number of `posix_fadvise`. That data are used once (`POSIX_FADV_NOREUSE`) changes nothing that is
/// read or written.
fn advice(number: u64) -> Option<Advice> {
    Some(match number as i32 {
        libc::POSIX_FADV_NORMAL => Advice::Normal,
        libc::POSIX_FADV_SEQUENTIAL => Advice::Sequential,
        libc::POSIX_FADV_RANDOM => Advice::Random,
        libc::POSIX_FADV_WILLNEED => Advice::Needed,
        libc::POSIX_FADV_DONTNEED => Advice::Unneeded,
        _ => return None,
    })
}

/// A file that gets this many bytes: the pages beyond them.
fn cut(file: Option<FileName>, bytes: u64) -> Option<Begun> {
    Some(Begun::Discard(file?, bytes.div_ceil(FILE_PAGE_BYTES)..u64::MAX))
}

/// The accesses that a call of `io_submit` hands over (`struct iocb` of Linux, little-endian).
fn submitted(task: Pid, count: u64, pointers: u64) -> Vec<Option<Access>> {
    let pointer = |at: u64| memory::word(task, pointers.checked_add(8 * at)?);
    let one = |at: u64| {
        let bytes = memory::copy(task, pointer(at)?, SUBMITTED_BYTES);
        let long = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|b| u64::from_le_bytes(*b));
        let short = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|b| u16::from_le_bytes(*b));
        let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|b| u32::from_le_bytes(*b));
        let (buffer, number) = (long(24)?, long(32)?);
        let parts = || (0..number.min(1024)).map_while(|part| memory::word(task, buffer.checked_add(16 * part + 8)?));
        let mut file = open_file(task, u64::from(word(20)?))?;
        let (op, length) = match short(16)? {
            0 => (HostOp::Read, number),
            1 => (HostOp::Write, number),
            7 => (HostOp::Read, parts().fold(0, u64::saturating_add)),
            8 => (HostOp::Write, parts().fold(0, u64::saturating_add)),
            2 | 3 => (HostOp::Flush, 0),
            _ => return None,
        };
        let (flags, offset) = (word(12)?.cast_signed(), long(40)?);
        file.flags |= opened_as(flags);
        let appends = op == HostOp::Write && (file.is(libc::O_APPEND) || flags & libc::RWF_APPEND != 0);
        let offset = if appends { file.bytes } else { offset };
        // Nobody reads beyond the end.
        let left = if op == HostOp::Read { file.bytes.saturating_sub(offset) } else { u64::MAX };
        Some(Access { op, file, offset, length: Some(length.min(left)), moves: appends })
    };
    (0..count.min(SUBMITTED_MAX)).map(one).collect()
}
