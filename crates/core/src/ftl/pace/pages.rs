//! pages - At most a fixed number of pages before every page of the host
//!
//! # What it does
//! From the moment that only the reserve is free (and as much above it as for `paced`), collection copies at most this
//! number of pages before every page that the host writes. What is left of a victim when the host needs its block is
//! collected at once.

use super::{Number, PaceRule};

pub(super) const RULE: PaceRule =
    PaceRule { number: Some(Number::Alone("pages before every page of the host")), slice: Some(|slice| slice.number) };
