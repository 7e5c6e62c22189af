// SPDX-License-Identifier: MIT OR Apache-2.0

//! The results of [`hash_files`] as an iterator, for callers that a callback does not suit.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;

use super::{FileError, Hashed, Request, Summary, hash_files};
use crate::run::{Cancel, Options, Progress};

type Finished<T> = (Request<T>, Result<Hashed, FileError>);

/// Number of results that may wait for the iterator; then the threads wait too.
const WAITING_MAX: usize = 64;

/// Hashes files, many at a time, and returns an iterator over the results, in the order of the requests.
///
/// The work is that of [`hash_files`], on threads of its own. Memory is bounded: when 64 results wait for the iterator,
/// the threads soon wait too. Dropping the iterator stops the work and returns when all threads have ended. A panic of
/// `requests` continues in [`next`](Iterator::next) with its payload, after the results before it.
///
/// # Errors
/// No thread can be started.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_files::run::Options;
/// use hashloom_files::{Request, Results, Source, Summary, results};
///
/// let requests = ["abc", "de"].map(|text| Request::digest(Source::memory(text), Algorithm::Sha1));
/// let mut results: Results<()> = results(requests.into_iter(), &Options::new())?;
/// let (_request, first) = results.next().unwrap();
/// assert_eq!(first.unwrap().digests[0].to_string(), "a9993e364706816aba3e25717850c26c9cd0d89d");
/// assert_eq!(results.by_ref().count(), 1);
/// let Summary { nfiles, .. } = results.summary().unwrap();
/// assert_eq!((results.progress().nbytes, nfiles), (5, 2));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn results<T: Send + 'static>(
    requests: impl Iterator<Item = Request<T>> + Send + 'static,
    options: &Options,
) -> io::Result<Results<T>> {
    let (sender, receiver) = sync_channel(WAITING_MAX);
    let (cancel, nbytes) = (options.canceller().child(), Arc::<AtomicU64>::default());
    let (caller, told) = (options.clone(), nbytes.clone());
    let options = options.clone().cancel(&cancel).progress(move |progress| {
        told.fetch_max(progress.nbytes, Ordering::Relaxed);
        caller.tell(progress.nbytes, progress.total_nbytes);
    });
    let work = move || {
        hash_files(requests, &options, |request, result| {
            // After the iterator is dropped nobody wants the result.
            let _ = sender.send((request, result));
        })
    };
    let thread = std::thread::Builder::new().name("hashloom-0".into()).spawn(work)?;
    Ok(Results { receiver: Some(receiver), thread: Some(thread), cancel, nbytes, summary: None })
}

/// The results of [`results`].
#[must_use = "dropping the results stops the work"]
pub struct Results<T> {
    receiver: Option<Receiver<Finished<T>>>,
    thread: Option<JoinHandle<Summary>>,
    cancel: Cancel,
    nbytes: Arc<AtomicU64>,
    summary: Option<Summary>,
}

impl<T> Results<T> {
    /// The progress of the work, which may be ahead of the results that the iterator has returned.
    pub fn progress(&self) -> Progress {
        Progress { nbytes: self.nbytes.load(Ordering::Relaxed), total_nbytes: None }
    }

    /// Stops the work. The iterator returns what is finished by then. The [`Cancel`] of the options stays as it is.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// The totals, once the iterator has returned `None`.
    pub fn summary(&self) -> Option<Summary> {
        self.summary
    }
}

impl<T> Iterator for Results<T> {
    type Item = (Request<T>, Result<Hashed, FileError>);

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.receiver.as_ref()?.recv().ok();
        if next.is_none() {
            self.receiver = None;
            match self.thread.take()?.join() {
                Ok(summary) => self.summary = Some(summary),
                Err(payload) => std::panic::resume_unwind(payload),
            }
        }
        next
    }
}

impl<T> std::iter::FusedIterator for Results<T> {}

impl<T> Drop for Results<T> {
    fn drop(&mut self) {
        self.cancel.cancel();
        // A thread that waits for room among the results goes on.
        self.receiver = None;
        if let Some(thread) = self.thread.take() {
            // Nobody is left to hear of a panic.
            let _ = thread.join();
        }
    }
}

impl<T> fmt::Debug for Results<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").field("nbytes", &self.nbytes).field("summary", &self.summary).finish_non_exhaustive()
    }
}
