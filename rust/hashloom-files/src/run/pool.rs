// SPDX-License-Identifier: MIT OR Apache-2.0

//! Threads that do one piece of work together, by the rules of the [module above](super).
//!
//! A panic of one thread, from a callback or an iterator of the caller, stops the others as cancelling does: each
//! thread looks at [`Pool::must_stop`] before anything that takes long, and a thread that waits for another looks every
//! [`LOOK`]. When all have ended, the panic continues in the caller's thread with its payload.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Options;

/// The longest time that a thread waits before it looks whether it must stop.
pub const LOOK: Duration = Duration::from_millis(50);

/// Threads, and the flags that stop them.
pub struct Pool {
    options: Options,
    /// Number of threads, running or still to be started.
    count: AtomicUsize,
    has_panicked: AtomicBool,
    /// The payload of the first panic.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Pool {
    /// A pool of `count` threads, one at least, fewer where there is little memory; stopped as `options` say.
    pub fn new(count: usize, options: &Options) -> Pool {
        let count = count.min(room_for()).max(1);
        Pool {
            options: options.clone(),
            count: count.into(),
            has_panicked: AtomicBool::new(false),
            payload: Mutex::default(),
        }
    }

    /// Number of threads; less than planned once the system gives no more.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether the work was cancelled, or a thread has panicked.
    pub fn must_stop(&self) -> bool {
        self.has_panicked.load(Ordering::Relaxed) || self.options.canceller().is_cancelled()
    }

    /// Whether there is a limit on the bytes read in a second.
    pub(crate) fn is_limited(&self) -> bool {
        self.options.is_limited()
    }

    /// Calls `wait`, in which a thread waits for other threads or for the caller, not for a disk.
    pub(crate) fn idle<R>(&self, wait: impl FnOnce() -> R) -> R {
        match &self.options.meter {
            Some(meter) => meter.idle(wait),
            None => wait(),
        }
    }

    /// Pays for bytes that were read, if there is a limit.
    pub(crate) fn pay(&self, nbytes: u64) {
        self.options.pay(nbytes, &|| self.must_stop());
    }

    /// Whether no other thread may start.
    pub(crate) fn is_alone(&self) -> bool {
        self.options.is_alone()
    }

    /// Calls `work`, whose panic stops all threads.
    pub(crate) fn catch(&self, work: impl FnOnce()) {
        // State left half-done by a panic is dropped with the pool, as nothing continues after it.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.has_panicked.store(true, Ordering::Relaxed);
            lock(&self.payload).get_or_insert(payload);
        }
    }

    /// Calls `work` on each thread with buffers of its own, and returns when all threads have ended. A thread without
    /// memory for buffers ends at once. If the caller's thread is the one, nothing is done and the result is false.
    ///
    /// # Panics
    /// If a thread has panicked, with its payload.
    pub fn work<B>(&self, buffers: impl Fn() -> Option<B> + Sync, work: impl Fn(B) + Sync) -> bool {
        let Some(own) = buffers() else { return false };
        let work = |buffers| {
            let _working = self.options.meter.as_ref().map(|meter| meter.begin(self.options.rate.as_ref()));
            self.catch(|| work(buffers));
        };
        std::thread::scope(|scope| {
            let count = self.count();
            let begin = || match buffers() {
                Some(buffers) => work(buffers),
                None => drop(self.count.fetch_sub(1, Ordering::Relaxed)),
            };
            let mut others = Vec::new();
            for number in 1..count {
                let builder = std::thread::Builder::new().name(format!("hashloom-{number}"));
                let Ok(other) = builder.spawn_scoped(scope, begin) else {
                    self.count.fetch_sub(count - number, Ordering::Relaxed);
                    break;
                };
                others.push(other);
            }
            work(own);
            join(others);
        });
        let payload = lock(&self.payload).take();
        if let Some(payload) = payload {
            resume_unwind(payload);
        }
        true
    }
}

/// Locks a mutex, also after a panic of a thread that had it: the pool ends all work after a panic, and a mutex of this
/// crate has nothing half-done behind it.
///
/// ```
/// let counter = std::sync::Mutex::new(0);
/// *hashloom_files::run::lock(&counter) += 1;
/// assert_eq!(hashloom_files::run::unlocked(counter), 1);
/// ```
pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The value of a mutex that nobody locks any more, also after a panic.
pub fn unlocked<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until these threads have ended.
///
/// A thread whose handle is dropped is detached. In glibc before 2.37 that reads the memory of a thread which ends at
/// this moment, and can crash (<https://sourceware.org/bugzilla/show_bug.cgi?id=19951>): handles are kept, and joined.
///
/// # Panics
/// If one of the threads has panicked, with its payload.
///
/// ```
/// let mut found = 0;
/// std::thread::scope(|scope| hashloom_files::run::join([scope.spawn(|| found = 1)]));
/// assert_eq!(found, 1);
/// ```
pub fn join<'scope>(threads: impl IntoIterator<Item = std::thread::ScopedJoinHandle<'scope, ()>>) {
    for thread in threads {
        thread.join().unwrap_or_else(|payload| resume_unwind(payload));
    }
}

/// Number of threads that half of the memory which this process may have is enough for. Starting a thread without
/// memory for it ends the process, before an error could be reported.
pub(crate) fn room_for() -> usize {
    // The thread's stack, 2 MiB, its buffers, up to 2 MiB, and the system's own data for it.
    #[cfg(unix)]
    const THREAD_NBYTES: u64 = 8 << 20;
    #[cfg(unix)]
    if let Some(most) = rustix::process::getrlimit(rustix::process::Resource::As).current {
        return usize::try_from(most / 2 / THREAD_NBYTES).unwrap_or(usize::MAX);
    }
    usize::MAX
}
