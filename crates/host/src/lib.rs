//! What a host can know about its requests and could tell a device: which line of which program asks (the
//! *program-counter indicator*, PC), what that line's accesses are like, and how long they run.
//!
//! Pure: no privileges, no clock, no device. A recorder gives call stacks and places in files; here they
//! become [hints](nandlab::types::Hint), in the order of the requests and with tables of a fixed size, as a kernel would
//! have them. After Li et al., "URM: a unified RAM management scheme for NAND flash storage devices" (2022), sections 3.2 and
//! 4.2; readings of our own are named where they are made.
//!
//! - [`Indicator`]: from a call stack to a PC.
//! - [`Patterns`]: from accesses in files, each with its PC, to pattern, run length and period.
//! - [`MappingLengths`]: how many mappings a request's run will need, by a [`LengthModel`] or a simpler rule.
//! - [`Hinter`]: all of it, for the requests of a trace.
#![forbid(unsafe_code)]

mod hinter;
mod indicator;
mod lengths;
mod pages;
mod patterns;
mod programs;
mod runs;
mod sets;
mod streams;

pub use hinter::{HintControl, Hinter};
pub use indicator::{Indicator, Mix, SkippedFrames};
pub use lengths::{LengthModel, LengthReport, LengthRow, LengthSurvey, MappingLengths, REGION_PAGES, RunFacts};
pub use patterns::{FileAccess, Patterns};
