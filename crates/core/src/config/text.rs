//! Values as people write them on a command line.

use serde_json::Value;

/// A value as people write it on a command line: number, boolean, TOML array or inline table, else a string.
pub(super) fn scalar(text: &str) -> Value {
    let parsed: Result<toml::Table, _> = toml::from_str(&format!("v = {text}"));
    let value = parsed.ok().and_then(|mut table| table.remove("v")).and_then(|v| serde_json::to_value(v).ok());
    // JSON has no NaN: as a string it is refused by its own name.
    value.filter(|value| !value.is_null()).unwrap_or_else(|| Value::String(text.to_owned()))
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
