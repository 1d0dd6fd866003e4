//! Looking at the requests before the device does: to add hints, or to decide about many at once.

use std::fmt;
use std::sync::Arc;

use nandlab::types::HostRequest;

use crate::error::Error;

/// A function that is given the requests of a run in batches, in order, before the device carries them out, and may change
/// their hints. Clones share it. The numbers of requests, as a buffer sees them ([`Access::request`]), count from 1 in the
/// same order, also through the writes of a trace that precondition the device.
///
/// [`Access::request`]: nandlab::buffer::Access::request
#[derive(Clone)]
pub struct Foresight(Arc<Look>);

type Look = dyn Fn(&mut [HostRequest]) -> Result<(), Error> + Send + Sync;

impl Foresight {
    /// A function that looks; its first error ends the run.
    pub fn new(look: impl Fn(&mut [HostRequest]) -> Result<(), Error> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    /// Shows a batch to the function that looks, if there is one.
    pub(crate) fn show(this: Option<&Self>, batch: &mut [HostRequest]) -> Result<(), Error> {
        this.map_or(Ok(()), |Self(look)| look(batch))
    }
}

impl PartialEq for Foresight {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Foresight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Foresight")
    }
}
