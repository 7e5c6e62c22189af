// SPDX-License-Identifier: MIT OR Apache-2.0
//! The values of a column of digests as Python's objects.

use std::ops::Range;

use arrow_buffer::{Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// The function of the module `pyhashloom._convert`.
pub fn convert<'py, T>(object: &Bound<'py, T>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("pyhashloom._convert")?.getattr(function)
}

/// The bytes of rows of an array that this module made.
fn slots(array: &ArrayData, rows: Range<usize>) -> &[u8] {
    let (start, end) = (array.offset() + rows.start, array.offset() + rows.end);
    match array.data_type() {
        DataType::FixedSizeBinary(nbytes) => {
            let nbytes = *nbytes as usize;
            &array.buffers()[0].as_slice()[start * nbytes..end * nbytes]
        }
        _ => {
            let offsets: &[i32] = array.buffers()[0].typed_data();
            // An array without rows may have no offsets.
            let place = |row: usize| offsets.get(row).map_or(0, |&offset| offset as usize);
            &array.buffers()[1].as_slice()[place(start)..place(end)]
        }
    }
}

/// The bytes of all rows: nulls have none among texts, and some among others.
pub fn all(array: &ArrayData) -> &[u8] {
    slots(array, 0..array.len())
}

/// The bytes of a row; `None` for a null.
pub fn bytes(array: &ArrayData, row: usize) -> Option<&[u8]> {
    (!array.is_null(row)).then(|| slots(array, row..row + 1))
}

/// An array of texts, all of one length, or of binary of a fixed size; `None` if it is not what `all` gave. `valid` has
/// a 1 for each row that is not null.
pub fn array(kind: &DataType, nrows: usize, valid: Option<&[u8]>, values: &[u8]) -> Option<ArrayData> {
    let is_valid = |row: usize| valid.is_none_or(|valid| valid[row] == 1);
    if valid.is_some_and(|valid| valid.len() != nrows) {
        return None;
    }
    let mut buffers = vec![Buffer::from(values)];
    if let DataType::FixedSizeBinary(nbytes) = kind {
        (nrows.checked_mul(usize::try_from(*nbytes).ok()?)? == values.len()).then_some(())?;
    } else {
        let nvalid = valid.map_or(nrows, |_| (0..nrows).filter(|&row| is_valid(row)).count());
        let width = i32::try_from(values.len()).ok()? / i32::try_from(nvalid.max(1)).ok()?;
        (width as usize * nvalid == values.len() && values.is_ascii()).then_some(())?;
        let ends = (0..nrows).scan(0, |end, row| {
            *end += width * i32::from(is_valid(row));
            Some(*end)
        });
        buffers.insert(0, Buffer::from_vec([0].into_iter().chain(ends).collect::<Vec<i32>>()));
    }
    let nulls = valid.map(|_| NullBuffer::from_iter((0..nrows).map(is_valid)));
    // SAFETY: each row has its bytes in the buffer, or its offsets among texts, which are ASCII.
    Some(unsafe { ArrayData::builder(kind.clone()).len(nrows).nulls(nulls).buffers(buffers).build_unchecked() })
}

/// The digest in a row of an array that this module made: text or bytes, or None.
pub fn value<'py>(py: Python<'py>, array: &ArrayData, row: usize) -> Bound<'py, PyAny> {
    match (bytes(array, row), array.data_type()) {
        (None, _) => py.None().into_bound(py),
        (Some(bytes), DataType::FixedSizeBinary(_)) => PyBytes::new(py, bytes).into_any(),
        (Some(text), _) => PyString::new(py, &String::from_utf8_lossy(text)).into_any(),
    }
}
