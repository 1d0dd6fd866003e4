//! Columns over the C data interface of Arrow (the `PyCapsule` interface), to and from any library that has it.
#![expect(unsafe_code, reason = "the interface hands over pointers")]

use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader, StringArray,
};
use arrow_schema::{Schema, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyList};

use crate::errors::wrong;

/// What a capsule with a stream is called.
const STREAM: &CStr = c"arrow_array_stream";

/// The batches that an object gives by `__arrow_c_stream__`, none of them copied.
///
/// # Errors
/// It gives something else, or fails.
pub fn import(table: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let capsule = capsule
        .cast::<PyCapsule>()
        .map_err(|_| PyTypeError::new_err("trace: `__arrow_c_stream__` gives no capsule"))?;
    let pointer = capsule.pointer_checked(Some(STREAM))?;
    // SAFETY: a capsule of this name holds such a stream (the specification of the interface), which stays alive with it; the
    // reader takes what is in it and leaves it released.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.as_ptr().cast::<FFI_ArrowArrayStream>()) };
    let mut reader = reader.map_err(|error| wrong(format!("trace: {error}")))?;
    let schema = reader.schema();
    let batches = reader.by_ref().collect::<Result<Vec<_>, _>>();
    Ok((schema, batches.map_err(|error| wrong(format!("trace: {error}")))?))
}

/// A table as a capsule with a stream of one batch: columns by name and kind (`float`, `int`, `bool` or `str`), each a list of
/// values or `None`.
///
/// # Errors
/// A value is not of its kind, or columns differ in length.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    columns: Vec<(String, String, Bound<'py, PyList>)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let mut arrays: Vec<(String, ArrayRef, bool)> = Vec::new();
    for (name, kind, values) in columns {
        let array: ArrayRef = match kind.as_str() {
            "float" => Arc::new(Float64Array::from(values.extract::<Vec<Option<f64>>>()?)),
            "int" => Arc::new(Int64Array::from(values.extract::<Vec<Option<i64>>>()?)),
            "bool" => Arc::new(BooleanArray::from(values.extract::<Vec<Option<bool>>>()?)),
            "str" => Arc::new(StringArray::from(values.extract::<Vec<Option<String>>>()?)),
            _ => return Err(PyValueError::new_err(format!("kind: `{kind}` is none of float, int, bool, str"))),
        };
        arrays.push((name, array, true));
    }
    let batch = if arrays.is_empty() {
        Ok(RecordBatch::new_empty(Arc::new(Schema::empty())))
    } else {
        RecordBatch::try_from_iter_with_nullable(arrays)
    };
    let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let schema = batch.schema();
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    PyCapsule::new_with_value(py, stream, STREAM)
}
