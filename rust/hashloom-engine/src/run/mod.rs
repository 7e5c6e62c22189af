// SPDX-License-Identifier: MIT OR Apache-2.0

//! How work is run: on how many threads, who hears how far it is, and what stops it.
//!
//! Every function of this crate that hashes files takes the same [`Options`]. What holds for all of them:
//!
//! - The caller's thread is one of the threads. Fewer work where the system has no memory for more.
//! - Callbacks may be called by any of the threads. A panic in a callback, or in an iterator of the caller, stops all
//!   threads, and goes on in the caller's thread with its payload when the last of them has ended.
//! - Results come in the order of what was asked for, except where a function says otherwise.
//! - After [`Cancel::cancel`] no more is read, and what is finished by then is handed out. A wait for a pipe, a terminal
//!   or another stream ends within a tenth of a second. A read that hangs in the system, on a network disk that does not
//!   answer for instance, is waited for.

pub(crate) mod pool;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of messages that a thread works on at once: the lanes of the widest kernel. Narrower kernels take them in
/// turns.
pub(crate) const LANES: usize = 16;

/// How far the work is.
///
/// ```
/// use hashloom_engine::run::{Options, Progress};
///
/// let options = Options::new().progress(|progress: Progress| match progress.total_nbytes {
///     Some(total) => eprint!("\r{} of {total} bytes", progress.nbytes),
///     None => eprint!("\r{} bytes", progress.nbytes),
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes that are done with.
    pub nbytes: u64,
    /// Total bytes, or None where the total is not known before the end. With several torrents, the total covers those
    /// started so far.
    pub total_nbytes: Option<u64>,
}

/// Stops work that is under way. Clones share one flag, which any thread may set.
///
/// ```
/// use hashloom_engine::run::{Cancel, Options};
///
/// let cancel = Cancel::new();
/// let options = Options::new().cancel(&cancel);
/// cancel.cancel(); // from any thread: whatever runs with these options stops
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    /// Sets this flag too when it is set.
    outer: Option<Cancel>,
}

impl Cancel {
    /// A flag that is not set.
    ///
    /// ```
    /// assert!(!hashloom_engine::run::Cancel::new().is_cancelled());
    /// ```
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Sets the flag, for good.
    ///
    /// ```
    /// use hashloom_engine::run::Cancel;
    ///
    /// let cancel = Cancel::new();
    /// std::thread::scope(|scope| scope.spawn(|| cancel.cancel()).join().unwrap());
    /// assert!(cancel.clone().is_cancelled());
    /// ```
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Whether the flag is set.
    ///
    /// ```
    /// let cancel = hashloom_engine::run::Cancel::new();
    /// cancel.cancel();
    /// assert!(cancel.is_cancelled());
    /// ```
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::Relaxed) || self.0.outer.as_ref().is_some_and(Cancel::is_cancelled)
    }

    /// A flag that is set when `outer` is, and can be set alone.
    pub(crate) fn within(outer: &Cancel) -> Cancel {
        Cancel(Arc::new(Flag { is_set: AtomicBool::new(false), outer: Some(outer.clone()) }))
    }
}

/// How files are read and hashed. The default is one thread for each CPU, no callback, and no cancelling.
///
/// ```
/// use hashloom_engine::run::{Cancel, Options};
///
/// let cancel = Cancel::new();
/// let options = Options::new().threads(4).cancel(&cancel).progress(|progress| eprintln!("{}", progress.nbytes));
/// ```
#[derive(Clone, Default)]
pub struct Options {
    nthreads: usize,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    cancel: Cancel,
    is_mapped: bool,
}

impl Options {
    /// The default.
    ///
    /// ```
    /// let options = hashloom_engine::run::Options::new();
    /// ```
    pub fn new() -> Options {
        Options::default()
    }

    /// Number of threads at most; 0, the default, is one for each CPU. A stream has one. Each thread takes about 1 MiB of
    /// memory; more than 128 are not used.
    ///
    /// ```
    /// let options = hashloom_engine::run::Options::new().threads(2);
    /// ```
    #[must_use]
    pub fn threads(mut self, nthreads: usize) -> Options {
        self.nthreads = nthreads;
        self
    }

    /// Calls `progress` with how far the work is, some hundred times a second for each thread at most on ordinary disks:
    /// whenever a thread has hashed what it had read, at most 512 KiB.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// let nbytes = Arc::new(AtomicU64::new(0));
    /// let shown = nbytes.clone();
    /// let options = hashloom_engine::run::Options::new().progress(move |progress| {
    ///     shown.fetch_max(progress.nbytes, Ordering::Relaxed);
    /// });
    /// ```
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Options {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Stops when `cancel` is set.
    ///
    /// ```
    /// use hashloom_engine::run::{Cancel, Options};
    ///
    /// let options = Options::new().cancel(&Cancel::new());
    /// ```
    #[must_use]
    pub fn cancel(mut self, cancel: &Cancel) -> Options {
        self.cancel = cancel.clone();
        self
    }

    /// Whether long files that are in memory already may be hashed where they are, instead of being copied first. On Linux
    /// with 64 bits; elsewhere it changes nothing. Files are read anyway with more than two threads, and with two where a
    /// torrent's pieces are below 256 KiB.
    ///
    /// To touch a part of a mapping that its file has lost raises SIGBUS. So a handler is installed, once and for the
    /// whole process, and stays: a file that becomes shorter while it is hashed, or whose disk fails, is read instead.
    /// Any other SIGBUS, a fault of the program's own or one that was sent, does what it would do without it: the handler
    /// that was there before is called, or the process ends. A handler that the program installs later takes the place of
    /// this one; files that are begun after that are read. One that is installed while files are hashed must call the
    /// handler that it has replaced, or a file that becomes shorter at that moment is taken for the program's own fault.
    ///
    /// ```
    /// use hashloom_engine::run::Options;
    ///
    /// // A program of whose signals nobody else takes care.
    /// let options = Options::new().mapped_with_sigbus_handler(true);
    /// ```
    #[must_use]
    pub fn mapped_with_sigbus_handler(mut self, is_mapped: bool) -> Options {
        self.is_mapped = is_mapped;
        self
    }

    pub(crate) fn nthreads(&self) -> usize {
        match self.nthreads {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            nthreads => nthreads,
        }
    }

    pub(crate) fn is_mapped(&self) -> bool {
        self.is_mapped
    }

    pub(crate) fn canceller(&self) -> &Cancel {
        &self.cancel
    }

    /// Without anybody who hears how far it is.
    pub(crate) fn quiet(&self) -> Options {
        Options { progress: None, ..self.clone() }
    }

    pub(crate) fn is_heard(&self) -> bool {
        self.progress.is_some()
    }

    pub(crate) fn tell(&self, nbytes: u64, total_nbytes: Option<u64>) {
        if let Some(progress) = &self.progress {
            progress(Progress { nbytes, total_nbytes });
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("nthreads", &self.nthreads)
            .field("cancel", &self.cancel)
            .field("is_mapped", &self.is_mapped)
            .finish_non_exhaustive()
    }
}
