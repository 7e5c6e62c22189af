// SPDX-License-Identifier: MIT OR Apache-2.0

//! Memory that cannot be had: an error as any other, not a crash that leaves a core.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::{EXIT_ERROR, output};

/// The system's memory. Where there is no more the program says so, removes what is half-written, and exits.
pub struct OrExit;

// SAFETY: all is the system allocator's, which keeps the promises.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's.
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, nbytes: usize) -> *mut u8 {
        // SAFETY: the caller's.
        or_exit(unsafe { System.realloc(old, layout, nbytes) }, nbytes)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller's.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn or_exit(memory: *mut u8, nbytes: usize) -> *mut u8 {
    if memory.is_null() {
        exit(nbytes);
    }
    memory
}

#[cold]
fn exit(nbytes: usize) -> ! {
    thread_local!(static IS_ENDING: Cell<bool> = const { Cell::new(false) });
    static ENDS: AtomicBool = AtomicBool::new(false);
    // What was to be done at the end wants memory too.
    if IS_ENDING.replace(true) {
        std::process::exit(EXIT_ERROR.into());
    }
    // Another thread sees to it.
    while ENDS.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Nothing here wants memory, but for the removal of a file with a long name.
    let _ = writeln!(io::stderr(), "error: out of memory: {nbytes} bytes more cannot be had; allow the program more");
    output::exit(EXIT_ERROR)
}
