//! blkparse text: `maj,min cpu sequence time pid action RWBS sector + count [process]`, one event per line.
//!
//! - maj,min: the device; its number here is major * 1,048,576 + minor, as in the Linux kernel. time: seconds, decimal.
//! - action: of each request only one event is read, `D` (issued to the driver: what the device sees) unless the option
//!   `event` asks for `Q` (queued: what the host asks, before merging), `G`, `I` or `C` (completed).
//! - RWBS: R read, W write, D discard; F before them, or alone, a flush. A row with F but no sectors is a flush; with
//!   sectors it is what the letter after F says. sector and count: sectors of 512 bytes.
//! - Latency: of the recorded device, from `D` to `C`. They belong together by device, operation and range of sectors: the same
//!   range, or else all that share sectors with it, so that requests that were merged after `Q` all take the time of the merged
//!   one, and a request that was split takes from the first `D` to the `C` of its last part. What has no `C` (lost events, the
//!   end of the log) has no latency, and what `C` has no request (issued before the log began) is passed over; both are
//!   counted. With event `C` nothing has a latency. Rows wait for their `C`, at most 65,536 at a time.
//! - Rows of the other actions, rows without sectors (plug, unplug, message, packet commands) and everything that does
//!   not begin with a digit (the summary at the end, or in the middle of outputs put together) ask for nothing.
//! - Outputs put together start over at 0 seconds: see the option to rebase times.
//! - Written by `--to blkparse`: one row D a request, times in s from the first request, the process if it is known (tools that
//!   read the binary form of blktrace cannot use it).
//!
//! Source: manual page blkparse(1); `blkparse_fmt.c` and `blktrace_api.h` of blktrace.

use std::io::Write as _;

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::event::{BlockEvent, EventRole, Events};
use crate::export::{Export, Lost, whole_sectors};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns, is_decimal, is_uint};
use crate::row::{Extra, Field, Row, TraceRecord};
use nandlab::types::HostOp;

pub(crate) const FORMAT: Format = Format {
    name: "blkparse",
    title: "blkparse text (Linux blktrace)",
    extensions: &["txt", "blkparse"],
    extra: Extra::BOTH,
    write: Some(|| Box::<Writer>::default()),
    sniff,
    parser: |_| Parser::Text(Box::<Blkparse>::default()),
};

const ACTIONS: [&[u8]; 18] =
    [b"A", b"Q", b"G", b"P", b"U", b"UT", b"I", b"D", b"C", b"M", b"F", b"X", b"R", b"S", b"B", b"T", b"m", b"Y"];

fn sniff(head: &Head) -> Sniff {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        let mut device = c[0].splitn(2, |b| *b == b',');
        c.len() >= 7
            && device.all(is_uint)
            && c[0].contains(&b',')
            && [1, 2, 4].iter().all(|&i| is_uint(c[i]))
            && is_decimal(c[3])
            && c[3].contains(&b'.')
            && ACTIONS.contains(&c[5])
    };
    // A short trace may have more lines of summary than rows; both begin in their own way.
    let is_row = |line: &&&[u8]| line.first().is_some_and(u8::is_ascii_digit);
    let (rows, good) =
        head.lines.iter().filter(is_row).fold((0, 0), |(rows, good), l| (rows + 1, good + usize::from(shape(l))));
    if good == 0 || rows - good > rows / 4 {
        return Sniff::No;
    }
    Sniff::Yes(
        "because its rows begin with major,minor, CPU, sequence, seconds and pid, and have an action of blktrace"
            .into(),
    )
}

#[derive(Default)]
struct Blkparse {
    events: Events,
}

/// What the letters ask for: a flush before it, and the request.
fn op(rwbs: &[u8]) -> Parse<(bool, Option<HostOp>)> {
    let (flush, letter) = match rwbs {
        [b'F', letter, ..] => (true, *letter),
        [b'F'] => (true, b'N'),
        [letter, ..] => (false, *letter),
        [] => (false, 0),
    };
    let op = match letter {
        b'R' => Some(HostOp::Read),
        b'W' => Some(HostOp::Write),
        b'D' => Some(HostOp::Trim),
        b'N' | b'F' | b'S' | b'A' | b'B' | b'M' if flush || letter == b'N' => None,
        _ => {
            return Err(BadRow::new(
                "RWBS",
                rwbs,
                Problem::Unknown,
                "an optional F, then R, W, D or N, then further letters",
            ));
        }
    };
    Ok((flush, op))
}

impl LineParser for Blkparse {
    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        if !line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
            return Ok(Row::Other);
        }
        let mut c = Cursor::<BLANKS>::new(line);
        let mut numbers = Cursor::<b','>::new(c.word("device")?);
        let major = numbers.uint(Field::new("major", "a whole number, 0 to 4094", 4_094))?;
        let minor = numbers.uint(Field::new("minor", "a whole number, 0 to 1048575", 0xF_FFFF))?;
        numbers.end("major,minor")?;
        for unused in ["CPU", "sequence"] {
            c.uint(Field::any(unused))?;
        }
        let at = c.decimal(Field::time("time", "seconds, 0 to 18446744073"), 9)?;
        let pid = c.uint(Field::any("pid"))?;
        let event = match c.word("action")? {
            b"Q" => BlockEvent::Queue,
            b"G" => BlockEvent::Get,
            b"I" => BlockEvent::Insert,
            b"D" => BlockEvent::Issue,
            b"C" => BlockEvent::Complete,
            action if ACTIONS.contains(&action) => return Ok(Row::Other),
            action => {
                return Err(BadRow::new("action", action, Problem::Unknown, "an action of blktrace, such as Q or D"));
            }
        };
        let Some(role) = self.events.role(event) else { return Ok(Row::Other) };
        let device = (major << 20 | minor) as u32;
        match request(&mut c, at, device, pid) {
            // Of what is only compared with requests, nothing is lost if it is strange.
            Err(_) if role != EventRole::Request => Ok(Row::Other),
            row => Ok(role.play(row?)),
        }
    }

    fn events(&mut self) -> Option<&mut Events> {
        Some(&mut self.events)
    }
}

/// What comes after the action.
#[inline]
fn request(c: &mut Cursor<'_, BLANKS>, at: u64, device: u32, pid: u64) -> Parse<Row> {
    let (flush, op) = op(c.word("RWBS")?)?;
    if !c.digit_follows() {
        return Ok(if flush { Row::sectors(at, device, HostOp::Flush, 0, 0).of(pid) } else { Row::Other });
    }
    let lba = c.uint(Field::lba("sector"))?;
    match c.word("+")? {
        b"+" => {}
        // A completed flush has a sector, which means nothing, and no sectors.
        [b'[' | b'(', ..] if flush && op.is_none() => {
            return Ok(Row::sectors(at, device, HostOp::Flush, 0, 0).of(pid));
        }
        [b'[' | b'(', ..] => return Ok(Row::Other),
        other => return Err(BadRow::new("+", other, Problem::Unknown, "`+` between sector and count")),
    }
    let sectors = c.uint(Field::sectors("count"))?;
    Ok(op.map_or(Row::Other, |op| Row::sectors(at, device, op, lba, sectors).of(pid)))
}

/// Writes one row `D` (issued) for each request. Times count from the first request and are exact.
#[derive(Default)]
pub(crate) struct Writer {
    sequence: u64,
}

impl Export for Writer {
    fn place(&self) -> Extra {
        Extra::PROCESS
    }

    fn row(&mut self, record: &TraceRecord, at: u64, out: &mut Vec<u8>, _: &mut Lost) -> Result<(), String> {
        let (major, minor) = (record.device >> 20, record.device & 0xF_FFFF);
        if major > 4_094 {
            let device = record.device;
            return Err(format!(
                "device {device} has a major number above 4094; put the devices one after the other into one: nandlab trace remap \
                 --stack"
            ));
        }
        self.sequence += 1;
        let (s, ns, n, pid) = (at / 1_000_000_000, at % 1_000_000_000, self.sequence, record.process);
        write!(out, "{major:3},{minor:<3} 0 {n:8} {s:5}.{ns:09} {pid:5}  D ").map_err(|error| error.to_string())?;
        let letter = match record.op {
            HostOp::Read => 'R',
            HostOp::Write => 'W',
            HostOp::Trim => 'D',
            HostOp::Flush => return writeln!(out, " FN [nandlab]").map_err(|error| error.to_string()),
        };
        let (lba, sectors) = whole_sectors(record)?;
        writeln!(out, "  {letter} {lba} + {sectors} [nandlab]").map_err(|error| error.to_string())
    }
}
