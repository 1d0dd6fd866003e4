//! Whether the requests carry hints, where a setting needs them.

use nandlab::buffer::Bypass;
use nandlab::types::{Hint, HostRequest};

/// Whether one of these requests has a hint.
pub(crate) fn is_hinted(batch: &[HostRequest]) -> bool {
    batch.iter().any(|request| request.hint != Hint::default())
}

/// What to know about a result of `ram.bypass`: without hints nothing is known to be sequential. Reads are known without.
pub(crate) fn warning(bypass: Bypass, is_hinted: bool) -> Option<String> {
    (matches!(bypass, Bypass::SequentialReads | Bypass::Sequential) && !is_hinted).then(|| {
        "ram.bypass did nothing: no request has a hint, so none is known to be sequential; nandlab trace hint works hints out for \
         traces with program locations"
            .to_owned()
    })
}
