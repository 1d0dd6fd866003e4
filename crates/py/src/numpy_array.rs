//! Arrays of `NumPy` as arrays of Arrow, where they lie.
#![expect(unsafe_code, reason = "memory of NumPy is lent to an array of Arrow")]

use std::panic::AssertUnwindSafe;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{ArrayRef, PrimitiveArray};
use arrow_buffer::{Buffer, ScalarBuffer};
use numpy::{Element, PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A one-dimensional array of whole numbers that lie behind each other, not copied. Whoever changes it meanwhile changes what
/// is read, and nothing else: its memory stays where it is as long as it is lent.
///
/// # Errors
/// It is something else.
pub fn read(name: &str, array: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let found = [
        lend::<UInt64Type>,
        lend::<Int64Type>,
        lend::<UInt32Type>,
        lend::<Int32Type>,
        lend::<UInt16Type>,
        lend::<Int16Type>,
        lend::<UInt8Type>,
        lend::<Int8Type>,
    ]
    .iter()
    .find_map(|lend| lend(array));
    found.ok_or_else(|| {
        let kind = array.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        let kind = array.getattr("dtype").map_or(kind, |dtype| format!("an array of {dtype}"));
        PyTypeError::new_err(format!(
            "trace[{name:?}]: this is {kind}, and a contiguous array of whole numbers is needed"
        ))
    })
}

fn lend<T: ArrowPrimitiveType>(array: &Bound<'_, PyAny>) -> Option<ArrayRef>
where
    T::Native: Element,
{
    let array = array.cast::<PyArray1<T::Native>>().ok()?;
    let pointer = NonNull::new(array.data())?;
    if !array.is_c_contiguous() || !pointer.is_aligned() {
        return None;
    }
    let owner = Arc::new(AssertUnwindSafe(array.clone().unbind()));
    // SAFETY: the array is contiguous, has that many elements of this type, and neither moves nor goes while it is owned here.
    let buffer = unsafe { Buffer::from_custom_allocation(pointer.cast(), array.len() * size_of::<T::Native>(), owner) };
    Some(Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(buffer), None)))
}
