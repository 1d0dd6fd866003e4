//! The letters of a picture as an embedded face.
//!
//! Outlines in place of letters would need no face, but nobody could search or copy the text, and would be larger: one for
//! every letter that is drawn, not for every one that is used. Every character has a code of its own, also those that
//! look alike or that the face does not have: what is copied is what was written.

use std::collections::BTreeSet;

use epaint_default_fonts::HACK_REGULAR;
use miniz_oxide::deflate::compress_to_vec_zlib;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use subsetter::{GlyphRemapper, subset};
use ttf_parser::Face;

use super::{COMPRESSION, stream};
use crate::scene::{Mark, Scene, glyph, printable};

/// Codes are the characters' own, of no collection.
const CODES: SystemInfo<'_> = SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// The characters of a picture. The code of one is its place, from 1; 0 is one that cannot be shown.
pub(super) struct Letters(Vec<char>);

impl Letters {
    /// Those of all texts.
    pub fn of(scene: &Scene) -> Self {
        let mut all = BTreeSet::new();
        for mark in &scene.marks {
            if let Mark::Text { text, .. } = mark {
                all.extend(text.chars().map(printable));
            }
        }
        Self(all.into_iter().take(usize::from(u16::MAX)).collect())
    }

    /// Each with its code.
    pub fn numbered(&self) -> impl Iterator<Item = (u16, char)> {
        (1..=u16::MAX).zip(self.0.iter().copied())
    }

    /// The codes of a text, two bytes each.
    pub fn codes(&self, text: &str) -> Vec<u8> {
        let code = |c| self.0.binary_search(&printable(c)).map_or(0, |place| place as u16 + 1);
        text.chars().flat_map(|c| code(c).to_be_bytes()).collect()
    }

    /// The outlines that are needed, and which of them each code has, two bytes each.
    pub fn face(&self) -> (Vec<u8>, Vec<u8>) {
        let whole = Face::parse(HACK_REGULAR, 0).expect("the embedded face is sound");
        let mut kept = GlyphRemapper::new();
        let glyphs = self.0.iter().map(|c| kept.remap(glyph(&whole, *c).0)).collect::<Vec<u16>>();
        let outlines = subset(HACK_REGULAR, 0, &kept).expect("the embedded face is sound");
        (outlines, [0].into_iter().chain(glyphs).flat_map(u16::to_be_bytes).collect())
    }

    /// Writes the face, as the objects from `first` on.
    pub fn write(&self, pdf: &mut Pdf, first: Ref) {
        let [cid, descriptor, outlines, glyphs, unicode] = [1, 2, 3, 4, 5].map(|i| Ref::new(first.get() + i));
        let whole = Face::parse(HACK_REGULAR, 0).expect("the embedded face is sound");
        let share = |units: i16| f32::from(units) * 1000.0 / f32::from(whole.units_per_em());
        let size = |count: usize| i32::try_from(count).expect("a face has some hundred kilobytes");
        let (bytes, of_codes) = self.face();
        let name = format!("{}+Hack-Regular", tag(&bytes));
        let name = Name(name.as_bytes());

        let mut composite = pdf.type0_font(first);
        composite.base_font(name).encoding_predefined(Name(b"Identity-H")).descendant_font(cid).to_unicode(unicode);
        composite.finish();

        let mut font = pdf.cid_font(cid);
        font.subtype(CidFontType::Type2).base_font(name).system_info(CODES).font_descriptor(descriptor);
        // It is monospaced. Widths are given for each code, because Poppler takes only whole numbers for the width by default.
        let width = whole.glyph_hor_advance(glyph(&whole, ' ')).map_or(0, u16::cast_signed);
        font.cid_to_gid_map_stream(glyphs).widths().same(0, self.0.len() as u16, share(width));
        font.finish();

        let edge = whole.global_bounding_box();
        // Who replaces the face wants to know how bold it is.
        let stem = whole.glyph_bounding_box(glyph(&whole, '|')).map_or(0, |bar| bar.width());
        let mut about = pdf.font_descriptor(descriptor);
        about.name(name).flags(FontFlags::FIXED_PITCH | FontFlags::NON_SYMBOLIC).italic_angle(0.0).stem_v(share(stem));
        about.bbox(Rect::new(share(edge.x_min), share(edge.y_min), share(edge.x_max), share(edge.y_max)));
        about.ascent(share(whole.ascender())).descent(share(whole.descender()));
        about.cap_height(share(whole.capital_height().unwrap_or(whole.ascender()))).font_file2(outlines);
        about.finish();

        let packed = compress_to_vec_zlib(&bytes, COMPRESSION);
        let mut file = pdf.stream(outlines, &packed);
        file.filter(Filter::FlateDecode).pair(Name(b"Length1"), size(bytes.len()));
        file.finish();
        stream(pdf, glyphs, &of_codes);
        let mut characters = UnicodeCmap::<u16>::new(Name(b"Characters"), CODES);
        for (code, character) in self.numbered() {
            characters.pair(code, character);
        }
        stream(pdf, unicode, &characters.finish());
    }
}

/// Six capital letters that tell parts of one face apart (ISO 32000-1:2008, 9.6.4): programs that put several files together
/// take faces of one name for one.
fn tag(outlines: &[u8]) -> String {
    let hash = crc32fast::hash(outlines);
    (0..6).map(|place| char::from(b'A' + (hash / 26_u32.pow(place) % 26) as u8)).collect()
}
