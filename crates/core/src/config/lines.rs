//! Where keys stand in the user's file.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The line, from 1, on which a file says a dotted key, `ram.flush.age`, if it does.
pub(super) fn line_of_key(text: &str, key: &str) -> Option<usize> {
    let whole = DeTable::parse(text).ok()?;
    let (mut table, mut parts) = (whole.get_ref(), key.split('.').peekable());
    loop {
        let part = parts.next()?;
        let (name, value): (&Spanned<_>, &Spanned<_>) = table.iter().find(|(name, _)| name.get_ref() == part)?;
        match value.get_ref() {
            _ if parts.peek().is_none() => return Some(line_at(text, name.span().start)),
            DeValue::Table(inner) => table = inner,
            _ => return None,
        }
    }
}

/// The line, from 1, of a place in a text.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text[..at.min(text.len())].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::line_of_key;

    #[test]
    fn key_is_found_in_its_own_table() {
        let text = "seed = 3\n[device]\nname = \"x\"\ntiming.model = \"serial\"\n[device.host]\nlink = \"none\"\n\n\
                    [buffer]\nname = \"lru\"\n[ftl]\nname = \"page\"\nvictim = { d_choices = 3 }\n";
        let keys = [
            ("seed", Some(1)),
            ("device", Some(2)),
            ("device.name", Some(3)),
            ("device.timing", Some(4)),
            ("device.timing.model", Some(4)),
            ("device.host", Some(5)),
            ("device.host.link", Some(6)),
            ("buffer", Some(8)),
            ("buffer.name", Some(9)),
            ("ftl.name", Some(11)),
            ("ftl.victim", Some(12)),
            ("ftl.victim.d_choices", Some(12)),
            ("name", None),
            ("ram.dram", None),
            ("seed.x", None),
            ("", None),
        ];
        for (key, line) in keys {
            assert_eq!(line_of_key(text, key), line, "{key}");
        }
    }
}
