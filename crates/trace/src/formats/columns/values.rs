//! Fields of a delimited line and what they say.

use nandlab::types::HostOp;

use super::date;
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

/// A number of units, whole or decimal, in bytes.
///
/// # Errors
/// It is no number, negative, no whole number of bytes, or above what the field may have.
pub(super) fn bytes(name: &'static str, text: &[u8], unit: u64, field: Field) -> Parse<u64> {
    let field = Field { name, ..field };
    let too_large = || BadRow::new(name, text, Problem::TooLarge, field.allowed);
    if let Some(number) = whole(text) {
        return number.checked_mul(unit).filter(|bytes| *bytes <= field.max).ok_or_else(too_large);
    }
    // Says what is wrong with what is no number.
    let mut cursor = Cursor::<BLANKS>::new(text);
    cursor.decimal(field, 0)?;
    let number = text[..text.len() - cursor.rest().len()].trim_ascii_end();
    let in_bytes =
        unit == 1 && [&b"b"[..], b"byte", b"bytes"].iter().any(|word| word.eq_ignore_ascii_case(cursor.rest()));
    if !cursor.at_end() && !in_bytes {
        return Err(BadRow::new(name, text, Problem::NotANumber, field.allowed));
    }
    match times(number, unit) {
        Ok(bytes) if bytes <= field.max => Ok(bytes),
        Ok(_) | Err(Inexact::TooLarge) => Err(too_large()),
        Err(Inexact::Fraction) => {
            let allowed = format!("whole bytes: units of {unit} bytes, of which this is no whole number of bytes");
            Err(BadRow::new(name, text, Problem::NotANumber, allowed))
        }
    }
}

/// Why a number of units is no number of bytes.
enum Inexact {
    /// It is no whole number.
    Fraction,
    /// It is beyond 64 bits.
    TooLarge,
}

/// A decimal number below 2^64 times `factor`, exactly.
fn times(number: &[u8], factor: u64) -> Result<u64, Inexact> {
    let mark = number.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(number.len());
    let exponent = number.get(mark + 1..).map_or(Some(0), |text| std::str::from_utf8(text).ok()?.parse::<i32>().ok());
    let exponent = exponent.ok_or(Inexact::TooLarge)?;
    let mut halves = number[..mark].splitn(2, |byte| *byte == b'.');
    let (whole, fraction) = (halves.next().unwrap_or_default(), halves.next().unwrap_or_default());
    let zeros = fraction.iter().rev().take_while(|digit| **digit == b'0').count();
    let fraction = &fraction[..fraction.len() - zeros];
    let mut digits = whole.iter().chain(fraction).map(|digit| u128::from(digit.wrapping_sub(b'0')));
    // What 128 bits do not hold has more digits behind the point than make a whole number.
    let value = digits.try_fold(0u128, |value, digit| value.checked_mul(10)?.checked_add(digit));
    let product = value.and_then(|value| value.checked_mul(u128::from(factor))).ok_or(Inexact::Fraction)?;
    let power = i64::from(exponent) - i64::try_from(fraction.len()).map_err(|_| Inexact::Fraction)?;
    let shift = u32::try_from(power.unsigned_abs()).ok().and_then(|power| 10u128.checked_pow(power));
    let product = match (shift, power < 0) {
        _ if product == 0 => 0,
        (Some(shift), false) => product.checked_mul(shift).ok_or(Inexact::TooLarge)?,
        (Some(shift), true) if product.is_multiple_of(shift) => product / shift,
        (_, true) => return Err(Inexact::Fraction),
        (None, false) => return Err(Inexact::TooLarge),
    };
    u64::try_from(product).map_err(|_| Inexact::TooLarge)
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
        None => date::date(text).ok_or_else(|| BadRow::new(name, text, Problem::NotANumber, date::ALLOWED)),
    }
}

/// A duration in ns, which may be blank.
pub(super) fn latency(text: &[u8], unit: TimeUnit) -> Parse<u64> {
    if text.is_empty() { Ok(0) } else { time("latency", text, Some(unit)) }
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
    fn words_are_operations_in_any_case() {
        for (word, op) in [("READ", HostOp::Read), ("w", HostOp::Write), ("WS", HostOp::Write), ("RAM", HostOp::Read)] {
            assert_eq!(operation(word.as_bytes()), Some(op), "{word}");
        }
        assert_eq!((operation(b"Discard"), operation(b"FLUSH")), (Some(HostOp::Trim), Some(HostOp::Flush)));
        assert_eq!((operation(b"0"), operation(b"close"), operation(b"")), (None, None, None));
    }
}
