//! fio latency log (`*_clat.N.log`, `*_lat.N.log`) with offsets: what `write_lat_log` of fio writes with `log_offset=1`.
//!
//! - `time, latency, direction, size, offset[, priority[, issue time]]`. Time: milliseconds since the job began (with
//!   `log_alternate_epoch` since 1970), when the request *completed*. Latency: nanoseconds (fio 3; before 2.99 microseconds,
//!   which no row tells). Direction: 0 read, 1 write, 2 trim. Size and offset: bytes. Issue time: nanoseconds since the job
//!   began.
//! - A request begins at its issue time if that is there (`log_issue_time=1`, fio of September 2024; in `clat` logs, 0 in
//!   others), which is exact; else at its time less its latency, so that it is known to the millisecond alone: requests of a
//!   queue begin in the right millisecond, not in the right order. Rows come in the order of completion: put them in order
//!   with `--sort-window`.
//! - Latency: that of the row; of `clat` from submission to completion, which is what a simulated response is; of `lat` with
//!   fio's own time before submission; `slat` logs look the same and are not what is wanted.
//! - The priority (0, 1 or hexadecimal) is passed over. Without `log_offset=1` rows have no place: 4 columns, or 5 of which the
//!   last is a priority; with `log_avg_msec` they are averages, of size 0. Both are errors.
//! - Several files are jobs on one drive, merged by time.
//!
//! Source: HOWTO of fio, "Log File Formats"; `flush_samples` in `iolog.c`, `add_clat_sample` in `stat.c` of fio (August 2026).

use nandlab::types::HostOp;

use crate::cursor::{Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::registry::{Format, Head, LineParser, Parser, Sniff, columns, is_uint};
use crate::row::{Extra, Field, Row};

pub(crate) const FORMAT: Format = Format {
    name: "fio_lat",
    title: "fio latency log with offsets (write_lat_log, log_offset=1)",
    extensions: &["log"],
    extra: Extra::LATENCY,
    write: None,
    sniff,
    parser: |_| Parser::Text(Box::<FioLat>::default()),
};

const NO_OFFSET: &str = "bytes: the log has none, because fio ran without log_offset=1";
const AVERAGE: &str = "1 to 1073741824 bytes: with log_avg_msec fio writes averages; run it without";
const PRIORITIES: [&[u8]; 2] = [b"0", b"1"];

fn is_priority(column: &[u8]) -> bool {
    PRIORITIES.contains(&column) || column.starts_with(b"0x")
}

/// It has the columns that all logs of fio have: fio writes a blank after each comma.
fn is_row(line: &[u8]) -> bool {
    let c = columns(line, b',');
    let blanks = line.windows(2).filter(|two| two == b", ").count();
    (4..=7).contains(&c.len())
        && blanks == c.len() - 1
        && c[..4].iter().all(|column| is_uint(column))
        && matches!(c[2], b"0" | b"1" | b"2")
        && c[4..].iter().all(|column| is_uint(column) || column.starts_with(b"0x"))
}

/// Of rows with 5 columns: the last of some is no priority, so that it is the offset of an old fio.
fn has_old_offsets(head: &Head) -> bool {
    head.lines.iter().any(|line| matches!(columns(line, b',')[..], [_, _, _, _, last] if !is_priority(last)))
}

fn sniff(head: &Head) -> Sniff {
    head.yes_if_most(
        is_row,
        "because its rows are those of a log of fio: `time, value, 0 to 2, size, ...`, with a blank after commas",
    )
}

#[derive(Default)]
struct FioLat {
    has_old_offsets: bool,
}

impl LineParser for FioLat {
    fn begin(&mut self, head: &[u8]) {
        self.has_old_offsets = has_old_offsets(&Head::new(head));
    }

    fn line(&mut self, line: &[u8]) -> Parse<Row> {
        let mut c = Cursor::<b','>::new(line);
        let time = Field::new("time", "milliseconds, 0 to 18446744073709", u64::MAX / 1_000_000);
        let completed = c.uint(time)? * 1_000_000;
        let latency = c.uint(Field::new("latency", "nanoseconds, 0 to 18446744073709551615", u64::MAX))?;
        let op = match c.uint(Field::new("direction", "0 read, 1 write, 2 trim", 2))? {
            0 => HostOp::Read,
            1 => HostOp::Write,
            _ => HostOp::Trim,
        };
        let size = c.uint(Field::length("size"))?;
        if size == 0 {
            return Err(BadRow::new("size", b"0", Problem::Unknown, AVERAGE));
        }
        let missing = || BadRow::new("offset", &[], Problem::Missing, NO_OFFSET);
        if c.at_end() {
            return Err(missing());
        }
        let last = c.word("offset")?;
        if c.at_end() && !(self.has_old_offsets && is_uint(last)) {
            return Err(missing());
        }
        let offset = Cursor::<b','>::new(last).uint(Field::offset("offset"))?;
        let mut issued = 0;
        if !c.at_end() {
            let priority = c.word("priority")?;
            if !is_priority(priority) {
                return Err(BadRow::new("priority", priority, Problem::Unknown, "0, 1 or a hexadecimal number 0x..."));
            }
            if !c.at_end() {
                issued = c.uint(Field::new("issue time", "nanoseconds, 0 to 18446744073709551615", u64::MAX))?;
            }
        }
        c.end("5 to 7 columns")?;
        let at = if issued > 0 { issued } else { completed.saturating_sub(latency) };
        Ok(Row::bytes(at, 0, op, offset, size).after(latency))
    }
}
