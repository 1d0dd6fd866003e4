//! Whose reading of an algorithm: a parameter of the policies that the public lab simulator has too.

use serde::{Deserialize, Serialize};

/// Whose reading. The manual page of the policy says where the two differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compat {
    /// The description.
    #[default]
    Spec,
    /// The public lab simulator (`SimpleSSDsim`).
    Lab,
}
