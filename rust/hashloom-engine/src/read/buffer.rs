// SPDX-License-Identifier: MIT OR Apache-2.0

//! Large buffers. A library does not end its host when there is no memory for them.

use std::alloc::{Layout, alloc_zeroed};
use std::io;

/// Zeros from the system: pages that are never used take no memory. `nbytes` must not be 0.
pub(crate) fn zeros(nbytes: usize) -> Option<Vec<u8>> {
    assert!(nbytes > 0);
    let layout = Layout::array::<u8>(nbytes).ok()?;
    // SAFETY: the layout has at least one byte.
    let start = unsafe { alloc_zeroed(layout) };
    // SAFETY: the global allocator gave `nbytes` bytes of this layout, all of them zero, and nobody else has them.
    (!start.is_null()).then(|| unsafe { Vec::from_raw_parts(start, nbytes, nbytes) })
}

/// The error if there is no memory.
pub(crate) fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
