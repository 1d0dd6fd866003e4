//! What the tests share: dice, small devices, a recorder of what its buffer does, an FTL around
//! another, points of theory, and long runs at once.

#![allow(dead_code, unused_imports, reason = "each program of tests uses its part")]

mod around;
mod at_once;
mod dice;
mod lab;
pub mod point;
mod recorder;
mod rig;
pub mod tiny;

pub use around::{Around, Twist};
pub use at_once::at_once;
pub use dice::{Dice, below, mix};
pub use lab::{lab, small, try_lab, try_preset};
pub use recorder::{Event, Recorder, numbers};
pub use rig::{Rig, build_ftl, fill, flash, submit, times};
