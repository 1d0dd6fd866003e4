//! How requests arrive, and how a run ends.

use serde::{Deserialize, Serialize};

use crate::types::Nanos;

/// When requests arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayMode {
    /// At the times of the trace, scaled.
    Open,
    /// The next request starts when a place in the queue is free and the host has thought.
    Closed,
    /// As fast as possible: closed without thinking.
    Fast,
}

/// What becomes of the dirty pages that are in the buffer when the last request is complete. What each choice means for
/// every metric is in docs/metrics.md, 'The end of a run'.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settle {
    /// They are written to flash, and all counts are taken after that. The default, because only then have two buffers done
    /// the same work when they are compared: else the one that holds more dirty pages back is flattered.
    #[default]
    Flush,
    /// The counts are those of the requests; then the pages are written, and what that cost is reported by itself.
    Charge,
    /// They stay where they are.
    None,
}

/// How requests arrive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayConfig {
    /// When requests arrive.
    pub mode: ReplayMode,
    /// Requests that the device admits at a time.
    pub queue_depth: u32,
    /// Open: factor on the times of the trace (0.5 = twice as fast).
    pub time_scale: f64,
    /// Closed: pause of the host between a completion and the next request of that place.
    pub think_time: Nanos,
    /// Count the group hits of reads too (`hits.group_read`). Off, because it costs every read some instructions and the
    /// papers count groups of writes.
    pub read_groups: bool,
    /// What becomes of the dirty pages in the buffer at the end: `flush` (they are written, and the cost is in all counts),
    /// `charge` (they are written, and the cost is reported by itself) or `none` (they stay).
    #[serde(default)]
    pub settle: Settle,
}
