//! `DiskSim` ASCII: `time device block size flags`, separated by blanks or tabs.
//!
//! - time: milliseconds, decimal. device: a number; each has its own address space.
//! - block and size: sectors of 512 bytes.
//! - flags: hexadecimal; bit 0 set = read, clear = write. Others (0x2 time-critical, 0x4 time-limited, 0x80
//!   synchronous, 0x100 asynchronous) are not used.
//!
//! Simulators after `DiskSim` kept the five columns and changed the units: see ssdsim, mqsim and flashsim. A file whose
//! device is always 0 does not show whether its sizes are sectors (disksim) or pages (flashsim): name the format.
//!
//! Source: `DiskSim` 4.0 manual 4.1.1; `disksim_iotrace.c`.

use crate::cursor::{BLANKS, Cursor};
use crate::five::sniff_milliseconds;
use crate::registry::{Format, Parser};
use crate::row::{Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "disksim",
    title: "DiskSim ASCII (milliseconds, sectors)",
    extensions: &["trace", "ascii"],
    sniff: |head| sniff_milliseconds(head, false),
    parser,
};

fn parser() -> Parser {
    Parser::Text(Box::new(|line: &[u8]| {
        let mut c = Cursor::<BLANKS>::new(line);
        let at = c.decimal(Field::time("time", "milliseconds, 0 to 18446744073709"), 6)?;
        let device = c.device(Field::device("device"))?;
        let lba = c.uint(Field::lba("block"))?;
        let sectors = c.uint(Field::sectors("size"))?;
        let flags = c.hex(Field::new("flags", "hexadecimal; bit 0 = read", u32::MAX as u64))?;
        c.end("5 columns")?;
        let op = if flags & 1 == 1 { HostOp::Read } else { HostOp::Write };
        Ok(Row::sectors(at, device, op, lba, sectors))
    }))
}
