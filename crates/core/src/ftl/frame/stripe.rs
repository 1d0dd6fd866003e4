//! Order in which consecutive pages go over the dies of a device.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flash::Geometry;

/// Which index runs fastest: C = channel, W = way (chip on its channel), D = die in its chip. The names follow MQSim's
/// allocation schemes, without planes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stripe {
    /// Channels first, then ways, then dies.
    #[default]
    Cwd,
    /// Channels, dies, ways.
    Cdw,
    /// Ways, channels, dies.
    Wcd,
    /// Ways, dies, channels.
    Wdc,
    /// Dies, channels, ways.
    Dcw,
    /// Dies, ways, channels.
    Dwc,
}

impl Stripe {
    /// The dies in this order. Die `channel + channels * (way + ways * die)` as in [`Geometry`].
    pub fn order(self, geometry: &Geometry) -> Vec<u32> {
        let channels = (1, geometry.channels);
        let ways = (geometry.channels, geometry.chips_per_channel);
        let dies = (geometry.channels * geometry.chips_per_channel, geometry.dies_per_chip);
        let [first, second, third] = match self {
            Self::Cwd => [channels, ways, dies],
            Self::Cdw => [channels, dies, ways],
            Self::Wcd => [ways, channels, dies],
            Self::Wdc => [ways, dies, channels],
            Self::Dcw => [dies, channels, ways],
            Self::Dwc => [dies, ways, channels],
        };
        let place = |(step, count): (u32, u32), index: u32| step * (index % count);
        (0..geometry.dies())
            .map(|i| place(first, i) + place(second, i / first.1) + place(third, i / first.1 / second.1))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_names_every_die_once() {
        let geometry = Geometry {
            channels: 2,
            chips_per_channel: 3,
            dies_per_chip: 4,
            planes_per_die: 1,
            blocks_per_plane: 1,
            pages_per_block: 4,
            page_bytes: 512,
        };
        let all = [Stripe::Cwd, Stripe::Cdw, Stripe::Wcd, Stripe::Wdc, Stripe::Dcw, Stripe::Dwc];
        for stripe in all {
            let mut order = stripe.order(&geometry);
            order.sort_unstable();
            assert_eq!(order, (0..24).collect::<Vec<_>>(), "{stripe:?}");
        }
        let starts = all.map(|stripe| stripe.order(&geometry)[..7].to_vec());
        assert_eq!(starts[0], [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(starts[1], [0, 1, 6, 7, 12, 13, 18]);
        assert_eq!(starts[2], [0, 2, 4, 1, 3, 5, 6]);
        assert_eq!(starts[3], [0, 2, 4, 6, 8, 10, 12]);
        assert_eq!(starts[4], [0, 6, 12, 18, 1, 7, 13]);
        assert_eq!(starts[5], [0, 6, 12, 18, 2, 8, 14]);
    }
}
