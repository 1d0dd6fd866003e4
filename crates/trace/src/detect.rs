//! How a format is found by name or by content.

use std::sync::LazyLock;

use nandlab::registry::module_text;

use crate::error::{Candidate, Proposal, TraceError, excerpt};
use crate::export::Export;
use crate::formats::columns::{self as columns_format, guess, numbered_lines, propose};
use crate::formats::{FORMATS, SOURCES};
use crate::names::Names;
use crate::registry::{Format, Head, Parser, Sniff};
use crate::row::Row;

/// What a user should know about a format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatInfo {
    /// Name to give as the format.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Columns, units and source.
    pub manual: String,
    /// Usual file name endings, without the dot; they are not used to detect anything.
    pub extensions: &'static [&'static str],
    /// Traces can be written in it too, with [`Writer::export`](crate::Writer::export).
    pub is_written: bool,
}

/// The readable formats, with their manuals.
pub fn formats() -> &'static [FormatInfo] {
    static INFOS: LazyLock<Vec<FormatInfo>> = LazyLock::new(|| {
        let info = |(f, source): (&&Format, &&str)| FormatInfo {
            name: f.name,
            title: f.title,
            is_written: f.write.is_some(),
            manual: module_text(source) + "\n",
            extensions: f.extensions,
        };
        FORMATS.iter().zip(SOURCES).map(info).collect()
    });
    &INFOS
}

fn names() -> String {
    FORMATS.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
}

/// The format that the user names.
pub(crate) fn by_name(name: &str) -> Result<&'static Format, TraceError> {
    let found = FORMATS.iter().find(|f| f.name.eq_ignore_ascii_case(name));
    found.copied().ok_or_else(|| TraceError::Option { option: "format", value: name.to_owned(), allowed: names() })
}

/// The format that the content shows, and why: "because ...".
pub(crate) fn detect(name: &str, bytes: &[u8]) -> Result<(&'static Format, String), TraceError> {
    let head = Head::new(bytes);
    let (mut yes, mut maybe) = (Vec::new(), Vec::new());
    for &format in FORMATS {
        match (format.sniff)(&head) {
            Sniff::No => {}
            Sniff::Maybe(reason) => maybe.push((format, reason)),
            Sniff::Yes(reason) => yes.push((format, reason)),
            Sniff::Certain(reason) => return Ok((format, reason)),
        }
    }
    // A header line says more than what rows look like, unless it is that of the format.
    let named = guess(&head);
    let is_own = |header: &[u8]| yes.iter().chain(&maybe).any(|(format, _)| knows(format, header));
    if let Some(guess) = named.filter(|guess| !is_own(head.lines[guess.header])) {
        return Ok((&columns_format::FORMAT, guess.reason));
    }
    if yes.len() == 1 {
        return Ok(yes.remove(0));
    }
    yes.append(&mut maybe);
    if yes.is_empty() {
        let hint = if bytes.get(257..262) == Some(b"ustar") {
            "It is a tar archive: unpack it first (tar -xf), or pipe one member: tar -xOf. "
        } else if bytes.contains(&0) {
            "It is a binary file. "
        } else {
            ""
        };
        let text = !bytes.contains(&0) && head.lines.iter().any(|line| line.iter().any(u8::is_ascii_digit));
        let proposal = text.then(|| {
            Box::new(Proposal { lines: numbered_lines(&head), columns: propose(&head).map(|spec| spec.to_string()) })
        });
        let (name, head) = (name.to_owned(), excerpt(bytes));
        return Err(TraceError::NotRecognised { name, head, hint, known: names(), proposal });
    }
    let candidates = yes.into_iter().map(|(f, reason)| Candidate { format: f.name, reason }).collect();
    Err(TraceError::Ambiguous { name: name.to_owned(), candidates })
}

/// True if a line is one that the format passes over, as its header.
fn knows(format: &Format, line: &[u8]) -> bool {
    match (format.parser)(&Names::of_a_trace()) {
        Parser::Text(mut parser) => matches!(parser.line(line), Ok(Row::Other)),
        Parser::Binary(_) | Parser::Columns => false,
    }
}

/// The exporter of a format.
///
/// # Errors
/// There is none of this name: those that there are.
pub(crate) fn export(name: &str) -> Result<Box<dyn Export>, String> {
    let make = FORMATS.iter().find(|format| format.name == name).and_then(|format| format.write);
    make.map(|make| make()).ok_or_else(|| format!("`{name}` is not written: allowed are {}", exports().join(", ")))
}

/// The formats of other tools that are written.
pub(crate) fn exports() -> Vec<&'static str> {
    FORMATS.iter().filter(|format| format.write.is_some()).map(|format| format.name).collect()
}
