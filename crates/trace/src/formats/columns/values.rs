//! Fields of a delimited line and what they say.

use nandlab::types::HostOp;

use crate::cursor::{BLANKS, Cursor, Parse};
use crate::error::{BadRow, Problem};
use crate::row::Field;
use crate::text::is_decimal;
use crate::unit::TimeUnit;

/// Puts the first fields of a line into `fields`, without blanks and quotes around them; how many there are of those. Any
/// number of blanks is one separator if that is a blank; a separator inside quotes is none.
pub(super) fn split<'a>(line: &'a [u8], separator: u8, fields: &mut [&'a [u8]]) -> usize {
    let (mut count, mut at) = (0, 0);
    while count < fields.len() {
        let blank = |byte: &u8| *byte == b' ' || *byte == b'\t' && separator != b'\t';
        at += line[at..].iter().take_while(|byte| blank(byte)).count();
        if at == line.len() && (separator == b' ' || count == 0) {
            break;
        }
        let rest = &line[at..];
        let quote = rest.first().copied().filter(|byte| *byte == b'"');
        let closed = quote.and_then(|_| memchr::memchr(b'"', &rest[1..])).map_or(0, |end| end + 2);
        let ends = |byte: &u8| *byte == separator || separator == b' ' && *byte == b'\t';
        let length = rest[closed..].iter().position(ends).map_or(rest.len(), |end| closed + end);
        fields[count] = unquoted(rest[..length].trim_ascii());
        count += 1;
        at += length + 1;
        if at > line.len() {
            break;
        }
    }
    count
}

fn unquoted(field: &[u8]) -> &[u8] {
    let inner = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inner.unwrap_or(field).trim_ascii()
}

/// A whole number, decimal or with `0x`.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16).ok(),
        None if !text.starts_with('+') => text.parse().ok(),
        _ => None,
    }
}

/// A number of any kind.
pub(super) fn is_number(text: &[u8]) -> bool {
    is_decimal(text) || whole(text).is_some()
}

/// A line of words: a header.
pub(super) fn is_header(line: &[u8], separator: u8) -> bool {
    let mut fields = [&line[..0]; super::COLUMNS_MAX];
    let count = split(line, separator, &mut fields);
    !fields[..count].iter().any(|field| is_number(field))
}

/// A number of units in bytes.
pub(super) fn bytes(name: &'static str, text: &[u8], unit: u64, field: Field) -> Parse<u64> {
    let number = match whole(text) {
        Some(number) => number,
        // Scripts print `4096.0`.
        None => Cursor::<BLANKS>::new(text).decimal(Field { name, ..field }, 0)?,
    };
    let bytes = number.checked_mul(unit).filter(|bytes| *bytes <= field.max);
    bytes.ok_or_else(|| BadRow::new(name, text, Problem::TooLarge, field.allowed))
}

/// A time in ns; without a unit it is a date.
pub(super) fn time(name: &'static str, text: &[u8], unit: Option<TimeUnit>) -> Parse<u64> {
    match unit {
        Some(unit) => {
            let mut cursor = Cursor::<BLANKS>::new(text);
            let at = cursor.time(name, unit)?;
            cursor.end("a number")?;
            Ok(at)
        }
        None => date(text).ok_or_else(|| {
            BadRow::new(name, text, Problem::NotANumber, "a date such as 2016-02-22 10:00:00.5, from 1970 to 2553")
        }),
    }
}

/// A duration in ns, which may be blank.
pub(super) fn latency(text: &[u8], unit: Option<TimeUnit>) -> Parse<u64> {
    if text.is_empty() { Ok(0) } else { time("latency", text, unit) }
}

/// The number of an object: what it is, or a hash of 64 bits if it is a word.
pub(super) fn object(text: &[u8]) -> Parse<u64> {
    if text.is_empty() {
        return Err(BadRow::new("object", text, Problem::Missing, "a number or a word"));
    }
    // Fowler, Noll and Vo, variant 1a: the same on every machine.
    let hash = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    Ok(whole(text).unwrap_or_else(|| text.iter().fold(0xCBF2_9CE4_8422_2325, hash)))
}

/// What a word asks for in most traces.
pub(super) fn operation(word: &[u8]) -> Option<HostOp> {
    const WORDS: [(HostOp, &[&str]); 4] = [
        (HostOp::Read, &["r", "read", "rd", "get", "reads", "gets", "diskread"]),
        (
            HostOp::Write,
            &["w", "write", "wr", "put", "set", "writes", "add", "replace", "update", "insert", "diskwrite"],
        ),
        (HostOp::Trim, &["d", "t", "trim", "discard", "unmap", "delete", "deallocate"]),
        (HostOp::Flush, &["f", "flush", "sync", "fsync", "datasync", "fdatasync", "diskflush"]),
    ];
    let word = std::str::from_utf8(word).ok()?.to_ascii_lowercase();
    let known = WORDS.iter().find(|(_, words)| words.contains(&word.as_str())).map(|(op, _)| *op);
    known.or_else(|| rwbs(&word))
}

/// The letters of blkparse: WS, RA, FWFS, ...
fn rwbs(word: &str) -> Option<HostOp> {
    let letters = word.strip_prefix('f').unwrap_or(word);
    let flags = letters.get(1..)?;
    if !flags.chars().all(|letter| "fsambv".contains(letter)) || word.len() > 6 {
        return None;
    }
    match letters.as_bytes().first()? {
        b'r' => Some(HostOp::Read),
        b'w' => Some(HostOp::Write),
        b'd' => Some(HostOp::Trim),
        _ => None,
    }
}

/// A date of the years 1970 to 2553, UTC, in ns since 1970: `2016-02-22 10:00:00.5`, `2016/02/22T10:00:00Z`.
pub(super) fn date(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?.trim_end_matches('Z');
    let (day, clock) = text.split_once(['T', ' '])?;
    let mut parts = day.split(['-', '/']).map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() || !(1970..2554).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day)
    {
        return None;
    }
    let mut parts = clock.trim().splitn(3, ':');
    let (hour, minute) = (parts.next()?.parse::<u64>().ok()?, parts.next()?.parse::<u64>().ok()?);
    let second = Cursor::<BLANKS>::new(parts.next().unwrap_or("0").as_bytes()).time("time", TimeUnit::Seconds).ok()?;
    if hour > 23 || minute > 59 || second >= 61_000_000_000 {
        return None;
    }
    // Days since 1970 of a calendar whose years begin in March (the leap day is the last).
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1;
    let seconds = days.checked_sub(719_468)? * 86_400 + hour * 3_600 + minute * 60;
    seconds.checked_mul(1_000_000_000)?.checked_add(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_split_at_separators_outside_quotes() {
        let fields = |line: &'static str, separator| {
            let mut fields = [&b""[..]; 8];
            let count = split(line.as_bytes(), separator, &mut fields);
            fields[..count].iter().map(|field| std::str::from_utf8(field).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(fields("1, \"a,b\" ,,3", b','), ["1", "a,b", "", "3"]);
        assert_eq!(fields("  1 \t 2  3 ", b' '), ["1", "2", "3"]);
        assert_eq!(fields("a\t\tb\t", b'\t'), ["a", "", "b", ""]);
        assert_eq!(fields("\"open", b','), ["\"open"]);
        assert_eq!(fields("1;2;3;4;5;6;7;8;9", b';').len(), 8);
        assert_eq!(fields("", b','), [""; 0]);
    }

    #[test]
    fn dates_are_seconds_since_1970() {
        assert_eq!(date(b"1970-01-01 00:00:00"), Some(0));
        assert_eq!(date(b"2016-02-22T10:00:00.5Z"), Some(1_456_135_200_500_000_000));
        assert_eq!(date(b"2000/02/29 23:59"), Some(951_868_740_000_000_000));
        for wrong in ["2016-02-22", "1969-12-31 00:00:00", "2016-13-01 00:00:00", "2016-02-22 25:00:00", "a-b-c d:e:f"]
        {
            assert_eq!(date(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn words_are_operations_in_any_case() {
        for (word, op) in [("READ", HostOp::Read), ("w", HostOp::Write), ("WS", HostOp::Write), ("RAM", HostOp::Read)] {
            assert_eq!(operation(word.as_bytes()), Some(op), "{word}");
        }
        assert_eq!((operation(b"Discard"), operation(b"FLUSH")), (Some(HostOp::Trim), Some(HostOp::Flush)));
        assert_eq!((operation(b"0"), operation(b"close"), operation(b"")), (None, None, None));
    }
}
