//! nandlab text: `time_ns,device,op,offset,length`, the form in which tools pass traces through pipes.
//!
//! - The first line is `# nandlab trace 1`; further lines that begin with `#` are comments, of which those that hold a
//!   JSON object say which tools made the trace. Then the names of the columns.
//! - `time_ns`: nanoseconds from any zero. device: number of the address space. op: R(ead), W(rite), D(iscard), F(lush).
//!   offset and length: bytes.
//! - Four more columns may follow, with what the host tells about the request: pc (program location, 0 = unknown),
//!   pattern (s = sequential, l = looping, c = clustered hot, r = random or unknown), `run_pages` (predicted run
//!   length), period (accesses between repeats).
//! - Any tool for comma-separated values reads it (with `#` as the sign of comments).
//!
//! Source: this project.

use nandlab::types::{Hint, HostOp, Pattern};

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff};
use crate::row::{Field, Row};

/// The first line.
pub(crate) const MAGIC: &str = "# nandlab trace 1";
/// The columns without and with hints.
pub(crate) const COLUMNS: [&str; 2] =
    ["time_ns,device,op,offset,length", "time_ns,device,op,offset,length,pc,pattern,run_pages,period"];

pub(crate) const FORMAT: Format = Format {
    name: "nandlab",
    title: "nandlab text (from `nandlab trace`)",
    extensions: &["csv"],
    sniff,
    parser: || Parser::Text(Box::<Text>::default()),
};

fn sniff(head: &Head) -> Sniff {
    if head.lines.first().is_some_and(|line| *line == MAGIC.as_bytes()) {
        return Sniff::Yes(format!("because its first line is `{MAGIC}`"));
    }
    if head.lines.first().is_some_and(|line| COLUMNS.iter().any(|c| *line == c.as_bytes())) {
        return Sniff::Yes("because its first line names the columns of nandlab".to_owned());
    }
    Sniff::No
}

#[derive(Default)]
struct Text {
    /// Once the columns are named: whether hints are among them.
    hints: Option<bool>,
}

impl LineParser for Text {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        if line[0] == b'#' {
            return Ok(Row::Other);
        }
        let Some(hints) = self.hints else {
            let named = COLUMNS.iter().position(|columns| line == columns.as_bytes());
            self.hints = named.map(|index| index == 1);
            return match named {
                Some(_) => Ok(Row::Other),
                None => Err(BadRow::new("header", line, Problem::Unknown, COLUMNS.join(" or "))),
            };
        };
        let mut c = Cursor::<b','>::new(line);
        let at = c.uint(Field::time("time_ns", "nanoseconds, 0 to 9999999999999999999"))?;
        let device = c.device(Field::device("device"))?;
        let op = match c.word("op")? {
            b"R" => HostOp::Read,
            b"W" => HostOp::Write,
            b"D" => HostOp::Trim,
            b"F" => HostOp::Flush,
            other => return Err(BadRow::new("op", other, Problem::Unknown, "R, W, D or F")),
        };
        let (offset, length) = (c.uint(Field::offset("offset"))?, c.uint(Field::length("length"))?);
        let mut row = Row::bytes(at, device, op, offset, length);
        if hints && let Row::Request(record) = &mut row {
            record.hint = hint(&mut c)?;
        }
        c.end(COLUMNS[usize::from(hints)])?;
        Ok(row)
    }

    fn end(&mut self) -> Parse<()> {
        match self.hints {
            Some(_) => Ok(()),
            None => Err(BadRow::new("header", &[], Problem::Missing, COLUMNS.join(" or "))),
        }
    }
}

/// The letters of the patterns, in the order of the manual.
const PATTERNS: [(u8, Pattern); 4] =
    [(b's', Pattern::Sequential), (b'l', Pattern::Looping), (b'c', Pattern::ClusteredHot), (b'r', Pattern::Random)];

/// The letter of a pattern.
pub(crate) fn letter(pattern: Pattern) -> char {
    PATTERNS.iter().find(|(_, known)| *known == pattern).map_or('r', |(letter, _)| char::from(*letter))
}

fn hint(c: &mut Cursor<b','>) -> Parse<Hint> {
    let small = |name| Field::new(name, "a whole number, 0 to 4294967295", u64::from(u32::MAX));
    let pc = c.uint(small("pc"))? as u32;
    let word = c.word("pattern")?;
    let pattern = PATTERNS.iter().find(|(letter, _)| word == [*letter]).map(|(_, pattern)| *pattern);
    let Some(pattern) = pattern else {
        return Err(BadRow::new("pattern", word, Problem::Unknown, "s, l, c or r"));
    };
    Ok(Hint { pattern, pc, run_pages: c.uint(small("run_pages"))? as u32, period: c.uint(small("period"))? as u32 })
}
