//! A scene as SVG: no script, no style sheet, one place after the point.

use std::fmt::Write;

use crate::colour::{Colour, INK, PAPER, dark};
use crate::scene::{Anchor, Mark, Scene, printable, tenths};

/// Faces with the same advance as ours.
pub(crate) const FACES: &str = "Hack,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";

impl Scene {
    /// The picture as an SVG document; the same bytes on every machine.
    pub fn svg(&self) -> String {
        self.in_colours(&|colour| colour)
    }

    /// The same for dark pages.
    pub fn svg_dark(&self) -> String {
        self.in_colours(&dark)
    }

    fn in_colours(&self, shown: &dyn Fn(Colour) -> Colour) -> String {
        let paper = hex(shown(PAPER));
        let (w, h) = (number(self.width), number(self.height));
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
             font-family=\"{FACES}\">\n<title>{}</title>\n<rect width=\"{w}\" height=\"{h}\" fill=\"{paper}\"/>\n",
            escaped(&self.title)
        );
        for mark in &self.marks {
            write_mark(&mut out, mark, &|colour| hex(shown(colour)));
        }
        out + "</svg>\n"
    }
}

fn write_mark(out: &mut String, mark: &Mark, hex: &dyn Fn(Colour) -> String) {
    match mark {
        Mark::Fill { rects, colour } => {
            let path: String = rects
                .iter()
                .map(|[x, y, w, h]| {
                    format!("M{} {}h{}v{}h-{}z", number(*x), number(*y), number(*w), number(*h), number(*w))
                })
                .collect();
            push(out, &format!("<path fill=\"{}\" d=\"{path}\"/>", hex(*colour)));
        }
        Mark::Line { points, width, colour, dash } => {
            let dash = if *dash > 0.0 { format!(" stroke-dasharray=\"{}\"", number(*dash)) } else { String::new() };
            let points: Vec<String> = points.iter().map(|[x, y]| format!("{},{}", number(*x), number(*y))).collect();
            let (colour, width, points) = (hex(*colour), number(*width), points.join(" "));
            push(
                out,
                &format!(
                    "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\"{dash} points=\"{points}\"/>"
                ),
            );
        }
        Mark::Dots { centres, radius, colour } => {
            push(out, &format!("<g fill=\"{}\">", hex(*colour)));
            for [x, y] in centres {
                push(out, &format!("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", number(*x), number(*y), number(*radius)));
            }
            push(out, "</g>");
        }
        Mark::Text { at: [x, y], size, anchor, text, upwards } => {
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => " text-anchor=\"middle\"",
                Anchor::End => " text-anchor=\"end\"",
            };
            let (x, y) = (number(*x), number(*y));
            let turn = if *upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
            let (size, ink, text) = (number(*size), hex(INK), escaped(text));
            push(
                out,
                &format!("<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{ink}\"{anchor}{turn}>{text}</text>"),
            );
        }
    }
}

fn push(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("a string takes everything");
}

/// One place after the point, no trailing zero.
fn number(value: f64) -> String {
    format!("{}", tenths(value))
}

pub(crate) fn hex([r, g, b]: Colour) -> String {
    // As short as it can be.
    if [r, g, b] == PAPER { "#fff".to_owned() } else { format!("#{r:02x}{g:02x}{b:02x}") }
}

/// Text for XML: marks are escaped, and characters that XML does not allow become a replacement character.
pub(crate) fn escaped(text: &str) -> String {
    let text: String = text.chars().map(printable).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
