//! What the tests share: dice, small devices, a recorder of what its buffer does, and an FTL around
//! another.

#![allow(dead_code, unused_imports, reason = "each program of tests uses its part")]

mod around;
mod dice;
mod lab;
mod recorder;
mod rig;

pub use around::{Around, Twist};
pub use dice::Dice;
pub use lab::{lab, small};
pub use recorder::{Event, Recorder, numbers};
pub use rig::{Rig, build_ftl, submit, times};
