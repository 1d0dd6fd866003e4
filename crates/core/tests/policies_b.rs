//! Do `aalru` and `hitstat` do what their papers say?

#[path = "policies_b/aalru.rs"]
mod aalru;
#[path = "policies_b/hitstat.rs"]
mod hitstat;
#[path = "policies_b/hitstat_claims.rs"]
mod hitstat_claims;
#[path = "policies_b/rig.rs"]
mod rig;
