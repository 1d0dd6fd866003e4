//! Events as the programs in the kernel write them (`bpf/record.bpf.c`, `struct event`).

use crate::stack::RawStack;

/// What happened. Numbers that a program in the kernel does not fill are 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DeviceEvent {
    /// Nanoseconds of the monotonic clock.
    pub at_ns: u64,
    /// The process, if it is of the tree that is recorded, else 0.
    pub process: u32,
    /// The file; an inode of 0 is none.
    pub file: FileKey,
    /// What it was.
    pub what: DeviceWork,
}

/// How a kernel tells a file from all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FileKey {
    /// Device of its file system, as `major << 20 | minor`.
    pub device: u32,
    /// Its inode.
    pub inode: u64,
    /// Which of the files that had this inode.
    pub generation: u32,
}

/// What an event says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeviceWork {
    /// Pages of the file became dirty.
    Dirty {
        /// The first one.
        page: u64,
        /// How many.
        pages: u64,
        /// Who wrote.
        stack: RawStack,
    },
    /// A request is handed to a device.
    Request {
        /// `major << 20 | minor` of the device.
        target: u32,
        /// Operation and flags as the kernel has them (`blk_types.h`).
        operation: u32,
        /// First byte on the device.
        offset: u64,
        /// Bytes.
        length: u64,
        /// Where in the file the data are: the page, or for a direct access the byte at which it begins.
        place: u64,
        /// What tells one direct access from the next; 0 if it is none.
        direct: u64,
        /// Who handed it over, if it is of the tree.
        stack: RawStack,
    },
    /// The file has this name in its file system.
    Name(String),
}

/// Bytes of an event without what follows it.
const HEAD_BYTES: usize = 104;
/// Bytes of a part of a name.
const NAME_BYTES: usize = 64;
const SECTOR_BYTES: u64 = 512;
/// Pages that become dirty at a time, at most: 4 GiB. The largest folios of Linux have 2 MiB, or 1 GiB as huge pages.
const DIRTY_PAGES_MAX: u64 = 1 << 20;

impl DeviceEvent {
    /// Out of the bytes of an event; nothing if they are not one.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let long = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let file = FileKey { device: word(16)?, generation: word(20)?, inode: long(24)? };
        let (place, length, sector) = (long(32)?, long(40)?, long(48)?);
        let follows = usize::try_from(long(96)?).ok()?;
        let rest = bytes.get(HEAD_BYTES..)?;
        let stack = || {
            let bytes = rest.get(..follows.min(rest.len())).unwrap_or_default().to_vec();
            Some(RawStack { ip: long(72)?, sp: long(80)?, bp: long(88)?, bytes })
        };
        let what = match word(0)? {
            1 if length > DIRTY_PAGES_MAX || place.checked_add(length).is_none() => return None,
            1 => DeviceWork::Dirty { page: place, pages: length, stack: stack()? },
            2 => DeviceWork::Request {
                target: word(56)?,
                operation: word(60)?,
                offset: sector.checked_mul(SECTOR_BYTES)?,
                length,
                place,
                direct: long(64)?,
                stack: stack()?,
            },
            3 => {
                let parts = rest.chunks_exact(NAME_BYTES).take(follows);
                let parts: Vec<_> = parts
                    .map(|part| {
                        let end = part.iter().position(|byte| *byte == 0).unwrap_or(part.len());
                        String::from_utf8_lossy(&part[..end])
                    })
                    .collect();
                DeviceWork::Name(parts.iter().rev().fold(String::new(), |path, part| path + "/" + part))
            }
            _ => return None,
        };
        Some(Self { at_ns: long(8)?, process: word(4)?, file, what })
    }
}
