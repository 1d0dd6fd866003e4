//! Flushing ahead of need: when the device writes dirty pages that no request waits for.

use serde::{Deserialize, Serialize};

use super::{Config, DeviceConfig};
use crate::engine::{EvictWait, FillMarks, FlushAhead, WriteAck};
use crate::error::ConfigError;
use crate::types::Nanos;

/// What the device writes from its buffer in the background; nothing by default. What is modelled: docs/models.md, 'Flushing
/// ahead'.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlushConfig {
    /// When more than this share of the frames is in use, 0 to 1 (1 excluded), the device evicts pages ahead, those that the
    /// policy would give next, until no more than `below` of them is. Absent: never.
    pub above: Option<f64>,
    /// Where evicting ahead ends: share of the frames that may stay in use, 0 to `above`. Absent: `above`.
    pub below: Option<f64>,
    /// A page that has been dirty for this long is written; it stays in its frame, clean, if the policy keeps such pages.
    /// Absent: never.
    pub age: Option<Nanos>,
    /// As soon as this many pages are dirty, those that have been so the longest are written together; what has aged takes
    /// as many along. 2 to 65,536, or `unit`, a page of the flash (`device.commands.unit_pages`), or `stripe`, what the dies can
    /// program at a time. Absent: a page is written alone when it has aged.
    pub gather: Option<Gather>,
    /// The next of these writes begins when fewer than this many pages of earlier ones are under way, 1 to 65,536. Absent: what
    /// the dies can program at a time, with `device.commands` a command of each; more would only wait for dies, where reads
    /// wait behind them.
    pub most: Option<u32>,
}

/// How many pages are written together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", expecting = "expected `unit`, `stripe` or a number of pages")]
pub enum Gather {
    /// As many as one program takes on one plane: `device.commands.unit_pages`.
    Unit,
    /// As many as all dies can program at a time: a unit of each, with `device.commands.planes` of each of its planes. Drives
    /// write such stripes, so that dies work in step and what waits for room gets it at once.
    Stripe,
    /// This many.
    #[serde(untagged)]
    Pages(u32),
}

impl FlushConfig {
    /// True without any of it.
    pub(super) fn is_off(&self) -> bool {
        *self == Self::default()
    }

    /// Refuses what is not a share, and what would be without effect.
    ///
    /// # Errors
    /// Names the key.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let Self { above, below, age, gather, most } = *self;
        let refuse = |key: &str, problem: String, help: &str| Err(ConfigError::new(key, problem, help));
        if let Some(above) = above.filter(|above| !(0.0..1.0).contains(above)) {
            let problem = format!("{above} is outside 0 to 1 (1 excluded): no more than all frames are ever in use");
            return refuse("ram.flush.above", problem, "0.9 begins when nine of ten frames are in use");
        }
        match (above, below) {
            (None, Some(_)) => {
                let problem = "nothing is evicted ahead that could end there".to_owned();
                return refuse("ram.flush.below", problem, "set ram.flush.above too, or leave it out");
            }
            (Some(above), Some(below)) if !(0.0..=above).contains(&below) => {
                let problem = format!("{below} is outside 0 to {above}, where evicting ahead begins");
                return refuse("ram.flush.below", problem, "use at most ram.flush.above");
            }
            _ => {}
        }
        let day = Nanos(86_400_000_000_000);
        if let Some(age) = age.filter(|age| *age == Nanos::ZERO || *age > day) {
            let problem = format!("{age} is outside 1ns to {day}");
            let help = "times have a unit, as in 30s; device.host.write_ack = \"flash\" writes every page at once";
            return refuse("ram.flush.age", problem, help);
        }
        if let Some(Gather::Pages(pages @ (0..=1 | 65_537..))) = gather {
            let problem = format!("{pages} is outside 2 to 65536");
            let help =
                "`unit` gathers a page of the flash, `stripe` one of every die; leave it out to write every page alone";
            return refuse("ram.flush.gather", problem, help);
        }
        match most {
            Some(0 | 65_537..) => {
                let problem = format!("{} is outside 1 to 65536", most.unwrap_or_default());
                refuse("ram.flush.most", problem, "leave it out for what the dies program at a time")
            }
            Some(_) if above.is_none() && age.is_none() && gather.is_none() => {
                let problem = "nothing is flushed ahead, so that there is nothing to bound".to_owned();
                refuse("ram.flush.most", problem, "set ram.flush.above, age or gather, or leave it out")
            }
            _ => Ok(()),
        }
    }

    /// Pages that are written together, if they are gathered, on a device.
    fn gathered(&self, device: &DeviceConfig) -> Option<u32> {
        self.gather.map(|gather| match gather {
            Gather::Unit => device.commands.unit_pages,
            Gather::Stripe => device.pages_at_a_time(),
            Gather::Pages(pages) => pages,
        })
    }

    /// For the engine of a device.
    pub(super) fn settings(&self, device: &DeviceConfig) -> Option<FlushAhead> {
        let Self { above, below, age, most, .. } = *self;
        let marks = above.map(|above| FillMarks { above, below: below.unwrap_or(above) });
        let gather = self.gathered(device);
        (!self.is_off()).then(|| FlushAhead { marks, age, gather, most: most.unwrap_or(device.pages_at_a_time()) })
    }
}

impl Config {
    /// Checks when written pages leave the RAM.
    ///
    /// # Errors
    /// Names the key.
    pub(super) fn check_writes(&self) -> Result<(), ConfigError> {
        self.ram.flush.check()?;
        let frames = self.frames().dram;
        match self.ram.flush.gathered(&self.device) {
            Some(1) => {
                let problem = "this flash programs one page, so that there is nothing to gather";
                let help = "set device.commands.unit_pages, give a number of pages, or leave it out";
                return Err(ConfigError::new("ram.flush.gather", problem, help));
            }
            Some(pages) if pages > frames => {
                let problem = format!("{pages} pages never gather in {frames} frames of DRAM");
                return Err(ConfigError::new("ram.flush.gather", problem, "use fewer pages, or more ram.dram"));
            }
            _ => {}
        }
        if self.device.host.write_ack != WriteAck::Flash {
            return Ok(());
        }
        let key = "device.host.write_ack";
        if !self.ram.flush.is_off() {
            let problem = "with `flash` every page is written at once, so that ram.flush would have nothing to write";
            return Err(ConfigError::new(key, problem, "leave ram.flush out, or use write_ack = \"ram\""));
        }
        if self.ram.evict_wait == EvictWait::Transfer {
            let problem = "with `flash` a write waits for its programs, which ram.evict_wait = \"transfer\" does not";
            return Err(ConfigError::new(key, problem, "use ram.evict_wait = \"program\""));
        }
        Ok(())
    }
}
