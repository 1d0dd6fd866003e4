//! Do `urm` and `wpa` do what their specifications say?
//!
//! Slow references made of plain vectors, written from the papers' rules, are compared on random accesses. (The worked
//! examples are replayed with those of all policies, in `golden_policies.rs`.)

#[path = "policies_c/rig.rs"]
mod rig;
#[path = "policies_c/urm.rs"]
mod urm;
#[path = "policies_c/wpa.rs"]
mod wpa;
