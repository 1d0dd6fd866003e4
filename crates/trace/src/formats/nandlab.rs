//! nandlab text: `time_ns,device,op,offset,length`, the form in which tools pass traces through pipes.
//!
//! - The first line is `# nandlab trace 1`; further lines that begin with `#` are comments, of which those that hold a
//!   JSON object say which tools made the trace. Then the names of the columns. Comments after the rows, if they hold
//!   objects, say the same again with counts, which a tool knows only when it is done.
//! - `time_ns`: nanoseconds from any zero. device: number of the address space. op: R(ead), W(rite), D(iscard), F(lush).
//!   offset and length: bytes.
//! - `latency_ns` (how long the recorded device took, 0 = not recorded) and process (who asked, 0 = not recorded) may follow.
//! - Four more columns may follow, with what the host tells about the request: pc (program location, 0 = unknown),
//!   pattern (s = sequential, l = looping, c = clustered hot, r = random or unknown), `run_pages` (predicted run
//!   length), period (accesses between repeats). A fifth may follow them or stand alone: mappings (predicted number of
//!   mappings that the stream needs from the first page on, at most 65535; 0 = unknown).
//! - Three more may follow, with what a recorder saw: file and stack (ids, 0 = unknown) and `file_page` (the first page of
//!   4096 bytes in the file). What the ids stand for is in comments after the rows, an object for each.
//! - Any tool for comma-separated values reads it (with `#` as the sign of comments).
//!
//! Source: this project.

use nandlab::types::{Hint, HostOp, Pattern};

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::provenance::{About, Step};
use crate::recording::RecordingEntry;
use crate::registry::{Format, Head, LineParser, Parser, Sniff};
use crate::row::{Extra, Field, Origin, Row};

/// The first line.
pub(crate) const MAGIC: &str = "# nandlab trace 1";
/// The columns that every trace has.
const REQUEST: &str = "time_ns,device,op,offset,length";
/// What a header may be, in words.
const HEADERS: &str = "time_ns,device,op,offset,length[,latency_ns][,process][,pc,pattern,run_pages,period]\
                       [,mappings][,file,file_page,stack]";

/// The line that names the columns.
pub(crate) fn header(extra: Extra) -> String {
    let mut line = REQUEST.to_owned();
    for (is_there, columns) in [
        (extra.latency, ",latency_ns"),
        (extra.process, ",process"),
        (extra.hints, ",pc,pattern,run_pages,period"),
        (extra.mappings, ",mappings"),
        (extra.origin, ",file,file_page,stack"),
    ] {
        line += if is_there { columns } else { "" };
    }
    line
}

/// What the columns of a header are besides the first five, if it is one.
fn named(line: &[u8]) -> Option<Extra> {
    let all = (0..32).map(|n| {
        let [latency, process, hints, mappings, origin] = [1, 2, 4, 8, 16].map(|bit| n & bit > 0);
        Extra { latency, process, hints, mappings, origin }
    });
    all.into_iter().find(|extra| header(*extra).as_bytes() == line)
}

pub(crate) const FORMAT: Format = Format {
    name: "nandlab",
    title: "nandlab text (from `nandlab trace`)",
    extensions: &["csv"],
    extra: Extra::NONE,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::<Text>::default()),
};

fn sniff(head: &Head) -> Sniff {
    if head.lines.first().is_some_and(|line| *line == MAGIC.as_bytes()) {
        return Sniff::Certain(format!("because its first line is `{MAGIC}`"));
    }
    if head.lines.first().is_some_and(|line| named(line).is_some()) {
        return Sniff::Certain("because its first line names the columns of nandlab".to_owned());
    }
    Sniff::No
}

#[derive(Default)]
struct Text {
    /// Once the columns are named: which there are.
    columns: Option<Extra>,
    about: About,
    /// Steps before the columns that were seen at the beginning and again, line by line.
    steps_seen: usize,
    /// The chain of steps after the rows has begun.
    trailing: bool,
}

/// The step that a comment holds, if it holds one.
fn step(comment: &[u8]) -> Option<Step> {
    serde_json::from_slice(comment.trim_ascii_start().strip_prefix(b"#")?).ok()
}

/// The file, stack or module that a comment holds, if it holds one.
fn entry(comment: &[u8]) -> Option<RecordingEntry> {
    serde_json::from_slice(comment.trim_ascii_start().strip_prefix(b"#")?).ok()
}

impl Text {
    fn comment(&mut self, line: &[u8]) {
        let Some(step) = step(line) else {
            if let Some(entry) = entry(line) {
                self.about.recording.add(entry);
            }
            return;
        };
        if self.columns.is_none() {
            // What lies further down than the beginning of the file.
            if self.steps_seen == self.about.steps.len() {
                self.about.steps.push(step);
            }
            self.steps_seen += 1;
            return;
        }
        if !self.trailing {
            self.trailing = true;
            self.about.steps.clear();
        }
        self.about.steps.push(step);
    }
}

impl LineParser for Text {
    fn begin(&mut self, head: &[u8]) {
        let lines = head.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n")).map(<[u8]>::trim_ascii);
        for line in lines {
            match line.first() {
                Some(b'#') => self.about.steps.extend(step(line)),
                None => {}
                Some(_) => {
                    self.about.extra = named(line).unwrap_or(Extra::ALL);
                    return;
                }
            }
        }
        self.about.extra = Extra::ALL;
    }

    fn about(&self) -> &About {
        &self.about
    }

    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        if line[0] == b'#' {
            self.comment(line);
            return Ok(Row::Other);
        }
        let Some(extra) = self.columns else {
            self.columns = named(line);
            return match self.columns {
                Some(_) => Ok(Row::Other),
                None => Err(BadRow::new("header", line, Problem::Unknown, HEADERS)),
            };
        };
        let mut c = Cursor::<b','>::new(line);
        let at = c.uint(Field::TIME_NS)?;
        let device = c.device(Field::DEVICE)?;
        let word = c.word("op")?;
        let Some(op) = letter(word).and_then(op_of) else {
            return Err(BadRow::new("op", word, Problem::Unknown, "R, W, D or F"));
        };
        let (offset, length) = (c.uint(Field::OFFSET)?, c.uint(Field::LENGTH)?);
        let mut row = Row::bytes(at, device, op, offset, length);
        if extra != Extra::NONE
            && let Row::Request(record) = &mut row
        {
            record.latency_ns = if extra.latency { c.uint(Field::any("latency_ns"))? } else { 0 };
            record.process = if extra.process { c.uint(Field::small("process"))? as u32 } else { 0 };
            record.hint = if extra.hints { hint(&mut c)? } else { Hint::default() };
            record.hint.mappings = if extra.mappings { c.uint(Field::MAPPINGS)? as u16 } else { 0 };
            record.origin = if extra.origin { origin(&mut c)? } else { Origin::default() };
        }
        c.end("as many columns as the header names")?;
        Ok(row)
    }

    fn end(&mut self) -> Parse<()> {
        match self.columns {
            Some(_) => Ok(()),
            None => Err(BadRow::new("header", &[], Problem::Missing, HEADERS)),
        }
    }
}

/// The letters of the patterns.
const PATTERNS: [(u8, Pattern); 4] =
    [(b's', Pattern::Sequential), (b'l', Pattern::Looping), (b'c', Pattern::ClusteredHot), (b'r', Pattern::Random)];

/// The letter of an operation.
pub(crate) fn op_letter(op: HostOp) -> u8 {
    match op {
        HostOp::Read => b'R',
        HostOp::Write => b'W',
        HostOp::Trim => b'D',
        HostOp::Flush => b'F',
    }
}

/// The operation of a letter.
#[inline]
pub(crate) fn op_of(letter: i64) -> Option<HostOp> {
    match u8::try_from(letter) {
        Ok(b'R') => Some(HostOp::Read),
        Ok(b'W') => Some(HostOp::Write),
        Ok(b'D') => Some(HostOp::Trim),
        Ok(b'F') => Some(HostOp::Flush),
        _ => None,
    }
}

/// The letter of a pattern.
pub(crate) fn pattern_letter(pattern: Pattern) -> u8 {
    PATTERNS.iter().find(|(_, known)| *known == pattern).map_or(b'r', |(letter, _)| *letter)
}

/// The pattern of a letter.
pub(crate) fn pattern_of(letter: i64) -> Option<Pattern> {
    PATTERNS.iter().find(|(known, _)| i64::from(*known) == letter).map(|(_, pattern)| *pattern)
}

/// The letter that is the whole word.
fn letter(word: &[u8]) -> Option<i64> {
    if let [letter] = word { Some(i64::from(*letter)) } else { None }
}

fn origin(c: &mut Cursor<b','>) -> Parse<Origin> {
    let mut small = |name| c.uint(Field::small(name)).map(|number| number as u32);
    Ok(Origin { file: small("file")?, file_page: small("file_page")?, stack: small("stack")? })
}

fn hint(c: &mut Cursor<b','>) -> Parse<Hint> {
    let pc = c.uint(Field::small("pc"))? as u32;
    let word = c.word("pattern")?;
    let Some(pattern) = letter(word).and_then(pattern_of) else {
        return Err(BadRow::new("pattern", word, Problem::Unknown, "s, l, c or r"));
    };
    let run_pages = c.uint(Field::small("run_pages"))? as u32;
    Ok(Hint { pattern, pc, run_pages, period: c.uint(Field::small("period"))? as u32, mappings: 0 })
}
