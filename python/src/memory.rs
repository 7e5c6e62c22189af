// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for long results.

use std::alloc::{Layout, alloc_zeroed};

use arrow_buffer::bit_util::set_bit;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use pyo3::exceptions::PyMemoryError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The error for a result that does not fit into memory.
pub fn too_large(count: usize, width: usize) -> PyErr {
    let message = format!("{count} digests of {width} bytes do not fit into memory: hash a part at a time");
    PyMemoryError::new_err(message)
}

/// The error for anything else that does not fit into memory.
pub fn short(nbytes: usize) -> PyErr {
    PyMemoryError::new_err(format!("{nbytes} bytes do not fit into memory: hash a part at a time"))
}

/// A vector of `count * width` zeros, in huge pages where there are any. MemoryError if memory is short.
pub fn zeros(count: usize, width: usize) -> PyResult<Vec<u8>> {
    let nbytes = count.checked_mul(width).ok_or_else(|| too_large(count, width))?;
    let mut bytes = Vec::new();
    if nbytes > 0 {
        let layout = Layout::array::<u8>(nbytes).map_err(|_| too_large(count, width))?;
        // SAFETY: the layout has a size. The system gives zeros without touching their pages; a failure is NULL.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            return Err(too_large(count, width));
        }
        // SAFETY: the global allocator gave these bytes with the layout of such a vector, and all are zero.
        bytes = unsafe { Vec::from_raw_parts(start, nbytes, nbytes) };
        want_huge_pages(start, nbytes);
    }
    Ok(bytes)
}

/// A copy of bytes.
pub fn copied(bytes: &[u8]) -> PyResult<Vec<u8>> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len()).map_err(|_| short(bytes.len()))?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// A copy of a buffer, aligned for numbers of any width.
pub fn aligned(bytes: &[u8]) -> PyResult<Buffer> {
    const WIDTH: usize = size_of::<u128>();
    let mut words = Vec::<u128>::new();
    words.try_reserve_exact(bytes.len().div_ceil(WIDTH)).map_err(|_| short(bytes.len()))?;
    words.extend(bytes.chunks(WIDTH).map(|part| {
        let mut word = [0; WIDTH];
        word[..part.len()].copy_from_slice(part);
        u128::from_ne_bytes(word)
    }));
    Ok(Buffer::from_vec(words).slice_with_length(0, bytes.len()))
}

/// A bitmap of `count` rows of which `write` sets the bits of those that are not null.
pub fn validity(count: usize, write: impl FnOnce(&mut [u8])) -> PyResult<NullBuffer> {
    let mut bits = zeros(count.div_ceil(8), 1).map_err(|_| short(count.div_ceil(8)))?;
    write(&mut bits);
    Ok(NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, count)))
}

/// The rows that are null in one bitmap or the other.
pub fn union(one: Option<NullBuffer>, other: Option<NullBuffer>) -> PyResult<Option<NullBuffer>> {
    Ok(match (one, other) {
        (Some(one), Some(other)) => Some(validity(one.len(), |bits| {
            let valid = (0..one.len()).filter(|&row| one.is_valid(row) && other.is_valid(row));
            valid.for_each(|row| set_bit(bits, row));
        })?),
        (one, other) => one.or(other),
    })
}

/// Asks Linux for huge pages in memory that has not been touched yet: with pages of 4 KiB, page faults take as long as
/// hashing. Other systems and short memory stay as they are.
pub fn want_huge_pages(start: *const u8, nbytes: usize) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 2 << 20;
        let before = start.align_offset(PAGE);
        if let Some(nbytes) = nbytes.checked_sub(before).map(|rest| rest & !(PAGE - 1)).filter(|&nbytes| nbytes > 0) {
            // SAFETY: these are whole pages of the caller's memory; the advice changes no byte. A system without huge
            // pages refuses it.
            unsafe {
                libc::madvise(start.add(before).cast_mut().cast(), nbytes, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (start, nbytes);
}

/// Bytes of a result in a new object of Python: bytes, or a bytearray, whose memory a numpy array may share.
///
/// No API of Python lets bytes grow. They are written in place if their number was told before; otherwise they grow in
/// a bytearray, and are copied at the end.
pub struct Growing<'py> {
    py: Python<'py>,
    wants_array: bool,
    /// The object that is written to, which nobody else knows. NULL: no memory yet.
    object: *mut ffi::PyObject,
    is_array: bool,
    nbytes: usize,
    room: usize,
}

impl<'py> Growing<'py> {
    pub fn new(py: Python<'py>, wants_array: bool) -> Self {
        Growing { py, wants_array, object: std::ptr::null_mut(), is_array: wants_array, nbytes: 0, room: 0 }
    }

    pub fn nbytes(&self) -> usize {
        self.nbytes
    }

    /// Says the number of bytes before the first one is written. None: there is no memory.
    pub fn expect(&mut self, nbytes: usize) -> Option<()> {
        debug_assert!(self.object.is_null());
        let count = isize::try_from(nbytes).ok()?;
        // SAFETY: the thread is attached.
        self.object = unsafe {
            if self.is_array {
                ffi::PyByteArray_FromStringAndSize(std::ptr::null(), count)
            } else {
                ffi::PyBytes_FromStringAndSize(std::ptr::null(), count)
            }
        };
        self.made(!self.object.is_null(), nbytes)
    }

    fn made(&mut self, is_made: bool, room: usize) -> Option<()> {
        if !is_made {
            // The caller says what did not fit.
            drop(PyErr::take(self.py));
            return None;
        }
        self.room = room;
        want_huge_pages(self.start(), room);
        Some(())
    }

    fn start(&self) -> *mut u8 {
        // SAFETY: the object is of this type.
        unsafe {
            if self.is_array {
                ffi::PyByteArray_AsString(self.object).cast()
            } else {
                ffi::PyBytes_AsString(self.object).cast()
            }
        }
    }

    /// Gives a bytearray another length. None: there is no memory.
    fn resize(&mut self, nbytes: usize) -> Option<()> {
        let count = isize::try_from(nbytes).ok()?;
        // SAFETY: the object is a bytearray without another owner; the thread is attached.
        let is_made = unsafe { ffi::PyByteArray_Resize(self.object, count) } == 0;
        self.made(is_made, nbytes)
    }

    /// None: there is no memory.
    pub fn extend(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.nbytes.checked_add(bytes.len())?;
        if end > self.room {
            let room = end.max(self.room.checked_mul(3)? / 2);
            if !self.is_array || self.object.is_null() {
                let before = std::mem::replace(self, Growing::new(self.py, self.wants_array));
                self.is_array = true;
                self.expect(room)?;
                self.write(before.written());
            } else {
                self.resize(room)?;
            }
        }
        self.write(bytes);
        Some(())
    }

    fn written(&self) -> &[u8] {
        match self.nbytes {
            0 => &[],
            // SAFETY: these bytes were written, and nobody else writes.
            nbytes => unsafe { std::slice::from_raw_parts(self.start(), nbytes) },
        }
    }

    /// Writes bytes that there is room for.
    fn write(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            assert!(bytes.len() <= self.room - self.nbytes);
            // SAFETY: the object has room for these bytes, which belong to others.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start().add(self.nbytes), bytes.len()) };
            self.nbytes += bytes.len();
        }
    }

    /// The object. None: there is no memory.
    pub fn finish(mut self) -> Option<Bound<'py, PyAny>> {
        if self.object.is_null() {
            self.expect(0)?;
        }
        if self.is_array {
            self.resize(self.nbytes)?;
        }
        if self.is_array != self.wants_array || self.room != self.nbytes {
            let count = self.nbytes as isize;
            // SAFETY: the bytes lie in the object; the thread is attached.
            let bytes = unsafe { ffi::PyBytes_FromStringAndSize(self.start().cast(), count) };
            if bytes.is_null() {
                drop(PyErr::take(self.py));
                return None;
            }
            // SAFETY: a new object.
            return Some(unsafe { Bound::from_owned_ptr(self.py, bytes) });
        }
        let object = std::mem::replace(&mut self.object, std::ptr::null_mut());
        // SAFETY: the object has this one owner.
        Some(unsafe { Bound::from_owned_ptr(self.py, object) })
    }
}

impl Drop for Growing<'_> {
    fn drop(&mut self) {
        // SAFETY: the object is NULL or has this one owner; the thread is attached.
        unsafe { ffi::Py_XDECREF(self.object) }
    }
}
