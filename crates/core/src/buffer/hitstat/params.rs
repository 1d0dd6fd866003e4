//! Parameters of HitStat.

use serde::{Deserialize, Serialize};

use crate::buffer::tools::padding::{self, PaddingChoice};

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

crate::params! {
    pub struct Params {
        /// HitStat(adj): in rule 3 no weight counts less than the padding threshold, `B_w` pages. For FAST; on BAST it worsens
        /// thrashing of log blocks (thesis).
        adj: bool = false;
        /// From how many pages on a group is padded (the golden files say `pad_threshold`); the default is the thesis'.
        #[serde(alias = "pad_threshold")]
        padding: PaddingChoice = PaddingChoice::named("model"), in 0.0..=1.0, "share of its block";
        /// What the model averages over; the default is ours, the thesis does not say. No length is best: on seven real traces,
        /// with 4 and 16 MiB over BAST (64 and 256 log blocks) and FAST (16), the time of erases and programs is on average
        /// 0.5, 0.8, 0.8 and 0.9 % above that of the best of six fixed thresholds with 16, 64, 256 and 1,024 merges. 1,024
        /// takes one of these 42 cases from 8.2 to 1.4 %, and others from 1.8 to 4.9 and from 0.7 to 2.2 %.
        pad_window: u32 = padding::DEFAULT_WINDOW, in 1.., "merges", with padding = "model";
        /// Ranks of ages, at the start if they adapt: up to `hit_log_len` + 1. The default is the thesis'.
        levels: u32 = 32, in 1..;
        /// Whether `levels` adapts: every `levels_period` group misses are compared with the period before; if they rose the
        /// direction turns; then `levels` moves by `levels_step` between 1 and `hit_log_len` + 1. The rule is ours: the
        /// thesis adapts but gives neither rule nor period.
        levels_adapt: bool = true;
        /// Time between two adaptations.
        levels_period: u32 = 2000, in 1.., "write requests", with levels_adapt = true;
        /// Step of an adaptation.
        levels_step: u32 = 4, with levels_adapt = true;
        /// Ages remembered; the default is the thesis'.
        hit_log_len: u32 = 64, in 1..;
        /// Ages to start with, the oldest first.
        initial_log: Vec<u32> = Vec::new(), "write requests";
        /// Upper bounds of the weight classes, ascending.
        list_bounds: Option<Vec<u32>> = None, "sectors",
            absent "2, 4, 6, 8, 12, 16, 24, 32 and so on up to a whole block (thesis, 512 KiB blocks)";
        /// Age after which a group leaves whatever its weight (rule 2); the default is the thesis'.
        age_threshold: u32 = 150_000, "write requests";
        /// When a whole group leaves: the thesis says both.
        full_flush: FullFlush = FullFlush::Lazy;
    }
}
