// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of a column of digests as Python's objects.

use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The function of the module `pyhashloom._convert`.
pub fn convert<'py, T>(object: &Bound<'py, T>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("pyhashloom._convert")?.getattr(function)
}

/// The digest in a row of an array that this module made: text or bytes, or None.
pub fn value<'py>(py: Python<'py>, array: &ArrayData, row: usize) -> Bound<'py, PyAny> {
    if array.is_null(row) {
        return py.None().into_bound(py);
    }
    let place = array.offset() + row;
    match array.data_type() {
        DataType::FixedSizeBinary(nbytes) => {
            let nbytes = *nbytes as usize;
            PyBytes::new(py, &array.buffers()[0].as_slice()[place * nbytes..][..nbytes]).into_any()
        }
        _ => {
            let offsets: &[i32] = array.buffers()[0].typed_data();
            let text = &array.buffers()[1].as_slice()[offsets[place] as usize..offsets[place + 1] as usize];
            PyString::new(py, &String::from_utf8_lossy(text)).into_any()
        }
    }
}
