//! Other systems than Linux on x86-64: nothing can be recorded.

use std::convert::Infallible;
use std::ffi::OsString;

use crate::{Level, RecordError, RecordOptions, RecordedCommand};

/// See [`crate::record_command`].
pub(crate) fn record(_: &[OsString], _: &[OsString], _: &RecordOptions) -> Result<RecordedCommand, RecordError> {
    Err(RecordError::Elsewhere)
}

/// See [`crate::run_traced`].
pub(crate) fn become_traced(_: Level, _: &[OsString]) -> Result<Infallible, (RecordError, u8)> {
    Err((RecordError::Elsewhere, 1))
}
