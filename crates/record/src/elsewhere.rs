//! Other systems than Linux on x86-64: nothing can be recorded.

use std::convert::Infallible;
use std::ffi::OsString;

use crate::{RecordError, RecordOptions, Recorded};

/// Runs a command and records it.
///
/// # Errors
/// Always: [`RecordError::Elsewhere`].
pub fn record(_: &[OsString], _: &[OsString], _: &RecordOptions) -> Result<Recorded, RecordError> {
    Err(RecordError::Elsewhere)
}

/// What the process of a command that is recorded does first.
///
/// # Errors
/// Always: [`RecordError::Elsewhere`].
pub fn run_traced(_: &[OsString]) -> Result<Infallible, (RecordError, u8)> {
    Err((RecordError::Elsewhere, 1))
}
