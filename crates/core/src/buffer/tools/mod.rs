//! Tools of several policies. The parts of a single policy stay in the folder of its name.

pub(crate) mod by_size;
pub(crate) mod clean;
pub(crate) mod compat;
pub(crate) mod ghosts;
pub(crate) mod groups;
pub(crate) mod padding;
pub(crate) mod sketch;

pub use padding::{MergeCost, PADDINGS, PaddingRule, break_even_pages};
