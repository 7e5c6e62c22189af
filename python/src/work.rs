// SPDX-License-Identifier: MIT OR Apache-2.0
//! Work of the engine on threads of its own, while the caller's thread looks at signals and reports progress; or on the
//! caller's thread alone, which does so in between: where one thread is asked for, or would start when all is done.

use std::collections::VecDeque;
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{JoinHandle, ThreadId};
use std::time::Instant;

use hashloom_files::run::{Cancel, Options};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::signals::{Signals, TICK, attached};

/// Results that may wait for the caller; then the threads wait too.
const WAITING: usize = 1024;

/// Running work that sends results. The engine's threads never touch Python.
///
/// After a fork the child has the object, but none of its threads: there it has no results, and its end waits for
/// nobody.
pub struct Work<T> {
    /// Locks may be held for ever in a forked child, which leaves this alone.
    state: ManuallyDrop<Mutex<State<T>>>,
    /// The process that has the threads.
    process: u32,
    cancel: Cancel,
    teller: Arc<Teller>,
}

struct State<T> {
    receiver: Option<Receiver<T>>,
    thread: Option<JoinHandle<()>>,
    /// The caller's thread takes its next turn by this, and keeps the results.
    own: Option<Turn<T>>,
    done: VecDeque<T>,
}

/// A part of the work. It adds its results to the queue. Returns false after the last part.
type Turn<T> = Box<dyn FnMut(&Options, &mut VecDeque<T>) -> bool + Send>;

/// Tells the caller how far the work is.
struct Teller {
    progress: Option<Py<PyAny>>,
    reached: Arc<Reached>,
    told: Mutex<Instant>,
    own: Mutex<Own>,
}

/// The caller's thread while it works itself.
#[derive(Default)]
struct Own {
    thread: Option<ThreadId>,
    signals: Signals,
    /// Why it stopped.
    error: Option<PyErr>,
}

struct Reached {
    nbytes: AtomicU64,
    /// u64::MAX: not known.
    total_nbytes: AtomicU64,
}

/// The largest number of threads: one for each CPU if it is 0.
pub fn nthreads(threads: usize) -> usize {
    match threads {
        1.. => threads,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// Does work that has one result.
pub fn work_once<T: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Options) -> T + Send + 'static,
) -> PyResult<T> {
    let work = if threads == 1 {
        let mut work = Some(work);
        Work::in_turns(progress, move |options, results| {
            results.extend(work.take().map(|work| work(options)));
            false
        })
    } else {
        Work::start(threads, progress, move |options, results| {
            // After an interruption nobody wants the result.
            let _ = results.send(work(options));
        })?
    };
    let mut result = None;
    while let Some(next) = work.next(py)? {
        result = Some(next);
    }
    result.ok_or_else(|| PyRuntimeError::new_err("a thread of hashloom ended without a result: this is a bug"))
}

enum Next<T> {
    Result(T),
    Tick,
    End,
}

impl<T: Send + 'static> Work<T> {
    /// Starts `work` on a thread. It sends results, and ends when sending fails or the options' flag is set.
    pub fn start(
        threads: usize,
        progress: Option<Py<PyAny>>,
        work: impl FnOnce(&Options, &SyncSender<T>) + Send + 'static,
    ) -> PyResult<Self> {
        let (sender, receiver) = sync_channel(WAITING);
        let (teller, cancel) = (Teller::new(progress), Cancel::new());
        let options = teller.options(threads).cancel(&cancel);
        let thread = std::thread::Builder::new().name("hashloom-0".into()).spawn(move || work(&options, &sender))?;
        let state = State { receiver: Some(receiver), thread: Some(thread), own: None, done: VecDeque::new() };
        Ok(Work::of(state, cancel, teller))
    }

    /// Has the thread that takes the results do `work`, turn by turn, when it has no more of them. No thread starts.
    pub fn in_turns(
        progress: Option<Py<PyAny>>,
        work: impl FnMut(&Options, &mut VecDeque<T>) -> bool + Send + 'static,
    ) -> Self {
        let teller = Teller::new(progress);
        let asked = teller.clone();
        let cancel = Cancel::asking(move || asked.must_stop());
        Work::of(
            State { receiver: None, thread: None, own: Some(Box::new(work)), done: VecDeque::new() },
            cancel,
            teller,
        )
    }

    fn of(state: State<T>, cancel: Cancel, teller: Arc<Teller>) -> Self {
        Work { state: ManuallyDrop::new(Mutex::new(state)), process: std::process::id(), cancel, teller }
    }

    /// Returns the next result, or None at the end. A signal or an error of the callback stops the work.
    pub fn next(&self, py: Python<'_>) -> PyResult<Option<T>> {
        if self.is_forked() {
            return Err(PyRuntimeError::new_err(
                "the process was forked: the results come in the process that asked for them; ask again in this one",
            ));
        }
        loop {
            let next = py.detach(|| self.wait())?;
            let (is_end, result) = match next {
                Next::Result(result) => (false, Some(result)),
                Next::Tick => (false, None),
                Next::End => (true, None),
            };
            self.teller.tell(py, is_end).and_then(|()| py.check_signals()).inspect_err(|_| self.stop(py))?;
            if is_end || result.is_some() {
                return Ok(result);
            }
        }
    }

    fn wait(&self) -> PyResult<Next<T>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(result) = state.done.pop_front() {
                return Ok(Next::Result(result));
            }
            let Some(mut work) = state.own.take() else { break };
            self.teller.own().thread = Some(std::thread::current().id());
            let goes_on = work(&self.teller.options(1).alone().cancel(&self.cancel), &mut state.done);
            if let Some(error) = self.teller.own().error.take() {
                return Err(error);
            }
            state.own = goes_on.then_some(work);
        }
        let Some(receiver) = &state.receiver else { return Ok(Next::End) };
        match receiver.recv_timeout(TICK) {
            Ok(result) => Ok(Next::Result(result)),
            Err(RecvTimeoutError::Timeout) => Ok(Next::Tick),
            Err(RecvTimeoutError::Disconnected) => {
                state.receiver = None;
                match state.thread.take().map(JoinHandle::join) {
                    Some(Err(_)) => {
                        Err(PyRuntimeError::new_err("a thread of hashloom ended by a panic: this is a bug"))
                    }
                    _ => Ok(Next::End),
                }
            }
        }
    }

    /// Stops the work and waits for its threads.
    pub fn stop(&self, py: Python<'_>) {
        py.detach(|| self.end());
    }
}

impl Teller {
    fn new(progress: Option<Py<PyAny>>) -> Arc<Teller> {
        Arc::new(Teller {
            progress,
            reached: Arc::new(Reached { nbytes: 0.into(), total_nbytes: u64::MAX.into() }),
            told: Mutex::new(Instant::now()),
            own: Mutex::default(),
        })
    }

    /// Options whose progress adds to what is reached.
    fn options(&self, threads: usize) -> Options {
        let reached = self.reached.clone();
        let before = reached.nbytes.load(Ordering::Relaxed);
        Options::new().threads(threads).progress(move |progress| {
            reached.nbytes.fetch_max(before + progress.nbytes, Ordering::Relaxed);
            reached.total_nbytes.store(progress.total_nbytes.unwrap_or(u64::MAX), Ordering::Relaxed);
        })
    }

    fn tell(&self, py: Python<'_>, is_end: bool) -> PyResult<()> {
        let Some(progress) = &self.progress else { return Ok(()) };
        {
            let mut told = self.told.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
            if !is_end && told.elapsed() < TICK {
                return Ok(());
            }
            *told = Instant::now();
        }
        let nbytes = self.reached.nbytes.load(Ordering::Relaxed);
        let total = match self.reached.total_nbytes.load(Ordering::Relaxed) {
            u64::MAX => None,
            total => Some(total),
        };
        progress.call1(py, (nbytes, total)).map(drop)
    }

    fn own(&self) -> MutexGuard<'_, Own> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a signal or the callback stops the caller's own work. Threads that read for it ask too.
    fn must_stop(&self) -> bool {
        let mut own = self.own();
        if own.thread != Some(std::thread::current().id()) || !own.signals.is_due() {
            return own.error.is_some();
        }
        drop(own);
        let error = attached(|py| self.tell(py, false).and_then(|()| py.check_signals()).err()).flatten();
        let must_stop = error.is_some();
        self.own().error = error;
        must_stop
    }
}

impl<T> Work<T> {
    fn is_forked(&self) -> bool {
        self.process != std::process::id()
    }

    fn end(&self) {
        if self.is_forked() {
            return;
        }
        self.cancel.cancel();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // A thread that waits for room among the results goes on.
        (state.receiver, state.own) = (None, None);
        state.done.clear();
        if let Some(thread) = state.thread.take() {
            // Nobody is left to hear of a panic.
            let _ = thread.join();
        }
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        self.end();
        if !self.is_forked() {
            // SAFETY: nothing uses the state after this.
            unsafe { ManuallyDrop::drop(&mut self.state) }
        }
    }
}
