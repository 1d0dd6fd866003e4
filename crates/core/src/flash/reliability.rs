//! Read disturb, wear-out and bad blocks: optional, off by default. The models are stated in docs/models.md.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Flash, Geometry};
use crate::error::ConfigError;
use crate::types::{Pbn, Ppn};

/// What ages the array; without any of it blocks last for ever.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReliabilityConfig {
    /// Page reads of a block since its erase after which its valid pages are to be relocated (read disturb).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_limit: Option<u32>,
    /// Blocks wear out: the erase number `device.endurance.pe_cycles` fails and retires the block.
    pub wear_out: bool,
    /// Blocks endure `pe_cycles * (1 - spread)` to `pe_cycles * (1 + spread)` erases, uniformly by the seed. 0 to 0.9.
    pub endurance_spread: f64,
    /// Blocks of each die, in addition to those of the geometry, that replace bad ones.
    pub spare_blocks_per_die: u32,
    /// Probability that a block is bad when it leaves the factory, spare blocks included. 0 to 0.5.
    pub factory_bad: f64,
    /// Probability that a translation page, once programmed, cannot be read. 0 to 0.5.
    pub map_page_loss: f64,
}

/// Splitmix64 of a seed and a number, as a fraction in [0, 1).
pub(super) fn fraction(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// State of the model.
#[derive(Clone, Debug)]
pub(super) struct Reliability {
    config: ReliabilityConfig,
    /// P/E cycles of a block that wears out.
    pe_cycles: u32,
    seed: u64,
    /// Page reads by block since its erase.
    reads: Vec<u32>,
    /// Blocks that reached the limit of reads.
    disturbed: Vec<Pbn>,
    /// By block: the erase that fails.
    limits: Vec<u32>,
    /// By die: spare blocks left.
    spares: Vec<u32>,
    /// Blocks that failed after the factory.
    retired: u32,
    /// Erases of blocks that were replaced, which their successors' counts do not tell.
    retired_erases: u64,
    read_only: bool,
}

impl Reliability {
    fn new(config: ReliabilityConfig, pe_cycles: u32, geometry: &Geometry, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let blocks = geometry.blocks();
        let mut model = Self {
            config,
            pe_cycles,
            seed,
            reads: vec![0; blocks as usize],
            disturbed: Vec::new(),
            limits: Vec::new(),
            spares: Vec::new(),
            retired: 0,
            retired_erases: 0,
            read_only: false,
        };
        model.limits = (0..blocks).map(|pbn| model.limit(u64::from(pbn))).collect();
        let made = u64::from(geometry.blocks_per_die()) + u64::from(config.spare_blocks_per_die);
        for die in 0..u64::from(geometry.dies()) {
            // Another stream of numbers than that of the limits.
            let is_bad = |i: &u64| fraction(!seed, die * made + i) < config.factory_bad;
            let bad = (0..made).filter(is_bad).count() as u32;
            let Some(left) = config.spare_blocks_per_die.checked_sub(bad) else {
                let spare = config.spare_blocks_per_die;
                let problem = format!("{bad} blocks of die {die} are bad and only {spare} are spare");
                let help = "raise device.reliability.spare_blocks_per_die or choose another seed";
                return Err(ConfigError::new("device.reliability.factory_bad", problem, help));
            };
            model.spares.push(left);
        }
        Ok(model)
    }

    /// The erase that fails, of the block with this number in the order of use.
    fn limit(&self, number: u64) -> u32 {
        if !self.config.wear_out {
            return u32::MAX;
        }
        let spread = self.config.endurance_spread;
        let factor = 1.0 - spread + 2.0 * spread * fraction(self.seed, number);
        ((f64::from(self.pe_cycles) * factor) as u32).max(1)
    }

    #[inline(never)]
    pub(super) fn count_read(&mut self, pbn: Pbn) {
        let Some(limit) = self.config.read_limit else { return };
        let reads = &mut self.reads[pbn.index()];
        *reads += 1;
        if reads.is_multiple_of(limit) {
            self.disturbed.push(pbn);
        }
    }

    fn take_disturbed(&mut self) -> Option<Pbn> {
        let limit = self.config.read_limit?;
        loop {
            let pbn = self.disturbed.pop()?;
            // It may have been erased meanwhile.
            if self.reads[pbn.index()] >= limit {
                return Some(pbn);
            }
        }
    }

    /// A block of a die was erased for the `count`th time. True if that failed and a spare block takes its place.
    pub(super) fn count_erase(&mut self, pbn: Pbn, die: u32, count: u32) -> bool {
        self.reads[pbn.index()] = 0;
        if count < self.limits[pbn.index()] || self.read_only {
            return false;
        }
        self.retired += 1;
        let spares = &mut self.spares[die as usize];
        if *spares == 0 {
            self.read_only = true;
            return false;
        }
        *spares -= 1;
        self.retired_erases += u64::from(count);
        self.limits[pbn.index()] = self.limit(self.limits.len() as u64 + u64::from(self.retired));
        true
    }
}

impl ReliabilityConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let error = |key: &str, problem: String, help: &str| {
            Err(ConfigError::new(format!("device.reliability.{key}"), problem, help))
        };
        if self.read_limit == Some(0) {
            return error("read_limit", "0 is not a limit".to_owned(), "use 1 or more, or leave it out");
        }
        if !(0.0..=0.9).contains(&self.endurance_spread) {
            return error("endurance_spread", format!("{} is outside 0 to 0.9", self.endurance_spread), "0.1 is 10 %");
        }
        for (key, share) in [("factory_bad", self.factory_bad), ("map_page_loss", self.map_page_loss)] {
            if !(0.0..=0.5).contains(&share) {
                return error(key, format!("{share} is outside 0 to 0.5"), "0.01 is 1 %");
            }
        }
        if !self.wear_out {
            let unused = [
                ("endurance_spread", self.endurance_spread > 0.0),
                ("spare_blocks_per_die", self.spare_blocks_per_die > 0),
                ("factory_bad", self.factory_bad > 0.0),
            ];
            if let Some((key, _)) = unused.iter().find(|(_, given)| *given) {
                let problem = "blocks that last for ever are never replaced".to_owned();
                return error(
                    key,
                    problem,
                    "set device.reliability.wear_out = true; device.endurance.pe_cycles is the limit",
                );
            }
        }
        Ok(())
    }
}

impl Flash {
    /// Makes the array age, before its first use, under an FTL that `relocates` blocks that are read too often or not.
    /// With `wear_out` a block lasts `pe_cycles` erases.
    ///
    /// # Errors
    /// When an option is out of range, a die has more bad blocks than spare ones, or nothing relocates disturbed blocks.
    pub fn set_reliability(
        &mut self,
        config: ReliabilityConfig,
        pe_cycles: u32,
        seed: u64,
        relocates: bool,
    ) -> Result<(), ConfigError> {
        if config.read_limit.is_some() && !relocates {
            let problem = "the FTL does not relocate blocks that are read too often";
            return Err(ConfigError::new(
                "device.reliability.read_limit",
                problem,
                "use an FTL that maps pages, such as ftl.name = \"page\"",
            ));
        }
        let ages = config != ReliabilityConfig::default();
        self.cells.reliability =
            if ages { Some(Reliability::new(config, pe_cycles, &self.geometry, seed)?) } else { None };
        Ok(())
    }

    /// True if anything of this is modelled.
    #[inline]
    pub const fn ages(&self) -> bool {
        self.cells.reliability.is_some()
    }

    /// False if the translation page in this place turned out to be lost when it was programmed.
    pub fn is_map_readable(&self, ppn: Ppn) -> bool {
        let Some(model) = &self.cells.reliability else { return true };
        // A number of its own for every use of every page, and another stream than those of the blocks.
        let erases = self.erase_count(self.geometry.pbn(ppn));
        let number = u64::from(erases) << 32 | u64::from(ppn.0);
        fraction(model.seed.rotate_left(32), number) >= model.config.map_page_loss
    }

    /// A block that was read so often since its erase that its valid pages are to be relocated. An FTL that cannot do it
    /// now may leave it: the block is named again after that many more reads.
    pub fn take_disturbed(&mut self) -> Option<Pbn> {
        self.cells.reliability.as_mut()?.take_disturbed()
    }

    /// True once a block failed on a die without spare blocks: the device takes no more writes.
    pub fn is_read_only(&self) -> bool {
        self.cells.reliability.as_ref().is_some_and(|model| model.read_only)
    }

    /// Blocks that failed in use.
    pub fn retired_blocks(&self) -> u32 {
        self.cells.reliability.as_ref().map_or(0, |model| model.retired)
    }

    /// Erases of blocks that were replaced: with [`Flash::erase_count`] of all blocks, the erases ever.
    pub fn retired_erases(&self) -> u64 {
        self.cells.reliability.as_ref().map_or(0, |model| model.retired_erases)
    }

    /// Spare blocks left on a die; 0 without wear-out.
    pub fn spare_blocks(&self, die: u32) -> u32 {
        self.cells.reliability.as_ref().map_or(0, |model| model.spares[die as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_spread_evenly_on_both_sides_of_the_mean() {
        let config = ReliabilityConfig {
            wear_out: true,
            endurance_spread: 0.4,
            spare_blocks_per_die: 1,
            ..ReliabilityConfig::default()
        };
        let limits =
            |seed| Reliability::new(config, 1_000, &Geometry::single_die(10_000, 4, 512), seed).unwrap().limits;
        let mut one = limits(1);
        assert_ne!(one, limits(2), "the seed decides");
        one.sort_unstable();
        assert!(one[0] >= 600 && one[9_999] < 1_400, "{} to {}", one[0], one[9_999]);
        // Uniform: the tenths of the range hold a tenth of the blocks each.
        for tenth in 1..10 {
            let (got, expected) = (one[tenth * 1_000], 600 + 80 * tenth as u32);
            assert!(got.abs_diff(expected) < 20, "{got} instead of {expected} at {tenth} tenths");
        }
    }
}
