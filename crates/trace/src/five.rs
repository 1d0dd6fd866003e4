//! The five columns that `DiskSim` began and its successors share under other units: `time device block size flags`.

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::registry::{Head, Sniff, columns, is_decimal, is_uint, uint};
use crate::row::{Field, Row};
use crate::unit::TimeUnit;

/// A whole time, device, sectors, sectors, 1 = read: `ssdsim` and `mqsim`. What follows `//` is a comment.
pub(crate) fn whole_line(line: &[u8], unit: TimeUnit) -> Parse<Row> {
    let line = without_comment(line);
    if line.is_empty() {
        return Ok(Row::Other);
    }
    let mut c = Cursor::<BLANKS>::new(line);
    let at = c.whole_time("time", unit)?;
    let device = c.device(Field::device("device"))?;
    let lba = c.uint(Field::lba("start sector"))?;
    let sectors = c.uint(Field::sectors("size"))?;
    let op = c.bit_op(Field::new("operation", "1 = read, 0 = write", 1), 1)?;
    c.end("5 columns")?;
    Ok(Row::sectors(at, device, op, lba, sectors))
}

/// A line without what follows `//`, which scripts for `MQSim` use for comments. Those that are no comments are whole.
#[inline]
fn without_comment(line: &[u8]) -> &[u8] {
    match memchr::memchr(b'/', line) {
        Some(at) if line[at..].starts_with(b"//") => line[..at].trim_ascii_end(),
        _ => line,
    }
}

/// What the five columns show.
#[allow(clippy::struct_excessive_bools, reason = "independent observations, not a state")]
pub(crate) struct Five {
    /// The times have a decimal point.
    pub(crate) point: bool,
    /// Mean step between whole-number times.
    pub(crate) step: u64,
    /// Several devices appear.
    pub(crate) devices: bool,
    /// A device other than 0 appears.
    pub(crate) numbered: bool,
    /// A flag other than 0 and 1 appears.
    pub(crate) flags: bool,
    /// All addresses and sizes are multiples of 512, in at least 8 rows: so they are bytes.
    pub(crate) bytes: bool,
}

/// Looks at the first lines; `None` if they have another shape.
pub(crate) fn look(head: &Head) -> Option<Five> {
    let shape = |line: &[u8]| {
        let c = columns(line, b' ');
        c.len() == 5
            && is_decimal(c[0])
            && c[1..4].iter().all(|c| is_uint(c))
            && c[4].len() <= 10
            && c[4].iter().all(u8::is_ascii_hexdigit)
    };
    let lines = head.lines.iter().map(|line| without_comment(line)).filter(|line| !line.is_empty()).collect();
    let head = Head { bytes: head.bytes, lines };
    if !head.most(shape) {
        return None;
    }
    let rows: Vec<_> = head.lines.iter().filter(|l| shape(l)).map(|l| columns(l, b' ')).collect();
    let times: Vec<u64> = rows.iter().filter_map(|r| uint(r[0])).collect();
    let span = times.last().unwrap_or(&0).saturating_sub(*times.first().unwrap_or(&0));
    let in_bytes = |column: &[u8]| uint(column).is_some_and(|v| v % 512 == 0);
    Some(Five {
        point: times.len() < rows.len(),
        step: span / (times.len() as u64).max(2).saturating_sub(1),
        devices: rows.iter().any(|r| uint(r[1]) != uint(rows[0][1])),
        numbered: rows.iter().any(|r| uint(r[1]) != Some(0)),
        flags: rows.iter().any(|r| !matches!(r[4], b"0" | b"1")),
        bytes: rows.len() >= 8 && rows.iter().all(|r| in_bytes(r[2]) && in_bytes(r[3])),
    })
}

/// Times are whole nanoseconds if requests would otherwise, in milliseconds, be a second or more apart.
pub(crate) const STEP_NS_MIN: u64 = 1_000;

/// The answer of `disksim` (`pages` false) or `flashsim` (`pages` true) to the same rows.
pub(crate) fn sniff_milliseconds(head: &Head, pages: bool) -> Sniff {
    let Some(five) = look(head) else { return Sniff::No };
    if five.bytes && five.point {
        return Sniff::No;
    }
    let decided = if five.flags {
        Some("because its rows are the five columns of DiskSim, with flags that only DiskSim has")
    } else if five.devices && five.point {
        Some(
            "because its rows are the five columns of DiskSim, times have a decimal point (milliseconds), and there are \
              several devices (flashsim traces have device 0 only)",
        )
    } else if five.numbered && five.point {
        Some(
            "because its rows are the five columns of DiskSim, times have a decimal point (milliseconds), and its device \
              is not 0 (that of flashsim traces is)",
        )
    } else {
        None
    };
    match (decided, pages) {
        (Some(_), true) => Sniff::No,
        (Some(reason), false) => Sniff::Yes(reason.to_owned()),
        (None, _) if !five.point && five.step >= STEP_NS_MIN => Sniff::No,
        (None, true) if five.numbered => Sniff::No,
        (None, true) => {
            Sniff::Maybe("because its rows are `time device block size flags` (size in pages of 4 KiB)".into())
        }
        (None, false) => Sniff::Maybe("because its rows are `time device block size flags` (size in sectors)".into()),
    }
}
