//! blktrace binary: records of 48 bytes in the byte order of the machine that wrote them, each followed by its data.
//!
//! - u32 magic (0x65617407: 0x656174 and the version 7), u32 sequence, u64 time, u64 sector, u32 bytes, u32 action, u32
//!   pid, u32 device, u32 CPU, u16 error, u16 length of the data that follows (skipped).
//! - time: nanoseconds. sector: of 512 bytes. device: major * 1,048,576 + minor.
//! - action: its low byte is the event; of each request only one is read, `D` (issued to the driver) unless the option
//!   `event` asks for another: Q 1, G 4, D 7, C 8, I 12. Its high half tells what is asked for: 0x1 read, 0x2 write, 0x4
//!   flush, 0x2000 discard; 0x200 packet commands and 0x400 notes ask for nothing (a note with the wall clock has the
//!   low byte of `Q`). A flush with bytes is the write that follows it.
//! - Latency: from `D` to `C`, as in the format `blkparse`.
//! - blktrace writes a file for each CPU: name them all (they are merged by time); empty ones are passed over.
//! - After a bad record reading goes on at the next magic number.
//!
//! Source: `blktrace_api.h` of blktrace and of the Linux kernel.

use crate::buffer::{Buffer, Failure};
use crate::bytes::{u16_le, u32_le, u64_le};
use crate::error::{BadRow, Problem};
use crate::event::{BlockEvent, EventRole, Events};
use crate::registry::{BinaryParser, Format, Head, Parser, Sniff};
use crate::row::{Extra, Field, REQUEST_BYTES_MAX, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "blktrace",
    title: "blktrace (binary, one file per CPU)",
    extensions: &["0", "bin"],
    extra: Extra::BOTH,
    write: None,
    sniff,
    parser: |_| Parser::Binary(Box::<Blktrace>::default()),
};

const RECORD_BYTES: usize = 48;
const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
/// Bits of the action.
const WRITE: u32 = 2 << 16;
const FLUSH: u32 = 4 << 16;
const PACKET: u32 = 0x200 << 16;
const NOTE: u32 = 0x400 << 16;
const DISCARD: u32 = 0x2000 << 16;

/// The magic number in the byte order of the file: little-endian, or big-endian.
fn is_magic(number: u32) -> bool {
    number & 0xFFFF_FF00 == MAGIC
}

fn sniff(head: &Head) -> Sniff {
    match head.bytes.first_chunk::<4>() {
        Some(first) if is_magic(u32::from_le_bytes(*first)) || is_magic(u32::from_be_bytes(*first)) => {
            Sniff::Yes("because it begins with the magic number of blktrace".to_owned())
        }
        _ => Sniff::No,
    }
}

#[derive(Default)]
struct Blktrace {
    events: Events,
    /// The last record was bad: the next one is to be found.
    lost: bool,
}

/// The parts of a record that count.
struct Record {
    at: u64,
    process: u32,
    sector: u64,
    bytes: u64,
    action: u32,
    device: u32,
    data_bytes: usize,
}

fn record(bytes: &[u8]) -> Result<Record, Box<BadRow>> {
    let big = is_magic(u32_le(bytes, 0).swap_bytes());
    let u32_at = |at| if big { u32_le(bytes, at).swap_bytes() } else { u32_le(bytes, at) };
    let u64_at = |at| if big { u64_le(bytes, at).swap_bytes() } else { u64_le(bytes, at) };
    let magic = u32_at(0);
    if !is_magic(magic) {
        let shown = format!("{magic:#010x}");
        return Err(BadRow::new("magic", shown.as_bytes(), Problem::Unknown, "0x65617407 at the start of each record"));
    }
    if magic & 0xFF != VERSION {
        let shown = (magic & 0xFF).to_string();
        return Err(BadRow::new("version", shown.as_bytes(), Problem::Unknown, "version 7 of the records"));
    }
    let data_bytes = u16_le(bytes, 46);
    Ok(Record {
        at: u64_at(8),
        process: u32_at(32),
        sector: u64_at(16),
        bytes: u32_at(24).into(),
        action: u32_at(28),
        device: u32_at(36),
        data_bytes: usize::from(if big { data_bytes.swap_bytes() } else { data_bytes }),
    })
}

impl Blktrace {
    /// Passes over bytes up to the next magic number, or to the end.
    fn find_record(buffer: &mut Buffer) -> Result<(), Failure> {
        loop {
            let bytes = buffer.peek()?;
            let magic = |four: &[u8]| is_magic(u32_le(four, 0)) || is_magic(u32_le(four, 0).swap_bytes());
            let found = bytes.windows(4).position(magic);
            let (have, skip) = (bytes.len(), found.unwrap_or(bytes.len().saturating_sub(3)));
            buffer.record(skip, "record")?;
            if found.is_some() {
                return Ok(());
            }
            if have <= 3 {
                return buffer.record(have, "record").map(|_| ());
            }
        }
    }

    fn row(&mut self, record: &Record) -> Result<Row, Box<BadRow>> {
        let event = match record.action & 0xFF {
            _ if record.action & (PACKET | NOTE) != 0 => return Ok(Row::Other),
            1 => BlockEvent::Queue,
            4 => BlockEvent::Get,
            7 => BlockEvent::Issue,
            8 => BlockEvent::Complete,
            12 => BlockEvent::Insert,
            _ => return Ok(Row::Other),
        };
        let Some(role) = self.events.role(event) else { return Ok(Row::Other) };
        match Self::request(record) {
            // Of what is only compared with requests, nothing is lost if it is strange.
            Err(_) if role != EventRole::Request => Ok(Row::Other),
            row => Ok(role.play(row?)),
        }
    }

    fn request(record: &Record) -> Result<Row, Box<BadRow>> {
        let too_large = |field, value: u64, allowed| {
            Err(BadRow::new(field, value.to_string().as_bytes(), Problem::TooLarge, allowed))
        };
        if record.bytes > REQUEST_BYTES_MAX {
            return too_large("bytes", record.bytes, "bytes, 0 to 1073741824 (1 GiB)");
        }
        if record.sector > Field::lba("sector").max {
            return too_large("sector", record.sector, Field::lba("sector").allowed);
        }
        let op = match record.action {
            action if action & FLUSH != 0 && record.bytes == 0 => HostOp::Flush,
            action if action & DISCARD != 0 => HostOp::Trim,
            action if action & WRITE != 0 => HostOp::Write,
            _ => HostOp::Read,
        };
        let sector = if op == HostOp::Flush { 0 } else { record.sector };
        Ok(Row::bytes(record.at, record.device, op, sector * 512, record.bytes).of(record.process.into()))
    }
}

impl BinaryParser for Blktrace {
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<Row>, Failure> {
        if std::mem::take(&mut self.lost) {
            Self::find_record(buffer)?;
        }
        let Some(bytes) = buffer.record(RECORD_BYTES, "record")? else { return Ok(None) };
        let record = record(bytes).inspect_err(|_| self.lost = true)?;
        if record.data_bytes > 0 && buffer.record(record.data_bytes, "data of the record")?.is_none() {
            let allowed = format!("{} bytes of data after the record", record.data_bytes);
            return Err(BadRow::new("data of the record", &[], Problem::CutOff, allowed).into());
        }
        Ok(Some(self.row(&record)?))
    }

    fn events(&mut self) -> Option<&mut Events> {
        Some(&mut self.events)
    }
}
