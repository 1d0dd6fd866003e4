//! libCacheSim's oracleGeneral: binary, little-endian records of 24 bytes (`.oracleGeneral.bin`,
//! `.oracleGeneral.zst`).
//!
//! - time u32 (seconds), object u64, size u32 (bytes), next access i64 (number of the request that asks for the
//!   object again; -1 or 2^63 - 1: never). The last is not used. There are no operations: every request is a read.
//! - An object is a number without a place. It gets a range of 4 KiB pages of its own when it first appears, as
//!   long as its size then (a longer one, if it comes back larger). Where numbers are addresses, as in traces of
//!   disks that were turned into objects block by block, `--object-unit 512` (or another number of bytes) reads
//!   them as such.
//! - Written by `nandlab trace convert --to oracle-general`: one record for every page of 4 KiB that a read or a
//!   write touches, the object is the number of the page, the time is in whole seconds since the first request.
//!   Read it back with `--object-unit 4096`.
//!
//! Source: `oracleGeneralBin.h` of libCacheSim.

use std::collections::BTreeMap;

use nandlab::types::HostOp;

use super::columns::Objects;
use crate::buffer::{Buffer, Failure};
use crate::bytes::{u32_le, u64_le};
use crate::error::{BadRow, Problem};
use crate::export::{Export, Lost};
use crate::options::Options;
use crate::registry::{BinaryParser, Format, Head, Parser, Sniff};
use crate::row::{Extra, REQUEST_BYTES_MAX, Row, TraceRecord};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "oracle-general",
    title: "libCacheSim oracleGeneral (binary)",
    extensions: &["oracleGeneral", "bin", "zst"],
    extra: Extra::NONE,
    write: Some(|| Box::<Writer>::default()),
    sniff,
    parser: |_| Parser::Binary(Box::<Reader>::default()),
};

const BYTES: usize = 24;
/// What libCacheSim writes and accepts for an object that nobody asks for again.
const NEVER: [u64; 2] = [u64::MAX, i64::MAX as u64];

/// Times that never fall, sizes that are believed, and next accesses that lie ahead.
fn sniff(head: &Head) -> Sniff {
    let (mut before, mut records) = (0, 0);
    for (index, record) in head.bytes.chunks_exact(BYTES).take(256).enumerate() {
        let (time, size, next) = (u32_le(record, 0), u32_le(record, 12), u64_le(record, 16));
        let ahead = NEVER.contains(&next) || (index as u64 + 1..1 << 48).contains(&next);
        if time < before || u64::from(size) > REQUEST_BYTES_MAX || !ahead {
            return Sniff::No;
        }
        (before, records) = (time, index + 1);
    }
    // Text is never so: its "next accesses" are beyond 2^56.
    if records == 0 || head.bytes.len() < 65_536 && !head.bytes.len().is_multiple_of(BYTES) {
        return Sniff::No;
    }
    Sniff::Yes(
        "because its records of 24 bytes have times that never fall, sizes below 1 GiB and next accesses that lie ahead"
            .to_owned(),
    )
}

struct Reader {
    unit: TimeUnit,
    objects: Objects,
}

impl Default for Reader {
    fn default() -> Self {
        Self { unit: TimeUnit::Seconds, objects: Objects::default() }
    }
}

impl BinaryParser for Reader {
    fn next(&mut self, buffer: &mut Buffer) -> Result<Option<Row>, Failure> {
        let Some(record) = buffer.record(BYTES, "record")? else { return Ok(None) };
        let (time, object, size) = (u32_le(record, 0), u64_le(record, 4), u64::from(u32_le(record, 12)));
        if size > REQUEST_BYTES_MAX {
            let text = size.to_string();
            return Err(BadRow::new("size", text.as_bytes(), Problem::TooLarge, "bytes, 0 to 1 GiB").into());
        }
        let at = u64::from(time) * self.unit.nanoseconds();
        let offset = self.objects.place(object, size)?;
        Ok(Some(Row::bytes(at, 0, HostOp::Read, offset, size)))
    }
    fn told(&mut self, options: &Options) {
        self.objects = Objects::new(options.object_unit);
    }
    fn time_unit(&mut self) -> Option<&mut TimeUnit> {
        Some(&mut self.unit)
    }
    fn time_is_told(&self) -> bool {
        true
    }
    fn has_objects(&self) -> bool {
        true
    }
}

/// Holds the accesses until the end, 24 bytes each and 40 bytes a page, because the next access of an object is known only then.
#[derive(Default)]
pub(crate) struct Writer {
    accesses: Vec<(u32, u64)>,
    device: Option<u32>,
    /// Time of the request before, in seconds.
    before: u32,
}

const PAGE_BYTES: u64 = 4096;

impl Export for Writer {
    fn row(&mut self, record: &TraceRecord, at: u64, _: &mut Vec<u8>, lost: &mut Lost) -> Result<(), String> {
        if !matches!(record.op, HostOp::Read | HostOp::Write) {
            return Err("there are only accesses; leave others out: nandlab trace filter --op R,W".to_owned());
        }
        if *self.device.get_or_insert(record.device) != record.device {
            return Err("there is one address space; put devices into one: nandlab trace remap --stack".to_owned());
        }
        let seconds = u32::try_from(lost.whole(at, 1_000_000_000)).map_err(|_| "a time has at most 2^32 - 1 s")?;
        if seconds < self.before {
            return Err("libCacheSim wants times that never fall; put rows in order: --sort-window 100000".to_owned());
        }
        self.before = seconds;
        if record.length == 0 {
            lost.requests += 1;
            return Ok(());
        }
        lost.writes_as_accesses += u64::from(record.op == HostOp::Write);
        let last = (record.offset + u64::from(record.length) - 1) / PAGE_BYTES;
        self.accesses.extend((record.offset / PAGE_BYTES..=last).map(|page| (seconds, page)));
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let mut next: Vec<u64> = vec![NEVER[0]; self.accesses.len()];
        let mut seen = BTreeMap::new();
        for (index, (_, page)) in self.accesses.iter().enumerate().rev() {
            // libCacheSim counts requests from 1.
            if let Some(later) = seen.insert(*page, index as u64 + 1) {
                next[index] = later;
            }
        }
        for ((seconds, page), next) in self.accesses.iter().zip(next) {
            out.extend_from_slice(&seconds.to_le_bytes());
            out.extend_from_slice(&page.to_le_bytes());
            out.extend_from_slice(&(PAGE_BYTES as u32).to_le_bytes());
            out.extend_from_slice(&next.to_le_bytes());
        }
    }
}
