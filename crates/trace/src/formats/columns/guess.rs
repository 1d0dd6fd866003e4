//! What the columns of a text may be: told by the names in its header line, or by what stands in them.

use std::fmt::Write;

use nandlab::types::{HostOp, SECTOR_BYTES};

use super::spec::{Address, ColumnSpec, Length, Op, Times};
use super::{COLUMNS_MAX, date, values};
use crate::registry::Head;
use crate::unit::TimeUnit;

/// What the columns may be.
pub(crate) struct Guess {
    pub(crate) spec: ColumnSpec,
    /// The header line: its index among the lines of the head.
    pub(crate) header: usize,
    /// Why: a clause that begins with "because".
    pub(crate) reason: String,
    /// A unit that neither the header nor the user says, in a sentence.
    pub(crate) assumed: Option<String>,
}

/// Lines in which a header is looked for.
const HEADER_LINES: usize = 12;

/// A role of a column, the bytes of one as the names say it (0: they do not), and the names that tell it.
type Names = (Role, u64, &'static [&'static str]);

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Time,
    Op,
    IsWrite,
    IsRead,
    Offset,
    Object,
    Size,
    Device,
    Latency,
    Process,
}

const NAMES: [Names; 16] = [
    (
        Role::Time,
        0,
        &[
            "time",
            "timestamp",
            "ts",
            "t",
            "arrival",
            "arrivaltime",
            "start",
            "starttime",
            "issuetime",
            "date",
            "datetime",
            "clock",
            "clocktime",
            "submittime",
            "requesttime",
            "tstamp",
            "inittime",
        ],
    ),
    (
        Role::Op,
        0,
        &[
            "op",
            "type",
            "rw",
            "iotype",
            "opcode",
            "operation",
            "io",
            "rwflag",
            "readwrite",
            "dir",
            "direction",
            "cmd",
            "command",
            "rwbs",
            "request",
            "action",
            "access",
            "accesstype",
            "reqtype",
            "requesttype",
            "optype",
        ],
    ),
    (Role::IsWrite, 0, &["iswrite", "write"]),
    (Role::IsRead, 0, &["isread", "read"]),
    (Role::Offset, 0, &["offset", "startoffset", "address", "addr", "pos", "position", "startaddress"]),
    (Role::Offset, 1, &["byteoffset", "startbyte"]),
    (
        Role::Offset,
        512,
        &["lba", "sector", "startsector", "startlba", "slba", "lbn", "startblock", "block", "blkno", "blocknumber"],
    ),
    (Role::Offset, 4096, &["page", "lpn", "lpa", "pagenumber"]),
    (Role::Object, 0, &["objid", "objectid", "object", "obj", "key", "cachekey", "itemid", "id"]),
    (
        Role::Size,
        0,
        &[
            "size",
            "length",
            "len",
            "iosize",
            "requestsize",
            "reqsize",
            "transfersize",
            "objsize",
            "objectsize",
            "valuesize",
            "xfersize",
        ],
    ),
    (Role::Size, 1, &["nbytes", "bytes"]),
    (Role::Size, 512, &["sectors", "nsectors", "sectorcount", "numsectors", "nlb", "blocks", "nblocks", "blockcount"]),
    (Role::Size, 4096, &["pages", "npages", "pagecount"]),
    (
        Role::Device,
        0,
        &["device", "dev", "disk", "disknumber", "disknum", "volume", "volumeid", "lun", "deviceid", "asu", "drive"],
    ),
    (
        Role::Latency,
        0,
        &["latency", "lat", "response", "responsetime", "duration", "servicetime", "elapsed", "elapsedtime"],
    ),
    (Role::Process, 0, &["pid", "processid", "tid", "threadid"]),
];

/// A column that a header names.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub(super) role: Role,
    /// From 1 on.
    pub(super) column: usize,
    /// Bytes of one, as its name says; 0 if it does not.
    pub(super) bytes: u64,
    /// Unit of times, as its name says.
    pub(super) unit: Option<TimeUnit>,
}

/// The byte that separates the columns.
pub(super) fn separator(head: &Head) -> u8 {
    let lines = || head.lines.iter().filter(|line| !is_comment(line));
    let enough = |byte: u8| {
        let most = lines().count();
        lines().filter(|line| line.contains(&byte)).count() * 4 > most * 3 && most > 0
    };
    // Decimal commas stand in columns that others separate.
    [b'\t', b';', b'|', b','].into_iter().find(|byte| enough(*byte)).unwrap_or(b' ')
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    line.starts_with(b"#") || line.starts_with(b"//")
}

pub(super) fn fields(line: &[u8], separator: u8) -> Vec<&[u8]> {
    let mut fields = [&line[..0]; COLUMNS_MAX];
    let count = values::split(line, separator, &mut fields);
    fields[..count].to_vec()
}

/// The line that names most columns, by its index among the lines of the head, and what it names (perhaps nothing).
pub(super) fn header_line(head: &Head, separator: u8) -> Option<(usize, Vec<Named>)> {
    let lines = head.lines.iter().take(HEADER_LINES).enumerate().filter(|(_, line)| !is_comment(line));
    lines
        .map(|(index, line)| (index, header(line, separator)))
        .max_by_key(|(index, named)| (named.len(), std::cmp::Reverse(*index)))
}

/// Seven of eight values of a column are so; blank ones do not count.
pub(super) fn mostly(rows: &[Vec<&[u8]>], column: usize, is_so: impl Fn(&[u8]) -> bool) -> bool {
    let (so, all) = values_of(rows, column).fold((0, 0), |(so, all), value| (so + usize::from(is_so(value)), all + 1));
    all > 0 && so * 8 >= all * 7
}

/// What the header line tells; `None` without one, or if what a trace needs is not in it.
pub(crate) fn guess(head: &Head) -> Option<Guess> {
    let separator = separator(head);
    let (index, named) = header_line(head, separator)?;
    let rows: Vec<_> =
        head.lines[index + 1..].iter().filter(|line| !is_comment(line)).map(|line| fields(line, separator)).collect();
    if named.len() < 2 || rows.is_empty() {
        return None;
    }
    let find = |role: Role| named.iter().find(|column| column.role == role).copied();
    let address = find(Role::Offset).or_else(|| find(Role::Object))?;
    let is_blank = values_of(&rows, address.column).next().is_none();
    if address.role == Role::Offset && !is_blank && !mostly(&rows, address.column, values::is_number) {
        return None;
    }
    let (op, words) = operation(&named, &rows, address.role == Role::Object)?;
    let size = find(Role::Size);
    if size.is_none() && address.role != Role::Object {
        return None;
    }
    let assumed = match size {
        Some(Named { column, bytes: 0, .. }) if address.role == Role::Offset => {
            assumed_unit(column, address.bytes, &rows)
        }
        _ => None,
    };
    let time = find(Role::Time).map(|time| times(&rows, time.column, time.unit));
    let time_unit = time.as_ref().and_then(|time| time.unit);
    let latency_unit = |named: Named| named.unit.or(time_unit).unwrap_or(TimeUnit::Microseconds);
    let spec = ColumnSpec {
        op,
        words,
        address: match address.role {
            Role::Object => Address::Object(address.column, None),
            _ => Address::Bytes(address.column, told_or(address.bytes, assumed)),
        },
        size: size.map_or(Length::Fixed(4096), |size| Length::Column(size.column, told_or(size.bytes, assumed))),
        device: find(Role::Device).map(|device| device.column),
        latency: find(Role::Latency).map(|latency| (latency.column, latency_unit(latency))),
        process: find(Role::Process).map(|process| process.column),
        skip: index as u64 + 1,
        separator: (separator != b',').then_some(separator),
        time,
    };
    let mut reason = format!("because its header line names what is needed: --columns {spec}");
    let assumed = assumed.map(|unit| {
        let unit = if unit == 512 { "sectors of 512 bytes" } else { "pages of 4096 bytes" };
        _ = write!(reason, " (sizes are small and no multiples of 512, so they are taken for {unit})");
        format!(
            "the header does not say the unit of sizes; they are small and no multiples of 512, and taken for {unit}. If \
             that is wrong, say the units: --columns {spec}"
        )
    });
    Some(Guess { spec, header: index, reason, assumed })
}

/// The bytes of one: as the header says, else as they are assumed to be.
pub(super) fn told_or(bytes: u64, assumed: Option<u64>) -> u64 {
    if bytes == 0 { assumed.unwrap_or(1) } else { bytes }
}

/// The bytes of one size where the header does not say it, if they are not bytes: sizes of a few units next to addresses in
/// pages are pages, unless they are whole pages in sectors, and others sectors.
pub(super) fn assumed_unit(column: usize, address_bytes: u64, rows: &[Vec<&[u8]>]) -> Option<u64> {
    const PAGE: u64 = 4096;
    if !size_is_in_sectors(Length::Column(column, 1), rows) {
        return None;
    }
    let is_page_in_sectors = |size: u64| size.is_multiple_of(PAGE / SECTOR_BYTES);
    let in_pages = address_bytes == PAGE && !values_of(rows, column).filter_map(values::whole).all(is_page_in_sectors);
    Some(if in_pages { PAGE } else { SECTOR_BYTES })
}

/// True if a line may be the header of a format that has these columns, with the bytes of one in each, and times in a unit: the
/// first is called what it is, and nothing else is called something else. Words that are not known say nothing.
pub(crate) fn is_header(line: &[u8], columns: &[Option<(Role, u64)>], unit: TimeUnit) -> bool {
    // Rows begin with numbers.
    if !line.first().is_some_and(u8::is_ascii_alphabetic) {
        return false;
    }
    let fields = fields(line, b',');
    let fits = |named: Named| {
        let known = columns.get(named.column - 1).copied().flatten();
        let is_same = known.is_some_and(|(role, bytes)| role == named.role && [0, bytes].contains(&named.bytes));
        is_same && named.unit.is_none_or(|own| own == unit)
    };
    let names = || fields.iter().zip(1..).map(|(field, column)| name(field, column));
    names().next().flatten().is_some() && names().flatten().all(fits)
}

/// The columns that a line names.
fn header(line: &[u8], separator: u8) -> Vec<Named> {
    let fields = fields(line, separator);
    if fields.iter().any(|field| values::is_number(field)) {
        return Vec::new();
    }
    let mut found: Vec<Named> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(named) = name(field, index + 1) else { continue };
        if !found.iter().any(|other| other.role == named.role) {
            found.push(named);
        }
    }
    found
}

/// What a name means: `Timestamp (us)`, `size_kb`, `ByteOffset`.
fn name(field: &[u8], column: usize) -> Option<Named> {
    let text = std::str::from_utf8(field).ok()?.to_ascii_lowercase();
    let words: Vec<&str> =
        text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|w| !w.is_empty()).collect();
    let known = |name: &str| NAMES.iter().find(|(_, _, names)| names.contains(&name));
    let (last, before) = words.split_last()?;
    let time_unit = match *last {
        "ns" | "nsec" | "nanoseconds" => Some(TimeUnit::Nanoseconds),
        "us" | "usec" | "microseconds" => Some(TimeUnit::Microseconds),
        "ms" | "msec" | "milliseconds" => Some(TimeUnit::Milliseconds),
        "s" | "sec" | "secs" | "seconds" => Some(TimeUnit::Seconds),
        "filetime" => Some(TimeUnit::FileTime),
        _ => None,
    };
    let byte_unit = match *last {
        "b" | "byte" | "bytes" => Some(1),
        "kb" | "kib" | "k" => Some(1024),
        "mb" | "mib" => Some(1 << 20),
        "sector" | "sectors" | "blocks" => Some(512),
        "page" | "pages" => Some(4096),
        _ => None,
    };
    if let Some((role, bytes, _)) = known(&words.concat()) {
        return Some(Named { role: *role, column, bytes: *bytes, unit: None });
    }
    let (role, bytes, _) = known(&before.concat()).filter(|_| time_unit.is_some() || byte_unit.is_some())?;
    Some(Named { role: *role, column, bytes: byte_unit.unwrap_or(*bytes), unit: time_unit })
}

pub(super) fn values_of<'a, 'b>(
    rows: &'b [Vec<&'a [u8]>],
    column: usize,
) -> impl Iterator<Item = &'a [u8]> + use<'a, 'b> {
    rows.iter().filter_map(move |row| row.get(column - 1).copied()).filter(|value| !value.is_empty())
}

/// Where operations are; `None` if that does not show.
fn operation(named: &[Named], rows: &[Vec<&[u8]>], object: bool) -> Option<(Op, Vec<(String, HostOp)>)> {
    let find = |role: Role| named.iter().find(|column| column.role == role).map(|named| named.column);
    let known = |column: usize| values_of(rows, column).all(|word| values::operation(word).is_some());
    let bit = |column: usize| values_of(rows, column).all(|word| matches!(word, b"0" | b"1"));
    if let Some(column) = find(Role::Op).filter(|column| known(*column)) {
        return Some((Op::Column(column), Vec::new()));
    }
    for (role, op) in [(Role::IsWrite, HostOp::Write), (Role::IsRead, HostOp::Read)] {
        if let Some(column) = find(role).filter(|column| bit(*column)) {
            return Some((Op::Column(column), vec![("1".to_owned(), op)]));
        }
    }
    (object && find(Role::Op).is_none()).then_some((Op::All(HostOp::Read), Vec::new()))
}

/// Sizes of a few units that are not multiples of 512 are sectors.
pub(super) fn size_is_in_sectors(size: Length, rows: &[Vec<&[u8]>]) -> bool {
    let Length::Column(column, 1) = size else { return false };
    let sizes: Vec<u64> = values_of(rows, column).filter_map(values::whole).collect();
    let odd = sizes.iter().filter(|size| !size.is_multiple_of(512)).count();
    !sizes.is_empty() && odd * 2 > sizes.len() && sizes.iter().all(|size| *size <= 4096)
}

/// The unit of the times in a column.
pub(super) fn times(rows: &[Vec<&[u8]>], column: usize, unit: Option<TimeUnit>) -> Times {
    let told = unit.is_some();
    if values_of(rows, column).next().is_some_and(|value| date::date(value).is_some()) {
        return Times { column, unit: None, told: true };
    }
    let number = |value: &[u8]| std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
    let numbers: Vec<f64> = values_of(rows, column).filter_map(number).collect();
    let fraction = values_of(rows, column).any(|value| value.contains(&b'.'));
    let (first, last) = (numbers.first().copied().unwrap_or(0.0), numbers.last().copied().unwrap_or(0.0));
    let unit = unit.unwrap_or_else(|| likely_unit(first, last, numbers.len(), fraction));
    Times { column, unit: Some(unit), told }
}

/// The unit in which times from `first` to `last` are those of a trace: of dates after 1989 by their size, of others by the
/// requests in a second.
fn likely_unit(first: f64, last: f64, count: usize, fraction: bool) -> TimeUnit {
    const DATES: std::ops::Range<f64> = 6e8..4e9;
    let seconds = |time: f64, unit: TimeUnit| time * (unit.nanoseconds() as f64 / 1e9);
    if DATES.contains(&(seconds(first, TimeUnit::FileTime) - 11_644_473_600.0)) {
        return TimeUnit::FileTime;
    }
    let units = if fraction {
        [TimeUnit::Seconds, TimeUnit::Milliseconds, TimeUnit::Microseconds, TimeUnit::Nanoseconds]
    } else {
        [TimeUnit::Microseconds, TimeUnit::Nanoseconds, TimeUnit::Milliseconds, TimeUnit::Seconds]
    };
    if let Some(unit) = units.into_iter().find(|unit| DATES.contains(&seconds(first, *unit))) {
        return unit;
    }
    let rate = |unit: TimeUnit| (count.max(2) - 1) as f64 / seconds(last - first, unit);
    let within = |low: f64, high: f64| units.into_iter().find(|unit| (low..=high).contains(&rate(*unit)));
    within(1.0, 50_000.0).or_else(|| within(0.01, 500_000.0)).unwrap_or(units[0])
}

/// The first lines with the numbers of their columns, for messages.
pub(crate) fn numbered_lines(head: &Head) -> String {
    const LINES: usize = 3;
    const COLUMNS: usize = 12;
    let separator = separator(head);
    let mut text = String::new();
    for line in head.lines.iter().take(LINES) {
        text += "\n   ";
        for (index, field) in fields(line, separator).iter().take(COLUMNS).enumerate() {
            let shown = field[..field.len().min(24)].escape_ascii();
            _ = write!(text, " {}:{shown}", index + 1);
        }
    }
    text
}
