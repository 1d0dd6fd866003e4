//! Do AALRU and HitStat do what their papers say they are for? How they decide is compared by the oracle; the worked examples
//! are replayed with those of all policies, in `golden_policies.rs`.

mod kit;
mod policies {
    mod aalru;
    mod hitstat;
    mod merging;
}
