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

/// No field has as many entries of metadata: arrow-rs takes memory for them before it reads them.
const MOST_ENTRIES: i32 = 1 << 16;

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

/// No type that is in use has as many levels.
const MOST_LEVELS: usize = 64;

/// No table has as many columns and fields. A type whose fields are each other's could be read for ever.
const MOST_FIELDS: usize = 1 << 20;

/// The error for a column whose values have no bytes of their own to hash.
pub fn not_supported(kind: &DataType) -> PyErr {
    PyTypeError::new_err(format!(
        "a column of type {kind} cannot be hashed alone: expected strings, binary, integers or a dictionary of these; \
         cast it, or give a table or struct with this one column, whose rows may have any type"
    ))
}

fn as_type_error(error: ArrowError) -> PyErr {
    PyTypeError::new_err(format!("{error}: cast the column to another type"))
}

fn damaged(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow array is damaged: {what}"))
}

/// The field of a type, after a look at all that arrow-rs takes for granted.
fn field_of(schema: &FFI_ArrowSchema) -> PyResult<Field> {
    check(schema, MOST_LEVELS, &mut 0)?;
    let field = Field::try_from(schema).map_err(as_type_error)?;
    match field.data_type() {
        // The name of a table is no part of a column's.
        DataType::Struct(columns) => columns.iter().try_for_each(|column| refuse_unions(column, ""))?,
        _ => refuse_unions(&field, "")?,
    }
    Ok(field)
}

/// TypeError if the field, or one below it, is a union: the types of its members would not be in a digest.
fn refuse_unions(field: &Field, path: &str) -> PyResult<()> {
    let path = match (path, field.name().as_str()) {
        ("", name) => name.to_owned(),
        (path, name) => format!("{path}.{name}"),
    };
    match field.data_type() {
        DataType::Union(..) => Err(PyTypeError::new_err(format!(
            "column {path:?}: a union cannot be hashed: make it a struct of its members"
        ))),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| refuse_unions(field, &path)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => refuse_unions(field, &path),
        DataType::Dictionary(_, values) => refuse_unions(&Field::new("", (**values).clone(), true), &path),
        _ => Ok(()),
    }
}

fn check(schema: &FFI_ArrowSchema, levels: usize, nfields: &mut usize) -> PyResult<()> {
    let damaged = |what: &str| PyValueError::new_err(format!("the Arrow type is damaged: {what}"));
    let Some(levels) = levels.checked_sub(1) else {
        let message = format!("the type has more than {MOST_LEVELS} levels of lists and structs: flatten it");
        return Err(PyValueError::new_err(message));
    };
    *nfields += 1;
    if *nfields > MOST_FIELDS {
        let message = format!("the type has more than {MOST_FIELDS} fields: give fewer columns");
        return Err(PyValueError::new_err(message));
    }
    // SAFETY: the producer has a text that ends with NUL there, or no text.
    let text = |place: *const c_char| unsafe { place.as_ref().map(|place| CStr::from_ptr(place).to_str()) };
    let format = match text(schema.format) {
        Some(Ok(format)) => format,
        Some(Err(_)) => return Err(damaged("its format is not UTF-8")),
        None => return Err(damaged("it has no format, or was read before")),
    };
    if let Some(Err(_)) = text(schema.name) {
        return Err(damaged("a name is not UTF-8"));
    }
    let metadata = schema.metadata.cast::<i32>();
    // SAFETY: metadata begin with the number of their entries.
    if !metadata.is_null() && unsafe { metadata.read_unaligned() } > MOST_ENTRIES {
        return Err(damaged("it has too many entries of metadata"));
    }
    let nchildren = usize::try_from(schema.n_children).map_err(|_| damaged("a negative number of children"))?;
    let wanted = match format {
        "+s" => nchildren,
        "+r" => 2,
        format if format.starts_with("+u") => nchildren,
        format if format.starts_with('+') => 1,
        _ => 0,
    };
    if nchildren < wanted || wanted > 0 && schema.children.is_null() {
        return Err(damaged("a child is missing"));
    }
    for i in 0..wanted {
        // SAFETY: the producer has this many pointers to types there.
        let child = unsafe { schema.children.add(i).read_unaligned().as_ref() };
        check(child.ok_or_else(|| damaged("a child is missing"))?, levels, nfields)?;
    }
    // SAFETY: the producer has a type there, or none.
    match unsafe { schema.dictionary.as_ref() } {
        Some(dictionary) => check(dictionary, levels, nfields),
        None => Ok(()),
    }
}

/// The arrays of an object with `__arrow_c_array__` or `__arrow_c_stream__`, and their type and name.
pub fn import(object: &Bound<'_, PyAny>) -> PyResult<(Field, Vec<ArrayData>)> {
    if object.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyCapsule>, Bound<'_, PyCapsule>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        let schema = schema.pointer_checked(Some(SCHEMA))?.cast::<FFI_ArrowSchema>();
        let array = array.pointer_checked(Some(ARRAY))?.cast::<FFI_ArrowArray>();
        // SAFETY: a capsule of this name has this structure, and lives until the end of this function.
        let (field, array) = unsafe { (field_of(schema.as_ref()), FFI_ArrowArray::from_raw(array.as_ptr())) };
        let field = field?;
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
    let field = field_of(&schema)?;
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

/// `array`, which `owner` is or contains, as data of arrow-rs.
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
    // An empty array may have no offsets.
    let offsets = |width: usize| match nrows {
        0 => buffer(1, 0),
        _ => buffer(1, nslots.checked_add(1).and_then(|n| n.checked_mul(width)).ok_or_else(large)?),
    };
    // The values' bytes end with the last offset.
    let ended = |width: usize| -> PyResult<Vec<Buffer>> {
        let offsets = offsets(width)?;
        if nrows == 0 {
            return Ok(vec![offsets, buffer(2, 0)?]);
        }
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
        DataType::Boolean => (2, vec![buffer(1, nslots.div_ceil(8))?], Vec::new()),
        // Places in the child are checked as they are read.
        DataType::List(values) => (2, vec![offsets(4)?], vec![child(0, values.data_type())?]),
        DataType::LargeList(values) => (2, vec![offsets(8)?], vec![child(0, values.data_type())?]),
        DataType::ListView(values) => {
            (3, vec![buffer(1, times(4)?)?, buffer(2, times(4)?)?], vec![child(0, values.data_type())?])
        }
        DataType::LargeListView(values) => {
            (3, vec![buffer(1, times(8)?)?, buffer(2, times(8)?)?], vec![child(0, values.data_type())?])
        }
        DataType::FixedSizeList(values, count) => {
            number(i64::from(*count))?;
            (1, Vec::new(), vec![child(0, values.data_type())?])
        }
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(fields) if fields.len() == 2 => {
                (2, vec![offsets(4)?], vec![child(0, entries.data_type())?])
            }
            _ => return Err(damaged("the entries of a map are not pairs")),
        },
        DataType::RunEndEncoded(ends, values) => match ends.data_type() {
            DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                (0, Vec::new(), vec![child(0, ends.data_type())?, child(1, values.data_type())?])
            }
            _ => return Err(damaged("the ends of runs are not integers")),
        },
        kind => match kind.primitive_width() {
            Some(width) => (2, vec![buffer(1, times(width)?)?], Vec::new()),
            None => return Err(not_supported(kind)),
        },
    };
    if nbuffers != nbuffers_wanted {
        return Err(damaged(&format!("{nbuffers} buffers instead of {nbuffers_wanted}")));
    }
    // The number of nulls is counted, whatever the producer says.
    let nulls = match kind {
        DataType::Null | DataType::RunEndEncoded(..) => None,
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
