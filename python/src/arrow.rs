// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arrow's C data interface in PyCapsules: arrays come from other libraries and go to them without a copy.
//!
//! The structures of arrays and types, and what they own, are arrow-rs's. What a consumer can see is checked here:
//! structures that are released, pointers that are NULL, numbers, texts, the number of buffers and children, the depth
//! of a type. Nobody can check that a pointer leads to as many bytes as Arrow's format says, that a text ends with NUL,
//! and that a producer's functions are functions: they are trusted, as other code in the process is.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::ffi::FFI_ArrowArray;
use arrow_data::{ArrayData, BufferSpec, layout};
use arrow_schema::extension::EXTENSION_TYPE_NAME_KEY;
use arrow_schema::ffi::{FFI_ArrowSchema, Flags};
use arrow_schema::{ArrowError, DataType, Field};
use pyo3::exceptions::{PyKeyboardInterrupt, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::memory;
use crate::signals::attached;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// No CPU addresses as many bytes. There are not more rows either.
const MOST_NBYTES: usize = 1 << (usize::BITS / 4 * 3);

/// A type in a type in a type: the limit of Arrow's C++ library.
const MOST_DEEP: usize = 64;

/// Fields of a type, those of its fields included.
const MOST_FIELDS: usize = 1 << 16;

/// Bytes of a text of a producer: a name, a format, an error.
const TEXT_MAX_NBYTES: usize = 1 << 20;

/// Key and value pairs of a field's metadata, and bytes of a key or value: pandas describes all columns of a table in
/// one value.
const MOST_PAIRS: usize = 1 << 12;
const PAIR_MAX_NBYTES: usize = 1 << 26;

/// The key, in a dictionary's metadata, of the extension that its values are: arrow-rs has a type for these, no field.
pub const VALUES_EXTENSION: &str = "hashloom:dictionary:extension";

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
        // SAFETY: the text is valid until the next call.
        PyValueError::new_err(match unsafe { text_at(text) } {
            Ok(Some(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => format!("the Arrow stream failed with status {status}, and gave no reason"),
        })
    }
}

/// A producer's text; `None` for NULL.
///
/// # Safety
///
/// The text ends with NUL, or is longer than any text may be, and lives as long as its bytes are used.
unsafe fn text_at<'a>(place: *const c_char) -> PyResult<Option<&'a [u8]>> {
    if place.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's promise.
    let nbytes = unsafe { libc::strnlen(place, TEXT_MAX_NBYTES) };
    if nbytes == TEXT_MAX_NBYTES {
        return Err(PyValueError::new_err("an Arrow type is damaged: a text of more than a million bytes"));
    }
    // SAFETY: these bytes were read.
    Ok(Some(unsafe { std::slice::from_raw_parts(place.cast(), nbytes) }))
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it is called once, as a consumer that moves the stream away sets it to null.
            unsafe { release(self) }
        }
    }
}

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

fn bad_type(what: &str) -> PyErr {
    PyValueError::new_err(format!("the Arrow type is damaged: {what}"))
}

/// The structure in a capsule.
fn structure<T>(capsule: &Bound<'_, PyCapsule>, name: &CStr) -> PyResult<*mut T> {
    let place = capsule.pointer_checked(Some(name))?.cast::<T>();
    if place.is_aligned() {
        Ok(place.as_ptr())
    } else {
        Err(PyValueError::new_err(format!("the capsule {name:?} holds no address of a structure")))
    }
}

/// The structure at an address; `None` if no structure can be there.
///
/// # Safety
///
/// A structure is there for `'a`, or the address is NULL or not that of a structure.
unsafe fn referenced<'a, T>(place: *mut T) -> Option<&'a T> {
    // SAFETY: the caller's promise.
    if place.is_aligned() { unsafe { place.as_ref() } } else { None }
}

/// The structures that a list of pointers leads to.
///
/// # Safety
///
/// The list has `count` pointers to structures, which outlive `'a`, or to NULL.
unsafe fn listed<'a, T>(list: *mut *mut T, count: i64, bad: fn(&str) -> PyErr) -> PyResult<Vec<&'a T>> {
    let missing = || bad("a child is missing");
    match usize::try_from(count) {
        Ok(0) => Ok(Vec::new()),
        Ok(count) if count <= MOST_FIELDS && !list.is_null() => {
            // SAFETY: the caller's promise.
            let children = (0..count).map(|i| unsafe { list.add(i).read_unaligned() });
            // SAFETY: as above.
            children.map(|child| unsafe { referenced(child) }.ok_or_else(missing)).collect()
        }
        Ok(0..=MOST_FIELDS) => Err(missing()),
        _ => Err(bad(&format!("{count} children: expected 0 to {MOST_FIELDS}"))),
    }
}

/// A copy of a producer's type that arrow-rs can read. It would panic over NULL, a text that is not UTF-8, or a missing
/// child, and believe any length of metadata. `nfields` counts the fields that were copied.
fn copied(schema: &FFI_ArrowSchema, depth: usize, nfields: &mut usize) -> PyResult<FFI_ArrowSchema> {
    *nfields += 1;
    if schema.release.is_none() {
        return Err(bad_type("its structure was released"));
    }
    if depth == MOST_DEEP || *nfields > MOST_FIELDS {
        return Err(bad_type(&format!("it is deeper than {MOST_DEEP} types or has more than {MOST_FIELDS} fields")));
    }
    // SAFETY: the producer's texts, which live as long as its structure.
    let (format, name) = unsafe { (text_at(schema.format)?, text_at(schema.name)?) };
    let format = format.and_then(|format| std::str::from_utf8(format).ok());
    let format = format.filter(|format| format.len() < 4096).ok_or_else(|| bad_type("its format is no short text"))?;
    // SAFETY: the producer's list.
    let children = unsafe { listed(schema.children, schema.n_children, bad_type) }?;
    let nwanted = match format.as_bytes() {
        [b'+', b's', ..] | [b'+', b'u', ..] => children.len(),
        [b'+', b'r', ..] => 2,
        [b'+', ..] => 1,
        _ => 0,
    };
    if children.len() != nwanted {
        return Err(bad_type(&format!("{} children instead of {nwanted} of the format {format:?}", children.len())));
    }
    let children = children.into_iter().map(|child| copied(child, depth + 1, nfields)).collect::<PyResult<_>>()?;
    // SAFETY: the producer's structure.
    let dictionary =
        unsafe { referenced(schema.dictionary) }.map(|values| copied(values, depth + 1, nfields)).transpose()?;
    let copy = FFI_ArrowSchema::try_new(format, children, dictionary);
    let copy = copy.and_then(|copy| copy.with_name(&String::from_utf8_lossy(name.unwrap_or_default())));
    let copy = copy.and_then(|copy| copy.with_flags(Flags::from_bits_truncate(schema.flags)));
    // SAFETY: the producer's metadata.
    let mut metadata = unsafe { pairs(schema.metadata.cast()) }?;
    // SAFETY: the producer's structure.
    if let Some(values) = unsafe { referenced(schema.dictionary) } {
        // SAFETY: the producer's metadata.
        let values = unsafe { pairs(values.metadata.cast()) }?;
        let extension = values.into_iter().find(|(key, _)| key == EXTENSION_TYPE_NAME_KEY);
        metadata.extend(extension.map(|(_, name)| (VALUES_EXTENSION.to_owned(), name)));
    }
    copy.and_then(|copy| copy.with_metadata(metadata)).map_err(as_type_error)
}

/// The key and value pairs of a field, without the long ones, which say nothing about a type.
///
/// # Safety
///
/// `place` is NULL, or that many pairs are there, each text after its length.
unsafe fn pairs(mut place: *const u8) -> PyResult<Vec<(String, String)>> {
    if place.is_null() {
        return Ok(Vec::new());
    }
    let mut take = |nbytes: usize| {
        // SAFETY: the caller's promise.
        let bytes = unsafe { std::slice::from_raw_parts(place, nbytes) };
        // SAFETY: as above.
        place = unsafe { place.add(nbytes) };
        bytes
    };
    let number = |bytes: &[u8], most: usize| {
        let number = bytes.try_into().map_or(-1, i32::from_ne_bytes);
        let number = usize::try_from(number).ok().filter(|&number| number <= most);
        number.ok_or_else(|| bad_type("its metadata has a negative or great length"))
    };
    let mut pairs = Vec::new();
    for _ in 0..number(take(4), MOST_PAIRS)? {
        let mut text = || {
            let nbytes = number(take(4), PAIR_MAX_NBYTES)?;
            PyResult::Ok(take(nbytes))
        };
        let (key, value) = (text()?, text()?);
        if key.len().max(value.len()) < TEXT_MAX_NBYTES {
            pairs.push((String::from_utf8_lossy(key).into_owned(), String::from_utf8_lossy(value).into_owned()));
        }
    }
    Ok(pairs)
}

/// The type and name in a producer's structure.
fn field_of(schema: &FFI_ArrowSchema) -> PyResult<Field> {
    let field = Field::try_from(&copied(schema, 0, &mut 0)?).map_err(as_type_error)?;
    match field.data_type() {
        // The name of a table is no part of a column's.
        DataType::Struct(columns) if field.extension_type_name().is_none() => {
            columns.iter().try_for_each(|column| refuse(column, ""))?
        }
        _ => refuse(&field, "")?,
    }
    Ok(field)
}

/// TypeError if the type of the field, or of one below it, says what its values are and its bytes do not: equal digests
/// would not mean equal values.
fn refuse(field: &Field, path: &str) -> PyResult<()> {
    let path = match (path, field.name().as_str()) {
        ("", name) => name.to_owned(),
        (path, "") => path.to_owned(),
        (path, name) => format!("{path}.{name}"),
    };
    let unfit = match (field.extension_type_name(), field.data_type()) {
        (_, DataType::Union(..)) => Some("a union cannot be hashed: make it a struct of its members"),
        (Some("pandas.period"), _) => {
            Some("a period's bytes do not say its frequency: take .dt.to_timestamp() or .astype(\"str\")")
        }
        (Some("pandas.interval"), _) => Some(
            "an interval's bytes do not say which sides are closed: take .astype(\"str\"), or its sides as columns",
        ),
        _ => None,
    };
    if let Some(unfit) = unfit {
        return Err(PyTypeError::new_err(format!("column {path:?}: {unfit}")));
    }
    match field.data_type() {
        DataType::Struct(fields) => fields.iter().try_for_each(|field| refuse(field, &path)),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _)
        | DataType::RunEndEncoded(_, field) => refuse(field, &path),
        DataType::Dictionary(_, values) => {
            let extension = field.metadata().get(VALUES_EXTENSION).map(String::as_str);
            refuse(&encoded(field, extension, Field::new("", (**values).clone(), true)), &path)
        }
        _ => Ok(()),
    }
}

/// The values of a dictionary or of runs, with the extension that they are: their own one, or that of the whole, as
/// some libraries have it.
pub fn encoded(whole: &Field, own: Option<&str>, values: Field) -> Field {
    let name = own.or(whole.extension_type_name()).map(|name| (EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned()));
    let mut metadata = values.metadata().clone();
    metadata.extend(name);
    values.with_metadata(metadata)
}

/// What an object with `__arrow_c_array__` or `__arrow_c_stream__` gives: its type and name, and its arrays as they
/// come.
pub struct Arrays {
    pub field: Field,
    stream: Option<Stream>,
    array: Option<ArrayData>,
}

impl Arrays {
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Arrays> {
        if object.hasattr("__arrow_c_array__")? {
            let pair = object.call_method0("__arrow_c_array__")?;
            let Ok((schema, array)) = pair.extract::<(Bound<'_, PyCapsule>, Bound<'_, PyCapsule>)>() else {
                let pair = pair.cast::<PyTuple>().map_or_else(|_| pair.get_type().to_string(), |pair| pair.to_string());
                return Err(PyTypeError::new_err(format!("__arrow_c_array__ gave {pair:.200}: expected two capsules")));
            };
            let schema = structure::<FFI_ArrowSchema>(&schema, SCHEMA)?;
            let array = structure::<FFI_ArrowArray>(&array, ARRAY)?;
            // SAFETY: a capsule of this name has this structure, and lives until the end of this function.
            let (field, array) = unsafe { (field_of(&*schema)?, FFI_ArrowArray::from_raw(array)) };
            let array = owned(array, field.data_type())?;
            return Ok(Arrays { field, stream: None, array: Some(array) });
        }
        let capsule = object.call_method0("__arrow_c_stream__")?;
        let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
            let kind = capsule.get_type();
            PyTypeError::new_err(format!("__arrow_c_stream__ gave {kind}: expected a capsule"))
        })?;
        let place = structure::<Stream>(capsule, STREAM)?;
        // SAFETY: a capsule of this name has this structure. The stream is moved, as the interface wants it.
        let mut stream = unsafe { ptr::replace(place, Stream::RELEASED) };
        if stream.release.is_none() {
            return Err(PyValueError::new_err("the Arrow stream was read before"));
        }
        let Some(get_schema) = stream.get_schema else { return Err(incomplete()) };
        let mut schema = FFI_ArrowSchema::empty();
        // SAFETY: the producer's function, on its stream. Threads of the producer may need the lock of the interpreter.
        match object.py().detach(|| unsafe { get_schema(&mut stream, &mut schema) }) {
            0 => Ok(Arrays { field: field_of(&schema)?, stream: Some(stream), array: None }),
            status => Err(stream.error(status)),
        }
    }

    /// The next array. Threads of the producer may need the lock of the interpreter, so the caller does not hold it.
    pub fn next(&mut self) -> PyResult<Option<ArrayData>> {
        let Some(stream) = &mut self.stream else { return Ok(self.array.take()) };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the producer's function, on its stream.
        let status = unsafe { stream.get_next.ok_or_else(incomplete)?(stream, &mut array) };
        if status != 0 {
            return Err(stream.error(status));
        }
        if array.is_released() {
            self.stream = None;
            return Ok(None);
        }
        owned(array, self.field.data_type()).map(Some)
    }
}

fn incomplete() -> PyErr {
    PyValueError::new_err("the Arrow stream is damaged: a function is missing")
}

fn owned(array: FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayData> {
    let owner = Arc::new(array);
    data(&owner, &owner, kind)
}

/// The number of children of an array.
fn nchildren(kind: &DataType) -> usize {
    match kind {
        DataType::Struct(fields) => fields.len(),
        DataType::Union(fields, _) => fields.len(),
        DataType::RunEndEncoded(..) => 2,
        DataType::Dictionary(..) => 0,
        kind => usize::from(kind.is_nested()),
    }
}

/// `array`, which `owner` is or contains, as data of arrow-rs.
fn data(owner: &Arc<FFI_ArrowArray>, array: &FFI_ArrowArray, kind: &DataType) -> PyResult<ArrayData> {
    if array.is_released() {
        return Err(damaged("its structure was released"));
    }
    let number = |number: i64| usize::try_from(number).map_err(|_| damaged("a negative number"));
    let (nrows, offset) = (number(array.length)?, number(array.offset)?);
    let nslots = nrows.checked_add(offset).filter(|&nslots| nslots <= MOST_NBYTES);
    let nslots = nslots.ok_or_else(|| damaged("more rows than a memory can have"))?;
    let nbuffers = number(array.n_buffers)?;
    let large = || damaged("more bytes than there is memory");
    let times = |width: usize| nslots.checked_mul(width).ok_or_else(large);
    // The address of a buffer.
    let place = |i: usize| {
        if array.buffers.is_null() || i >= nbuffers {
            ptr::null()
        } else {
            // SAFETY: the producer has this many pointers there.
            unsafe { array.buffers.add(i).read_unaligned() }.cast::<u8>()
        }
    };
    let buffer = |i: usize, nbytes: usize| match ptr::NonNull::new(place(i).cast_mut()) {
        _ if nbytes == 0 => Ok(Buffer::from_vec(Vec::<u128>::new())),
        _ if nbytes > MOST_NBYTES => Err(large()),
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
    // SAFETY: the producer has this many pointers to arrays there.
    let children = unsafe { listed(array.children, array.n_children, damaged) }?;
    if children.len() != nchildren(kind) {
        return Err(damaged(&format!("{} children instead of {}", children.len(), nchildren(kind))));
    }
    let child = |i: usize, kind: &DataType| data(owner, children[i], kind);
    let (nbuffers_wanted, mut buffers, children) = match kind {
        DataType::Null => (nbuffers, Vec::new(), Vec::new()),
        DataType::Utf8 | DataType::Binary => (3, ended(4)?, Vec::new()),
        DataType::LargeUtf8 | DataType::LargeBinary => (3, ended(8)?, Vec::new()),
        DataType::Utf8View | DataType::BinaryView => {
            // Validity, views, the buffers of long values, and the lengths of these.
            let nlong = nbuffers.checked_sub(3).ok_or_else(|| damaged("a buffer is missing"))?;
            if i32::try_from(nlong).is_err() {
                return Err(damaged("more buffers than views can name"));
            }
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
            // SAFETY: the producer's structure.
            let dictionary =
                unsafe { referenced(array.dictionary) }.ok_or_else(|| damaged("a dictionary is missing"))?;
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
    // The interface allows any alignment.
    for (buffer, spec) in buffers.iter_mut().zip(&layout(kind).buffers) {
        if let BufferSpec::FixedWidth { alignment, .. } = spec {
            if buffer.as_ptr().align_offset(*alignment) != 0 {
                *buffer = memory::aligned(buffer)?;
            }
        }
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

/// The arrays that a stream of this module gives. They are asked for on any thread, without the interpreter's lock.
pub type Exported = Box<dyn Iterator<Item = PyResult<ArrayData>> + Send>;

/// A PyCapsule with a stream of the arrays.
pub fn stream<'py>(py: Python<'py>, field: Arc<Field>, arrays: Exported) -> PyResult<Bound<'py, PyCapsule>> {
    let content = Box::new(Content { field, arrays, error: None });
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
    arrays: Exported,
    error: Option<CString>,
}

impl Content {
    /// Keeps the text of an error for the consumer, and returns its status: that of errno.h.
    fn fail(&mut self, error: PyErr) -> c_int {
        let (text, status) = attached(|py| {
            let text = error.value(py).to_string();
            if error.is_instance_of::<PyKeyboardInterrupt>(py) {
                // The consumer raises an error of its own. Python raises the interruption when its code goes on.
                // SAFETY: the interpreter's lock is held, though no lock is needed.
                unsafe { pyo3::ffi::PyErr_SetInterrupt() };
                return ("interrupted".to_owned(), libc::EINTR);
            }
            (text, if error.is_instance_of::<PyMemoryError>(py) { libc::ENOMEM } else { libc::EINVAL })
        })
        .unwrap_or_else(|| ("Python has ended".to_owned(), libc::EINVAL));
        self.error = CString::new(text.replace('\0', "?")).ok();
        status
    }
}

/// # Safety
///
/// `stream` is one of `stream()`, not released, and no other reference to its content exists.
unsafe fn content<'a>(stream: *mut Stream) -> &'a mut Content {
    // SAFETY: the caller's promise.
    unsafe { &mut *(*stream).private_data.cast::<Content>() }
}

unsafe extern "C" fn get_schema(stream: *mut Stream, out: *mut FFI_ArrowSchema) -> c_int {
    // SAFETY: the consumer gives its stream and room for the structure.
    let content = unsafe { content(stream) };
    match FFI_ArrowSchema::try_from(&*content.field) {
        Ok(schema) => {
            // SAFETY: as above.
            unsafe { out.write(schema) };
            0
        }
        Err(error) => content.fail(as_type_error(error)),
    }
}

unsafe extern "C" fn get_next(stream: *mut Stream, out: *mut FFI_ArrowArray) -> c_int {
    // SAFETY: the consumer gives its stream.
    let content = unsafe { content(stream) };
    let mut next = || content.arrays.next().transpose();
    // The consumer may hold the interpreter's lock, and threads of the producer may need it. A panic must not reach C.
    let next = catch_unwind(AssertUnwindSafe(|| {
        attached(|py| py.detach(&mut next)).unwrap_or_else(|| Err(PyValueError::new_err("Python has ended")))
    }));
    match next.unwrap_or_else(|_| Err(PyValueError::new_err("hashloom ended by a panic: this is a bug"))) {
        Ok(next) => {
            // SAFETY: the consumer gives room for the structure. A released structure is the end.
            unsafe { out.write(next.map_or_else(FFI_ArrowArray::empty, |array| FFI_ArrowArray::new(&array))) };
            0
        }
        Err(error) => content.fail(error),
    }
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
