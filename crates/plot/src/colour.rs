//! Colours that people with any colour vision can tell apart.

/// Red, green, blue.
pub type Colour = [u8; 3];

/// Text and axes.
pub(crate) const INK: Colour = [0x22, 0x22, 0x22];
/// Grid lines.
pub(crate) const GRID: Colour = [0xe2, 0xe2, 0xe2];
/// Paper.
pub(crate) const PAPER: Colour = [0xff, 0xff, 0xff];

/// A line that is none of the others but what they are measured by.
pub(crate) const NEUTRAL: Colour = [0x77, 0x77, 0x77];

/// Lines in this order: the palette of Okabe and Ito (Color Universal Design, 2008) without its yellow, which is too
/// faint on white.
pub const PALETTE: [Colour; 6] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x22, 0x22, 0x22],
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
];

/// The colour that stands for another one on dark paper: paper, ink and grid turn. The palette stays, of which every colour has
/// a contrast of 3 to 1 or more there too; a lighter blue could hardly be told from the other one.
pub fn dark(colour: Colour) -> Colour {
    match colour {
        PAPER => [0x16, 0x16, 0x16],
        INK => [0xe6, 0xe6, 0xe6],
        GRID => [0x3a, 0x3a, 0x3a],
        NEUTRAL => [0x9a, 0x9a, 0x9a],
        other => other,
    }
}

/// Levels of a heat map.
pub(crate) const LEVELS: usize = 12;

/// Stops of viridis (van der Walt and Smith, matplotlib, CC0), from light to dark; its lightest part is left out.
const STOPS: [Colour; 8] = [
    [0xb5, 0xde, 0x2b],
    [0x6e, 0xce, 0x58],
    [0x35, 0xb7, 0x79],
    [0x1f, 0x9e, 0x89],
    [0x26, 0x82, 0x8e],
    [0x31, 0x68, 0x8e],
    [0x3e, 0x49, 0x89],
    [0x44, 0x01, 0x54],
];

/// Colour of a share of 0 (light) to 1 (dark).
pub fn ramp(share: f64) -> Colour {
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let left = (place as usize).min(STOPS.len() - 2);
    let part = place - left as f64;
    std::array::from_fn(|i| {
        let (a, b) = (f64::from(STOPS[left][i]), f64::from(STOPS[left + 1][i]));
        (a + (b - a) * part).round() as u8
    })
}
