//! The area of a panel, and the plain marks in it.

use crate::colour::Colour;
use crate::scene::{Anchor, Mark};

pub(crate) const SMALL: f64 = 12.0;

/// The area of a panel between its axes, in pixels.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn x(&self, place: f64) -> f64 {
        self.left + place * self.width
    }
    pub fn y(&self, place: f64) -> f64 {
        self.top + (1.0 - place) * self.height
    }
}

pub(crate) fn text(at: [f64; 2], size: f64, anchor: Anchor, text: &str) -> Mark {
    Mark::Text { at, size, anchor, text: text.to_owned(), upwards: false }
}
pub(crate) fn line(points: Vec<[f64; 2]>, width: f64, colour: Colour) -> Mark {
    Mark::Line { points, width, colour, dash: 0.0 }
}
