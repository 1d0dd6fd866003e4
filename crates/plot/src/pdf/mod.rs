//! A scene as PDF, for papers: vectors, and text that can be searched and copied.
//!
//! The marks are written one by one, as for SVG and PNG, with the bytes laid out by `pdf-writer`: a converter from SVG
//! (svg2pdf) brings 76 packages, of which most read again what is known here. There is no date in the file, and it is
//! compressed by a library with one code path, so that it is the same bytes on every machine.

mod letters;
#[cfg(test)]
mod tests;

use letters::Letters;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::LineCapStyle;
use pdf_writer::{Content, Filter, Finish, Name, Pdf, Rect, Ref, Str, TextStr};

use crate::colour::{Colour, INK, PAPER};
use crate::scene::{Mark, Scene, tenths, text_width};

/// Points of 1/72 inch for a pixel of the scene, of which CSS has 96 in an inch.
const POINTS: f64 = 0.75;
/// Points that a side of a page may have (ISO 32000-1:2008, annex C).
const SIDE_MOST: f64 = 14_400.0;
/// Lines end in a corner like those of SVG.
const MITER: f32 = 4.0;
/// The best that the library can do.
const COMPRESSION: u8 = 10;

/// The face, as the page calls it.
const FACE: Name<'_> = Name(b"F");

/// Objects of the file.
const CATALOG: Ref = Ref::new(1);
const PAGES: Ref = Ref::new(2);
const PAGE: Ref = Ref::new(3);
const MARKS: Ref = Ref::new(4);
const TITLE: Ref = Ref::new(5);
/// The first of those that make up the face.
const FACE_FIRST: Ref = Ref::new(6);

impl Scene {
    /// The picture as a PDF file of one page; a pixel is 0.75 points, less if the page would be longer than 200 inches. Text
    /// stays text: the letters that it needs are embedded.
    pub fn pdf(&self) -> Vec<u8> {
        let letters = Letters::of(self);
        let unit = POINTS.min(SIDE_MOST / self.width.max(self.height).max(1.0));
        let (width, height) = ((self.width * unit) as f32, (self.height * unit) as f32);
        let mut pdf = Pdf::new();
        pdf.catalog(CATALOG).pages(PAGES);
        pdf.pages(PAGES).kids([PAGE]).count(1);
        let mut page = pdf.page(PAGE);
        page.parent(PAGES).media_box(Rect::new(0.0, 0.0, width, height)).contents(MARKS);
        page.resources().fonts().pair(FACE, FACE_FIRST);
        page.finish();
        let placed = [unit as f32, 0.0, 0.0, -unit as f32, 0.0, height];
        stream(&mut pdf, MARKS, &self.content(placed, &letters));
        letters.write(&mut pdf, FACE_FIRST);
        pdf.document_info(TITLE).title(TextStr(&self.title));
        pdf.finish()
    }

    /// The marks on their paper, in pixels, after the transformation of these into points.
    fn content(&self, placed: [f32; 6], letters: &Letters) -> Vec<u8> {
        let mut content = Content::new();
        content.transform(placed).set_miter_limit(MITER);
        fill(&mut content, PAPER);
        content.rect(0.0, 0.0, number(self.width), number(self.height)).fill_nonzero();
        for mark in &self.marks {
            write_mark(&mut content, mark, letters);
        }
        content.finish().to_vec()
    }
}

fn write_mark(content: &mut Content, mark: &Mark, letters: &Letters) {
    match mark {
        Mark::Fill { rects, colour } => {
            fill(content, *colour);
            for [x, y, w, h] in rects {
                content.rect(number(*x), number(*y), number(*w), number(*h));
            }
            content.fill_nonzero();
        }
        Mark::Line { points, width, colour, dash } => {
            stroke(content, *colour, *width, LineCapStyle::ButtCap);
            content.set_dash_pattern((*dash > 0.0).then(|| number(*dash)), 0.0);
            for (i, [x, y]) in points.iter().enumerate() {
                let (x, y) = (number(*x), number(*y));
                if i == 0 {
                    content.move_to(x, y)
                } else {
                    content.line_to(x, y)
                };
            }
            content.stroke();
        }
        // PDF has no circles: a line without length that has round ends is one.
        Mark::Dots { centres, radius, colour } => {
            stroke(content, *colour, 2.0 * radius, LineCapStyle::RoundCap);
            content.set_dash_pattern([], 0.0);
            for [x, y] in centres {
                let (x, y) = (number(*x), number(*y));
                content.move_to(x, y).line_to(x, y);
            }
            content.stroke();
        }
        Mark::Text { at: [x, y], size, anchor, text, upwards } => {
            let before = anchor.before() * text_width(text, *size);
            // The scene's y axis points down, that of letters up.
            let placed = if *upwards {
                [0.0, -1.0, -1.0, 0.0, number(*x), number(y + before)]
            } else {
                [1.0, 0.0, 0.0, -1.0, number(x - before), number(*y)]
            };
            fill(content, INK);
            content.begin_text().set_font(FACE, number(*size)).set_text_matrix(placed);
            content.show(Str(&letters.codes(text))).end_text();
        }
    }
}

fn stroke(content: &mut Content, colour: Colour, width: f64, ends: LineCapStyle) {
    let [r, g, b] = shares(colour);
    content.set_stroke_rgb(r, g, b).set_line_width(number(width)).set_line_cap(ends);
}

fn fill(content: &mut Content, colour: Colour) {
    let [r, g, b] = shares(colour);
    content.set_fill_rgb(r, g, b);
}

/// Shares of full light, in thousandths, which tell 256 levels apart.
fn shares(colour: Colour) -> [f32; 3] {
    colour.map(|level| (f32::from(level) / 255.0 * 1000.0).round() / 1000.0)
}

fn number(value: f64) -> f32 {
    tenths(value) as f32
}

/// A compressed stream.
fn stream(pdf: &mut Pdf, id: Ref, bytes: &[u8]) {
    pdf.stream(id, &compress_to_vec_zlib(bytes, COMPRESSION)).filter(Filter::FlateDecode);
}
