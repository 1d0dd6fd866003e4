//! `BIOTracer` (Nexus 5 smartphone): `sector sectors bytes type t_generate t_process t_submit t_finish`, by tabs.
//!
//! - sector and sectors: 512 bytes. bytes: the size again; checked to be a number, not used.
//! - type: bit 0 set = write, clear = read; bit 2 (4) = did not wait in the queue; not used.
//! - Four times in seconds, decimal; `t_generate` is the arrival, `t_finish` minus it the latency. Rows are in order
//!   of completion, so that some arrivals precede those of the row before.
//! - A log that includes booting begins with seconds since the start and then jumps to the date.
//!
//! Source: `BIOTracer` readme (Zhou et al., IISWC 2015).

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_decimal, is_uint, uint};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "biotracer",
    title: "BIOTracer smartphone log",
    extensions: &["txt", "log"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        c.len() == 8
            && c[..4].iter().all(|c| is_uint(c))
            && c[4..].iter().all(|c| is_decimal(c) && c.contains(&b'.'))
            && uint(c[1]).zip(uint(c[2])).is_some_and(|(sectors, bytes)| sectors.checked_mul(512) == Some(bytes))
    };
    head.yes_if_most(
        shape,
        "because its rows have 8 columns: sector, sectors, the same in bytes, a type and four times",
    )
}

fn line(line: &[u8]) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    let lba = c.uint(Field::lba("sector"))?;
    let sectors = c.uint(Field::sectors("sectors"))?;
    c.uint(Field::any("bytes"))?;
    let kind = c.uint(Field::new("type", "bit 0 set = write; 0 to 255", 255))?;
    let at = c.decimal(Field::time("t_generate", "seconds, 0 to 18446744073"), 9)?;
    let mut finished = 0;
    for name in ["t_process", "t_submit", "t_finish"] {
        finished = c.time(name, TimeUnit::Seconds)?;
    }
    c.end("8 columns")?;
    let op = if kind & 1 == 1 { HostOp::Write } else { HostOp::Read };
    Ok(Row::sectors(at, 0, op, lba, sectors).after(finished.saturating_sub(at)))
}
