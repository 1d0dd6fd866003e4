//! MSR Cambridge csv: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, no header line.
//!
//! - Timestamp: Windows file time, in units of 100 ns since 1601.
//! - Hostname and `DiskNumber`: the volume. The device number is the disk number for the first host of the trace,
//!   plus 65,536 for each further host in order of appearance.
//! - Type: Read or Write. Offset and Size: bytes. `ResponseTime`: units of 100 ns; kept, nothing is simulated from it.
//! - A running number and a blank before the timestamp (some published cuts have it) and a header line of these columns are
//!   skipped.
//! - Written by `--to msr`: reads and writes, host `nandlab`, times to 100 ns, the latency if it is known. Times are taken for
//!   file times, or for times since 1970, as the first of them fits.
//!
//! Source: README of the SNIA IOTTA sets 387 and 388 (36 volumes, one week).

use std::io::Write as _;

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::export::{Export, Lost, is_read};
use crate::formats::columns::{Role, is_header};
use crate::names::Names;
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns, is_read_write, is_uint, uint};
use crate::row::{Extra, Field, Row, TraceRecord};
use crate::unit::TimeUnit;

const COLUMNS: [Option<(Role, u64)>; 7] = [
    Some((Role::Time, 0)),
    None,
    Some((Role::Device, 0)),
    Some((Role::Op, 0)),
    Some((Role::Offset, 1)),
    Some((Role::Size, 1)),
    Some((Role::Latency, 0)),
];

pub(crate) const FORMAT: Format = Format {
    name: "msr",
    title: "MSR Cambridge csv",
    extensions: &["csv"],
    extra: Extra::LATENCY,
    write: Some(|| Box::<Writer>::default()),
    sniff,
    parser: |names| Parser::Text(Box::new(Msr { hosts: names.clone() })),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b',');
        let stamp = c[0].rsplit(|b| *b == b' ').next().unwrap_or(c[0]);
        // 10^17 units of 100 ns since 1601 are the year 1917.
        c.len() == 7
            && uint(stamp).is_some_and(|t| t > FILE_TIME_MIN)
            && is_read_write(c[3])
            && [2, 4, 5, 6].iter().all(|&i| is_uint(c[i]))
    };
    head.yes_if_most(
        shape,
        "because its rows have 7 columns that begin with a Windows file time, and Read or Write is the 4th",
    )
}

struct Msr {
    hosts: Names,
}

impl Msr {
    fn host(&mut self, name: &[u8]) -> Parse<u32> {
        let number = self.hosts.number(name);
        let number = number.ok_or_else(|| BadRow::new("Hostname", name, Problem::Unknown, "at most 4096 hosts"))?;
        Ok(number << 16)
    }
}

impl LineParser for Msr {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        let stamp = Field::new("Timestamp", "units of 100 ns, 0 to 184467440737095516", FILE_TIME_MAX);
        let mut c = Cursor::<b','>::new(line);
        if is_header(line, &COLUMNS, TimeUnit::FileTime) {
            return Ok(Row::Other);
        }
        let at = c.uint_after_index(stamp)? * 100;
        let host = self.host(c.word("Hostname")?)?;
        let disk = c.device(Field::new("DiskNumber", "a whole number, 0 to 65534", 65_534))?;
        let op = c.op("Type")?;
        let offset = c.uint(Field::offset("Offset"))?;
        let size = c.uint(Field::length("Size"))?;
        let latency = c.uint(Field::any("ResponseTime"))?;
        c.end("7 columns")?;
        Ok(Row::bytes(at, host + disk, op, offset, size).after(latency.saturating_mul(100)))
    }
}

/// Writes the seven columns with the host `nandlab`. If the first time is before the year 1917 (from 1601), all are taken for
/// times since 1970.
#[derive(Default)]
pub(crate) struct Writer {
    /// What is added to each time, in units of 100 ns, once the first is known.
    epoch: Option<u64>,
}

/// Units of 100 ns from 1601 to 1970.
const FROM_1601_TO_1970: u64 = 116_444_736_000_000_000;
/// Units of 100 ns from which on a number is believed to be a file time.
const FILE_TIME_MIN: u64 = 100_000_000_000_000_000;
/// The latest file time, in units of 100 ns: later ones are not believed as times in ns.
const FILE_TIME_MAX: u64 = u64::MAX / 100;

impl Export for Writer {
    fn place(&self) -> Extra {
        Extra::LATENCY
    }
    fn counts_from_first(&self) -> bool {
        false
    }

    fn row(&mut self, record: &TraceRecord, _: u64, out: &mut Vec<u8>, lost: &mut Lost) -> Result<(), String> {
        if record.device > 65_534 {
            let device = record.device;
            return Err(format!(
                "device {device} is above 65534; put the devices one after the other into one: nandlab trace remap --stack"
            ));
        }
        let kind = if is_read(record)? { "Read" } else { "Write" };
        let units = lost.whole(record.at.0, 100);
        let epoch = *self.epoch.get_or_insert(if units > FILE_TIME_MIN { 0 } else { FROM_1601_TO_1970 });
        let stamp = units + epoch;
        if !(FILE_TIME_MIN + 1..=FILE_TIME_MAX).contains(&stamp) {
            let since = if epoch == 0 { 1601 } else { 1970 };
            return Err(format!(
                "its time, {} ns since {since} as that of the first request, is no file time of the years 1917 to 2185; take out \
                 jumps of the clock (--rebase), or leave the request out (nandlab trace filter --min-time, --max-time)",
                record.at.0
            ));
        }
        let latency = lost.whole_latency(record.latency_ns, 100);
        let (disk, offset, length) = (record.device, record.offset, record.length);
        writeln!(out, "{stamp},nandlab,{disk},{kind},{offset},{length},{latency}").map_err(|error| error.to_string())
    }
}
