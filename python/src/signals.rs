// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals of Python in long work on the caller's thread, which does not hold the interpreter's lock.

use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;

/// The time between two looks, and between two reports of progress.
pub const TICK: Duration = Duration::from_millis(50);

pub struct Signals {
    next: Instant,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals { next: Instant::now() + TICK }
    }
}

impl Signals {
    pub fn new() -> Signals {
        Signals::default()
    }

    /// Whether the last look was long ago. The next one is then due a tick from now.
    pub fn is_due(&mut self) -> bool {
        let now = Instant::now();
        let is_due = now >= self.next;
        if is_due {
            self.next = now + TICK;
        }
        is_due
    }

    /// Lets Python handle signals, if the last look was long ago: the error of a handler, such as KeyboardInterrupt.
    pub fn check(&mut self) -> PyResult<()> {
        if !self.is_due() {
            return Ok(());
        }
        attached(|py| py.check_signals()).unwrap_or(Ok(()))
    }
}

/// Calls a function with the interpreter's lock, which the thread may hold or not; `None` if Python has ended.
///
/// PyO3 alone takes the lock for held if one of its functions is below on the stack, but a function of C between may
/// have released it: DuckDB runs functions in Python within __arrow_c_stream__, and pyarrow reads columns without the
/// lock.
pub fn attached<T>(f: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    struct Held(ffi::PyGILState_STATE);
    impl Drop for Held {
        fn drop(&mut self) {
            // SAFETY: the state is that of the call below, on this thread.
            unsafe { ffi::PyGILState_Release(self.0) }
        }
    }
    // SAFETY: any thread may ask this, and take the lock of an interpreter that runs.
    let _held = unsafe { (ffi::Py_IsInitialized() != 0).then(|| Held(ffi::PyGILState_Ensure()))? };
    Python::try_attach(f)
}
