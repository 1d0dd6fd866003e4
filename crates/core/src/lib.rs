//! nandlab: one device model of the RAM inside NAND-flash SSDs.

#![warn(missing_docs)]

pub mod conform;
pub mod error;
pub mod flash;
pub mod ftl;
pub mod ledger;
pub mod registry;
pub mod types;
