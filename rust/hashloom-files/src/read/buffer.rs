// SPDX-License-Identifier: MIT OR Apache-2.0

//! Large buffers. A library does not end its host when there is no memory for them.

use std::alloc::{Layout, alloc_zeroed};
use std::io;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, OnceLock};

use crate::run::lock;

/// Zeros from the system: pages that are never used take no memory. `nbytes` must not be 0.
pub fn zeros(nbytes: usize) -> Option<Vec<u8>> {
    assert!(nbytes > 0);
    let layout = Layout::array::<u8>(nbytes).ok()?;
    // SAFETY: the layout has at least one byte.
    let start = unsafe { alloc_zeroed(layout) };
    // SAFETY: the global allocator gave `nbytes` bytes of this layout, all of them zero, and nobody else has them.
    (!start.is_null()).then(|| unsafe { Vec::from_raw_parts(start, nbytes, nbytes) })
}

/// The error if there is no memory.
pub fn out_of_memory() -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

/// Buffers of [`Arena::BUFFER_NBYTES`] bytes each, aligned to their length, in huge pages where the system has them.
///
/// A disk writes into a huge page in one go. Seconds to read 500 MB past the page cache of a virtual disk, by one
/// thread, and of CPU: 0.63 and 0.051 into pages of 4 KiB, 0.27 and 0.024 into huge pages.
pub(crate) struct Arena {
    count: usize,
    /// `None` if there is no memory. Taken from the system when the first buffer is.
    memory: OnceLock<Option<Memory>>,
    /// The buffers that are free, by their number.
    free: Mutex<Vec<usize>>,
}

/// Memory that is only used through buffers.
struct Memory {
    /// A vector taken apart.
    bytes: *mut u8,
    nbytes: usize,
    /// The first buffer.
    start: *mut u8,
}

// SAFETY: the bytes are used only through buffers, and no two of these share a byte.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// A buffer of an [`Arena`].
pub(crate) struct Buffer {
    arena: Arc<Arena>,
    number: usize,
}

impl Arena {
    pub(crate) const BUFFER_NBYTES: usize = 1 << 20;

    /// The size of a huge page.
    const HUGE_NBYTES: usize = 2 << 20;

    pub(crate) fn new(count: usize) -> Arc<Arena> {
        // The first buffers are used first.
        Arc::new(Arena { count, memory: OnceLock::new(), free: Mutex::new((0..count).rev().collect()) })
    }

    /// False if there was no memory for the buffers.
    pub(crate) fn has_memory(&self) -> bool {
        !matches!(self.memory.get(), Some(None))
    }

    /// A buffer; `None` if all are in use, or there is no memory.
    pub(crate) fn take(self: &Arc<Arena>) -> Option<Buffer> {
        self.memory.get_or_init(|| Memory::new(self.count * Arena::BUFFER_NBYTES)).as_ref()?;
        // The buffer that was used last is most likely in a cache of the CPU.
        let number = lock(&self.free).pop()?;
        Some(Buffer { arena: self.clone(), number })
    }
}

impl Memory {
    fn new(nbytes: usize) -> Option<Memory> {
        let mut bytes = ManuallyDrop::new(zeros(nbytes.checked_add(Arena::HUGE_NBYTES)?)?);
        let offset = bytes.as_ptr().align_offset(Arena::HUGE_NBYTES).min(Arena::HUGE_NBYTES);
        let start = bytes[offset..].as_mut_ptr();
        #[cfg(any(target_os = "linux", target_os = "android"))]
        // SAFETY: these are whole pages of the vector, which stay as they are. The result does not matter.
        unsafe {
            libc::madvise(start.cast(), nbytes, libc::MADV_HUGEPAGE);
        }
        Some(Memory { nbytes: bytes.len(), bytes: bytes.as_mut_ptr(), start })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: this was a vector of this length and capacity, and all buffers are gone: each has the arena.
        drop(unsafe { Vec::from_raw_parts(self.bytes, self.nbytes, self.nbytes) });
    }
}

impl Buffer {
    fn start(&self) -> *mut u8 {
        let Some(Some(memory)) = self.arena.memory.get() else { unreachable!("a buffer has memory") };
        // SAFETY: `count` buffers follow one another from the first.
        unsafe { memory.start.add(self.number * Arena::BUFFER_NBYTES) }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: nobody else has this number, and its bytes are initialized.
        unsafe { std::slice::from_raw_parts(self.start(), Arena::BUFFER_NBYTES) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: nobody else has this number, and its bytes are initialized.
        unsafe { std::slice::from_raw_parts_mut(self.start(), Arena::BUFFER_NBYTES) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        lock(&self.arena.free).push(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_apart_and_come_back() {
        let arena = Arena::new(3);
        let mut buffers: Vec<Buffer> = (0..3).map(|_| arena.take().unwrap()).collect();
        assert!(arena.take().is_none());
        for (number, buffer) in buffers.iter_mut().enumerate() {
            assert!(buffer.bytes().as_ptr().addr() % Arena::BUFFER_NBYTES == 0);
            buffer.bytes_mut().fill(number as u8);
        }
        for (number, buffer) in buffers.iter().enumerate() {
            assert!(buffer.bytes().iter().all(|&byte| byte == number as u8));
        }
        drop(buffers.swap_remove(1));
        assert_eq!(arena.take().unwrap().bytes()[0], 1, "the one that was used last");
    }

    #[test]
    fn no_memory_is_no_buffer() {
        for nbytes in [isize::MAX as usize / 2, isize::MAX as usize, usize::MAX] {
            assert!(Memory::new(nbytes).is_none());
        }
    }
}
