//! What is drawn, after everything has its place.

use ttf_parser::{Face, GlyphId};

use crate::colour::Colour;

/// Advance of a character in the monospaced face, in parts of the font size.
pub(crate) const ADVANCE: f64 = 0.602;

/// What stands for a character that cannot be shown.
const REPLACEMENT: char = char::REPLACEMENT_CHARACTER;

/// Which point of a text is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

impl Anchor {
    /// The part of the text that lies before it.
    pub(crate) fn before(self) -> f64 {
        match self {
            Self::Start => 0.0,
            Self::Middle => 0.5,
            Self::End => 1.0,
        }
    }
}

/// Something to draw. Places are in pixels from the left upper corner.
#[derive(Clone, PartialEq, Debug)]
pub enum Mark {
    /// Rectangles (left, top, width, height) of one colour.
    Fill {
        /// The rectangles.
        rects: Vec<[f64; 4]>,
        /// Their colour.
        colour: Colour,
    },
    /// A line through points.
    Line {
        /// The points.
        points: Vec<[f64; 2]>,
        /// Width in pixels.
        width: f64,
        /// Its colour.
        colour: Colour,
        /// Length of dashes and gaps in pixels; 0 for none.
        dash: f64,
    },
    /// Dots.
    Dots {
        /// Their centres.
        centres: Vec<[f64; 2]>,
        /// Radius in pixels.
        radius: f64,
        /// Their colour.
        colour: Colour,
    },
    /// A line of text.
    Text {
        /// Its anchor, on the base line.
        at: [f64; 2],
        /// Font size in pixels.
        size: f64,
        /// Which point of it that is.
        anchor: Anchor,
        /// The text.
        text: String,
        /// It runs upwards.
        upwards: bool,
    },
}

/// A picture.
#[derive(Clone, PartialEq, Debug)]
pub struct Scene {
    /// Pixels across.
    pub width: f64,
    /// Pixels down.
    pub height: f64,
    /// What it is called, for those who cannot see it.
    pub title: String,
    /// From the back to the front.
    pub marks: Vec<Mark>,
}

/// As it is written: one place after the point.
pub(crate) fn tenths(value: f64) -> f64 {
    let tenths = (value * 10.0).round() / 10.0;
    if tenths == 0.0 { 0.0 } else { tenths }
}

/// The character, or the replacement character for one that cannot be drawn and that XML does not allow.
pub(crate) fn printable(character: char) -> char {
    if character.is_control() || matches!(character, '\u{FFFE}' | '\u{FFFF}') { REPLACEMENT } else { character }
}

/// The glyph of a character, or of the replacement character if the face does not have it.
pub(crate) fn glyph(face: &Face<'_>, character: char) -> GlyphId {
    face.glyph_index(printable(character)).or_else(|| face.glyph_index(REPLACEMENT)).unwrap_or_default()
}

/// Width of a text in pixels.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * ADVANCE
}

/// The text, its middle replaced by an ellipsis if it is wider than `width` pixels.
pub(crate) fn fitted(text: &str, size: f64, width: f64) -> String {
    shortened(text, (width / (size * ADVANCE)) as usize)
}

/// The text, its middle replaced by an ellipsis if it has more than `most` characters (at least 3).
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let most = most.max(3);
    let characters: Vec<char> = text.chars().collect();
    if characters.len() <= most {
        return text.to_owned();
    }
    let (head, tail) = ((most - 1) / 2, most / 2);
    let (head, tail) = (&characters[..head], &characters[characters.len() - tail..]);
    head.iter().chain(&['…']).chain(tail).collect()
}
