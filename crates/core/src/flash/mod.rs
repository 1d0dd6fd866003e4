//! The flash array.

pub mod clock;
