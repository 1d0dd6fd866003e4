//! Sysinternals `DiskMon` log: `index time duration disk Read|Write sector length`, separated by tabs.
//!
//! - time: seconds since the log began, decimal. Its resolution is often 15.625 ms, so that most rows share their time
//!   with the row before. duration: seconds, unreliable, kept as the latency.
//! - disk: a number; each has its own address space. sector and length: sectors of 512 bytes.
//! - Lines may end in CR LF and in a further tab. Some logs hold garbage rows (sectors beyond 10^18): allow bad rows.
//!
//! Source: Sysinternals; `convertdiskmontrace.c` of the `SimulationTrace` repository.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_decimal, is_read_write, is_uint};
use crate::row::{Extra, Field, Row};
use crate::unit::TimeUnit;

pub(crate) const FORMAT: Format = Format {
    name: "diskmon",
    title: "Sysinternals DiskMon log",
    extensions: &["txt", "log", "trace"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        c.len() == 7
            && is_decimal(c[1])
            && is_decimal(c[2])
            && is_read_write(c[4])
            && [0, 3, 5, 6].iter().all(|&i| is_uint(c[i]))
    };
    head.yes_if_most(shape, "because its rows have 7 columns, and Read or Write is the 5th")
}

fn line(line: &[u8]) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    c.uint(Field::any("index"))?;
    let at = c.decimal(Field::time("time", "seconds, 0 to 18446744073"), 9)?;
    let latency = decimal_or_nothing(c.word("duration")?);
    let device = c.device(Field::device("disk"))?;
    let op = c.op("request")?;
    let lba = c.uint(Field::lba("sector"))?;
    let sectors = c.uint(Field::sectors("length"))?;
    c.end("7 columns")?;
    Ok(Row::sectors(at, device, op, lba, sectors).after(latency))
}

/// Seconds in ns; durations are unreliable, and garbage in them spoils no row.
fn decimal_or_nothing(word: &[u8]) -> u64 {
    Cursor::<BLANKS>::new(word).time("duration", TimeUnit::Seconds).unwrap_or(0)
}
