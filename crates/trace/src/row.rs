//! A request as a trace records it, and the ranges in which recorded numbers are believed.

use nandlab::types::{HostOp, HostRequest, Nanos};

/// Largest request that is believed: 1 GiB.
pub const REQUEST_BYTES_MAX: u64 = 1 << 30;
/// Largest address that is believed: 8 EiB.
pub const ADDRESS_BYTES_MAX: u64 = (1 << 63) - 1;
const SECTOR: u64 = nandlab::types::SECTOR_BYTES;

/// One request as the trace records it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRecord {
    /// Time as recorded (in ns, from whatever zero the trace has), operation, first sector and sectors.
    pub request: HostRequest,
    /// Device (disk, volume, ASU) as the trace numbers it: each has its own address space.
    pub device: u32,
    /// The recorded bytes began or ended inside a sector; the request covers all sectors they touch.
    pub rounded: bool,
}

/// The same, small enough to be handed along by value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Raw {
    pub(crate) at: u64,
    pub(crate) lba: u64,
    pub(crate) sectors: u32,
    pub(crate) device: u32,
    pub(crate) op: HostOp,
    pub(crate) rounded: bool,
}

impl Raw {
    /// First sector after the request.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.lba + u64::from(self.sectors)
    }
    #[inline]
    pub(crate) fn record(&self) -> TraceRecord {
        let request = HostRequest::new(Nanos(self.at), self.op, self.lba, self.sectors);
        TraceRecord { request, device: self.device, rounded: self.rounded }
    }
}

/// What a row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Row {
    /// A request.
    Request(Raw),
    /// Something that belongs to the format but asks for nothing: a header, a comment, an event of no interest.
    Other,
}

impl Row {
    /// A request given in sectors.
    #[inline]
    pub(crate) fn sectors(at: u64, device: u32, op: HostOp, lba: u64, sectors: u64) -> Self {
        Self::Request(Raw { at, lba, sectors: sectors as u32, device, op, rounded: false })
    }
    /// A request given in bytes: it covers each sector that it touches.
    #[inline]
    pub(crate) fn bytes(at: u64, device: u32, op: HostOp, offset: u64, length: u64) -> Self {
        let lba = offset / SECTOR;
        let end = if length == 0 { lba } else { (offset + length).div_ceil(SECTOR) };
        let rounded = !(offset | length).is_multiple_of(SECTOR);
        Self::Request(Raw { at, lba, sectors: (end - lba) as u32, device, op, rounded })
    }
}

/// A field: its name in the manual, what is allowed in words, and the largest value.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) allowed: &'static str,
    pub(crate) max: u64,
}

impl Field {
    pub(crate) const fn new(name: &'static str, allowed: &'static str, max: u64) -> Self {
        Self { name, allowed, max }
    }
    pub(crate) const fn time(name: &'static str, allowed: &'static str) -> Self {
        Self::new(name, allowed, u64::MAX)
    }
    pub(crate) const fn device(name: &'static str) -> Self {
        Self::new(name, "a whole number, 0 to 4294967294", u32::MAX as u64 - 1)
    }
    pub(crate) const fn lba(name: &'static str) -> Self {
        Self::new(name, "sectors of 512 bytes, 0 to 18014398509481983", ADDRESS_BYTES_MAX / SECTOR)
    }
    pub(crate) const fn sectors(name: &'static str) -> Self {
        Self::new(name, "sectors of 512 bytes, 0 to 2097152 (1 GiB)", REQUEST_BYTES_MAX / SECTOR)
    }
    pub(crate) const fn offset(name: &'static str) -> Self {
        Self::new(name, "bytes, 0 to 2^63 - 1", ADDRESS_BYTES_MAX - REQUEST_BYTES_MAX)
    }
    pub(crate) const fn length(name: &'static str) -> Self {
        Self::new(name, "bytes, 0 to 1073741824 (1 GiB)", REQUEST_BYTES_MAX)
    }
    pub(crate) const fn any(name: &'static str) -> Self {
        Self::new(name, "a whole number", u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn does_a_byte_range_cover_every_sector_it_touches() {
        let sectors = |offset, length| match Row::bytes(0, 0, HostOp::Read, offset, length) {
            Row::Request(r) => (r.lba, r.sectors, r.rounded),
            Row::Other => unreachable!(),
        };
        assert_eq!(sectors(512, 1024), (1, 2, false));
        assert_eq!(sectors(511, 2), (0, 2, true));
        assert_eq!(sectors(700, 100), (1, 1, true));
        assert_eq!(sectors(700, 0), (1, 0, true));
    }
}
