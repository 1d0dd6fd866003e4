//! Parameters of HitStat.

use serde::{Deserialize, Serialize};

use crate::buffer::padding::{self, PaddingRule};

/// When a whole group leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FullFlush {
    /// At the next eviction.
    #[default]
    Lazy,
    /// At once.
    Eager,
}

/// Parameters of [`super::HitStat`]; the manual page explains them.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// In rule 3 no weight counts less than the padding threshold.
    pub adj: bool,
    /// From how many pages on a group is padded.
    #[serde(alias = "pad_threshold")]
    pub padding: PaddingRule,
    /// Merges that the model averages over.
    pub pad_window: u32,
    /// Ranks of ages.
    pub levels: u32,
    /// Whether `levels` adapts.
    pub levels_adapt: bool,
    /// Write requests between two adaptations.
    pub levels_period: u32,
    /// Step of an adaptation.
    pub levels_step: u32,
    /// Ages remembered.
    pub hit_log_len: u32,
    /// Ages to start with, oldest first.
    pub initial_log: Vec<u32>,
    /// Upper bounds of the weight classes, sectors, ascending.
    pub list_bounds: Option<Vec<u32>>,
    /// Write requests after which a group leaves whatever its weight.
    pub age_threshold: u32,
    /// When a whole group leaves.
    pub full_flush: FullFlush,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            adj: false,
            padding: PaddingRule::default(),
            pad_window: padding::DEFAULT_WINDOW,
            levels: 32,
            levels_adapt: true,
            levels_period: 2000,
            levels_step: 4,
            hit_log_len: 64,
            initial_log: Vec::new(),
            list_bounds: None,
            age_threshold: 150_000,
            full_flush: FullFlush::default(),
        }
    }
}
