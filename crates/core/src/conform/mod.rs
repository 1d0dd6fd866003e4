//! Conformance: worked examples replayed against the real engine.

pub mod policy;
