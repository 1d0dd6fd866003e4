//! Lists in parameters: `4KiB@3,64KiB@1`, `(zipf:theta=0.9)@2,(uniform)@1`.

use std::fmt;

use nandlab::config::split_outside;
use nandlab::error::ConfigError;
use nandlab::types::Bytes;
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};

use super::random::{Alias, SplitMix};
use super::wrong;

/// Weights are below this, so that sums of them stay exact.
const WEIGHT_MAX: u64 = 1 << 32;
/// Entries of a list, at most.
const ENTRIES_MAX: usize = 1024;

/// Splits `A@1,B@2` into its entries with their numbers; parentheses around an entry are taken off.
pub(crate) fn weighted<'a>(key: &str, text: &'a str) -> Result<Vec<(&'a str, u64)>, ConfigError> {
    let entry = |part: &'a str| {
        let (item, number) = match split_outside(part, '@')[..] {
            [item] => (item, 1),
            [item, number] => (item, number.trim().parse().unwrap_or(0)),
            _ => (part, 0),
        };
        if !(1..WEIGHT_MAX).contains(&number) {
            let help = format!("write ITEM@N,ITEM@N with numbers from 1 to {}", WEIGHT_MAX - 1);
            return Err(wrong(key, format!("`{part}` has no number that can be used"), help));
        }
        let item = item.trim();
        let inner = item.strip_prefix('(').and_then(|item| item.strip_suffix(')')).unwrap_or(item);
        Ok((inner, number))
    };
    let entries: Result<Vec<_>, _> = split_outside(text, ',').into_iter().map(entry).collect();
    match entries {
        Ok(list) if list.len() > ENTRIES_MAX => {
            Err(wrong(key, format!("{} entries are too many", list.len()), format!("use {ENTRIES_MAX} at most")))
        }
        entries => entries,
    }
}

/// Sizes of requests in bytes with their weights, as text.
#[derive(Clone, PartialEq, Eq, Debug, schemars::JsonSchema)]
#[schemars(transparent)]
pub struct Sizes(pub(crate) String);

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl de::Visitor<'_> for V {
            type Value = Sizes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size, or sizes with weights such as 4KiB@3,64KiB@1")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Sizes, E> {
                Ok(Sizes(text.to_owned()))
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Sizes, E> {
                Ok(Sizes(bytes.to_string()))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Sizes, E> {
                Ok(Sizes(bytes.to_string()))
            }
        }
        d.deserialize_any(V)
    }
}

/// Draws sizes.
#[derive(Clone, Debug)]
pub(crate) enum SizeDraw {
    /// Always the same.
    Fixed(u64),
    /// By weight.
    Listed(Alias, Vec<u64>),
}

impl SizeDraw {
    /// Whole sectors from 512 B to `max`.
    pub(crate) fn new(sizes: &Sizes, max: u64) -> Result<Self, ConfigError> {
        let (mut bytes, mut weights) = (Vec::new(), Vec::new());
        for (text, weight) in weighted("size", &sizes.0)? {
            let size = Bytes::parse(text).map_err(|problem| wrong("size", problem, "as in size=4KiB@3,64KiB@1"))?.0;
            if !size.is_multiple_of(512) || !(512..=max).contains(&size) {
                let help = format!("use whole sectors, from 512 B to {}", Bytes(max));
                return Err(wrong("size", format!("{text} cannot be the size of a request"), help));
            }
            bytes.push(size);
            weights.push(weight);
        }
        if let [size] = bytes[..] {
            return Ok(Self::Fixed(size));
        }
        Ok(Self::Listed(Alias::new(weights.into_iter()), bytes))
    }

    #[inline]
    pub(crate) fn draw(&self, random: &mut SplitMix) -> u64 {
        match self {
            Self::Fixed(size) => *size,
            Self::Listed(alias, sizes) => sizes[alias.draw(random) as usize],
        }
    }

    /// All that can be drawn.
    pub(crate) fn all(&self) -> impl Iterator<Item = u64> {
        let (one, list) = match self {
            Self::Fixed(size) => (Some(*size), &[][..]),
            Self::Listed(_, sizes) => (None, &sizes[..]),
        };
        one.into_iter().chain(list.iter().copied())
    }

    /// The largest.
    pub(crate) fn max(&self) -> u64 {
        self.all().max().unwrap_or(0)
    }
}
