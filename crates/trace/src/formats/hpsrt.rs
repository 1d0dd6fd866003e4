//! HP SRT trace (I/O records of HP-UX): binary, big-endian, after a header of text that ends with a form feed (0x0C).
//!
//! - Each record: its size in bytes, id (high half version 1 to 4, low half type), seconds, microseconds, start, stop,
//!   length, sector, device, driver type, cylinder, flags, info, and in version 4 the queue length: 32-bit numbers.
//! - Arrival: seconds and microseconds after `tracedate` of the header. length: bytes. device: bits 8 to 15 are the disk.
//! - sector: in units of `sectorsize` of the header (256 bytes on many disks of 1992). `DiskSim` takes the number as it is.
//! - Type 1 is a request; type 4 (a suspect one, with one word more) asks for nothing here, as in `DiskSim`.
//! - flags: bit 0 set = read. Others (0x100 asynchronous, 0x01000000 synchronous) are not used.
//!
//! Source: `disksim_iotrace.c` and `disksim_hptrace.h` of `DiskSim` 4.0; the header of the trace.

use crate::buffer::{Buffer, Failure};
use crate::bytes::u32_be;
use crate::error::{BadRow, Problem};
use crate::registry::{BinaryParser, Format, Head, Parser, Sniff};
use crate::row::{ADDRESS_BYTES_MAX, Extra, REQUEST_BYTES_MAX, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "hpsrt",
    title: "HP SRT (binary, hplajw and snake)",
    extensions: &["srt"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Binary(Box::<Srt>::default()),
};

const MAGIC: &[u8] = b"$$TR_IOREC";
const FORM_FEED: u8 = 0x0C;
const REQUEST: u32 = 1;
const SUSPECT: u32 = 4;

fn sniff(head: &Head) -> Sniff {
    if head.bytes.starts_with(MAGIC) {
        return Sniff::Yes("because it begins with `$$TR_IOREC`".to_owned());
    }
    Sniff::No
}

#[derive(Default)]
struct Srt {
    /// Bytes of a sector, once the header is read.
    sector_bytes: u64,
}

impl Srt {
    fn header(&mut self, buffer: &mut Buffer) -> Result<(), Failure> {
        let wrong = |text: &[u8], problem, allowed: &str| BadRow::new("header", text, problem, allowed).into();
        let head = buffer.peek()?;
        let Some(end) = head.iter().position(|byte| *byte == FORM_FEED) else {
            return Err(wrong(head, Problem::CutOff, "text of at most 64 KiB that ends with a form feed"));
        };
        let text = String::from_utf8_lossy(&head[..end]).into_owned();
        let mut sizes = text.lines().filter_map(|line| line.trim().strip_prefix("sectorsize")).map(|rest| {
            let value = rest.trim_matches([' ', '\t', '=', ',', ';']);
            value.parse::<u64>().ok().filter(|bytes| (1..=65_536).contains(bytes)).ok_or(value)
        });
        let allowed = "`sectorsize = N`, 1 to 65536 bytes, the same for all disks";
        self.sector_bytes = match sizes.next() {
            Some(Ok(bytes)) => bytes,
            Some(Err(value)) => return Err(wrong(value.as_bytes(), Problem::NotANumber, allowed)),
            None => return Err(wrong(&[], Problem::Missing, allowed)),
        };
        if let Some(other) = sizes.find(|bytes| *bytes != Ok(self.sector_bytes)) {
            let other = other.map_or_else(str::to_owned, |bytes| bytes.to_string());
            return Err(wrong(other.as_bytes(), Problem::Unknown, allowed));
        }
        buffer.record(end + 1, "header").map(|_| ())
    }
}

impl BinaryParser for Srt {
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<Row>, Failure> {
        if self.sector_bytes == 0 {
            self.header(buffer)?;
        }
        let wrong = |field, value: u64, problem, allowed: &str| {
            Err(BadRow::new(field, value.to_string().as_bytes(), problem, allowed).into())
        };
        let Some(start) = buffer.record(8, "record")? else { return Ok(None) };
        let (size, id) = (u32_be(start, 0), u32_be(start, 4));
        let (version, kind) = (id >> 16, id & 0xFFFF);
        if !(1..=4).contains(&version) || !matches!(kind, REQUEST | SUSPECT) {
            return wrong(
                "record id",
                id.into(),
                Problem::Unknown,
                "version 1 to 4 in the high half, type 1 or 4 in the low",
            );
        }
        let expected = 4 * (13 + u32::from(version == 4) + u32::from(kind == SUSPECT));
        if size != expected {
            return wrong("record size", size.into(), Problem::Unknown, &format!("{expected} bytes for this id"));
        }
        let bytes = size as usize - 8;
        let Some(rest) = buffer.record(bytes, "record")? else {
            return Err(BadRow::new("record", &[], Problem::CutOff, format!("{bytes} more bytes")).into());
        };
        if kind == SUSPECT {
            return Ok(Some(Row::Other));
        }
        let word = |index: usize| u64::from(u32_be(rest, 4 * index));
        let (seconds, micros, length, sector, device, flags) = (word(0), word(1), word(4), word(5), word(6), word(9));
        let latency = word(3) * 1_000;
        if length > REQUEST_BYTES_MAX {
            return wrong("length", length, Problem::TooLarge, "bytes, 0 to 1073741824 (1 GiB)");
        }
        let offset = sector * self.sector_bytes;
        debug_assert!(offset <= ADDRESS_BYTES_MAX - REQUEST_BYTES_MAX, "32 bits of sectors of 64 KiB");
        let op = if flags & 1 == 1 { HostOp::Read } else { HostOp::Write };
        let at = seconds * 1_000_000_000 + micros * 1_000;
        Ok(Some(Row::bytes(at, (device >> 8 & 0xFF) as u32, op, offset, length).after(latency)))
    }
}
