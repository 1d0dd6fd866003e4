//! blkreplay load file: `start ; sector ; length ; op ; replay_delay ; replay_duration`.
//!
//! - Everything before the line that begins with `start ;` is text (a licence) and skipped; some files hold it twice.
//! - start: seconds, decimal. sector and length: sectors of 512 bytes. op: R or W, with the further letters of blktrace
//!   in rare rows (RA = read ahead). The last two columns are not used.
//! - Made from blktrace events; discards and flushes were dropped when they were made. One device per file.
//!
//! Source: header line of the files and `conv_blktrace_to_load.sh` of blkreplay (Thomas Schoebel-Theuer).

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns};
use crate::row::{Extra, Field, Row};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "blkreplay",
    title: "blkreplay load file",
    extensions: &["load"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::<Load>::default()),
};

fn is_header(line: &[u8]) -> bool {
    line.strip_prefix(b"start").is_some_and(|rest| rest.trim_ascii_start().starts_with(b";"))
}

fn sniff(head: &Head) -> Sniff {
    let named = |line: &&[u8]| is_header(line) && columns(line, b';').len() >= 4;
    if !head.lines.iter().any(named) {
        return Sniff::No;
    }
    Sniff::Yes("because it has the line that begins with `start ;`".to_owned())
}

/// Text between two loads that were joined.
fn is_text(line: &[u8]) -> bool {
    !line.contains(&b';') && !matches!(line.trim_ascii_start(), [b'0'..=b'9' | b'.' | b'-' | b'+', ..])
}

/// Letters that blktrace puts after R and W: ahead, sync, metadata, FUA, barrier.
fn flags(letters: &[u8]) -> bool {
    letters.iter().all(|b| b"ASMFB".contains(b))
}

#[derive(Default)]
struct Load {
    begun: bool,
}

impl LineParser for Load {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        if !line[0].is_ascii_digit() {
            if is_header(line) {
                self.begun = true;
                return Ok(Row::Other);
            }
            // Text has no columns, or comes before the header; a row begins with a number after blanks.
            if !self.begun || is_text(line) {
                return Ok(Row::Other);
            }
        } else if !self.begun {
            return Ok(Row::Other);
        }
        let mut c = Cursor::<b';'>::new(line);
        let at = c.decimal(Field::time("start", "seconds, 0 to 18446744073"), 9)?;
        let lba = c.uint(Field::lba("sector"))?;
        let sectors = c.uint(Field::sectors("length"))?;
        let op = match c.word("op")? {
            [b'R' | b'r', rest @ ..] if flags(rest) => HostOp::Read,
            [b'W' | b'w', rest @ ..] if flags(rest) => HostOp::Write,
            other => return Err(BadRow::new("op", other, Problem::Unknown, "R or W, with blktrace letters after it")),
        };
        for unused in ["replay_delay", "replay_duration"] {
            if !c.at_end() {
                c.decimal(Field::time(unused, "seconds"), 9)?;
            }
        }
        c.end("6 columns")?;
        Ok(Row::sectors(at, 0, op, lba, sectors))
    }

    fn end(&mut self) -> Parse<()> {
        if self.begun {
            return Ok(());
        }
        Err(BadRow::new("header", &[], Problem::Missing, "a line that begins with `start ;` before the rows"))
    }
}
