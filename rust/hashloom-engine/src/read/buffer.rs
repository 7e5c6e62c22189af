// SPDX-License-Identifier: MIT OR Apache-2.0

//! Large buffers, which may not be to be had: a library does not end its host for them.

use std::alloc::{Layout, alloc_zeroed};
use std::io;

/// Zeros from the system: pages that are never used are never there. `nbytes` is not 0.
pub(crate) fn zeros(nbytes: usize) -> Option<Vec<u8>> {
    assert!(nbytes > 0);
    let layout = Layout::array::<u8>(nbytes).ok()?;
    // SAFETY: the layout is not of no bytes.
    let start = unsafe { alloc_zeroed(layout) };
    // SAFETY: so many bytes of this layout are the global allocator's, all of them zero, and nobody else has them.
    (!start.is_null()).then(|| unsafe { Vec::from_raw_parts(start, nbytes, nbytes) })
}

/// What is said where there are none.
pub(crate) fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}
