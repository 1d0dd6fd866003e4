//! The system calls that matter, and what their arguments are.

/// Where the range of an access begins in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum At {
    /// At the position of the open file.
    Position,
    /// At the number in this argument, or at the position if that is -1.
    Argument(usize),
    /// At the number that this argument points to, or at the position if it is null.
    Pointer(usize),
}

/// What a system call is to a recorder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Call {
    /// It reads from the file descriptor in its argument.
    Read(usize, At),
    /// It writes to the file descriptor in its argument.
    Write(usize, At),
    /// The same with flags of its own (`RWF_*`) in the third number.
    WriteAs(usize, At, usize),
    /// It copies from one file descriptor to another: arguments of both.
    Copy { from: (usize, At), to: (usize, At) },
    /// It hands over requests of libaio.
    Submit,
    /// It makes a file durable.
    Sync,
    /// It makes all files durable.
    SyncAll,
    /// It maps a file into memory.
    Map,
    /// It opens a file, and cuts off all that is in it if the flags in their argument say so (no argument: always).
    Open {
        /// Argument that the name is relative to; none: the working folder.
        folder: Option<usize>,
        /// Argument of the name.
        name: usize,
        /// Argument of the flags.
        flags: Option<usize>,
    },
    /// It opens a file with the flags that its third argument points to.
    OpenHow,
    /// It gives the file of this name another length.
    Truncate,
    /// It gives a file another length.
    TruncateOpen,
    /// It gives a range of a file room, or takes it away.
    Allocate,
    /// It has a range of a file written back.
    WriteBack,
    /// It says how a range of a file will be used.
    Advise,
    /// It reads a range of a file into the page cache.
    ReadAhead,
    /// It removes the name in its second argument, relative to the folder in the first one.
    UnlinkAt,
    /// It removes the name in this argument.
    Unlink(usize),
    /// It gives the file of the name in its first argument that in the second one.
    Rename,
    /// The same with arguments folder, name, folder and name; `renameat2` has flags in the fifth.
    RenameAt {
        /// There are flags.
        has_flags: bool,
    },
    /// It gives a file another name, also one that has none (`O_TMPFILE`).
    Link,
    /// It hands over requests of `io_uring`.
    Ring,
}

/// System calls by number. `mmap`, and those that open files, have rules of their own in the filter.
pub(super) const CALLS: &[(i64, Call)] = &[
    (libc::SYS_read, Call::Read(0, At::Position)),
    (libc::SYS_readv, Call::Read(0, At::Position)),
    (libc::SYS_pread64, Call::Read(0, At::Argument(3))),
    (libc::SYS_preadv, Call::Read(0, At::Argument(3))),
    (libc::SYS_preadv2, Call::Read(0, At::Argument(3))),
    (libc::SYS_write, Call::Write(0, At::Position)),
    (libc::SYS_writev, Call::Write(0, At::Position)),
    (libc::SYS_pwrite64, Call::Write(0, At::Argument(3))),
    (libc::SYS_pwritev, Call::Write(0, At::Argument(3))),
    (libc::SYS_pwritev2, Call::WriteAs(0, At::Argument(3), 5)),
    (libc::SYS_sendfile, Call::Copy { from: (1, At::Pointer(2)), to: (0, At::Position) }),
    (libc::SYS_copy_file_range, Call::Copy { from: (0, At::Pointer(1)), to: (2, At::Pointer(3)) }),
    (libc::SYS_splice, Call::Copy { from: (0, At::Pointer(1)), to: (2, At::Pointer(3)) }),
    (libc::SYS_io_submit, Call::Submit),
    (libc::SYS_fsync, Call::Sync),
    (libc::SYS_fdatasync, Call::Sync),
    (libc::SYS_sync, Call::SyncAll),
    (libc::SYS_syncfs, Call::SyncAll),
    (libc::SYS_mmap, Call::Map),
    (libc::SYS_open, Call::Open { folder: None, name: 0, flags: Some(1) }),
    (libc::SYS_creat, Call::Open { folder: None, name: 0, flags: None }),
    (libc::SYS_openat, Call::Open { folder: Some(0), name: 1, flags: Some(2) }),
    (libc::SYS_openat2, Call::OpenHow),
    (libc::SYS_truncate, Call::Truncate),
    (libc::SYS_ftruncate, Call::TruncateOpen),
    (libc::SYS_fallocate, Call::Allocate),
    (libc::SYS_sync_file_range, Call::WriteBack),
    (libc::SYS_fadvise64, Call::Advise),
    (libc::SYS_readahead, Call::ReadAhead),
    (libc::SYS_unlink, Call::Unlink(0)),
    (libc::SYS_unlinkat, Call::UnlinkAt),
    (libc::SYS_rename, Call::Rename),
    (libc::SYS_renameat, Call::RenameAt { has_flags: false }),
    (libc::SYS_renameat2, Call::RenameAt { has_flags: true }),
    (libc::SYS_linkat, Call::Link),
    (libc::SYS_io_uring_enter, Call::Ring),
];

/// What a system call is, by its number.
pub(super) fn call(number: u64) -> Option<Call> {
    CALLS.iter().find(|(known, _)| *known as u64 == number).map(|(_, call)| *call)
}
