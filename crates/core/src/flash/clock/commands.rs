//! What one command of the flash does beyond one page.

use serde::{Deserialize, Serialize};

use crate::error::ConfigError;
use crate::flash::Geometry;

/// Which operations on other planes of its die a command carries out at the same time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Planes {
    /// None: single-plane commands.
    #[default]
    One,
    /// Reads and programs of pages with the same number in their blocks (with `unit_pages`, of the same unit); erases of any
    /// blocks.
    SamePage,
    /// All of its kind (independent multi-plane operation).
    AnyPage,
}

/// What commands of the flash do beyond one page, and alongside one another. For the timing model `scheduled`; by default every
/// page has a command of its own, and a die does one at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandConfig {
    /// Consecutive pages of a block that are one page of the flash: what waits for the same unit is sensed, or programmed, by
    /// one command. 4 where the flash has pages of 16 KiB and the map knows pages of 4 KiB. Divides `pages_per_block`.
    pub unit_pages: u32,
    /// Which operations on other planes of the die one command carries out at the same time.
    pub planes: Planes,
    /// Cache read: the cells of a die read the next pages while those of the read before go over the channel (ONFI: 31h, 3Fh).
    pub cache_read: bool,
    /// Cache program: the pages of the next program go over the channel while the cells of a die are programmed (ONFI: 15h).
    pub cache_program: bool,
    /// Copy-back: pages that are moved inside a plane are not transferred (ONFI: 35h, 85h-10h), so that their ECC is not checked.
    /// With `unit_pages = 1`. The FTL chooses where pages go: with `ftl.frontiers = "plane"` collection stays in the plane.
    pub copy_back: bool,
}

impl Default for CommandConfig {
    fn default() -> Self {
        Self { unit_pages: 1, planes: Planes::One, cache_read: false, cache_program: false, copy_back: false }
    }
}

impl CommandConfig {
    /// Refuses what would be without effect or does not fit the array.
    ///
    /// # Errors
    /// Names the key.
    pub fn check(&self, schedules: bool, geometry: &Geometry) -> Result<(), ConfigError> {
        if !schedules && *self != Self::default() {
            let problem = "this timing model gives every page a command of its own";
            return Err(ConfigError::new("device.commands", problem, "use device.timing.model = \"scheduled\""));
        }
        let (unit, block) = (self.unit_pages, geometry.pages_per_block);
        if unit == 0 || unit > 64 || !block.is_multiple_of(unit) {
            let problem = format!("{unit} is outside 1 to 64 or no part of the {block} pages of a block");
            let help = "use a divisor of device.geometry.pages_per_block, 1 to 64";
            return Err(ConfigError::new("device.commands.unit_pages", problem, help));
        }
        if self.copy_back && unit > 1 {
            let problem = format!(
                "a page of the flash holds {unit} pages of the map, which cannot be moved one by one inside it"
            );
            return Err(ConfigError::new("device.commands.copy_back", problem, "use device.commands.unit_pages = 1"));
        }
        if self.planes != Planes::One && geometry.planes_per_die == 1 {
            let problem = "a die has one plane";
            let help = "raise device.geometry.planes_per_die, or use planes = \"one\"";
            return Err(ConfigError::new("device.commands.planes", problem, help));
        }
        Ok(())
    }
}
