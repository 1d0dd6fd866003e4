//! Calendar times of traces whose clock is that of the world.

/// Seconds from 1601-01-01 to 1970-01-01.
const FILE_TIME_S: u64 = 11_644_473_600;
const DAY_S: u64 = 86_400;

/// A recorded time as `2007-02-22 17:00:02 UTC`, if the times of the format count from a known date and this one lies
/// between 1970 and 9999.
pub(crate) fn calendar(format: &str, at_ns: u64) -> Option<String> {
    let seconds = match format {
        "msr" => (at_ns / 1_000_000_000).checked_sub(FILE_TIME_S)?,
        "alibaba" | "tencent" => at_ns / 1_000_000_000,
        _ => return None,
    };
    let (mut year, mut day) = (1970, seconds / DAY_S);
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
        if year > 9_999 {
            return None;
        }
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (seconds % DAY_S / 3_600, seconds % 3_600 / 60, seconds % 60);
    Some(format!("{year}-{month:02}-{:02} {hour:02}:{minute:02}:{second:02} UTC", day + 1))
}

#[cfg(test)]
mod tests {
    use super::calendar;

    #[test]
    fn recorded_time_is_the_right_date() {
        let date = |format, at_ns| calendar(format, at_ns).unwrap_or_default();
        assert_eq!(date("tencent", 1_538_323_199 * 1_000_000_000), "2018-09-30 15:59:59 UTC");
        assert_eq!(date("alibaba", 1_577_808_000_000_046_000), "2019-12-31 16:00:00 UTC");
        assert_eq!(date("tencent", 951_782_400 * 1_000_000_000), "2000-02-29 00:00:00 UTC");
        // 116,444,736,000,000,000 units of 100 ns are the first second of 1970.
        assert_eq!(date("msr", 11_644_473_600 * 1_000_000_000), "1970-01-01 00:00:00 UTC");
        assert_eq!((calendar("msr", 5), calendar("spc", 5)), (None, None));
    }
}
