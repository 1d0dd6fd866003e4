//! Whole numbers as arguments, refused by name when they are outside their range.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::errors::wrong;

/// A whole number of any size, also below zero.
pub struct Whole {
    /// Nothing if it is below zero, or beyond all that is allowed anywhere.
    value: Option<u64>,
    shown: String,
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;
    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if given.is_instance_of::<PyBool>() {
            return Err(PyTypeError::new_err("a truth is not a whole number"));
        }
        let index = given.call_method0("__index__");
        let number = index.and_then(|number| Ok(number.cast_into::<PyInt>()?));
        let number = number.map_err(|_| PyTypeError::new_err(format!("{} is not a whole number", shown(&given))))?;
        Ok(Self { value: number.extract().ok(), shown: shown(&number) })
    }
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value.repr().map_or_else(|_| "it".to_owned(), |text| text.to_string())
}

impl Whole {
    /// The number, if it is in its range.
    ///
    /// # Errors
    /// It is not; the text names the argument.
    pub fn within(&self, name: &str, low: u64, high: u64) -> PyResult<u64> {
        let fits = self.value.filter(|value| (low..=high).contains(value));
        let Self { shown, .. } = self;
        fits.ok_or_else(|| wrong(format!("{name}: {shown}: allowed is a whole number from {low} to {high}")))
    }
}

/// Threads to work with, if their number is given.
///
/// # Errors
/// As on the command line: there are none, or too many.
pub fn checked_threads(given: Option<&Whole>) -> PyResult<Option<usize>> {
    given.map(|threads| threads.within("threads", 1, 1024).map(|threads| threads as usize)).transpose()
}
