//! Numbers, sizes and times on the command line, and what is allowed.

use nandlab::types::{Bytes, Nanos};
use nandlab_lab::rounded_size;

/// A number of a range.
pub fn ranged(text: &str, low: u64, high: u64) -> Result<u64, String> {
    let said = || format!("allowed is a whole number from {low} to {high}");
    let n: u64 = text.parse().map_err(|_| said())?;
    if (low..=high).contains(&n) { Ok(n) } else { Err(said()) }
}

/// Any number that survives as TOML, which has no integers beyond 2^63 - 1.
pub fn any(text: &str) -> Result<u64, String> {
    ranged(text, 0, i64::MAX as u64)
}

/// Such a number from 1 on.
pub fn positive(text: &str) -> Result<u64, String> {
    ranged(text, 1, i64::MAX as u64)
}

/// A size of memory as it is typed or as tables show it, with a fraction of a byte left out: memories hold whole pages anyway.
pub fn size(text: &str) -> Result<Bytes, String> {
    rounded_size(text, f64::floor)
}

/// A time above zero.
pub fn time(text: &str) -> Result<Nanos, String> {
    match Nanos::parse(text)? {
        Nanos::ZERO => {
            Err("allowed is a time above zero, as in 60s; leave it out, and times stay as they are".to_owned())
        }
        time => Ok(time),
    }
}

/// Threads.
pub fn threads(text: &str) -> Result<usize, String> {
    ranged(text, 1, 1024).map(|n| n as usize)
}

/// The number before a unit and that unit, of text such as `12.5ms`; nothing for other text.
fn with_unit(text: &str) -> Option<(u128, usize, &str)> {
    let (number, unit) = text.split_at(text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') {
        return None;
    }
    Some((format!("{whole}{fraction}").parse().ok()?, fraction.len(), unit.trim_start()))
}

/// A time as a trace records it, exact to the ns: up to 2^64 - 1 ns, as file times of Windows are.
pub fn recorded_time(text: &str) -> Result<u64, String> {
    let unit = |unit| [("ns", 0), ("us", 3), ("ms", 6), ("s", 9)].into_iter().find(|(name, _)| *name == unit);
    let exact = with_unit(text).and_then(|(digits, decimals, word)| {
        let power = u32::try_from(unit(word)?.1).ok()?.checked_sub(u32::try_from(decimals).ok()?)?;
        digits.checked_mul(10u128.pow(power))
    });
    match exact {
        Some(ns) => u64::try_from(ns).map_err(|_| format!("`{text}` is outside 0 to 18446744073s (2^64 - 1 ns)")),
        None => Nanos::parse(text).map(|time| time.0),
    }
}

/// A byte of an address space as a trace records it: up to 2^63 - 1.
pub fn recorded_offset(text: &str) -> Result<u64, String> {
    let shift = |unit: &str| match unit.to_ascii_lowercase().as_str() {
        "b" => Some(0),
        "k" | "kib" => Some(10),
        "m" | "mib" => Some(20),
        "g" | "gib" => Some(30),
        "t" | "tib" => Some(40),
        _ => None,
    };
    let plain = || text.parse::<u128>().ok().map(|bytes| (bytes, 0, "b"));
    let exact = with_unit(text).or_else(plain).filter(|(_, decimals, _)| *decimals == 0);
    match exact.and_then(|(number, _, unit)| number.checked_mul(1 << shift(unit)?)) {
        Some(bytes) => i64::try_from(bytes)
            .map(i64::cast_unsigned)
            .map_err(|_| format!("`{text}` is outside 0 to 9223372036854775807 bytes (8388608TiB - 1)")),
        None => Bytes::parse(text).map(|size| size.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_numbers_are_exact_in_their_whole_range() {
        assert_eq!(recorded_time("12816637400.0000001s"), Ok(12_816_637_400_000_000_100));
        assert_eq!(recorded_time("18446744073709551615ns"), Ok(u64::MAX));
        assert_eq!((recorded_time("1.5ms"), recorded_time("2 us")), (Ok(1_500_000), Ok(2_000)));
        assert_eq!(recorded_time("0.0004us"), Nanos::parse("0.0004us").map(|time| time.0));
        for (wrong, part) in [("18446744074s", "outside 0 to 18446744073s"), ("5", "has no unit"), ("-1s", "outside")] {
            assert!(recorded_time(wrong).unwrap_err().contains(part), "{wrong}");
        }
        assert_eq!(recorded_offset("9223372036854775807"), Ok(i64::MAX.cast_unsigned()));
        assert_eq!(
            (recorded_offset("5TiB"), recorded_offset("1.5KiB"), recorded_offset("0")),
            (Ok(5 << 40), Ok(1536), Ok(0))
        );
        for (wrong, part) in [("8388608TiB", "outside 0 to"), ("1kB", "ambiguous"), ("0.3", "not a whole number")] {
            assert!(recorded_offset(wrong).unwrap_err().contains(part), "{wrong}");
        }
    }
}
