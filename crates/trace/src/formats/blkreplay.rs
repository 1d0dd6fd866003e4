//! blkreplay load file: `start ; sector ; length ; op ; replay_delay ; replay_duration`.
//!
//! - Everything before the line that begins with `start ;` is text (a licence) and skipped.
//! - start: seconds, decimal. sector and length: sectors of 512 bytes. op: R or W. The last two are not used.
//! - Made from blktrace events; discards and flushes were dropped when they were made. One device per file.
//!
//! Source: header line of the files and `conv_blktrace_to_load.sh` of blkreplay (Thomas Schoebel-Theuer).

use crate::cursor::{Cursor, Field, Parse, Row};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns};

pub(crate) const FORMAT: Format = Format {
    name: "blkreplay",
    title: "blkreplay load file",
    extensions: &["load"],
    sniff,
    parser: || Parser::Text(Box::<Load>::default()),
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

#[derive(Default)]
struct Load {
    begun: bool,
}

impl LineParser for Load {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        if !self.begun || line[0] == b's' {
            self.begun |= is_header(line);
            if self.begun == is_header(line) {
                return Ok(Row::Other);
            }
        }
        let mut c = Cursor::<b';'>::new(line);
        let at = c.decimal(Field::time("start", "seconds, 0 to 18446744073"), 9)?;
        let lba = c.uint(Field::lba("sector"))?;
        let sectors = c.uint(Field::sectors("length"))?;
        let op = c.op("op")?;
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
