//! Capacity: the size to which a device grows.

use nandlab::types::Bytes;

use crate::word::Word;

/// What the host can address at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// This many bytes.
    Size(Bytes),
    /// Every address of the trace.
    Fit,
}

/// Reads a size and rounds it to whole bytes: reports show sizes with three decimals, and a reader who copies one means the
/// size that it stands for.
///
/// # Errors
/// As [`Bytes::parse`].
pub fn rounded_size(text: &str, round: fn(f64) -> f64) -> Result<Bytes, String> {
    Bytes::parse(text).or_else(|problem| {
        let text = text.trim();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let unit = Bytes::parse(&format!("1{unit}")).map_or(1, |unit| unit.0);
        let bytes = number.trim().parse::<f64>().map_or(f64::NAN, |number| number * unit as f64);
        if unit > 1 && (0.0..=1e18).contains(&bytes) { Ok(Bytes(round(bytes) as u64)) } else { Err(problem) }
    })
}

impl Word for Capacity {
    fn read(text: &str) -> Result<Self, String> {
        match text {
            "fit" => Ok(Self::Fit),
            // What is shown of a size is rounded, and less than that would not be what it says.
            _ => match rounded_size(text, f64::ceil) {
                Ok(Bytes(0)) => Err("a capacity is 1 byte at least".to_owned()),
                Ok(size) => Ok(Self::Size(size)),
                Err(problem) => Err(format!("{problem}, or `fit`: every address of the trace")),
            },
        }
    }
    fn word(&self) -> String {
        match self {
            Self::Size(Bytes(size)) => format!("{size}B"),
            Self::Fit => "fit".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_a_size_or_the_word_fit() {
        assert_eq!(Capacity::read("fit"), Ok(Capacity::Fit));
        assert_eq!(Capacity::read("1TiB"), Ok(Capacity::Size(Bytes(1 << 40))));
        // 30.324 * 2^30 is 32,560,147,070.98; less is not at least that.
        assert_eq!(Capacity::read("30.324GiB"), Ok(Capacity::Size(Bytes(32_560_147_071))));
        assert_eq!(rounded_size("30.324 GiB", f64::floor), Ok(Bytes(32_560_147_070)));
        for wrong in ["", "0", "0.5", "1TB", "Fit", "-1", "-0.001KiB", "1.5.5GiB", "0.1YiB", "9999999.9TiB"] {
            assert!(Capacity::read(wrong).is_err(), "{wrong}");
        }
    }
}
