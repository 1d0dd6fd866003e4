//! What an operation is for, as a scheduler sees it.

use serde::Serialize;

use crate::ledger::{CAUSES, Cause, OPS, Op};

/// Number of [`OpClass`]es.
pub const CLASSES: usize = 6;

/// Class of a flash operation, the most urgent first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OpClass {
    /// A translation page is read to look up a mapping.
    #[default]
    MapRead,
    /// A data page is read: for the host, to complete a page or block that is written, or ahead of the host.
    HostRead,
    /// A page from the buffer is programmed, padding included.
    HostWrite,
    /// A dirty mapping is evicted: its translation page is read and programmed.
    MapWrite,
    /// Garbage collection and merges, with the translation pages that they change.
    Collection,
    /// Wear levelling, relocation of disturbed blocks, recovery.
    Background,
}

/// By operation and cause: it is looked up for every operation.
const CLASS_OF: [[OpClass; CAUSES]; OPS] = {
    let mut classes = [[OpClass::MapRead; CAUSES]; OPS];
    let mut op = 0;
    while op < OPS {
        let mut cause = 0;
        while cause < CAUSES {
            classes[op][cause] = OpClass::find(Op::ALL[op], Cause::ALL[cause]);
            cause += 1;
        }
        op += 1;
    }
    classes
};

impl OpClass {
    /// All classes, the most urgent first.
    pub const ALL: [Self; CLASSES] =
        [Self::MapRead, Self::HostRead, Self::HostWrite, Self::MapWrite, Self::Collection, Self::Background];

    /// The class of an operation.
    #[inline]
    pub const fn of(op: Op, cause: Cause) -> Self {
        CLASS_OF[op as usize][cause as usize]
    }

    const fn find(op: Op, cause: Cause) -> Self {
        match (cause, op) {
            (Cause::MapMiss, Op::Read) => Self::MapRead,
            (Cause::Host | Cause::Pad | Cause::Prefetch, Op::Read) => Self::HostRead,
            (Cause::Host | Cause::Pad | Cause::Prefetch, _) => Self::HostWrite,
            (Cause::MapMiss | Cause::MapEvict, _) => Self::MapWrite,
            (Cause::Gc | Cause::Merge | Cause::MapUpdate | Cause::MapGc, _) => Self::Collection,
            (Cause::Wear | Cause::Refresh | Cause::Recover, _) => Self::Background,
        }
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        ["map read", "host read", "host write", "map write", "collection", "background"][self as usize]
    }

    /// A map read or host read, which may suspend what a die does.
    #[inline]
    pub const fn suspends_others(self) -> bool {
        (self as usize) < Self::HostWrite as usize
    }
}
