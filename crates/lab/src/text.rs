//! Results as text: numbers for people, JSON for programs; and texts that are numbers.

use nandlab::types::Bytes;

/// JSON for files: indented, with a line end.
///
/// # Panics
/// If the value is not plain data: results are.
pub fn json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("results are plain data");
    text.push('\n');
    text
}

/// `1 cell`, `2,000 cells`.
pub fn plural(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

/// With its first letter large.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A word as a shell reads it back.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A line of comma-separated values.
pub fn csv_line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let quoted = |field: S| {
        let text = field.as_ref();
        if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    fields.into_iter().map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// The number that a value of an axis is, or begins with: sizes in bytes; 0 for a name.
pub(crate) fn place(value: &str) -> (f64, bool) {
    if let Some(number) = value.parse().ok().filter(|number: &f64| number.is_finite()) {
        return (number, true);
    }
    if let Ok(Bytes(size)) = Bytes::parse(value) {
        return (size as f64, true);
    }
    let end = value.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(value.len());
    value[..end].parse().map_or((0.0, false), |number| (number, true))
}
