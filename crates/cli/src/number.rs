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
