// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrow's C data interface in PyCapsules: arrays come from other libraries and go to them without a copy.
//!
//! The structures of arrays and types, and what they own, are arrow-rs's. A producer's numbers and the number of its
//! buffers are checked here; that its pointers lead to as many bytes as Arrow's format says, nobody can check.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ArrayData;
use arrow_data::ffi::FFI_ArrowArray;
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// No CPU addresses as many bytes.
const MOST_ROWS: usize = 1 << (usize::BITS / 4 * 3);

/// The structure `ArrowArrayStream` of Arrow's C stream interface.
#[repr(C)]
struct Stream {
    get_schema: Option<unsafe extern "C" fn(*mut Stream, *mut FFI_ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut Stream, *mut FFI_ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut Stream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut Stream)>,
    private_data: *mut c_void,
}

// SAFETY: the interface lets any thread use a stream, one at a time.
unsafe impl Send for Stream {}

impl Stream {
    const RELEASED: Stream =
        Stream { get_schema: None, get_next: None, get_last_error: None, release: None, private_data: ptr::null_mut() };

    /// The error of a call that returned `status`.
    fn error(&mut self, status: c_int) -> PyErr {
        let text = match self.get_last_error {
            // SAFETY: the producer's function, on its stream.
            Some(get_last_error) => unsafe { get_last_error(self) },
            None => ptr::null(),
        };
        if text.is_null() {
            return PyValueError::new_err(format!("the Arrow stream failed with status {status}"));
        }
        // SAFETY: the text ends with NUL, and is valid until the next call.
        PyValueError::new_err(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is called once, as a consumer that moves the stream away sets it to null.
            unsafe { release(self) }
        }
    }
}

/// A column that has no Arrow type that can be hashed.
pub fn not_supported(kind: &DataType) -> PyErr {
    PyTypeError::new_err(format!(
        "a column of type {kind} cannot be hashed: expected strings, binary, integers or a dictionary of these; cast it"
    ))
}

fn as_type_error(error: ArrowError) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

fn damaged(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array is damaged: {what}"))
}

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`, and their type and name.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<(Field, Vec<ArrayData>)> {
    if object.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: a capsule of this name has this structure, and lives until the end of this function.
        let (field, array) = unsafe { (Field::try_from(schema.as_ref()), FFI_ArrowArray::from_raw(array.as_ptr())) };
        let field = field.map_err(as_type_error)?;
        let array = owned(array, field.data_type())?;
        return Ok((field, vec![array]));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Err(PyTypeError::new_err("neither __arrow_c_stream__ nor __arrow_c_array__"));
    }
    let capsule = object.call_method0("__arrow_c_stream__")?.extract::<Bound<'_, PyCapsule>>()?;
    let place = capsule.pointer_checked(Some(STREAM))?.cast::<Stream>();
    // SAFETY: a capsule of this name has this structure. The stream is moved, as the interface wants it.
    let mut stream = unsafe { ptr::replace(place.as_ptr(), Stream::RELEASED) };
    let (Some(get_schema), Some(get_next), Some(_)) = (stream.get_schema, stream.get_next, stream.release) else {
        return Err(PyValueError::new_err("the Arrow stream was read before"));
    };
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the producer's function, on its stream.
    match unsafe { get_schema(&mut stream, &mut schema) } {
        0 => {}
        status => return Err(stream.error(status)),
    }
    let field = Field::try_from(&schema).map_err(as_type_error)?;
    let mut arrays = Vec::new();
    loop {
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as above.
        match unsafe { get_next(&mut stream, &mut array) } {
            0 if array.is_released() => return Ok((field, arrays)),
            0 => arrays.push(owned(array, field.data_type())?),
            status => return Err(stream.error(status)),
        }
    }
}

fn owned(array: FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayData> {
    let owner = Arc::new(array);
    let mut data = data(&owner, &owner, kind)?;
    // The interface allows any alignment.
    data.align_buffers();
    Ok(data)
}

/// `array`, which `owner` is or contains, as data of arrow-rs: the types that can be hashed, and structs of them.
fn data(owner: &Arc<FFI_ArrowArray>, array: &FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayData> {
    let number = |number: i64| usize::try_from(number).map_err(|_| damaged("a negative number"));
    let (nrows, offset) = (number(array.length)?, number(array.offset)?);
    let nslots = nrows.checked_add(offset).filter(|&nslots| nslots <= MOST_ROWS);
    let nslots = nslots.ok_or_else(|| damaged("more rows than a memory can have"))?;
    let nbuffers = number(array.n_buffers)?;
    let large = || damaged("more bytes than there is memory");
    let times = |width: usize| nslots.checked_mul(width).ok_or_else(large);
    // The address of a buffer.
    let place = |i: usize| match array.buffers.is_null() || i >= nbuffers {
        true => ptr::null(),
        // SAFETY: the producer has this many pointers there.
        false => unsafe { array.buffers.add(i).read_unaligned() }.cast::<u8>(),
    };
    let buffer = |i: usize, nbytes: usize| match ptr::NonNull::new(place(i).cast_mut()) {
        _ if nbytes == 0 => Ok(Buffer::from_vec(Vec::<u128>::new())),
        // SAFETY: Arrow's format wants this many bytes there; they live as long as their owner.
        Some(place) => Ok(unsafe { Buffer::from_custom_allocation(place, nbytes, owner.clone()) }),
        None => Err(damaged("a buffer is missing")),
    };
    // The values' bytes end with the last offset.
    let ended = |width: usize| -> PyResult<Vec<Buffer>> {
        // An empty array may have no offsets.
        if nrows == 0 {
            return Ok(vec![buffer(1, 0)?, buffer(2, 0)?]);
        }
        let offsets = buffer(1, nslots.checked_add(1).and_then(|n| n.checked_mul(width)).ok_or_else(large)?)?;
        let last = &offsets[nslots * width..];
        let last = match width {
            4 => last.try_into().map(i32::from_ne_bytes).ok().and_then(|last| usize::try_from(last).ok()),
            _ => last.try_into().map(i64::from_ne_bytes).ok().and_then(|last| usize::try_from(last).ok()),
        };
        let last = last.ok_or_else(|| damaged("the last offset is negative"))?;
        Ok(vec![offsets, buffer(2, last)?])
    };
    let child = |i: usize, kind: &DataType| {
        let is_there = i < number(array.n_children)? && !array.children.is_null();
        // SAFETY: the producer has this many pointers to arrays there.
        let child = if is_there { unsafe { array.children.add(i).read_unaligned().as_ref() } } else { None };
        data(owner, child.ok_or_else(|| damaged("a child is missing"))?, kind)
    };
    let (nbuffers_wanted, buffers, children) = match kind {
        DataType::Null => (nbuffers, Vec::new(), Vec::new()),
        DataType::Utf8 | DataType::Binary => (3, ended(4)?, Vec::new()),
        DataType::LargeUtf8 | DataType::LargeBinary => (3, ended(8)?, Vec::new()),
        DataType::Utf8View | DataType::BinaryView => {
            // Validity, views, the buffers of long values, and the lengths of these.
            let nlong = nbuffers.checked_sub(3).ok_or_else(|| damaged("a buffer is missing"))?;
            let lengths = buffer(nbuffers - 1, nlong * size_of::<i64>())?;
            let mut buffers = vec![buffer(1, times(size_of::<u128>())?)?];
            for (i, length) in lengths.chunks_exact(size_of::<i64>()).enumerate() {
                let length = length.try_into().map(i64::from_ne_bytes).unwrap_or(-1);
                buffers.push(buffer(2 + i, number(length)?)?);
            }
            (nbuffers, buffers, Vec::new())
        }
        DataType::FixedSizeBinary(width) => (2, vec![buffer(1, times(number(i64::from(*width))?)?)?], Vec::new()),
        DataType::Dictionary(keys, values) => {
            if matches!(**values, DataType::Dictionary(..)) {
                return Err(not_supported(kind));
            }
            let width = keys.primitive_width().filter(|_| keys.is_integer()).ok_or_else(|| not_supported(kind))?;
            let dictionary = array.dictionary().ok_or_else(|| damaged("a dictionary is missing"))?;
            (2, vec![buffer(1, times(width)?)?], vec![data(owner, dictionary, values)?])
        }
        DataType::Struct(fields) => {
            let children: Vec<_> =
                fields.iter().enumerate().map(|(i, field)| child(i, field.data_type())).collect::<PyResult<_>>()?;
            if children.iter().any(|child| child.len() < nslots) {
                return Err(damaged("a child has fewer rows"));
            }
            (1, Vec::new(), children)
        }
        kind if kind.is_integer() => (2, vec![buffer(1, times(kind.primitive_width().unwrap_or(0))?)?], Vec::new()),
        kind => return Err(not_supported(kind)),
    };
    if nbuffers != nbuffers_wanted {
        return Err(damaged(&format!("{nbuffers} buffers instead of {nbuffers_wanted}")));
    }
    // The number of nulls is counted, whatever the producer says.
    let nulls = match kind {
        DataType::Null => None,
        _ if place(0).is_null() => None,
        _ => Some(NullBuffer::new(BooleanBuffer::new(buffer(0, nslots.div_ceil(8))?, offset, nrows))),
    };
    let builder = ArrayData::builder(kind.clone()).len(nrows).offset(offset).nulls(nulls);
    // SAFETY: each buffer has the bytes that the type and the number of rows want. Offsets, views and keys are checked
    // where they are used.
    Ok(unsafe { builder.buffers(buffers).child_data(children).build_unchecked() })
}

/// A PyCapsule with the type.
pub fn schema<'py>(py: Python<'py>, field: &Field) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowSchema::try_from(field).map_err(as_type_error)?, SCHEMA)
}

/// A PyCapsule with a stream of the arrays.
pub fn stream<'py>(py: Python<'py>, field: Arc<Field>, arrays: Vec<ArrayData>) -> PyResult<Bound<'py, PyCapsule>> {
    let content = Box::new(Content { field, arrays: arrays.into_iter(), error: None });
    let stream = Stream {
        get_schema: Some(get_schema),
        get_next: Some(get_next),
        get_last_error: Some(get_last_error),
        release: Some(release),
        private_data: Box::into_raw(content).cast(),
    };
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// The private data of a stream that this module exports.
struct Content {
    field: Arc<Field>,
    arrays: std::vec::IntoIter<ArrayData>,
    error: Option<CString>,
}

/// # Safety
///
/// `stream` is one of `stream()`, not released, and no other reference to its content exists.
unsafe fn content<'a>(stream: *mut Stream) -> &'a mut Content {
    // SAFETY: the caller's promise.
    unsafe { &mut *(*stream).private_data.cast::<Content>() }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut FFI_ArrowSchema) -> c_int {
    const EINVAL: c_int = 22;
    // SAFETY: the consumer gives its stream and room for the structure.
    let content = unsafe { content(stream) };
    match FFI_ArrowSchema::try_from(&*content.field) {
        Ok(schema) => {
            // SAFETY: as above.
            unsafe { out.write(schema) };
            0
        }
        Err(error) => {
            content.error = CString::new(error.to_string()).ok();
            EINVAL
        }
    }
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: the consumer gives its stream and room for the structure. A released structure is the end.
    unsafe {
        let next = content(stream).arrays.next();
        out.write(next.map_or_else(FFI_ArrowArray::empty, |array| FFI_ArrowArray::new(&array)));
    }
    0
}

unsafe extern "C" fn get_last_error(stream: *mut Stream) -> *const c_char {
    // SAFETY: the consumer gives its stream.
    unsafe { content(stream) }.error.as_ref().map_or(ptr::null(), |error| error.as_ptr())
}

unsafe extern "C" fn release(stream: *mut Stream) {
    // SAFETY: the consumer gives its stream, once. What it owns is the box of `stream()`. The structure is overwritten
    // in place, as an assignment would drop it and call this function again.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<Content>()));
        stream.write(Stream::RELEASED);
    }
}
