//! Heimdall cut: `time device offset size operation`, separated by blanks.
//!
//! - time: milliseconds, decimal (`--time-unit` names another unit). device: a number; each has its own address space.
//! - offset and size: bytes. operation: 1 = read, 0 = write.
//!
//! Told from `DiskSim` (same columns, but sectors) by content: every address and every size is a multiple of 512.
//!
//! Source: the statistics files of the repository, which these units reproduce.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::five::look;
use crate::registry::{Format, Head, Parser, Sniff, WithUnit};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "heimdall",
    title: "Heimdall trace cut (milliseconds, bytes)",
    extensions: &["trace"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(WithUnit::new(TimeUnit::Milliseconds, line))),
};

fn sniff(head: &Head) -> Sniff {
    match look(head) {
        Some(five) if five.point && five.bytes && !five.flags => Sniff::Yes(
            "because its rows are `time device offset size operation` and all offsets and sizes are multiples of 512, so \
             they are bytes"
                .to_owned(),
        ),
        _ => Sniff::No,
    }
}

fn line(line: &[u8], unit: TimeUnit) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    let at = c.time("time", unit)?;
    let device = c.device(Field::device("device"))?;
    let offset = c.uint(Field::offset("offset"))?;
    let size = c.uint(Field::length("size"))?;
    let op = c.bit_op(Field::new("operation", "1 = read, 0 = write", 1), 1)?;
    c.end("5 columns")?;
    Ok(Row::bytes(at, device, op, offset, size))
}
