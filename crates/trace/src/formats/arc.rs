//! Reference string of the ARC paper: `start count ignore number`, separated by blanks.
//!
//! - start: first block; count: blocks, one request for all of them. Blocks are of 512 bytes, that is sectors. The third
//!   column is always 0, the fourth numbers the requests; there are no writes.
//! - There are no times: all requests arrive at 0 seconds. Replay such a trace closed-loop.
//!
//! Source: Megiddo and Modha, FAST 2003; traces as kept by moka-rs/cache-trace.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_uint};
use crate::row::{Extra, Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "arc",
    title: "ARC reference string (runs of blocks)",
    extensions: &["lis"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        c.len() == 4 && c.iter().all(|c| is_uint(c)) && c[2] == b"0"
    };
    head.yes_if_most(shape, "because its rows are four whole numbers, and the 3rd is 0")
}

fn line(line: &[u8]) -> Parse<Row> {
    let mut c = Cursor::<BLANKS>::new(line);
    let lba = c.uint(Field::lba("start"))?;
    let sectors = c.uint(Field::sectors("count"))?;
    c.uint(Field::any("ignore"))?;
    c.uint(Field::any("number"))?;
    c.end("4 columns")?;
    Ok(Row::sectors(0, 0, HostOp::Read, lba, sectors))
}
