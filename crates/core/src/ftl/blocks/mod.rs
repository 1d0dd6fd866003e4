//! Blocks of an array: free and closed ones, candidates of collection, and what recovery finds in them.

pub mod buckets;
pub mod pool;
pub mod recover;
