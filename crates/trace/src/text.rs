//! Helpers to look at the columns of a line.

/// The columns of a line, trimmed; runs of blanks separate if `separator` is a blank.
pub(crate) fn columns(line: &[u8], separator: u8) -> Vec<&[u8]> {
    if separator == b' ' {
        return line.split(|b| matches!(b, b' ' | b'\t')).filter(|c| !c.is_empty()).collect();
    }
    line.split(|&b| b == separator).map(<[u8]>::trim_ascii).collect()
}

/// Digits only.
pub(crate) fn is_uint(column: &[u8]) -> bool {
    !column.is_empty() && column.iter().all(u8::is_ascii_digit)
}

/// Digits with at most one point.
pub(crate) fn is_decimal(column: &[u8]) -> bool {
    let point = column.iter().position(|b| *b == b'.').unwrap_or(column.len());
    let (whole, fraction) = (&column[..point], column.get(point + 1..).unwrap_or(&[]));
    (is_uint(whole) || is_uint(fraction)) && [whole, fraction].iter().all(|part| part.iter().all(u8::is_ascii_digit))
}

/// The whole number in a column, if it is one.
pub(crate) fn uint(column: &[u8]) -> Option<u64> {
    std::str::from_utf8(column).ok().filter(|_| is_uint(column))?.parse().ok()
}

/// `R` or `W` in any case.
pub(crate) fn is_rw(column: &[u8]) -> bool {
    matches!(column, b"R" | b"r" | b"W" | b"w")
}

/// `Read` or `Write` in any case.
pub(crate) fn is_read_write(column: &[u8]) -> bool {
    column.eq_ignore_ascii_case(b"read") || column.eq_ignore_ascii_case(b"write")
}
