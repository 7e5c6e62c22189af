// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of Python objects: `bytes`, and whatever has the buffer protocol.
//!
//! The buffer protocol joined the stable ABI in Python 3.11, and PyO3 has none of it below. Python 3.10 exports the
//! same functions with the same layout, so this module declares them itself.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

const WITH_FORMAT: c_int = 0x4;
const WITH_SHAPE: c_int = 0x8;
const WITH_STRIDES: c_int = 0x10 | WITH_SHAPE;

/// `Py_buffer`, unchanged since Python 3.3.
#[repr(C)]
struct View {
    buf: *mut c_void,
    obj: *mut pyo3::ffi::PyObject,
    nbytes: isize,
    item_nbytes: isize,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut isize,
    strides: *mut isize,
    suboffsets: *mut isize,
    internal: *mut c_void,
}

// A library of Windows names the one that has a function; PyO3 names this one for its own functions.
#[cfg_attr(windows, link(name = "python3", kind = "raw-dylib"))]
unsafe extern "C" {
    fn PyObject_CheckBuffer(object: *mut pyo3::ffi::PyObject) -> c_int;
    fn PyObject_GetBuffer(object: *mut pyo3::ffi::PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut View);
}

/// A buffer, released when dropped. While it lives the memory stays where it is: a `bytearray` cannot be resized.
///
/// Another thread may write to the memory while it is hashed, as with hashlib. The digest is then that of an unknown
/// mixture.
pub struct Buffer<'py> {
    /// In a box, as `shape` may point into the view.
    view: Box<View>,
    attached: PhantomData<Bound<'py, PyAny>>,
}

impl<'py> Buffer<'py> {
    fn get(object: &Bound<'py, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::new(View {
            buf: ptr::null_mut(),
            obj: ptr::null_mut(),
            nbytes: 0,
            item_nbytes: 0,
            readonly: 0,
            ndim: 0,
            format: ptr::null_mut(),
            shape: ptr::null_mut(),
            strides: ptr::null_mut(),
            suboffsets: ptr::null_mut(),
            internal: ptr::null_mut(),
        });
        // SAFETY: the object is alive, the thread is attached, and the view has the layout of Py_buffer.
        match unsafe { PyObject_GetBuffer(object.as_ptr(), &mut *view, flags) } {
            0 => Ok(Buffer { view, attached: PhantomData }),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    /// Whether the object has the buffer protocol.
    pub fn is_one(object: &Bound<'py, PyAny>) -> bool {
        // SAFETY: the object is alive, and the thread is attached.
        unsafe { PyObject_CheckBuffer(object.as_ptr()) != 0 }
    }

    /// The bytes of a buffer without gaps, whatever its dimensions. Objects are refused: their bytes are addresses.
    pub fn contiguous(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let buffer = Buffer::get(object, WITH_FORMAT | WITH_SHAPE)?;
        if buffer.has_objects() { Err(holds_objects()) } else { Ok(buffer) }
    }

    /// A buffer with its dimensions.
    pub fn array(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        Buffer::get(object, WITH_FORMAT | WITH_STRIDES)
    }

    pub fn ndim(&self) -> usize {
        self.view.ndim as usize
    }

    /// Whether the items are pointers to Python objects, as in numpy's arrays of dtype object.
    pub fn has_objects(&self) -> bool {
        // SAFETY: a format that is not NULL is a string that lives as long as the view.
        let format = (!self.view.format.is_null()).then(|| unsafe { CStr::from_ptr(self.view.format) }.to_bytes());
        // Between colons are names of fields.
        format.is_some_and(|format| format.split(|&byte| byte == b':').step_by(2).any(|kinds| kinds.contains(&b'O')))
    }

    /// All bytes of a buffer from [`contiguous`](Buffer::contiguous).
    fn bytes(&self) -> &[u8] {
        // SAFETY: an exporter without PyBUF_STRIDES gives nbytes bytes at buf, valid until the release.
        unsafe { slice(self.view.buf, self.view.nbytes as usize) }
    }

    /// The rows of a buffer with two dimensions.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        if self.has_objects() {
            return Err(holds_objects());
        }
        let view = &*self.view;
        assert!(view.ndim == 2 && !view.shape.is_null() && !view.strides.is_null());
        // SAFETY: shape and strides, which PyBUF_STRIDES asks for, have ndim integers.
        let ([count, width], [stride, step]) =
            unsafe { (*view.shape.cast::<[isize; 2]>(), *view.strides.cast::<[isize; 2]>()) };
        let nbytes = width * view.item_nbytes;
        if (width > 1 && step != view.item_nbytes) || (count > 1 && stride < 0) {
            return Err(PyBufferError::new_err(
                "the bytes of a row are not side by side, or the rows go backwards: make a copy first, for instance by \
                 numpy.ascontiguousarray",
            ));
        }
        let (count, nbytes) = (count as usize, nbytes as usize);
        let stride = if count > 1 { stride as usize } else { nbytes };
        let span = if count == 0 { 0 } else { (count - 1) * stride + nbytes };
        // SAFETY: the exporter's own shape and strides say that these bytes belong to the buffer.
        Ok(Rows { data: unsafe { slice(view.buf, span) }, stride, nbytes, count })
    }
}

fn holds_objects() -> PyErr {
    PyTypeError::new_err("the array holds Python objects, not bytes: give a list of bytes instead")
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the view was filled by PyObject_GetBuffer; the thread is attached, as a Buffer is not Send.
        unsafe { PyBuffer_Release(&mut *self.view) }
    }
}

/// # Safety
/// If `nbytes` is not 0, that many bytes are at `start`, for the lifetime that the caller chooses.
unsafe fn slice<'a>(start: *const c_void, nbytes: usize) -> &'a [u8] {
    if nbytes == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(start.cast(), nbytes) }
}

/// Messages of one length at a constant distance.
pub struct Rows<'a> {
    pub data: &'a [u8],
    pub stride: usize,
    pub nbytes: usize,
    pub count: usize,
}

/// The bytes of one message, kept alive.
pub enum Data<'py> {
    Bytes(Bound<'py, PyBytes>),
    Buffer(Buffer<'py>),
}

impl<'py> Data<'py> {
    /// The errors are hashlib's: TypeError for text and for objects without the buffer protocol, and the exporter's own
    /// error for a buffer with gaps.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Data::Bytes(bytes.clone()));
        }
        if object.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("Strings must be encoded before hashing: write text.encode()"));
        }
        if !Buffer::is_one(object) {
            let message = format!("object supporting the buffer API required, not {}", object.get_type().name()?);
            return Err(PyTypeError::new_err(message));
        }
        Ok(Data::Buffer(Buffer::contiguous(object)?))
    }

    /// Like [`of`](Data::of), for the argument of this name.
    pub fn named(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        Data::of(object).map_err(|error| {
            let py = object.py();
            PyErr::from_type(error.get_type(py), format!("{name}: {}", error.value(py)))
        })
    }

    /// The bytes of each object of an iterable. `what` names one of them in errors.
    pub fn of_all(objects: &Bound<'py, PyAny>, what: &str) -> PyResult<Vec<Self>> {
        let expected = |objects: &Bound<'py, PyAny>| {
            let name = objects.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "expected a list or another iterable of bytes, one for each {what}, found {name}"
            ))
        };
        if objects.is_instance_of::<PyString>() || objects.is_instance_of::<PyBytes>() {
            return Err(expected(objects));
        }
        let of = |(position, object): (usize, PyResult<Bound<'py, PyAny>>)| {
            let object = object?;
            Data::of(&object).map_err(|error| at(object.py(), error, what, position))
        };
        objects.try_iter().map_err(|_| expected(objects))?.enumerate().map(of).collect()
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Data::Bytes(bytes) => bytes.as_bytes(),
            Data::Buffer(buffer) => buffer.bytes(),
        }
    }
}

/// Bytes that their owner keeps in place for other threads.
pub struct Held {
    start: *const u8,
    nbytes: usize,
}

impl Held {
    /// # Safety
    /// The owner of the bytes must outlive the value.
    #[inline]
    pub unsafe fn new(bytes: &[u8]) -> Held {
        Held { start: bytes.as_ptr(), nbytes: bytes.len() }
    }
}

// SAFETY: the bytes are only read, and the memory belongs to no thread.
unsafe impl Send for Held {}
// SAFETY: as above.
unsafe impl Sync for Held {}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: both are of a slice that its owner keeps in place, as `new` demands.
        unsafe { std::slice::from_raw_parts(self.start, self.nbytes) }
    }
}

/// The error of one object among many, with its position in front. The class stays.
pub fn at(py: Python<'_>, error: PyErr, what: &str, position: usize) -> PyErr {
    PyErr::from_type(error.get_type(py), format!("{what} {position}: {}", error.value(py)))
}

/// An argument that may be missing, which differs from None.
#[derive(Default)]
pub struct Given<'py>(pub Option<Bound<'py, PyAny>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Given<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        Ok(Given(Some(object.to_owned())))
    }
}
