//! Several files that are one trace: which, in which order, and how they are put together.

use std::cmp::Ordering;
use std::path::Path;

use crate::error::TraceError;
use crate::generators;

/// The files that arguments name: a path that exists, or `-`, stands for itself; any other with `*`, `?` or `[` is a
/// pattern, and stands for the files that match, in natural order of their names (`cpu.2` before `cpu.10`). Arguments
/// keep their order.
///
/// # Errors
/// A pattern is malformed, matches no file, or meets a folder that cannot be read.
pub fn expand(arguments: &[String]) -> Result<Vec<String>, TraceError> {
    let mut files = Vec::new();
    for argument in arguments {
        let made = argument.starts_with(generators::PREFIX);
        if made || argument == "-" || !argument.contains(['*', '?', '[']) || Path::new(argument).exists() {
            files.push(argument.clone());
            continue;
        }
        let wrong = |problem: String| TraceError::Pattern { pattern: argument.clone(), problem };
        let paths = glob::glob(argument).map_err(|error| wrong(format!("this is not a pattern: {error}")))?;
        let mut found = Vec::new();
        for path in paths {
            let path = path.map_err(|error| wrong(error.to_string()))?;
            if path.is_dir() {
                continue;
            }
            let name = path.into_os_string().into_string();
            found.push(name.map_err(|name| wrong(format!("{} is not UTF-8", name.display())))?);
        }
        if found.is_empty() {
            return Err(wrong("no file matches this pattern".to_owned()));
        }
        found.sort_by(|a, b| natural(a, b));
        files.extend(found);
    }
    Ok(files)
}

/// Compares names as people count: runs of digits by their value, all else byte by byte.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    while let (Some(x), Some(y)) = (left.first(), right.first()) {
        let (order, past) = if x.is_ascii_digit() && y.is_ascii_digit() {
            let (l, r) = (number(left), number(right));
            (l.0.len().cmp(&r.0.len()).then_with(|| l.0.cmp(r.0)), (l.1, r.1))
        } else {
            (x.cmp(y), (&left[1..], &right[1..]))
        };
        if order.is_ne() {
            return order;
        }
        (left, right) = past;
    }
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The digits at the beginning, without leading zeros, and what follows them.
fn number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let start = text[..end].iter().position(|byte| *byte != b'0').unwrap_or(end);
    (&text[start..end], &text[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_are_ordered_by_their_value() {
        let mut names = ["cpu.10", "cpu.2", "cpu.02b", "a", "cpu.1", "cpu.02"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "cpu.1", "cpu.02", "cpu.2", "cpu.02b", "cpu.10"]);
    }
}
