//! The controller: how long it works on a command, and on how many at a time.

use serde::{Deserialize, Serialize};

use crate::engine::ControllerTimes;
use crate::error::ConfigError;
use crate::types::Nanos;

/// Most cores.
const CORES: u32 = 64;

/// Firmware and hardware that carry out commands one after the other, and so bound how many there are a second: at most `cores` /
/// the time of a command. None by default. What is modelled: docs/models.md, 'Controller'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerConfig {
    /// Commands that are carried out at a time, first come, first served. 1 to 64.
    pub cores: u32,
    /// How long a core is busy with a read, before its operations start.
    pub read_time: Nanos,
    /// The same for a write, a trim and a flush.
    pub write_time: Nanos,
    /// The same, in addition, for every page of a read or a write.
    pub page_time: Nanos,
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self { cores: 1, read_time: Nanos::ZERO, write_time: Nanos::ZERO, page_time: Nanos::ZERO }
    }
}

impl ControllerConfig {
    /// For the engine; nothing if no command takes any time.
    pub(super) fn times(&self) -> Option<ControllerTimes> {
        let Self { cores, read_time: read, write_time: write, page_time: page } = *self;
        let is_free = [read, write, page] == [Nanos::ZERO; 3];
        (!is_free).then_some(ControllerTimes { cores, read, write, page })
    }

    /// # Errors
    /// No cores, more than 64, or several without a time.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let cores = self.cores;
        let refuse = |problem, help| Err(ConfigError::new("device.controller.cores", problem, help));
        if !(1..=CORES).contains(&cores) {
            return refuse(format!("{cores} is outside 1 to {CORES}"), format!("use 1 to {CORES}"));
        }
        if cores > 1 && self.times().is_none() {
            let help = "say how long a command takes: device.controller.read_time, write_time or page_time";
            return refuse(format!("{cores} cores that do nothing"), help.to_owned());
        }
        Ok(())
    }
}
