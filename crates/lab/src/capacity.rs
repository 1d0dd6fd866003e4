//! Capacity: the size to which a device grows.

use std::fmt;
use std::str::FromStr;

use nandlab::types::Bytes;

/// What the host can address at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Capacity {
    /// This many bytes.
    Size(Bytes),
    /// Every address of the trace.
    Fit,
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "fit" => Ok(Self::Fit),
            _ => match Bytes::parse(text) {
                Ok(Bytes(0)) => Err("a capacity is 1 byte at least".to_owned()),
                Ok(size) => Ok(Self::Size(size)),
                Err(problem) => Err(format!("{problem}, or `fit`: every address of the trace")),
            },
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Size(Bytes(size)) => write!(f, "{size}B"),
            Self::Fit => f.write_str("fit"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_a_size_or_the_word_fit() {
        assert_eq!("fit".parse(), Ok(Capacity::Fit));
        assert_eq!("1TiB".parse(), Ok(Capacity::Size(Bytes(1 << 40))));
        for wrong in ["", "0", "1TB", "Fit", "-1"] {
            assert!(wrong.parse::<Capacity>().is_err(), "{wrong}");
        }
    }
}
