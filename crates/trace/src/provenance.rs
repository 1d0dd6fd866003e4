//! Where a trace comes from: the chain of tools that made it, carried in its head.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recording::Recording;
use crate::row::Extra;

/// What a trace says about itself besides its requests.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct About {
    /// The tools that made it, the first one first.
    pub(crate) steps: Vec<Step>,
    /// What its requests carry besides the rest.
    pub(crate) extra: Extra,
    /// The files and call stacks that they name.
    pub(crate) recording: Recording,
    /// What is assumed because the file does not say it, in a sentence.
    pub(crate) assumed: Option<String>,
}

impl About {
    /// What most formats say: nothing.
    pub(crate) const NOTHING: &Self =
        &Self { steps: Vec::new(), extra: Extra::NONE, recording: Recording::NOTHING, assumed: None };
}

/// One tool that made or changed a trace.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Step {
    /// The tool and what it was told: `sample --rate 0.1 --seed 1`.
    pub tool: String,
    /// Version of nandlab.
    pub version: String,
    /// What it read: paths and formats, or nothing if it made the requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// What it did to the trace, by kind: requests dropped, moved, split, ... (text through a pipe: absent).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
}

impl Step {
    /// A step of this version of nandlab.
    pub fn new(tool: impl Into<String>, inputs: Vec<String>) -> Self {
        Self { tool: tool.into(), version: env!("CARGO_PKG_VERSION").to_owned(), inputs, counts: BTreeMap::new() }
    }
}
