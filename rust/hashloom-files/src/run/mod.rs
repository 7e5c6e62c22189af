// SPDX-License-Identifier: MIT OR Apache-2.0

//! How work is run: the number of threads, the report of progress, and cancelling.
//!
//! Every function of this crate that hashes files takes the same [`Options`]. These rules hold for all of them:
//!
//! - The caller's thread is one of the threads. If the system has no memory for all threads, fewer work.
//! - Any of the threads may call a callback. A panic in a callback or in an iterator of the caller stops all threads.
//!   When the last of them has ended, the panic continues in the caller's thread, with its payload.
//! - Results come in the order of the requests, unless a function says otherwise.
//! - After [`Cancel::cancel`] no thread reads further, and finished results are handed out. A wait for a pipe, a
//!   terminal or another stream ends within a tenth of a second. A read that hangs in the system, for instance on a
//!   network disk that does not answer, delays the end.
//!
//! ```
//! use hashloom::Algorithm;
//! use hashloom_files::{Request, Source, hash_files};
//! use hashloom_files::run::{Cancel, Options};
//!
//! let cancel = Cancel::new();
//! cancel.cancel();
//! let options = Options::new().threads(2).cancel(&cancel);
//! let requests = std::iter::repeat_with(|| Request::digest(Source::memory("abc"), Algorithm::Sha1));
//! assert!(hash_files(requests, &options, |_, _| {}).cancelled);
//! ```

mod meter;
mod order;
pub mod pool;
mod rate;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use meter::{HeldBack, Meter};
pub use order::InOrder;
pub use pool::{join, lock, unlocked};

use rate::Rate;

use crate::read::origin::Origin;

/// Number of messages that a thread works on at once: the lanes of the widest kernel. Narrower kernels take them in
/// turns.
pub const LANES: usize = 16;

/// The progress of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes hashed so far.
    pub nbytes: u64,
    /// Total bytes; `None` if the total is not known before the end. With several torrents, the total covers those
    /// started so far.
    pub total_nbytes: Option<u64>,
}

/// A flag that stops running work. Clones share the flag, and any thread may set it.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Default)]
struct Flag {
    is_set: AtomicBool,
    parent: Option<Cancel>,
    ask: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

// A panic leaves no part of a flag half-written: what `ask` has in it is that of who gave it.
impl std::panic::RefUnwindSafe for Flag {}

impl fmt::Debug for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flag").field("is_set", &self.is_set).field("parent", &self.parent).finish_non_exhaustive()
    }
}

impl Cancel {
    /// A flag that is not set.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// A flag that is set when `ask` first returns true. Each thread at work calls it, many times a second; the
    /// caller's thread can look there at what it otherwise would miss, such as signals.
    pub fn asking(ask: impl Fn() -> bool + Send + Sync + 'static) -> Cancel {
        Cancel(Arc::new(Flag { ask: Some(Box::new(ask)), ..Flag::default() }))
    }

    /// Sets the flag. It stays set.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::Relaxed);
    }

    /// Returns true if the flag is set.
    pub fn is_cancelled(&self) -> bool {
        if self.0.ask.as_ref().is_some_and(|ask| !self.0.is_set.load(Ordering::Relaxed) && ask()) {
            self.cancel();
        }
        self.0.is_set.load(Ordering::Relaxed) || self.0.parent.as_ref().is_some_and(Cancel::is_cancelled)
    }

    /// A flag of its own that also counts as set when this one is.
    pub fn child(&self) -> Cancel {
        Cancel(Arc::new(Flag { parent: Some(self.clone()), ..Flag::default() }))
    }
}

/// A callback for the file that is waited for.
type Naming = Arc<dyn Fn(&Path) + Send + Sync>;

/// Options for reading and hashing files. The default is one thread for each CPU, no callback, and no cancelling.
///
/// ```
/// use hashloom_files::run::{Cancel, Options, Progress};
///
/// let cancel = Cancel::new();
/// let options = Options::new().threads(4).rate(100_000_000).cancel(&cancel);
/// let options = options.progress(|progress: Progress| match progress.total_nbytes {
///     Some(total) => eprint!("\r{} of {total} bytes", progress.nbytes),
///     None => eprint!("\r{} bytes", progress.nbytes),
/// });
/// ```
#[derive(Clone, Default)]
pub struct Options {
    nthreads: usize,
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    naming: Option<Naming>,
    cancel: Cancel,
    rate: Option<Arc<Rate>>,
    meter: Option<Meter>,
    is_noting: bool,
    is_uncached: bool,
    is_alone: bool,
    origin: Option<Origin>,
}

impl Options {
    /// The default.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets the largest number of threads; 0, the default, means one for each CPU. One thread reads a stream. Each
    /// thread takes about 1 MiB of memory. The crate never uses more than 128. Torrents, long files, and
    /// files on a disk that seeks, if they are not in memory, are read by up to 8 other threads, into up to 64 MiB.
    #[must_use]
    pub fn threads(self, nthreads: usize) -> Options {
        Options { nthreads, ..self }
    }

    /// Works on the caller's thread alone: it reads too what is not in memory.
    #[must_use]
    pub fn alone(self) -> Options {
        Options { nthreads: 1, is_alone: true, ..self }
    }

    /// Whether no other thread may start.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_alone
    }

    /// Sets a callback for the progress. Each thread calls it after each round of reading and hashing, at most 512 KiB:
    /// on ordinary disks at most some hundred times a second.
    #[must_use]
    pub fn progress(self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Options {
        Options { progress: Some(Arc::new(progress)), ..self }
    }

    /// Sets a callback for the file whose result comes next, called when that is another one; what has no path has an
    /// empty one. Pieces have none.
    #[must_use]
    pub fn naming(self, name: impl Fn(&Path) + Send + Sync + 'static) -> Options {
        Options { naming: Some(Arc::new(name)), ..self }
    }

    /// The callback for files.
    pub(crate) fn namer(&self) -> Option<&(dyn Fn(&Path) + Send + Sync)> {
        self.naming.as_deref()
    }

    /// Stops the work when `cancel` is set.
    #[must_use]
    pub fn cancel(self, cancel: &Cancel) -> Options {
        Options { cancel: cancel.clone(), ..self }
    }

    /// Limits the bytes read in a second, by all threads and all work with clones of these options together; 0, the
    /// default, means no limit. A burst is at most what a twentieth of a second allows, or one read of each thread if
    /// that is more: 32 KiB, of hash trees 256 KiB; for what other threads read, 2 MiB of all threads together.
    #[must_use]
    pub fn rate(self, bytes_per_second: u64) -> Options {
        Options { rate: (bytes_per_second > 0).then(|| Arc::new(Rate::new(bytes_per_second))), ..self }
    }

    /// Measures what holds the work back.
    #[must_use]
    pub fn meter(self, meter: &Meter) -> Options {
        Options { meter: Some(meter.clone()), ..self }
    }

    /// Reads files from their disks alone, past the system's memory. A file with which this is not possible, or of
    /// which the system does not tell, is an error, and so is a stream. Each open file takes up to 1 MiB of memory
    /// more. Linux only.
    #[must_use]
    pub fn uncached(self, is_uncached: bool) -> Options {
        Options { is_uncached, ..self }
    }

    /// Whether files are read from their disks alone.
    pub(crate) fn is_uncached(&self) -> bool {
        self.is_uncached
    }

    /// Counts what is read of disks that can be pulled out.
    #[must_use]
    pub fn count(self, origin: &Origin) -> Options {
        Options { origin: Some(origin.clone()), ..self }
    }

    /// Who counts what is read, if anybody does.
    pub fn counted(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Number of threads.
    pub fn nthreads(&self) -> usize {
        match self.nthreads {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            nthreads => nthreads,
        }
    }

    /// Largest number of files that should be open side by side under the limit, if there is one.
    pub(crate) fn width(&self) -> Option<usize> {
        self.rate.as_ref().map(|rate| rate.width())
    }

    /// Whether there is a limit on the bytes read in a second.
    pub(crate) fn is_limited(&self) -> bool {
        self.rate.is_some()
    }

    /// Called after each read: waits until the limit, if there is one, allows the next read, or until `must_stop` is
    /// true.
    pub fn pay(&self, nbytes: u64, must_stop: &dyn Fn() -> bool) {
        if let Some(rate) = &self.rate {
            rate.pay(nbytes, must_stop);
        }
    }

    /// The same options, under which files are looked at before they are read whether a later change will show.
    pub fn noting(self, is_noting: bool) -> Options {
        Options { is_noting, ..self }
    }

    /// Whether the files' stamps and doubts are noted.
    pub(crate) fn is_noting(&self) -> bool {
        self.is_noting
    }

    /// The flag that stops the work.
    pub fn canceller(&self) -> &Cancel {
        &self.cancel
    }

    /// The same options without the progress callback.
    pub fn quiet(&self) -> Options {
        Options { progress: None, naming: None, ..self.clone() }
    }

    /// The same options with the number of threads: asking the system for that number takes 25 us.
    pub fn for_lanes(&self) -> Options {
        Options { nthreads: self.nthreads(), ..self.clone() }
    }

    /// Whether the caller is told the progress.
    pub(crate) fn has_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Tells the progress: bytes done, and their total if it is known.
    pub fn tell(&self, nbytes: u64, total_nbytes: Option<u64>) {
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
            .field("rate", &self.rate)
            .finish_non_exhaustive()
    }
}
