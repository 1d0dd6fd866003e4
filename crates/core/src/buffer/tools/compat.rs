//! Whose reading of an algorithm: a parameter of the policies that other simulators have too. Each type has the readings that
//! its policies know, so that none can be asked for without effect.

use serde::{Deserialize, Serialize};

/// Whose reading of a policy that the public lab simulator has too. The manual page of the policy says where the two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// The description.
    #[default]
    Spec,
    /// The public lab simulator (`SimpleSSDsim`).
    Lab,
}

/// Whose reading of a yardstick from general caching. The manual page of the policy says where the two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum YardstickCompat {
    /// The description.
    #[default]
    Spec,
    /// libCacheSim 0.3.5.
    Libcachesim,
}

impl YardstickCompat {
    /// `ratio` of a number of pages: rounded half up, by libCacheSim down.
    pub(crate) fn share(self, ratio: f64, pages: u32) -> u32 {
        match self {
            Self::Spec => crate::buffer::share(ratio, pages),
            Self::Libcachesim => (ratio * f64::from(pages)) as u32,
        }
    }
}
