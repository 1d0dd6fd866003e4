//! A row that is not what its format allows: which field, its text, what is allowed there.

use std::fmt;

/// What is wrong with a field of a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// The row ends before this field.
    Missing,
    /// Text where a number belongs (NaN and inf too).
    NotANumber,
    /// A number below zero.
    Negative,
    /// A number above what is allowed.
    TooLarge,
    /// A word that the format does not know.
    Unknown,
    /// More columns than the format has.
    Extra,
    /// A line longer than [`crate::LINE_BYTES_MAX`].
    TooLong,
    /// The file ends inside this record, or lacks its header.
    CutOff,
}

impl Problem {
    fn says(self) -> &'static str {
        match self {
            Self::Missing => "is missing",
            Self::NotANumber => "is not a number that fits here",
            Self::Negative => "is negative",
            Self::TooLarge => "is too large",
            Self::Unknown => "is not known",
            Self::Extra => "is one column too many",
            Self::TooLong => "is too long",
            Self::CutOff => "is cut off",
        }
    }
    fn help(self) -> &'static str {
        match self {
            Self::Missing | Self::Extra => {
                "is this another format, or a damaged row? Name the format, or allow bad rows"
            }
            Self::NotANumber | Self::Unknown => {
                "is this another format, or a header or damaged row? Allow bad rows to skip it"
            }
            Self::Negative | Self::TooLarge => {
                "is this another format with other units? If the row is garbage, allow bad rows"
            }
            Self::TooLong => "this is hardly a text trace; if the line is garbage, allow bad rows",
            Self::CutOff => "get the complete file again",
        }
    }
}

/// A row that is not what its format allows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadRow {
    /// Field by its name in the manual of the format.
    pub field: &'static str,
    /// The offending text: at most 40 bytes, with everything unprintable escaped.
    pub text: String,
    /// What is wrong with it.
    pub problem: Problem,
    /// What is allowed there, with units.
    pub allowed: String,
}

impl BadRow {
    #[allow(clippy::unnecessary_box_returns, reason = "what is wrong travels boxed: results stay small")]
    pub(crate) fn new(field: &'static str, text: &[u8], problem: Problem, allowed: impl Into<String>) -> Box<Self> {
        Box::new(Self { field, text: excerpt(text), problem, allowed: allowed.into() })
    }
}

impl fmt::Display for BadRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.field)?;
        if !self.text.is_empty() {
            write!(f, " `{}`", self.text)?;
        }
        write!(f, " {} (allowed: {}); {}", self.problem.says(), self.allowed, self.problem.help())
    }
}

/// At most 40 bytes of `text`, printable.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const KEEP: usize = 40;
    let cut = &text[..text.len().min(KEEP)];
    let mut shown = cut.escape_ascii().to_string();
    if text.len() > KEEP {
        shown.push_str("...");
    }
    shown
}
