//! Do the buffers of the papers decide as slow, obvious versions of them do, and as the papers say?
//!
//! Each reference is made of plain vectors and written from the paper's rules. The worked examples are replayed with those
//! of all policies, in `golden_policies.rs`.

mod kit;
mod policies {
    mod aalru;
    mod hitstat;
    mod merging;
    mod urm;
    mod watched;
    mod wpa;
}
