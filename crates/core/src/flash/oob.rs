//! The out-of-band area (OOB) of a page: what its program said about the contents.

use crate::types::Lpn;

/// What is written with a page (out-of-band area).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Oob {
    /// Host data or a translation page.
    pub kind: PageKind,
    /// LPN of a data page, number of a translation page.
    pub number: u32,
    /// Version of the content: taken when the host's data is accepted, kept by every copy. For translation pages the
    /// program sequence number serves.
    pub version: u64,
}

/// Kind of a programmed page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageKind {
    /// Host data.
    Data,
    /// Translation page.
    Map,
}

/// Number of a page that is erased (or skipped).
pub(super) const ERASED: u32 = u32::MAX;
/// Number of a page whose program was interrupted: programmed, but its CRC fails.
pub(super) const TORN: u32 = u32::MAX - 1;
/// Bit that tells a translation page from a data page.
const MAP_BIT: u32 = 1 << 31;

impl Oob {
    /// OOB of a data page.
    #[inline]
    pub const fn data(lpn: Lpn, version: u64) -> Self {
        Self { kind: PageKind::Data, number: lpn.0, version }
    }
    /// OOB of translation page `tpn`.
    #[inline]
    pub const fn map(tpn: u32) -> Self {
        Self { kind: PageKind::Map, number: tpn, version: 0 }
    }
    /// Kind and number in one word, below [`TORN`].
    #[inline]
    pub(super) const fn packed(self) -> u32 {
        match self.kind {
            PageKind::Data => self.number,
            PageKind::Map => self.number | MAP_BIT,
        }
    }
    /// The OOB of a word from [`Oob::packed`].
    #[inline]
    pub(super) const fn unpacked(word: u32, version: u64) -> Self {
        let kind = if word & MAP_BIT == 0 { PageKind::Data } else { PageKind::Map };
        Self { kind, number: word & !MAP_BIT, version }
    }
}
