//! Things of the engine that a policy in Python may look at while it is asked, and not afterwards.
#![expect(unsafe_code, reason = "Python has no notion of a loan that ends")]

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A place for a reference that is there during a call only. It is read by whoever holds the lock of the interpreter, and the
/// lender holds it when the loan begins and when it ends.
pub struct Lent<T>(AtomicPtr<T>);

impl<T> Default for Lent<T> {
    fn default() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }
}

/// Ends the loan, however the call ends; loans inside loans end in their order.
struct Loan<'a, T>(&'a Lent<T>, *mut T);

impl<T> Drop for Loan<'_, T> {
    fn drop(&mut self) {
        self.0.0.store(self.1, Ordering::Relaxed);
    }
}

impl<T: Sync> Lent<T> {
    /// Lends a value during a call. The token shows that the lock is held.
    pub fn during<R>(&self, _: Python<'_>, value: &T, call: impl FnOnce() -> R) -> R {
        let before = self.0.swap(ptr::from_ref(value).cast_mut(), Ordering::Relaxed);
        let _loan = Loan(self, before);
        call()
    }

    /// Looks at the value, without a call of Python meanwhile.
    ///
    /// # Errors
    /// There is none now.
    pub fn look<R>(&self, _: Python<'_>, what: &str, look: impl FnOnce(&T) -> R) -> PyResult<R> {
        let pointer = self.0.load(Ordering::Relaxed);
        // SAFETY: what is lent lives until the loan ends, for which the lender needs the lock that is held here; it is only read.
        let value = unsafe { pointer.as_ref() };
        let none =
            || PyValueError::new_err(format!("{what} can be used while the engine asks the policy, and not now"));
        value.map(look).ok_or_else(none)
    }
}
