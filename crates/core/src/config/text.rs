//! Values as people write them on a command line.

use serde_json::Value;

/// A value as people write it on a command line: number, boolean, TOML array or inline table, else a string.
pub(super) fn scalar(text: &str) -> Value {
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("v = {text}"));
    // JSON has no infinities: as a string they are refused by their own name.
    let finite = parsed.ok().filter(|table| not_finite(table).is_none());
    let value = finite.and_then(|mut table| table.remove("v")).and_then(|v| serde_json::to_value(v).ok());
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// The dotted key of the first number of a table that is infinite or none at all: JSON would take it for a key that is left out.
pub(super) fn not_finite(table: &toml::Table) -> Option<String> {
    fn is_finite(value: &toml::Value) -> bool {
        match value {
            toml::Value::Float(number) => number.is_finite(),
            toml::Value::Array(values) => values.iter().all(is_finite),
            toml::Value::Table(below) => not_finite(below).is_none(),
            _ => true,
        }
    }
    table.iter().find_map(|(key, value)| match value {
        toml::Value::Table(below) => Some(format!("{key}.{}", not_finite(below)?)),
        value => (!is_finite(value)).then(|| key.clone()),
    })
}

/// The text that [`scalar`] reads as this value; strings without quotes where it takes them so.
pub(super) fn typed(value: &Value) -> String {
    match value {
        Value::String(text) if scalar(text) == *value => text.clone(),
        _ => toml::Value::try_from(value).map_or_else(|_| value.to_string(), |value| value.to_string()),
    }
}

/// The parts of a text between separators that are not inside parentheses, brackets or braces.
pub fn split_outside(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if letter == separator && depth <= 0 => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_is_split_outside_brackets_only() {
        assert_eq!(split_outside("a,b:x=[1,2], c", ','), ["a", "b:x=[1,2]", " c"]);
        assert_eq!(split_outside("mix:parts=(a:b=1)@2,(c)@1:x=1", ':'), ["mix", "parts=(a:b=1)@2,(c)@1", "x=1"]);
        assert_eq!(split_outside("", ':'), [""]);
        assert_eq!(split_outside("a):b", ':'), ["a)", "b"]);
    }
}
