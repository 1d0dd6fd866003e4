//! Power states: when the device sleeps, and what it takes to wake.

use serde::{Deserialize, Serialize};

use crate::engine::SleepTimes;
use crate::error::ConfigError;
use crate::types::Nanos;

/// A power state that a device without requests enters by itself: of the device or of its link. Never by default. What is
/// modelled: docs/models.md, 'Sleep'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SleepConfig {
    /// It sleeps when it has had no request under way for this long. Absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Nanos>,
    /// How long it takes to wake, from the request that comes then; requests that come meanwhile wait too. At most 100s.
    pub wake_time: Nanos,
}

impl SleepConfig {
    /// For the engine.
    pub(super) fn times(&self) -> Option<SleepTimes> {
        self.after.map(|after| SleepTimes { after, wake: self.wake_time })
    }

    /// # Errors
    /// A time without the other, or a device that sleeps at once.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let (key, problem, help) = match (self.after, self.wake_time) {
            (None, Nanos::ZERO) => return Ok(()),
            (None, _) => ("wake_time", "it never sleeps", "say after how long: device.sleep.after"),
            (Some(Nanos::ZERO), _) => ("after", "it sleeps between all requests", "use 1us or more, as in 50ms"),
            (Some(_), Nanos::ZERO) => {
                ("after", "it wakes in no time", "say how long that takes: device.sleep.wake_time")
            }
            _ => return Ok(()),
        };
        Err(ConfigError::new(format!("device.sleep.{key}"), problem, help))
    }
}
