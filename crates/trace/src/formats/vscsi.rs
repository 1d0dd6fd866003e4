//! `CloudPhysics` vscsi trace: binary, little-endian records of 32 bytes (version 1) or 40 bytes (version 2).
//!
//! - Version 1: serial number u32, length u32, scatter-gather elements u32, command u16, version u16, block u64, time u64.
//! - Version 2: command u16, version u16, serial number u32, length u32, elements u32, block u64, time u64, latency u64.
//! - length: bytes. block: sectors of 512 bytes. time: microseconds. One device per file.
//! - command: SCSI operation code; READ and WRITE of 6, 10, 12 and 16 bytes and SYNCHRONIZE CACHE are replayed, others
//!   ask for nothing. The high byte of version is 1 or 2 and tells the two layouts apart.
//!
//! Source: `vscsi.h` of libCacheSim.

use crate::buffer::{Buffer, Failure};
use crate::bytes::{u16_le, u32_le, u64_le};
use crate::error::{BadRow, Problem};
use crate::registry::{BinaryParser, Format, Head, Parser, Sniff};
use crate::row::{Extra, Field, REQUEST_BYTES_MAX, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "vscsi",
    title: "CloudPhysics vscsi (binary)",
    extensions: &["vscsi"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Binary(Box::<Vscsi>::default()),
};

const BYTES_V1: usize = 32;
const BYTES_V2: usize = 40;

/// Size of the records, decided by the version fields of the first ones.
fn record_bytes(head: &[u8]) -> Option<usize> {
    let all = |bytes: usize, at: usize, version: u16| {
        let mut records = head.chunks_exact(bytes).take(64).peekable();
        records.peek().is_some() && records.all(|r| u16_le(r, at) >> 8 == version)
    };
    if all(BYTES_V1, 14, 1) {
        Some(BYTES_V1)
    } else if all(BYTES_V2, 2, 2) {
        Some(BYTES_V2)
    } else {
        None
    }
}

fn sniff(head: &Head) -> Sniff {
    // Text never matches: a version field of 1 or 2 in the high byte is a control character.
    match record_bytes(head.bytes) {
        Some(bytes) => Sniff::Yes(format!("because its records of {bytes} bytes all hold the version number of vscsi")),
        None => Sniff::No,
    }
}

#[derive(Default)]
struct Vscsi {
    bytes: usize,
}

impl BinaryParser for Vscsi {
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<Row>, Failure> {
        if self.bytes == 0 {
            self.bytes = record_bytes(buffer.peek()?).unwrap_or(BYTES_V1);
        }
        let first = self.bytes == BYTES_V1;
        let Some(record) = buffer.record(self.bytes, "record")? else { return Ok(None) };
        let (command, version, length) = if first {
            (u16_le(record, 12), u16_le(record, 14), u32_le(record, 4))
        } else {
            (u16_le(record, 0), u16_le(record, 2), u32_le(record, 8))
        };
        let number = |value: u64| value.to_string().into_bytes();
        if version >> 8 != if first { 1 } else { 2 } {
            let text = number(u64::from(version));
            return Err(BadRow::new("version", &text, Problem::Unknown, "high byte 1 or 2, the same throughout").into());
        }
        let op = match command {
            0x08 | 0x28 | 0xA8 | 0x88 => HostOp::Read,
            0x0A | 0x2A | 0xAA | 0x8A => HostOp::Write,
            0x35 | 0x91 => HostOp::Flush,
            _ => return Ok(Some(Row::Other)),
        };
        let (block, time_us) = (u64_le(record, 16), u64_le(record, 24));
        let Some(at) = time_us.checked_mul(1_000) else {
            return Err(
                BadRow::new("time", &number(time_us), Problem::TooLarge, "microseconds, 0 to 2^64 / 1000").into()
            );
        };
        if op == HostOp::Flush {
            return Ok(Some(Row::sectors(at, 0, op, 0, 0)));
        }
        if u64::from(length) > REQUEST_BYTES_MAX {
            return Err(BadRow::new("length", &number(length.into()), Problem::TooLarge, "bytes, 0 to 1 GiB").into());
        }
        if block > Field::lba("block").max {
            return Err(BadRow::new("block", &number(block), Problem::TooLarge, Field::lba("block").allowed).into());
        }
        let latency = if first { 0 } else { u64_le(record, 32).saturating_mul(1_000) };
        Ok(Some(Row::bytes(at, 0, op, block * 512, length.into()).after(latency)))
    }
}
