//! Parameters of AALRU.

use std::ops::Bound::{Excluded, Unbounded};

use serde::{Deserialize, Serialize};

use crate::buffer::tools::padding::{Compare, PaddingChoice, ThLine};

/// What `period` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodUnit {
    /// Page accesses: algorithm 1 counts inside its page loop.
    #[default]
    Pages,
    /// Host requests.
    Requests,
}

/// Where Wf comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WfSource {
    /// Equation 4, `(GC_w + Bf_w) / Bf_w`, with `GC_w` the programs that collections and merges caused (the mappings they
    /// move included) and `Bf_w` those of the buffer's pages, padding included.
    #[default]
    Collection,
    /// The same with all that the FTL programs besides, also what a map cache writes back on its own account.
    Ftl,
    /// Equation 5, measured `D_w` / page program time.
    Delay,
}

crate::params! {
    pub struct Params: Copy {
        /// Time between two adaptations; the default is the paper's.
        period: u32 = 8192, in 1.., "see `period_unit`";
        /// What `period` counts.
        period_unit: PeriodUnit = PeriodUnit::Pages;
        /// Wf from which on every block is padded; the default is the paper's.
        beta: f64 = 5.0, in (Excluded(1.0), Unbounded), with padding = "aalru";
        /// tau stays within `tau_min` and `1 - tau_min` of the frames; the default is that of the lab code.
        tau_min: f64 = 0.1, in 0.0..=0.5, "share of the frames";
        /// tau at the start; the default is that of the lab code.
        tau_start: f64 = 0.5, in 0.0..=1.0, "share of the frames";
        /// RB gives a page if it holds `ge` (section III-B, algorithm 2) or `gt` (section III-E) tau pages.
        tau_compare: Compare = Compare::Ge;
        /// When an incomplete block is completed: by Th, or by one of the rules of the other policies.
        padding: PaddingChoice = PaddingChoice::named("aalru"), in 0.0..=1.0, "share of its block";
        /// A block is padded with `ge` (section III-C) or `gt` (algorithm 2) Th pages.
        pad_compare: Compare = Compare::Ge, unless padding = "never";
        /// The line from Wf to Th. Both give B up to Wf = 1 and 0 from beta on.
        th_line: ThLine = ThLine::Eq6, with padding = "aalru";
        /// Where Wf comes from.
        wf_source: WfSource = WfSource::Collection, with padding = "aalru";
        /// `D_r`.
        d_read: Option<f64> = None, in 0.0.., "microseconds",
            absent "the mean time per page of the reads that the buffer issued and that finished in the period";
        /// `D_w`.
        d_write: Option<f64> = None, in 0.0.., "microseconds", absent "the same of the writes";
        /// The most recent pages of WB that stay when their block is written back: they enter RB, clean. 0 is algorithm 2,
        /// "delete all"; 0.5 is the predecessor ADCT, which keeps the younger half. With it a write-back also costs O(pages
        /// kept in WB).
        keep_written: f64 = 0.0, in 0.0..=1.0, "share of WB";
    }
}
