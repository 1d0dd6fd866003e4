//! A request as a trace records it, and the ranges in which recorded numbers are believed.

use nandlab::types::{Hint, HostOp, Nanos};

use crate::error::{BadRow, Problem};

/// Largest request that is believed: 1 GiB.
pub const REQUEST_BYTES_MAX: u64 = 1 << 30;
/// Largest address that is believed: 8 EiB.
pub const ADDRESS_BYTES_MAX: u64 = (1 << 63) - 1;
/// Largest first byte of a request that is believed: the longest request still ends below [`ADDRESS_BYTES_MAX`].
pub(crate) const OFFSET_MAX: u64 = ADDRESS_BYTES_MAX - REQUEST_BYTES_MAX;
/// Latest time that is believed: 584 years of nanoseconds, which hold the file times of Windows (from 1601) up to 2185.
pub const TIME_NS_MAX: u64 = u64::MAX;
const SECTOR: u64 = nandlab::types::SECTOR_BYTES;

/// One request as the trace records it: exact to the byte and the nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRecord {
    /// Time as recorded, from whatever zero the trace has.
    pub at: Nanos,
    /// First byte; its meaning for a flush is nothing.
    pub offset: u64,
    /// Bytes, at most [`REQUEST_BYTES_MAX`].
    pub length: u32,
    /// Device (disk, volume, ASU) as the trace numbers it: each has its own address space.
    pub device: u32,
    /// What is asked for.
    pub op: HostOp,
    /// What the host tells about it; all-default when the trace says nothing.
    pub hint: Hint,
    /// How long the recorded device took to answer, in ns; 0 = not recorded. Nothing is simulated from it.
    pub latency_ns: u64,
    /// Number of the process or thread that asked; 0 = not recorded.
    pub process: u32,
    /// Where in which file, and from where in which program; all-default when the trace says nothing.
    pub origin: Origin,
}

/// Where a request comes from, as a recorder saw it. All-zero = nothing known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Origin {
    /// The file, by its id in the [`Recording`](crate::Recording) of the trace; 0 = none or unknown.
    pub file: u32,
    /// First page of the file that the request touches, in pages of [`FILE_PAGE_BYTES`].
    pub file_page: u32,
    /// The call stack, by its id in the recording; 0 = unknown.
    pub stack: u32,
}

/// Size of the pages in which [`Origin::file_page`] counts: those of the host's page cache.
pub const FILE_PAGE_BYTES: u64 = 4096;

/// What requests carry besides time, device, operation, offset and length.
#[expect(clippy::struct_excessive_bools, reason = "columns, each there or not, independent of the others")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extra {
    /// [`TraceRecord::latency_ns`].
    pub latency: bool,
    /// [`TraceRecord::process`].
    pub process: bool,
    /// [`TraceRecord::hint`] except for its `mappings`.
    pub hints: bool,
    /// `mappings` of [`TraceRecord::hint`].
    pub mappings: bool,
    /// [`TraceRecord::origin`].
    pub origin: bool,
}

impl Extra {
    /// Nothing.
    pub const NONE: Self = Self { latency: false, process: false, hints: false, mappings: false, origin: false };
    /// The recorded latency.
    pub const LATENCY: Self = Self { latency: true, ..Self::NONE };
    /// The process.
    pub const PROCESS: Self = Self { process: true, ..Self::NONE };
    /// Latency and process.
    pub const BOTH: Self = Self { latency: true, process: true, ..Self::NONE };
    /// What the host tells, without mappings.
    pub const HINTS: Self = Self { hints: true, ..Self::NONE };
    /// All of it.
    pub const ALL: Self = Self { latency: true, process: true, hints: true, mappings: true, origin: true };

    /// What the one or the other has.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            latency: self.latency || other.latency,
            process: self.process || other.process,
            hints: self.hints || other.hints,
            mappings: self.mappings || other.mappings,
            origin: self.origin || other.origin,
        }
    }
}

impl TraceRecord {
    /// A request of device 0 that the host says nothing about; offset and length in bytes, time in ns.
    #[inline]
    pub fn plain(at: u64, op: HostOp, offset: u64, length: u64) -> Self {
        Self {
            at: Nanos(at),
            offset,
            length: length as u32,
            device: 0,
            op,
            hint: Hint::default(),
            latency_ns: 0,
            process: 0,
            origin: Origin::default(),
        }
    }
    /// A part of it: `length` bytes from `offset`, which lies in it. The page in the file moves along.
    #[must_use]
    pub(crate) fn part(&self, offset: u64, length: u64) -> Self {
        self.moved(offset - self.offset, offset, length)
    }
    /// A part of it, `skipped` bytes after its beginning, at another place.
    #[must_use]
    pub(crate) fn moved(&self, skipped: u64, offset: u64, length: u64) -> Self {
        let mut part = Self { offset, length: length as u32, ..*self };
        // Bytes of the request lie in the file as they do at its address, to the page.
        let within = self.offset % FILE_PAGE_BYTES + skipped;
        let pages = if self.origin.file == 0 { 0 } else { within / FILE_PAGE_BYTES };
        part.origin.file_page = self.origin.file_page.saturating_add(pages as u32);
        part
    }
    /// First sector that the request touches.
    #[inline]
    pub const fn lba(&self) -> u64 {
        self.offset / SECTOR
    }
    /// Sectors that it touches; 0 for a request of no length.
    #[inline]
    pub const fn sectors(&self) -> u32 {
        if self.length == 0 {
            return 0;
        }
        ((self.offset + self.length as u64).div_ceil(SECTOR) - self.lba()) as u32
    }
    /// First sector after it.
    #[inline]
    pub const fn end_lba(&self) -> u64 {
        self.lba() + self.sectors() as u64
    }
    /// It begins or ends inside a sector; a replay covers all sectors that it touches.
    #[inline]
    pub const fn is_rounded(&self) -> bool {
        !(self.offset | self.length as u64).is_multiple_of(SECTOR)
    }

    /// # Errors
    /// A number is outside the range in which our own forms believe it.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Box<BadRow>> {
        let good = self.device != u32::MAX && self.offset <= OFFSET_MAX && u64::from(self.length) <= REQUEST_BYTES_MAX;
        if good { Ok(()) } else { Err(self.out_of_range()) }
    }

    #[cold]
    #[allow(clippy::unnecessary_box_returns, reason = "what is wrong travels boxed: results stay small")]
    fn out_of_range(&self) -> Box<BadRow> {
        let numbers = [
            (u64::from(self.device), Field::DEVICE),
            (self.offset, Field::OFFSET),
            (u64::from(self.length), Field::LENGTH),
        ];
        let (value, field) = numbers.into_iter().find(|(value, field)| *value > field.max).unwrap_or(numbers[0]);
        BadRow::new(field.name, value.to_string().as_bytes(), Problem::TooLarge, field.allowed)
    }
}

/// What a row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Row {
    /// A request.
    Request(TraceRecord),
    /// Something that belongs to the format but asks for nothing: a header, a comment, an event of no interest.
    Other,
    /// A request of which the trace does not say what it asked for: passed over, and counted.
    Blank,
}

impl Row {
    /// A request given in sectors.
    #[inline]
    pub(crate) fn sectors(at: u64, device: u32, op: HostOp, lba: u64, sectors: u64) -> Self {
        Self::bytes(at, device, op, lba * SECTOR, sectors * SECTOR)
    }
    /// A request given in bytes.
    #[inline]
    pub(crate) fn bytes(at: u64, device: u32, op: HostOp, offset: u64, length: u64) -> Self {
        Self::Request(TraceRecord { device, ..TraceRecord::plain(at, op, offset, length) })
    }
    /// The same request with the latency of the recorded device.
    #[inline]
    pub(crate) fn after(self, latency_ns: u64) -> Self {
        match self {
            Self::Request(record) => Self::Request(TraceRecord { latency_ns, ..record }),
            other => other,
        }
    }
    /// The same request with the process that asked.
    #[inline]
    pub(crate) fn of(self, process: u64) -> Self {
        match self {
            Self::Request(record) => {
                Self::Request(TraceRecord { process: u32::try_from(process).unwrap_or(0), ..record })
            }
            other => other,
        }
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
    /// The columns of our own forms.
    pub(crate) const TIME_NS: Self = Self::new("time_ns", "nanoseconds, 0 to 18446744073709551615", TIME_NS_MAX);
    pub(crate) const DEVICE: Self = Self::device("device");
    pub(crate) const OFFSET: Self = Self::offset("offset");
    pub(crate) const LENGTH: Self = Self::length("length");
    pub(crate) const MAPPINGS: Self = Self::new("mappings", "a whole number, 0 to 65535", u16::MAX as u64);

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
        Self::new(name, "sectors of 512 bytes, 0 to 18014398507384831", OFFSET_MAX / SECTOR)
    }
    pub(crate) const fn sectors(name: &'static str) -> Self {
        Self::new(name, "sectors of 512 bytes, 0 to 2097152 (1 GiB)", REQUEST_BYTES_MAX / SECTOR)
    }
    pub(crate) const fn offset(name: &'static str) -> Self {
        Self::new(name, "bytes, 0 to 9223372035781033983", OFFSET_MAX)
    }
    pub(crate) const fn length(name: &'static str) -> Self {
        Self::new(name, "bytes, 0 to 1073741824 (1 GiB)", REQUEST_BYTES_MAX)
    }
    pub(crate) const fn small(name: &'static str) -> Self {
        Self::new(name, "a whole number, 0 to 4294967295", u32::MAX as u64)
    }
    pub(crate) const fn any(name: &'static str) -> Self {
        Self::new(name, "a whole number", u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_range_covers_every_sector_it_touches() {
        let sectors = |offset, length| match Row::bytes(0, 0, HostOp::Read, offset, length) {
            Row::Request(r) => (r.lba(), r.sectors(), r.is_rounded()),
            Row::Other | Row::Blank => unreachable!(),
        };
        assert_eq!(sectors(512, 1024), (1, 2, false));
        assert_eq!(sectors(511, 2), (0, 2, true));
        assert_eq!(sectors(700, 100), (1, 1, true));
        assert_eq!(sectors(700, 0), (1, 0, true));
    }

    #[test]
    fn fields_of_addresses_have_one_limit_and_say_it() {
        for (field, unit) in [(Field::offset("offset"), 1), (Field::lba("lba"), SECTOR)] {
            let request = |address: u64| TraceRecord::plain(0, HostOp::Read, address * unit, 0);
            assert!(request(field.max).check().is_ok() && request(field.max + 1).check().is_err());
            assert!(field.allowed.ends_with(&format!("0 to {}", field.max)), "{}", field.allowed);
        }
    }
}
