//! FIU trace: `time pid process lba size W|R major minor md5`, separated by blanks.
//!
//! - time: nanoseconds, a whole number. pid and process: who asked; the number is kept.
//! - lba and size: sectors of 512 bytes.
//! - major and minor: the device; its number here is major * 1,048,576 + minor, as in the Linux kernel.
//! - md5: hash of the content; not used.
//! - Lines that do not begin with a digit (remains of the tar headers between the parts) are skipped.
//!
//! Source: README of the SNIA IOTTA sets 391 and 411.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Format, Head, Parser, Sniff, columns, is_rw, is_uint, uint};
use crate::row::{Extra, Field, Row};

pub(crate) const FORMAT: Format = Format {
    name: "fiu",
    title: "FIU traces with content hashes",
    extensions: &["blkparse"],
    extra: Extra::PROCESS,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::new(line)),
};

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        c.len() == 9
            && [0, 1, 3, 4, 6, 7].iter().all(|&i| is_uint(c[i]))
            && uint(c[0]).is_some()
            && is_rw(c[5])
            && c[8].len() == 32
    };
    head.yes_if_most(shape, "because its rows have 9 columns, R or W is the 6th, and the last is an MD5 hash")
}

fn line(line: &[u8]) -> Parse<Row> {
    let begin = line.trim_ascii_start().first().copied().unwrap_or(0);
    if !begin.is_ascii_digit() && begin != b'-' {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<BLANKS>::new(line);
    if line.windows(7).any(|w| w == b" ctime=" || w == b" mtime=" || w == b" atime=") {
        return Ok(Row::Other);
    }
    let at = c.uint(Field::any("time"))?;
    let pid = c.uint(Field::any("pid"))?;
    c.word("process")?;
    let lba = c.uint(Field::lba("lba"))?;
    let sectors = c.uint(Field::sectors("size"))?;
    let op = c.op("operation")?;
    let major = c.uint(Field::new("major", "a whole number, 0 to 4094", 4_094))?;
    let minor = c.uint(Field::new("minor", "a whole number, 0 to 1048575", 0xF_FFFF))?;
    c.word("md5")?;
    c.end("9 columns")?;
    Ok(Row::sectors(at, (major << 20 | minor) as u32, op, lba, sectors).of(pid))
}
