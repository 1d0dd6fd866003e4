//! nandlab: one device model of the RAM inside NAND-flash SSDs.

#![warn(missing_docs)]

pub mod flash;
pub mod ledger;
pub mod types;
