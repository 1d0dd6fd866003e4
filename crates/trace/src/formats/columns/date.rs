//! Dates as times of requests.

use crate::cursor::{BLANKS, Cursor};
use crate::unit::TimeUnit;

/// What is read as a date, for messages.
pub(super) const ALLOWED: &str = "a date such as 2016-02-22 10:00:00.5, from 1970 to 2553; AM, PM, Z, UTC or an offset as in +02:00 may \
                                  follow";

/// A date of the years 1970 to 2553 in ns since 1970: `2016-02-22 10:00:00.5`, `2016/02/22T10:00:00Z`. It is UTC, unless an
/// offset follows (`+02:00`, `+0200`, `+02`); `AM` and `PM` make hours of 1 to 12 those of the first and second half of the day.
/// `None` for anything else, and for days that a month does not have.
pub(super) fn date(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (day, clock) = text.split_once(['T', ' '])?;
    let clock = clock.trim();
    let end =
        clock.find(|letter: char| !letter.is_ascii_digit() && letter != ':' && letter != '.').unwrap_or(clock.len());
    let (clock, rest) = clock.split_at(end);
    let (half, zone) = half_of_day(rest.trim_start());
    let mut parts = clock.splitn(3, ':');
    let (hour, minute) = (number(parts.next()?)?, number(parts.next()?)?);
    let second = Cursor::<BLANKS>::new(parts.next().unwrap_or("0").as_bytes()).time("time", TimeUnit::Seconds).ok()?;
    let hour = match half {
        None => Some(hour).filter(|hour| *hour < 24)?,
        Some(half) => Some(hour % 12 + half).filter(|_| (1..=12).contains(&hour))?,
    };
    if minute > 59 || second >= 61_000_000_000 {
        return None;
    }
    let seconds = (days(day)? * 86_400 + hour * 3_600 + minute * 60).cast_signed() - offset(zone.trim_start())?;
    u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?.checked_add(second)
}

/// Days from 1970 on to a day such as `2016-02-22`.
fn days(text: &str) -> Option<u64> {
    let mut parts = text.split(['-', '/']).map(number);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_leap = year % 4 == 0 && (year % 100 > 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + u64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if parts.next().is_some() || !(1970..2554).contains(&year) || !(1..=length).contains(&day) {
        return None;
    }
    // Days of a calendar whose years begin in March (the leap day is the last).
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    (year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1).checked_sub(719_468)
}

/// The hour at which the named half of the day begins, and what follows its name.
fn half_of_day(text: &str) -> (Option<u64>, &str) {
    let begins = |word: &str| text.get(..2).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let half = if begins("am") { Some(0) } else { begins("pm").then_some(12) };
    (half, if half.is_some() { &text[2..] } else { text })
}

/// Seconds that a clock is ahead of UTC: nothing, `Z`, `UTC`, `GMT`, `+02:00`, `-0530`, `+02`.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first() {
        None => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return ["z", "utc", "gmt"].iter().any(|name| zone.eq_ignore_ascii_case(name)).then_some(0),
    };
    let digits = &zone[1..];
    let (hours, minutes) = match (digits.split_once(':'), digits.len()) {
        (Some((hours, minutes)), 5) if hours.len() == 2 => (hours, minutes),
        (None, 4) if digits.is_ascii() => digits.split_at(2),
        (None, 2) => (digits, "0"),
        _ => return None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then(|| sign * (hours * 3_600 + minutes * 60).cast_signed())
}

/// A number of decimal digits only.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_seconds_since_1970() {
        assert_eq!(date(b"1970-01-01 00:00:00"), Some(0));
        assert_eq!(date(b"2016-02-22T10:00:00.5Z"), Some(1_456_135_200_500_000_000));
        assert_eq!(date(b"2000/02/29 23:59"), Some(951_868_740_000_000_000));
        for wrong in [
            "2016-02-22",
            "1969-12-31 00:00:00",
            "2016-13-01 00:00:00",
            "2016-02-22 25:00:00",
            "a-b-c d:e:f",
            "2016-02-31 00:00:00",
            "2015-02-29 00:00:00",
            "2016-04-31 00:00:00",
            "2016-01-00 00:00:00",
        ] {
            assert_eq!(date(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn date_has_a_half_of_the_day_and_an_offset() {
        let ten = date(b"2016-02-22 10:00:00");
        for same in [
            "2016-02-22 10:00:00 AM",
            "2016-02-22 10:00:00am",
            "2016-02-22 12:00:00+02:00",
            "2016-02-22 12:00:00 +0200",
            "2016-02-22T12:00:00+02",
            "2016-02-22 04:30:00 -05:30",
            "2016-02-22 12:00 PM +0200",
            "2016-02-22 10:00:00 UTC",
            "2016-02-22 10:00:00 +0000",
        ] {
            assert_eq!(date(same.as_bytes()), ten, "{same}");
        }
        assert_eq!(date(b"2016-02-22 01:00:00 PM"), date(b"2016-02-22 13:00:00"));
        assert_eq!(date(b"2016-02-22 12:30 AM"), date(b"2016-02-22 00:30"));
        for wrong in [
            "2016-02-22 13:00:00 PM",
            "2016-02-22 00:00:00 AM",
            "2016-02-22 10:00:00 EST",
            "2016-02-22 10:00:00 7",
            "2016-02-22 10:00:00 +2:00",
            "2016-02-22 10:00:00 +24:00",
            "2016-02-22 10:00:00ZZ",
            "2016-02-22 +10:00:00",
            "1970-01-01 01:00:00 +0200",
        ] {
            assert_eq!(date(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
