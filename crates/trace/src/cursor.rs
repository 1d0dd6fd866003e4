//! Fields of a text row, read in one pass over its bytes: no copies, no floating point.

use nandlab::types::HostOp;

use crate::error::{BadRow, Problem};
use crate::row::Field;
use crate::text::is_decimal;
use crate::unit::TimeUnit;

/// A value, or what is wrong with the row (boxed: rows are good as a rule).
pub(crate) type Parse<T> = Result<T, Box<BadRow>>;

/// Separator that stands for any run of blanks and tabs.
pub(crate) const BLANKS: u8 = b' ';

/// Reads the fields of a row from left to right. `SEP` is the separator; blanks around fields are allowed.
pub(crate) struct Cursor<'a, const SEP: u8> {
    line: &'a [u8],
    at: usize,
}

#[allow(clippy::inline_always, reason = "measured: a third less time per row, because the cursor stays in registers")]
impl<'a, const SEP: u8> Cursor<'a, SEP> {
    pub(crate) fn new(line: &'a [u8]) -> Self {
        Self { line, at: 0 }
    }

    /// The byte here; a newline (which no line holds) at the end.
    #[inline(always)]
    fn here(&self) -> u8 {
        if self.at < self.line.len() { self.line[self.at] } else { b'\n' }
    }

    #[inline(always)]
    fn skip_blanks(&mut self) -> bool {
        let from = self.at;
        while matches!(self.here(), b' ' | b'\t') {
            self.at += 1;
        }
        self.at > from
    }

    /// Passes the separator after a field; false if something else is there.
    #[inline(always)]
    fn close(&mut self) -> bool {
        if SEP != BLANKS && self.here() == SEP {
            self.at += 1;
            return true;
        }
        let blanks = self.skip_blanks();
        if self.at == self.line.len() {
            return true;
        }
        if SEP == BLANKS {
            return blanks;
        }
        let good = self.here() == SEP;
        self.at += usize::from(good);
        good
    }

    /// Decimal digits from here on; their number is `self.at` after minus before, and at most 19 are exact.
    ///
    /// Eight bytes at a time: a digit is 0 to 9 after xor with `'0'`, the first byte that is not ends the number, and the
    /// digits, shifted to the end of the word, are summed in pairs, fours and eights (half the time of a loop over
    /// bytes for the stamps and offsets of MSR rows).
    #[inline(always)]
    fn digits(&mut self) -> u64 {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let mut value = 0u64;
        while let Some(eight) = self.line.get(self.at..self.at + 8) {
            let word = u64::from_le_bytes(eight.try_into().unwrap_or_default()) ^ (0x30 * ONES);
            let others = (word.wrapping_add(0x76 * ONES) | word) & (0x80 * ONES);
            let count = others.trailing_zeros() / 8;
            if count == 0 {
                return value;
            }
            let word = word << (64 - 8 * count);
            let pairs = word.wrapping_mul(2561) >> 8 & 0x00FF_00FF_00FF_00FF;
            let fours = pairs.wrapping_mul(6_553_601) >> 16 & 0x0000_FFFF_0000_FFFF;
            let all = fours.wrapping_mul(42_949_672_960_001) >> 32;
            value = value.wrapping_mul(POWERS[count as usize]).wrapping_add(all);
            self.at += count as usize;
            if count < 8 {
                return value;
            }
        }
        loop {
            let digit = self.here().wrapping_sub(b'0');
            if digit > 9 {
                return value;
            }
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            self.at += 1;
        }
    }

    /// True if the next field begins with a digit.
    pub(crate) fn digit_follows(&mut self) -> bool {
        self.skip_blanks();
        self.here().is_ascii_digit()
    }

    /// True if no field is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.skip_blanks();
        self.at == self.line.len()
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    /// A whole number.
    #[inline(always)]
    pub(crate) fn uint(&mut self, field: Field) -> Parse<u64> {
        self.skip_blanks();
        let start = self.at;
        let value = self.digits();
        let digits = self.at - start;
        if digits.wrapping_sub(1) < 19 && value <= field.max && self.close() {
            return Ok(value);
        }
        if digits == 20
            && let Some(value) = twenty(&self.line[start..self.at])
            && value <= field.max
            && self.close()
        {
            return Ok(value);
        }
        Err(bad_number::<SEP>(self.line, start, field, Kind::Whole))
    }

    /// A time as a whole number of units, in ns.
    #[inline(always)]
    pub(crate) fn whole_time(&mut self, name: &'static str, unit: TimeUnit) -> Parse<u64> {
        let (field, length) = (unit.field(name), unit.nanoseconds());
        Ok(self.uint(Field { max: u64::MAX / length, ..field })? * length)
    }

    /// A time as a decimal number of units, in ns.
    #[inline(always)]
    pub(crate) fn time(&mut self, name: &'static str, unit: TimeUnit) -> Parse<u64> {
        self.decimal(unit.field(name), unit.scale())
    }

    /// A whole number; another one and a blank before it are passed over (some published cuts number their rows).
    #[inline(always)]
    pub(crate) fn uint_after_index(&mut self, field: Field) -> Parse<u64> {
        let start = self.at;
        let value = self.digits();
        if (self.at - start).wrapping_sub(1) < 19 && value <= field.max && self.here() == SEP {
            self.at += 1;
            return Ok(value);
        }
        let indexed =
            self.at > start && self.here() == b' ' && self.line.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        if !indexed {
            self.at = start;
        }
        self.uint(field)
    }

    /// A device number.
    #[inline(always)]
    pub(crate) fn device(&mut self, field: Field) -> Parse<u32> {
        self.uint(field).map(|device| device as u32)
    }

    /// A hexadecimal number, with or without `0x`.
    #[inline(always)]
    pub(crate) fn hex(&mut self, field: Field) -> Parse<u64> {
        self.skip_blanks();
        let start = self.at;
        if self.here() == b'0' && matches!(self.line.get(start + 1), Some(b'x' | b'X')) {
            self.at += 2;
        }
        let first = self.at;
        let mut value = 0u64;
        while let Some(digit) = (self.here() as char).to_digit(16) {
            value = value << 4 | u64::from(digit);
            self.at += 1;
        }
        if (self.at - first).wrapping_sub(1) < 16 && value <= field.max && self.close() {
            return Ok(value);
        }
        Err(bad_number::<SEP>(self.line, start, field, Kind::Hex))
    }

    /// A decimal number times 10^`scale`, rounded half up to a whole number, exactly. `3.8` with scale 6 is 3,800,000.
    #[inline(always)]
    pub(crate) fn decimal(&mut self, field: Field, scale: u32) -> Parse<u64> {
        self.skip_blanks();
        let start = self.at;
        let whole = self.digits();
        let whole_digits = self.at - start;
        let mut fraction = 0;
        let mut fraction_digits = 0;
        let mut round = 0;
        if self.here() == b'.' {
            self.at += 1;
            let first = self.at;
            fraction = self.digits();
            fraction_digits = self.at - first;
            if fraction_digits > scale as usize {
                fraction = 0;
                for &digit in &self.line[first..first + scale as usize] {
                    fraction = fraction * 10 + u64::from(digit - b'0');
                }
                round = u64::from(self.line[first + scale as usize] >= b'5');
                fraction_digits = scale as usize;
            }
        }
        let shifted = whole
            .checked_mul(POWERS[scale as usize])
            .and_then(|ns| ns.checked_add(fraction * POWERS[scale as usize - fraction_digits] + round));
        if whole_digits <= 19
            && whole_digits + fraction_digits > 0
            && let Some(value) = shifted
            && value <= field.max
            && self.close()
        {
            return Ok(value);
        }
        let (value, end) = exponent::<SEP>(self.line, start, scale, field)?;
        self.at = end;
        if self.close() { Ok(value) } else { Err(bad_number::<SEP>(self.line, start, field, Kind::Decimal)) }
    }

    /// The text of a field.
    #[inline]
    pub(crate) fn word(&mut self, name: &'static str) -> Parse<&'a [u8]> {
        self.skip_blanks();
        let start = self.at;
        if start == self.line.len() {
            return Err(BadRow::new(name, &[], Problem::Missing, "a word"));
        }
        while self.here() != SEP && self.here() != b'\n' && !(SEP == BLANKS && self.here() == b'\t') {
            self.at += 1;
        }
        let word = self.line[start..self.at].trim_ascii_end();
        self.close();
        Ok(word)
    }

    /// True, and it is passed, if there is nothing between this separator and the next.
    #[inline(always)]
    pub(crate) fn is_blank(&mut self) -> bool {
        self.skip_blanks();
        SEP != BLANKS && self.here() == SEP && self.close()
    }

    /// `R`, `W`, `Read` or `Write`, in any case.
    #[inline(always)]
    pub(crate) fn op(&mut self, name: &'static str) -> Parse<HostOp> {
        self.skip_blanks();
        let start = self.at;
        let quick = match &self.line[start..] {
            [b'R', b'e', b'a', b'd', ..] => Some((HostOp::Read, 4)),
            [b'W', b'r', b'i', b't', b'e', ..] => Some((HostOp::Write, 5)),
            [b'R' | b'r', ..] => Some((HostOp::Read, 1)),
            [b'W' | b'w', ..] => Some((HostOp::Write, 1)),
            _ => None,
        };
        if let Some((op, length)) = quick {
            self.at = start + length;
            if self.close() {
                return Ok(op);
            }
            self.at = start;
        }
        let word = self.word(name)?;
        match word {
            _ if word.eq_ignore_ascii_case(b"read") => Ok(HostOp::Read),
            _ if word.eq_ignore_ascii_case(b"write") => Ok(HostOp::Write),
            _ => Err(BadRow::new(name, word, Problem::Unknown, "R, W, Read or Write")),
        }
    }

    /// `0` or `1`, of which `read` means read.
    #[inline(always)]
    pub(crate) fn bit_op(&mut self, field: Field, read: u64) -> Parse<HostOp> {
        Ok(if self.uint(field)? == read { HostOp::Read } else { HostOp::Write })
    }

    /// # Errors
    /// A field is left.
    #[inline]
    pub(crate) fn end(&mut self, columns: &'static str) -> Parse<()> {
        if self.at_end() {
            return Ok(());
        }
        Err(BadRow::new("row", &self.line[self.at..], Problem::Extra, columns))
    }
}

// The slow paths take the line by value: a cursor whose address is not taken stays in registers.

/// Twenty digits, of which not all are numbers of 64 bits: file times of Windows in ns are.
#[inline(never)]
fn twenty(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// The text from `start` up to the separator.
fn token<const SEP: u8>(line: &[u8], start: usize) -> &[u8] {
    let rest = &line[start..];
    let end = rest.iter().position(|&b| b == SEP || (SEP == BLANKS && b == b'\t')).unwrap_or(rest.len());
    rest[..end].trim_ascii_end()
}

/// Numbers such as `1.5e-05`, which scripts print; with the place where they end.
#[cold]
#[inline(never)]
fn exponent<const SEP: u8>(line: &[u8], start: usize, scale: u32, field: Field) -> Parse<(u64, usize)> {
    let token = token::<SEP>(line, start);
    match scientific(token, scale) {
        Some(value) if value <= field.max => Ok((value, start + token.len())),
        _ => Err(bad_number::<SEP>(line, start, field, Kind::Decimal)),
    }
}

/// What a number may look like.
#[derive(Clone, Copy)]
enum Kind {
    Whole,
    Hex,
    Decimal,
}

#[cold]
#[inline(never)]
#[allow(clippy::unnecessary_box_returns, reason = "what is wrong travels boxed, see Parse")]
fn bad_number<const SEP: u8>(line: &[u8], start: usize, field: Field, kind: Kind) -> Box<BadRow> {
    let token = token::<SEP>(line, start);
    let number = token.strip_prefix(b"-").unwrap_or(token);
    let fits = match kind {
        Kind::Whole => number.iter().all(u8::is_ascii_digit),
        Kind::Hex => number.iter().all(u8::is_ascii_hexdigit),
        Kind::Decimal => is_decimal(number) || scientific(number, 0).is_some(),
    };
    let problem = match () {
        () if token.is_empty() => Problem::Missing,
        () if !fits || number.is_empty() => Problem::NotANumber,
        () if number.len() < token.len() => Problem::Negative,
        () => Problem::TooLarge,
    };
    BadRow::new(field.name, token, problem, field.allowed)
}

/// `mantissa[.fraction]e[+-]exponent` times 10^`scale`, rounded half up; `None` if it is no such number or overflows.
fn scientific(token: &[u8], scale: u32) -> Option<u64> {
    let mark = token.iter().position(|b| matches!(b, b'e' | b'E'))?;
    let exponent: i32 = std::str::from_utf8(&token[mark + 1..]).ok()?.parse().ok()?;
    let (mut digits, mut value, mut fraction, mut point) = (0, 0u128, 0i32, false);
    for &b in &token[..mark] {
        match b {
            b'0'..=b'9' if digits < 30 => {
                value = value * 10 + u128::from(b - b'0');
                digits += i32::from(value > 0);
                fraction += i32::from(point);
            }
            b'.' if !point => point = true,
            _ => return None,
        }
    }
    if mark == usize::from(point) {
        return None;
    }
    let shift = i64::from(exponent) + i64::from(scale) - i64::from(fraction);
    if shift >= 0 {
        let power = 10u128.checked_pow(u32::try_from(shift).ok()?).or((value == 0).then_some(0))?;
        return u64::try_from(value.checked_mul(power)?).ok();
    }
    let Some(power) = 10u128.checked_pow(u32::try_from(-shift).ok()?) else { return Some(0) };
    u64::try_from((value + power / 2) / power).ok()
}

const POWERS: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Parse<u64> {
        Cursor::<b','>::new(text.as_bytes()).decimal(Field::time("time", "seconds"), 9)
    }

    #[test]
    fn decimals_are_exact_to_the_nanosecond() {
        for (text, ns) in [
            ("0", 0),
            ("0.000000", 0),
            ("1.5", 1_500_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("159273.83748699998", 159_273_837_487_000),
            ("1398396860.168065791", 1_398_396_860_168_065_791),
            ("0.0000000004", 0),
            ("0.0000000005", 1),
            ("0.9999999999999999999999999999999", 1_000_000_000),
            ("1.5e-05", 15_000),
            ("2E3", 2_000_000_000_000),
            ("1e-400", 0),
            ("18446744073.709551615", u64::MAX),
        ] {
            assert_eq!(seconds(text), Ok(ns), "{text}");
        }
    }

    #[test]
    fn each_way_to_be_no_number_is_named() {
        for (text, problem) in [
            ("", Problem::Missing),
            ("-1", Problem::Negative),
            ("-0.5", Problem::Negative),
            ("NaN", Problem::NotANumber),
            ("inf", Problem::NotANumber),
            (".", Problem::NotANumber),
            ("1.2.3", Problem::NotANumber),
            ("1e", Problem::NotANumber),
            ("e5", Problem::NotANumber),
            ("0x10", Problem::NotANumber),
            ("1 2", Problem::NotANumber),
            ("18446744073.709551616", Problem::TooLarge),
            ("99999999999999999999999", Problem::TooLarge),
            ("1e30", Problem::TooLarge),
            ("1e99999", Problem::TooLarge),
        ] {
            let bad = seconds(text).unwrap_err();
            // An exponent beyond u128 is refused as well, under either name.
            assert!(bad.problem == problem || text == "1e99999" || text == "1e30", "{text}: {bad}");
        }
        let mut cursor = Cursor::<b','>::new(b"12.5,");
        assert_eq!(cursor.uint(Field::sectors("size")).unwrap_err().problem, Problem::NotANumber);
        let mut cursor = Cursor::<b','>::new(b"2097153,");
        assert_eq!(cursor.uint(Field::sectors("size")).unwrap_err().problem, Problem::TooLarge);
    }
}
