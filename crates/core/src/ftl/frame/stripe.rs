//! Order in which consecutive pages go over the dies of a device, and over their planes if these have frontiers of their own.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::json;

use crate::flash::Geometry;

const LETTERS: [u8; 4] = *b"cwdp";

/// Which index runs fastest: C = channel, W = way (chip on its channel), D = die in its chip, P = plane. The names follow MQSim's
/// allocation schemes: any order of the four letters; planes come last where the name has three.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stripe([u8; 4]);

impl Default for Stripe {
    /// Channels first, then ways, then dies, then planes.
    fn default() -> Self {
        Self(LETTERS)
    }
}

impl Stripe {
    /// Reads a name, as in `cwdp` or `wcd`.
    ///
    /// # Errors
    /// A sentence that says what is accepted.
    pub fn parse(name: &str) -> Result<Self, String> {
        let lower = name.to_ascii_lowercase();
        let full = if lower.len() == 3 { format!("{lower}p") } else { lower };
        let letters: Option<[u8; 4]> = full.as_bytes().try_into().ok();
        let is_order = |letters: &[u8; 4]| LETTERS.iter().all(|letter| letters.contains(letter));
        letters.filter(is_order).map(Self).ok_or_else(|| {
            format!("`{name}` is not an order: use c, w, d and p (channel, way, die, plane), as in cwdp; p is optional")
        })
    }

    /// True unless planes come last.
    pub const fn orders_planes(self) -> bool {
        self.0[3] != b'p'
    }

    /// The lanes in this order: dies, or with `planes` of each, their planes. Lane `channel + channels * (way + ways * (die +
    /// dies * plane))` as in [`Geometry`].
    pub fn order(self, geometry: &Geometry, planes: u32) -> Vec<u32> {
        let Geometry { channels, chips_per_channel: ways, dies_per_chip: dies, .. } = *geometry;
        let index = |letter: u8| match letter {
            b'c' => (1, channels),
            b'w' => (channels, ways),
            b'd' => (channels * ways, dies),
            _ => (channels * ways * dies, planes),
        };
        let place = |lane: u32| {
            let next = |(rest, place): (u32, u32), letter: &u8| {
                let (step, count) = index(*letter);
                (rest / count, place + step * (rest % count))
            };
            self.0.iter().fold((lane, 0), next).1
        };
        (0..channels * ways * dies * planes).map(place).collect()
    }
}

impl fmt::Display for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = str::from_utf8(&self.0).expect("letters");
        f.write_str(name.strip_suffix('p').unwrap_or(name))
    }
}

impl Serialize for Stripe {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Stripe {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Self::parse(&Cow::<str>::deserialize(d)?).map_err(de::Error::custom)
    }
}

impl schemars::JsonSchema for Stripe {
    fn schema_name() -> Cow<'static, str> {
        "Stripe".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let description = "An order of the letters c, w, d and p: channel, way, die, plane; the first runs fastest";
        json!({"type": "string", "pattern": "^[cwdp]{3,4}$", "description": description})
            .try_into()
            .expect("an object is a schema")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> Vec<Stripe> {
        let mut all = vec![];
        for code in 0..256_usize {
            let name: String = (0..4).map(|i| char::from(LETTERS[code >> (2 * i) & 3])).collect();
            all.extend(Stripe::parse(&name));
        }
        all
    }

    #[test]
    fn every_order_names_every_lane_once() {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 4,
            planes_per_die: 5,
            blocks_per_plane: 1,
            pages_per_block: 4,
            page_bytes: 512,
        };
        assert_eq!(orders().len(), 24);
        for stripe in orders() {
            for planes in [1, 5] {
                let mut order = stripe.order(&geometry, planes);
                order.sort_unstable();
                assert_eq!(order, (0..24 * planes).collect::<Vec<_>>(), "{stripe}");
            }
        }
        let start = |name: &str| Stripe::parse(name).unwrap().order(&geometry, 5)[..7].to_vec();
        assert_eq!(start("cwd"), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(start("cdw"), [0, 1, 6, 7, 12, 13, 18]);
        assert_eq!(start("wcd"), [0, 2, 4, 1, 3, 5, 6]);
        assert_eq!(start("wdc"), [0, 2, 4, 6, 8, 10, 12]);
        assert_eq!(start("dcw"), [0, 6, 12, 18, 1, 7, 13]);
        assert_eq!(start("dwc"), [0, 6, 12, 18, 2, 8, 14]);
        assert_eq!(start("pcwd"), [0, 24, 48, 72, 96, 1, 25]);
        assert_eq!(start("cpwd"), [0, 1, 24, 25, 48, 49, 72]);
    }

    #[test]
    fn order_is_read_as_it_is_shown() {
        for (name, shown) in [("cwd", "cwd"), ("CWDP", "cwd"), ("pcwd", "pcwd"), ("dwc", "dwc")] {
            assert_eq!(Stripe::parse(name).unwrap().to_string(), shown);
        }
        for name in ["", "cw", "ccwd", "cwdx", "cwpp", "cwdpp", "cwp"] {
            assert!(Stripe::parse(name).unwrap_err().contains("cwdp"), "{name}");
        }
    }
}
