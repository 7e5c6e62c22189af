// SPDX-License-Identifier: MIT OR Apache-2.0

//! Turns a failed allocation into an ordinary error, not a crash that leaves a core. And limits what a decoder of
//! foreign bytes takes at once.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Write};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::exit::EXIT_ERROR;
use crate::output;

/// The system's allocator. If memory runs out, the program says so, removes half-written files, and exits.
pub struct OrExit;

// SAFETY: every call goes to the system allocator, which keeps the promises.
unsafe impl GlobalAlloc for OrExit {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() > SMALL_NBYTES && layout.size() > MOST.get() {
            return std::ptr::null_mut();
        }
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

/// No decoder of foreign bytes needs less.
const SMALL_NBYTES: usize = 4 << 20;

thread_local! {
    /// No more is given to this thread at once.
    static MOST: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Calls `does` while this thread is refused, as if there was no memory, what has more than `nbytes` and 4 MiB. Code
/// that then panics does it without a word.
pub fn below<T>(nbytes: usize, does: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if MOST.get() == usize::MAX {
                tell(info);
            }
        }));
    });
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            MOST.set(usize::MAX);
        }
    }
    let _end = End;
    MOST.set(nbytes);
    does()
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
    // Nothing here needs memory, except the removal of a file with a long name. The message is one write: another
    // thread may be about to end the program, as glibc does if it has no memory for the destructors of a thread that
    // begins.
    let mut message = [0; 128];
    let mut rest = &mut message[..];
    let _ = writeln!(rest, "hashloom: out of memory: the system refused {nbytes} bytes; allow the program more");
    let nleft = rest.len();
    let _ = io::stderr().write_all(&message[..message.len() - nleft]);
    output::exit(EXIT_ERROR)
}
