//! A scene as PNG. The scene is drawn directly, not by way of SVG: a renderer of SVG with text brings three times as many
//! crates, and the scene has only four kinds of marks. The face is Hack (MIT and Bitstream Vera licences), embedded, so
//! that no fonts of the system are needed.

use epaint_default_fonts::HACK_REGULAR;
use tiny_skia::{FillRule, Paint, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform};
use ttf_parser::{Face, OutlineBuilder};

use crate::colour::{Colour, INK, PAPER};
use crate::scene::{Mark, Scene, glyph, text_width};

/// Pixels of the picture for each pixel of the scene.
const ZOOM: f32 = 2.0;

/// The picture cannot be made.
#[derive(Debug)]
pub enum PngError {
    /// It has no pixels, or more than fit into memory.
    Size,
    /// It cannot be encoded.
    Encode(String),
}

impl std::fmt::Display for PngError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size => f.write_str("the picture is empty or too large"),
            Self::Encode(error) => write!(f, "the picture cannot be encoded: {error}"),
        }
    }
}

impl std::error::Error for PngError {}

impl Scene {
    /// The picture as a PNG file, with two pixels for each of the scene.
    ///
    /// # Errors
    /// It is empty, or does not fit into memory.
    pub fn png(&self) -> Result<Vec<u8>, PngError> {
        let side = |length: f64| (length as f32 * ZOOM).ceil() as u32;
        let mut pixels = Pixmap::new(side(self.width), side(self.height)).ok_or(PngError::Size)?;
        pixels.fill(tiny_skia::Color::from_rgba8(PAPER[0], PAPER[1], PAPER[2], 255));
        let face = Face::parse(HACK_REGULAR, 0).expect("the embedded face is sound");
        for mark in &self.marks {
            draw(&mut pixels, mark, &face);
        }
        pixels.encode_png().map_err(|error| PngError::Encode(error.to_string()))
    }
}

fn paint([r, g, b]: Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, 255);
    paint
}

fn draw(pixels: &mut Pixmap, mark: &Mark, face: &Face<'_>) {
    let zoom = Transform::from_scale(ZOOM, ZOOM);
    let mut builder = PathBuilder::new();
    match mark {
        Mark::Fill { rects, colour } => {
            let rects =
                rects.iter().filter_map(|r| Rect::from_xywh(r[0] as f32, r[1] as f32, r[2] as f32, r[3] as f32));
            rects.for_each(|rect| builder.push_rect(rect));
            let Some(path) = builder.finish() else { return };
            pixels.fill_path(&path, &paint(*colour), FillRule::Winding, zoom, None);
        }
        Mark::Line { points, width, colour, dash } => {
            for (i, [x, y]) in points.iter().enumerate() {
                let (x, y) = (*x as f32, *y as f32);
                if i == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
            }
            let Some(path) = builder.finish() else { return };
            let dash = (*dash > 0.0).then(|| StrokeDash::new(vec![*dash as f32; 2], 0.0)).flatten();
            let stroke = Stroke { width: *width as f32, dash, ..Stroke::default() };
            pixels.stroke_path(&path, &paint(*colour), &stroke, zoom, None);
        }
        Mark::Dots { centres, radius, colour } => {
            for [x, y] in centres {
                builder.push_circle(*x as f32, *y as f32, *radius as f32);
            }
            let Some(path) = builder.finish() else { return };
            pixels.fill_path(&path, &paint(*colour), FillRule::Winding, zoom, None);
        }
        Mark::Text { at, size, anchor, text, upwards } => {
            let scale = *size as f32 / f32::from(face.units_per_em());
            let before = (anchor.before() * text_width(text, *size)) as f32;
            let mut outline = Outline { builder, x: -before / scale };
            for character in text.chars() {
                let glyph = glyph(face, character);
                face.outline_glyph(glyph, &mut outline);
                outline.x += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0));
            }
            let Some(path) = outline.builder.finish() else { return };
            let turned = if *upwards {
                zoom.pre_concat(Transform::from_rotate_at(-90.0, at[0] as f32, at[1] as f32))
            } else {
                zoom
            };
            let placed = turned.pre_translate(at[0] as f32, at[1] as f32).pre_scale(scale, -scale);
            pixels.fill_path(&path, &paint(INK), FillRule::Winding, placed, None);
        }
    }
}

/// Glyphs side by side, in units of the face.
struct Outline {
    builder: PathBuilder,
    x: f32,
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.builder.move_to(x + self.x, y);
    }
    fn line_to(&mut self, x: f32, y: f32) {
        self.builder.line_to(x + self.x, y);
    }
    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.builder.quad_to(x1 + self.x, y1, x + self.x, y);
    }
    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.builder.cubic_to(x1 + self.x, y1, x2 + self.x, y2, x + self.x, y);
    }
    fn close(&mut self) {
        self.builder.close();
    }
}
