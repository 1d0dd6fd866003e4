//! Errors of the laboratory as exceptions of Python.

use nandlab::registry::plain_words;
use nandlab_lab::{Error, ErrorKind};
use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyOSError, PyValueError};
use pyo3::prelude::*;

create_exception!(
    nandlab,
    ConfigError,
    PyValueError,
    "A device that cannot be built: the text names the key, the range and what helps."
);
create_exception!(
    nandlab,
    InputError,
    PyValueError,
    "A trace or another argument that cannot be used: the text names the place and what helps."
);

/// The exception for an error.
pub fn raised(error: &Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(text),
        _ => match error.kind() {
            ErrorKind::Config => ConfigError::new_err(text),
            ErrorKind::Input => InputError::new_err(text),
            ErrorKind::Machine => PyOSError::new_err(text),
            ErrorKind::Stopped => PyKeyboardInterrupt::new_err(()),
        },
    }
}

/// The exception for an argument that is not what it should be.
pub fn wrong(text: impl Into<String>) -> PyErr {
    InputError::new_err(text.into())
}

/// Reads a value that the Python side wrote as JSON.
///
/// # Errors
/// A key or a value is impossible.
pub fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> PyResult<T> {
    let value = serde_json::from_str(text).map_err(|error| {
        // The place in the text says nothing to who never saw it.
        wrong(error.to_string().split(" at line ").next().unwrap_or_default())
    })?;
    nandlab::registry::typed(value).map_err(|misfit| {
        let problem = plain_words(&misfit.problem);
        let path = misfit.path;
        wrong(format!("{}: {problem}", path.trim_start_matches("workload.").trim_start_matches("reading.")))
    })
}
