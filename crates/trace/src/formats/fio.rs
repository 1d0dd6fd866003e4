//! fio iolog, versions 2 and 3: what `write_iolog` of fio writes.
//!
//! - First line: `fio version 2 iolog` or `fio version 3 iolog`. Version 3: `time file action [offset length]`, time in
//!   microseconds. Version 2: `file action [offset length]`, without times.
//! - action: add, open, close ask for nothing; read, write; trim is a discard; sync, datasync and `sync_file_range` are
//!   flushes; wait (version 2 only) lets `offset` microseconds pass, so that requests of version 2 lie at the sum of the
//!   waits before them.
//! - offset and length: bytes. Each file is a device, numbered in order of appearance; if the first one is called `deviceN`, as
//!   `--to fio` writes them, all must be and are device N. The logs of several jobs are read as a device each.
//! - Written by `--to fio`: version 3, times in microseconds from the first request, file `deviceN` for each device; replay it
//!   on a drive with `fio --name=replay --read_iolog=FILE --replay_redirect=/dev/...`.
//!
//! Source: HOWTO of fio, "Trace file format"; `iolog.c` of fio 3.33.

use std::io::Write as _;

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::export::{Export, Lost};
use crate::names::Names;
use crate::registry::{Format, Head, LineParser, Parser, Sniff};
use crate::row::{Extra, Field, Row, TraceRecord};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "fio",
    title: "fio iolog (versions 2 and 3)",
    extensions: &["iolog", "log"],
    extra: Extra::NONE,
    write: Some(|| Box::<Writer>::default()),
    sniff,
    parser: |names| Parser::Text(Box::new(Fio { times: None, files: names.clone(), are_numbered: None, waited_us: 0 })),
};

const FIRST_LINES: [&[u8]; 2] = [b"fio version 2 iolog", b"fio version 3 iolog"];
const ACTIONS: &str = "read, write, trim, sync, datasync, sync_file_range, wait, add, open or close";

fn sniff(head: &Head) -> Sniff {
    match head.lines.first() {
        Some(line) if FIRST_LINES.contains(line) => {
            Sniff::Yes("because its first line is that of an iolog of fio".into())
        }
        _ => Sniff::No,
    }
}

struct Fio {
    /// Whether rows begin with a time (version 3), once the first line is read.
    times: Option<bool>,
    files: Names,
    /// Whether files are called `deviceN`, once there is one.
    are_numbered: Option<bool>,
    /// Sum of the waits, in microseconds (version 2).
    waited_us: u64,
}

impl Fio {
    fn device(&mut self, file: &[u8]) -> Parse<u32> {
        let digits = file.strip_prefix(b"device").and_then(|digits| std::str::from_utf8(digits).ok());
        let number: Option<u32> = digits.and_then(|digits| digits.parse().ok());
        let wrong = |allowed| BadRow::new("file", file, Problem::Unknown, allowed);
        if *self.are_numbered.get_or_insert(number.is_some()) {
            return number.ok_or_else(|| wrong("`deviceN`, as the first file is called"));
        }
        self.files.number(file).ok_or_else(|| wrong("at most 4096 files"))
    }

    fn wait(&mut self, c: &mut Cursor<BLANKS>) -> Parse<Row> {
        let field = Field::new("wait", "microseconds in version 2, in all at most 18446744073709551", u64::MAX / 1_000);
        let wait = c.uint(field)?;
        let sum = self.waited_us.checked_add(wait).filter(|sum| *sum <= field.max);
        let wrong = || BadRow::new(field.name, wait.to_string().as_bytes(), Problem::TooLarge, field.allowed);
        self.waited_us = sum.ok_or_else(wrong)?;
        Ok(Row::Other)
    }
}

impl LineParser for Fio {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        let Some(times) = self.times else {
            let version = FIRST_LINES.iter().position(|first| line.trim_ascii() == *first);
            self.times = version.map(|index| index == 1);
            let unknown =
                || BadRow::new("first line", line, Problem::Unknown, "`fio version 2 iolog` or `fio version 3 iolog`");
            return self.times.map(|_| Row::Other).ok_or_else(unknown);
        };
        let mut c = Cursor::<BLANKS>::new(line);
        let at_us = if times {
            c.uint(Field::new("time", "microseconds, 0 to 18446744073709551", u64::MAX / 1_000))?
        } else {
            self.waited_us
        };
        let file = c.word("file")?;
        let op = match c.word("action")? {
            b"read" => HostOp::Read,
            b"write" => HostOp::Write,
            b"trim" => HostOp::Trim,
            b"sync" | b"datasync" | b"sync_file_range" => HostOp::Flush,
            b"add" | b"open" | b"close" => return Ok(Row::Other),
            b"wait" if times => {
                return Err(BadRow::new("action", b"wait", Problem::Unknown, "in version 3 every row has a time"));
            }
            b"wait" => return self.wait(&mut c),
            other => return Err(BadRow::new("action", other, Problem::Unknown, ACTIONS)),
        };
        let (offset, length) = (c.uint(Field::offset("offset"))?, c.uint(Field::length("length"))?);
        c.end("[time] file action offset length")?;
        let device = self.device(file)?;
        let (offset, length) = if op == HostOp::Flush { (0, 0) } else { (offset, length) };
        Ok(Row::bytes(at_us * 1_000, device, op, offset, length))
    }

    fn end(&mut self) -> Parse<()> {
        let missing =
            || BadRow::new("first line", &[], Problem::Missing, "`fio version 2 iolog` or `fio version 3 iolog`");
        self.times.map(|_| ()).ok_or_else(missing)
    }
}

/// Writes version 3 of the log: times in microseconds since the first request, a file `deviceN` for each device (fio's option
/// `replay_redirect` sends all to a real drive), discards as trim, flushes as sync.
#[derive(Default)]
pub(crate) struct Writer {
    open: Vec<u32>,
    at_us: u64,
}

impl Export for Writer {
    fn begin(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(FIRST_LINES[1]);
        out.push(b'\n');
    }

    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, lost: &mut Lost) -> Result<(), String> {
        let at_us = lost.whole(at, 1_000);
        if at_us < self.at_us {
            return Err("fio wants times that never fall; put rows in order: --sort-window 100000".to_owned());
        }
        self.at_us = at_us;
        let device = record.device;
        let wrong = |error: std::io::Error| error.to_string();
        if let Err(place) = self.open.binary_search(&device) {
            if self.open.len() == crate::names::NAMES_MAX {
                return Err(
                    "there are more than 4096 devices; put them into one: nandlab trace remap --stack".to_owned()
                );
            }
            self.open.insert(place, device);
            writeln!(out, "{at_us} device{device} add\n{at_us} device{device} open").map_err(wrong)?;
        }
        let action = match record.op {
            HostOp::Read => "read",
            HostOp::Write => "write",
            HostOp::Trim => "trim",
            HostOp::Flush => return writeln!(out, "{at_us} device{device} sync 0 0").map_err(wrong),
        };
        if record.length == 0 {
            return Err(
                "fio refuses requests of no length; leave them out: nandlab trace filter --min-length 512".to_owned()
            );
        }
        let (offset, length) = (record.offset, record.length);
        writeln!(out, "{at_us} device{device} {action} {offset} {length}").map_err(wrong)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for device in &self.open {
            out.extend_from_slice(format!("{} device{device} close\n", self.at_us).as_bytes());
        }
    }
}
