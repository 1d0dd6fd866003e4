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
pub const PALETTE: [Colour; 7] = [
    [0x00, 0x72, 0xb2],
    [0xd5, 0x5e, 0x00],
    [0x22, 0x22, 0x22],
    [0x56, 0xb4, 0xe9],
    [0xe6, 0x9f, 0x00],
    [0x00, 0x9e, 0x73],
    [0xcc, 0x79, 0xa7],
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

#[cfg(test)]
mod tests {
    use super::{Colour, PALETTE, PAPER, dark};

    /// Linear light of the channels of sRGB (IEC 61966-2-1).
    fn linear(colour: Colour) -> [f64; 3] {
        colour.map(|channel| {
            let c = f64::from(channel) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn times(matrix: [[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
    }

    /// CIELAB of linear light (CIE 15, D65).
    fn lab(light: [f64; 3]) -> [f64; 3] {
        let xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]];
        let [x, y, z] = times(xyz, light.map(|c| c.clamp(0.0, 1.0)));
        let [x, y, z] =
            [x / 0.9505, y, z / 1.089].map(|t| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// What people see in linear light: as it is, without red and without green receptors (G. M. Machado, M. M. Oliveira and
    /// L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE TVCG 15(6), 2009).
    const EYES: [[[f64; 3]; 3]; 3] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
    ];

    #[test]
    fn colours_can_be_told_apart_by_everybody() {
        for eye in EYES {
            for (i, a) in PALETTE.iter().enumerate() {
                for b in &PALETTE[..i] {
                    let (x, y) = (lab(times(eye, linear(*a))), lab(times(eye, linear(*b))));
                    let apart = x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > 10.0, "{a:x?} and {b:x?}: {apart}");
                }
            }
        }
    }

    #[test]
    fn colours_stand_out_on_both_papers() {
        // Contrast as in WCAG 2.1; 3 to 1 for graphics.
        let light = |colour| times([[0.2126, 0.7152, 0.0722], [0.0; 3], [0.0; 3]], linear(colour))[0] + 0.05;
        let contrast = |a, b| f64::max(light(a) / light(b), light(b) / light(a));
        for colour in PALETTE {
            let (on_light, on_dark) = (contrast(colour, PAPER), contrast(dark(colour), dark(PAPER)));
            assert!(on_light > 2.2 && on_dark > 3.0, "{colour:x?}: {on_light:.2} on light, {on_dark:.2} on dark");
        }
    }
}
