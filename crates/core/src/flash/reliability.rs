//! Read disturb, wear-out and bad blocks: optional, off by default. The models are stated in docs/models.md.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Flash, Geometry};
use crate::error::ConfigError;
use crate::types::Pbn;

/// What ages the array; without any of it blocks last for ever.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReliabilityConfig {
    /// Page reads of a block since its erase after which its valid pages are to be relocated (read disturb).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_limit: Option<u32>,
    /// Erases that a block endures: the erase with this number fails and retires the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endurance: Option<u32>,
    /// Blocks endure `endurance * (1 - spread)` to `endurance * (1 + spread)` erases, uniformly by the seed. 0 to 0.9.
    pub endurance_spread: f64,
    /// Blocks of each die, beside those of the geometry, that replace bad ones.
    pub spare_blocks_per_die: u32,
    /// Probability that a block is bad when it leaves the factory, spare blocks included. 0 to 0.5.
    pub factory_bad: f64,
}

/// Splitmix64 of a seed and a number, as a fraction in [0, 1).
fn fraction(seed: u64, number: u64) -> f64 {
    let mut z = seed.wrapping_add((number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// State of the model.
#[derive(Clone, Debug)]
pub(super) struct Reliability {
    config: ReliabilityConfig,
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
    fn new(config: ReliabilityConfig, geometry: &Geometry, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let blocks = geometry.blocks();
        let mut model = Self {
            config,
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
                let mend = "raise device.reliability.spare_blocks_per_die or choose another seed";
                return Err(ConfigError::new("device.reliability.factory_bad", problem, mend));
            };
            model.spares.push(left);
        }
        Ok(model)
    }

    /// The erase that fails, of the block with this number in the order of use.
    fn limit(&self, number: u64) -> u32 {
        let Some(endurance) = self.config.endurance else { return u32::MAX };
        let spread = self.config.endurance_spread;
        let factor = 1.0 - spread + 2.0 * spread * fraction(self.seed, number);
        ((f64::from(endurance) * factor) as u32).max(1)
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
        let error = |key: &str, problem: String, mend: &str| {
            Err(ConfigError::new(format!("device.reliability.{key}"), problem, mend))
        };
        if self.read_limit == Some(0) || self.endurance == Some(0) {
            let key = if self.endurance == Some(0) { "endurance" } else { "read_limit" };
            return error(key, "0 is no limit".to_owned(), "use 1 or more, or leave it out");
        }
        if !(0.0..=0.9).contains(&self.endurance_spread) {
            return error("endurance_spread", format!("{} is outside 0 to 0.9", self.endurance_spread), "0.1 is 10 %");
        }
        if !(0.0..=0.5).contains(&self.factory_bad) {
            return error("factory_bad", format!("{} is outside 0 to 0.5", self.factory_bad), "0.01 is 1 %");
        }
        if self.endurance.is_none() {
            let unused = [
                ("endurance_spread", self.endurance_spread > 0.0),
                ("spare_blocks_per_die", self.spare_blocks_per_die > 0),
                ("factory_bad", self.factory_bad > 0.0),
            ];
            if let Some((key, _)) = unused.iter().find(|(_, given)| *given) {
                let problem = "blocks that last for ever are never replaced".to_owned();
                return error(key, problem, "give device.reliability.endurance too");
            }
        }
        Ok(())
    }
}

impl Flash {
    /// Makes the array age, before its first use, under an FTL that `relocates` blocks that are read too often or not.
    ///
    /// # Errors
    /// When an option is out of range, a die has more bad blocks than spare ones, or nobody relocates disturbed blocks.
    pub fn set_reliability(
        &mut self,
        config: ReliabilityConfig,
        seed: u64,
        relocates: bool,
    ) -> Result<(), ConfigError> {
        if config.read_limit.is_some() && !relocates {
            let problem = "the FTL does not relocate blocks that are read too often";
            return Err(ConfigError::new("device.reliability.read_limit", problem, "use ftl.name = \"page\""));
        }
        let ages = config != ReliabilityConfig::default();
        self.cells.reliability = if ages { Some(Reliability::new(config, &self.geometry, seed)?) } else { None };
        Ok(())
    }

    /// True if anything of this is modelled.
    #[inline]
    pub const fn ages(&self) -> bool {
        self.cells.reliability.is_some()
    }

    /// A block that was read so often since its erase that its valid pages are to be relocated. An FTL that cannot do it
    /// now may leave it: the block is named again after as many reads more.
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
