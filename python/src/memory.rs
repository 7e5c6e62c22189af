// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory for long results.

use std::alloc::{Layout, alloc_zeroed};

use arrow_buffer::bit_util::set_bit;
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use pyo3::exceptions::PyMemoryError;
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
