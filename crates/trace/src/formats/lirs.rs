//! Reference string of the LIRS paper: one block number per line; a line `*` is a mark and skipped.
//!
//! - A block is read as a page of 4 KiB (8 sectors); there are no sizes and no writes.
//! - There are no times: all requests arrive at 0 seconds. Replay such a trace closed-loop.
//!
//! Source: traces of Song Jiang, as kept by the caffeine simulator.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, is_uint};
use crate::row::{Extra, Field, OFFSET_MAX, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "lirs",
    title: "LIRS reference string (one 4 KiB page per line)",
    extensions: &["trace", "trc"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    if head.lines.iter().all(|line| is_uint(line) || *line == b"*") && head.lines.iter().any(|line| is_uint(line)) {
        return Sniff::Yes("because every line is one whole number".to_owned());
    }
    Sniff::No
}

fn line(line: &[u8]) -> Parse<Row> {
    if line.trim_ascii() == b"*" {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<BLANKS>::new(line);
    let page = c.uint(Field::new("block", "pages of 4 KiB, 0 to 2251799813423103", OFFSET_MAX / 4096))?;
    c.end("1 column")?;
    Ok(Row::sectors(0, 0, HostOp::Read, page * 8, 8))
}
