//! nandlab: one device model of the RAM inside NAND-flash SSDs.

pub mod types;
