// SPDX-License-Identifier: MIT OR Apache-2.0
//! A value that threads of Python share.
//!
//! In an interpreter with one lock, a thread that holds the lock has the value alone, unless another thread is at work
//! without the lock. Only then does the thread lock a mutex: for a message of 16 bytes that would take a fifth of the
//! time. In an interpreter without the lock every thread locks the mutex.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

/// From this length on the GIL is released while a message is hashed, as in hashlib.
pub const DETACH_NBYTES: usize = 2048;

/// Whether a thread that is attached has all others stand still. It never becomes false.
static HAS_ONE_LOCK: AtomicBool = AtomicBool::new(false);

/// Asks the interpreter. Since 3.13 there are some without the one lock, until a module wants it.
pub fn look(py: Python<'_>) -> PyResult<()> {
    let system = py.import("sys")?;
    let has_one_lock = match system.getattr_opt("_is_gil_enabled")? {
        Some(is_enabled) => is_enabled.call0()?.extract()?,
        None => true,
    };
    HAS_ONE_LOCK.store(has_one_lock, Ordering::Relaxed);
    Ok(())
}

pub struct Shared<T> {
    value: UnsafeCell<T>,
    lock: Mutex<()>,
    /// Threads that use the value while they are not attached. Changes only in attached threads.
    nwithout: AtomicUsize,
}

// SAFETY: one thread at a time has the value: see `with` and `Without::lock`.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T: Send> Shared<T> {
    pub fn new(value: T) -> Shared<T> {
        Shared { value: UnsafeCell::new(value), lock: Mutex::new(()), nwithout: AtomicUsize::new(0) }
    }

    /// Calls a function on the value, which takes a short time and does not touch Python.
    #[inline]
    pub fn with<R>(&self, py: Python<'_>, work: impl FnOnce(&mut T) -> R) -> R {
        let is_alone = HAS_ONE_LOCK.load(Ordering::Relaxed) && self.nwithout.load(Ordering::Relaxed) == 0;
        let _locked = (!is_alone).then(|| self.lock.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner));
        // SAFETY: either this thread has the mutex, as all others that get here without the interpreter's lock, or it
        // has the interpreter's only lock until `work` returns, and no thread is at work without it.
        work(unsafe { &mut *self.value.get() })
    }

    /// Calls a function on the value: without the interpreter's lock if `nbytes` are worth it.
    pub fn work(&self, py: Python<'_>, nbytes: usize, work: impl FnOnce(&mut T) + Send) {
        if nbytes < DETACH_NBYTES {
            self.with(py, work);
        } else {
            let without = self.without(py);
            py.detach(|| without.lock().work(work));
        }
    }

    /// Lets this thread use the value when it is not attached. It is attached again when it drops the result.
    pub fn without<'a>(&'a self, _py: Python<'a>) -> Without<'a, T> {
        self.nwithout.fetch_add(1, Ordering::Relaxed);
        Without(self)
    }
}

pub struct Without<'a, T>(&'a Shared<T>);

impl<T> Without<'_, T> {
    pub fn lock(&self) -> Locked<'_, T> {
        Locked { value: &self.0.value, _locked: self.0.lock.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl<T> Drop for Without<'_, T> {
    fn drop(&mut self) {
        self.0.nwithout.fetch_sub(1, Ordering::Relaxed);
    }
}

pub struct Locked<'a, T> {
    value: &'a UnsafeCell<T>,
    _locked: MutexGuard<'a, ()>,
}

impl<T> Locked<'_, T> {
    pub fn work<R>(&mut self, work: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: this thread has the mutex, and while `Without` lives nobody goes without it.
        work(unsafe { &mut *self.value.get() })
    }
}
