//! The page as Markdown: sentences and tables, for a repository or an issue.

use super::Digest;
use super::figures::{Data, Datum, Shown};
use super::verdicts::Verdicts;
use crate::sweep::CellStatus;
use crate::text::plural;

/// The claims with their verdicts, as a section; empty if there are none.
pub(super) fn claims(digest: &Digest) -> String {
    let Some(Verdicts { summary, sentence, .. }) = &digest.verdicts else { return String::new() };
    let title = escaped(&digest.title);
    let remarks = if digest.remarks.is_empty() { String::new() } else { format!("\n\n{}", escaped(&digest.remarks)) };
    format!("## {title}\n\n{}\n\n{}{remarks}\n\n{}", digest.about.trim(), escaped(sentence), table(summary))
}

pub(super) fn page(digest: &Digest) -> String {
    let mut text = format!("# {}\n\n", escaped(&digest.title));
    let number = |status| digest.rows.iter().filter(|row| row.status == status).count();
    let (failed, open) = (number(CellStatus::Failed), number(CellStatus::Open));
    if failed + open > 0 {
        text += &format!("{}: {failed} failed, {open} open.\n\n", plural(digest.rows.len() as u64, "cell"));
    }
    if !digest.remarks.is_empty() {
        text += &format!("{}\n\n", escaped(&digest.remarks));
    }
    if let Some(Verdicts { summary, sentence, details }) = &digest.verdicts {
        text += &format!("{}\n\n{}\n\n{}", digest.about.trim(), escaped(sentence), table(summary));
        for Shown { title, sentence, data, .. } in details.iter().chain(&digest.shown) {
            text += &format!("\n## {}\n\n{}\n\n{}", escaped(title), escaped(sentence), table(data));
        }
        return text;
    }
    for shown in digest.shown.iter().filter(|shown| shown.name.starts_with("best-")) {
        text += &format!("- {}\n", escaped(&shown.sentence));
    }
    for Shown { title, data, .. } in digest.shown.iter().filter(|shown| shown.figure.is_none()) {
        text += &format!("\n## {}\n\n{}", escaped(title), table(data));
    }
    text
}

/// A table; columns of numbers are set to the right.
fn table(data: &Data) -> String {
    let is_number = |column: usize| data.rows.iter().any(|row| row.get(column).is_some_and(Datum::is_number));
    let rule: String = (0..data.head.len()).map(|column| if is_number(column) { "-:|" } else { "-|" }).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.map(|text| escaped(text).replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut text = line(&mut data.head.iter().map(|head| head.text.as_str())) + &format!("|{rule}\n");
    for row in &data.rows {
        text += &line(&mut row.iter().map(|datum| datum.text.as_str()));
    }
    text
}

/// Text of others in a line of Markdown: it stays one line, and no HTML begins in it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        // Where HTML may begin (CommonMark, section 6.6): other signs for less than stay as they are written.
        let begins = rest.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next));
        match character {
            '<' if begins => out += "&lt;",
            '\n' | '\r' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::figures::Head;

    #[test]
    fn text_of_others_makes_no_html_and_no_columns() {
        assert_eq!(escaped("a <script>b</script> & 1 < 2, x\ny"), "a &lt;script>b&lt;/script> & 1 < 2, x y");
        let head = ["a|b", "n"].map(Head::name).to_vec();
        let data = Data { head, rows: vec![vec![Datum::name("<b>|"), Datum::number("1 %".to_owned(), 1.0)]] };
        assert_eq!(table(&data), "| a\\|b | n |\n|-|-:|\n| &lt;b>\\| | 1 % |\n");
    }
}
