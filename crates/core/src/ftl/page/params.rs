//! Parameters of the page-mapped FTL.

use serde::{Deserialize, Serialize};

use super::super::heat::MAX_STREAMS;
use super::super::pool::{Alloc, Victim};
use super::super::stripe::Stripe;
use crate::error::ConfigError;

/// Parameters of [`super::Page`]; the manual page explains them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Which closed block is collected.
    pub victim: Victim,
    /// Which free block is taken.
    pub alloc: Alloc,
    /// Free blocks per frontier group at which garbage collection starts.
    pub reserve: u32,
    /// One frontier for the device or one on every die.
    pub frontiers: Frontiers,
    /// Where garbage collection writes.
    pub gc_frontier: GcFrontier,
    /// Die of a page when every die has a frontier.
    pub placement: Placement,
    /// Order of the dies.
    pub stripe: Stripe,
    /// Host frontiers of a group, by update frequency.
    pub streams: u32,
    /// Pages that collection copies at most before a page of the host; none: a victim is collected at once.
    pub gc_slice: Option<u32>,
    /// Free blocks beyond the reserve that collection in idle time makes.
    pub idle_free: u32,
    /// Spread of erases at which cold pages move; none: no static wear levelling.
    pub wear_threshold: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            victim: Victim::default(),
            alloc: Alloc::Fifo,
            reserve: 1,
            frontiers: Frontiers::Die,
            gc_frontier: GcFrontier::Shared,
            placement: Placement::Lpn,
            stripe: Stripe::Cwd,
            streams: 1,
            gc_slice: None,
            idle_free: 0,
            wear_threshold: None,
        }
    }
}

/// How many open blocks the host writes to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Frontiers {
    /// One for the device.
    Single,
    /// One on every die.
    Die,
}

/// Where garbage collection writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcFrontier {
    /// To the frontier of the host.
    Shared,
    /// To a frontier of its own.
    Separate,
}

/// Die of a page when every die has a frontier.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// `lpn % dies`.
    Lpn,
    /// The next die for every write.
    RoundRobin,
}

impl Params {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        self.victim.validate()?;
        let refuse = |key: &str, problem: String, mend: &str| Err(ConfigError::new(key, problem, mend));
        if self.reserve == 0 {
            let problem = "0 leaves garbage collection no block to copy to".to_owned();
            return refuse("ftl.reserve", problem, "use 1 or more");
        }
        if self.streams == 0 || self.streams as usize > MAX_STREAMS {
            let problem = format!("{} is outside 1 to {MAX_STREAMS}", self.streams);
            return refuse("ftl.streams", problem, "use 1 for no separation, 2 for hot and cold");
        }
        if self.gc_slice == Some(0) {
            return refuse("ftl.gc_slice", "0 pages a slice never end".to_owned(), "use 1 or more, or leave it out");
        }
        if self.gc_slice.is_some() && self.gc_frontier == GcFrontier::Shared {
            let problem = "between slices the host would fill the block that the copies need".to_owned();
            return refuse("ftl.gc_slice", problem, "use gc_frontier = \"separate\" with it");
        }
        if self.wear_threshold == Some(0) {
            let problem = "0 would move a block after every erase".to_owned();
            return refuse("ftl.wear_threshold", problem, "use 1 or more (MQSim: 100), or leave it out");
        }
        Ok(())
    }
}
