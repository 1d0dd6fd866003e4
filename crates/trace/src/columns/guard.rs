//! Damaged Parquet files make the crate that reads them panic here and there: such a panic is a damaged file, no bug.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::errors::{ParquetError, Result as Parquet};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// A panic on this thread, now, is a damaged file and will be reported as an error: a panic hook need not say anything.
pub fn is_guarded() -> bool {
    GUARDED.get()
}

/// Reads; what was read from is not to be used again after an error.
pub(super) fn guarded<T>(read: impl FnOnce() -> Parquet<T>) -> Parquet<T> {
    unless_panic(read).unwrap_or_else(|| Err(ParquetError::General("its parts contradict each other".to_owned())))
}

/// Does work by code of others on bytes that may be damaged; nothing if it panics. What it worked on is not to be used again
/// then.
pub fn unless_panic<T>(work: impl FnOnce() -> T) -> Option<T> {
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(false);
    result.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_becomes_an_error() {
        let damaged: Parquet<()> = guarded(|| panic!("damaged"));
        assert!(damaged.unwrap_err().to_string().contains("contradict") && !is_guarded());
        assert!(guarded(|| Ok(is_guarded())).unwrap());
    }
}
