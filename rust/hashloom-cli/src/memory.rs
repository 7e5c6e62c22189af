// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns a failed allocation into an ordinary error, not a crash that leaves a core.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::EXIT_ERROR;
use crate::output;

/// The system's allocator. If memory runs out, the program says so, removes half-written files, and exits.
pub struct OrExit;

// SAFETY: every call goes to the system allocator, which keeps the promises.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the conditions.
        or_exit(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the conditions.
        or_exit(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, nbytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the conditions.
        or_exit(unsafe { System.realloc(old, layout, nbytes) }, nbytes)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the conditions.
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
    // The exit itself needs memory and got none.
    if IS_ENDING.replace(true) {
        std::process::exit(EXIT_ERROR.into());
    }
    // Another thread is ending the program.
    while ENDS.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
    }
    // Nothing here needs memory, except the removal of a file with a long name. The message is one write: another thread
    // may be about to end the program, as glibc does if it has no memory for the destructors of a thread that begins.
    let mut message = [0; 128];
    let mut rest = &mut message[..];
    let _ = writeln!(rest, "hashloom: out of memory: the system refused {nbytes} bytes; allow the program more");
    let nleft = rest.len();
    let _ = io::stderr().write_all(&message[..message.len() - nleft]);
    output::exit(EXIT_ERROR)
}
