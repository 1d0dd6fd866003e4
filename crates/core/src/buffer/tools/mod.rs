//! Tools of several policies. The parts of a single policy stay in the folder of its name.

pub mod by_size;
pub mod clean;
pub mod compat;
pub mod ghosts;
pub mod groups;
pub mod padding;
pub mod sketch;
