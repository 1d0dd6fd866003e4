//! Parameters of AALRU.

use serde::{Deserialize, Serialize};

use crate::buffer::padding::{Compare, PaddingRule, ThLine};
use crate::error::ConfigError;

/// What `period` counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PeriodUnit {
    /// Page accesses.
    #[default]
    Pages,
    /// Host requests.
    Requests,
}

/// Where Wf comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WfSource {
    /// Programs counted by the FTL (equation 4).
    Ftl,
    /// The same, of collections and merges alone.
    #[default]
    Collection,
    /// Time of a page write over the program time (equation 5).
    Delay,
}

/// Parameters of [`super::Aalru`]; the manual page explains them.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Accesses between two adaptations.
    pub period: u32,
    /// What `period` counts.
    pub period_unit: PeriodUnit,
    /// Wf from which on every block is padded; more than 1.
    pub beta: f64,
    /// Least share of the frames on either side of tau, 0 to 0.5.
    pub tau_min: f64,
    /// tau at the start, share of the frames.
    pub tau_start: f64,
    /// Comparison of RB with tau.
    pub tau_compare: Compare,
    /// When an incomplete block is completed.
    pub padding: PaddingRule,
    /// Comparison of a block's pages with Th.
    pub pad_compare: Compare,
    /// Line from Wf to Th.
    pub th_line: ThLine,
    /// Where Wf comes from.
    pub wf_source: WfSource,
    /// `D_r`, microseconds; absent: measured.
    pub d_read: Option<f64>,
    /// `D_w`, microseconds; absent: measured.
    pub d_write: Option<f64>,
    /// Share of WB whose most recent pages stay, clean, when they are written back.
    pub keep_written: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            period: 8192,
            period_unit: PeriodUnit::default(),
            beta: 5.0,
            tau_min: 0.1,
            tau_start: 0.5,
            tau_compare: Compare::default(),
            padding: PaddingRule::Aalru,
            pad_compare: Compare::default(),
            th_line: ThLine::default(),
            wf_source: WfSource::default(),
            d_read: None,
            d_write: None,
            keep_written: 0.0,
        }
    }
}

impl Params {
    /// Refuses what is out of range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, value, range, mend) in [
            ("period", f64::from(self.period), 1.0..=f64::MAX, "give at least 1"),
            ("beta", self.beta, 1.0_f64.next_up()..=f64::MAX, "give more than 1"),
            ("tau_min", self.tau_min, 0.0..=0.5, "give 0 to 0.5"),
            ("tau_start", self.tau_start, 0.0..=1.0, "give 0 to 1"),
            ("d_read", self.d_read.unwrap_or(0.0), 0.0..=f64::MAX, "give microseconds"),
            ("d_write", self.d_write.unwrap_or(0.0), 0.0..=f64::MAX, "give microseconds"),
            ("keep_written", self.keep_written, 0.0..=1.0, "give 0 to 1"),
        ] {
            if !range.contains(&value) {
                return Err(ConfigError::new(format!("buffer.{key}"), format!("{value} is out of range"), mend));
            }
        }
        Ok(())
    }
}
