//! A scene in a page that has a style sheet: half the bytes of a document that stands alone, and it turns with the page from
//! light to dark.

use crate::colour::{Colour, GRID, INK, NEUTRAL, PAPER, dark};
use crate::scene::{Anchor, Mark, Scene, tenths};
use crate::svg::{FACES, escaped, hex};

/// Size of most texts in pixels.
const SIZE: f64 = 12.0;
/// Colours that turn, with their letters in the style sheet.
const TURNING: [(char, Colour); 4] = [('i', INK), ('g', GRID), ('p', PAPER), ('n', NEUTRAL)];

impl Scene {
    /// What the style sheet of a page has for all pictures in it.
    pub fn page_style() -> String {
        let list =
            |turn: fn(Colour) -> Colour| TURNING.map(|(letter, of)| format!("--{letter}:{}", hex(turn(of)))).join(";");
        let mut style = format!(
            ".plot{{font:{SIZE}px {FACES};fill:none;{}}}@media(prefers-color-scheme:dark){{.plot{{{}}}}}.plot text{{fill:var(--i)}}\
             .plot .m{{text-anchor:middle}}.plot .e{{text-anchor:end}}.plot .o{{stroke-linecap:round}}",
            list(|colour| colour),
            list(dark)
        );
        for (letter, _) in TURNING {
            style += &format!(".plot .{letter}{{stroke:var(--{letter})}}.plot .f{letter}{{fill:var(--{letter})}}");
        }
        style
    }

    /// The picture for such a page: an `svg` element in HTML. Texts lie over all else; the same bytes on every machine.
    pub fn in_page(&self) -> String {
        let (w, h) = (tenths(self.width), tenths(self.height));
        let mut shapes = Shapes::default();
        let mut texts = String::new();
        for mark in &self.marks {
            match mark {
                Mark::Text { at: [x, y], size, anchor, text, upwards } => {
                    let (x, y) = (tenths(*x), tenths(*y));
                    let mut looks = String::new();
                    match anchor {
                        Anchor::Start => {}
                        Anchor::Middle => looks += " class=\"m\"",
                        Anchor::End => looks += " class=\"e\"",
                    }
                    if *size != SIZE {
                        looks += &format!(" font-size=\"{}\"", tenths(*size));
                    }
                    if *upwards {
                        looks += &format!(" transform=\"rotate(-90 {x} {y})\"");
                    }
                    texts += &format!("<text x=\"{x}\" y=\"{y}\"{looks}>{}</text>\n", escaped(text));
                }
                Mark::Fill { rects, colour } => {
                    let sides =
                        |[x, y, w, h]: &[f64; 4]| path(&[[*x, *y], [x + w, *y], [x + w, y + h], [*x, y + h]]) + "z";
                    shapes.add(painted("fill", *colour, ""), &rects.iter().map(sides).collect::<String>());
                }
                Mark::Line { points, width, colour, dash } => {
                    let mut looks = painted("stroke", *colour, "");
                    if *width != 1.0 {
                        looks += &format!(" stroke-width=\"{}\"", tenths(*width));
                    }
                    if *dash > 0.0 {
                        looks += &format!(" stroke-dasharray=\"{}\"", tenths(*dash));
                    }
                    shapes.add(looks, &path(points));
                }
                Mark::Dots { centres, radius, colour } => {
                    let looks =
                        painted("stroke", *colour, "o") + &format!(" stroke-width=\"{}\"", tenths(2.0 * radius));
                    shapes.add(looks, &centres.iter().map(|at| path(&[*at]) + "h0").collect::<String>());
                }
            }
        }
        format!(
            "<svg class=\"plot\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"img\">\n<title>{}</title>\n{}{texts}</svg>\n",
            escaped(&self.title),
            shapes.done()
        )
    }
}

/// Paths; neighbours that look alike are one.
#[derive(Default)]
struct Shapes {
    written: String,
    looks: String,
    path: String,
}

impl Shapes {
    fn add(&mut self, looks: String, path: &str) {
        if looks != self.looks {
            self.write();
            self.looks = looks;
        }
        self.path += path;
    }

    fn write(&mut self) {
        if !self.path.is_empty() {
            self.written += &format!("<path{} d=\"{}\"/>\n", self.looks, self.path);
        }
        self.path.clear();
    }

    fn done(mut self) -> String {
        self.write();
        self.written
    }
}

/// Attributes for a colour, and for a class besides.
fn painted(what: &str, colour: Colour, class: &str) -> String {
    let fills = if what == "fill" { "f" } else { "" };
    let turning = TURNING.iter().find(|(_, of)| *of == colour).map(|(letter, _)| format!("{fills}{letter}"));
    let plain = if turning.is_none() { format!(" {what}=\"{}\"", hex(colour)) } else { String::new() };
    match [turning.as_deref().unwrap_or(""), class].join(" ").trim() {
        "" => plain,
        classes => format!(" class=\"{classes}\"{plain}"),
    }
}

/// A line from point to point, as steps in tenths of a pixel, whose rounding does not add up.
fn path(points: &[[f64; 2]]) -> String {
    let whole = |value: f64| (value * 10.0).round() as i64;
    let mut out = String::new();
    let (mut at, mut command) = (None, ' ');
    for [x, y] in points {
        let (x, y) = (whole(*x), whole(*y));
        let (next, steps) = match at {
            None => ('M', vec![x, y]),
            Some((left, top)) if (x, y) == (left, top) => continue,
            Some((left, top)) if y == top => ('h', vec![x - left]),
            Some((left, top)) if x == left => ('v', vec![y - top]),
            Some((left, top)) => ('l', vec![x - left, y - top]),
        };
        at = Some((x, y));
        if next != command {
            out.push(next);
        }
        for (number, step) in steps.into_iter().enumerate() {
            // A letter or a minus ends the number before it.
            if (number > 0 || next == command) && step >= 0 {
                out.push(' ');
            }
            out += &short(step);
        }
        command = next;
    }
    out
}

/// Tenths as a number: `-.5`, `12`, `3.4`.
fn short(tenths: i64) -> String {
    let (sign, whole, part) = (if tenths < 0 { "-" } else { "" }, tenths.abs() / 10, tenths.abs() % 10);
    match (whole, part) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_as_short_as_it_can_be_and_ends_where_it_should() {
        assert_eq!(path(&[[84.0, 237.6], [160.4, 243.1], [313.3, 245.9]]), "M84 237.6l76.4 5.5 152.9 2.8");
        assert_eq!(path(&[[0.0, 1.0], [5.0, 1.0], [5.0, 0.5], [4.5, 0.04]]), "M0 1h5v-.5l-.5-.5");
        assert_eq!(path(&[[1.0, 1.0], [2.0, 1.0], [1.5, 1.0], [1.5, 1.0]]), "M1 1h1-.5");
        assert_eq!(path(&[[0.16, 0.0], [1.34, 0.0]]), "M.2 0h1.1", "places are rounded to the nearest tenth");
        // A thousand steps of a third of a pixel: no rounding adds up.
        let steps: Vec<[f64; 2]> = (0..=1000).map(|step| [f64::from(step) / 3.0, 0.0]).collect();
        let moved: f64 = path(&steps)["M0 0h".len()..].split(' ').map(|step| step.parse::<f64>().unwrap()).sum();
        assert!((moved - 333.3).abs() < 1e-6, "{moved}");
    }

    #[test]
    fn scene_in_a_page_has_all_its_marks_and_turns_with_it() {
        let line = |y: f64, colour| Mark::Line { points: vec![[0.0, y], [9.0, y]], width: 1.0, colour, dash: 0.0 };
        let text =
            |at, text: &str| Mark::Text { at, size: 12.0, anchor: Anchor::End, text: text.to_owned(), upwards: false };
        let marks = vec![
            line(1.0, GRID),
            text([4.0, 4.0], "1 < 2"),
            line(2.0, GRID),
            Mark::Fill { rects: vec![[1.0, 2.0, 3.0, 4.0]], colour: [1, 2, 3] },
            Mark::Dots { centres: vec![[5.0, 6.0], [7.0, 8.0]], radius: 2.5, colour: INK },
        ];
        let scene = Scene { width: 10.0, height: 20.0, title: "a & b".to_owned(), marks };
        assert_eq!(
            scene.in_page(),
            "<svg class=\"plot\" width=\"10\" height=\"20\" viewBox=\"0 0 10 20\" role=\"img\">\n<title>a &amp; b</title>\n\
             <path class=\"g\" d=\"M0 1h9M0 2h9\"/>\n<path fill=\"#010203\" d=\"M1 2h3v4h-3z\"/>\n\
             <path class=\"i o\" stroke-width=\"5\" d=\"M5 6h0M7 8h0\"/>\n<text x=\"4\" y=\"4\" class=\"e\">1 &lt; 2</text>\n</svg>\n"
        );
        let style = Scene::page_style();
        for (letter, colour) in TURNING {
            for shown in [colour, dark(colour)] {
                assert!(style.contains(&format!("--{letter}:{}", hex(shown))), "{style}");
            }
        }
    }
}
