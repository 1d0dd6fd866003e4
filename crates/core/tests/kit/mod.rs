//! What the tests share: dice, small devices, a recorder of what its buffer does, an FTL around
//! another, and long runs at once.

#![allow(dead_code, unused_imports, reason = "each program of tests uses its part")]

mod around;
mod at_once;
mod dice;
mod lab;
mod recorder;
mod rig;

pub use around::{Around, Twist};
pub use at_once::at_once;
pub use dice::Dice;
pub use lab::{lab, small, try_lab, try_preset};
pub use recorder::{Event, Recorder, numbers};
pub use rig::{Rig, build_ftl, fill, flash, submit, times};
