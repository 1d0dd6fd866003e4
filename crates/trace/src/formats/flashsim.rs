//! `FlashSim` ASCII: `time device block size operation`, separated by blanks or tabs.
//!
//! - time: milliseconds, decimal (`--time-unit` names another unit). device: always 0.
//! - block: first sector (512 bytes). size: pages of 4 KiB, so 1 covers 8 sectors.
//! - operation: 1 = read, 0 = write.
//!
//! The sizes were made from sectors as max(1, floor(sectors / 8)). The driver that came with these files takes the block
//! for a page number modulo 65,536; that is not copied here. The rows look like `DiskSim`'s: name the format.
//!
//! Source: the files, compared row by row with the `SSDsim` version of the same trace.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::five::sniff_milliseconds;
use crate::registry::{Format, Parser, WithUnit};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "flashsim",
    title: "FlashSim ASCII (milliseconds, size in 4 KiB pages)",
    extensions: &["trace"],
    extra: Extra::NONE,
    write: None,
    sniff: |head| sniff_milliseconds(head, true),
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Milliseconds, line))),
};

fn line(line: &[u8], unit: TimeUnit) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    let at = c.time("time", unit)?;
    let device = c.device(Field::device("device"))?;
    let lba = c.uint(Field::lba("block"))?;
    let pages = c.uint(Field::new("size", "pages of 4 KiB, 0 to 262144 (1 GiB)", 262_144))?;
    let op = c.bit_op(Field::new("operation", "1 = read, 0 = write", 1), 1)?;
    c.end("5 columns")?;
    Ok(Row::sectors(at, device, op, lba, pages * 8))
}
