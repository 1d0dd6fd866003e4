//! nandlab: one device model of the RAM inside NAND-flash SSDs.

#![warn(missing_docs)]

pub mod buffer;
pub mod catalog;
pub mod config;
pub mod conform;
mod divisor;
pub mod endurance;
pub mod engine;
pub mod error;
pub mod flash;
pub mod ftl;
pub mod histogram;
pub mod ledger;
pub mod list;
pub mod offline;
pub mod probe;
pub mod registry;
pub mod replay;
pub mod report;
pub mod sparse;
pub mod stack;
pub mod types;

/// A number of the sources of this crate: results of two builds with the same number are the same, whatever their version.
pub const CORE_SOURCES: &str = env!("NANDLAB_SOURCES");

/// What has been tested of every FTL and how often, as a page of Markdown with one table that has a row for each.
pub const EVIDENCE: &str = include_str!("../EVIDENCE.md");
