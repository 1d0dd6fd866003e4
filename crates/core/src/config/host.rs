//! The host interface: which link, and what else a request costs.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use super::{ControllerConfig, SleepConfig};
use crate::engine::{HostTimes, LinkSpeed, WriteAck};
use crate::types::{Bytes, Nanos};

/// What the way between host and device costs; nothing by default. What is modelled: docs/models.md, 'Host interface'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// The link over which the data of requests crosses: `none` (in no time), `sata1` to `sata3`, `pcieGxN` (generation 1 to
    /// 6, 1 to 16 lanes), or its rate for the data itself, as in `560MB/s` (10^6), `500MiB/s` (both ways at a time) or
    /// `560MB/s half-duplex`.
    pub link: HostLink,
    /// Protocol, firmware and controller time of a read, before its operations start. A pure latency: any number of
    /// requests spend it at a time; what they cannot is `device.controller`.
    pub read_overhead: Nanos,
    /// The same for a write (after its data crossed the link), a trim and a flush.
    pub write_overhead: Nanos,
    /// When a write is acknowledged: `ram` when its data is there, `protected_ram` the same with power-loss protection, so that
    /// flushes have nothing to do, `flash` when it is programmed.
    pub write_ack: WriteAck,
}

impl HostConfig {
    /// For the engine, with what lies behind it.
    pub(super) fn times(&self, controller: &ControllerConfig, sleep: &SleepConfig) -> HostTimes {
        let Self { link, read_overhead, write_overhead, .. } = *self;
        HostTimes {
            link: link.speed(),
            controller: controller.times(),
            sleep: sleep.times(),
            read_overhead,
            write_overhead,
        }
    }
}

/// A link between host and device, as a configuration names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostLink {
    /// Data crosses in no time.
    #[default]
    None,
    /// Serial ATA.
    Sata {
        /// 1 (1.5 Gb/s), 2 (3 Gb/s) or 3 (6 Gb/s).
        generation: u32,
    },
    /// PCI Express.
    Pcie {
        /// 1 (2.5 GT/s a lane) to 6 (64 GT/s a lane), each twice as fast as the one before, except for the third (8 GT/s).
        generation: u32,
        /// 1, 2, 4, 8 or 16.
        lanes: u32,
    },
    /// Any other, by its rate.
    Rate {
        /// Data of the host a second, 1 MiB to 1 TiB.
        bytes_per_second: Bytes,
        /// Data goes one way at a time.
        half_duplex: bool,
    },
}

const FORMS: &str = "use none, sata1 to sata3, pcieGxN (generation G 1 to 6; 1, 2, 4, 8 or 16 lanes), or a rate as in \
                     560MB/s, 500MiB/s or 560MB/s half-duplex";
const HALF_DUPLEX: &str = "half-duplex";

impl HostLink {
    /// Reads what [`Self`] displays.
    ///
    /// # Errors
    /// A sentence that says what is wrong and what is accepted.
    pub fn parse(text: &str) -> Result<Self, String> {
        let refuse = || format!("`{text}` is not a link: {FORMS}");
        let name = text.trim().to_ascii_lowercase();
        let number = |digits: &str| digits.parse::<u32>().map_err(|_| refuse());
        if name == "none" {
            return Ok(Self::None);
        }
        if let Some(generation) = name.strip_prefix("sata") {
            let generation = number(generation)?;
            return if (1..=3).contains(&generation) { Ok(Self::Sata { generation }) } else { Err(refuse()) };
        }
        if let Some(rest) = name.strip_prefix("pcie") {
            let (generation, lanes) = rest.split_once('x').ok_or_else(refuse)?;
            let (generation, lanes) = (number(generation)?, number(lanes)?);
            let known = (1..=6).contains(&generation) && matches!(lanes, 1 | 2 | 4 | 8 | 16);
            return if known { Ok(Self::Pcie { generation, lanes }) } else { Err(refuse()) };
        }
        let (rate, half_duplex) = match text.trim().strip_suffix(HALF_DUPLEX) {
            Some(rate) => (rate.trim(), true),
            None => (text.trim(), false),
        };
        if !rate.ends_with("/s") {
            return Err(refuse());
        }
        let bytes_per_second = Bytes::parse_rate(rate).map_err(|problem| format!("{problem}; {FORMS}"))?;
        if !(Bytes::mib(1)..=Bytes::mib(1 << 20)).contains(&bytes_per_second) {
            return Err(format!("{bytes_per_second}/s is outside 1MiB/s to 1TiB/s"));
        }
        Ok(Self::Rate { bytes_per_second, half_duplex })
    }

    /// What it carries: the rate of the data itself, after line coding and packets; `None` without a link.
    ///
    /// - SATA: 1.5, 3 or 6 Gb/s, 8b/10b (Serial ATA revision 3): 150, 300 or 600 MB/s, one frame at a time whatever its way.
    ///   A data frame has 8,192 bytes of data and 16 of SOF, header, CRC and EOF.
    /// - PCI Express: a queue each way. Generations 1 and 2 code 8 bits in 10, generations 3 to 5 128 bits in 130 (PCI
    ///   Express base specification). A packet has 256 bytes of data and 24 more: header of 4 dwords, framing and sequence
    ///   number, LCRC (Intel AN 855, 'Protocol overhead': six dwords without the optional ECRC). Generation 6 sends
    ///   units of 256 bytes (flits) of which 236 are packets, which need the header of 16 bytes alone.
    ///
    /// Not in it: acknowledgements, flow control, commands and completions, turning the link around.
    pub fn speed(self) -> Option<LinkSpeed> {
        let (bits, data, of, half_duplex) = match self {
            Self::None => return None,
            Self::Rate { bytes_per_second: Bytes(bytes_per_second), half_duplex } => {
                return Some(LinkSpeed { bytes_per_second, half_duplex });
            }
            Self::Sata { generation } => (1_500_000_000 << (generation - 1), 8 * 8_192, 10 * (8_192 + 16), true),
            Self::Pcie { generation, lanes } => {
                let lane = match generation {
                    1 | 2 => 2_500_000_000 << (generation - 1),
                    _ => 8_000_000_000 << (generation - 3),
                };
                let (data, of) = match generation {
                    1 | 2 => (8 * 256, 10 * (256 + 24)),
                    3..=5 => (128 * 256, 130 * (256 + 24)),
                    _ => (236 * 256, 256 * (256 + 16)),
                };
                (lane * u64::from(lanes), data, of, false)
            }
        };
        let bytes_per_second = (u128::from(bits) * data / (of * 8)) as u64;
        Some(LinkSpeed { bytes_per_second, half_duplex })
    }
}

impl fmt::Display for HostLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => f.write_str("none"),
            Self::Sata { generation } => write!(f, "sata{generation}"),
            Self::Pcie { generation, lanes } => write!(f, "pcie{generation}x{lanes}"),
            Self::Rate { bytes_per_second, half_duplex } => {
                // Sizes are shown rounded where that is shorter.
                let shown = bytes_per_second.to_string();
                let exact = Bytes::parse(&shown) == Ok(bytes_per_second);
                let shown = if exact { shown } else { format!("{}B", bytes_per_second.0) };
                write!(
                    f,
                    "{shown}/s{}{}",
                    if half_duplex { " " } else { "" },
                    if half_duplex { HALF_DUPLEX } else { "" }
                )
            }
        }
    }
}

impl Serialize for HostLink {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HostLink {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(d)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for HostLink {
    fn schema_name() -> Cow<'static, str> {
        "HostLink".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let description =
            "A link: none, sata1 to sata3, pcieGxN, or a rate such as 560MB/s, 500MiB/s or 560MB/s half-duplex";
        json!({"type": "string", "description": description}).try_into().expect("an object is a schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_is_read_as_it_is_shown() {
        let links = ["none", "sata3", "pcie1x1", "pcie6x16", "500MiB/s", "1234567B/s", "1.5GiB/s half-duplex"];
        for text in links {
            assert_eq!(HostLink::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(HostLink::parse(" PCIe4x4 "), Ok(HostLink::Pcie { generation: 4, lanes: 4 }));
        // As the reports of `fit` show it.
        let rate = HostLink::parse("1319 MB/s").unwrap();
        assert_eq!(rate.speed().unwrap().bytes_per_second, 1_319_000_000);
        assert_eq!(HostLink::parse(&rate.to_string()), Ok(rate));
    }

    #[test]
    fn unknown_link_is_refused_with_what_is_accepted() {
        for text in ["", "pcie", "pcie7x4", "pcie3x3", "pcie3", "sata4", "sata", "nvme", "500MiB", "2x", "1Mb/h"] {
            let problem = HostLink::parse(text).unwrap_err();
            assert!(problem.contains(text.trim_end_matches("/s")) && problem.contains("pcieGxN"), "{problem}");
        }
        for text in ["1B/s", "2TiB/s"] {
            assert!(HostLink::parse(text).unwrap_err().contains("1MiB/s to 1TiB/s"), "{text}");
        }
    }

    /// By hand: rate of the line * share of the code * share of the packets.
    #[test]
    fn link_carries_what_line_code_and_packets_leave() {
        let cases = [
            ("sata1", 150e6 * 8192.0 / 8208.0, true),
            ("sata3", 600e6 * 8192.0 / 8208.0, true),
            ("pcie1x1", 250e6 * 256.0 / 280.0, false),
            ("pcie2x8", 4e9 * 256.0 / 280.0, false),
            ("pcie3x4", 4e9 * 128.0 / 130.0 * 256.0 / 280.0, false),
            ("pcie5x16", 64e9 * 128.0 / 130.0 * 256.0 / 280.0, false),
            ("pcie6x2", 16e9 * 236.0 / 256.0 * 256.0 / 272.0, false),
            ("3MiB/s half-duplex", 3_145_728.0, true),
        ];
        for (text, rate, half_duplex) in cases {
            let speed = HostLink::parse(text).unwrap().speed().unwrap();
            assert_eq!((speed.bytes_per_second, speed.half_duplex), (rate as u64, half_duplex), "{text}");
        }
        assert_eq!(HostLink::None.speed(), None);
    }
}
