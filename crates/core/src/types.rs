//! Addresses, quantities and host requests: the words every other module speaks.
//!
//! Addresses are 32-bit newtypes (2^32 pages of 4 KiB are 16 TiB), so that tables stay small and an LPN is never
//! taken for a PPN. Quantities carry their unit in the type ([`Nanos`], [`Bytes`]) or at the end of the name.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Bytes of one host sector.
pub const SECTOR_BYTES: u64 = 512;

macro_rules! address {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);
        impl $name {
            /// No address: the value that tables use for 'nothing here'.
            pub const NONE: Self = Self(u32::MAX);
            /// The address as an index into a table.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
            /// True unless this is [`Self::NONE`].
            #[inline]
            pub const fn is_some(self) -> bool {
                self.0 != u32::MAX
            }
            /// True for [`Self::NONE`].
            #[inline]
            pub const fn is_none(self) -> bool {
                self.0 == u32::MAX
            }
        }
        impl From<usize> for $name {
            #[inline]
            fn from(index: usize) -> Self {
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }
        }
    };
}

address!(
    /// Logical page number: host address in units of flash pages.
    Lpn
);
address!(
    /// Physical page number: `pbn * pages_per_block + page_in_block`.
    Ppn
);
address!(
    /// Logical block number: `lpn / pages_per_block` (the thesis of HitStat writes LBA for it).
    Lbn
);
address!(
    /// Physical (erase) block number.
    Pbn
);
address!(
    /// Dense index of a page that is resident in the data buffer.
    Slot
);

/// A time or a duration in integer nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Nanos(pub u64);

impl Nanos {
    /// Time zero, or no duration.
    pub const ZERO: Self = Self(0);
    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000)
    }
    /// The duration in microseconds.
    pub fn as_us(self) -> f64 {
        self.0 as f64 / 1e3
    }
    /// The duration in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e9
    }
    /// `self - other`, or zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// Parses a number with a unit (`ns`, `us`, `ms`, `s`), for example `32.7us`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (number, unit) = split_unit(text);
        let scale = match unit {
            "ns" => 1.0,
            "us" | "µs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "" => return Err(format!("`{text}` has no unit: write {text}ns, {text}us, {text}ms or {text}s")),
            _ => return Err(format!("`{text}`: unknown unit `{unit}`: use ns, us, ms or s")),
        };
        let value: f64 = number.parse().map_err(|_| format!("`{text}` is not a time such as 25us"))?;
        let nanos = (value * scale).round();
        if !(0.0..=9e18).contains(&nanos) {
            return Err(format!("`{text}` is outside 0 to 285 years"));
        }
        if nanos == 0.0 && value > 0.0 {
            return Err(format!("`{text}` is less than a nanosecond: write 0ns, or 1ns or more"));
        }
        Ok(Self(nanos as u64))
    }
}

impl Add for Nanos {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Nanos {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Nanos {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl Mul<u64> for Nanos {
    type Output = Self;
    #[inline]
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        let (value, unit) = match ns {
            0..1_000 => return write!(f, "{ns}ns"),
            1_000..1_000_000 => (ns as f64 / 1e3, "us"),
            1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
            _ => (ns as f64 / 1e9, "s"),
        };
        write!(f, "{}{unit}", trim_zeros(value))
    }
}

/// A size in bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(pub u64);

impl Bytes {
    /// `n` KiB.
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// `n` MiB.
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// Parses `4096`, `4k`, `4KiB`, `8MiB`, `1GiB`. Powers of ten (`kB`, `MB`, `GB`) are refused, because half of all
    /// tools mean 1,000 by them and the other half 1,024.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (number, unit) = split_unit(text);
        if matches!(unit.to_ascii_lowercase().as_str(), "kb" | "mb" | "gb" | "tb") {
            let binary = unit[..1].to_ascii_uppercase();
            return Err(format!("`{text}` is ambiguous: write {number}{binary}iB (powers of 1,024)"));
        }
        Self::scaled(text)
    }
    /// Parses the bytes of a rate, as in `500MiB/s` or `560MB/s`: of rates nobody means 1,024 by `kB`, `MB` and `GB`.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is accepted.
    pub fn parse_rate(text: &str) -> Result<Self, String> {
        let bytes =
            text.trim_end().strip_suffix("/s").ok_or_else(|| format!("`{text}` is not a rate such as 560MB/s"))?;
        Self::scaled(bytes)
    }
    fn scaled(text: &str) -> Result<Self, String> {
        let (number, unit) = split_unit(text);
        let scale: u64 = match unit.to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "k" | "kib" => 1 << 10,
            "m" | "mib" => 1 << 20,
            "g" | "gib" => 1 << 30,
            "t" | "tib" => 1 << 40,
            "kb" => 1_000,
            "mb" => 1_000_000,
            "gb" => 1_000_000_000,
            "tb" => 1_000_000_000_000,
            _ => return Err(format!("`{text}`: unknown unit `{unit}`: use B, KiB, MiB, GiB or TiB")),
        };
        let value: f64 = number.parse().map_err(|_| format!("`{text}` is not a size such as 8MiB"))?;
        let bytes = value * scale as f64;
        if !(0.0..=(1u64 << 60) as f64).contains(&bytes) || bytes.fract() != 0.0 {
            return Err(format!("`{text}` is not a whole number of bytes between 0 and 1048576TiB"));
        }
        Ok(Self(bytes as u64))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 >= 1 << shift {
                return write!(f, "{}{unit}", trim_zeros(self.0 as f64 / (1u64 << shift) as f64));
            }
        }
        write!(f, "{}B", self.0)
    }
}

/// Three decimals at most, without trailing zeros.
fn trim_zeros(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-' || c == '+')).unwrap_or(text.len());
    (text[..end].trim(), text[end..].trim())
}

/// `Display` of a quantity can round; what is serialised must not.
impl Serialize for Nanos {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let shown = self.to_string();
        let exact = Self::parse(&shown) == Ok(*self);
        s.serialize_str(&if exact { shown } else { format!("{}ns", self.0) })
    }
}
impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let shown = self.to_string();
        let exact = Self::parse(&shown) == Ok(*self);
        s.serialize_str(&if exact { shown } else { format!("{}B", self.0) })
    }
}
impl<'de> Deserialize<'de> for Nanos {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl de::Visitor<'_> for V {
            type Value = Nanos;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time with its unit such as \"25us\"")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Nanos, E> {
                Nanos::parse(text).map_err(E::custom)
            }
        }
        d.deserialize_str(V)
    }
}
impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct V;
        impl de::Visitor<'_> for V {
            type Value = Bytes;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"8MiB\" or a number of bytes")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Bytes, E> {
                Bytes::parse(text).map_err(E::custom)
            }
            fn visit_u64<E: de::Error>(self, bytes: u64) -> Result<Bytes, E> {
                Ok(Bytes(bytes))
            }
            fn visit_i64<E: de::Error>(self, bytes: i64) -> Result<Bytes, E> {
                u64::try_from(bytes).map(Bytes).map_err(|_| E::custom("a size cannot be negative"))
            }
        }
        d.deserialize_any(V)
    }
}
macro_rules! string_schema {
    ($name:ident, $what:literal) => {
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": ["string", "integer"], "description": $what})
            }
        }
    };
}
string_schema!(Nanos, "a time with its unit, such as 25us");
string_schema!(Bytes, "a size, such as 8MiB (powers of 1,024) or a number of bytes");

/// What the host asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostOp {
    /// Read sectors.
    Read,
    /// Write sectors.
    Write,
    /// The sectors hold nothing of value any more (discard).
    Trim,
    /// All writes acknowledged so far must survive a power cut.
    Flush,
}

/// Access pattern of a stream, as the host sees it (URM).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Pattern {
    /// Consecutive pages, not repeated.
    Sequential,
    /// Consecutive pages whose run repeats.
    Looping,
    /// Repeated pages without a strong order.
    ClusteredHot,
    /// None of these.
    #[default]
    Random,
}

/// What the host tells about a request (URM). All-default = nothing known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Hint {
    /// Pattern of the stream that issued the request.
    pub pattern: Pattern,
    /// Identity of the program location that issued it (0 = unknown).
    pub pc: u32,
    /// Predicted run length in pages, counted from the first page of the access and including it (0 or 1 = no run).
    pub run_pages: u32,
    /// Mean accesses between repeats of the stream (0 = unknown).
    pub period: u32,
    /// Mappings that the stream is predicted to need from the first page of the access on, that page's included
    /// (0 = unknown).
    pub mappings: u16,
}

/// One request of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HostRequest {
    /// Arrival time; meaningful in open-loop replay only.
    pub at: Nanos,
    /// First sector (512 B).
    pub lba: u64,
    /// Number of sectors; 0 for a flush.
    pub sectors: u32,
    /// What to do.
    pub op: HostOp,
    /// What the host tells about it.
    pub hint: Hint,
    /// What follows in the stream is the rest of the same request of the host, which an address policy split.
    pub more: bool,
}

impl HostRequest {
    /// A whole request without hint.
    pub fn new(at: Nanos, op: HostOp, lba: u64, sectors: u32) -> Self {
        Self { at, lba, sectors, op, hint: Hint::default(), more: false }
    }
    /// The first request of a stream with all its pieces, and what comes after it.
    #[inline]
    pub fn split_first(stream: &[Self]) -> Option<(&[Self], &[Self])> {
        let pieces = stream.iter().position(|piece| !piece.more).map_or(stream.len(), |last| last + 1);
        (pieces > 0).then(|| stream.split_at(pieces))
    }
    /// Requests in a stream, each counted once however many pieces it has.
    pub fn count(stream: &[Self]) -> u64 {
        stream.iter().map(|piece| u64::from(!piece.more)).sum()
    }
    /// Pages that it touches, each piece by itself.
    #[inline]
    pub(crate) fn pages_of(pieces: &[Self], page_sectors: u32) -> u32 {
        let pages = |piece: &Self| {
            let sectors = u64::from(page_sectors);
            piece.lba.saturating_add(u64::from(piece.sectors)).div_ceil(sectors) - piece.lba / sectors
        };
        pieces.iter().map(pages).sum::<u64>() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_read_as_people_write_them() {
        assert_eq!(Bytes::parse("8MiB"), Ok(Bytes::mib(8)));
        assert_eq!(Bytes::parse("4k"), Ok(Bytes(4096)));
        assert_eq!(Bytes::parse("1.5 GiB"), Ok(Bytes::mib(1536)));
        assert!(Bytes::parse("8MB").unwrap_err().contains("8MiB"));
        assert!(Bytes::parse("-1").is_err());
        assert!(Bytes::parse("NaN").is_err());
        assert_eq!(Nanos::parse("32.7us"), Ok(Nanos(32_700)));
        assert_eq!(Nanos::parse("3.8ms"), Ok(Nanos(3_800_000)));
        assert!(Nanos::parse("25").unwrap_err().contains("25us"));
        assert!(Nanos::parse("1e9s").is_err());
        assert!(Nanos::parse("0.3ns").unwrap_err().contains("less than a nanosecond"));
        assert_eq!((Nanos::parse("0us"), Nanos::parse("0.0006us")), (Ok(Nanos(0)), Ok(Nanos(1))));
        assert_eq!(Bytes::parse("1048576TiB"), Ok(Bytes(1 << 60)));
        assert!(Bytes::parse("1048577TiB").is_err());
    }

    #[test]
    fn serialising_a_quantity_loses_nothing() {
        for n in [0, 1, 999, 32_700, 1_234_567, 123_456_789_012] {
            let text = serde_json::to_string(&Nanos(n)).unwrap();
            assert_eq!(serde_json::from_str::<Nanos>(&text).unwrap(), Nanos(n), "{text}");
            let text = serde_json::to_string(&Bytes(n)).unwrap();
            assert_eq!(serde_json::from_str::<Bytes>(&text).unwrap(), Bytes(n), "{text}");
        }
    }
}
