//! Is a PDF the same picture as the SVG, with text that can be read?

use ttf_parser::{Face, OutlineBuilder};

use super::letters::Letters;
use crate::scene::glyph;
use crate::{Anchor, Axis, AxisUnit, Figure, HeatMap, Layer, Mark, Panel, Scene};

/// All kinds of marks.
fn scene() -> Scene {
    let points = vec![[4096.0, 10.0], [65_536.0, 43.21], [1e6, 90.0]];
    let counts = vec![0, 1, 2, 3, 2, 1];
    let heat = HeatMap { columns: 3, rows: 2, counts, most: 3, of: "things".to_owned() };
    let lines = Panel::new("µs ≥ „ÄÖ“", Axis::log("size", AxisUnit::Bytes, [4096.0, 1e6]))
        .layer(Layer::steps("one", points.clone()).dashed())
        .layer(Layer::points("two", points));
    let heat = Panel::new("heat", Axis::linear("time", AxisUnit::Time, [0.0, 1e9])).layer(Layer::Heat(heat));
    Figure::new("a (b) \\ <c>", "鉄 and 道 are not in the face").row(vec![lines, heat]).scene()
}

fn content(scene: &Scene, letters: &Letters) -> String {
    String::from_utf8_lossy(&scene.content([1.0, 0.0, 0.0, 1.0, 0.0, 0.0], letters)).into_owned()
}

/// Pairs of numbers: for each line of the content that ends in one of these operators its first two operands.
fn places(content: &str, operators: &[&str]) -> Vec<[String; 2]> {
    let operation = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let (operator, operands) = parts.split_last().unwrap();
        operators.contains(operator).then(|| [0, 1].map(|i| operands[i].trim_end_matches(".0").to_owned()))
    };
    content.lines().filter_map(operation).collect()
}

/// Values of an attribute of one kind of element of the SVG.
fn values<'a>(svg: &'a str, element: &'a str, name: &str) -> Vec<&'a str> {
    let name = format!(" {name}=\"");
    let of = |line: &'a str| line.split_once(name.as_str()).unwrap().1.split('"').next().unwrap();
    svg.lines().filter(|line| line.starts_with(element)).map(of).collect()
}

fn pair(text: &str, between: char) -> [String; 2] {
    let (x, y) = text.split_once(between).unwrap();
    [x.to_owned(), y.to_owned()]
}

#[test]
fn pdf_has_the_geometry_of_the_svg() {
    let scene = scene();
    let (svg, content) = (scene.svg(), content(&scene, &Letters::of(&scene)));
    let lines: Vec<_> =
        values(&svg, "<polyline", "points").iter().flat_map(|line| line.split(' ')).map(|at| pair(at, ',')).collect();
    let centres = values(&svg, "<circle", "cx").into_iter().zip(values(&svg, "<circle", "cy"));
    let dots: Vec<_> = centres.map(|(x, y)| [x.to_owned(), y.to_owned()]).collect();
    // A dot is a line from its centre to its centre.
    let drawn = places(&content, &["m", "l"]);
    let (mut kept, mut at) = (Vec::new(), 0);
    let mut found = Vec::new();
    while at < drawn.len() {
        if drawn.get(at + 1) == Some(&drawn[at]) && dots.contains(&drawn[at]) {
            found.push(drawn[at].clone());
            at += 1;
        } else {
            kept.push(drawn[at].clone());
        }
        at += 1;
    }
    assert!(lines.len() > 20 && dots.len() == 4, "{svg}");
    assert_eq!(kept, lines);
    assert_eq!(found, dots);
    let path = |path: &str| path.split('M').skip(1).map(|rect| pair(rect.split('h').next().unwrap(), ' ')).collect();
    let rects: Vec<[String; 2]> = values(&svg, "<path", "d").into_iter().flat_map(|d| -> Vec<_> { path(d) }).collect();
    assert!(rects.len() > 10, "{svg}");
    // The first is the paper.
    assert_eq!(places(&content, &["re"])[1..], rects);
    let dashed = |line: &&str| line.ends_with(" d") && !line.starts_with("[]");
    assert_eq!(content.lines().filter(dashed).count(), svg.matches("stroke-dasharray").count());
}

#[test]
fn text_is_the_letters_that_were_written_where_the_svg_has_them() {
    let scene = scene();
    let letters = Letters::of(&scene);
    let text = |mark: &Mark| match mark {
        Mark::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    let written: Vec<String> = scene.marks.iter().filter_map(text).collect();
    let all: Vec<char> = letters.numbered().map(|(_, character)| character).collect();
    let read = |text: &String| {
        let codes = letters.codes(text);
        codes.chunks(2).map(|code| all[usize::from(u16::from_be_bytes([code[0], code[1]])) - 1]).collect::<String>()
    };
    assert_eq!(written.iter().map(read).collect::<Vec<_>>(), written);
    let at = |anchor, upwards| {
        let text = Mark::Text { at: [100.0, 50.0], size: 10.0, anchor, text: "four".to_owned(), upwards };
        let scene = Scene { width: 200.0, height: 100.0, title: String::new(), marks: vec![text] };
        let content = content(&scene, &Letters::of(&scene));
        content.lines().find(|line| line.ends_with(" Tm")).unwrap().to_owned()
    };
    assert_eq!(at(Anchor::Start, false), "1 0 0 -1 100 50 Tm");
    // Four letters of 6.02 pixels.
    assert_eq!(at(Anchor::Middle, false), "1 0 0 -1 88 50 Tm");
    assert_eq!(at(Anchor::End, true), "0 -1 -1 0 100 74.1 Tm");
}

#[derive(Default, PartialEq, Debug)]
struct Points(Vec<[f32; 2]>);

impl OutlineBuilder for Points {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.push([x, y]);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.0.push([x, y]);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.extend([[x1, y1], [x, y]]);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.extend([[x1, y1], [x2, y2], [x, y]]);
    }
    fn close(&mut self) {}
}

#[test]
fn embedded_letters_are_those_of_the_face() {
    let letters = Letters::of(&scene());
    let (bytes, of_codes) = letters.face();
    let whole = Face::parse(epaint_default_fonts::HACK_REGULAR, 0).unwrap();
    let part = Face::parse(&bytes, 0).unwrap();
    let outline = |face: &Face<'_>, glyph| {
        let mut points = Points::default();
        face.outline_glyph(glyph, &mut points);
        points
    };
    for (code, character) in letters.numbered() {
        let at = 2 * usize::from(code);
        let own = ttf_parser::GlyphId(u16::from_be_bytes([of_codes[at], of_codes[at + 1]]));
        assert_eq!(outline(&part, own), outline(&whole, glyph(&whole, character)), "{character}");
        assert_eq!(whole.glyph_hor_advance(glyph(&whole, character)), whole.glyph_hor_advance(glyph(&whole, ' ')));
    }
    assert_eq!(of_codes.len(), 2 + 2 * letters.numbered().count());
}

#[test]
fn pdf_is_the_same_bytes_every_time_without_a_date() {
    let scene = scene();
    let first = scene.pdf();
    assert!(first.starts_with(b"%PDF-1.7") && first.ends_with(b"%%EOF"), "{}", first.len());
    assert_eq!(first, scene.pdf());
    let text = String::from_utf8_lossy(&first);
    assert!(!text.contains("Date") && text.contains("/Title (a (b) \\\\ <c>)"), "{text}");
    assert!(first.len() < 32 << 10, "{} bytes", first.len());
    // Every letter has the width that the layout takes it to have, not by default.
    let widths = format!("/W [0 {} 602.0508]", Letters::of(&scene).numbered().count());
    assert!(text.contains(&widths), "{text}");
}

#[test]
fn page_of_a_tall_picture_is_as_long_as_readers_allow() {
    let page = |height| {
        let scene = Scene { width: 1000.0, height, title: String::new(), marks: Vec::new() };
        let text = String::from_utf8_lossy(&scene.pdf()).into_owned();
        text.split("/MediaBox ").nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    assert_eq!(page(400.0), "[0 0 750 300]");
    assert_eq!(page(28_800.0), "[0 0 500 14400]");
}
