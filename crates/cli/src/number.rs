//! Whole numbers on the command line, and what is allowed.

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

/// Threads.
pub fn threads(text: &str) -> Result<usize, String> {
    ranged(text, 1, 1024).map(|n| n as usize)
}
